"""The OpenAPI schema says what the application does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from tablewright.designs.catalog import load
from tablewright.fastapi import Problem, add_exception_handlers, create_app
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient, application
from tests.fastapi.shelf import Book, Shelf


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    app = application(":memory:")
    schema = app.openapi()
    assert app.openapi() is schema
    return schema


def test_every_operation_has_problem_details(schema: dict[str, Any]) -> None:
    problem = schema["components"]["responses"]["Problem"]
    assert problem["content"] == {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
    }
    assert set(schema["components"]["schemas"]["Problem"]["properties"]) == set(
        Problem.model_fields
    )
    for path in schema["paths"].values():
        for operation in path.values():
            assert operation["responses"]["default"] == {"$ref": "#/components/responses/Problem"}
            assert "422" not in operation["responses"]
    assert not {"HTTPValidationError", "ValidationError"} & schema["components"]["schemas"].keys()


def test_every_reference_leads_somewhere(schema: dict[str, Any]) -> None:
    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            value = list(value.values())
        if isinstance(value, list):
            for member in value:
                yield from references(member)

    found = list(references(schema))
    assert len(found) > 20
    for reference in found:
        place = schema
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]


def test_a_body_has_the_model_of_its_input(schema: dict[str, Any]) -> None:
    def body(path: str, method: str) -> Any:
        content = schema["paths"][path][method]["requestBody"]["content"]
        return content["application/json"]["schema"]

    assert body("/issues", "post") == {"$ref": "#/components/schemas/NewIssue"}
    assert body("/issues/{number}", "patch") == {"$ref": "#/components/schemas/IssuePatch"}
    models = schema["components"]["schemas"]
    assert set(models["NewIssue"]["properties"]) == {"number", "title", "status"}
    assert models["NewIssue"]["required"] == ["number", "title"]
    assert set(models["IssuePatch"]["properties"]) == {"title", "status"}
    assert models["Issue"]["properties"]["version"]["readOnly"] is True


def test_a_response_has_every_attribute(schema: dict[str, Any]) -> None:
    models = schema["components"]["schemas"]
    assert set(models["Issue"]["required"]) == set(models["Issue"]["properties"])
    assert models["Page_Issue_"]["required"] == ["items", "next_cursor"]


@pytest.mark.parametrize(
    ("path", "method", "names"),
    [
        ("/issues", "get", ["limit", "cursor", "x-org"]),
        ("/issues/{number}", "get", ["number", "if-none-match", "x-org"]),
        ("/issues/{number}", "patch", ["number", "if-match", "x-org"]),
        ("/issues/{number}", "delete", ["number", "if-match", "x-org"]),
    ],
)
def test_the_parameters_are_described(
    schema: dict[str, Any], path: str, method: str, names: list[str]
) -> None:
    parameters = schema["paths"][path][method]["parameters"]
    assert sorted(each["name"] for each in parameters) == sorted(names)
    for parameter in parameters:
        if parameter["name"] in ("limit", "cursor", "if-match", "if-none-match"):
            assert parameter["description"]
            assert parameter["required"] is False


def test_a_response_that_an_endpoint_declares_is_kept() -> None:
    app = FastAPI()

    @app.get("/{number}", responses={422: {"description": "Mine."}, "default": {}})
    async def get(number: int) -> int:
        return number

    add_exception_handlers(app)
    responses = (
        TestClient(app).get("/openapi.json").json()["paths"]["/{number}"]["get"]["responses"]
    )
    assert responses["422"]["description"] == "Mine."
    assert "$ref" not in responses["default"]


def test_a_response_has_links_to_the_operations_that_follow() -> None:
    patterns: Any = [shelf.add_book, shelf.book, shelf.edit_book, shelf.loans]
    paths = create_app(":memory:", Shelf, patterns=patterns).openapi()["paths"]
    created = paths["/libraries/{library}/books"]["post"]["responses"]["201"]["links"]
    key_ = {"library": "$response.body#/library", "isbn": "$response.body#/isbn"}
    assert created == {
        name: {"operationId": name, "parameters": key_} for name in ("book", "edit_book")
    }
    page = paths["/libraries/{library}/books/{isbn}/loans"]["get"]["responses"]["200"]["links"]
    assert page["next_page"]["parameters"]["cursor"] == "$response.body#/next_cursor"
    assert page["next_page"]["parameters"]["isbn"] == "$request.path.isbn"


def test_a_pattern_with_its_own_page_size_takes_no_other() -> None:
    last = [each for each in load("market").patterns if each.name == "last_orders"]
    app = create_app(":memory:", *load("market").tables, patterns=last)
    operation = app.openapi()["paths"]["/users/{user_id}/last-orders"]["get"]
    assert [each["name"] for each in operation["parameters"]] == ["user_id", "count", "cursor"]


def test_entities_are_shown_as_examples() -> None:
    patterns: Any = [shelf.add_book, shelf.book]
    books = [Book(library="L1", isbn=isbn, title="Emma") for isbn in "12"]
    app = create_app(":memory:", Shelf, patterns=patterns, examples=books, hidden=[Book.title])
    (example,) = app.openapi()["components"]["schemas"]["Book"]["examples"]
    assert example == {"library": "L1", "isbn": "1", "state": "in", "version": 0}
