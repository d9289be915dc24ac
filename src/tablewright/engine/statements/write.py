"""Run INSERT, UPDATE, DELETE and EXISTS: a put, an update, a delete or a condition of one item.

ExecuteStatement and BatchExecuteStatement run the stages of a `TransactionWrite` one after the
other; ExecuteTransaction runs each stage for all statements. All checks come before `apply`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.engine.charge import Charge
from tablewright.engine.item_writes import TransactionWrite, WriteKind
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.operations.update_item import select_returned
from tablewright.engine.statements.prepared import PreparedStatement, key_type_error, key_values
from tablewright.engine.step import ReadContext
from tablewright.errors import ValidationException
from tablewright.partiql import DeleteStatement, ExistsStatement, InsertStatement, UpdateStatement
from tablewright.storage import WriteTransaction
from tablewright.values import Value
from tablewright.wire.responses import ItemOut

_KINDS: dict[type, WriteKind] = {
    InsertStatement: "insert",
    UpdateStatement: "update",
    DeleteStatement: "delete",
    ExistsStatement: "check",
}


class StatementWrite(TransactionWrite):
    """The write of a statement; `find_table` is its first step."""

    __slots__ = ("_prepared", "_returning", "_values")

    _returning: str | None

    def __init__(
        self,
        prepared: PreparedStatement,
        values: Mapping[str, Value],
        return_on_failure: str | None,
    ) -> None:
        statement = prepared.statement
        put_row = None
        if isinstance(statement, InsertStatement):
            put_row = build_row(values[statement.item.name]["M"])
        super().__init__(
            _KINDS[type(statement)],
            prepared.table_name,
            put_row.item if put_row else {},
            put_row,
            update=prepared.update.bind(values) if prepared.update else None,
            return_on_failure=return_on_failure,
        )
        self._prepared = prepared
        self._values = values

    def find_table(self, context: ReadContext) -> None:
        """Find the table, and check that the statement has an equality on its whole key."""
        self.table = context.find_table(self.table_name)
        plan = self._prepared.plan_write(self.table)
        self._returning = plan.returning
        self.condition = plan.condition.bind(self._values) if plan.condition else None
        if self.put_row is None:
            self.key_values = key_values(plan.key, self._values)
            for test in plan.repeated:
                if self._values[test.operands[0]] != self.key_values[test.name]:
                    # The text of DynamoDB Local.
                    raise ValidationException(
                        f"Multiple conditions on same key {test.name}. Only single item "
                        "Update/Insert/Delete are supported"
                    )

    def check_key(self) -> None:
        """Check the key, with the messages that statements have."""
        for attribute in self.table.keys.attributes:
            value = self.key_values.get(attribute.name)
            if value is None:
                raise ValidationException(
                    f"Key attribute should be present in the item: Key {attribute.name}"
                )
            if attribute.type not in value:
                raise key_type_error(attribute.name)
        super().check_key()

    def prepare(self, context: ReadContext) -> None:
        """Run all checks that do not read the item."""
        self.find_table(context)
        self.check_key()
        self.table.reject_paths_into_keys(self.update, self.condition)

    def run(self, tx: WriteTransaction) -> Charge:
        """Write the item alone and return the charge; raise before anything has changed."""
        self.read(tx)
        try:
            self.evaluate()
            charge = Charge(self.table, name=self.table_name)
            self.apply(tx, charge)
        finally:
            self.release()  # a batch keeps 25 of them
        return charge

    def returned(self) -> ItemOut | None:
        """Return what RETURNING asks for; None if there is nothing."""
        return select_returned(self._returning, self.update, self.old, self.new)


def refuse_exists(prepared: PreparedStatement) -> None:
    """Raise ValidationException for EXISTS, which only a transaction may contain."""
    if isinstance(prepared.statement, ExistsStatement):
        raise ValidationException("EXISTS can only be used in ExecuteTransaction write requests.")
