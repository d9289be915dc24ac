"""BatchExecuteStatement: run up to 25 statements of PartiQL, each on its own.

All statements read, or all write. A statement that fails has an error in its response, and does not
affect the others. Each SELECT must have an equality on the whole key of a table, and no other
condition. Two statements on the same item are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from tablewright.engine.capacity import Charge
from tablewright.engine.statements.prepared import PreparedStatement, prepare_statement
from tablewright.engine.statements.read import find_key_of_item, get_one
from tablewright.engine.statements.write import StatementWrite, refuse_exists
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.errors import (
    ConditionalCheckFailedException,
    DynamoDBError,
    ValidationException,
)
from tablewright.wire.partiql import (
    BatchExecuteStatementInput,
    BatchExecuteStatementOutput,
    BatchStatementError,
    BatchStatementRequest,
    BatchStatementResponse,
)
from tablewright.wire.responses import ConsumedCapacity, ItemOut

#: The codes that are not the name of the fault without "Exception".
_CODES = {"ValidationException": "ValidationError", "ThrottlingException": "ThrottlingError"}

#: A statement that was parsed, or why it cannot be.
_Prepared: TypeAlias = PreparedStatement | ValidationException
#: A checked statement: the name of its table, the key of its item, and what executes it, which
#: returns the item of the response and the charge.
_Checked: TypeAlias = tuple[str, bytes, Callable[[], tuple[ItemOut | None, Charge]]]


def batch_execute_statement(request: BatchExecuteStatementInput) -> Step:
    batch = [(statement, _prepare(statement.text)) for statement in request.statements]
    kinds = {each.is_read for _, each in batch if isinstance(each, PreparedStatement)}
    if len(kinds) > 1:
        raise ValidationException(
            "Read and write requests together in the same batch is not supported."
        )

    def read(context: ReadContext) -> BatchExecuteStatementOutput:
        check = partial(_check_read, context)
        answer = _respond(request, batch, check)
        if any(response.error for response in answer.responses):
            context.catalog.refresh(context.snapshot)  # perhaps the tables have changed
            answer = _respond(request, batch, check)
        return answer

    def write(context: WriteContext) -> BatchExecuteStatementOutput:
        return _respond(request, batch, partial(_check_write, context))

    return ReadStep(read) if kinds <= {True} else WriteStep(write)


def _prepare(text: str) -> _Prepared:
    """Return a statement, or its error, which its response has."""
    try:
        return prepare_statement(text)
    except ValidationException as error:
        return error


def _check_read(
    context: ReadContext, request: BatchStatementRequest, prepared: PreparedStatement
) -> _Checked:
    """Check a SELECT of the batch."""
    values = prepared.bind(request.parameters)
    table = context.find_table(prepared.table_name)
    plan = prepared.plan_select(table)
    if plan.operation != "GetItem":
        raise ValidationException(
            "Select statements within BatchExecuteStatement must specify the primary key in "
            "the where clause."
        )
    if plan.branches[0].filter is not None:
        raise ValidationException("Only single item select is supported")

    def execute() -> tuple[ItemOut | None, Charge]:
        charge = Charge(table, name=prepared.table_name)
        return get_one(context, plan, values, request.consistent, charge), charge

    return table.name, find_key_of_item(plan, values), execute


def _check_write(
    context: WriteContext, request: BatchStatementRequest, prepared: PreparedStatement
) -> _Checked:
    """Check an INSERT, UPDATE or DELETE of the batch."""
    values = prepared.bind(request.parameters)
    refuse_exists(prepared)
    write = StatementWrite(prepared, values, request.return_on_failure)
    write.prepare(context)

    def execute() -> tuple[ItemOut | None, Charge]:
        charge = write.run(context.tx)
        return write.returned(), charge

    return write.table.name, write.key, execute


def _respond(
    request: BatchExecuteStatementInput,
    batch: Sequence[tuple[BatchStatementRequest, _Prepared]],
    check: Callable[[BatchStatementRequest, PreparedStatement], _Checked],
) -> BatchExecuteStatementOutput:
    """Execute each statement; a response has the error of its statement."""
    responses = [BatchStatementResponse() for _ in batch]
    checked: list[tuple[BatchStatementResponse, _Checked]] = []
    for (statement, prepared), response in zip(batch, responses, strict=True):
        try:
            if isinstance(prepared, ValidationException):
                raise prepared
            checked.append((response, check(statement, prepared)))
        except DynamoDBError as fault:
            response.error = _to_error(fault)
    if len({(table, key) for _, (table, key, _) in checked}) < len(checked):
        raise ValidationException("Provided list of item keys contains duplicates")
    consumed: list[ConsumedCapacity | None] = []
    for response, (table, _, execute) in checked:
        response.table_name = table
        try:
            response.item, charge = execute()
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
