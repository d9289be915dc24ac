"""Random pairs of designs are migrated: forward, back, forward, and completed.

A pair has a seed, as in the experiment of changes: `check(seed)` repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import force_setattr

from tablewright import Engine, Table, connect, migrations
from tablewright.errors import (
    DeclarationError,
    DuplicateValues,
    InvalidValue,
    MigrationRefused,
    UnreadableItem,
)
from tablewright.mapping.item_kind import record_key
from tablewright.migrations import MigrationPlan
from tablewright.values import Item
from tablewright.verify.stored_items import compare_stored
from tests.design_changes.experiment import Side, value_of, write
from tests.design_changes.loading import tables_of
from tests.design_changes.pairs import make_pair

REFUSALS = (MigrationRefused, DuplicateValues, InvalidValue, UnreadableItem)
#: Kinds after which items or sentinels of the old version stay until `complete`.
STAYING = frozenset({"entity-removed", "unique-removed", "unique-changed"})
#: Seeds that failed: sentinels of a removed entity and of another one with the same type; a removed
#: entity and a removed unique value in a table without types; another default in an index key;
#: other key attributes; a retyped part of a key; another name in sentinels that name no item; a key
#: in place of an attribute.
FAILED = [
    (1044, True),
    (1043, True),
    (3053, False),
    (1002, True),
    (3090, False),
    (4016, False),
    (9, False),
    (30, False),
]


def check(seed: int, *, small: bool = False) -> list[str]:
    """Migrate the tables of a pair; return what is wrong."""
    pair = make_pair(seed, small=small)
    try:
        new = {table.__table__.name: table for table in tables_of(pair.new.module)}
        if Random(seed).random() < 0.7:
            _add_fill(new.values())
        problems: list[str] = []
        with Engine(":memory:") as engine:
            connect(engine, *tables_of(pair.old.module))
            old = Side(pair.old, engine)
            write(old, engine)
            for table in old.tables:
                name = table.__table__.name
                if name in new:
                    found = _Migrated(engine, table, new[name]).problems()
                    problems += (f"seed {seed}, {name}: {each}" for each in found)
        return problems
    finally:
        pair.close()


def _add_fill(tables: Any) -> None:
    """Give required attributes a value for stored items."""
    for entity in (entity for table in tables for entity in table.__table__.entities):
        for attribute in entity.attributes.values():
            if not attribute.may_be_absent and not attribute.role and attribute.fill is None:
                try:
                    value = value_of(attribute.converter.kind, f"{attribute.name}0", 0)
                    attribute.store(value)
                except (InvalidValue, KeyError, TypeError):
                    continue
                force_setattr(attribute, "fill", value)


class _Migrated:
    """A table that is migrated from one version to another, and back."""

    def __init__(self, engine: Engine, old: type[Table], new: type[Table]) -> None:
        self.engine, self.old, self.new = engine, old, new
        self.name = old.__table__.name

    def problems(self) -> Iterator[str]:
        if not compare_stored(self.old.__table__, self.items()):
            return  # the writer of the experiment has removed a value that a key contains
        try:
            migrations.baseline(self.engine, self.old)
        except DeclarationError:
            return  # the table has no place for a record
        before = self.by_key()
        plan = self.run("apply", self.new)
        if plan is None:
            if self.by_key() != before:
                yield "a refused migration has changed items"
            connect(self.engine, self.old, create=False)
            return
        if STAYING.isdisjoint(each.kind.name for each in plan.changes):
            yield from self.differences("apply", self.new)
        (again,) = migrations.apply(self.engine, self.new, program_seconds=0)
        if again.changed:
            yield "a second apply has changed items"
        yield from self.undone(before)
        migrations.complete(self.engine, self.new, program_seconds=0, delete_removed=True)
        yield from self.differences("complete", self.new)

    def undone(self, before: dict[str, Item]) -> Iterator[str]:
        """Go back, and forward again."""
        applied = self.by_key()
        if self.run("rollback", self.old) is None:
            if self.by_key() != applied:
                yield "a refused rollback has changed items"
            return
        after = self.by_key()
        if after.keys() != before.keys():
            yield f"rollback: other items: {sorted(after.keys() ^ before.keys())[:3]}"
        lost = [
            key for key in before.keys() & after.keys() if not _is_kept(before[key], after[key])
        ]
        if lost:
            yield f"rollback: other values: {lost[0]}: {before[lost[0]]} -> {after[lost[0]]}"
        yield from self.differences("rollback", self.old)
        migrations.apply(self.engine, self.new, program_seconds=0)

    def run(self, command: Any, table: type[Table]) -> MigrationPlan | None:
        """Carry out a command; return its plan, or None if it is refused."""
        try:
            (plan,) = migrations.plan(self.engine, table, command=command)
            getattr(migrations, command)(self.engine, table, program_seconds=0)
        except REFUSALS:
            return None
        return plan

    def differences(self, command: str, table: type[Table]) -> Iterator[str]:
        connect(self.engine, table, create=False)
        report = compare_stored(table.__table__, self.items())
        yield from (f"{command}: {each}" for each in report.differences[:3])

    def items(self) -> list[Item]:
        found: list[Item] = self.engine.call("Scan", {"TableName": self.name})["Items"]
        return found

    def by_key(self) -> dict[str, Item]:
        """Return all items but the record, by their keys."""
        table = self.old.__table__
        keys = ((table.key(each), each) for each in self.items())
        return {str(key): each for key, each in keys if key != record_key(table)}


def _is_kept(before: Item, after: Item) -> bool:
    """Return whether an item has all its values again: `fill=` and a default may add some."""
    return all(name in after for name in before) and (
        before.keys() != after.keys() or all(before[n] == after[n] for n in before)
    )


@pytest.mark.parametrize(("seed", "small"), FAILED)
def test_what_has_failed_before(seed: int, *, small: bool) -> None:
    assert check(seed, small=small) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 300, 25))
def test_random_pairs_are_migrated(first: int) -> None:
    assert [each for seed in range(first, first + 25) for each in check(seed)] == []
