"""Run INSERT, UPDATE, DELETE and EXISTS: a put, an update, a delete or a condition of one item.

`StatementWrite` has the steps of a write of TransactWriteItems: find the table, check the key,
evaluate the condition, apply. ExecuteStatement and BatchExecuteStatement run them one after the
other; ExecuteTransaction runs each step for all statements. All checks come before `apply`. The
steps can be run again: a commit that fails is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Raw

from tablewright.engine.capacity import Charge, write_units
from tablewright.engine.conditions import check_condition
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.operations.update_item import (
    apply_update,
    reject_key_changes,
    select_returned,
)
from tablewright.engine.rows import ItemRow, find_row, replace_item
from tablewright.engine.statements.plan import WritePlan, key_values
from tablewright.engine.statements.prepared import PreparedStatement
from tablewright.engine.step import ReadContext, WriteContext
from tablewright.engine.table import StoredTable
from tablewright.errors import DuplicateItemException, ValidationException
from tablewright.expression import CompiledCondition, CompiledUpdate
from tablewright.partiql import Exists, Insert
from tablewright.storage import WriteTransaction
from tablewright.values import Item, Value
from tablewright.wire.responses import ItemOut


class StatementWrite:
    """One write, with the stored row and the new row of its item."""

    __slots__ = (
        "_inserted",
        "_plan",
        "_prepared",
        "_return_on_failure",
        "_values",
        "condition",
        "key",
        "key_values",
        "new",
        "old",
        "table",
        "update",
    )

    table: StoredTable
    key: bytes
    key_values: Item
    old: ItemRow | None
    new: ItemRow | None
    condition: CompiledCondition | None
    _plan: WritePlan

    def __init__(
        self,
        prepared: PreparedStatement,
        values: Mapping[str, Value],
        return_on_failure: str | None,
    ) -> None:
        self._prepared = prepared
        self._values = values
        self._return_on_failure = return_on_failure
        self._inserted: ItemRow | None = None
        if isinstance(prepared.statement, Insert):
            self._inserted = _build_new(values[prepared.statement.item.name])
        self.update: CompiledUpdate | None = None
        if prepared.update is not None:
            self.update = prepared.update.bind(values)

    def find_table(self, context: ReadContext) -> None:
        """Find the table, and check that the statement has an equality on its whole key."""
        self.table = context.find_table(self._prepared.table_name)
        plan = self._plan = self._prepared.plan_write(self.table)
        self.new = self._inserted
        self.key_values = self.new.item if self.new else key_values(plan.key, self._values)
        self.condition = plan.condition.bind(self._values) if plan.condition else None

    def check_key(self) -> None:
        """Check the key, or the key attributes of a new item."""
        if self.new is not None:
            self.key = self.table.check_item(self.new.item, self.new.size)
        else:
            self.key = self.table.keys.check_key(self.key_values)
            reject_key_changes(self.table, self.update)

    def evaluate(self, tx: WriteTransaction) -> None:
        """Check the condition and compute the new row."""
        self.old = find_row(tx, self.table.tree, self.key)
        if self._plan.operation == "PutItem":
            if self.old is not None:
                raise DuplicateItemException
            return
        check_condition(self.condition, self.old, self._return_on_failure)
        if self._plan.operation == "UpdateItem":
            self.new = apply_update(self.table, self.update, self.old, self.key_values)

    def open_charge(self, kind: Literal["read", "write"] | None) -> Charge:
        """Return a new charge of the table, as the statement names it; `kind`: in a transaction."""
        return Charge(self.table, kind, factor=2 if kind else 1, name=self._prepared.table_name)

    def apply(self, tx: WriteTransaction, charge: Charge) -> None:
        """Write the new row."""
        if self._plan.operation == "ConditionCheck":
            charge.add(write_units(self.old.size if self.old else 0))
        else:
            replace_item(tx, self.table, self.key, self.old, self.new, charge)

    def returned(self) -> ItemOut | None:
        """Return what RETURNING asks for; None if there is nothing."""
        if self._plan.operation == "DeleteItem":
            return Raw(self.old.body) if self.old and self._plan.returning else None
        if self.new is None:
            return None
        return select_returned(self._plan.returning, self.update, self.old, self.new)


def run_write(context: WriteContext, write: StatementWrite) -> Charge:
    """Run one write and return its charge; raise before anything has changed."""
    write.find_table(context)
    write.check_key()
    write.table.reject_paths_into_keys(write.update, write.condition)
    write.evaluate(context.tx)
    charge = write.open_charge(None)
    write.apply(context.tx, charge)
    return charge


def refuse_exists(prepared: PreparedStatement) -> None:
    """Refuse a condition outside of a transaction."""
    if isinstance(prepared.statement, Exists):
        # The text of AWS is not known.
        raise ValidationException("EXISTS is only supported in ExecuteTransaction")


def _build_new(value: Value) -> ItemRow:
    if "M" not in value:
        # The text of AWS is not known.
        raise ValidationException("The value of INSERT must be a map: INSERT INTO t VALUE {...}")
    return build_row(value["M"])
