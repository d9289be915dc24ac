"""BatchExecuteStatement: run up to 25 statements of PartiQL, each on its own.

All statements read, or all write. A statement that fails has an error in its response, and does not
affect the others. Each SELECT must have an equality on the whole key of a table, and no other
condition. Two statements on the same item are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

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

#: A statement that was parsed, or why it cannot be.
_Prepared: TypeAlias = PreparedStatement | ValidationException


def batch_execute_statement(request: BatchExecuteStatementInput) -> Step:
    batch = [(statement, _prepare(statement.text)) for statement in request.statements]
    kinds = {each.is_read for _, each in batch if isinstance(each, PreparedStatement)}
    if len(kinds) > 1:
        raise ValidationException(
            "Read and write requests together in the same batch is not supported."
        )

    def read(context: ReadContext) -> BatchExecuteStatementOutput:
        answer = _respond(request, [_Read(context, *one) for one in batch])
        if any(response.error for response in answer.responses):
            context.catalog.refresh(context.snapshot)  # perhaps the tables have changed
            answer = _respond(request, [_Read(context, *one) for one in batch])
        return answer

    def write(context: WriteContext) -> BatchExecuteStatementOutput:
        return _respond(request, [_Write(context, *one) for one in batch])

    return ReadStep(read) if kinds <= {True} else WriteStep(write)


def _prepare(text: str) -> _Prepared:
    """Return a statement, or its error, which its response has."""
    try:
        return prepare_statement(text)
    except ValidationException as error:
        return error


def _or_raise(prepared: _Prepared) -> PreparedStatement:
    if isinstance(prepared, PreparedStatement):
        return prepared
    raise prepared


class _Read:
    """A SELECT of the batch."""

    table: StoredTable

    def __init__(
        self, context: ReadContext, request: BatchStatementRequest, prepared: _Prepared
    ) -> None:
        self._context = context
        self._request = request
        self._prepared = prepared

    def find_key(self) -> bytes:
        """Check the statement, and return the key of its item."""
        prepared = _or_raise(self._prepared)
        self._values = prepared.bind(self._request.parameters)
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
        consistent, charge = self._request.consistent, self._charge
        return get_one(self._context, self._plan, self._values, consistent, charge), charge


class _Write:
    """An INSERT, UPDATE or DELETE of the batch."""

    table: StoredTable

    def __init__(
        self, context: WriteContext, request: BatchStatementRequest, prepared: _Prepared
    ) -> None:
        self._context = context
        self._request = request
        self._prepared = prepared

    def find_key(self) -> bytes:
        """Check the statement, and return the key of its item."""
        prepared = _or_raise(self._prepared)
        values = prepared.bind(self._request.parameters)
        refuse_exists(prepared)
        self._write = StatementWrite(prepared, values, self._request.return_on_failure)
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


def merge_errors(
    answer: BatchExecuteStatementOutput, errors: Mapping[int, DynamoDBError]
) -> BatchExecuteStatementOutput:
    """Return the answer of a batch that ran without some statements, with their errors.

    `errors` are by the numbers of the statements in the whole batch.
    """
    responses = iter(answer.responses)
    merged = [
        BatchStatementResponse(error=_to_error(errors[number]))
        if number in errors
        else next(responses)
        for number in range(len(answer.responses) + len(errors))
    ]
    return replace(answer, responses=merged)


def _to_error(fault: DynamoDBError) -> BatchStatementError:
    code = _CODES.get(fault.code, fault.code.removesuffix("Exception"))
    item = fault.item if isinstance(fault, ConditionalCheckFailedException) else None
    return BatchStatementError(code, fault.message, item)
