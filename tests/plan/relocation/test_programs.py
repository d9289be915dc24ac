"""What a program that follows a table does with slow requests and with an executor that stops."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, migrations
from tablewright.errors import DesignMismatch, EndpointUnavailable, InvalidValue
from tablewright.migrations import Relocation
from tablewright.plan.plan import Request, Wait
from tablewright.plan.relocation.between import At
from tablewright.plan.relocation.place import MOVE, PlaceRecord
from tablewright.plan.relocation.program import FollowedTables


class Jar(Table, name="jar"):
    pass


class Lid(Entity, table=Jar):
    lid_id: Attr[str] = attr()
    primary = key("LID" / lid_id, "LID")


class Program:
    """A program whose requests take as long as a test says, in virtual time."""

    def __init__(self) -> None:
        self.engines = Engine(":memory:"), Engine(":memory:")
        with connect(self.engines[0], Jar) as db:
            db.run(create(Lid(lid_id="1")))
        migrations.baseline(self.engines[0], Jar)
        self.now = 0.0
        self.tables = FollowedTables({Jar.__table__: "jar"}, lambda: self.now)
        self.move = Relocation(self.engines[0], self.engines[1], Jar)

    def send(self, operation: str, body: dict[str, Any], *, slow: Any = None) -> Any:
        """Send a request; `slow` happens after it has arrived, and takes 20 seconds."""
        steps = self.tables.steps(operation, body)
        answer: bytes | None = None
        try:
            while True:
                step = next(steps) if answer is None else steps.send(answer)
                if isinstance(step, Wait):
                    self.now += step.seconds
                    answer = b""
                    continue
                answer = self.answer(step)
                if step.request.operation == operation and slow is not None:
                    self.now += 20
                    slow, act = None, slow
                    act()
        except StopIteration as end:
            return msgspec.json.decode(end.value)

    def answer(self, step: At) -> bytes:
        engine, request = self.engines[step.side], step.request
        return engine.run(engine.prepare(request.operation, request.body)) or b"{}"

    def apply(self) -> None:
        self.move.apply(program_seconds=0)


PUT = {"TableName": "jar", "Item": {"PK": {"S": "LID#2"}, "SK": {"S": "LID"}}}
SCAN = {"TableName": "jar"}


def test_a_slow_write_is_not_acknowledged_if_the_table_was_moved_meanwhile() -> None:
    program = Program()
    with pytest.raises(EndpointUnavailable, match="the write may be lost"):
        program.send("PutItem", PUT, slow=program.apply)


def test_a_slow_write_to_a_table_that_is_never_moved_is_acknowledged() -> None:
    program = Program()
    assert program.send("PutItem", PUT, slow=lambda: None) == {}


def test_a_slow_read_is_sent_again_to_the_destination() -> None:
    program = Program()

    def move_and_write() -> None:
        program.apply()
        program.engines[1].run(program.engines[1].prepare("PutItem", PUT))

    assert program.send("Scan", SCAN, slow=move_and_write)["Count"] == 3  # with the record


def test_programs_wait_for_half_a_minute_between_two_places() -> None:
    program = Program()
    program.apply()
    away = PlaceRecord("x", "away", "jar", "A")
    body = {
        "TableName": "jar",
        "Key": {"PK": {"S": "$tablewright"}, "SK": {"S": "indexes"}},
        "UpdateExpression": "SET #move = :move",
        "ExpressionAttributeNames": {"#move": MOVE},
        "ExpressionAttributeValues": {":move": {"S": msgspec.json.encode(away).decode()}},
    }
    program.answer(At(1, Request("UpdateItem", body)))
    with pytest.raises(DesignMismatch, match="the executor has stopped before the end"):
        program.send("Scan", SCAN)
    assert 20 < program.now < 40


def test_one_request_cannot_use_tables_at_different_places() -> None:
    program = Program()
    program.apply()
    gets = {"jar": {"Keys": [{"PK": {"S": "a"}, "SK": {"S": "b"}}]}, "other": {"Keys": []}}
    with pytest.raises(InvalidValue, match="move the others, too"):
        program.send("BatchGetItem", {"RequestItems": gets})
