"""Walk a table through the versions of a design, forward and back, and compare what it stores.

A step to the next version is made three times:

    apply, rollback           all items are as before, byte for byte
    apply, write, rollback    the old version reads all items of its entities
    apply, write, complete    nothing is left that only the old version had
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from tablewright import Engine, Table, connect, migrations
from tablewright.database import Database
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.migrate import MigrationPlan
from tablewright.values import Item
from tablewright.verify import compare_stored


def _nothing(_: Database) -> None: ...


class SeriesVersion(Struct, frozen=True):
    """A version of a design, and what its programs write and read."""

    name: str
    table: type[Table]
    #: Write what is new in this version; the same again after a rollback.
    write: Callable[[Database], None] = _nothing
    #: Check what programs of this version read, before and after they have written.
    check: Callable[[Database], None] = _nothing


class Walk:
    """A table that is walked from version to version."""

    def __init__(self, first: SeriesVersion) -> None:
        self.engine = Engine(":memory:")
        #: The items after the last `apply`, before programs of that version have written.
        self.prepared: list[Item] = []
        self._version = first
        self._write()
        migrations.baseline(self.engine, first.table)
        self._compare()

    def go_to(self, version: SeriesVersion) -> MigrationPlan:
        """Carry the table to the next version, and back on the way; return the plan."""
        former = self._version
        (plan,) = migrations.plan(self.engine, version.table)
        if not plan.steps:
            assert not plan.changes
            self._version = version
            self._write()
            self._compare()
            return plan
        before = self.stored()
        self._apply(version)
        self._roll_back(former)
        assert self.stored() == before
        self._apply(version)
        self.prepared = self.items()
        self._write()
        self._roll_back(former)
        self._apply(version)
        self._write()
        migrations.complete(self.engine, version.table, delete_removed=True)
        self._compare()
        return plan

    def _apply(self, version: SeriesVersion) -> None:
        former, self._version = self._version, version
        migrations.apply(self.engine, version.table)
        self._compare(former)

    def _roll_back(self, former: SeriesVersion) -> None:
        migrations.rollback(self.engine, former.table)
        self._version = former
        self._compare()

    def _write(self) -> None:
        with connect(self.engine, self._version.table) as database:
            self._version.write(database)

    def _compare(self, former: SeriesVersion | None = None) -> None:
        """Require that the stored items are those of the present version, and that it runs.

        Items that only the `former` version knows stay until `complete`.
        """
        table, items = self._version.table.__table__, self.items()
        if former is not None:
            items = [
                each
                for each in items
                if _is_known(table, each) or not _is_known(former.table.__table__, each)
            ]
        report = compare_stored(table, items)
        assert [str(each) for each in report.differences] == []
        with connect(self.engine, self._version.table) as database:
            self._version.check(database)

    def items(self) -> list[Item]:
        """Return all stored items except the record of the table."""
        table = self._version.table.__table__
        found: list[Item] = self.engine.call("Scan", {"TableName": table.name})["Items"]
        return [each for each in found if not table.identify(each).is_record]

    def stored(self) -> dict[str, str]:
        """Return everything that the table stores: the text of each item and index row."""
        name = self._version.table.__table__.name
        description = self.engine.call("DescribeTable", {"TableName": name})["Table"]
        indexes = [each["IndexName"] for each in description.get("GlobalSecondaryIndexes", ())]
        rows = {"": self.items()}
        for index in indexes:
            rows[index] = self.engine.call("Scan", {"TableName": name, "IndexName": index})["Items"]
        return {
            f"{place} {_text(self._key(item))}": _text(item)
            for place, items in rows.items()
            for item in items
        }

    def _key(self, item: Item) -> Item:
        return self._version.table.__table__.key(item)


def _is_known(table: TableMap, item: Item) -> bool:
    """Return whether the key of an item is one that a version writes."""
    kind = table.identify({name: item[name] for name in item if name != table.type_attribute})
    return kind.stored is not None or kind.unique is not None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
