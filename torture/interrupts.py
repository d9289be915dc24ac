"""Promise: an exception raised by a signal handler at any point of a call leaves the engine usable.
The next write succeeds, other processes can write, a consistent read sees the newest value, and
writers of other threads whose writes share the commit get their outcome exactly once. A sandbox is
undone as a whole, wherever its beginning, its block or its end is interrupted, and no later write
is undone with it.

Method, in alternating rounds:

    opcodes   one operation is repeated, and each time an exception is raised at another opcode of
              the storage package, of engine/engine.py and of engine/tables/catalog.py: at each of
              them, or at every n-th of a long operation, beginning anywhere. After each:
              a read, a write, the lock taken by a connection that does not wait, a write through
              another engine, and a read that must see that write.
    timers    `signal.setitimer` interrupts the main thread after 20 to 800 microseconds, again and
              again, while other threads write and another connection takes the lock at times; or
              while it works in sandboxes.

An interrupted write may have been applied or not, but as a whole.

Limits: no exception is raised where CPython delivers no signals and no Python code could be safe
(see `opcodes.undeliverable`). Exceptions inside C code (SQLite, msgspec) arrive when it returns to
Python, as signals do. The traced opcodes are those of one execution of each operation on a small
table.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import apsw

from tablewright.engine import Engine, WriteStep
from tablewright.errors import DynamoDBError, TablewrightError
from tests.durability.opener import table, tables
from torture.opcodes import Interrupt, traced
from torture.run import Part, Round
from torture.work import problems, wait_for_indexes

NAME = "interrupts"
#: The name of an item and a table that exist only in sandboxes.
INSIDE = "inside"
THREADS = 3


def key(name: str) -> dict[str, Any]:
    return {"pk": {"S": name}}


def put(name: str, value: int) -> dict[str, Any]:
    return {"TableName": NAME, "Item": {**key(name), "v": {"N": str(value)}}}


def put_both(value: int) -> dict[str, Any]:
    return {"TransactItems": [{"Put": put("left", value)}, {"Put": put("right", value)}]}


def value_of(engine: Engine, name: str) -> int:
    request = {"TableName": NAME, "Key": key(name), "ConsistentRead": True}
    return int(engine.call("GetItem", request).get("Item", {"v": {"N": "-1"}})["v"]["N"])


def value_by_query(engine: Engine) -> int:
    request = {
        "TableName": NAME,
        "KeyConditionExpression": "pk = :k",
        "ExpressionAttributeValues": {":k": {"S": "left"}},
        "ConsistentRead": True,
    }
    return int(engine.call("Query", request)["Items"][0]["v"]["N"])


def transact_get(engine: Engine) -> None:
    gets = [{"Get": {"TableName": NAME, "Key": key(name)}} for name in ("left", "right")]
    found = engine.call("TransactGetItems", {"TransactItems": gets})["Responses"]
    assert len(found) == 2


def change_tables(engine: Engine, value: int) -> None:
    """Create a table, build an index and delete the table; a part may be done already."""
    index = {
        "IndexName": "index",
        "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    update = {
        "TableName": "second",
        "AttributeDefinitions": [{"AttributeName": "v", "AttributeType": "N"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
    with suppress(DynamoDBError):
        engine.call("CreateTable", table("second"))
    with suppress(DynamoDBError):
        engine.call("UpdateTable", update)
        wait_for_indexes(engine, "second")
    with suppress(DynamoDBError):
        engine.call("DeleteTable", {"TableName": "second"})


def refused(engine: Engine, value: int) -> None:
    with suppress(DynamoDBError):
        engine.call("PutItem", {**put("left", value), "ConditionExpression": "attribute_exists(x)"})


def missing_table(engine: Engine, value: int) -> None:
    with suppress(DynamoDBError):
        engine.call("GetItem", {"TableName": "missing", "Key": key("left")})


def several(engine: Engine, value: int) -> None:
    """Commit two steps together, as the server does."""
    steps = [engine.prepare("TransactWriteItems", put_both(value)) for _ in range(2)]
    for result in engine.write_all([step for step in steps if isinstance(step, WriteStep)]):
        if isinstance(result, BaseException):
            raise result


def in_sandbox(engine: Engine, value: int) -> None:
    with engine.sandbox():
        engine.call("CreateTable", table(INSIDE))
        engine.call("PutItem", put(INSIDE, value))
        engine.call("TransactWriteItems", put_both(-value))


def in_nested_sandboxes(engine: Engine, value: int) -> None:
    with engine.sandbox():
        engine.call("PutItem", put(INSIDE, value))
        with engine.sandbox():
            engine.call("DeleteItem", {"TableName": NAME, "Key": key("left")})
        engine.call("PutItem", put(INSIDE, value_of(engine, INSIDE) + 1))


#: Operations by name; each gets a value that was never written before.
OPERATIONS: dict[str, Callable[[Engine, int], object]] = {
    "TransactWriteItems": lambda engine, value: engine.call("TransactWriteItems", put_both(value)),
    "TransactGetItems": lambda engine, value: transact_get(engine),
    "PutItem": lambda engine, value: engine.call("PutItem", put("alone", value)),
    "GetItem": lambda engine, value: value_of(engine, "left"),
    "a refused PutItem": refused,
    "GetItem of a missing table": missing_table,
    "two writes in one commit": several,
    "Query": lambda engine, value: value_by_query(engine),
    "Scan": lambda engine, value: engine.call("Scan", {"TableName": NAME}),
    "DeleteItem": lambda engine, value: engine.call(
        "DeleteItem", {"TableName": NAME, "Key": key("alone")}
    ),
    "CreateTable, UpdateTable, DeleteTable": change_tables,
    "expire": lambda engine, value: engine.expire(now=1.0),
    "check": lambda engine, value: engine.check(),
    "a sandbox": in_sandbox,
    "nested sandboxes": in_nested_sandboxes,
}


class Bench:
    """An engine to interrupt, another one on the same file, and a connection that does not wait."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.engine = Engine(path, durability="normal")
        self.engine.call("CreateTable", table(NAME))
        self.engine.call("TransactWriteItems", put_both(0))
        self.other = Engine(path, durability="normal")
        self.raw = apsw.Connection(str(path))

    def close(self) -> None:
        self.raw.close()
        self.other.close()
        self.engine.close()

    def problem(self, value: int) -> str:
        """Return what does not work after an interrupt; empty if everything works.

        `value` and the number after it have never been written.
        """
        try:
            if value % 2 and self._is_unlocked():
                # A query is next: a get would finish what an interrupted get has left open.
                self.other.call("TransactWriteItems", put_both(value))
                if value_by_query(self.engine) != value:
                    return "a consistent query returns an old value"
            left, right = (value_of(self.engine, name) for name in ("left", "right"))
            if left != right:
                return f"a transaction is half applied: {left} and {right}"
            self.engine.call("TransactWriteItems", put_both(value))
            if not self._is_unlocked():
                return "the file stays locked for other processes"
            self.other.call("TransactWriteItems", put_both(value + 1))
            seen = value_of(self.engine, "left")
            if seen != value + 1:
                return "a consistent read returns an old value"
            transact_get(self.engine)
            for engine in (self.engine, self.other):
                if value_of(engine, INSIDE) != -1 or INSIDE in tables(engine):
                    return "a write of a sandbox is not undone"
        except TablewrightError as error:
            return f"the next call fails: {type(error).__name__}: {_short(str(error))}"
        except (apsw.Error, AttributeError, RuntimeError) as error:
            return f"the next call raises {type(error).__module__}.{type(error).__name__}: {error}"
        return ""

    def _is_unlocked(self) -> bool:
        """Return whether another process could write."""
        try:
            self.raw.execute("BEGIN IMMEDIATE")
            self.raw.execute("ROLLBACK")
        except apsw.BusyError:
            return False
        return True


