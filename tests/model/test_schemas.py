"""Aggregates and pages as pydantic types."""

from __future__ import annotations

import copy
import warnings

import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter, ValidationError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette's, about the client that it uses
    from fastapi.testclient import TestClient

from tablewright import Page, connect, put
from tablewright.database import Database
from tablewright.designs.commerce import (
    Commerce,
    CustomerOrder,
    OrderWithItems,
    customer_timeline_page,
    order_with_items,
)
from tablewright.designs.commerce.checks import sample


@pytest.fixture
def db() -> Database:
    database = connect(":memory:", Commerce)
    for entity in sample():
        database.run(put(entity))
    return database


def _parsed(order: CustomerOrder) -> CustomerOrder:
    """Return an order as it is parsed from JSON: the version is the library's."""
    parsed = copy.copy(order)
    vars(parsed)["version"] = 0
    return parsed


def test_a_page_is_its_items_and_its_cursor(db: Database) -> None:
    page = db.run(customer_timeline_page("C1", 2, None))
    adapter = TypeAdapter(Page[CustomerOrder])
    dumped = adapter.dump_python(page, mode="json")
    assert [item["order_id"] for item in dumped["items"]] == ["O104", "O103"]
    assert dumped["next_cursor"] == page.next_cursor
    read = adapter.validate_json(adapter.dump_json(page))
    assert read == adapter.validate_python(dumped) == [_parsed(order) for order in page]
    assert read.next_cursor == page.next_cursor


def test_an_aggregate_is_its_members(db: Database) -> None:
    found = db.run(order_with_items("C1", "O10"))
    assert found is not None
    adapter = TypeAdapter(OrderWithItems)
    dumped = adapter.dump_python(found, mode="json")
    assert sorted(dumped) == ["items", "order"]
    read = adapter.validate_python(dumped)
    assert (read.order, read.items) == (_parsed(found.order), found.items)
    with pytest.raises(ValidationError, match="items"):
        adapter.validate_python({"order": dumped["order"]})


def test_both_are_response_types_of_fastapi(db: Database) -> None:
    app = FastAPI()

    @app.get("/customers/{customer_id}/orders")
    def orders(customer_id: str, cursor: str | None = None) -> Page[CustomerOrder]:
        return db.run(customer_timeline_page(customer_id, 2, cursor))

    @app.get("/customers/{customer_id}/orders/{order_id}")
    def order(customer_id: str, order_id: str) -> OrderWithItems | None:
        return db.run(order_with_items(customer_id, order_id))

    client = TestClient(app)
    first = client.get("/customers/C1/orders").json()
    second = client.get("/customers/C1/orders", params={"cursor": first["next_cursor"]}).json()
    assert [item["order_id"] for item in first["items"] + second["items"]] == [
        "O104",
        "O103",
        "O102",
        "O101",
    ]
    assert len(client.get("/customers/C1/orders/O10").json()["items"]) == 3
    assert client.get("/customers/C1/orders/none").json() is None
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["Page_CustomerOrder_"]["properties"]["items"]["items"] == {
        "$ref": "#/components/schemas/CustomerOrder"
    }
