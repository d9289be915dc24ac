"""Promise: a migration loses, doubles, or hides nothing. Every acknowledged write is read by every
version of a program that may connect, exactly once, during each step and after it; what is left at
the end is what a fresh load by that version stores.

Method: one run is a pair of designs (`migration_designs`), a script and a seed. Programs of the old
and of the new version create, update, replace, delete and read things through patterns. Executors
carry out `apply`, `rollback` and `complete`. Plans do no input or output, so a scheduler with a
virtual clock runs all of them in one thread, and chooses whose request comes next. Executors are
stopped before or after a request, stalled until another one takes over, throttled; transactions
conflict; responses are lost after the write was applied. A program is connected for some calls; it
runs only if `connect` lets it, and while what it reads of the record now and then lets it.

A dict of all acknowledged writes is the oracle, and `verify.stored_items`. A call whose response
was lost may have happened or not: until it is read, both are accepted.

In some runs, a program of the old version never looks at the record again: until `verify`, what it
writes must be carried over, although it could not connect. It ends its present call before that.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright import create, put
from tablewright.design_description import TableDesign, write_table_design
from tablewright.engine import Engine
from tablewright.errors import (
    DesignMismatch,
    DynamoDBError,
    EndpointUnavailable,
    IndexNotReady,
    MigrationBusy,
    MigrationRefused,
    ProvisionedThroughputExceededException,
    TableMismatch,
    TablewrightError,
    TransactionCanceledException,
    UniqueNotReady,
    UniqueViolation,
    WriteRejected,
)
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.provision import Provision, definition
from tablewright.model.description import describe_design
from tablewright.plan.migration.admission import RECHECK_SECONDS, ProgramWatch
from tablewright.plan.migration.executing import Version
from tablewright.plan.migration.migrate import Apply, Baseline, Complete, Rollback
from tablewright.plan.migration.revision import MigrationState
from tablewright.plan.plan import Context, Plan, Together, Wait
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item
from tablewright.verify.stored_items import compare_stored
from torture.migration_designs import ALL, Pair, Record, Side, pairs
from torture.run import Broken, Part, Round

NAME = "things"
#: The ids of things, and those of the items of an entity that only one version has.
THINGS = [f"t{number}" for number in range(7)]
OTHERS = ["o0", "o1"]
STATES = ("a", "b", "c")
#: The values by which things are looked up.
VALUES = {"state": STATES, "group": ("g", "h"), "all": (ALL,)}
LEASE_SECONDS = 10.0
STALL_SECONDS = 100.0
#: How often a command is run again before it must succeed without faults.
ATTEMPTS = 4
#: How long an executor waits for connected programs, in virtual seconds.
PROGRAM_SECONDS = 15.0

Name: TypeAlias = Literal["old", "new"]
Command: TypeAlias = Literal["apply", "rollback", "complete"]


#: Operations with which an executor writes items.
WRITES = frozenset(("UpdateItem", "TransactWriteItems"))
#: Operations that write nothing.
READS = frozenset(
    {
        "GetItem",
        "BatchGetItem",
        "TransactGetItems",
        "Query",
        "Scan",
        "DescribeTable",
        "DescribeTimeToLive",
    }
)


class Stop(Exception):
    """The process of an executor has ended."""


#: What a program of a pair finds when it connects, by its version and what the table records. It
#: does not depend on anything else, so all runs share it.
_connected: dict[tuple[str, Name, bytes, bytes], tuple[Any, ProgramWatch] | None] = {}


def _restarted(watch: ProgramWatch, now: Callable[[], float]) -> ProgramWatch:
    """Return the watch of another program that connects now and finds the same."""
    made = ProgramWatch(now)
    for each in watch._tables:
        table = copy(each)
        table.due_at = now() + RECHECK_SECONDS
        made._tables.append(table)
    return made


@cache
def all_pairs() -> list[Pair]:
    return pairs()


@cache
def _design(table: Any) -> TableDesign:
    return describe_design(table).tables[NAME]


@cache
def _written_design(table: Any) -> str:
    return write_table_design(_design(table))


def flat(plan: Plan[Any], context: Context) -> Generator[Any, bytes, Any]:
    """Run a plan as one sequence of requests and waits; also the plans that it runs together."""
    steps = plan._steps(context)
    try:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Together):
                    results = []
                    for each in step.plans:
                        results.append((yield from flat(each, context)))  # noqa: PERF401  # a yield
                    step.results = results
                    body = b""
                elif (
                    isinstance(step, Wait) or context.watch is None or not context.watch.is_needed()
                ):
                    body = yield step
                else:
                    unwatched = msgspec.structs.replace(context, watch=None)
                    body = yield from flat(context.watch.around(step), unwatched)
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        return end.value


class Actor:
    """A plan that runs request by request: a call of a program, or an executor."""

    def __init__(self, world: World, steps: Generator[Any, bytes, Any]) -> None:
        self.world = world
        self.result: Any = None
        self.error: Exception | None = None
        self.is_done = False
        self.wake = world.now
        self._steps = steps
        self._step: Any = None
        self._advance(partial(next, steps))

    def _advance(self, resume: Any) -> None:
        try:
            self._step = resume()
        except StopIteration as end:
            self.result, self.is_done = end.value, True
        except (TablewrightError, Stop) as error:
            self.error, self.is_done = error, True
        else:
            if isinstance(self._step, Wait):
                self.wake = self.world.now + self._step.seconds

    @property
    def request(self) -> Any:
        """The next request; None for a wait."""
        return None if isinstance(self._step, Wait) else self._step

    def send(self, operation: str, body: dict[str, Any]) -> bytes:
        return self.world.send(operation, body)

    def tick(self) -> None:
        """Perform the present step."""
        step = self._step
        if isinstance(step, Wait):
            self._advance(partial(self._steps.send, b""))
            return
        try:
            answer = self.send(step.operation, step.body)
        except (DynamoDBError, RetriesExhausted) as fault:
            self._advance(partial(self._steps.throw, fault))
        except Stop as stop:
            self.error, self.is_done = stop, True
        else:
            self._advance(partial(self._steps.send, answer))


class Call(Actor):
    """A call of a program; its response may be lost."""

    def __init__(
        self, world: World, side: Name, plan: Plan[Any], context: Context, *, is_served: bool
    ) -> None:
        self.side: Name = side
        self.is_served = is_served
        super().__init__(world, flat(plan, context))

    def send(self, operation: str, body: dict[str, Any]) -> bytes:
        answer = super().send(operation, body)
        if self.world.chance.random() < self.world.faults * (
            1.0 if operation not in READS else 0.1
        ):
            self.world.attack.count("lost responses")
            raise lost()
        return answer


class Executor(Actor):
    """An executor: it may be stopped, stalled and throttled."""

    def __init__(self, world: World, command: Command, *, is_safe: bool) -> None:
        chance = world.chance
        self.command: Command = command
        self.fence = 0
        self.sent = 0
        self.is_stalled = False
        self._faults = 0.0 if is_safe else world.faults
        fate = "" if is_safe else chance.choice(("", "stop", "stop", "stop", "stall", "stall"))
        self._stop_at = chance.randint(1, 45) if fate == "stop" else -1
        #: The write before which it is stalled, perhaps of items: another one takes over meanwhile.
        self._stalls_at = {"TransactWriteItems"} if chance.random() < 0.7 else WRITES
        last = 12 if self._stalls_at is WRITES else 4
        self._stall_at = chance.randint(1, last) if fate == "stall" else -1
        self._written = 0
        side = world.pair.old if command == "rollback" else world.pair.new
        plan = world.plan(command, side)
        super().__init__(
            world, flat(plan, world.contexts["old" if command == "rollback" else "new"])
        )

    def send(self, operation: str, body: dict[str, Any]) -> bytes:
        world, chance = self.world, self.world.chance
        self.sent += 1
        is_write = operation in WRITES
        self._written += operation in self._stalls_at
        if operation in self._stalls_at and self._written == self._stall_at:
            self._stall()
        is_stopped = self.sent == self._stop_at
        if is_stopped and chance.random() < 0.5:
            world.attack.count("stops")
            raise Stop
        roll = chance.random()
        if roll < self._faults:
            world.attack.count("throttled requests")
            raise ProvisionedThroughputExceededException("too fast")
        if roll < 2 * self._faults and operation == "TransactWriteItems":
            world.attack.count("conflicts")
            reasons = [{"Code": "None"} for _ in body["TransactItems"]]
            chance.choice(reasons)["Code"] = "TransactionConflict"
            raise TransactionCanceledException(reasons)
        if world.straggles and world.changes_phase(operation, body):
            world.finish_calls()
        if operation == "TransactWriteItems" and chance.random() < world.density / 2:
            ids = world.named(msgspec.json.encode(body))
            race = world.interfere if chance.random() < 0.5 else world.start_calls
            race(ids)
        before = world.fence()
        answer = super().send(operation, body)
        after = world.fence()
        if after > before:
            self.fence = after
        elif is_write and self.fence != before:
            raise Broken("an executor writes after another one has taken over", operation)
        if is_stopped:
            world.attack.count("stops")
            raise Stop
        if roll > 1 - self._faults * (1.0 if is_write else 0.2):
            world.attack.count("lost responses")
            raise lost()
        world.after_request()
        density = world.density / (5 if world.step_name() == "check" else 1)  # it writes no items
        if operation in ("Scan", "BatchGetItem") and chance.random() < density:
            world.interfere(world.named(answer))
        return answer

    def _stall(self) -> None:
        """Let others run until this executor was taken for dead, or until they have ended."""
        world = self.world
        world.attack.count("stalls")
        self.is_stalled = True
        if not world.working():
            world.executors.append(Executor(world, self.command, is_safe=False))
        if world.chance.random() < 0.7:
            fence = world.fence()
            world.run_for(STALL_SECONDS, lambda: world.fence() > fence)
            for _ in range(world.chance.randint(0, 10)):
                world.step()
        else:
            world.run_for(STALL_SECONDS)
        self.is_stalled = False


def lost() -> RetriesExhausted:
    return RetriesExhausted("no response", attempts=4, code="", maybe_applied=True)


class World:
    """A table, programs and executors, a virtual clock, and what was acknowledged."""

    def __init__(
        self, attack: Round, pair: Pair, chance: random.Random, file: Path | None = None
    ) -> None:
        self.attack = attack
        self.pair = pair
        self.chance = chance
        self._record_key = record_key(pair.old.table.__table__)
        self.now = 0.0
        self.engine = Engine(file or ":memory:", durability="normal")
        self.faults = chance.choice((0.0, 0.02, 0.08))
        #: How often programs write to what an executor has just read, or is about to write.
        self.density = chance.choice((0.2, 0.6, 0.9))
        self.page = chance.randint(2, 5)
        self.sides: dict[Name, Side] = {"old": pair.old, "new": pair.new}
        self.contexts: dict[Name, Context] = {
            name: Context({side.table.__table__: NAME}, b"0" * 32, clock=self.clock)
            for name, side in self.sides.items()
        }
        #: The contexts of the programs that are connected.
        self.programs: dict[Name, Context] = {}
        #: The things of this run: few of them are changed by several programs at once.
        self.things = THINGS[: chance.randint(2, len(THINGS))]
        self.others = OTHERS if pair.old.other or pair.new.other else []
        #: What may be stored, by id: a record, or None; several if a response was lost.
        self.stored: dict[str, list[Record | None]] = {each: [None] for each in self.ids}
        #: The new states of each thing since it has a history, and whether each is certain.
        self.events: dict[str, list[tuple[str, bool]]] = {each: [] for each in self.ids}
        self.calls: dict[str, tuple[Call, list[Record | None], list[Record | None]]] = {}
        self.executors: list[Executor] = []
        self.writes = 0
        #: The version that is left when the present command has ended; whether one of the other
        #: version has written after that: it may, if its changes only need to be deployed.
        self.remaining: Name | None = None
        self.is_followed = False
        #: The things that such a program has written.
        self.followers: set[str] = set()
        self.program_seconds = PROGRAM_SECONDS
        #: Whether a program of the old version does not notice that a migration begins.
        self.straggles = chance.random() < 0.6 and pair.allows_stragglers
        #: Whether other processes use the file: then nothing that was read is remembered.
        self.is_shared = False
        #: How many requests have written something, and something beside the record; outcomes of
        #: calls count as well. What was read or checked before is the same while they are.
        self._writes = 0
        self._changes = 0
        self._record: tuple[int, Item] | None = None
        self._phase: tuple[int, bytes] | None = None
        self._structure: bytes | None = None
        self._stepped: Any = None
        self._checked: Any = None

    @property
    def ids(self) -> list[str]:
        return self.things + self.others

    def clock(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now)

    # -- requests ------------------------------------------------------------------------------

    def send(self, operation: str, body: dict[str, Any]) -> bytes:
        if operation == "Scan":
            body = body | {"Limit": self.page}
        if operation not in READS:
            self._writes += 1
            self._changes += body.get("Key") != self._record_key
            if operation not in ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"):
                self._structure = None
        return self.engine.run(self.engine.prepare(operation, body)) or b"{}"

    def run(self, plan: Plan[Any], side: Name, context: Context | None = None) -> Any:
        """Run a plan at once, without faults; without a context, it is not one of a program."""
        steps = flat(plan, context or self.contexts[side])
        actor = Actor(self, steps)
        while not actor.is_done:
            actor.tick()
        if actor.error is not None:
            raise actor.error
        return actor.result

    def record(self) -> Item:
        """Return the record of the table."""
        if self._record is None or self._record[0] != self._writes or self.is_shared:
            request = {"TableName": NAME, "Key": self._record_key, "ConsistentRead": True}
            item: Item = msgspec.json.decode(self.send("GetItem", request)).get("Item", {})
            self._record = self._writes, item
        return self._record[1]

    def structure(self) -> bytes:
        """Return what connecting programs see of the table beside its record."""
        if self._structure is not None and not self.is_shared:
            return self._structure
        table = msgspec.json.decode(self.send("DescribeTable", {"TableName": NAME}))["Table"]
        indexes = [
            (each["IndexName"], each["IndexStatus"])
            for each in table.get("GlobalSecondaryIndexes", ())
        ]
        ttl = self.send("DescribeTimeToLive", {"TableName": NAME}).decode()
        found = msgspec.json.encode([indexes, table.get("StreamSpecification"), ttl])
        self._structure = found if all(status == "ACTIVE" for _, status in indexes) else None
        return found

    def phase(self) -> tuple[bytes, bytes]:
        """Return what decides which programs may connect."""
        if self._phase is None or self._phase[0] != self._writes or self.is_shared:
            self._phase = self._writes, self._recorded_phase()
        return self._phase[1], self.structure()

    def _recorded_phase(self) -> bytes:
        record = {n: v for n, v in self.record().items() if n not in ("$lease", "$fence")}
        if "$steps" in record:  # how far a sweep is does not matter
            state = msgspec.json.decode(record["$steps"]["S"], type=MigrationState)
            record["$steps"] = {"S": repr(msgspec.structs.replace(state, position=None))}
        return msgspec.json.encode(record)

    def fence(self) -> int:
        return int(self.record().get("$fence", {"N": "0"})["N"])

    def step_name(self) -> str:
        """Return the name of the step that a migration is at."""
        record = self.record()
        if "$steps" not in record:
            return ""
        state = msgspec.json.decode(record["$steps"]["S"], type=MigrationState)
        return state.steps[state.done].name

    def changes_phase(self, operation: str, body: dict[str, Any]) -> bool:
        """Return whether a request may change which programs are admitted."""
        names = body.get("ExpressionAttributeNames", {}).values()
        recorded = {"$target", "$design", "$steps"}
        return operation == "UpdateItem" and not recorded.isdisjoint(names)

    def items(self, index: str | None = None) -> list[Item]:
        """Return all items of the table, or all rows of an index."""
        request = {"TableName": NAME} | ({} if index is None else {"IndexName": index})
        answer = self.engine.run(self.engine.prepare("Scan", request)) or b"{}"
        items: list[Item] = msgspec.json.decode(answer)["Items"]
        return items

    # -- executors -----------------------------------------------------------------------------

    def version(self, side: Side) -> Version:
        table = side.table.__table__
        return Version(table, _design(side.table), definition(table, NAME))

    def plan(self, command: Command, side: Side) -> Plan[Any]:
        version = self.version(side)
        waits: Any = {"lease_seconds": LEASE_SECONDS, "program_seconds": self.program_seconds}
        if command == "complete":
            return Complete(version, delete_removed=True, **waits)
        kind = Apply if command == "apply" else Rollback
        return kind(version, **waits)

    def carry_out(self, command: Command) -> bool:
        """Run a command until it has succeeded; return False if another one must be run."""
        for attempt in range(ATTEMPTS + 1):
            is_safe = attempt == ATTEMPTS
            executors = [Executor(self, command, is_safe=is_safe)]
            if not is_safe and self.chance.random() < 0.25:
                executors.append(Executor(self, command, is_safe=False))
            self.executors = executors
            while any(not each.is_done for each in executors):
                self.step()
            self.executors = []
            self.attack.count("executors", len(executors))
            if any(each.error is None for each in executors) and "$steps" not in self.record():
                return True  # and no other one has begun it again
            for each in (each for each in executors if each.error is not None):
                if isinstance(each.error, MigrationRefused) and not self.is_open():
                    return True  # an executor that was stopped, or lost its response, has done it
                if self.straggles and "still write" in str(each.error):
                    continue
                if not isinstance(each.error, (Stop, MigrationBusy, EndpointUnavailable)):
                    raise Broken(f"{self.pair.name}: {command} fails", repr(each.error))
            if command == "apply" and self.chance.random() < 0.2:
                return False
        raise Broken(f"{command} does not end", self.pair.name)

    def is_open(self) -> bool:
        """Return whether there is a migration to complete or to undo."""
        return not self.record().keys().isdisjoint({"$target", "$previous"})

    # -- the scheduler -------------------------------------------------------------------------

    def working(self) -> list[Executor]:
        """Return the executors that are neither ended nor stalled."""
        return [each for each in self.executors if not each.is_done and not each.is_stalled]

    def step(self) -> None:
        """Let one actor perform its next step."""
        actors: list[Actor] = [*self.working()]
        actors += [call for call, _, _ in self.calls.values()]
        ready = [each for each in actors if each.wake <= self.now]
        if len(self.calls) < 2 and self.writes > 0 and self.chance.random() < 0.3:
            self.start_call()
            return
        if not ready:
            later = [each.wake for each in actors]
            self.now = min(later) if later else self.now + 1.0
            return
        self.chance.choice(ready).tick()
        self.settle()

    def run_for(self, seconds: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Let the others run for some time, at most until something has happened."""
        end = self.now + seconds
        while self.now < end and not is_enough():
            if not self.working() and not self.calls:
                self.now = end
                return
            self.step()

    def named(self, text: bytes) -> list[str]:
        """Return the things that a request or a response contains."""
        return [each for each in self.ids if f"#{each}".encode() in text]

    def start_calls(self, ids: list[str]) -> None:
        """Start writes of programs to some of these things."""
        for _ in range(self.chance.randint(1, 3) if self.writes > 0 and ids else 0):
            self.start_call(self.chance.choice(ids))

    def interfere(self, ids: list[str]) -> None:
        """Let programs write between the read of items and the writes to them."""
        self.start_calls(ids)
        self.finish_calls()

    def finish_calls(self) -> None:
        """Let all calls of programs end."""
        while self.calls:
            call = self.chance.choice([call for call, _, _ in self.calls.values()])
            self.now = max(self.now, call.wake)
            call.tick()
            self.settle()

    # -- programs ------------------------------------------------------------------------------

    def connect(self, name: Name) -> Context | None:
        """Start a program; return its context, or None if it may not run."""
        known = self.pair.name, name, *self.phase()
        if known not in _connected:
            _connected[known] = self._connected(name)
        found = _connected[known]
        if found is None:
            return None
        unready, watch = found
        return msgspec.structs.replace(
            self.contexts[name], unready=unready, watch=_restarted(watch, lambda: self.now)
        )

    def _connected(self, name: Name) -> tuple[Any, ProgramWatch] | None:
        """Connect as a program; return which indexes it cannot read yet, and its watch."""
        table = self.sides[name].table.__table__
        before = self._writes
        try:
            found = self.run(Provision(table, create=False), name)
        except (DesignMismatch, TableMismatch):
            return None
        self.attack.require(self._writes == before, f"{self.pair.name}: connecting writes")
        watch = ProgramWatch(lambda: self.now)
        if found.revision is not None:
            watch.add(table, NAME, found.revision)
        return {table: found.unready} if found.unready else None, watch

    def start_call(self, tid: str = "") -> None:
        """Start a call of a random program on a thing that no other call is about."""
        chance = self.chance
        tid = tid or chance.choice(self.ids)
        if tid in self.calls:
            return
        names: list[Name] = ["old", "new"]
        chance.shuffle(names)
        for name in names:
            is_ended = self.remaining not in (None, name) and not self.is_open()
            is_known = self.sides[name].knows(tid)
            context = self.program(name) if is_known and not is_ended else None
            if context is not None or (name == "old" and is_known and self.may_straggle()):
                break
        else:
            self.writes -= chance.random() < 0.05  # so that a run ends
            return
        is_served = context is not None
        context = context or self.contexts["old"]
        before = self.stored[tid]
        if len(before) > 1:
            fresh = self.connect(name)
            if fresh is not None:
                self.read(name, tid, fresh)
            return
        self.writes -= 1
        plan, after = self._write(self.sides[name], tid, before[0])
        self.attack.count(f"calls of {name} programs")
        self.stored[tid] = [*before, after]
        call = Call(self, name, plan, context, is_served=is_served)
        self.attack.count("calls of programs that were not stopped", not is_served)
        self.calls[tid] = (call, before, [after])
        self.settle()

    def program(self, name: Name) -> Context | None:
        """Return the context of a connected program; it may have been connected for long."""
        if name not in self.programs or self.chance.random() < 0.3:
            found = self.connect(name)
            if found is not None:
                self.programs[name] = found
            elif self.chance.random() < 0.3:  # else the one before goes on
                self.programs.pop(name, None)
        return self.programs.get(name)

    def may_straggle(self) -> bool:
        """Return whether a program that was not stopped may still write."""
        record = self.record()
        if not self.straggles or "$steps" not in record or "$previous" in record:
            return False
        state = msgspec.json.decode(record["$steps"]["S"], type=MigrationState)
        steps = [each.name for each in state.steps]
        is_early = "verify" in steps[state.done :] and steps[state.done] != "verify"
        return state.command == "apply" and is_early

    def _write(
        self, side: Side, tid: str, record: Record | None
    ) -> tuple[Plan[Any], Record | None]:
        """Return a write of a program, and the record after it."""
        chance = self.chance
        if tid in self.others:
            if record is None:
                return create(side.other(oid=tid)), {"tid": tid}
            return side.other.primary(tid).delete(), None
        if record is None:
            made = self._values(side, tid)
            return create(side.make(made)), made
        roll = chance.random()
        has_history = self.pair.old.event is not None or self.pair.new.event is not None
        if roll < 0.2 and not has_history:  # a thing created again finds its old events
            return side.primary(tid).delete(), None
        if roll < 0.4 and not side.volatile:  # a versioned entity is replaced by its version
            made = self._values(side, tid)
            return put(side.make(made)), made
        names = [each for each in side.names if each in self.pair.differing]
        name = chance.choice(names if names and chance.random() < 0.5 else list(side.names))
        value = self._value(name, tid)
        return side.primary(tid).update(side.change(name, value)), record | {name: value}

    def _values(self, side: Side, tid: str) -> Record:
        return {"tid": tid} | {name: self._value(name, tid) for name in side.names}

    def _value(self, name: str, tid: str) -> Any:
        chance = self.chance
        match name:
            case "state":
                return chance.choice(STATES)
            case "n":
                return chance.randint(0, 999)
            case "email":
                return f"{tid}.{chance.randint(0, 2)}"
        return chance.choice(("x", "y"))

    def settle(self) -> None:
        """Record the outcomes of calls that have ended."""
        for tid, (call, before, after) in list(self.calls.items()):
            if not call.is_done:
                continue
            del self.calls[tid]
            self._changes += 1
            if self.remaining not in (None, call.side) and not self.is_open():
                self.is_followed = True
                self.followers.add(tid)
            self.note_event(call.side, tid, before[0], after[0], is_certain=call.error is None)
            if call.error is None:
                self.stored[tid] = after
                self.attack.count("acknowledged writes")
            elif isinstance(call.error, (UniqueNotReady, IndexNotReady)):
                self.stored[tid] = before
            elif isinstance(call.error, UniqueViolation) and self.straggles and self.is_open():
                self.stored[tid] = before  # a program without the unique value has left a sentinel
            elif isinstance(call.error, DesignMismatch):  # after some of its requests
                self.attack.count("programs that noticed a migration")
                self.programs.pop(call.side, None)
            elif not call.is_served:
                pass  # it may fail before or after its write, for example to read the result
            elif not isinstance(call.error, EndpointUnavailable):
                self.attack.require(
                    False,
                    f"{self.pair.name}: a write of the {call.side} version fails: "
                    f"{type(call.error).__name__}",
                    f"{call.error} {before} -> {after}",
                )

    def note_event(
        self,
        name: Name,
        tid: str,
        before: Record | None,
        after: Record | None,
        *,
        is_certain: bool,
    ) -> None:
        """Note the event of a changed state; if a call failed, there may be one."""
        if before is None or after is None or self.sides[name].event is None:
            return
        if tid in self.things and before["state"] != after["state"]:
            self.events[tid].append((after["state"], is_certain))

    # -- checks --------------------------------------------------------------------------------

    def after_request(self) -> None:
        """Check after a step of a migration, and sometimes at other times."""
        steps = self.record().get("$steps")
        if steps != self._stepped or self.chance.random() < 0.05:
            self._stepped = steps
            self.check()

    def forget(self, name: Name) -> None:
        """Note that the attributes of the other version than this one are gone."""
        side = self.sides[name]
        names = ("tid", *side.names)
        if side.event is None and not self.is_followed:
            self.events = {tid: [] for tid in self.ids}
        if side.other is None and not self.is_followed:
            self.stored |= {each: [None] for each in self.others if each not in self.calls}

        def kept(tid: str, options: list[Record | None]) -> list[Record | None]:
            found = [each and {n: v for n, v in each.items() if n in names} for each in options]
            if tid in self.followers or (tid in self.calls and self.calls[tid][0].side != name):
                found += options  # perhaps written after the attributes were removed
            return [each for at, each in enumerate(found) if each not in found[:at]]

        self.stored = {tid: kept(tid, options) for tid, options in self.stored.items()}
        self.calls = {
            tid: (call, kept(tid, before), kept(tid, after))
            for tid, (call, before, after) in self.calls.items()
        }

    def check(self) -> None:
        """Read everything by every version that may connect, if anything has changed."""
        if self.remaining is not None and not self.is_open():
            self.forget(self.remaining)
        present = self._changes, self.phase()
        if present == self._checked and not self.is_shared:
            return
        self._checked = present
        commands = {each.command for each in self.executors}
        for name in self.sides:
            context = self.connect(name)
            if name == "new" and self.pair.never_pauses and commands == {"apply"}:
                self.attack.require(context, f"{self.pair.name}: the new version must wait")
            if context is not None:
                self.attack.count("checks")
                for tid in self.ids:
                    self.read(name, tid, context)
                self._check_lookups(name, context)
                self._check_uniques(name, context)
                if self.sides[name].event is not None:
                    self._check_events(name, context)

    def read(self, name: Name, tid: str, context: Context) -> None:
        """Read a thing; it must be one of what may be stored."""
        side, options = self.sides[name], self.stored[tid]
        if tid in self.others:
            if side.knows(tid):
                self._read_other(name, tid, context)
            return
        found = self.run(side.primary(tid), name, context)
        seen = None if found is None else side.seen(found)
        matching = [
            each
            for each in options
            if (seen is None and each is None)
            or (seen is not None and each is not None and side.accepts(seen, each))
        ]
        self.attack.require(
            matching,
            f"{self.pair.name}: the {name} version reads a thing wrongly",
            f"{seen}, expected {options}",
        )
        if tid not in self.calls:
            self.stored[tid] = matching  # several, if they differ in what this version ignores

    def _read_other(self, name: Name, tid: str, context: Context) -> None:
        """Read an item of an entity that only one version has, by its key and its unique value."""
        other, options = self.sides[name].other, self.stored[tid]
        for plan in (other.primary(tid), other.u(tid)):
            try:
                found = self.run(plan, name, context)
            except (UniqueNotReady, IndexNotReady):
                continue
            self.attack.require(
                any((found is None) == (each is None) for each in options),
                f"{self.pair.name}: the {name} version reads another item wrongly",
                f"{found}, expected {options}",
            )
        if tid not in self.calls:
            self.stored[tid] = [each for each in options if (found is None) == (each is None)]

    def _check_events(self, name: Name, context: Context) -> None:
        """Compare the history of each thing with the changes of its state."""
        for tid in (each for each in self.things if each not in self.calls):
            events = self._query(self.sides[name].event.primary.within(tid), name, context)
            numbers = [each.number for each in events]
            states = "".join(each.state for each in events)
            expected = "".join(
                state if is_certain else f"{state}?" for state, is_certain in self.events[tid]
            )
            self.attack.require(
                re.fullmatch(expected, states) and numbers == sorted(set(numbers)),
                f"{self.pair.name}: the {name} version reads another history of a thing",
                f"{tid}: {states} {numbers}, expected {expected}",
            )

    def _check_lookups(self, name: Name, context: Context) -> None:
        side = self.sides[name]
        for lookup in side.lookups:
            values = VALUES.get(lookup.by) or [f"{tid}.0" for tid in self.things]
            for value in values:
                try:
                    found = self._query(side.find(lookup.place, value), name, context)
                except IndexNotReady:
                    self.attack.require(
                        lookup.place in self.pair.unready and not self._is_prepared(name),
                        f"{self.pair.name}: the index is not ready",
                    )
                    break
                seen = [each.tid for each in found]
                for tid in self.things:
                    possible = {
                        record is not None
                        and side.looked_up(record, lookup.by) == value
                        and lookup.holds(side.expected(record))
                        for record in self.stored[tid]
                    }
                    self.attack.require(
                        seen.count(tid) in possible,
                        f"{self.pair.name}: the {name} version finds a thing {seen.count(tid)} "
                        f"times in the index {lookup.place}",
                        f"{tid} of {self.stored[tid]} by {value}",
                    )

    def _query(self, query: Any, name: Name, context: Context) -> list[Any]:
        """Return all results, in the order of the index, of pages of some size."""
        found: list[Any] = []
        if self.chance.random() < 0.5:
            query = query.page_size(self.chance.randint(1, 3))
        while True:
            page = self.run(query, name, context)
            found += page
            if page.next_cursor is None:
                return found
            query = query.after(page.next_cursor)

    def _is_prepared(self, name: Name) -> bool:
        """Return whether the table records that its items are prepared for a version."""
        design: str = self.record()["$design"]["S"]
        return design == _written_design(self.sides[name].table)

    def _check_uniques(self, name: Name, context: Context) -> None:
        side = self.sides[name]
        for by, place in side.uniques.items():
            for tid in self.things:
                for option in self.stored[tid]:
                    if option is None or len(self.stored[tid]) > 1:
                        continue
                    try:
                        found = self.run(getattr(side.entity, place)(option[by]), name, context)
                    except (UniqueNotReady, IndexNotReady):
                        return
                    if found is None and not self._is_prepared(name):
                        continue
                    self.attack.require(
                        found is not None and found.tid == tid,
                        f"{self.pair.name}: the {name} version does not find a thing by its "
                        f"unique value",
                        f"{option}: {found}",
                    )

    def check_conflicts(self, name: Name) -> None:
        """Try to take the unique value of another thing: that must be refused."""
        side = self.sides[name]
        options = [self.stored[tid] for tid in self.things]
        certain = [each[0] for each in options if len(each) == 1 and each[0]]
        for by in side.uniques:
            for record in certain:
                taken = side.make(side.expected(record) | {"tid": "thief"})
                try:
                    self.run(create(taken), name)
                except UniqueViolation:
                    continue
                except WriteRejected as error:
                    raise Broken(f"{self.pair.name}: {type(error).__name__}") from error
                raise Broken(f"{self.pair.name}: a unique value is taken twice", f"{by} {record}")

    def check_whole(self, name: Name) -> None:
        """Compare all items with a fresh load of what is stored."""
        side = self.sides[name]
        items = self.items()
        report = compare_stored(side.table.__table__, items)
        self.attack.require(
            report,
            f"{self.pair.name}: stored items differ from the {name} version",
            "; ".join(map(str, report.differences[:3])),
        )
        fresh = World(self.attack, self.pair, random.Random(0))
        fresh.make_table(name)
        for tid in self.ids:
            if (record := self.stored[tid][0]) is not None:
                made = (
                    side.other(oid=tid) if tid in self.others else side.make(side.expected(record))
                )
                fresh.run(create(made), name)
        self.attack.count("comparisons with a fresh load")
        for index in (None, *side.table.__table__.indexes):
            ours, theirs = (
                sorted(self._comparable(side, each.items(index)), key=repr)
                for each in (self, fresh)
            )
            self.attack.require(
                ours == theirs,
                f"{self.pair.name}: {'items' if index is None else f'rows of {index}'} differ from "
                f"a fresh load by the {name} version",
                f"{[each for each in ours if each not in theirs][:2]} instead of "
                f"{[each for each in theirs if each not in ours][:2]}",
            )
        # A stream and TTL that a rollback does not need stay enabled.
        ours, theirs = (
            msgspec.json.decode(each.structure())[: 3 if name == "new" else 1]
            for each in (self, fresh)
        )
        fresh.engine.close()
        self.attack.require(
            ours == theirs,
            f"{self.pair.name}: the table differs from a fresh one of the {name} version",
            f"{ours} instead of {theirs}",
        )

    def _comparable(self, side: Side, items: list[Item]) -> list[Item]:
        table, ignored = side.table.__table__, side.volatile | side.lenient
        return [
            {name: value for name, value in item.items() if name not in ignored}
            for item in items
            if not (kind := table.identify(item)).is_record and kind.history is None
        ]

    def fill(self) -> None:
        """Store some things by the old version."""
        things = self.things[self.chance.randint(0, len(self.things)) :]
        for tid in things + (self.others if self.pair.old.other else []):
            plan, record = self._write(self.pair.old, tid, None)
            self.run(plan, "old")
            self.stored[tid] = [record]

    def make_table(self, name: Name) -> None:
        self.run(Provision(self.sides[name].table.__table__, create=True, update=True), name)


