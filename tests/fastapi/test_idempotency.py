"""Requests with an Idempotency-Key are applied once."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from fastapi import FastAPI, Header
from httpx2 import ASGITransport, AsyncClient

from tablewright import (
    Attr,
    Engine,
    Entity,
    Put,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    key,
    put,
    ttl,
    version,
)
from tablewright.client import ApiClient, ApiError
from tablewright.errors import AlreadyExists, DeclarationError, EndpointUnavailable
from tablewright.fastapi import create_app
from tablewright.observe import RequestEvent
from tablewright.plans import access_patterns
from tablewright.publish.iam.policies import grants
from tests.fastapi import till
from tests.fastapi.desk import TestClient
from tests.fastapi.till import Account, Answer, NewAccount, Till

ACCOUNT = {"number": "1", "owner": "ann", "cents": 5}
ACCOUNTS = "/banks/b/accounts"


def application(target: Any = ":memory:", **options: Any) -> FastAPI:
    return create_app(target, Till, patterns=access_patterns(Till), **options)


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(application()) as client:
        yield client


def send(client: TestClient, method: str, path: str, key: str, body: Any = None) -> Any:
    return client.request(method, path, json=body, headers={"Idempotency-Key": key})


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_a_replay_returns_the_first_response(client: TestClient) -> None:
    first = send(client, "POST", ACCOUNTS, "k1", ACCOUNT)
    assert (first.status_code, first.headers["Location"]) == (201, f"{ACCOUNTS}/1")
    send(client, "PATCH", f"{ACCOUNTS}/1", "k2", {"owner": "bob"})
    for key_ in ("k1", '"k1"'):
        again = send(client, "POST", ACCOUNTS, key_, ACCOUNT)
        assert (again.status_code, again.content) == (201, first.content)
        del again.headers["X-Request-ID"]
        assert again.headers.items() < first.headers.items()
    assert client.get(f"{ACCOUNTS}/1").json()["owner"] == "bob"
    assert code(send(client, "POST", ACCOUNTS, "k3", ACCOUNT)) == (409, "already_exists")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/banks/b/accounts", {"number": "3", "owner": "eve"}),
        ("PATCH", "/banks/b/accounts/1", {"owner": "bob"}),
        ("POST", "/banks/b/accounts/1/pay-in", {"cents": 7}),
        ("POST", "/pay", {"bank": "b", "number": "1", "to": "2", "cents": 3}),
        ("DELETE", "/banks/b/accounts/1", None),
        ("POST", "/banks/b/cards", {"bank": "b", "card": "2", "code": "y"}),
        ("POST", "/banks/b/cards/1/touch-card", {"code": "z"}),
        ("POST", "/banks/b/cards/9/touch-card", {"code": "z"}),
        ("DELETE", "/banks/b/cards/1", None),
    ],
)
def test_every_kind_of_write_is_applied_once_and_sends_what_it_states(
    method: str, path: str, body: Any
) -> None:
    sent: list[RequestEvent] = []
    app = application(observe=sent.append)
    with TestClient(app) as client:
        send(client, "POST", ACCOUNTS, "a", ACCOUNT)
        send(client, "POST", ACCOUNTS, "b", {"number": "2", "owner": "eve"})
        send(client, "POST", "/banks/b/cards", "c", {"bank": "b", "card": "1", "code": "x"})
        sent.clear()
        first = send(client, method, path, "k1", body)
        assert first.status_code < 300, first.text
        applied, after = list(sent), client.get(ACCOUNTS).json()
        sent.clear()
        again = send(client, method, path, "k1", body)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert [each.operation for each in sent] == ["GetItem"]
        assert client.get(ACCOUNTS).json() == after
    (stated,) = (
        operation["x-tablewright"]
        for each, operations in app.openapi()["paths"].items()
        for verb, operation in operations.items()
        if verb.upper() == method and _fits(each, path)
    )
    assert [(each.operation, each.table) for each in applied] == [
        (each["operation"], each["table"]) for each in stated["requests"]
    ]


def _fits(template: str, path: str) -> bool:
    parts = template.split("/"), path.split("/")
    return len(parts[0]) == len(parts[1]) and all(
        one.startswith("{") or one == other for one, other in zip(*parts, strict=True)
    )


def test_the_result_of_an_update_is_what_it_left(client: TestClient) -> None:
    send(client, "POST", ACCOUNTS, "a", ACCOUNT)
    send(client, "POST", ACCOUNTS, "b", {"number": "2", "owner": "eve"})
    done = send(client, "POST", f"{ACCOUNTS}/1/pay-in", "c", {"cents": 7})
    assert (done.json()["cents"], done.headers["ETag"]) == (12, '"2"')
    body = {"bank": "b", "number": "1", "to": "2", "cents": 3}
    assert [each["cents"] for each in send(client, "POST", "/pay", "d", body).json()] == [9, 3]
    assert code(send(client, "POST", "/pay", "e", body | {"cents": 10})) == (
        409,
        "condition_failed",
    )


def test_what_is_refused_can_be_sent_again(client: TestClient) -> None:
    body = {"cents": 7}
    path = f"{ACCOUNTS}/1/pay-in"
    assert code(send(client, "POST", path, "k", body)) == (404, "not_found")
    assert code(send(client, "DELETE", f"{ACCOUNTS}/1", "d")) == (404, "not_found")
    send(client, "POST", ACCOUNTS, "a", ACCOUNT)
    assert send(client, "POST", path, "k", body).json()["cents"] == 12
    headers = {"Idempotency-Key": "m", "If-Match": '"1"'}
    stale = client.post(path, json=body, headers=headers)
    assert code(stale) == (412, "precondition_failed")


def test_a_key_is_that_of_one_request(client: TestClient) -> None:
    send(client, "POST", ACCOUNTS, "k", ACCOUNT)
    for path, body in (
        (ACCOUNTS, ACCOUNT | {"cents": 6}),
        ("/pay", {"bank": "b", "number": "1", "to": "2", "cents": 1}),
    ):
        assert code(send(client, "POST", path, "k", body)) == (422, "idempotency_key_reused")
    assert send(client, "POST", "/banks/other/accounts", "k", ACCOUNT).status_code == 201
    assert client.get(f"{ACCOUNTS}/1").json()["cents"] == 5


@pytest.mark.parametrize("key_", ["", " ", "a b", "a" * 129, '"', "é"])
def test_a_key_that_is_none_is_refused(client: TestClient, key_: str) -> None:
    headers = {b"Idempotency-Key": key_.encode("latin-1")}
    refused = client.post(ACCOUNTS, json=ACCOUNT, headers=headers)
    assert code(refused) == (400, "idempotency_key_invalid")


def test_a_key_is_needed(client: TestClient) -> None:
    assert code(client.post(ACCOUNTS, json=ACCOUNT)) == (400, "idempotency_key_missing")
    operation = client.get("/openapi.json").json()["paths"]["/banks/{bank}/accounts"]["post"]
    (header,) = (each for each in operation["parameters"] if each["in"] == "header")
    assert (header["name"], header["required"]) == ("Idempotency-Key", True)


def test_a_request_that_is_being_answered_is_refused() -> None:
    async def both() -> list[Any]:
        app = application()
        async with app.router.lifespan_context(app) as state:
            transport = ASGITransport(app=_with_state(app, state))
            async with AsyncClient(transport=transport, base_url="http://t") as client:
                headers = {"Idempotency-Key": "k"}
                calls = [client.post(ACCOUNTS, json=ACCOUNT, headers=headers) for _ in range(2)]
                return list(await asyncio.gather(*calls))

    answers = sorted(asyncio.run(both()), key=lambda each: each.status_code)
    assert answers[0].status_code == 201
    if answers[1].status_code != 201:  # the first one may have ended before
        assert code(answers[1]) == (409, "request_in_progress")
        assert answers[1].headers["Retry-After"] == "1"


def _with_state(app: FastAPI, state: Any) -> Any:
    async def with_state(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"state": dict(state)}, receive, send)

    return with_state


def test_an_expired_record_is_replaced() -> None:
    engine = Engine(":memory:")
    with TestClient(application(engine)) as client, connect(engine, Till) as database:
        send(client, "POST", ACCOUNTS, "k", ACCOUNT)
        record = database.run(Answer.primary("b", "k"))
        assert record is not None
        record.expires_at = datetime.now(UTC) - timedelta(seconds=1)
        database.run(put(record))
        again = send(client, "POST", ACCOUNTS, "k", ACCOUNT | {"number": "2"})
        assert (again.status_code, again.json()["number"]) == (201, "2")
        assert (
            send(client, "POST", ACCOUNTS, "k", ACCOUNT | {"number": "2"}).json()["number"] == "2"
        )


def test_the_tenant_is_a_part_of_the_key() -> None:
    async def current_bank(x_bank: Annotated[str, Header()]) -> str:
        return x_bank

    patterns: list[Any] = [till.open_account, till.account]
    app = create_app(":memory:", Till, patterns=patterns, tenant={"bank": current_bank})
    with TestClient(app) as client:
        for bank in ("a", "b"):
            headers = {"X-Bank": bank, "Idempotency-Key": "k"}
            made = client.post("/accounts", json=ACCOUNT, headers=headers)
            assert (made.status_code, made.json()["bank"]) == (201, bank)


# -- processes that end --------------------------------------------------------------------------

SERVER = """
import os, signal, sys
import uvicorn
from tablewright.fastapi import create_app
from tablewright.plans import access_patterns
from tests.fastapi.till import Till

