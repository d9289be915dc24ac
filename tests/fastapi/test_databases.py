"""The lifespan and the dependencies."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi import FastAPI, Request

from tablewright import Engine, connect, connect_async, create
from tablewright.errors import InvalidValue, StoreClosed
from tablewright.fastapi import DatabaseDep, get_database, lifespan, tenant_database
from tablewright.server import serving
from tests.fastapi.desk import Desk, Issue, Member, TestClient, application


def test_the_database_is_open_while_the_application_runs(tmp_path: Path) -> None:
    app = application(tmp_path / "desk.db")
    for number in 1, 2:  # the application can start again
        with TestClient(app, headers={"X-Org": "acme"}) as client:
            client.post("/issues", json={"number": number, "title": "leak"})
            assert len(client.get("/issues").json()["items"]) == number
    with connect(tmp_path / "desk.db", Desk) as db:
        assert len(db.run(Issue.primary.within("acme"))) == 2


def test_the_database_is_closed_at_the_end() -> None:
    app = FastAPI(lifespan=lifespan(":memory:", Desk))
    databases: list[Any] = []

    @app.get("/")
    async def remember(db: DatabaseDep) -> None:
        databases.append(db)

    with TestClient(app) as client:
        client.get("/")
    with pytest.raises(StoreClosed):
        asyncio.run(databases[0].run(Issue.primary("acme", 1)))


def test_a_request_without_a_lifespan_says_what_is_missing() -> None:
    client = TestClient(application(":memory:"), headers={"X-Org": "acme"})
    with pytest.raises(RuntimeError, match=r"no database is open.*with TestClient\(app\)"):
        client.get("/issues")


def test_a_lifespan_can_be_part_of_another_one() -> None:
    @asynccontextmanager
    async def whole(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        async with lifespan(":memory:", Desk)(app) as state:
            yield {**state, "name": "desk"}

    app = FastAPI(lifespan=whole)

    @app.get("/")
    async def both(request: Request, db: DatabaseDep) -> list[str]:
        return [request.state.name, repr(db)]

    with TestClient(app) as client:
        assert client.get("/").json() == ["desk", "AsyncDatabase(desk)"]


def test_a_mounted_application_has_the_database_too() -> None:
    outer = FastAPI(lifespan=lifespan(":memory:", Desk))
    outer.mount("/desk", application(":memory:"))
    with TestClient(outer, headers={"X-Org": "acme"}) as client:
        assert client.get("/desk/issues").json() == {"items": [], "next_cursor": None}


def test_a_test_can_override_the_database() -> None:
    app = application("no-such-directory/desk.db")
    with Engine() as engine:
        database = asyncio.run(connect_async(engine, Desk))
        app.dependency_overrides[get_database] = lambda: database
        client = TestClient(app, headers={"X-Org": "acme"})
        assert client.get("/issues").status_code == 200


def test_endpoints_without_await_use_the_same_database(client: TestClient) -> None:
    member = {"org_id": "acme", "member_id": "M1", "email": "ann@example.com"}
    assert client.post("/members", json=member).json() == member
    assert client.get("/members/ANN@example.com").json() == member
    assert client.get("/members/bob@example.com").status_code == 404


def test_a_tenant_sees_only_its_own_data(client: TestClient) -> None:
    assert client.post("/issues", json={"number": 1, "title": "leak"}).status_code == 201
    other = {"X-Org": "globex"}
    assert client.get("/issues", headers=other).json()["items"] == []
    assert client.get("/issues/by-status/open", headers=other).json()["items"] == []
    assert client.get("/issues/1", headers=other).status_code == 404
    assert len(client.get("/issues/by-status/open").json()["items"]) == 1


def test_the_application_works_on_an_endpoint() -> None:
    with Engine() as engine, serving(engine) as url:
        with TestClient(application(url, create=True), headers={"X-Org": "acme"}) as client:
            created = client.post("/issues", json={"number": 1, "title": "leak"})
            assert created.status_code == 201
            edited = client.patch("/issues/1", json={"title": "x"}, headers={"If-Match": '"1"'})
            assert (edited.status_code, edited.headers["ETag"]) == (200, '"2"')
            stale = client.patch("/issues/1", json={"title": "y"}, headers={"If-Match": '"1"'})
            assert stale.status_code == 412
            assert client.get("/members/ann@example.com").status_code == 404
        with connect(engine, Desk) as db:
            issue = db.run(Issue.primary("acme", 1))
            assert issue is not None
            assert issue.title == "x"
            db.run(create(Member(org_id="acme", member_id="1", email="ann@example.com")))


def test_a_tenant_dependency_takes_one_name() -> None:
    with pytest.raises(InvalidValue, match="takes one dependency"):
        tenant_database()


def test_the_package_without_fastapi_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "try: import tablewright.fastapi\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'tablewright[fastapi]'" in done.stdout


WARNING = "cursors are valid in no other one: set TABLEWRIGHT_CURSOR_SECRET"


@pytest.mark.parametrize(
    ("workers", "secret", "options", "is_warned"),
    [
        (None, None, {}, False),
        ("1", None, {}, False),
        ("2", None, {}, True),
        ("2", "", {}, True),
        ("2", "shared", {}, False),
        ("2", None, {"cursor_secret": "shared"}, False),
    ],
)
def test_one_of_several_workers_without_a_shared_secret_is_warned(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    workers: str | None,
    secret: str | None,
    options: dict[str, str],
    is_warned: bool,
) -> None:
    for name, value in (("WEB_CONCURRENCY", workers), ("TABLEWRIGHT_CURSOR_SECRET", secret)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    with TestClient(application(":memory:", **options)):
        assert (WARNING in caplog.text) == is_warned


def _start() -> None:
    with TestClient(application(":memory:")):
        pass


@pytest.mark.slow
def test_a_worker_process_of_multiprocessing_is_warned(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As those that `uvicorn --workers 2` starts."""
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    monkeypatch.delenv("TABLEWRIGHT_CURSOR_SECRET", raising=False)
    worker = get_context("spawn").Process(target=_start)
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    assert WARNING in capfd.readouterr().err


def test_the_environment_gives_the_secret_that_workers_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_CURSOR_SECRET", "shared")
    headers = {"X-Org": "acme"}
    with TemporaryDirectory() as folder:
        target = f"{folder}/desk.db"
        with TestClient(application(target), headers=headers) as one:
            for number in (1, 2):
                one.post("/issues", json={"number": number, "title": "x"}).raise_for_status()
            cursor = one.get("/issues", params={"limit": 1}).json()["next_cursor"]
        monkeypatch.setattr(
            "tablewright.model.databases.connecting._PROCESS_SECRET", b"of another process"
        )
        with TestClient(application(target), headers=headers) as other:
            rest = other.get("/issues", params={"cursor": cursor}).json()
    assert [issue["number"] for issue in rest["items"]] == [2]
