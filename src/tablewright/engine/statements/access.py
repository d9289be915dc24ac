"""What a statement wants to access: its IAM action, table, index, key values and attributes.

`requested_access` combines it with the rest of the request. The partition key values, and whether
the statement is a full scan, depend on the keys of the table or index.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.engine.statements.prepared import key_values, prepare_statement, returned_values
from tablewright.engine.statements.where import find_branches, find_key
from tablewright.engine.tables.table import Keys
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.partiql import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    SelectStatement,
    UpdateStatement,
)
from tablewright.values import Item, Value

_ACTIONS: dict[type, str] = {
    SelectStatement: "PartiQLSelect",
    ExistsStatement: "PartiQLSelect",
    InsertStatement: "PartiQLInsert",
    UpdateStatement: "PartiQLUpdate",
    DeleteStatement: "PartiQLDelete",
}


class StatementAccess:
    """The access that one statement needs."""

    def __init__(self, text: str, parameters: Sequence[Value] | None) -> None:
        prepared = prepare_statement(text)
        statement = prepared.statement
        self._prepared = prepared
        self._values = prepared.bind(parameters)
        self.action = _ACTIONS[type(statement)]
        self.table = prepared.table_name
        self.index = prepared.index_name
        self.is_select = self.action == "PartiQLSelect"
        self.has_projection = prepared.projection is not None
        #: RETURNING as ReturnValues.
        self.return_values: str | None = None
        if isinstance(statement, UpdateStatement | DeleteStatement):
            self.return_values = returned_values(statement)

    def attributes(self) -> set[str]:
        """Return the top-level attributes that the statement names."""
        prepared = self._prepared
        if isinstance(prepared.statement, InsertStatement):
            return set(self._inserted())
        parts = (prepared.where, prepared.update, prepared.projection)
        return {name for part in parts if part is not None for name in part.names}

    def items(self, keys: Keys) -> list[Item]:
        """Return the key attributes that the statement determines, for each partition."""
        if isinstance(self._prepared.statement, InsertStatement):
            return [self._inserted()]
        try:
            if isinstance(self._prepared.statement, UpdateStatement | DeleteStatement):
                key, _ = find_key(self._where, keys.names)
                return [key_values(key, self._values)]
            branches = find_branches(self._where, keys.partition_names, keys.sort_names)
        except ValidationException:  # the operation raises it if the statement is allowed
            return []
        partition = len(keys.partition_names)
        return [key_values(branch.key[:partition], self._values) for branch in branches]

    def is_full_scan(self, keys: Keys) -> bool:
        """Return whether the statement reads a whole table or index."""
        return self.is_select and not self.items(keys)

    @property
    def _where(self) -> tree.Condition | None:
        form = self._prepared.where
        return form.tree if form else None

    def _inserted(self) -> Item:
        statement = self._prepared.statement
        assert isinstance(statement, InsertStatement)
        item: Item = self._values[statement.item.name]["M"]
        return item
