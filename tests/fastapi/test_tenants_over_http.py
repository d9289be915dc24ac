"""No request of a tenant shows anything of another one, whatever it takes from it.

Requests use ids, cursors, entity tags and idempotency keys of any tenant. Each stored text names
its tenant, so a response shows whose data it contains.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tablewright import (
    Attr,
    Create,
    Delete,
    Engine,
    Entity,
    Get,
    Input,
    Patch,
    Put,
    Query,
    Table,
    Tenancy,
    Update,
    access_pattern,
    attr,
    create,
    key,
    put,
    ttl,
    unique,
    version,
)
from tablewright.fastapi import ApiKeys, create_app
from tablewright.plan.request_events import RequestEvent
from tablewright.plans import GetByUnique, access_patterns
from tests.fastapi.desk import TestClient

#: How many requests; TENANT_REQUESTS=20000 for all of them.
REQUESTS = int(os.environ.get("TENANT_REQUESTS", "2000"))
TEAMS = ("red", "blue", "green")


class Rooms(Table, name="rooms"):
    tenancy = Tenancy("team", write=("TEAM#{team}", "TEAM#{team}#*"))


class Task(Entity, table=Rooms):
    team: Attr[str] = attr()
    task_id: Attr[str] = attr()
    title: Attr[str] = attr()
    name: Attr[str] = attr()
    version: Attr[int] = version()
    primary = key("TEAM" / team, "TASK" / task_id)
    by_name = unique("TEAM" / team, "NAME" / name)


class Note(Entity, table=Rooms):
    team: Attr[str] = attr()
    note_id: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("TEAM" / team, "NOTE" / note_id)


class Answer(Entity, table=Rooms):
    team: Attr[str] = attr()
    idempotency_key: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    until: Attr[datetime] = ttl(default_factory=lambda: datetime.now(UTC) + timedelta(days=1))
    primary = key("TEAM" / team, "ANSWER" / idempotency_key)


class NewTask(Input[Task], exclude=("team",)): ...


class TaskPatch(Patch[Task]): ...


class NewNote(Input[Note], exclude=("team",)): ...


@access_pattern
def add_task(team: str, new: NewTask) -> Create[Task]:
    return create(new.entity(team=team))


@access_pattern(idempotency=Answer, route="POST /once")
def add_once(team: str, new: NewTask) -> Create[Task]:
    return create(new.entity(team=team))


@access_pattern
def task(team: str, task_id: str) -> Get[Task]:
    return Task.primary(team, task_id)


@access_pattern
def tasks(team: str) -> Query[Task]:
    return Task.primary.within(team)


@access_pattern(route="GET /named/{name}")
def task_by_name(team: str, name: str) -> GetByUnique[Task]:
    return Task.by_name(team, name)


@access_pattern
def edit_task(team: str, task_id: str, patch: TaskPatch) -> Update[Task]:
    return Task.primary(team, task_id).update(*Task.changes_from(patch))


@access_pattern
def delete_task(team: str, task_id: str) -> Delete[Task]:
    return Task.primary(team, task_id).delete()


@access_pattern
def put_note(team: str, new: NewNote) -> Put[Note]:
    return put(new.entity(team=team))


@access_pattern
def note(team: str, note_id: str) -> Get[Note]:
    return Note.primary(team, note_id)


def application(engine: Engine, events: list[RequestEvent]) -> FastAPI:
    keys = ApiKeys({f"the key of team {team}": {"team": team} for team in TEAMS})
    return create_app(
        engine,
        Rooms,
        patterns=access_patterns(Rooms),
        tokens=keys,
        tenant={"team": keys.claim("team")},
        observe=events.append,
    )


class Fuzzer:
    """Sends requests of random teams, with what the responses to any team have contained."""

    def __init__(self, client: httpx2.AsyncClient, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._made = 0
        #: What any team has seen: ids, names, entity tags, cursors and idempotency keys.
        self.ids = ["nothing"]
        self.names = ["nothing"]
        self.tags = ['"1"', "*"]
        self.cursors = [""]
        self.keys = ["k0"]
        self.statuses: dict[int, int] = {}

    async def send(self) -> None:
        choose = self._random.choice
        team = choose(TEAMS)
        method, path, body, headers = self._request(team)
        headers["X-API-Key"] = f"the key of team {team}"
        found = await self._client.request(method, path, json=body, headers=headers)
        self.statuses[found.status_code] = self.statuses.get(found.status_code, 0) + 1
        assert found.status_code < 500, (method, path, found.text)
        shown = f"{found.text} {found.headers}"
        for other in TEAMS:
            assert other == team or f"secret of {other}" not in shown, (method, path, team, shown)
            assert other == team or f'"team":"{other}"' not in shown, (method, path, team, shown)
        if "ETag" in found.headers:
            self.tags.append(found.headers["ETag"])
        if found.is_success and found.content:
            self.cursors.append(found.json().get("next_cursor") or "")

    def _request(self, team: str) -> tuple[str, str, Any, dict[str, str]]:
        choose = self._random.choice
        known = choose(self.ids)
        self._made += 1
        new = {"task_id": f"{team}-{self._made}", "name": f"{team}-name-{self._made}"}
        new |= {"title": f"secret of {team}"}
        stolen = {"task_id": known, "name": choose(self.names), "title": f"secret of {team}"}
        conditions = {"If-Match": choose(self.tags)} if self._made % 2 else {}
        how = self._random.randrange(12)
        if how == 0:
            self.ids.append(new["task_id"])
            self.names.append(new["name"])
            return "POST", "/tasks", choose([new, stolen]), {}
        if how == 1:
            used = choose([f"k{self._made}", choose(self.keys)])
            self.keys.append(used)
            return "POST", "/once", choose([new, stolen]), {"Idempotency-Key": used}
        if how == 2:
            return "GET", f"/tasks?limit=1&cursor={choose(self.cursors)}", None, {}
        if how == 3:
            other = choose(TEAMS)
            return "GET", f"/tasks?limit=2&team={other}", None, {"X-Team": other}
        if how == 4:
            return "GET", f"/named/{choose(self.names)}", None, {}
        if how == 5:
            title = {"title": f"secret of {team}", "name": choose(self.names)}
            return "PATCH", f"/tasks/{known}", title, conditions
        if how == 6:
            return "DELETE", f"/tasks/{known}", None, conditions
        if how == 7:
            return "POST", "/tasks", new | {"team": choose(TEAMS)}, {}
        if how == 8:
            return "PUT", "/notes", {"note_id": known, "text": f"secret of {team}"}, {}
        if how == 9:
            return "GET", f"/notes/{known}", None, {"If-None-Match": choose(self.tags)}
        path = choose([f"/tasks/{known}", f"/tasks/{known}%2F..%2F{choose(self.ids)}"])
        method = choose(["GET", "HEAD"])
        return method, path, None, {"If-None-Match": choose(self.tags)}


@pytest.fixture
def events() -> list[RequestEvent]:
    return []


@pytest.fixture
def app(events: list[RequestEvent]) -> Iterator[FastAPI]:
    with Engine() as engine:
        yield application(engine, events)


@pytest.mark.slow
def test_no_response_contains_data_of_another_team(app: FastAPI, events: list[Any]) -> None:
    async def run() -> dict[int, int]:
        async with app.router.lifespan_context(app) as state:
            served = httpx2.ASGITransport(app=_with_state(app, state))
            async with httpx2.AsyncClient(transport=served, base_url="http://api") as client:
                fuzzer = Fuzzer(client, seed=33)
                for _ in range(REQUESTS):
                    await fuzzer.send()
                    events.clear()
                return fuzzer.statuses

    statuses = asyncio.run(run())
    assert {200, 201, 204, 404, 409, 412, 422} <= statuses.keys()


def _with_state(app: FastAPI, state: Any) -> Any:
    async def served(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"state": dict(state)}, receive, send)

    return served


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/tasks/{}", None),
        ("HEAD", "/tasks/{}", None),
        ("GET", "/named/{}", None),
        ("GET", "/notes/{}", None),
        ("PATCH", "/tasks/{}", {"title": "mine"}),
        ("DELETE", "/tasks/{}", None),
    ],
)
def test_what_another_team_has_is_as_if_it_did_not_exist(
    app: FastAPI, events: list[RequestEvent], method: str, path: str, body: Any
) -> None:
    """Also by the requests that are sent for it, on which the time depends."""
    with TestClient(app) as client:
        red = {"X-API-Key": "the key of team red"}
        task_ = {"task_id": "T1", "name": "T1", "title": "secret of red"}
        assert client.post("/tasks", json=task_, headers=red).status_code == 201
        client.put("/notes", json={"note_id": "T1", "text": "secret of red"}, headers=red)
        seen = []
        for known in ("T1", "T2"):
            events.clear()
            blue = {"X-API-Key": "the key of team blue", "X-Request-ID": "same"}
            found = client.request(method, path.format(known), json=body, headers=blue)
            sent = [(each.operation, each.units) for each in events]
            seen.append((found.status_code, dict(found.headers), found.text, sent))
        assert seen[0] == seen[1]
        assert seen[0][0] == 404
