"""Revision: what a table records about the versions of its design.

    $design     the description that the stored items are prepared for
    $target     while a migration runs: the description that it leads to
    $previous   after a migration, until it is completed: the description before it
    $steps      how far the migration is
    $lease      the executor at work, and a number that it increases while it works
    $fence      a number that increases with each executor; every write of a migration requires it
    $ended      fingerprints of the versions that completed migrations have ended
    $move       where the items are, if the table is moved (`plan/relocation/place.py`)

These are attributes of the index record (`plan/backfill/index_record.py`), so they are copied,
dumped and restored with the items that they describe. A table without `$design` is not managed:
`connect` treats it as before.

Invariants: nothing but the plans of this package writes these attributes. An executor writes them
only while the fence is its own, so one that was stalled cannot write after another has taken over.
No clock decides who that is: an executor is taken for dead if the number in its lease has not
changed while another one waited.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_description import (
    KeyAttributes,
    TableDesign,
    read_table_design,
    write_table_design,
)
from tablewright.errors import (
    ConditionalCheckFailedException,
    DynamoDBError,
    MigrationBusy,
    MigrationRefused,
)
from tablewright.mapping.item_kind import RECORD_NAME, record_key
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.steps import MigrationStep
from tablewright.plan.plan import Request, Steps, Wait
from tablewright.plan.relocation.place import PlaceRecord, move_in, refuse_moved
from tablewright.plan.writes.guard import WriteExpressions
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item, Value

T = TypeVar("T")

_DESIGN, _TARGET, _PREVIOUS = "$design", "$target", "$previous"
_STEPS, _LEASE, _FENCE, _ENDED = "$steps", "$lease", "$fence", "$ended"
#: The version of the format of these attributes.
FORMAT = 1
#: How long an executor may make no progress before another one takes over, in seconds.
LEASE_SECONDS = 30.0
_POLL_SECONDS = 2.0
#: How long an executor waits for connected programs to notice what it has recorded, in seconds:
#: the time until they read the record (`admission.RECHECK_SECONDS`), and that of the requests that
#: are under way then.
PROGRAM_SECONDS = 15.0
#: How often an executor that waits records that it is alive, in seconds.
_BEAT_SECONDS = 8.0


Command: TypeAlias = Literal["apply", "rollback", "complete"]


class SweepPosition(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a step is that reads the whole table."""

    #: The key of the last item that was read.
    last: Item
    items: int = 0
    changed: int = 0


class MigrationState(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a migration is."""

    command: Command
    #: The steps, and how many of them are done.
    steps: tuple[MigrationStep, ...]
    done: int = 0
    position: SweepPosition | None = None
    #: Whether it undoes a migration after programs of the old version had ended: some items may be
    #: in the form of the new one.
    is_mixed: bool = False
    format: int = FORMAT

    @property
    def ends_programs(self) -> bool:
        """Whether the command ends programs of a version that ran until then."""
        return self._await_at >= 0

    @property
    def stops_programs(self) -> bool:
        """Whether the programs that the command ends are no longer admitted."""
        return self.done >= self._await_at

    @property
    def has_stopped_programs(self) -> bool:
        """Whether no such program is connected any more."""
        return self.done > self._await_at

    @property
    def _await_at(self) -> int:
        """The position of the step `await-programs`; -1 if there is none."""
        names = [each.name for each in self.steps]
        return names.index("await-programs") if "await-programs" in names else -1


class Lease(Struct, frozen=True, forbid_unknown_fields=True):
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
    ended: tuple[str, ...] = ()
    #: Where the items are, if the table is being moved, or was.
    move: PlaceRecord | None = None


def fingerprint(design: TableDesign) -> str:
    """Return a short text that differs for versions whose items differ."""
    items = TableDesign(
        KeyAttributes(()),
        type_attribute=design.type_attribute,
        type_form=design.type_form,
        entities=design.entities,
    )
    return hashlib.sha256(write_table_design(items).encode()).hexdigest()[:12]


def read_revision(table: TableMap, name: str) -> Steps[Revision | None]:
    """Return what a table records; None if it is not managed."""
    return revision_in((yield record_request(table, name)), name)


def record_request(table: TableMap, name: str) -> Request:
    """Return the request that reads the record of a table."""
    body = {"TableName": name, "Key": record_key(table), "ConsistentRead": True}
    return Request("GetItem", body)


def revision_in(answer: bytes, name: str) -> Revision | None:
    """Return the revision in the response to `record_request`; None if the table is not managed."""
    item: Item | None = msgspec.json.decode(answer).get("Item")
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
            tuple(record[_ENDED]["SS"]) if _ENDED in record else (),
            move_in(record, name),
        )
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise MigrationRefused(
            f"the record of the table {name!r} was written by another version of Tablewright, and "
            f"this one cannot read it ({error}); use that version, or a newer one"
        ) from None


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

    def record(self, values: Mapping[str, Value | None]) -> Steps[None]:
        """Write attributes of the record, and that this executor is alive."""
        yield from self._beat(values)

    def raise_fence(self, fence: int) -> Steps[None]:
        """Take a higher fence, so that it exceeds that of another table (`join`)."""
        yield from self._write({_FENCE: {"N": str(fence)}})
        self.fence = fence

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

    def wait_for_programs(self, seconds: float | None) -> Steps[None]:
        """Wait until connected programs have noticed what is recorded; None: PROGRAM_SECONDS."""
        yield from self.wait(PROGRAM_SECONDS if seconds is None else seconds)

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

    def switch(
        self, design: TableDesign, previous: TableDesign | None, ended: Collection[str]
    ) -> Steps[None]:
        """End a migration: the items are prepared for another version now. Release the lease."""
        before = None if previous is None else {"S": write_table_design(previous)}
        yield from self._write(
            {
                _LEASE: None,
                _DESIGN: {"S": write_table_design(design)},
                _PREVIOUS: before,
                _TARGET: None,
                _STEPS: None,
                _ENDED: {"SS": sorted(ended)} if ended else None,
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


def fence_of(record: Mapping[str, Value]) -> int:
    return int(record.get(_FENCE, {"N": "0"})["N"])


def join(first: Executor, name: str, present: int) -> Steps[Executor]:
    """Become the executor of another table as well, whose fence is below that of the first one.

    `present` is that fence. If another executor has raised it since, MigrationBusy is raised.
    """
    joined = Executor(first.table, name, first.fence, Lease(first.lease.owner))
    expressions = WriteExpressions()
    expressions.require_unchanged({_FENCE: {"N": str(present)} if present else None})
    expressions.update.set_or_remove(_LEASE, _text(joined.lease))
    expressions.update.set_or_remove(_FENCE, {"N": str(joined.fence)})
    body = {"TableName": name, "Key": record_key(first.table)}
    try:
        yield Request("UpdateItem", expressions.add_to(body))
    except ConditionalCheckFailedException:
        raise lost_lease(name) from None
    return joined


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


def require_here(revision: Revision | None, name: str) -> Revision:
    """Return a revision; raise MigrationRefused if there is none, or the items are elsewhere."""
    if revision is None:
        raise not_managed(name)
    refuse_moved(name, revision.move, MigrationRefused)
    return revision


def not_managed(name: str) -> MigrationRefused:
    return MigrationRefused(
        f"the table {name!r} does not record which version of the design its items are prepared "
        "for. Record it with the version that the running programs have: tablewright migrate "
        "baseline DESIGN TARGET"
    )
