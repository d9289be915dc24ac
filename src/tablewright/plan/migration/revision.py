"""Revision: what a table records about the versions of its design.

    $design     the description that the stored items are prepared for
    $target     while a migration runs: the description that it leads to
    $previous   after a migration, until it is completed: the description before it
    $steps      how far the migration is
    $lease      the executor at work, and a number that it increases while it works
    $fence      a number that increases with each executor; every write of a migration requires it

These are attributes of the index record (`plan/backfill/index_record.py`), so they are copied,
dumped and restored with the items that they describe. A table without `$design` is not managed:
`connect` treats it as before.

Invariants: nothing but the plans of this package writes these attributes. An executor writes them
only while the fence is its own, so one that was stalled cannot write after another has taken over.
No clock decides who that is: an executor is taken for dead if the number in its lease has not
changed while another one waited.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_changes import DesignChange, Need, differences
from tablewright.design_description import (
    DesignDescription,
    TableDesign,
    read_table_design,
    write_table_design,
)
from tablewright.errors import (
    ConditionalCheckFailedException,
    DesignMismatch,
    DynamoDBError,
    MigrationBusy,
    MigrationRefused,
)
from tablewright.mapping.item_kind import RECORD_NAME, record_key
from tablewright.mapping.table import TableMap
from tablewright.plan.description import describe_entities
from tablewright.plan.migration.steps import MigrationStep
from tablewright.plan.plan import Request, Steps, Wait
from tablewright.plan.writes.guard import WriteExpressions
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item, Value

T = TypeVar("T")

#: Kinds of change after which programs of the version before find nothing under its names.
_RENAMES = frozenset({"attribute-renamed", "entity-renamed"})

_DESIGN, _TARGET, _PREVIOUS = "$design", "$target", "$previous"
_STEPS, _LEASE, _FENCE = "$steps", "$lease", "$fence"
#: The version of the format of these attributes.
FORMAT = 1
#: How long an executor may make no progress before another one takes over, in seconds.
LEASE_SECONDS = 30.0
_POLL_SECONDS = 2.0
#: How often an executor that waits records that it is alive, in seconds.
_BEAT_SECONDS = 8.0


Command: TypeAlias = Literal["apply", "rollback", "complete"]


class SweepPosition(Struct, frozen=True):
    """How far a step is that reads the whole table."""

    #: The key of the last item that was read.
    last: Item
    items: int = 0
    changed: int = 0


class MigrationState(Struct, frozen=True):
    """How far a migration is."""

    command: Command
    #: The steps, and how many of them are done.
    steps: tuple[MigrationStep, ...]
    done: int = 0
    position: SweepPosition | None = None
    format: int = FORMAT


class Lease(Struct, frozen=True):
    """The executor at work."""

    owner: str
    beat: int = 0


class Revision(Struct, frozen=True):
    """What a table records about the versions of its design."""

    design: TableDesign
    target: TableDesign | None = None
    previous: TableDesign | None = None
    state: MigrationState | None = None
    lease: Lease | None = None
    fence: int = 0


def read_revision(table: TableMap, name: str) -> Steps[Revision | None]:
    """Return what a table records; None if it is not managed."""
    body = {"TableName": name, "Key": record_key(table), "ConsistentRead": True}
    item: Item | None = msgspec.json.decode((yield Request("GetItem", body))).get("Item")
    return None if item is None else revision_of(item, name)


def revision_of(record: Mapping[str, Value], name: str) -> Revision | None:
    """Return the revision in a record; raise MigrationRefused if it cannot be read."""
    if _DESIGN not in record:
        return None

    def described(attribute: str) -> TableDesign | None:
        return read_table_design(record[attribute]["S"]) if attribute in record else None

    try:
        state = None
        if _STEPS in record:
            state = msgspec.json.decode(record[_STEPS]["S"], type=MigrationState)
            if state.format > FORMAT:
                raise ValueError(f"format {state.format}")
        design = described(_DESIGN)
        assert design is not None
        return Revision(
            design,
            described(_TARGET),
            described(_PREVIOUS),
            state,
            msgspec.json.decode(record[_LEASE]["S"], type=Lease) if _LEASE in record else None,
            int(record.get(_FENCE, {"N": "0"})["N"]),
        )
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise MigrationRefused(
            f"the record of the table {name!r} was written by another version of Tablewright, and "
            f"this one cannot read it ({error}); use that version, or a newer one"
        ) from None


# -- which programs may connect --------------------------------------------------------------------


@lru_cache(maxsize=64)
def _entities(table: TableMap, count: int) -> Any:
    return describe_entities(table)


def declared_entities(table: TableMap) -> Any:
    """Return the descriptions of the entities of a table, computed once."""
    return _entities(table, len(table.entities))


def item_changes(old: TableDesign, new: TableDesign, name: str) -> list[DesignChange]:
    """Return the changes between two versions that concern items; `name` is that of the table.

    The structure of a table is compared with the table itself.
    """
    same = replace(new, keys=old.keys, indexes=old.indexes, ttl=old.ttl, stream=old.stream)
    pair = (DesignDescription({name: each}) for each in (old, same))
    return differences(*pair)


def declared_version(table: TableMap, revision: Revision) -> TableDesign:
    """Return the declared version of a managed table, for a comparison of items."""
    return replace(
        revision.design,
        type_attribute=table.type_attribute or "",
        type_form=table.type_form,
        entities=declared_entities(table),
    )


def require_served(table: TableMap, name: str, revision: Revision) -> None:
    """Raise DesignMismatch if the items of a table are not prepared for a program.

    the program declares      it may connect
    $design                   unless a migration runs that it cannot run together with
    $target                   if its changes need no preparation, or have guards of their own
    $previous                 if it can run together with $design
    a version before a rename never, once the migration is completed
    anything else             if its changes only need to be deployed
    """
    declared = declared_version(table, revision)
    changes = item_changes(revision.design, declared, name)
    target, previous = revision.target, revision.previous
    if not changes:
        moving = [] if target is None else item_changes(revision.design, target, name)
        _refuse(
            name,
            [each for each in moving if not _runs_together(each)],
            "is being migrated to a version of the design that this program cannot run together "
            "with",
            "Deploy the new version; `tablewright migrate status DESIGN TARGET` shows how far the "
            "migration is",
        )
        return
    if previous is not None and not item_changes(previous, declared, name):
        _refuse(
            name,
            [
                each
                for each in item_changes(previous, revision.design, name)
                if not _runs_together(each)
            ],
            "was migrated from the version of the design that this program declares to a version "
            "that it cannot run together with",
            "Deploy the new version, or go back: tablewright migrate rollback DESIGN TARGET",
        )
        return
    refused = [each for each in changes if not each.is_deployable]
    if target is not None and not item_changes(target, declared, name):
        _refuse(
            name,
            refused,
            "is being migrated to the version of the design that this program declares, and is not "
            "ready yet",
            "Wait until the migration has ended: tablewright migrate status DESIGN TARGET",
        )
        return
    # By the names alone, an older version adds parts: they are those that were renamed since.
    _refuse(
        name,
        [
            each
            for each in item_changes(declared, revision.design, name)
            if each.kind.name in _RENAMES
        ],
        "is prepared for a later version of the design than this program declares",
        "Deploy the later version",
    )
    _refuse(
        name,
        refused,
        "is not prepared for the version of the design that this program declares",
        "See what the change needs, and carry it out: tablewright migrate plan DESIGN TARGET",
    )


def _runs_together(change: DesignChange) -> bool:
    """Return whether programs of the old version may run during a migration and after it.

    What they write after an item was rewritten stays in the old form, which no one reads.
    """
    return change.runs_together and change.need is not Need.REWRITE


def _refuse(name: str, changes: Sequence[DesignChange], problem: str, advice: str) -> None:
    if changes:
        listed = "\n  ".join(map(str, changes))
        raise DesignMismatch(f"the table {name!r} {problem}:\n  {listed}\n{advice}")


# -- writing ---------------------------------------------------------------------------------------


class Executor(Struct):
    """The executor of a migration of one table: it holds the lease."""

    table: TableMap
    #: The name of the table.
    name: str
    fence: int
    lease: Lease

    @property
    def fence_values(self) -> dict[str, Value | None]:
        """The attributes of the record that every write of this executor requires."""
        return {_FENCE: {"N": str(self.fence)}}

    def fence_check(self) -> dict[str, Any]:
        """Return the check of the fence: without the name of the table."""
        expressions = WriteExpressions()
        expressions.require_unchanged(self.fence_values)
        return expressions.add_to({"Key": record_key(self.table)})

    def save(self, state: MigrationState) -> Steps[None]:
        """Record how far the migration is, and that this executor is alive."""
        yield from self._beat({_STEPS: _text(state)})

    def keep_alive(self, steps: Steps[T]) -> Steps[T]:
        """Run steps of a table; record before each request that this executor is alive.

        So an executor that has lost its lease sends no further request.
        """
        try:
            step = next(steps)
            while True:
                if not isinstance(step, Wait):
                    yield from self._beat({})
                try:
                    body = yield step
                except (DynamoDBError, RetriesExhausted) as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(body)
        except StopIteration as end:
            result: T = end.value
            return result

    def wait(self, seconds: float) -> Steps[None]:
        """Wait, and record meanwhile that this executor is alive."""
        while seconds > 0:
            yield Wait(min(seconds, _BEAT_SECONDS))
            seconds -= _BEAT_SECONDS
            if seconds > 0:
                yield from self._beat({})

    def _beat(self, values: Mapping[str, Value | None]) -> Steps[None]:
        self.lease = replace(self.lease, beat=self.lease.beat + 1)
        yield from self._write({**values, _LEASE: _text(self.lease)})

    def begin(self, state: MigrationState, target: TableDesign) -> Steps[None]:
        """Record that a migration to another version begins."""
        yield from self._write({_STEPS: _text(state), _TARGET: {"S": write_table_design(target)}})

    def restore(self, revision: Revision) -> Steps[None]:
        """Record again what was there before a migration began that has changed nothing."""
        target, state = revision.target, revision.state
        yield from self._write(
            {
                _TARGET: None if target is None else {"S": write_table_design(target)},
                _STEPS: None if state is None else _text(state),
            }
        )

    def switch(self, design: TableDesign, previous: TableDesign | None) -> Steps[None]:
        """End a migration: the items are prepared for another version now. Release the lease."""
        before = None if previous is None else {"S": write_table_design(previous)}
        yield from self._write(
            {
                _LEASE: None,
                _DESIGN: {"S": write_table_design(design)},
                _PREVIOUS: before,
                _TARGET: None,
                _STEPS: None,
            }
        )

    def release(self) -> Steps[None]:
        """Let another executor begin at once."""
        yield from self._write({_LEASE: None})

    def _write(self, values: Mapping[str, Value | None]) -> Steps[None]:
        expressions = WriteExpressions()
        expressions.require_unchanged(self.fence_values)
        for attribute, value in values.items():
            expressions.update.set_or_remove(attribute, value)
        body = {"TableName": self.name, "Key": record_key(self.table)}
        try:
            yield Request("UpdateItem", expressions.add_to(body))
        except ConditionalCheckFailedException:
            raise lost_lease(self.name) from None


def lost_lease(name: str) -> MigrationBusy:
    return MigrationBusy(
        f"another executor has taken over the migration of the table {name!r}, because this one "
        "made no progress for a while; this one has stopped and writes nothing more"
    )


def _text(value: Struct) -> Value:
    return {"S": msgspec.json.encode(value).decode()}


# -- the beginning ---------------------------------------------------------------------------------


def begin_revision(table: TableMap, name: str, design: TableDesign) -> Steps[None]:
    """Record what a table that is not managed is prepared for; raise MigrationRefused if it is."""
    expressions = WriteExpressions()
    expressions.require_unchanged({_DESIGN: None})
    expressions.update.set_or_remove(_DESIGN, {"S": write_table_design(design)})
    if table.type_attribute is not None:
        expressions.update.set_or_remove(table.type_attribute, table.type_value(RECORD_NAME))
    body = {"TableName": name, "Key": record_key(table)}
    try:
        yield Request("UpdateItem", expressions.add_to(body))
    except ConditionalCheckFailedException:
        raise MigrationRefused(
            f"the table {name!r} records already what its items are prepared for; see: tablewright "
            "migrate status DESIGN TARGET"
        ) from None


def acquire(table: TableMap, name: str, *, lease_seconds: float = LEASE_SECONDS) -> Steps[Executor]:
    """Return the executor of a table when no other one is at work.

    Wait for `lease_seconds` to see whether the present one makes progress; raise MigrationBusy if
    it does.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    waited = 0.0
    seen: Lease | None = None
    while True:
        found = yield from read_revision(table, name)
        if found is None:
            raise not_managed(name)
        present = found.lease
        if present is not None and present.owner == owner:  # the response was lost
            return Executor(table, name, found.fence, present)
        if present is not None and seen is not None and present != seen:
            raise MigrationBusy(
                f"another executor migrates the table {name!r}: {present.owner}; wait until it has "
                "ended, or stop it"
            )
        if present is not None and waited < lease_seconds and not has_ended(present):
            seen = present
            pause = min(_POLL_SECONDS, lease_seconds - waited)
            yield Wait(pause)
            waited += pause
            continue
        lease = Lease(owner)
        expressions = WriteExpressions()
        fence: Value | None = {"N": str(found.fence)} if found.fence else None
        expressions.require_unchanged({_FENCE: fence})
        expressions.require_unchanged({_LEASE: None if present is None else _text(present)})
        expressions.update.set_or_remove(_LEASE, _text(lease))
        expressions.update.set_or_remove(_FENCE, {"N": str(found.fence + 1)})
        body = {"TableName": name, "Key": record_key(table)}
        try:
            yield Request("UpdateItem", expressions.add_to(body))
        except ConditionalCheckFailedException:
            continue  # another executor was faster, or the present one made progress
        return Executor(table, name, found.fence + 1, lease)


def has_ended(lease: Lease) -> bool:
    """Return whether the executor was a process of this machine that has ended.

    If another machine has the same name, its executor stops at the next write: the fence.
    """
    host, number, _ = lease.owner.rsplit(":", 2)
    if host != socket.gethostname() or not hasattr(os, "getpgid"):
        return False
    try:
        os.getpgid(int(number))
    except ProcessLookupError:
        return True
    return False


def not_managed(name: str) -> MigrationRefused:
    return MigrationRefused(
        f"the table {name!r} does not record which version of the design its items are prepared "
        "for. Record it with the version that the running programs have: tablewright migrate "
        "baseline DESIGN TARGET"
    )
