"""ExecuteStatement, BatchExecuteStatement and ExecuteTransaction: run statements of PartiQL.

Checks, in this order: the syntax and everything else that needs no table; then those of the
operation that the statement becomes (`statements.read`, `statements.write`).

BatchExecuteStatement runs up to 25 statements, each on its own; all read, or all write. A statement
that fails has an error in its response, and does not affect the others. Each SELECT must have an
equality on the whole key of a table, and no other condition. Two statements on the same item are
refused.

ExecuteTransaction runs up to 100 statements, all or nothing. All read, or all write; EXISTS is a
condition among writes. Each statement is on one item of a table. A fault of one statement that is
not a condition names the statement. Writes have the checks, the cancellation reasons and the tokens
of TransactWriteItems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.engine.charge import Charge, consumed_by_table
from tablewright.engine.item_writes import (
    TotalSize,
    compute_fingerprint,
    repeated_item,
    run_transaction,
)
from tablewright.engine.paging import SHORT_FILTER
from tablewright.engine.statements.prepared import PreparedStatement, SelectPlan, prepare_statement
from tablewright.engine.statements.read import find_key_of_item, get_one, read_token, run_select
from tablewright.engine.statements.where import has_function
from tablewright.engine.statements.write import StatementWrite, refuse_exists
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.engine.tables.table import REPEATED_KEYS
from tablewright.errors import ConditionalCheckFailedException, DynamoDBError, ValidationException
from tablewright.partiql import DeleteStatement, UpdateStatement
from tablewright.values import Value
from tablewright.wire.partiql import (
    BatchExecuteStatementInput,
    BatchExecuteStatementOutput,
    BatchStatementError,
    BatchStatementRequest,
    BatchStatementResponse,
    ExecuteStatementInput,
    ExecuteStatementOutput,
    ExecuteTransactionInput,
    ExecuteTransactionOutput,
    ItemResponse,
)
from tablewright.wire.responses import ConsumedCapacity, ItemOut

#: The codes that are not the name of the fault without "Exception".
_CODES = {"ValidationException": "ValidationError", "ThrottlingException": "ThrottlingError"}
#: A statement that was parsed, or why it cannot be.
_Prepared: TypeAlias = PreparedStatement | ValidationException
#: A checked statement: the name of its table, the key of its item, and what executes it, which
#: returns the item of the response and the charge.
_Checked: TypeAlias = tuple[str, bytes, Callable[[], tuple[ItemOut | None, Charge]]]


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


# -- BatchExecuteStatement


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
    rest = plan.branches[0].filter
    if plan.operation != "GetItem" or (rest is not None and has_function(rest.tree)):
        raise ValidationException(
            "Select statements within BatchExecuteStatement must specify the primary key in "
            "the where clause."
        )
    if rest is not None:
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
        raise ValidationException(REPEATED_KEYS)
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


# -- ExecuteTransaction


def execute_transaction(request: ExecuteTransactionInput) -> Step:
    reads: list[tuple[PreparedStatement, dict[str, Value]]] = []
    writes: list[StatementWrite] = []
    for number, statement in enumerate(request.statements):
        with _naming(number):
            prepared = prepare_statement(statement.text)
            _check_for_transaction(prepared)
            parameters = statement.parameters or ()
            prepared.parsed.require_parameters(parameters)
        values = prepared.parsed.bind(parameters)  # its faults do not name the statement
        with _naming(number):
            prepared.check(values)
            if prepared.is_read:
                reads.append((prepared, values))
            else:
                writes.append(StatementWrite(prepared, values, statement.return_on_failure))
    if reads and writes:
        raise ValidationException(
            "ExecuteTransaction API does not support both read and write operations in the same "
            "request."
        )
    return _write_step(request, writes) if writes else _read_step(request, reads)


def _write_step(request: ExecuteTransactionInput, writes: list[StatementWrite]) -> WriteStep:
    fingerprint = compute_fingerprint(request.statements) if request.token else b""

    def run(context: WriteContext) -> ExecuteTransactionOutput:
        for number, write in enumerate(writes):
            with _naming(number):
                write.find_table(context)
                write.table.keys.reject_empty(write.key_values)
        charges, _ = run_transaction(context.tx, writes, request.token, fingerprint)
        return ExecuteTransactionOutput(
            responses=[], consumed_capacity=consumed_by_table(charges, request.return_capacity)
        )

    return WriteStep(run)


def _read_step(
    request: ExecuteTransactionInput, reads: list[tuple[PreparedStatement, dict[str, Value]]]
) -> ReadStep:
    def run(context: ReadContext) -> ExecuteTransactionOutput:
        charges: dict[str, Charge] = {}
        responses = []
        keys = set()
        total = TotalSize()
        with context.snapshot.read_transaction():
            for number, (prepared, values) in enumerate(reads):
                with _naming(number):
                    table = context.find_table(prepared.table_name)
                    plan = prepared.plan_select(table)
                    _require_whole_key(plan)
                    charge = charges.setdefault(
                        table.name,
                        Charge(table, "read", factor=TRANSACTION_FACTOR, name=prepared.table_name),
                    )
                    keys.add((table.name, find_key_of_item(plan, values)))
                    item = get_one(context, plan, values, True, charge, total.add)
                    responses.append(ItemResponse(item))
        if len(keys) < len(reads):
            raise repeated_item()
        return ExecuteTransactionOutput(
            responses=responses,
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
        )

    return ReadStep(run)


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Name the statement in a ValidationException."""
    try:
        yield
    except ValidationException as fault:
        raise ValidationException(
            f"Validation failed in TransactStatements[{number}]: {fault.message}"
        ) from None


def _check_for_transaction(prepared: PreparedStatement) -> None:
    statement = prepared.statement
    if prepared.index_name is not None:
        raise ValidationException("Reads on indices are not supported within transactions.")
    if isinstance(statement, UpdateStatement | DeleteStatement) and statement.returning:
        raise ValidationException("RETURNING clause is not supported in ExecuteTransaction.")


def _require_whole_key(plan: SelectPlan) -> None:
    if plan.operation != "GetItem" or plan.branches[0].filter is not None:
        raise ValidationException(
            "Select statements within ExecuteTransaction must specify the primary key in the "
            "where clause."
        )
