"""Entities in pydantic's type adapters and models."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from tablewright import create
from tablewright.database import Database
from tests.model.entities.catalog import (
    AWARE,
    FULL,
    Basket,
    Blob,
    Dog,
    Everything,
    Managed,
    Order,
    order,
)


def test_an_adapter_makes_an_entity_of_plain_values() -> None:
    made = TypeAdapter(Order).validate_python({"customer": "ann", "email": "a@b.c", "total": "1.5"})
    assert type(made) is Order
    assert made.total == Decimal("1.5")


def test_an_adapter_takes_an_entity_as_it_is() -> None:
    given = order()
    assert TypeAdapter(Order).validate_python(given) is given


def test_an_adapter_dumps_an_entity() -> None:
    adapter = TypeAdapter(Order)
    full = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", total=Decimal("1.50"), placed=AWARE)
    assert adapter.dump_python(full) == vars(full)
    assert json.loads(adapter.dump_json(full)) == {
        "customer": "ann",
        "order_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "email": "ann@example.com",
        "total": "1.50",
        "placed": "2026-01-15T12:00:00+02:00",
        "note": None,
    }
    assert adapter.validate_json(adapter.dump_json(full)) == full


def test_an_adapter_dumps_what_is_asked_for() -> None:
    adapter = TypeAdapter(Order)
    full = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert adapter.dump_python(full, include={"email"}) == {"email": "ann@example.com"}
    assert "email" not in adapter.dump_python(full, exclude={"email"})
    assert "note" not in adapter.dump_python(full, exclude_none=True)


def test_nested_values_of_every_kind_go_through_json() -> None:
    adapter = TypeAdapter(Everything)
    full = Everything(**FULL)
    assert adapter.validate_json(adapter.dump_json(full)) == full


@pytest.mark.parametrize("content", [b"", b"text", b"\xff\x00\xfe"])
def test_bytes_go_through_json(content: bytes) -> None:
    adapter = TypeAdapter(Blob)
    blob = Blob(name="x", content=content)
    assert adapter.validate_json(adapter.dump_json(blob)) == blob


def test_stamps_are_in_the_output_and_ignored_in_the_input(db: Database) -> None:
    adapter = TypeAdapter(Managed)
    made = db.run(create(Managed(name="x", size=5)))
    dumped = json.loads(adapter.dump_json(made))
    assert dumped["version"] == 1
    assert dumped["made"] == made.made.isoformat().replace("+00:00", "Z")
    forged = {"version": 7, "made": "1999-01-01T00:00:00Z", "written": "not a time"}
    for parsed in (
        adapter.validate_json(json.dumps(dumped | forged)),
        adapter.validate_python(dumped | forged),
    ):
        assert (parsed.name, parsed.size, parsed.version) == ("x", 5, 0)
        assert parsed.made >= made.made
        assert parsed.written >= made.written


def test_the_json_schema_marks_stamps_as_read_only() -> None:
    for mode in ("validation", "serialization"):
        schema = TypeAdapter(Managed).json_schema(mode=mode)
        stamps = {name for name, each in schema["properties"].items() if each.get("readOnly")}
        assert stamps == {"version", "made", "written"}
        output = {"size", *stamps} if mode == "serialization" else set()
        assert set(schema["required"]) == {"name"} | output


@pytest.mark.parametrize(
    ("change", "place", "kind"),
    [
        ({"email": 5}, ("email",), "string_type"),
        ({"emial": "x"}, ("emial",), "extra_forbidden"),
        ({"placed": "2026-01-15T12:00:00"}, ("placed",), "timezone_aware"),
        ({"order_id": "abc"}, ("order_id",), "value_error"),
        ({"email": None}, ("email",), "string_type"),
    ],
)
def test_an_adapter_refuses_in_pydantics_words(
    change: dict[str, Any], place: tuple[str, ...], kind: str
) -> None:
    body = {"customer": "ann", "email": "a@b.c"} | change
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Order).validate_python(body)
    assert [(e["loc"], e["type"]) for e in refused.value.errors()] == [(place, kind)]
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Order).validate_json(json.dumps(body))
    assert [(e["loc"], e["type"]) for e in refused.value.errors()] == [(place, kind)]


def test_the_json_schema_has_the_attributes_with_their_types_and_descriptions() -> None:
    schema = TypeAdapter(Order).json_schema()
    assert schema["title"] == "Order"
    assert schema["description"] == "An order of a customer."
    assert list(schema["properties"]) == [
        "customer",
        "order_id",
        "email",
        "total",
        "placed",
        "note",
    ]
    assert schema["properties"]["customer"]["description"] == "Who ordered"
    assert schema["properties"]["order_id"]["pattern"] == "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
    assert schema["required"] == ["customer", "email"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_every_type_has_a_json_schema(mode: Literal["validation", "serialization"]) -> None:
    schema = TypeAdapter(Everything).json_schema(mode=mode)
    assert list(schema["properties"]) == list(Everything.__entity__.attributes)


def test_entities_inside_of_a_model() -> None:
    basket = Basket(owner="ann", first=order(), others=[order(), order()], by_name={"x": order()})
    assert Basket.model_validate_json(basket.model_dump_json()) == basket
    assert Basket.model_validate(basket.model_dump()) == basket
    assert type(Basket.model_validate(basket.model_dump()).others[0]) is Order
    with pytest.raises(ValidationError) as refused:
        Basket.model_validate({"owner": "ann", "first": {"customer": "ann", "email": 5}})
    assert refused.value.errors()[0]["loc"] == ("first", "email")
    assert "Order" in Basket.model_json_schema()["$defs"]


def test_a_list_of_entities() -> None:
    adapter = TypeAdapter(list[Order])
    some = [order(), order()]
    assert adapter.validate_json(adapter.dump_json(some)) == some
    with pytest.raises(ValidationError) as refused:
        adapter.validate_python([some[0], {"customer": "ann"}])
    assert refused.value.errors()[0]["loc"] == (1, "email")


def test_a_page_is_a_list_of_entities_to_an_adapter(db: Database) -> None:
    db.run(create(order()))
    page = db.run(Order.primary.within("ann"))
    assert TypeAdapter(list[Order]).validate_python(page) == list(page)


def test_one_of_two_entities_is_told_by_its_values() -> None:
    adapter: TypeAdapter[Order | Dog] = TypeAdapter(Order | Dog)
    assert adapter.validate_python({"name": "rex"}) == Dog(name="rex")
    assert type(adapter.validate_python({"customer": "ann", "email": "x"})) is Order
    assert adapter.validate_json(adapter.dump_json(Dog(name="rex"))) == Dog(name="rex")
