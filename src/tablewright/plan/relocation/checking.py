"""Checking: what a relocation would do, whether it can, and how far it is. Nothing here writes."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from tablewright.errors import (
    MigrationRefused,
)
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.migrate import find_table, with_ttl
from tablewright.plan.migration.revision import (
    not_managed,
    revision_of,
)
from tablewright.plan.plan import Context, Request
from tablewright.plan.relocation.between import BetweenSteps, at, one
from tablewright.plan.relocation.place import (
    PlaceRecord,
    is_own,
    move_in,
    read_record,
)
from tablewright.plan.relocation.settings import (
    require_same_structure,
)
from tablewright.plan.relocation.state import (
    STEPS,
    RelocationState,
    StepName,
    progress_in,
)
from tablewright.table_description import TableDescription
from tablewright.transport.tables import describe_table

T = TypeVar("T")


class Places(Struct, frozen=True):
    """A table at two places: its name at each, and the places as texts for people."""

    table: TableMap
    names: tuple[str, str]
    texts: tuple[str, str]
    contexts: tuple[Context, Context]


class RelocationStatus(Struct, frozen=True):
    """How far a relocation is."""

    table: str
    #: None: the table is not being moved.
    progress: RelocationState | None = None
    #: What the record of each place tells programs.
    first: PlaceRecord | None = None
    second: PlaceRecord | None = None


class RelocationPlan(Struct, frozen=True):
    """What `apply`, or `rollback`, would do."""

    source: TableDescription
    #: None: the destination will be created.
    destination: TableDescription | None
    steps: tuple[StepName, ...]
    done: int = 0
    enables_stream: bool = False


class RelocationCommand(Generic[T]):
    """A command; `steps` sends requests to both places."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.table = places.table

    def steps(self) -> BetweenSteps[T]:
        raise NotImplementedError

    def read_progress(self) -> BetweenSteps[RelocationState | None]:
        """Return how far the relocation is; raise MigrationRefused if it is another one."""
        name = self.places.names[0]
        record = yield from at(0, read_record(self.table, name))
        if revision_of(record, name) is None:
            raise not_managed(name)
        progress = progress_in(record, name)
        if progress is not None and progress.table != self.places.names[1]:
            raise MigrationRefused(
                f"the table {name!r} is being moved to {progress.place}, table {progress.table!r}; "
                "continue that, or go back first: tablewright migrate rollback"
            )
        return progress

    def find(self, side: int) -> BetweenSteps[TableDescription | None]:
        found = yield from at(side, describe_table(self.places.names[side]))
        return None if found is None else (yield from at(side, with_ttl(found)))

    def require_source(self, side: int) -> BetweenSteps[TableDescription]:
        found = yield from at(side, find_table(self.places.names[side]))
        return (yield from at(side, with_ttl(found)))

    def check(self, progress: RelocationState | None) -> BetweenSteps[RelocationPlan]:
        """Raise an error if the table cannot be moved; nothing is written."""
        source_side = int(progress is not None and progress.is_back)
        source = yield from self.require_source(source_side)
        record = yield from at(source_side, read_record(self.table, source.name))
        revision = revision_of(record, source.name)
        if revision is None:
            raise not_managed(source.name)
        if revision.target is not None or revision.state is not None:
            raise MigrationRefused(
                f"the table {source.name!r} is being migrated to another version of its design; "
                "finish that first: tablewright migrate status DESIGN TARGET"
            )
        move = revision.move
        if move is not None and move.phase == "away" and progress is None:
            raise MigrationRefused(
                f"the items of the table {source.name!r} were moved to {move.place}, table "
                f"{move.table!r}; move them from there"
            )
        found = yield from self.find(1 - source_side)
        if found is not None:
            require_same_structure(source, found)
            yield from self._refuse_other_items(1 - source_side, progress, move)
        done = 0 if progress is None else progress.done
        return RelocationPlan(source, found, STEPS, done, source.stream is None)

    def _refuse_other_items(
        self, side: int, progress: RelocationState | None, move: PlaceRecord | None
    ) -> BetweenSteps[None]:
        name = self.places.names[side]
        theirs = move_in((yield from at(side, read_record(self.table, name))), name)
        known = {each.id for each in (progress, move) if each is not None}
        if theirs is not None and theirs.id in known:
            source = self.places.names[1 - side]
            if theirs.table == source and (move is None or move.table == name):
                return
            raise MigrationRefused(
                f"the tables {name!r} and {source!r} are not the two places of one move; one of "
                "them may be a restored copy. Choose another name with --new-name"
            )
        scan = Request("Scan", {"TableName": name, "ConsistentRead": True, "Limit": 100})
        items = msgspec.json.decode((yield from at(side, one(scan))))["Items"]
        others = [item for item in items if not is_own(self.table, item)]
        if others or theirs is not None:
            raise MigrationRefused(
                f"the table {name!r} at {self.places.texts[side]} has other items; nothing was "
                "written. Choose another name with --new-name, or delete that table"
            )


class PlanRelocation(RelocationCommand[RelocationPlan]):
    """Say what `apply` would do; nothing is written."""

    def steps(self) -> BetweenSteps[RelocationPlan]:
        progress = yield from self.read_progress()
        if progress is not None and progress.is_over and not progress.is_back:
            source = yield from self.require_source(1)
            return RelocationPlan(source, None, ())
        if progress is not None and progress.is_back:
            raise is_going_back(self.places.names[0])
        return (yield from self.check(progress))


class ReadRelocation(RelocationCommand[RelocationStatus]):
    """Read how far it is; nothing is written."""

    def steps(self) -> BetweenSteps[RelocationStatus]:
        name, other = self.places.names
        record = yield from at(0, read_record(self.table, name))
        progress = progress_in(record, name)
        second = None
        if (yield from at(1, describe_table(other))) is not None:
            second = move_in((yield from at(1, read_record(self.table, other))), other)
        return RelocationStatus(name, progress, move_in(record, name), second)


def is_going_back(name: str) -> MigrationRefused:
    return MigrationRefused(
        f"the table {name!r} is being moved back; continue that: tablewright migrate rollback"
    )
