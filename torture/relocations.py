"""Promise: a table that is moved to another place loses, doubles and revives nothing. Every
acknowledged write is read by every program, exactly once, during each step and after it; what is
left at the end is at one place, and nothing else is there.

Method: programs create, update, count, replace and delete things with unique values, through
patterns and `FollowedTables`. Executors move the table there, sometimes back, and there again. As
in `migrations`, a scheduler with a virtual clock runs all of them in one thread and chooses whose
request comes next. Executors are stopped before or after a request, stalled until another one has
taken over, and throttled; responses are lost after the write was applied. A request of a program
may arrive late. The stream is disabled and enabled again, its shards split, and time
jumps, so that a cut-over takes too long and is tried again.

A dict of all acknowledged writes is the oracle. A call whose response was lost may have happened or
not: until it is read, both are accepted.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import suppress
from functools import partial
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright import GSI, Attr, Entity, Table, attr, create, index, key, put, unique
from tablewright.engine import Engine
from tablewright.errors import (
    Contention,
    DesignMismatch,
    DynamoDBError,
    EndpointUnavailable,
    MigrationBusy,
    MigrationRefused,
    ProvisionedThroughputExceededException,
    ResourceNotFoundException,
    TableNotFound,
    TablewrightError,
    TransactionCanceledException,
)
from tablewright.model.databases.provision import Provision, definition
from tablewright.model.description import describe_design
from tablewright.plan.migration.executing import Version
from tablewright.plan.migration.migrate import Baseline
from tablewright.plan.plan import Context, Plan, Wait
from tablewright.plan.relocation.between import At, at
from tablewright.plan.relocation.checking import Places
from tablewright.plan.relocation.place import is_own, move_in, read_record
from tablewright.plan.relocation.program import FollowedTables
from tablewright.plan.relocation.relocate import (
    ApplyRelocation,
    CompleteRelocation,
    UndoRelocation,
)
from tablewright.plan.relocation.state import RelocationState, progress_in
from tablewright.plan.writes.action import TRANSIENT
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item
from tablewright.verify.stored_items import compare_stored
from torture.migrations import PROGRAM_SECONDS, READS, Stop, flat, lost
from torture.run import Broken, Part, Round

NAMES = ("things", "things-2")
THINGS = [f"t{number}" for number in range(6)]
LEASE_SECONDS = 10.0
STALL_SECONDS = 100.0
ATTEMPTS = 5
#: How late a request may arrive, in seconds. A table that returns is in use again: requests without
#: the check of a gate must have arrived before.
LATE, LATE_IF_IT_RETURNS = 60.0, 8.0
Command: TypeAlias = Literal["apply", "rollback", "complete"]
Record: TypeAlias = dict[str, Any]
COMMANDS: dict[Command, Any] = {
    "apply": ApplyRelocation,
    "rollback": UndoRelocation,
    "complete": CompleteRelocation,
}


class Things(Table, name=NAMES[0]):
    states = GSI("GSI1PK", "GSI1SK")


class Thing(Entity, table=Things):
    tid: Attr[str] = attr()
    state: Attr[str] = attr(default="a")
    count: Attr[int] = attr(default=0)
    email: Attr[str | None] = attr(default=None)
    primary = key("THING" / tid, "THING")
    by_state = index(Things.states, "STATE" / state, "THING" / tid)
    by_email = unique("EMAIL" / email)


class Actor:
    """Steps that run request by request."""

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
            self.wake = self.world.now + self.delay(self._step)

    def delay(self, step: Any) -> float:
        """Return after how many seconds a step takes effect."""
        return step.seconds if isinstance(step, Wait) else 0.0

    def send(self, step: At) -> bytes:
        return self.world.send(step)

    def tick(self) -> None:
        """Perform the present step."""
        step = self._step
        if isinstance(step, Wait):
            self._advance(partial(self._steps.send, b""))
            return
        try:
            answer = self.send(step)
        except (DynamoDBError, RetriesExhausted) as fault:
            self._advance(partial(self._steps.throw, fault))
        except Stop as stop:
            self.error, self.is_done = stop, True
        else:
            self._advance(partial(self._steps.send, answer))


class Call(Actor):
    """A call of a program; its requests may be late, and its response may be lost."""

    def delay(self, step: Any) -> float:
        chance = self.world.chance
        if isinstance(step, Wait):
            return step.seconds
        if chance.random() > self.world.lateness:
            return 0.0
        self.world.attack.count("late requests")
        return chance.random() * self.most(step)

    def most(self, step: At) -> float:
        is_guarded = "#gate" in str(step.request.body)
        return LATE_IF_IT_RETURNS if self.world.returns and not is_guarded else LATE

    def send(self, step: At) -> bytes:
        answer = super().send(step)
        is_read = step.request.operation in READS
        if self.world.chance.random() < self.world.faults * (0.1 if is_read else 1.0):
            self.world.attack.count("lost responses")
            raise lost()
        return answer


class Executor(Actor):
    """An executor: it may be stopped, stalled and throttled."""

    def __init__(self, world: World, command: Command, *, is_safe: bool) -> None:
        chance = world.chance
        self.command: Command = command
        self.sent = 0
        self.is_stalled = False
        self._faults = 0.0 if is_safe else world.faults
        fate = "" if is_safe else chance.choice(("", "stop", "stop", "stop", "stall", "stall"))
        self._fate_at = chance.randint(1, chance.choice((30, 120, 250))) if fate else -1
        self._fate = fate
        options: dict[str, Any] = {
            "lease_seconds": LEASE_SECONDS,
            "program_seconds": PROGRAM_SECONDS,
            "now": lambda: world.now,
        }
        super().__init__(world, COMMANDS[command](world.places, **options).steps())

    def send(self, step: At) -> bytes:
        world, chance = self.world, self.world.chance
        self.sent += 1
        is_fated = self.sent == self._fate_at
        if is_fated and self._fate == "stall":
            self._stall()
        is_stopped = is_fated and self._fate == "stop"
        if is_stopped and chance.random() < 0.5:
            world.attack.count("stops")
            raise Stop
        roll = chance.random()
        if roll < self._faults:
            world.attack.count("throttled requests")
            raise ProvisionedThroughputExceededException("too fast")
        if roll < 2 * self._faults and step.request.operation == "TransactWriteItems":
            world.attack.count("conflicts")
            reasons = [{"Code": "None"} for _ in step.request.body["TransactItems"]]
            chance.choice(reasons)["Code"] = chance.choice(sorted(TRANSIENT))
            raise TransactionCanceledException(reasons)
        answer = super().send(step)
        if is_stopped:
            world.attack.count("stops")
            raise Stop
        if roll > 1 - self._faults * (0.2 if step.request.operation in READS else 1.0):
            world.attack.count("lost responses")
            raise lost()
        if chance.random() < world.density and world.writes > 0:
            for _ in range(chance.randint(1, 2)):
                world.start_call()
            if chance.random() < 0.5:
                world.finish_calls()
        return answer

    def _stall(self) -> None:
        """Let others run until this executor was taken for dead, or until they have ended."""
        world = self.world
        world.attack.count("stalls")
        self.is_stalled = True
        if not world.working():
            world.executors.append(Executor(world, self.command, is_safe=False))
        end = world.now + STALL_SECONDS * world.chance.random()
        while world.now < end and (world.working() or world.calls):
            world.step()
        self.is_stalled = False


class World:
    """A table at two places, programs and executors, a virtual clock, and what was acknowledged."""

    def __init__(self, attack: Round, chance: random.Random) -> None:
        self.attack = attack
        self.chance = chance
        self.now = 0.0
        first = Engine(":memory:")
        is_rename = chance.random() < 0.3
        self.engines = (first, first if is_rename else Engine(":memory:"))
        self.names = NAMES if is_rename or chance.random() < 0.5 else (NAMES[0], NAMES[0])
        table = Things.__table__
        self.contexts = tuple(Context({table: name}, b"0" * 32) for name in self.names)
        first_context, second_context = self.contexts
        self.places = Places(table, self.names, ("A", "B"), (first_context, second_context))
        self.faults = chance.choice((0.0, 0.01, 0.05))
        self.lateness = chance.choice((0.0, 0.02, 0.1))
        self.density = chance.choice((0.1, 0.3, 0.6))
        self.jumps = chance.choice((0.0, 0.0, 0.05))
        self.page = chance.randint(1, 3)
        #: Whether the table is moved back.
        self.returns = chance.random() < 0.6
        self.stored: dict[str, list[Record | None]] = {each: [None] for each in THINGS}
        self.calls: dict[str, tuple[Call, list[Record | None], Record | None]] = {}
        self.programs: list[FollowedTables] = []
        self.executors: list[Executor] = []
        self.writes = 0
        #: How often the stream may still be disabled in this run.
        self.outages = chance.choice((0, 0, 1, 3))

    # -- requests ------------------------------------------------------------------------------

    def send(self, step: At) -> bytes:
        request = step.request
        body = dict(request.body)
        if request.operation == "Scan":
            body["Limit"] = self.page
        engine = self.engines[step.side]
        return engine.run(engine.prepare(request.operation, body)) or b"{}"

    def run(self, steps: Generator[Any, bytes, Any]) -> Any:
        """Run steps at once, without faults."""
        actor = Actor(self, steps)
        while not actor.is_done:
            self.now = max(self.now, actor.wake)
            actor.tick()
        if actor.error is not None:
            raise actor.error
        return actor.result

    def followed(self, plan: Plan[Any], program: FollowedTables) -> Generator[Any, bytes, Any]:
        """Run a plan of a program; its requests go to where the table is."""
        steps = flat(plan, self.contexts[0])
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Wait):
                        body = yield step
                    else:
                        body = yield from program.steps(step.operation, step.body)
                except (DynamoDBError, RetriesExhausted) as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(body)
        except StopIteration as end:
            return end.value

    def at(self, side: int, plan: Plan[Any]) -> Generator[Any, bytes, Any]:
        """Run a plan at one place."""
        steps = flat(plan, self.contexts[side])
        try:
            step = next(steps)
            while True:
                try:
                    body = yield step if isinstance(step, Wait) else At(side, step)
                except (DynamoDBError, RetriesExhausted) as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(body)
        except StopIteration as end:
            return end.value

    def record(self, side: int = 0) -> Item:
        item: Item = self.run(at(side, read_record(Things.__table__, self.names[side])))
        return item

    def state(self) -> RelocationState | None:
        return progress_in(self.record(), self.names[0])

    def items(self, side: int) -> list[Item]:
        engine = self.engines[side]
        try:
            answer = engine.run(engine.prepare("Scan", {"TableName": self.names[side]})) or b"{}"
        except ResourceNotFoundException:
            return []
        items: list[Item] = msgspec.json.decode(answer)["Items"]
        return items

    # -- the scheduler -------------------------------------------------------------------------

    def working(self) -> list[Executor]:
        return [each for each in self.executors if not each.is_done and not each.is_stalled]

    def step(self) -> None:
        """Let one actor perform its next step."""
        if len(self.calls) < 3 and self.writes > 0 and self.chance.random() < 0.2:
            self.start_call()
            return
        is_late = any(call.wake <= self.now for call, _, _ in self.calls.values())
        if self.jumps and not is_late and self.chance.random() < self.jumps:
            self.now += self.chance.random() * 1.5
        if self.outages and self.chance.random() < 0.005:
            self.interrupt_stream()
        actors: list[Actor] = [*self.working(), *(call for call, _, _ in self.calls.values())]
        ready = [each for each in actors if each.wake <= self.now]
        if not ready:
            later = [each.wake for each in actors]
            self.now = min(later) if later else self.now + 1.0
            return
        self.chance.choice(ready).tick()
        self.settle()
        if self.chance.random() < 0.02:
            self.check()

    def interrupt_stream(self) -> None:
        """Disable the stream of the table that is in use, and perhaps enable it again."""
        state = self.state()
        if state is None or not 0 < state.done < 6:
            return
        self.outages -= 1
        side = int(state.is_back)
        engine, name = self.engines[side], self.names[side]
        if self.chance.random() < 0.5 and state.done > 1:
            self.attack.count("rotated shards")
            with suppress(ValueError):  # the stream may be disabled
                engine.rotate_shards(name, children=self.chance.randint(1, 3))
            return
        self.attack.count("interrupted streams")
        changes: list[dict[str, Any]] = [{"StreamEnabled": False}]
        if self.chance.random() < 0.5:
            changes.append({"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        for number, each in enumerate(changes):
            if number:
                self.start_call()
                self.finish_calls()
            try:
                body = {"TableName": name, "StreamSpecification": each}
                engine.run(engine.prepare("UpdateTable", body))
            except DynamoDBError:
                return

    # -- executors -----------------------------------------------------------------------------

    def carry_out(self, command: Command) -> bool:
        """Run a command until it has succeeded; return False if another one may be run."""
        for attempt in range(ATTEMPTS + 2):  # `complete` shows once what others have written
            is_safe = attempt >= ATTEMPTS
            if is_safe:
                self.jumps, self.outages = 0.0, 0
            executors = [Executor(self, command, is_safe=is_safe)]
            if not is_safe and self.chance.random() < 0.2:
                executors.append(Executor(self, command, is_safe=False))
            self.executors = executors
            while any(not each.is_done for each in executors):
                self.step()
            self.executors = []
            self.attack.count("executors", len(executors))
            if self.is_finished(command):
                return True
            for each in (each for each in executors if each.error is not None):
                if isinstance(each.error, MigrationRefused) and (
                    "not read to its end" in str(each.error)
                    or "is not enabled" in str(each.error)
                    or ("have written these items" in str(each.error) and command == "complete")
                    or ("switched" in str(each.error) and command == "rollback")
                ):
                    self.attack.count("refused cut-overs")
                    if "switched" in str(each.error):
                        self.carry_out("apply")
                elif not isinstance(
                    each.error, (Stop, MigrationBusy, EndpointUnavailable, Contention)
                ):
                    raise Broken(f"{command} fails: {type(each.error).__name__}", repr(each.error))
            if command == "apply" and self.returns and self.chance.random() < 0.15:
                return False
        raise Broken(f"{command} does not end", str(self.state()))

    def is_finished(self, command: Command) -> bool:
        state = self.state()
        if command == "apply":
            return state is not None and state.is_over and not state.is_back
        return state is None

    # -- programs ------------------------------------------------------------------------------

    def program(self) -> FollowedTables:
        """Return a program, which may have been connected for long."""
        if not self.programs or self.chance.random() < 0.15:
            tables = {Things.__table__: self.names[0]}
            self.programs = [*self.programs[-2:], FollowedTables(tables, lambda: self.now)]
        return self.chance.choice(self.programs)

    def start_call(self) -> None:
        """Start a write of a program to a thing that no other call is about."""
        tid = self.chance.choice(THINGS)
        if tid in self.calls:
            return
        if len(self.stored[tid]) > 1:
            self.read(tid)
            return
        self.writes -= 1
        before = self.stored[tid]
        plan, after = self._write(tid, before[0])
        self.stored[tid] = [*before, after]
        call = Call(self, self.followed(plan, self.program()))
        self.calls[tid] = (call, before, after)
        self.settle()

    def _write(self, tid: str, record: Record | None) -> tuple[Plan[Any], Record | None]:
        chance = self.chance
        made: Record = {
            "tid": tid,
            "state": chance.choice("ab"),
            "count": chance.randint(0, 9),
            "email": chance.choice((None, f"{tid}@{chance.randint(0, 2)}")),
        }
        if record is None:
            return create(Thing(**made)), made
        thing = Thing.primary(tid)
        roll = chance.random()
        if roll < 0.15:
            return thing.delete(), None
        if roll < 0.3:
            return put(Thing(**made)), made
        if roll < 0.5:
            name = chance.choice(("state", "email"))
            change = getattr(Thing, name).set(made[name])
            return thing.update(change), record | {name: made[name]}
        plan = thing.update(Thing.count.increment(1))
        counted = record | {"count": record["count"] + 1}
        return (plan.returning("old") if roll < 0.6 else plan), counted

    def finish_calls(self) -> None:
        """Let all calls of programs that can end do so."""
        for _ in range(200):
            ready = [call for call, _, _ in self.calls.values() if call.wake <= self.now]
            if not ready:
                return
            self.chance.choice(ready).tick()
            self.settle()

    def settle(self) -> None:
        """Record the outcomes of calls that have ended."""
        for tid, (call, before, after) in list(self.calls.items()):
            if not call.is_done:
                continue
            del self.calls[tid]
            if call.error is None:
                self.stored[tid] = [after]
                self.attack.count("acknowledged writes")
            elif isinstance(call.error, (EndpointUnavailable, DesignMismatch, Contention)):
                self.attack.count("unknown outcomes")
            else:
                raise Broken(
                    f"a write fails: {type(call.error).__name__}",
                    f"{call.error} {before} -> {after}",
                )

    def read(self, tid: str) -> None:
        """Read a thing by a program; it must be as it was acknowledged."""
        if tid in self.calls or not self.is_used():
            return
        found = self.run(self.followed(Thing.primary(tid).consistent(), self.program()))
        record = None if found is None else {n: getattr(found, n) for n in _NAMES}
        if record not in self.stored[tid]:
            raise Broken("a program reads something else", f"{record} of {self.stored[tid]}")
        self.stored[tid] = [record]

    def is_used(self) -> bool:
        """Return whether a place is in use: between two requests of a cut-over, none is."""
        first = move_in(self.record(0), self.names[0])
        if first is None or first.phase != "away":
            return True
        second = move_in(self.record(1), self.names[1])
        return second is None or second.phase != "away"

    def check(self) -> None:
        for tid in THINGS:
            self.read(tid)

    # -- the end -------------------------------------------------------------------------------

    def check_end(self, side: int) -> None:
        """Check what is left: the things at one place, and nothing else."""
        while self.calls:
            self.step()
        self.check()
        table, attack = Things.__table__, self.attack
        items = self.items(side)
        own = [item for item in items if is_own(table, item)]
        attack.require(len(own) == 1, "gates or markers are left", str(own))
        wanted = sum(self.stored[tid] != [None] for tid in THINGS)
        kinds = [table.identify(item) for item in items]
        things = [kind for kind in kinds if kind.stored is not None]
        attack.require(len(things) == wanted, "there are other things", str(items))
        report = compare_stored(table, iter(items))
        attack.require(not report.different, "stored items do not match the design", str(report))
        for engine in dict.fromkeys(self.engines):
            problems = engine.check().problems
            attack.require(not problems, "a file is damaged", str(problems))
        others = self.items(1 - side)
        left = [item for item in others if "$gate" in item or "#mark#" in str(item)]
        attack.require(not left, "gates or markers are left at the other place", str(left))
        for place in (0, 1):
            may = place == side
            if not may and not self.items(place):
                continue  # it has no record: the table was only created
            try:
                self.run(self.at(place, Provision(table, create=False)))
            except (DesignMismatch, TableNotFound) as error:
                attack.require(not may, "a program cannot connect", str(error))
            else:
                attack.require(may, "a program may connect to the place that was left")


_NAMES = ("tid", "state", "count", "email")


def play(round_: Round) -> None:
    """Move one table after the other until the time is over."""
    runs = round_.size(10**9, 25)
    while round_.seconds > 0 and runs > 0:
        runs -= 1
        run_once(round_, round_.chance.randrange(10**12))
        round_.count("runs")


def run_once(round_: Round, seed: int) -> None:
    """Move one table; `seed` repeats it."""
    random.seed(seed)
    world = World(round_, random.Random(seed))
    try:
        _run(world)
    except Broken as broken:
        raise Broken(str(broken), f"seed {seed}: {broken.detail}") from broken


def _run(world: World) -> None:
    chance = world.chance
    table = Things.__table__
    world.run(world.at(0, Provision(table, create=True)))
    design = describe_design(Things).tables[NAMES[0]]
    world.run(world.at(0, Baseline(Version(table, design, definition(table, NAMES[0])))))
    world.writes = 20
    while world.writes > 0:
        world.start_call()
        world.finish_calls()
        world.now += 1.0
    side = 0
    for _ in range(chance.randint(1, 2)):
        world.writes = chance.randint(20, 80)
        if not world.carry_out("apply"):
            world.carry_out("rollback")
            continue
        side = 1
        if not world.returns:
            break
        if chance.random() < 0.7:
            world.writes = chance.randint(20, 80)
            world.carry_out("rollback")
            side = 0
    world.writes = 0
    if side and chance.random() < 0.7:
        world.carry_out("complete")
    world.check_end(side)


PART = Part(
    "relocations",
    "A table that is moved to another place loses, doubles and revives nothing",
    "stopped, stalled and throttled executors, late requests and interrupted streams",
    30,
    play,
)
