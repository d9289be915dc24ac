"""The client of an HTTP API: calls of patterns, as typed as the patterns are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tablewright.client import ApiClient, ApiError, AsyncApiClient
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    EndpointUnavailable,
    InvalidCursor,
    InvalidValue,
    NotFound,
    ThrottlingException,
    VersionConflict,
)
from tablewright.fastapi import add_exception_handlers, create_app, lifespan, pattern_router
from tablewright.fastapi.application import Pattern
from tablewright.model.route import default_route
from tablewright.plans import access_patterns
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Book, BookPatch, Loan, NewBook, Shelf, State
from tests.fastapi.test_application import current_library


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app(":memory:", Shelf, patterns=access_patterns(Shelf))


@pytest.fixture
def client(app: FastAPI) -> Iterator[ApiClient]:
    with TestClient(app) as http:
        client = ApiClient("http://testserver", http=http)
        client.call(shelf.add_book, "L1", NewBook(isbn="a/b #1", title="Emma"))  # type: ignore[call-arg]
        yield client


def loan(day: int) -> Loan:
    return Loan(library="L1", isbn="a/b #1", day=date(2026, 1, day), reader="ann")


def test_a_call_returns_what_the_plan_would(client: ApiClient) -> None:
    book = client.call(shelf.book, "L1", "a b")
    assert book is None
    first = client.call(shelf.first_book, "L1", state=State.IN)
    assert isinstance(first, Book)
    assert (first.isbn, first.version) == ("a/b #1", 1)
    assert client.call(shelf.count_books, "L1", State.IN) == 1
    put = client.call(shelf.put_loan, loan(1))
    assert (type(put), put.day) == (Loan, date(2026, 1, 1))


def test_every_page_is_iterated(client: ApiClient) -> None:
    client.call(shelf.add_loans, [loan(day) for day in range(1, 26)])
    other = [each.day.day for each in client.iterate(shelf.loans_of, "L1", "ann")]
    assert other == list(range(1, 26))
    page = client.call(shelf.loans_of, "L1", "ann")
    assert (len(page), page.next_cursor is None) == (20, False)


def test_a_call_returns_the_values_before_a_write(client: ApiClient) -> None:
    client.call(shelf.add_book, "L1", NewBook(isbn="1", title="Emma"))  # type: ignore[call-arg]
    changed = loan(1)
    changed.reader = "ben"

    assert client.call(shelf.exchange_loan, loan(1)) is None
    assert client.call(shelf.exchange_loan, changed) == loan(1)
    of_first = client.with_headers({"If-Match": '"1"'})
    assert of_first.call(shelf.retitle, "L1", "1", "Persuasion").title == "Emma"
    with pytest.raises(VersionConflict):
        of_first.call(shelf.retitle, "L1", "1", "Emma")
    with pytest.raises(NotFound):
        client.call(shelf.retitle, "L1", "9", "Persuasion")


def test_the_values_before_a_write_do_not_change_its_route() -> None:
    patterns = {each.name: each for each in access_patterns(Shelf)}
    assert default_route(patterns["exchange_loan"]) == default_route(patterns["put_loan"])


def test_errors_are_those_of_a_database(client: ApiClient) -> None:
    patch = BookPatch(title="…")  # type: ignore[call-arg]
    new = NewBook(isbn="a/b #1", title="Emma")  # type: ignore[call-arg]
    client.call(shelf.lend, "L1", "a/b #1", "ann", date(2026, 1, 1))
    cases: list[tuple[type[Exception], Callable[[], object]]] = [
        (AlreadyExists, lambda: client.call(shelf.add_book, "L1", new)),
        (NotFound, lambda: client.call(shelf.edit_book, "L1", "2", patch)),
        (NotFound, lambda: client.call(shelf.lend, "L1", "2", "ann", date(2026, 1, 1))),
        (ConditionFailed, lambda: client.call(shelf.lend, "L1", "a/b #1", "ben", date(2026, 1, 2))),
        (TypeError, lambda: client.call(shelf.book, "L1")),  # type: ignore[call-arg]
    ]
    for kind, call in cases:
        with pytest.raises(kind):
            call()
    assert client.call(shelf.remove_book, "L1", "2") is None


def test_what_is_not_valid_is_named(client: ApiClient) -> None:
    members = {"code": "invalid_request", "detail": "The request is not valid."}
    wrong = {"loc": ["body", "isbn"], "msg": "Field required", "type": "missing"}
    answers = Answers(httpx2.Response(422, json=members | {"errors": [wrong]}))
    with pytest.raises(InvalidValue, match=r"not valid\. body\.isbn: Field required\."):
        answers.client().call(shelf.put_loan, loan(1))


def test_a_call_takes_headers(client: ApiClient) -> None:
    patch = BookPatch(title="A new one")  # type: ignore[call-arg]
    client.call(shelf.add_book, "L1", NewBook(isbn="2", title="Emma"))  # type: ignore[call-arg]
    of_first = client.with_headers({"If-Match": '"1"'})
    assert of_first.call(shelf.edit_book, "L1", "2", patch).version == 2
    with pytest.raises(VersionConflict):
        of_first.call(shelf.edit_book, "L1", "2", patch)


def test_the_tenant_is_not_sent() -> None:
    patterns: list[Pattern] = [shelf.add_book, shelf.first_book, shelf.loans_of]
    app = FastAPI(lifespan=lifespan(":memory:", Shelf))
    add_exception_handlers(app)
    app.include_router(pattern_router(patterns, tenant={"library": current_library}))
    with TestClient(app) as http:
        token = {"X-Library": "L1"}
        client = ApiClient("http://testserver", headers=token, given=("library",), http=http)
        client.call(shelf.add_book, "L2", NewBook(isbn="1", title="Emma"))  # type: ignore[call-arg]
        found = client.call(shelf.first_book, "L2", State.IN)
        assert found is not None
        assert found.library == "L1"


def test_calls_in_an_event_loop(app: FastAPI) -> None:
    async def call() -> list[str]:
        async with lifespan(":memory:", Shelf)(app) as state:

            async def with_state(scope: dict[str, object], receive: object, send: object) -> None:
                await app({**scope, "state": dict(state)}, receive, send)  # type: ignore[arg-type]

            transport = httpx2.ASGITransport(app=with_state)  # type: ignore[arg-type]
            http = httpx2.AsyncClient(transport=transport)
            async with AsyncApiClient("http://testserver", http=http) as client:
                await client.call(shelf.add_loans, [loan(day) for day in range(1, 26)])
                assert await client.call(shelf.book, "L1", "1") is None
                return [each.reader async for each in client.iterate(shelf.loans_of, "L1", "ann")]

    assert asyncio.run(call()) == ["ann"] * 25


# -- failures --------------------------------------------------------------------------------------


class Answers:
    """A server that gives these answers in turn; None is a connection that breaks."""

    def __init__(self, *answers: httpx2.Response | None) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if answer is None:
            raise httpx2.ReadError("the connection was closed", request=request)
        return answer

    def client(self, attempts: int = 3) -> ApiClient:
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return ApiClient("http://server", http=http, attempts=attempts)


def problem(status: int, code: str) -> httpx2.Response:
    members = {"status": status, "code": code, "detail": "Later."}
    return httpx2.Response(status, json=members, headers={"Retry-After": "0"})


def test_a_read_is_repeated() -> None:
    found = httpx2.Response(200, json=7)
    answers = Answers(None, problem(503, "unavailable"), found)
    assert answers.client().call(shelf.count_books, "L1", State.IN) == 7
    assert len(answers.requests) == 3


def test_a_write_is_repeated_only_if_it_was_not_done() -> None:
    made = httpx2.Response(200, json=[])
    refused = Answers(problem(429, "throttled"), made)
    assert refused.client().call(shelf.add_loans, []) == ()
    unsure = Answers(None, made)
    with pytest.raises(EndpointUnavailable) as lost:
        unsure.client().call(shelf.add_loans, [])
    assert (lost.value.maybe_applied, lost.value.attempts) == (True, 1)
    assert len(unsure.requests) == 1


def test_attempts_end() -> None:
    answers = Answers(*[problem(429, "throttled")] * 2)
    with pytest.raises(ThrottlingException) as refused:
        answers.client(attempts=2).call(shelf.count_books, "L1", State.IN)
    assert refused.value.attempts == 2


def test_other_problems_are_api_errors() -> None:
    for answer, status, code in (
        (problem(401, "unauthorized"), 401, "unauthorized"),
        (httpx2.Response(502, text="<html>"), 502, ""),
        (httpx2.Response(400, json=["?"]), 400, ""),
    ):
        with pytest.raises(ApiError) as refused:
            Answers(answer).client().call(shelf.count_books, "L1", State.IN)
        assert (refused.value.status, refused.value.code) == (status, code)


def test_a_function_that_is_no_pattern_is_refused() -> None:
    with pytest.raises(Exception, match="decorate it with @access_pattern"):
        Answers().client().call(len, [])  # type: ignore[arg-type]


def test_a_cursor_of_another_query_is_invalid() -> None:
    with pytest.raises(InvalidCursor):
        Answers(problem(422, "invalid_cursor")).client().call(shelf.loans_of, "L1", "ann")


def test_a_wrong_address_is_no_missing_item(client: ApiClient) -> None:
    wrong = ApiClient("http://testserver/v2", http=client._http)
    calls: list[Callable[[], Any]] = [
        lambda: wrong.call(shelf.book, "L1", "a"),
        lambda: wrong.call(shelf.remove_book, "L1", "a"),
        lambda: list(wrong.iterate(shelf.loans, "L1", "a")),
    ]
    for call in calls:
        with pytest.raises(ApiError, match="404 no_such_route: The API has no operation"):
            call()


def test_a_client_refuses_what_is_no_address_and_no_names() -> None:
    with pytest.raises(InvalidValue, match="is not the URL of an API, such as https://127"):
        ApiClient("127.0.0.1:8000")
    with pytest.raises(InvalidValue, match=r"must be a collection of names: \('library',\)"):
        ApiClient("http://127.0.0.1:8000", given="library")
