"""The changes of a query, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Create,
    Delete,
    Engine,
    Entity,
    Get,
    Query,
    Table,
    Tenancy,
    Update,
    access_pattern,
    attr,
    create,
    index,
    key,
)
from tablewright.errors import DeclarationError
from tablewright.fastapi import ApiKeys, create_app
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf


class Queue(Table, name="queue", stream="NEW_AND_OLD_IMAGES"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    tenancy = Tenancy("team", write=("TEAM#{team}", "TEAM#{team}#*"))


class Job(Entity, table=Queue):
    team: Attr[str] = attr()
    job_id: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="new")
    secret: Attr[str] = attr(default="s3cret")
    primary = key("TEAM" / team, "JOB" / job_id)
    by_state = index(Queue.gsi1, "TEAM" / team / "STATE" / state, "JOB" / job_id)


@access_pattern(route="POST /jobs")
def add_job(team: str, job_id: int) -> Create[Job]:
    return create(Job(team=team, job_id=job_id))


@access_pattern
def job(team: str, job_id: int) -> Get[Job]:
    return Job.primary(team, job_id)


@access_pattern(route="POST /jobs/{job_id}/state")
def set_state(team: str, job_id: int, state: str) -> Update[Job]:
    return Job.primary(team, job_id).update(Job.state.set(state))


@access_pattern(route="DELETE /jobs/{job_id}")
def drop(team: str, job_id: int) -> Delete[Job]:
    return Job.primary(team, job_id).delete()


@access_pattern(route="GET /jobs/{state}")
def jobs(team: str, state: str) -> Query[Job]:
    return Job.by_state(team, state)


@access_pattern(route="GET /early/{before}")
def early_jobs(team: str, before: int) -> Query[Job]:
    return Job.primary.within(team).lt(before).filter(Job.state != "hidden")


KEYS = ApiKeys({f"the key of team {team}": {"team": team} for team in ("red", "blue")})
RED = {"X-API-Key": "the key of team red"}
BLUE = {"X-API-Key": "the key of team blue"}
FOLLOWED: Any = [jobs, early_jobs]


@pytest.fixture
def client() -> Iterator[TestClient]:
    patterns: Any = [add_job, set_state, drop]
    with Engine() as engine:
        app = create_app(
            engine,
            Queue,
            patterns=patterns,
            changes=FOLLOWED,
            tokens=KEYS,
            tenant={"team": KEYS.claim("team")},
            hidden=[Job.secret],
        )
        with TestClient(app) as client:
            yield client


def read(client: TestClient, path: str, last: str = "", **headers: str) -> tuple[list[Any], str]:
    """Return the events until now, each with its kind and its data, and the last id."""
    sent = (headers or RED) | ({"Last-Event-ID": last} if last else {})
    answer = client.get(f"/changes{path}?wait=false", headers=sent)
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8", answer.text
    found = []
    for block in answer.text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        last = lines.get("id", last)
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found, last


def test_an_item_is_created_updated_and_deleted_in_the_results(client: TestClient) -> None:
    _, start = read(client, "/jobs/new")
    client.post("/jobs", json={"job_id": 1}, headers=RED)
    client.post("/jobs/1/state", json={"state": "done"}, headers=RED)
    client.post("/jobs", json={"job_id": 2}, headers=RED)
    client.delete("/jobs/2", headers=RED)
    events, after = read(client, "/jobs/new", start)
    shown = {"team": "red", "job_id": 1, "state": "new"}
    assert events == [
        ("created", shown),
        ("deleted", shown),
        ("created", shown | {"job_id": 2}),
        ("deleted", shown | {"job_id": 2}),
    ]
    assert read(client, "/jobs/new", after)[0] == []
    assert [kind for kind, _ in read(client, "/jobs/done", start)[0]] == ["created"]


def test_a_range_and_a_filter_say_what_is_a_result(client: TestClient) -> None:
    _, start = read(client, "/early/5")
    for number in 4, 5:
        client.post("/jobs", json={"job_id": number}, headers=RED)
    client.post("/jobs/4/state", json={"state": "open"}, headers=RED)
    client.post("/jobs/4/state", json={"state": "hidden"}, headers=RED)
    events, _ = read(client, "/early/5", start)
    assert [(kind, data["job_id"]) for kind, data in events] == [
        ("created", 4),
        ("updated", 4),
        ("deleted", 4),
    ]


def test_a_team_sees_no_change_of_another(client: TestClient) -> None:
    _, start = read(client, "/jobs/new")
    client.post("/jobs", json={"job_id": 1}, headers=RED)
    assert read(client, "/jobs/new", start, **BLUE)[0] == []
    assert client.get("/changes/jobs/new?wait=false").status_code == 401


@pytest.mark.parametrize("last", ["?", "bm90aGluZw==", "{}"])
def test_an_id_that_is_none_is_refused(client: TestClient, last: str) -> None:
    headers = RED | {"Last-Event-ID": last}
    answer = client.get("/changes/jobs/new?wait=false", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")


def test_a_client_that_waits_gets_changes_as_they_happen() -> None:
    async def follow() -> list[str]:
        with Engine() as engine:
            patterns: Any = [add_job]
            app = create_app(engine, Queue, patterns=patterns, changes=FOLLOWED)
            gone, sent = asyncio.Event(), []
            async with app.router.lifespan_context(app) as opened:
                state = dict(opened or {})
                database = state["tablewright_database"]

                async def receive() -> Any:
                    await gone.wait()
                    return {"type": "http.disconnect"}

                async def send(message: Any) -> None:
                    body = message.get("body", b"").decode()
                    if message["type"] == "http.response.start":
                        await database.run(create(Job(team="red", job_id=7)))
                    elif "created" in body:
                        sent.append(body)
                        gone.set()

                scope: dict[str, Any] = {
                    "type": "http",
                    "method": "GET",
                    "path": "/changes/jobs/new",
                }
                scope |= {"headers": [], "query_string": b"team=red", "state": state}
                await asyncio.wait_for(app(scope, receive, send), timeout=30)
            return sent

    (event,) = asyncio.run(follow())
    assert '"job_id":7' in event


def test_the_document_has_the_events() -> None:
    app = create_app(":memory:", Queue, patterns=[], changes=FOLLOWED)
    operation = app.openapi()["paths"]["/changes/jobs/{state}"]["get"]
    assert operation["operationId"] == "jobs_changes"
    assert list(operation["responses"]["200"]["content"]) == ["text/event-stream"]


def test_what_has_no_changes_is_refused() -> None:
    with pytest.raises(DeclarationError, match="takes queries that return one entity"):
        create_app(":memory:", Queue, patterns=[], changes=[job])
    with pytest.raises(DeclarationError, match="declare stream='NEW_AND_OLD_IMAGES'"):
        create_app(":memory:", Shelf, patterns=[], changes=[shelf.loans])


def test_after_a_day_a_client_must_read_the_results_again() -> None:
    patterns: Any = [add_job]
    with Engine() as engine:
        app = create_app(engine, Queue, patterns=patterns, changes=FOLLOWED)
        with TestClient(app) as client:
            client.post("/jobs", json={"team": "red", "job_id": 1})
            path = "/changes/jobs/new?wait=false&team=red"
            last = client.get(path).text.removeprefix("id: ").strip()
            client.post("/jobs", json={"team": "red", "job_id": 2})
            engine.rotate_shards("queue")
            engine.trim(datetime.now(UTC).timestamp() + 25 * 60 * 60)
            events = client.get(path, headers={"Last-Event-ID": last}).text.split("\n\n")
            assert events[0] == "event: reset\ndata: {}"
            now = events[1].removeprefix("id: ")
            client.post("/jobs", json={"team": "red", "job_id": 3})
            assert '"job_id":3' in client.get(path, headers={"Last-Event-ID": now}).text


def test_a_feed_says_which_methods_it_has(client: TestClient) -> None:
    for method, status in (("OPTIONS", 204), ("HEAD", 405), ("POST", 405)):
        answer = client.request(method, "/changes/jobs/new")
        assert (answer.status_code, answer.headers["Allow"]) == (status, "GET, OPTIONS")
