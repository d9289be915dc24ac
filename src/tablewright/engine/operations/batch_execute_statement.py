"""BatchExecuteStatement: run up to 25 statements of PartiQL, each on its own.

All statements read, or all write. A statement that fails has an error in its response, and does not
affect the others. Each SELECT must have an equality on the whole key of a table, and no other
condition. Two statements on the same item are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tablewright.engine.capacity import Charge
from tablewright.engine.statements.prepared import PreparedStatement, prepare_statement
from tablewright.engine.statements.read import find_key_of_item, get_one
from tablewright.engine.statements.write import StatementWrite, refuse_exists
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
    parsed = [_parse(statement) for statement in request.statements]
    kinds = {one.prepared.is_read for one in parsed if one.prepared is not None}
    if len(kinds) > 1:
        raise ValidationException(
            "Read and write requests together in the same batch is not supported."
        )

    def read(context: ReadContext) -> BatchExecuteStatementOutput:
        answer = _respond(request, [_Read(context, one) for one in parsed])
        if any(response.error for response in answer.responses):
            context.catalog.refresh(context.snapshot)  # perhaps the tables have changed
            answer = _respond(request, [_Read(context, one) for one in parsed])
        return answer

    def write(context: WriteContext) -> BatchExecuteStatementOutput:
        return _respond(request, [_Write(context, one) for one in parsed])

    return ReadStep(read) if kinds <= {True} else WriteStep(write)


class _Parsed(Struct):
    """A statement of the batch: parsed, or the fault."""

    request: BatchStatementRequest
    prepared: PreparedStatement | None
    fault: ValidationException | None = None

    def bind(self) -> tuple[PreparedStatement, dict[str, Value]]:
        """Return the statement and its values; raise its fault."""
        if self.prepared is None:
            raise self.fault or AssertionError
        return self.prepared, self.prepared.bind(self.request.parameters)


def _parse(request: BatchStatementRequest) -> _Parsed:
    try:
        return _Parsed(request, prepare_statement(request.text))
    except ValidationException as fault:
        return _Parsed(request, None, fault)


class _Read:
    """A SELECT of the batch."""

    table: StoredTable

    def __init__(self, context: ReadContext, parsed: _Parsed) -> None:
        self._context = context
        self._parsed = parsed

    def find_key(self) -> bytes:
        """Check the statement, and return the key of its item."""
        prepared, self._values = self._parsed.bind()
        self.table = self._context.find_table(prepared.table_name)
        self._plan = prepared.plan_select(self.table)
        self._charge = Charge(self.table, name=prepared.table_name)
        if self._plan.operation != "GetItem":
            raise ValidationException(
                "Select statements within BatchExecuteStatement must specify the primary key in "
                "the where clause."
            )
        if self._plan.branches[0].filter is not None:
            raise ValidationException("Only single item select is supported")
        return find_key_of_item(self._plan, self._values)

    def execute(self) -> tuple[ItemOut | None, Charge]:
        """Return the item, and the charge."""
        consistent, charge = self._parsed.request.consistent, self._charge
        return get_one(self._context, self._plan, self._values, consistent, charge), charge


class _Write:
    """An INSERT, UPDATE or DELETE of the batch."""

    table: StoredTable

    def __init__(self, context: WriteContext, parsed: _Parsed) -> None:
        self._context = context
        self._parsed = parsed

    def find_key(self) -> bytes:
        """Check the statement, and return the key of its item."""
        prepared, values = self._parsed.bind()
        refuse_exists(prepared)
        self._write = StatementWrite(prepared, values, self._parsed.request.return_on_failure)
        self._write.prepare(self._context)
        self.table = self._write.table
        return self._write.key

    def execute(self) -> tuple[ItemOut | None, Charge]:
        """Write the item; return what RETURNING asks for, and the charge."""
        charge = self._write.run(self._context.tx)
        return self._write.returned(), charge


def _respond(
    request: BatchExecuteStatementInput, statements: Sequence[_Read | _Write]
) -> BatchExecuteStatementOutput:
    """Execute each statement; a response has the error of its statement."""
    responses = [BatchStatementResponse() for _ in statements]
    keys = []
    for one, response in zip(statements, responses, strict=True):
        try:
            keys.append((one.find_key(), one.table.name))
        except DynamoDBError as fault:
            response.error = _to_error(fault)
    if len(set(keys)) < len(keys):
        raise ValidationException("Provided list of item keys contains duplicates")
    consumed: list[ConsumedCapacity | None] = []
    for one, response in zip(statements, responses, strict=True):
        if response.error is not None:
            continue
        response.table_name = one.table.name
        try:
            response.item, charge = one.execute()
        except DynamoDBError as fault:
            response.error = _to_error(fault)
        else:
            consumed.append(charge.to_consumed_capacity(request.return_capacity))
    return BatchExecuteStatementOutput(
        responses=responses,
        consumed_capacity=[units for units in consumed if units is not None] or None,
    )


def _to_error(fault: DynamoDBError) -> BatchStatementError:
    code = _CODES.get(fault.code, fault.code.removesuffix("Exception"))
    item = fault.item if isinstance(fault, ConditionalCheckFailedException) else None
    return BatchStatementError(code, fault.message, item)
