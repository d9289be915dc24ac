"""ExecuteStatement: run one statement of PartiQL.

Checks, in this order: the syntax and everything else that needs no table; then those of the
operation that the statement becomes (`statements.read`, `statements.write`).
"""

from __future__ import annotations

from tablewright.engine.paging import SHORT_FILTER
from tablewright.engine.statements.prepared import prepare_statement
from tablewright.engine.statements.read import read_token, run_select
from tablewright.engine.statements.write import StatementWrite, refuse_exists
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.wire.partiql import ExecuteStatementInput, ExecuteStatementOutput


def execute_statement(request: ExecuteStatementInput) -> Step:
    prepared = prepare_statement(request.text)
    values = prepared.bind(request.parameters)
    if prepared.is_read:

        def read(context: ReadContext) -> ExecuteStatementOutput:
            return run_select(context, prepared, values, request)

        is_costly = prepared.where is not None and len(request.text) > SHORT_FILTER
        return ReadStep(read, is_costly=is_costly)
    refuse_exists(prepared)
    if request.next_token is not None:
        read_token(request.next_token, request.text, request.parameters)
    write = StatementWrite(prepared, values, request.return_on_failure)

    def run(context: WriteContext) -> ExecuteStatementOutput:
        write.prepare(context)
        charge = write.run(context.tx)
        returned = write.returned()
        return ExecuteStatementOutput(
            items=[] if returned is None else [returned],
            consumed_capacity=charge.to_consumed_capacity(request.return_capacity),
        )

    return WriteStep(run)
