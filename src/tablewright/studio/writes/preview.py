"""Previews: what the plan of a write would do, without doing it.

    found = preview(database, plan)      the plan runs on an overlay: nothing is written
    found.items                          items that it adds, changes and removes, with index rows
    found.checks                         the conditions that it requires, and what is stored
    found.error                          why it would be refused; None if it would not
    outcome = apply(found, transport)    in `tablewright.studio.writes.applying`

An engine applies each request of the plan to a copy of the stored items. The changes and the units
are those of this engine. The units of a preview are the sum of those of its items, index rows and
checks, and of refused writes.

A plan runs once, because it may set the version of the entity that it writes. Make a new plan for
another preview.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR, write_units
from tablewright.cost.units import index_writes, written_size
from tablewright.errors import CannotOpen, DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.plan.plan import Plan
from tablewright.presentation.kinds import kind_of
from tablewright.studio.markup.clauses import Clause, clauses
from tablewright.studio.writes.overlay import (
    Overlay,
    PreviewTooLarge,
    SentRead,
    SentWrite,
    Touched,
    identity,
)
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

Kind: TypeAlias = Literal["added", "changed", "moved", "removed", "same"]


class RowChange(Struct, frozen=True):
    """A row of an index, before and after; only its projected attributes."""

    index: IndexDescription
    before: Item | None
    after: Item | None
    units: float

    @property
    def kind(self) -> Kind:
        if self.before is None or self.after is None:
            return _kind(self.before, self.after)
        moved = any(self.before[name] != self.after[name] for name in self.index.keys.names)
        return "moved" if moved else "changed"


class ItemChange(Struct, frozen=True):
    """An item before and after, and its rows in the indexes."""

    description: TableDescription
    key: Item
    before: Item | None
    after: Item | None
    what: ItemKind
    #: Those of the item itself; its index rows have their own.
    units: float
    rows: tuple[RowChange, ...]

    @property
    def kind(self) -> Kind:
        """What happens to the item; "same" if the write changes no attribute."""
        return _kind(self.before, self.after)

    @property
    def table(self) -> str:
        """The name of the table at the target."""
        return self.description.name

    @property
    def changed(self) -> list[str]:
        """The attributes that are added, changed and removed, those of the new item first."""
        before, after = self.before or {}, self.after or {}
        return [name for name in {**after, **before} if before.get(name) != after.get(name)]


class CheckedItem(Struct, frozen=True):
    """The conditions that a write, or a check alone, requires of one item."""

    description: TableDescription
    key: Item
    what: ItemKind
    clauses: list[Clause]
    #: Whether the item is only checked, not written.
    is_alone: bool
    #: Those of a check alone.
    units: float


class Preview(Struct, frozen=True):
    """What a plan would do."""

    items: tuple[ItemChange, ...]
    checks: tuple[CheckedItem, ...]
    #: The result of the plan; None if it has an error.
    result: Any
    error: TablewrightError | None
    reads: tuple[SentRead, ...]
    writes: tuple[SentWrite, ...]
    #: Writes whose conditions fail; the plan may have tried again.
    refused: tuple[SentWrite, ...]
    #: All requests of the plan, in order: their operations and bodies.
    requests: tuple[tuple[str, dict[str, Any]], ...]
    #: The tables that it writes, by name.
    descriptions: dict[str, TableDescription]
    maps: dict[str, TableMap]

    @property
    def write_units(self) -> float:
        return sum(write.units for write in (*self.writes, *self.refused))

    @property
    def read_units(self) -> float:
        return sum(read.units for read in self.reads)

    @property
    def is_empty(self) -> bool:
        """Whether the plan would write nothing."""
        return not self.writes

    @property
    def is_atomic(self) -> bool:
        """Whether all or none of the writes happen: they are one request, and not a batch."""
        return len(self.writes) <= 1 and all(
            write.operation != "BatchWriteItem" or len(write.touched) == 1 for write in self.writes
        )


def preview(database: Database, plan: Plan[Any]) -> Preview:
    """Run a plan on an overlay above a database, and return what it would do.

    A plan that would be refused gives a preview with its error. Raises PreviewTooLarge, or what
    the target raises if it cannot be read.
    """
    maps = {name: table for table, name in database.table_names.items()}
    with closing(Overlay(database.transport)) as overlay:
        over = database.through(overlay)
        result, error = None, None
        try:
            result = over.run(plan)
        except (EndpointUnavailable, CannotOpen, PreviewTooLarge):
            raise
        except TablewrightError as refusal:
            if isinstance(refusal, DynamoDBError) and not overlay.refused:
                raise  # the target has refused a read
            error = refusal
        sent = overlay.refused[-1:] if error is not None else []
        descriptions = overlay.tables
        changes = _Changes(descriptions, maps)
        return Preview(
            items=changes.of(overlay.writes),
            checks=changes.checks([*overlay.writes, *sent]),
            result=result,
            error=error,
            reads=tuple(overlay.reads),
            writes=tuple(overlay.writes),
            refused=tuple(overlay.refused),
            requests=tuple(overlay.requests),
            descriptions=descriptions,
            maps=maps,
        )


class _Changes:
    """Computes the changes of items and index rows from the requests of a plan."""

    def __init__(
        self, descriptions: dict[str, TableDescription], maps: dict[str, TableMap]
    ) -> None:
        self._descriptions = descriptions
        self._maps = maps

    def of(self, writes: Iterable[SentWrite]) -> tuple[ItemChange, ...]:
        """Return the changes of all writes; an item that is written twice is listed once."""
        found: dict[tuple[str, bytes], ItemChange] = {}
        for write in writes:
            factor = TRANSACTION_FACTOR if write.is_transaction else 1
            for touched in write.touched:
                if touched.write.kind == "ConditionCheck":
                    continue
                change = self._change(touched, factor)
                place = identity(change.table, change.key)
                found[place] = _joined(found[place], change) if place in found else change
        return tuple(found.values())

    def _change(self, touched: Touched, factor: int) -> ItemChange:
        description = self._descriptions[touched.write.table]
        before, after = touched.before, touched.after
        rows = [
            _row_change(description, index, before, after, factor) for index in description.indexes
        ]
        return ItemChange(
            description=description,
            key=touched.key,
            before=before,
            after=after,
            what=self._what(description, after or before or touched.key),
            units=factor * write_units(written_size(before, after)),
            rows=tuple(row for row in rows if row is not None),
        )

    def checks(self, writes: Iterable[SentWrite]) -> tuple[CheckedItem, ...]:
        """Return the conditions of writes, with what is stored."""
        return tuple(
            self._check(touched)
            for write in writes
            for touched in write.touched
            if "ConditionExpression" in touched.write.body
        )

    def _check(self, touched: Touched) -> CheckedItem:
        description, body = self._descriptions[touched.write.table], touched.write.body
        is_alone = touched.write.kind == "ConditionCheck"
        units = TRANSACTION_FACTOR * write_units(written_size(touched.before, None))
        return CheckedItem(
            description=description,
            key=touched.key,
            what=self._what(description, touched.before or body.get("Item") or touched.key),
            clauses=clauses(body, touched.before),
            is_alone=is_alone,
            units=units if is_alone else 0.0,
        )

    def _what(self, description: TableDescription, item: Item) -> ItemKind:
        return kind_of(self._maps.get(description.name), item)


def _row_change(
    description: TableDescription,
    index: IndexDescription,
    before: Item | None,
    after: Item | None,
    factor: int,
) -> RowChange | None:
    was, now = description.index_row(index, before), description.index_row(index, after)
    if was == now:
        return None
    sizes, _ = index_writes(index.keys.names, was, now)
    return RowChange(index, was, now, factor * sum(map(write_units, sizes)))


def _joined(first: ItemChange, second: ItemChange) -> ItemChange:
    """Return one change for two changes of an item, one after the other."""
    rows = {row.index.name: row for row in first.rows}
    for row in second.rows:
        earlier = rows.get(row.index.name)
        if earlier is not None:
            row = replace(row, before=earlier.before, units=earlier.units + row.units)
        rows[row.index.name] = row
    return replace(
        second,
        before=first.before,
        units=first.units + second.units,
        rows=tuple(rows.values()),
    )


def _kind(before: Item | None, after: Item | None) -> Kind:
    if before == after:
        return "same"
    if before is None:
        return "added"
    return "removed" if after is None else "changed"
