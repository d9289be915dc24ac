"""What the document says about the values of requests, and the JSON types that are refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import pytest
from fastapi import FastAPI
from pydantic import Field

from tablewright import (
    GSI,
    Attr,
    Entity,
    Get,
    Input,
    Put,
    Query,
    Table,
    Update,
    access_pattern,
    attr,
    create,
    index,
    key,
    put,
)
from tablewright.fastapi import create_app
from tablewright.plans import Create
from tests.fastapi.desk import TestClient


class Hall(Table, name="hall"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Seat(Entity, table=Hall):
    row: Attr[str] = attr()
    number: Attr[int] = attr(pad=2)
    level: Attr[int] = attr(default=0)
    price: Attr[Decimal] = attr(default=Decimal(1))
    free: Attr[bool] = attr(default=True)
    since: Attr[date | None] = attr(default=None)
    held: Attr[dict[str, int] | None] = attr(default=None)
    group: Attr[str | None] = attr(default=None)
    primary = key("ROW" / row, "SEAT" / number)
    by_group = index(Hall.gsi1, "GROUP" / group, "SEAT" / row / number)


@access_pattern
def seat(row: str, number: int) -> Get[Seat]:
    return Seat.primary(row, number)


@access_pattern
def free_seats(row: str, free: bool) -> Query[Seat]:
    return Seat.primary.within(row).filter(Seat.free == free)


@access_pattern
def put_seat(seat: Seat) -> Put[Seat]:
    return put(seat)


@access_pattern
def add_seat(seat: Input[Seat]) -> Create[Seat]:
    return create(seat.entity())


@access_pattern
def change_seat(
    row: str, number: int, group: str, level: Annotated[int, Field(ge=3)], since: date
) -> Update[Seat]:
    found = Seat.primary(row, number)
    return found.update(Seat.group.set(group), Seat.level.set(level), Seat.since.set(since))


@pytest.fixture(scope="module")
def app() -> FastAPI:
    patterns: list[Any] = [seat, free_seats, put_seat, add_seat, change_seat]
    return create_app(":memory:", Hall, patterns=patterns)


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as client:
        yield client


def limits(schema: dict[str, Any]) -> dict[str, Any]:
    words = ("minLength", "minimum", "maximum")
    return {word: schema[word] for word in words if word in schema}


def test_a_parameter_has_the_limits_of_its_key(app: FastAPI) -> None:
    read = app.openapi()["paths"]["/rows/{row}/seats/{number}"]["get"]
    found = {each["name"]: limits(each["schema"]) for each in read["parameters"]}
    assert found == {
        "row": {"minLength": 1},
        "number": {"minimum": 0, "maximum": 99},
        "If-None-Match": {},
    }


def test_an_argument_has_the_limits_of_the_attribute_that_it_sets(app: FastAPI) -> None:
    body = app.openapi()["components"]["schemas"]["ChangeSeatBody"]["properties"]
    assert {name: limits(schema) for name, schema in body.items()} == {
        "group": {"minLength": 1},
        "level": {"minimum": 3},
        "since": {},
    }


@pytest.mark.parametrize("name", ["Seat-Input", "Seat-Output", "SeatInput"])
def test_an_entity_and_its_input_state_the_limits_of_their_keys(app: FastAPI, name: str) -> None:
    fields = app.openapi()["components"]["schemas"][name]["properties"]
    assert limits(fields["row"]) == {"minLength": 1}
    assert limits(fields["number"]) == {"minimum": 0, "maximum": 99}
    assert limits(fields["level"]) == {}


def test_a_decimal_is_a_number_or_a_text_of_digits(app: FastAPI) -> None:
    number, text = app.openapi()["components"]["schemas"]["Seat-Input"]["properties"]["price"][
        "anyOf"
    ]
    assert (number, text["pattern"][:12]) == ({"type": "number"}, "^[+-]?[0-9]{")


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"level": True}, ["level"]),
        ({"level": 1}, None),
        ({"level": 1.0}, None),
        ({"price": False}, ["price"]),
        ({"price": "1.50"}, None),
        ({"free": 1}, ["free"]),
        ({"since": 0}, ["since"]),
        ({"since": "0"}, ["since"]),
        ({"since": "2026-11-19"}, None),
        ({"since": None}, None),
        ({"held": {"ann": True}}, ["held", "ann"]),
        ({"held": {"ann": 1}}, None),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_value_of_another_json_type_is_refused(
    client: TestClient, method: str, sent: dict[str, Any], place: list[str] | None
) -> None:
    answer = client.request(method, "/seats", json={"row": "A", "number": 1} | sent)
    if place is None:
        assert answer.status_code < 300, answer.text
    else:
        assert answer.status_code == 422, answer.text
        assert [each["loc"] for each in answer.json()["errors"]] == [["body", *place]]


@pytest.mark.parametrize(
    "sent", [{"level": True}, {"level": 2}, {"since": 5}, {"since": "5"}, {"group": ""}]
)
def test_an_argument_of_another_json_type_or_beyond_a_limit_is_refused(
    client: TestClient, sent: dict[str, Any]
) -> None:
    body = {"group": "G", "level": 3, "since": "2026-11-19"} | sent
    answer = client.post("/rows/A/seats/1/change-seat", json=body)
    assert [each["loc"] for each in answer.json()["errors"]] == [["body", *sent]]


def test_the_texts_of_a_query_are_converted(client: TestClient) -> None:
    client.put("/seats", json={"row": "A", "number": 1})
    assert len(client.get("/rows/A/free-seats?free=true").json()["items"]) == 1
    assert client.get("/rows/A/free-seats?free=0").json()["items"] == []


def test_a_link_to_the_next_page_is_a_valid_header(client: TestClient) -> None:
    for number in 1, 2:
        client.put("/seats", json={"row": "A\nö", "number": number})
    page = client.get("/rows/A%0A%C3%B6/free-seats?free=true&limit=1")
    url = page.links["next"]["url"]
    assert url.startswith("/rows/A%0A%C3%B6/free-seats?")
    assert [each["number"] for each in client.get(url).json()["items"]] == [2]
