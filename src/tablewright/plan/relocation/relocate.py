"""Relocate: the commands that move a table to another place, and back.

    ApplyRelocation      copy, compare, and switch the programs to the destination
    UndoRelocation       the same way back; before the switch, only forget the destination
    CompleteRelocation   end it: a rollback is no longer possible

The lease of the first table's record is that of the whole relocation. Each command can be stopped
after any request, and the next run continues.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import (
    ConditionalCheckFailedException,
    MigrationRefused,
    ResourceInUseException,
    TablewrightError,
)
from tablewright.mapping.item_kind import record_key
from tablewright.plan.migration.revision import (
    LEASE_SECONDS,
    Executor,
    acquire,
    fence_of,
    join,
    lost_lease,
)
from tablewright.plan.plan import Request
from tablewright.plan.relocation import cutting
from tablewright.plan.relocation.between import BetweenSteps, at, one
from tablewright.plan.relocation.checking import (
    Places,
    RelocationCommand,
    RelocationPlan,
    is_going_back,
)
from tablewright.plan.relocation.copying import MAX_NAMED, Gap, RelocationWork
from tablewright.plan.relocation.place import (
    MOVE,
    OF_PLACE,
    PROGRESS,
    PlaceRecord,
    move_in,
    read_record,
)
from tablewright.plan.relocation.settings import (
    disable_streams,
    enable_stream,
    finish_settings,
    require_same_structure,
)
from tablewright.plan.relocation.state import (
    STEPS,
    RelocationState,
    Report,
    StepName,
    all_segments,
)
from tablewright.plan.writes.guard import key_text
from tablewright.transport.tables import wait_until_active
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Value

_PREPARE = STEPS.index("prepare")


class RelocationReport(Struct, frozen=True):
    """What a command has done."""

    table: str
    #: The steps that this run has carried out.
    steps: tuple[StepName, ...] = ()
    #: How many items were written.
    changed: int = 0
    #: How long writes of programs waited, in seconds.
    paused: float = 0.0


class RelocationExecutor(RelocationCommand[RelocationReport]):
    """A command that writes."""

    work: RelocationWork

    def __init__(
        self,
        places: Places,
        *,
        progress: Report | None = None,
        units_per_second: float | None = None,
        lease_seconds: float = LEASE_SECONDS,
        program_seconds: float | None = None,
        pause_seconds: float = cutting.PAUSE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(places)
        self._report = progress
        self._units_per_second = units_per_second
        self._lease_seconds = lease_seconds
        self._program_seconds = program_seconds
        self._pause_seconds = pause_seconds
        self._now = now

    def begin(self, progress: RelocationState | None) -> BetweenSteps[RelocationState | None]:
        """Return how far the command is; None if there is nothing to do. Nothing is written."""
        raise NotImplementedError

    def steps(self) -> BetweenSteps[RelocationReport]:
        name = self.places.names[0]
        if (yield from self._begin()) is None:  # or refuse, before anything is written
            return RelocationReport(name)
        first = yield from at(0, acquire(self.table, name, lease_seconds=self._lease_seconds))
        executors = [first]
        try:
            progress = yield from self._begin()
            report = RelocationReport(name)
            if progress is not None:
                report = yield from self.run(executors, progress)
        except (TablewrightError, RetriesExhausted) as error:
            if isinstance(error, MigrationRefused):
                yield from at(0, first.record({}))  # or another executor has taken over
            yield from _release(executors)  # the first error is reported
            raise
        yield from _release(executors)
        return report

    def _begin(self) -> BetweenSteps[RelocationState | None]:
        """Return how far the command is; raise MigrationBusy if another one has just begun."""
        known = yield from self.read_progress()
        try:
            return (yield from self.begin(known))
        except MigrationRefused:
            if (yield from self.read_progress()) != known:
                raise lost_lease(self.places.names[0]) from None
            raise

    def run(
        self, executors: list[Executor], progress: RelocationState
    ) -> BetweenSteps[RelocationReport]:
        """Carry out the steps that are not done."""
        plan = yield from self.check(progress)
        progress = yield from self._prepare_record(progress, plan, executors[0])
        second = yield from self._join(executors[0])
        executors.append(second)
        work = RelocationWork(
            self.table,
            self.places.contexts,
            (executors[0], second),
            progress,
            report=self._report,
            units_per_second=self._units_per_second,
            now=self._now,
        )
        work.expected = plan.source.state.items
        carried: list[StepName] = []
        paused = 0.0
        while not work.progress.is_over:
            step = STEPS[work.progress.done]
            work.report(step, work.progress.items if step == "copy" else 0)
            try:
                paused += yield from self._carry_out(step, work)
            except Gap:  # read both tables again; programs use the source as before
                if step in ("await-programs", "cut-over"):
                    yield from cutting.record_phase(work, work.source, "open")
                yield from work.start_again(_PREPARE)
                continue
            carried.append(step)
            yield from work.save(done=work.progress.done + 1)
        self.work = work
        return RelocationReport(executors[0].name, tuple(carried), work.changed, paused)

    def _join(self, first: Executor) -> BetweenSteps[Executor]:
        """Become the executor at the other place, too.

        Its fence is that of the first table, which increases with every executor. So one that was
        stalled before it got here cannot take the other place from its successor.
        """
        name = self.places.names[1]
        present = fence_of((yield from at(1, read_record(self.table, name))))
        if present >= first.fence:
            yield from at(0, first.raise_fence(present + 1))
        return (yield from at(1, join(first, name, present)))

    def _carry_out(self, step: StepName, work: RelocationWork) -> BetweenSteps[float]:
        match step:
            case "prepare":
                yield from enable_stream(work)
            case "copy":
                yield from work.copy()
            case "compare":
                yield from work.compare()
            case "await-programs":
                yield from finish_settings(work)
                yield from cutting.guard(work, self._program_seconds)
            case "cut-over":
                return (yield from cutting.cut_over(work, self._pause_seconds))
        return 0.0

    def _prepare_record(
        self, progress: RelocationState, plan: RelocationPlan, first: Executor
    ) -> BetweenSteps[RelocationState]:
        """Record that a relocation begins; create the destination, and the record there."""
        name, other = self.places.names
        yield from at(0, first.record({PROGRESS: _text(progress)}))
        if progress.is_back:
            return progress
        record = yield from at(0, read_record(self.table, name))
        move = move_in(record, name)
        if move is None or move.id != progress.id:
            opened = PlaceRecord(progress.id, "open", other, self.places.texts[1])
            yield from at(0, first.record({MOVE: _text(opened)}))
        if plan.destination is None:
            wanted = replace(
                plan.source, name=other, stream=None, ttl=None, is_protected=False, tags=()
            )
            with suppress(ResourceInUseException):  # another executor has just created it
                yield from at(1, one(Request("CreateTable", wanted.to_create_table())))
            require_same_structure(plan.source, (yield from at(1, wait_until_active(other))))
        found = yield from at(1, read_record(self.table, other))
        theirs = move_in(found, other)
        if theirs is None:
            away = PlaceRecord(progress.id, "away", name, self.places.texts[0])
            copied = {name: value for name, value in record.items() if name not in OF_PLACE}
            copied = copied | record_key(self.table) | {MOVE: _text(away)}
            fence = {"$fence": found["$fence"]} if "$fence" in found else {}
            body = {
                "TableName": other,
                "Item": copied | fence,
                "ConditionExpression": "attribute_not_exists(#move)",
                "ExpressionAttributeNames": {"#move": MOVE},
            }
            try:
                yield from at(1, one(Request("PutItem", body)))
            except ConditionalCheckFailedException:
                raise lost_lease(name) from None
            progress = replace(progress, is_fresh=True)
        return progress


def _release(executors: list[Executor]) -> BetweenSteps[None]:
    for side, executor in enumerate(executors):
        with suppress(TablewrightError, RetriesExhausted):
            yield from at(side, executor.release())


def _text(value: Struct) -> Value:
    return {"S": msgspec.json.encode(value).decode()}


class ApplyRelocation(RelocationExecutor):
    """Copy a table to another place, and switch the programs to it."""

    def begin(self, progress: RelocationState | None) -> BetweenSteps[RelocationState | None]:
        if progress is not None:
            if progress.is_back:
                raise is_going_back(self.places.names[0])
            return None if progress.is_over else progress
        yield from self.check(None)
        name = self.places.names[0]
        record = yield from at(0, read_record(self.table, name))
        move = move_in(record, name)
        names, texts = self.places.names, self.places.texts
        theirs = None
        if (yield from self.find(1)) is not None:
            theirs = move_in((yield from at(1, read_record(self.table, names[1]))), names[1])
        is_known = move is not None and theirs is not None and theirs.id == move.id
        identity = move.id if is_known and move is not None else secrets.token_hex(8)
        return RelocationState(identity, names[1], texts[1], texts[0], left=all_segments())


class UndoRelocation(RelocationExecutor):
    """Move a table back, with all that was written meanwhile."""

    def begin(self, progress: RelocationState | None) -> BetweenSteps[RelocationState | None]:
        name = self.places.names[0]
        record = yield from at(0, read_record(self.table, name))
        move = move_in(record, name)
        if progress is None:
            if move is not None and move.phase == "away":
                raise MigrationRefused(
                    f"the move of the table {name!r} was completed, and cannot be undone; move the "
                    f"table {move.table!r} from {move.place} instead"
                )
            return None
        if progress.is_back:
            return progress
        if progress.is_over:
            return replace(
                progress,
                is_back=True,
                done=0,
                left=all_segments(),
                is_deleting=False,
                is_fresh=False,
                stream="",
                checkpoint="",
                items=0,
            )
        if move is not None and move.phase == "away":
            raise MigrationRefused(
                f"the programs of the table {name!r} are being switched to the destination; finish "
                "that first: tablewright migrate apply"
            )
        return progress

    def run(
        self, executors: list[Executor], progress: RelocationState
    ) -> BetweenSteps[RelocationReport]:
        if progress.is_back:
            report = yield from super().run(executors, progress)
            work = self.work
        else:  # programs have not been switched: they use the first table, as before
            report = RelocationReport(executors[0].name, ())
            work = _work_of(self, [executors[0], executors[0]], progress)
            yield from cutting.record_phase(work, 0, "open")
            yield from cutting.set_gates(work, None)
            yield from cutting.remove_markers(work)
        yield from disable_streams(work)
        yield from at(0, executors[0].record({PROGRESS: None}))
        return report


class CompleteRelocation(RelocationExecutor):
    """End a relocation: forget the way back."""

    def begin(self, progress: RelocationState | None) -> BetweenSteps[RelocationState | None]:
        if progress is not None and (progress.is_back or not progress.is_over):
            raise MigrationRefused(
                f"the table {self.places.names[0]!r} is being moved; finish that first: "
                "tablewright migrate apply, tablewright migrate rollback"
            )
        if progress is not None:
            yield from self.require_source(1)
        return progress

    def run(
        self, executors: list[Executor], progress: RelocationState
    ) -> BetweenSteps[RelocationReport]:
        second = yield from self._join(executors[0])
        executors.append(second)
        work = _work_of(self, executors, progress)
        late = yield from work.late_writes()
        if late:
            yield from work.save()  # they are shown once
            shown = [f"  {key_text(key)}" for key in late[:MAX_NAMED]]
            more = [f"  and {len(late) - len(shown)} more"] if len(late) > len(shown) else []
            listed = "\n".join([*shown, *more])
            raise MigrationRefused(
                f"after the cut-over, programs that do not use moves_to= have written these items "
                f"at {self.places.texts[0]}, table {self.places.names[0]!r}; they are not at the "
                f"destination:\n{listed}\nStop these programs, and copy what you need. Run the "
                "command again to complete the move"
            )
        yield from disable_streams(work)
        yield from at(0, executors[0].record({PROGRESS: None}))
        return RelocationReport(executors[0].name)


def _work_of(
    command: RelocationExecutor, executors: list[Executor], progress: RelocationState
) -> RelocationWork:
    first, second = executors
    return RelocationWork(command.table, command.places.contexts, (first, second), progress)