def end(event):
    if sys.argv[3] == "end" and event.operation == "TransactWriteItems":
        os.kill(os.getpid(), signal.SIGKILL)

app = create_app(sys.argv[1], Till, patterns=access_patterns(Till), observe=end)
uvicorn.run(app, fd=int(sys.argv[2]), log_level="error")
"""


def test_a_replay_after_a_kill_between_write_and_response(tmp_path: Path) -> None:
    file = tmp_path / "till.db"
    with connect(file, Till) as database:
        database.run(create(Account(bank="b", **ACCOUNT)))  # type: ignore[arg-type]

    def serve(how: str, listening: socket.socket) -> subprocess.Popen[bytes]:
        number = str(listening.fileno())
        command = [sys.executable, "-c", SERVER, str(file), number, how]
        return subprocess.Popen(command, pass_fds=[listening.fileno()])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}{ACCOUNTS}/1/pay-in"
        headers = {"Idempotency-Key": "k"}
        server = serve("end", listening)
        with pytest.raises(httpx2.TransportError):
            httpx2.post(url, json={"cents": 7}, headers=headers, timeout=60)
        assert server.wait() == -signal.SIGKILL
        server = serve("stay", listening)
        try:
            for _ in range(2):
                again = httpx2.post(url, json={"cents": 7}, headers=headers, timeout=60)
                assert (again.status_code, again.json()["cents"]) == (200, 12)
        finally:
            os.kill(server.pid, signal.SIGTERM)
            server.wait()
    with connect(file, Till) as database:
        stored = database.run(Account.primary("b", "1"))
    assert stored is not None
    assert (stored.cents, stored.version) == (12, 2)


# -- the client ----------------------------------------------------------------------------------


def test_the_client_sends_the_same_key_until_there_is_a_response() -> None:
    with TestClient(application()) as http:
        lost = 2

        class Losing(httpx2.Client):
            """Loses the first responses."""

            def request(self, *arguments: Any, **options: Any) -> Any:
                nonlocal lost
                response = http.request(*arguments, **options)
                lost -= 1
                if lost >= 0:
                    raise httpx2.ReadError("lost")
                return response

        with ApiClient("http://testserver", http=Losing()) as client:
            new = NewAccount(number="1", owner="ann")  # type: ignore[call-arg]
            made = client.call(till.open_account, "b", new)
            assert (made.version, lost) == (1, -1)
            with pytest.raises(AlreadyExists):
                client.call(till.open_account, "b", new)
            own = client.with_headers({"Idempotency-Key": "k"})
            own.call(till.pay_in, "b", "1", 1)
            with pytest.raises(ApiError, match="idempotency_key_reused"):
                own.call(till.pay_in, "b", "1", 2)
            lost = 9
            with pytest.raises(EndpointUnavailable):
                client.call(till.pay_in, "b", "1", 1)


# -- declarations --------------------------------------------------------------------------------


def test_the_policy_of_a_program_allows_the_record() -> None:
    shape = till_pattern("close_account").api_shape
    assert [each.operation for each in shape.requests] == [
        "GetItem",
        "GetItem",
        "TransactWriteItems",
    ]
    assert {each.operation for each in shape.requests[-1].steps} == {"Put", "Delete"}
    assert shape.units.startswith("2 read, 4 write (estimate)")
    allowed = {each.action for each in grants([till_pattern("close_account")])}
    assert allowed == {"GetItem", "PutItem", "DeleteItem"}


def till_pattern(name: str) -> Any:
    return next(each for each in access_patterns(Till) if each.name == name)


class Log(Table, name="log"): ...


class Line(Entity, table=Log):
    line: Attr[str] = attr()
    primary = key("LINE" / line, "LINE")


class Kept(Entity, table=Log):
    idempotency_key: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    primary = key("KEPT" / idempotency_key, "KEPT")


class Endless(Entity, table=Log):
    idempotency_key: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl()
    primary = key("ENDLESS" / idempotency_key, "ENDLESS")


class Numbered(Entity, table=Log):
    idempotency_key: Attr[int] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl(default_factory=till.in_a_day)
    primary = key("NUMBERED" / idempotency_key, "NUMBERED")


class Fixed(Entity, table=Log):
    idempotency_key: Attr[str] = attr()
    line: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl(default_factory=till.in_a_day)
    primary = key("FIXED" / line, "FIXED")


class Versioned(Entity, table=Log):
    idempotency_key: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl(default_factory=till.in_a_day)
    version: Attr[int] = version()
    primary = key("VERSIONED" / idempotency_key, "VERSIONED")


class Foreign(Entity, table=Log):
    idempotency_key: Attr[str] = attr()
    other: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl(default_factory=till.in_a_day)
    primary = key("FOREIGN" / other, "FOREIGN" / idempotency_key)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (Till, "must be an entity with the attributes idempotency_key, request, response"),
        (Answer, "it is in the table till, to which the pattern writes nothing"),
        (Kept, "declare when DynamoDB deletes one"),
        (Endless, "declare when DynamoDB deletes one"),
        (Numbered, "needs the attribute idempotency_key"),
        (Fixed, "idempotency_key must be a part of its primary key"),
        (Versioned, "declare it without version"),
        (Foreign, "its attribute other is no parameter of the pattern"),
    ],
)
def test_a_record_that_cannot_be_one_is_refused(record: Any, problem: str) -> None:
    with pytest.raises(DeclarationError, match=problem):

        @access_pattern(idempotency=record)
        def add(line: Line) -> Put[Line]:
            return put(line)


def test_a_pattern_without_one_transaction_is_refused() -> None:
    with pytest.raises(DeclarationError, match="must be in the same transaction as the write"):

        @access_pattern(idempotency=Answer)
        def read(bank: str) -> Query[Account]:
            return Account.primary.within(bank)
