"""Limits of bodies, ids of requests, and requests of other origins."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from tablewright.fastapi import create_app
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf

BOOKS = "/libraries/L1/books"


@pytest.fixture(scope="module")
def app() -> FastAPI:
    app = create_app(
        ":memory:",
        Shelf,
        patterns=[shelf.add_book, shelf.book],
        max_body=100,
        cors_origins=["https://shop.example"],
    )

    @app.get("/broken")
    async def broken() -> None:
        raise LookupError

    return app


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_a_large_body_is_refused_before_it_is_read(client: TestClient) -> None:
    assert client.post(BOOKS, json={"isbn": "1", "title": "x" * 50}).status_code == 201
    large = client.post(BOOKS, json={"isbn": "2", "title": "x" * 100})
    assert (large.status_code, large.json()["code"]) == (413, "content_too_large")
    assert large.headers["Content-Type"] == "application/problem+json"


def test_a_large_body_of_unknown_length_is_refused(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"isbn": "3", "title": "'
        for _ in range(10):
            yield b"x" * 20
        yield b'"}'

    large = client.post(BOOKS, content=pieces(), headers={"Content-Type": "application/json"})
    assert (large.status_code, large.json()["code"]) == (413, "content_too_large")
    assert client.get(f"{BOOKS}/3").status_code == 404


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [("a-1", True), ("0" * 128, True), ("", False), ("0" * 129, False), ("a b", False)],
)
def test_a_response_has_the_id_of_its_request(client: TestClient, sent: str, is_kept: bool) -> None:
    answer = client.get(f"{BOOKS}/1", headers={"X-Request-ID": sent})
    found = answer.headers["X-Request-ID"]
    assert (found == sent) is is_kept
    assert len(found) >= 3


def test_each_request_gets_an_id_of_its_own(client: TestClient) -> None:
    ids = {client.get("/health/live").headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3


def test_the_log_has_the_id_also_of_an_unexpected_error(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tablewright.fastapi")
    client.post(BOOKS, json={"isbn": "1", "title": "x"})
    client.post(BOOKS, json={"isbn": "1", "title": "x"}, headers={"X-Request-ID": "first"})
    broken = client.get("/broken", headers={"X-Request-ID": "second"})
    assert (broken.status_code, broken.headers["X-Request-ID"]) == (500, "second")
    refused, unexpected = caplog.messages
    assert refused.startswith(f"POST {BOOKS} [first]: AlreadyExists")
    assert unexpected == "GET /broken [second]: unexpected error"


def test_a_script_of_another_origin_reads_the_headers(client: TestClient) -> None:
    origin = {"Origin": "https://shop.example"}
    asked = {"Access-Control-Request-Method": "POST"}
    before = client.options(BOOKS, headers=origin | asked)
    assert "POST" in before.headers["Access-Control-Allow-Methods"]
    answer = client.post(BOOKS, json={"isbn": "2", "title": "x" * 100}, headers=origin)
    assert answer.status_code == 413
    exposed = answer.headers["Access-Control-Expose-Headers"]
    assert exposed == "ETag, Link, Location, Retry-After, X-Request-ID"
    other = client.get(f"{BOOKS}/1", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in other.headers
