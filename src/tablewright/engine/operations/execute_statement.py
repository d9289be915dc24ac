"""ExecuteStatement: run one statement of PartiQL.

Checks, in this order: the syntax and everything else that needs no table; then those of the
operation that the statement becomes (`statements.read`, `statements.write`).
"""

from __future__ import annotations

from tablewright.engine.paging import SHORT_FILTER
from tablewright.engine.statements.prepared import prepare_statement
from tablewright.engine.statements.read import run_select
from tablewright.engine.step import ReadContext, ReadStep, Step
from tablewright.wire.statements import ExecuteStatementInput, ExecuteStatementOutput


def execute_statement(request: ExecuteStatementInput) -> Step:
    prepared = prepare_statement(request.text)
    values = prepared.bind(request.parameters)

    def read(context: ReadContext) -> ExecuteStatementOutput:
        return run_select(context, prepared, values, request)

    is_costly = prepared.where is not None and len(request.text) > SHORT_FILTER
    return ReadStep(read, is_costly=is_costly)
