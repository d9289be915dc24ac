"""`Database.through`: the same database with another transport."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from tablewright import Attr, Engine, Table, connect, connect_async, create
from tablewright import updated_at as written
from tablewright.observe import RequestEvent
from tablewright.transport import AsyncTransport, Response, Transport
from tests.things import NamedEntity


class Desk(Table, name="desk"): ...


class Memo(NamedEntity, table=Desk):
    at: Attr[datetime] = written()


class Recording:
    """Records the operations that it passes on."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.operations: list[str] = []
        self.is_closed = False

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.operations.append(operation)
        return self.transport.send(operation, request)

    def close(self) -> None:
        self.is_closed = True


class RecordingAsync:
    """Records the operations that it passes on."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.transport = transport
        self.operations: list[str] = []

    async def send_async(self, operation: str, request: dict[str, Any]) -> Response:
        self.operations.append(operation)
        return await self.transport.send_async(operation, request)

    async def close_async(self) -> None: ...


def test_requests_go_through_the_other_transport_to_the_same_tables() -> None:
    events: list[RequestEvent] = []
    with (
        Engine() as engine,
        connect(engine, Desk, table_name="desk-2", observe=events.append) as db,
    ):
        recording = Recording(db.transport)
        with db.through(recording) as other:
            assert other.table_names == db.table_names == {Desk.__table__: "desk-2"}
            events.clear()
            other.run(create(Memo(name="1")))
        assert db.run(Memo.primary("1")) is not None
    assert recording.operations == ["PutItem"]
    assert [event.operation for event in events] == ["PutItem", "GetItem"]
    assert not recording.is_closed


def test_a_clock_gives_the_time_of_writes() -> None:
    moment = datetime(2020, 2, 2, tzinfo=UTC)
    with connect(":memory:", Desk) as db:
        db.through(db.transport, clock=lambda: moment).run(create(Memo(name="1")))
        found = db.run(Memo.primary("1"))
    assert found is not None
    assert found.at == moment


def test_an_asynchronous_database_goes_through_another_transport_and_blocks() -> None:
    async def main() -> tuple[list[str], Memo | None]:
        async with connect_async(":memory:", Desk) as db:
            recording = RecordingAsync(db.transport)
            await db.through(recording).run(create(Memo(name="1")))
            return recording.operations, db.blocking().run(Memo.primary("1"))

    operations, found = asyncio.run(main())
    assert operations == ["PutItem"]
    assert found is not None
