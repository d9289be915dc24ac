"""Entities as request bodies and responses of FastAPI."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI, Header, HTTPException
from pydantic import TypeAdapter

from tablewright import create, put
from tablewright.database import Database
from tablewright.errors import VersionConflict
from tablewright.ids import KSUID, ULID
from tests.model.declaring.declarations import raw
from tests.model.entities.catalog import Basket, Blob, Catalog, Managed, Order

with warnings.catch_warnings(action="ignore"):  # it would rather have httpx2 than httpx
    from fastapi.testclient import TestClient


def shop(db: Database) -> FastAPI:
    app = FastAPI()

    @app.post("/orders", response_model=Order, status_code=201)
    def add(order: Order) -> Order:
        return db.run(create(order))

    @app.post("/explicit/orders", status_code=201)
    def add_explicitly(order: Annotated[Order, Body()]) -> Order:
        return db.run(create(order))

    @app.post("/orders/many")
    def add_many(orders: list[Order]) -> list[Order]:
        return [db.run(create(order)) for order in orders]

    @app.post("/baskets")
    def add_basket(basket: Basket) -> Basket:
        return basket

    @app.get("/orders/{customer}", response_model=list[Order])
    def every(customer: str, since: ULID | None = None) -> Any:
        orders = Order.primary.within(customer)
        return db.run(orders if since is None else orders.gte(since))

    @app.get("/orders/{customer}/{order_id}", response_model=Order)
    def one(customer: str, order_id: ULID) -> Order:
        found = db.run(Order.primary(customer, order_id))
        if found is None:
            raise HTTPException(404)
        return found

    @app.get("/events/{event_id}")
    def when(event_id: KSUID) -> dict[str, Any]:
        return {"id": event_id, "time": event_id.time}

    @app.post("/managed")
    def add_managed(entity: Managed) -> Managed:
        return db.run(create(entity))

    @app.put("/managed")
    def resize(entity: Managed, version: Annotated[int, Header(alias="If-Match")]) -> Managed:
        changes = Managed.primary(entity.name).update(Managed.size.set(entity.size))
        return db.run(changes.condition(Managed.version == version))

    @app.get("/blobs/{name}")
    def blob(name: str) -> Blob | None:
        return db.run(Blob.primary(name))

    return app


@pytest.fixture
def client(db: Database) -> Iterator[TestClient]:
    with TestClient(shop(db)) as client:
        yield client


BODY = {"customer": "ann", "email": "ann@example.com", "total": "12.5"}


#: An entity is the body, whether that is said or not: as a model of pydantic's is.
POSTS = pytest.mark.parametrize("path", ["/orders", "/explicit/orders"])


@POSTS
def test_an_entity_is_a_request_body_and_a_response(
    client: TestClient, db: Database, path: str
) -> None:
    answer = client.post(path, json=BODY)
    assert answer.status_code == 201
    made = TypeAdapter(Order).validate_python(answer.json())
    assert made.total == Decimal("12.5")
    assert db.run(Order.primary("ann", made.order_id)) == made
    again = client.get(f"/orders/ann/{made.order_id}")
    assert again.status_code == 200
    assert again.json() == answer.json()


@POSTS
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"email": 5}, "email"),
        ({"total": "much"}, "total"),
        ({"emial": "x"}, "emial"),
        ({"order_id": "abc"}, "order_id"),
        ({"placed": "2026-01-15T12:00:00"}, "placed"),
    ],
)
def test_a_wrong_value_in_a_body_is_422_with_the_name_of_the_field(
    client: TestClient, db: Database, path: str, change: dict[str, Any], place: str
) -> None:
    answer = client.post(path, json=BODY | change)
    assert answer.status_code == 422
    assert [error["loc"] for error in answer.json()["detail"]] == [["body", place]]
    assert db.run(Order.primary.within("ann")) == []


@POSTS
def test_a_missing_value_in_a_body_is_422_with_the_name_of_the_field(
    client: TestClient, path: str
) -> None:
    answer = client.post(path, json={"customer": "ann"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "email"]
    assert answer.json()["detail"][0]["type"] == "missing"


def test_lists_of_entities_are_bodies_and_responses(client: TestClient) -> None:
    answer = client.post("/orders/many", json=[BODY, BODY])
    assert answer.status_code == 200
    found = client.get("/orders/ann")
    assert found.json() == answer.json()
    last = answer.json()[1]["order_id"]
    since = client.get("/orders/ann", params={"since": last})
    assert [each["order_id"] for each in since.json()] == [last]
    wrong = client.post("/orders/many", json=[BODY, BODY | {"email": 5}])
    assert wrong.json()["detail"][0]["loc"] == ["body", 1, "email"]


def test_entities_inside_of_a_body(client: TestClient) -> None:
    answer = client.post("/baskets", json={"owner": "ann", "first": BODY, "others": [BODY]})
    assert answer.status_code == 200
    assert answer.json()["others"][0]["email"] == "ann@example.com"


def test_ids_are_path_parameters(client: TestClient) -> None:
    assert client.get("/orders/ann/01ARZ3NDEKTSV4RRFFQ69G5FAV").status_code == 404
    wrong = client.get("/orders/ann/abc")
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["loc"] == ["path", "order_id"]
    event = client.get("/events/0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    assert event.json() == {
        "id": "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
        "time": "2017-10-10T04:00:47Z",
    }
    assert client.get("/events/abc").json()["detail"][0]["loc"] == ["path", "event_id"]


def test_a_versioned_entity_goes_to_a_client_and_back(client: TestClient) -> None:
    first = client.post("/managed", json={"name": "x", "size": 1}).json()
    assert first["version"] == 1
    headers = {"If-Match": str(first["version"])}
    second = client.put("/managed", json=first | {"size": 2}, headers=headers)
    assert second.json()["version"] == 2
    with pytest.raises(VersionConflict):
        client.put("/managed", json=first | {"size": 3}, headers=headers)


def test_a_forged_stamp_does_not_reach_the_table(client: TestClient, db: Database) -> None:
    forged = {"version": 7, "made": "1999-01-01T00:00:00Z", "written": "1999-01-01T00:00:00Z"}
    answer = client.post("/managed", json={"name": "x", "size": 1} | forged)
    assert answer.status_code == 200
    (item,) = [each for each in raw(db, Catalog) if each["PK"] == {"S": "MANAGED#x"}]
    assert item["version"] == {"N": "1"}
    assert item["made"]["S"] > "2020"
    assert item["written"]["S"] > "2020"


def test_the_openapi_schema_has_read_only_stamps(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for stamp in ("version", "made", "written"):
        for name in ("Managed-Input", "Managed-Output"):
            assert schemas[name]["properties"][stamp]["readOnly"] is True
        assert stamp not in schemas["Managed-Input"]["required"]
        assert stamp in schemas["Managed-Output"]["required"]


def test_an_entity_with_bytes_is_a_response(client: TestClient, db: Database) -> None:
    db.run(put(Blob(name="x", content=b"\xff\x00")))
    answer = client.get("/blobs/x")
    assert answer.status_code == 200
    assert TypeAdapter(Blob).validate_json(answer.content) == Blob(name="x", content=b"\xff\x00")


def test_the_openapi_schema_has_the_attributes_of_the_entity(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    (entity,) = (
        each
        for name, each in schema["components"]["schemas"].items()
        if name in ("Order", "Order-Input")
    )
    assert set(entity["properties"]) == set(Order.__entity__.attributes)
    assert entity["required"] == ["customer", "email"]
    assert entity["properties"]["customer"]["description"] == "Who ordered"
    (parameter,) = schema["paths"]["/events/{event_id}"]["get"]["parameters"]
    assert parameter["schema"]["pattern"] == "^[0-9A-Za-z]{27}$"
