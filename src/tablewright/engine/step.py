"""A step: a request that has been checked as far as that needs no table, ready to run.

The way of a request: JSON -> typed request (wire) -> step (an operation's checks) -> run in a
snapshot or a transaction -> answer -> JSON. Everything that can be refused without looking at the
table is refused before a lock is taken.

`Reading` and `Writing` are what a running step may use: the tables there are, and their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.engine.catalog import Catalog
from tablewright.engine.table import StoredTable
from tablewright.errors import ResourceNotFoundException
from tablewright.storage import Snapshot, Tree, WriteTransaction

#: Rows and bytes by the name of a tree.
Counts: TypeAlias = Mapping[str, tuple[int, int]]


class ReadContext(Struct):  # a Struct, as the steps below: made for each request, in half the time
    """What a step that only reads works with."""

    catalog: Catalog
    snapshot: Snapshot

    def find_table(self, name: str) -> StoredTable:
        """The table of that name or ARN; a ResourceNotFoundException if there is none."""
        tables = self.catalog.tables
        table = tables.get(name) or tables.get(table_name(name))
        if table is None:
            raise ResourceNotFoundException("Requested resource not found")
        return table

    def find_table_for_control_plane(self, name: str) -> StoredTable:
        """The same, for operations on the table itself, whose fault names it."""
        try:
            return self.find_table(name)
        except ResourceNotFoundException:
            raise ResourceNotFoundException(
                f"Requested resource not found: Table: {table_name(name)} not found"
            ) from None


class WriteContext(ReadContext):
    """What a step that writes works with: `tx` is its snapshot, and takes changes."""

    tx: WriteTransaction
    counts: Counts

    def count(self, tree: Tree) -> tuple[int, int]:
        """What was counted before the step; nothing in trees that are new since."""
        return self.counts.get(tree.name, (0, 0))


class ReadStep(Struct):
    """A step that only reads: `run` does the work and gives the answer.

    `is_costly`: it may take seconds, so it must not be done where others wait for it.
    """

    run: Callable[[ReadContext], Any]
    is_costly: bool = False


class WriteStep(Struct):
    """A step that writes: `run` raises before it changes anything, or changes all it means to.

    `counted_table` names the table whose rows the answer counts. Counting reads whole trees, so it
    is done before `run` holds the write lock.
    """

    run: Callable[[WriteContext], Any]
    counted_table: str | None = None


Step: TypeAlias = ReadStep | WriteStep


def table_name(name_or_arn: str) -> str:
    """The name in `arn:aws:dynamodb:region:account:table/NAME`; anything else is a name itself."""
    if name_or_arn.startswith("arn:"):
        _, found, name = name_or_arn.partition(":table/")
        if not found:
            raise ResourceNotFoundException("Requested resource not found")
        return name.partition("/")[0]
    return name_or_arn
