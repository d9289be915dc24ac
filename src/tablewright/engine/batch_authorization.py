"""Authorization of BatchExecuteStatement: a statement that is not allowed has an error of its own.

All other operations are refused as a whole (`authorization`). Here the allowed statements run as a
batch without the others, and the responses are put together in the order of the request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tablewright.engine.authorization import StoredTables, require_access
from tablewright.engine.operations.batch_execute_statement import merge_errors
from tablewright.engine.scope import Scope
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteStep
from tablewright.errors import AccessDeniedException, DynamoDBError
from tablewright.policy import Principal
from tablewright.wire.partiql import BatchExecuteStatementInput, BatchExecuteStatementOutput


def authorize_batch(
    step: Step,
    prepare: Callable[[object], Step],
    body: Any,
    request: Any,
    principal: Principal,
    scope: Scope | None = None,
) -> Step:
    """Return a step that runs the allowed statements of a batch.

    `step` runs the whole batch; `prepare` returns the step of a batch with fewer statements, from
    JSON such as `body`, which is the JSON of the request.
    """
    assert isinstance(request, BatchExecuteStatementInput)

    def run(context: ReadContext) -> Any:
        denied = _find_denied(request, principal, context.catalog.tables, scope)
        return run_allowed(context, denied) if denied else _run(step, context)

    def run_allowed(context: ReadContext, denied: dict[int, DynamoDBError]) -> Any:
        statements = enumerate(body["Statements"])
        allowed = [statement for number, statement in statements if number not in denied]
        answer = BatchExecuteStatementOutput(responses=[])
        if allowed:
            answer = _run(prepare(body | {"Statements": allowed}), context)
        return merge_errors(answer, denied)

    if isinstance(step, WriteStep):
        return WriteStep(run)

    def read(context: ReadContext) -> Any:
        context.catalog.refresh(context.snapshot)  # old tags and policies are not detected
        while True:
            tables = context.catalog.tables
            answer = run(context)
            if context.catalog.tables is tables:
                return answer

    return ReadStep(read)


def _run(step: Step, context: Any) -> BatchExecuteStatementOutput:
    assert isinstance(step, ReadStep | WriteStep)
    answer: BatchExecuteStatementOutput = step.run(context)
    return answer


def _find_denied(
    request: BatchExecuteStatementInput,
    principal: Principal,
    tables: StoredTables,
    scope: Scope | None,
) -> dict[int, DynamoDBError]:
    """Return the faults of the statements that the policies do not allow, by their numbers."""
    denied: dict[int, DynamoDBError] = {}
    for number, statement in enumerate(request.statements):
        one = replace(request, statements=[statement])
        try:
            require_access("BatchExecuteStatement", one, principal, tables, scope)
        except AccessDeniedException as fault:
            denied[number] = fault
    return denied
