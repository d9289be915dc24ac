"""BatchExecuteStatement: run up to 25 statements of PartiQL, each on its own.

All statements read, or all write. A statement that fails has an error in its response, and does not
affect the others. Each SELECT must have an equality on the whole key of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from tablewright.engine.capacity import Charge
from tablewright.engine.statements.prepared import PreparedStatement, prepare_statement
from tablewright.engine.statements.read import get_one
from tablewright.engine.statements.write import StatementWrite, refuse_exists, run_write
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.engine.table import StoredTable
from tablewright.errors import (
    ConditionalCheckFailedException,
    DynamoDBError,
    ValidationException,
)
from tablewright.values import Value
from tablewright.wire.responses import ConsumedCapacity, ItemOut
from tablewright.wire.statements import (
    BatchExecuteStatementInput,
    BatchExecuteStatementOutput,
    BatchStatementError,
    BatchStatementRequest,
    BatchStatementResponse,
)

#: The codes that are not the name of the fault without "Exception".
_CODES = {"ValidationException": "ValidationError", "ThrottlingException": "ThrottlingError"}


def batch_execute_statement(request: BatchExecuteStatementInput) -> Step:
    statements = [_BatchStatement(one) for one in request.statements]
    kinds = {one.prepared.is_read for one in statements if one.prepared is not None}
    if len(kinds) > 1:
        # The text of AWS is not known.
        raise ValidationException("The statements of a batch must be all reads or all writes")

    def respond(
        execute: Callable[[_BatchStatement], tuple[ItemOut | None, Charge]],
    ) -> BatchExecuteStatementOutput:
        responses: list[BatchStatementResponse] = []
        consumed: list[ConsumedCapacity | None] = []
        for one in statements:
            response = BatchStatementResponse()
            try:
                response.item, charge = execute(one)
                response.table_name = one.table.name
                consumed.append(charge.to_consumed_capacity(request.return_capacity))
            except DynamoDBError as fault:
                response.error = _to_error(fault)
            responses.append(response)
        return BatchExecuteStatementOutput(
            responses=responses,
            consumed_capacity=[units for units in consumed if units is not None] or None,
        )

    def read(context: ReadContext) -> BatchExecuteStatementOutput:
        answer = respond(lambda one: one.read(context))
        if any(response.error for response in answer.responses):
            context.catalog.refresh(context.snapshot)  # perhaps the tables have changed
            answer = respond(lambda one: one.read(context))
        return answer

    def write(context: WriteContext) -> BatchExecuteStatementOutput:
        return respond(lambda one: one.write(context))

    return ReadStep(read) if kinds <= {True} else WriteStep(write)


class _BatchStatement:
    """One statement of the batch; `table` is known when it has been executed."""

    table: StoredTable

    def __init__(self, request: BatchStatementRequest) -> None:
        self._request = request
        self.prepared: PreparedStatement | None = None  # None: the statement is malformed
        with suppress(ValidationException):  # `_bind` raises it again
            self.prepared = prepare_statement(request.text)

    def _bind(self) -> tuple[PreparedStatement, dict[str, Value]]:
        prepared = prepare_statement(self._request.text)
        return prepared, prepared.bind(self._request.parameters)

    def read(self, context: ReadContext) -> tuple[ItemOut | None, Charge]:
        prepared, values = self._bind()
        table = context.find_table(prepared.table_name)
        plan = prepared.plan_select(table)
        if plan.operation != "GetItem":
            raise ValidationException(
                "Select statements within BatchExecuteStatement must specify the primary key in "
                "the where clause."
            )
        charge = Charge(table, name=prepared.table_name)
        self.table = table
        return get_one(context, plan, values, self._request.consistent, charge), charge

    def write(self, context: WriteContext) -> tuple[ItemOut | None, Charge]:
        prepared, values = self._bind()
        refuse_exists(prepared)
        write = StatementWrite(prepared, values, self._request.return_on_failure)
        charge = run_write(context, write)
        self.table = write.table
        return write.returned(), charge


def _to_error(fault: DynamoDBError) -> BatchStatementError:
    code = _CODES.get(fault.code, fault.code.removesuffix("Exception"))
    item = fault.item if isinstance(fault, ConditionalCheckFailedException) else None
    return BatchStatementError(code, fault.message, item)
