"""Tables of two versions in memory, and plans that are interrupted, for the tests of migrations."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import msgspec

from tablewright import Engine, Table, connect, create
from tablewright.errors import DynamoDBError
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.provision import definition
from tablewright.model.description import describe_design
from tablewright.plan.migration.executing import MigrationProgress, Version
from tablewright.plan.migration.migrate import Apply, Baseline, Complete, Rollback
from tablewright.plan.plan import Context, Plan, Together, Wait
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item
from torture.migration_designs import Pair, Record, Side, pairs

PAIRS = {pair.name: pair for pair in pairs()}
NAME = "things"
RECORDS: list[Record] = [
    {"tid": f"t{n}", "state": "abc"[n % 3], "n": n, "email": f"T{n}@x", "note": "y"}
    for n in range(5)
]
COMMANDS: dict[str, Any] = {"apply": Apply, "rollback": Rollback, "complete": Complete}


class Stopped(Exception):
    """The process of an executor has ended."""


def stored(pair: Pair, records: list[Record] = RECORDS) -> Engine:
    """Return an engine with the table of the old version, which records it, and things in it."""
    engine = Engine(":memory:")
    load(engine, pair.old, records)
    drive(Baseline(version(pair.old.table)), engine)
    return engine


def load(engine: Engine, side: Side, records: list[Record]) -> None:
    db = connect(engine, side.table, update=True)
    for record in records:
        known = {name: value for name, value in record.items() if name in ("tid", *side.names)}
        db.run(create(side.make(known)))


def version(table: type[Table]) -> Version:
    compiled = table.__table__
    return Version(compiled, describe_design(table).tables[NAME], definition(compiled, NAME))


def migration(command: str, side: Side, **options: Any) -> Plan[Any]:
    return COMMANDS[command](version(side.table), **{"lease_seconds": 0} | options)  # type: ignore[no-any-return]


Send = Callable[[str, dict[str, Any]], bytes]


def sending(engine: Engine) -> Send:
    return lambda operation, body: engine.run(engine.prepare(operation, body)) or b"{}"


def in_pages(send: Send, limit: int = 2) -> Send:
    """Return a function that reads small pages."""

    def paged(operation: str, body: dict[str, Any]) -> bytes:
        return send(operation, body | {"Limit": limit} if operation == "Scan" else body)

    return paged


def stop_before(number: int, send: Send) -> Send:
    """Return a function that sends this many requests, and raises Stopped for the next one."""
    left = number

    def stopping(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal left
        if not left:
            raise Stopped
        left -= 1
        return send(operation, body)

    return stopping


def steps_of(plan: Plan[Any]) -> Generator[Any, bytes, Any]:
    """Return the steps of a plan, also of those that it runs together."""
    table = plan._entity.table
    context = Context({table: NAME}, b"0" * 32)
    return _flat(plan, context)


def _flat(plan: Plan[Any], context: Context) -> Generator[Any, bytes, Any]:
    steps = plan._steps(context)
    try:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Together):
                    step.results = []
                    for each in step.plans:
                        step.results += [(yield from _flat(each, context))]
                    body = b""
                else:
                    body = yield step
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        return end.value


def drive(plan: Plan[Any], target: Engine | Send, waits: list[float] | None = None) -> Any:
    """Run a plan without waiting, and return its result; `waits` gets its pauses."""
    send = sending(target) if isinstance(target, Engine) else target
    steps = steps_of(plan)
    try:
        step = next(steps)
        while True:
            if isinstance(step, Wait):
                if waits is not None:
                    waits.append(step.seconds)
                step = steps.send(b"")
                continue
            try:
                answer = send(step.operation, step.body)
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value


def interrupt(engine: Engine, command: str, side: Side, step: str) -> None:
    """Run a command until a step begins."""

    def stop(progress: MigrationProgress) -> None:
        if progress.step.name == step:
            raise Stopped

    with suppress(Stopped):
        drive(migration(command, side, progress=stop), engine)


def items(engine: Engine) -> list[Item]:
    """Return all items, without the record."""
    found: list[Item] = engine.call("Scan", {"TableName": NAME})["Items"]
    table = PAIRS["index added"].old.table.__table__
    key = record_key(table)
    return [item for item in found if table.key(item) != key]


def record(engine: Engine) -> dict[str, Any]:
    """Return the record of the table."""
    key = record_key(PAIRS["index added"].old.table.__table__)
    found: dict[str, Any] = engine.call("GetItem", {"TableName": NAME, "Key": key})["Item"]
    return found


def whole(engine: Engine) -> bytes:
    """Return all items as bytes, without the lease and the fence of executors."""
    kept = {n: v for n, v in record(engine).items() if n not in ("$lease", "$fence")}
    for value in kept.values():
        if "SS" in value:
            value["SS"].sort()
    return msgspec.json.encode([items(engine), kept], order="deterministic")
