"""ExecuteTransaction: run up to 100 statements of PartiQL, all or nothing.

All statements read, or all write; EXISTS is a condition among writes. Each statement is on one item
of a table. A fault of one statement that is not a condition names the statement. Writes have the
checks, the cancellation reasons and the tokens of TransactWriteItems.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.engine.capacity import Charge, consumed_by_table
from tablewright.engine.statements.plan import SelectPlan
from tablewright.engine.statements.prepared import PreparedStatement, prepare_statement
from tablewright.engine.statements.read import find_key_of_item, get_one
from tablewright.engine.statements.write import StatementWrite
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.engine.transaction import (
    TotalSize,
    compute_fingerprint,
    run_transaction,
)
from tablewright.errors import ValidationException
from tablewright.partiql import DeleteStatement, UpdateStatement
from tablewright.values import Value
from tablewright.wire.partiql import ExecuteTransactionInput, ExecuteTransactionOutput, ItemResponse


def execute_transaction(request: ExecuteTransactionInput) -> Step:
    reads: list[tuple[PreparedStatement, dict[str, Value]]] = []
    writes: list[StatementWrite] = []
    for number, statement in enumerate(request.statements):
        with _naming(number):
            prepared = prepare_statement(statement.text)
            _check_for_transaction(prepared)
            values = prepared.bind(statement.parameters)
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
            responses=[],
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
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
            raise ValidationException(
                "Transaction request cannot include multiple operations on one item"
            )
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