def play_run(attack: Round, pair: Pair, seed: int) -> None:
    """Carry out one script."""
    chance = random.Random(seed)
    world = World(attack, pair, chance)
    random.seed(seed)  # delays are random
    try:
        world.make_table("old")
        world.fill()
        world.run(Baseline(world.version(pair.old)), "old")
        world.check()
        script(world)
        world.finish_calls()
        world.check()
    finally:
        world.engine.close()
    attack.count("runs")


def script(world: World) -> None:
    """Migrate, and sometimes go back, repeat or complete it."""
    chance = world.chance
    for _ in range(chance.randint(1, 3)):
        world.writes = chance.randint(0, 60)
        is_applied = world.carry_out("apply")
        if is_applied and chance.random() < 0.3:
            world.writes = chance.randint(0, 10)
            is_applied = world.carry_out("apply")
        if not is_applied or chance.random() < 0.4:
            world.writes += chance.randint(0, 15)
            end(world, "rollback", "old")
            continue
        if chance.random() < 0.7:
            world.writes = chance.randint(0, 30)
            end(world, "complete", "new")
        return


def end(world: World, command: Command, name: Name) -> None:
    """Carry out a command that leaves one version, and compare all items with it."""
    if not world.is_open():  # `apply` was stopped before it began
        return
    world.remaining, world.is_followed = name, False
    world.followers.clear()
    world.carry_out(command)
    world.finish_calls()
    finish(world, name)
    world.remaining = None


def finish(world: World, name: Name) -> None:
    """Compare all items with the only version that is left."""
    world.forget(name)
    world.check()
    if not world.is_followed:
        world.check_whole(name)
    world.check_conflicts(name)


def play(attack: Round) -> None:
    """Make several runs of every pair."""
    for number in range(attack.size(6, 1)):
        for at, pair in enumerate(all_pairs()):
            seed = attack.seed * 1_000_003 + number * 101 + at
            try:
                play_run(attack, pair, seed)
            except Broken as broken:
                attack.expect(False, str(broken), f"run {seed}: {broken.detail}")
            except Exception as error:
                attack.expect(False, f"{pair.name}: {type(error).__name__}: {error}", f"run {seed}")
        if attack.seconds < 0:
            return


PART = Part(
    "migrations",
    "A migration loses, doubles and hides nothing",
    "stopped, stalled and throttled executors beside programs of both versions",
    60,
    play,
)