def _short(message: str) -> str:
    """Return a message without the path at its beginning."""
    return message.partition(".db: ")[2] or message


def play(attack: Round) -> None:
    names = sorted(OPERATIONS)
    turn, timers = divmod(attack.seed, 2)
    if timers:
        interrupt_by_timer(attack)
    else:
        interrupt_opcodes(attack, names[turn % len(names)])


def interrupt_opcodes(attack: Round, name: str) -> None:
    """Interrupt an operation at its opcodes, one after the other."""
    operation = OPERATIONS[name]
    values = count(1)
    files = count()
    bench = Bench(attack.folder / f"{next(files)}.db")
    operation(bench.engine, next(values))  # work that is done only once
    bench.problem(next(values))  # afterwards, an operation reads more than after another one
    next(values)
    tracer, _ = traced(partial(operation, bench.engine, next(values)), at=-1)
    # An operation with many opcodes is interrupted at every n-th.
    stride = max(1, tracer.seen // attack.size(400, 50))
    for at in range(attack.chance.randrange(stride) + 1, tracer.seen + 1, stride):
        tracer, problem = traced(partial(operation, bench.engine, next(values)), at=at)
        attack.count("interrupts")
        problem = problem or bench.problem(next(values))
        next(values)
        if problem:
            attack.expect(False, f"{name} interrupted: {problem}", tracer.where)
            with suppress(TablewrightError, apsw.Error):
                bench.close()
            bench = Bench(attack.folder / f"{next(files)}.db")
    found = problems(bench.engine)
    attack.expect(not found, f"after interrupts of {name} check() finds {found}")
    bench.close()


@contextmanager
def timer(chance: random.Random) -> Iterator[None]:
    """Raise an Interrupt in the block after a short time, unless the block ends before."""
    armed = True

    def handler(number: int, frame: FrameType | None) -> None:
        if armed:
            raise Interrupt

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, chance.uniform(20e-6, 800e-6))
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def add_one(engine: Engine, name: str) -> None:
    request = {
        "TableName": NAME,
        "Key": key(name),
        "UpdateExpression": "ADD v :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    engine.call("UpdateItem", request)


class Adder(threading.Thread):
    """A thread that increments its own counter until `stop` is set."""

    def __init__(self, engine: Engine, name: str, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self._engine = engine
        self._stopping = stop
        self.acknowledged = 0
        self.failed = 0
        self.foreign = ""

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                add_one(self._engine, self.name)
                self.acknowledged += 1
            except TablewrightError:
                self.failed += 1
            except BaseException as error:
                self.foreign = repr(error)
                return


def interrupt_by_timer(attack: Round) -> None:
    """Interrupt the main thread at random moments while other threads write."""
    attack.require(
        threading.current_thread() is threading.main_thread(), "signals need the main thread"
    )
    bench = Bench(attack.folder / "timer.db")
    engine, chance = bench.engine, attack.chance
    stop = threading.Event()
    sandboxes = chance.random() < 0.4  # they would undo the writes of other threads
    threads = 0 if sandboxes else THREADS
    adders = [Adder(engine, f"thread {number}", stop) for number in range(threads)]
    for adder in adders:
        adder.start()
    acknowledged = interrupted = 0
    swallowed: list[Any] = []
    hook, sys.unraisablehook = sys.unraisablehook, swallowed.append
    try:
        for _ in range(attack.size(60, 20)):
            if chance.random() < 0.1:
                hold_lock(bench.raw)
            writes = chance.random() < 0.6
            try:
                with timer(chance):
                    for value in range(50):
                        if sandboxes:
                            in_nested_sandboxes(engine, value)
                        if writes:
                            add_one(engine, "main")
                            acknowledged += 1
                        else:
                            transact_get(engine)
                            missing_table(engine, 0)
            except Interrupt:
                interrupted += 1
            except Exception as error:
                what = f"timer: {type(error).__name__}: {_short(str(error))}"
                attack.expect(False, what, repr(error.__cause__))
            release_lock(bench.raw)
            with suppress(TablewrightError):
                found = max(value_of(engine, "main"), 0)
                attack.expect(
                    acknowledged <= found <= acknowledged + interrupted,
                    "timer: a consistent read returns an old value"
                    if found < acknowledged
                    else "timer: an interrupted write was applied twice",
                )
    finally:
        sys.unraisablehook = hook
        stop.set()
    for adder in adders:
        adder.join(40)
        if adder.is_alive():
            attack.expect(False, "timer: a writer of another thread waits for ever")
            return
    attack.count("interrupts", interrupted)
    attack.count("acknowledged", acknowledged + sum(adder.acknowledged for adder in adders))
    attack.count("failed in other threads", sum(adder.failed for adder in adders))
    problem = bench.problem(1)
    attack.expect(not problem, f"timer: {problem}", "sandboxes" if sandboxes else "")
    for adder in adders:
        attack.expect(not adder.foreign, f"timer: another thread gets {adder.foreign}")
        with suppress(TablewrightError):
            found = max(value_of(bench.other, adder.name), 0)
            attack.expect(
                adder.acknowledged <= found <= adder.acknowledged + adder.failed,
                f"timer: another thread's {adder.acknowledged} acknowledged writes are {found}",
            )
    wrong = problems(bench.other)
    attack.expect(not wrong, f"timer: check() finds {wrong}")
    with suppress(TablewrightError, apsw.Error):
        bench.close()


def hold_lock(raw: apsw.Connection) -> None:
    with suppress(apsw.BusyError):
        raw.execute("BEGIN IMMEDIATE")


def release_lock(raw: apsw.Connection) -> None:
    if raw.in_transaction:
        raw.execute("ROLLBACK")


PART = Part(
    "interrupts",
    "An interrupted call leaves the engine usable and reads fresh",
    "exceptions at every opcode of the storage, and from timers",
    50,
    play,
)
