"""Servers and clients on uvloop, which many applications set as the event loop of all threads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tablewright import Attr, Entity, Table, attr, connect_async, create, key
from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.server.http import sdk_client
from tests.studio.conftest import Browser

uvloop = pytest.importorskip("uvloop", reason="it does not exist for Windows")


class Notes(Table, name="notes"):
    pass


class Note(Entity, table=Notes):
    number: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("NOTE" / number, "NOTE")


@pytest.fixture(autouse=True)
def policy() -> Iterator[None]:
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(None)


def test_a_server_on_uvloop_answers(engine: Engine) -> None:
    with serving(engine) as url:
        client = sdk_client(url)
        client.put_item(TableName="things", Item={"k": {"S": "a"}})
        found = client.get_item(TableName="things", Key={"k": {"S": "a"}})
        assert found["Item"] == {"k": {"S": "a"}}


def test_a_client_on_uvloop_connects_to_a_server_on_uvloop() -> None:
    async def create_and_read(url: str) -> object:
        async with connect_async(url, Notes, create=True) as db:
            await db.run(create(Note(number="n1", text="hello")))
            return await db.run(Note.primary("n1"))

    with Engine(":memory:") as engine, serving(engine) as url:
        assert asyncio.run(create_and_read(url)) == Note(number="n1", text="hello")


def test_a_studio_on_uvloop_answers(engine: Engine) -> None:
    with serving_studio(Workspace(None, engine)) as link:
        assert "things" in Browser(link).get("/tables").text
