"""Exceptions as problem details, which reveal no keys and no stored values."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException
from fastapi.responses import PlainTextResponse
from httpx2 import Response

from tablewright import Engine
from tablewright.client import _ERRORS as CLIENT_ERRORS
from tablewright.errors import (
    Contention,
    EndpointUnavailable,
    IndexNotReady,
    InvalidValue,
    ProvisionedThroughputExceededException,
    ServiceUnavailable,
    StoreBusy,
    TablewrightError,
    ThrottlingException,
    UniqueNotReady,
    UnreadableItem,
    ValidationException,
    WriteRejected,
)
from tablewright.fastapi import Problem, add_exception_handlers
from tablewright.server import serving
from tests.fastapi.desk import TestClient, application

#: What no body may contain: the keys of the table and its values.
SECRETS = ("ORG#", "ISSUE#", "EMAIL#", "PK", "GSI1", "acme", "globex", "ann@example.com", "leak")


def problem_of(response: Response) -> dict[str, Any]:
    """Return the problem of a response, after the checks that hold for each one."""
    assert response.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    problem = Problem.model_validate(body)
    assert problem.type == "about:blank"
    assert problem.status == response.status_code
    for secret in SECRETS:
        assert secret not in response.text
    return body


def post(client: TestClient, number: int = 1) -> None:
    client.post("/issues", json={"number": number, "title": "leak"}).raise_for_status()


def test_a_missing_item_is_404(client: TestClient) -> None:
    body = problem_of(client.get("/issues/7"))
    assert body == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "code": "not_found",
        "detail": "It does not exist.",
    }
    body = problem_of(client.patch("/issues/7", json={"title": "x"}))
    assert (body["status"], body["code"]) == (404, "not_found")
    assert body["detail"] == "The Issue does not exist."
    assert problem_of(client.delete("/issues/7"))["status"] == 404


def test_data_of_another_tenant_is_404(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    body = problem_of(client.get("/other/issues/1"))
    assert body == problem_of(client.get("/issues/1"))
    assert "TenantViolation" in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


def test_an_item_that_exists_is_409(client: TestClient) -> None:
    post(client)
    body = problem_of(client.post("/issues", json={"number": 1, "title": "again"}))
    assert (body["status"], body["code"]) == (409, "already_exists")
    assert body["detail"] == "The Issue already exists."


def test_a_value_that_is_not_unique_is_409(client: TestClient) -> None:
    member = {"org_id": "acme", "member_id": "M1", "email": "ann@example.com"}
    client.post("/members", json=member)
    body = problem_of(client.post("/members", json=member | {"member_id": "M2"}))
    assert (body["status"], body["code"]) == (409, "unique_violation")
    assert body["detail"] == "Another Member has the same email."


def test_a_false_condition_is_409(client: TestClient) -> None:
    post(client)
    client.post("/issues/1/close").raise_for_status()
    body = problem_of(client.post("/issues/1/close"))
    assert (body["status"], body["code"]) == (409, "condition_failed")


@pytest.mark.parametrize("kind", WriteRejected.__subclasses__())
def test_every_rejected_write_is_a_problem_with_a_code(kind: type[WriteRejected]) -> None:
    app = FastAPI()
    add_exception_handlers(app)

    @app.get("/")
    def reject() -> None:
        raise kind("leak", entity="Issue", key={}, current=None)

    with TestClient(app) as client:
        body = problem_of(client.get("/"))
    assert body["status"] in (404, 409)
    assert kind in CLIENT_ERRORS[body["code"]].__mro__


def test_another_version_is_412(client: TestClient) -> None:
    post(client)
    client.patch("/issues/1", json={"title": "x"}).raise_for_status()
    stale = client.patch("/issues/1", json={"title": "y"}, headers={"If-Match": '"1"'})
    body = problem_of(stale)
    assert (body["status"], body["code"]) == (412, "precondition_failed")
    assert body["detail"] == "The Issue has been changed since this version was read."


def test_a_value_that_does_not_fit_a_key_is_422(client: TestClient) -> None:
    body = problem_of(client.get("/issues/1000"))
    assert (body["status"], body["code"]) == (422, "invalid_value")
    assert body["errors"] == [
        {"loc": ["number"], "msg": "A value is not valid.", "type": "invalid_value"}
    ]


def test_a_wrong_cursor_is_422(client: TestClient) -> None:
    for number in 1, 2:
        post(client, number)
    cursor = client.get("/issues", params={"limit": 1}).json()["next_cursor"]
    other = {"X-Org": "globex"}
    for params, headers in (({"cursor": "x"}, {}), ({"cursor": cursor}, other)):
        body = problem_of(client.get("/issues", params=params, headers=headers))
        assert (body["status"], body["code"]) == (422, "invalid_cursor")


def test_a_request_that_is_not_valid_is_422_with_its_fields(client: TestClient) -> None:
    body = problem_of(client.post("/issues", json={"number": "x", "titel": "leak"}))
    assert (body["status"], body["code"]) == (422, "invalid_request")
    assert [error["loc"] for error in body["errors"]] == [
        ["body", "number"],
        ["body", "title"],
        ["body", "titel"],
    ]
    assert all(set(error) == {"loc", "msg", "type"} for error in body["errors"])


def test_an_unknown_path_and_a_wrong_method_are_problems_too(client: TestClient) -> None:
    assert problem_of(client.get("/nothing"))["code"] == "no_such_route"
    wrong = client.put("/issues")
    assert problem_of(wrong)["code"] == "method_not_allowed"
    assert wrong.headers["Allow"]


def raising(error: Exception) -> TestClient:
    """Return the client of an application that raises an error."""
    app = FastAPI()
    add_exception_handlers(app)

    @app.get("/")
    async def fail() -> None:
        raise error

    return TestClient(app, raise_server_exceptions=False)


def test_a_value_that_dynamodb_refuses_is_422() -> None:
    body = problem_of(raising(ValidationException("the key PK acme is empty")).get("/"))
    assert (body["status"], body["code"], body["detail"]) == (
        422,
        "invalid_value",
        "A value is not valid.",
    )


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ThrottlingException("for PK acme"), 429, "throttled"),
        (ProvisionedThroughputExceededException("for PK acme"), 429, "throttled"),
        (Contention("update Issue acme"), 503, "contention"),
        (EndpointUnavailable("http://acme"), 503, "unavailable"),
        (IndexNotReady("acme"), 503, "unavailable"),
        (UniqueNotReady("acme"), 503, "unavailable"),
        (ServiceUnavailable("acme"), 503, "unavailable"),
        (StoreBusy("acme.db"), 503, "unavailable"),
    ],
)
def test_what_can_be_retried_says_when(error: TablewrightError, status: int, code: str) -> None:
    response = raising(error).get("/")
    assert (response.status_code, problem_of(response)["code"]) == (status, code)
    assert response.headers["Retry-After"] == "1"


def test_a_write_that_may_have_been_applied_says_so() -> None:
    error = EndpointUnavailable("http://acme")
    error.maybe_applied = True
    detail = problem_of(raising(error).get("/"))["detail"]
    assert detail.endswith("retry later. It may have been applied.")


def test_unexpected_errors_are_500_without_their_text() -> None:
    for error in (UnreadableItem("PK acme"), ZeroDivisionError("acme")):
        body = problem_of(raising(error).get("/"))
        assert (body["status"], body["code"]) == (500, "internal_server_error")


def test_an_invalid_value_without_an_attribute_has_no_field() -> None:
    assert "errors" not in problem_of(raising(InvalidValue("acme")).get("/"))


@pytest.mark.parametrize("status", [418, 499, 599])
def test_an_http_exception_keeps_its_status_its_detail_and_its_headers(status: int) -> None:
    error = HTTPException(status, "short and stout", headers={"X-Pot": "tea"})
    response = raising(error).get("/")
    assert response.headers["X-Pot"] == "tea"
    assert problem_of(response)["detail"] == "short and stout"


def test_a_dict_as_the_detail_of_an_http_exception_adds_members() -> None:
    own = {"code": "quota_exceeded", "detail": "No more than 5.", "quota": 5}
    body = problem_of(raising(HTTPException(409, own)).get("/"))
    assert body == {"type": "about:blank", "title": "Conflict", "status": 409, **own}
    assert problem_of(raising(HTTPException(409, {"quota": 5})).get("/"))["detail"] == "Conflict"


def test_an_endpoint_that_is_gone_is_503() -> None:
    engine = Engine()
    with serving(engine) as url:
        app = application(url, create=True)
        client = TestClient(app, headers={"X-Org": "acme"})
        client.__enter__()
    try:
        response = client.get("/issues/1")
        assert problem_of(response)["code"] == "unavailable"
    finally:
        client.__exit__(None, None, None)
        engine.close()


def test_a_handler_of_the_application_takes_precedence() -> None:
    app = application(":memory:")

    @app.exception_handler(InvalidValue)
    async def teapot(*_: Any) -> PlainTextResponse:
        return PlainTextResponse("teapot", 418)

    with TestClient(app, headers={"X-Org": "acme"}) as client:
        assert client.get("/issues/1000").text == "teapot"
