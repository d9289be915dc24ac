"""An entity that is stored is read back equal."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tablewright import connect, put
from tablewright.database import Database
from tablewright.ids import KSUID, ULID
from tests.encoding.strategies import decimals, key_texts, raw_bytes, texts
from tests.model.entities.catalog import (
    AWARE,
    Catalog,
    City,
    Everything,
    Level,
    Line,
    Place,
    Shade,
    Status,
    engine_of,
)

ROUND_TRIPS: list[tuple[str, Any, Any]] = [
    ("text", "", {"S": ""}),
    ("text", "héllo\x00#$", {"S": "héllo\x00#$"}),
    ("whole", -(10**37), {"N": "-10000000000000000000000000000000000000"}),
    ("exact", Decimal("12.50"), {"N": "12.5"}),
    ("real", 0.1, {"N": "0.1"}),
    ("real", 1e20, {"N": "100000000000000000000"}),
    ("flag", True, {"BOOL": True}),
    ("raw", b"\x00\xff", {"B": "AP8="}),
    ("moment", AWARE, {"S": "2026-01-15T10:00:00.000000Z"}),
    ("day", date(2026, 1, 15), {"S": "2026-01-15"}),
    ("span", timedelta(days=1, microseconds=1), {"N": "86400.000001"}),
    ("uid", UUID(int=5), {"S": "00000000-0000-0000-0000-000000000005"}),
    ("status", Status.DONE, {"S": "done"}),
    ("level", Level.HIGH, {"N": "2"}),
    ("shade", Shade.LIGHT, {"S": "light"}),
    ("choice", "no", {"S": "no"}),
    ("words", {"b", "a"}, {"SS": ["a", "b"]}),
    ("words", set(), None),
    ("counts", frozenset({10, 9}), {"NS": ["9", "10"]}),
    ("blobs", {b"x"}, {"BS": ["eA=="]}),
    ("prices", [], {"L": []}),
    ("prices", [Decimal("1.5")], {"L": [{"N": "1.5"}]}),
    ("grid", [[1], []], {"L": [{"L": [{"N": "1"}]}, {"L": []}]}),
    ("scores", {"a": 1}, {"M": {"a": {"N": "1"}}}),
    ("by_uid", {UUID(int=5): "x"}, {"M": {"00000000-0000-0000-0000-000000000005": {"S": "x"}}}),
    (
        "place",
        Place(street="Main", number=7, city=City(name="Rome")),
        {
            "M": {
                "street": {"S": "Main"},
                "number": {"N": "7"},
                "city": {"M": {"name": {"S": "Rome"}}},
            }
        },
    ),
    (
        "line",
        Line("s", Decimal(2), ["t"]),
        {"M": {"sku": {"S": "s"}, "price": {"N": "2"}, "tags": {"L": [{"S": "t"}]}}},
    ),
    ("maybe_text", None, None),
    ("maybe_text", "", {"S": ""}),
    ("maybe_list", None, None),
    ("maybe_list", [], {"L": []}),
    ("gone", datetime(2026, 1, 15, tzinfo=UTC), {"N": "1768435200"}),
    ("ulid", ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), {"S": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
    ("ksuid", KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv"), {"S": "0ujtsYcgvSTl8PAuAdqWYSMnLOv"}),
]


@pytest.mark.parametrize(("name", "value", "stored"), ROUND_TRIPS)
def test_a_value_is_stored_in_this_form_and_comes_back_equal(
    db: Database, name: str, value: Any, stored: Any
) -> None:
    db.run(put(Everything(**{"name": "x", name: value})))
    (item,) = engine_of(db).call("Scan", {"TableName": "catalog"})["Items"]
    assert item.get(name) == stored
    found = db.run(Everything.primary("x"))
    assert getattr(found, name) == value
    assert type(getattr(found, name)) is type(value)


moments = st.datetimes(
    min_value=datetime(1, 1, 3),
    max_value=datetime(9999, 12, 29),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30)), AWARE.tzinfo]),
)


floats = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: number == 0 or 1e-120 < abs(number) < 1e120
)


cities = st.builds(City, name=texts, code=st.none() | texts)


places = st.builds(Place, street=texts, number=st.integers(0, 99), city=cities)


lines = st.builds(Line, sku=texts, price=decimals(), tags=st.lists(texts, max_size=2))


everything = st.builds(
    Everything,
    name=key_texts,
    text=texts,
    whole=st.integers(-(10**38) + 1, 10**38 - 1),
    exact=decimals(),
    real=floats,
    flag=st.booleans(),
    raw=raw_bytes,
    moment=moments,
    day=st.dates(),
    span=st.timedeltas(),
    uid=st.uuids(),
    status=st.sampled_from(Status),
    level=st.sampled_from(Level),
    shade=st.sampled_from(Shade),
    choice=st.sampled_from(["yes", "no"]),
    words=st.sets(texts, max_size=3),
    counts=st.frozensets(st.integers(-99, 99), max_size=3),
    blobs=st.sets(raw_bytes, max_size=3),
    prices=st.lists(decimals(), max_size=2),
    moments=st.lists(moments, max_size=2),
    grid=st.lists(st.lists(st.integers(0, 9), max_size=2), max_size=2),
    scores=st.dictionaries(key_texts, st.integers(0, 9), max_size=2),
    by_uid=st.dictionaries(st.uuids(), texts, max_size=2),
    place=st.none() | places,
    lines=st.lists(lines, max_size=2),
    line=st.none() | lines,
    places=st.dictionaries(key_texts, places, max_size=2),
    ksuid=st.none() | st.builds(KSUID.new),
    ulid=st.none() | st.builds(ULID.new),
    maybe_text=st.none() | texts,
    maybe_whole=st.none() | st.integers(-9, 9),
    maybe_moment=st.none() | moments,
    maybe_words=st.none() | st.sets(texts, min_size=1, max_size=2),
    maybe_list=st.none() | st.lists(st.integers(0, 9), max_size=2),
    gone=st.none()
    | st.datetimes(
        min_value=datetime(1970, 1, 2), max_value=datetime(9999, 1, 1), timezones=st.just(UTC)
    ).map(lambda moment: moment.replace(microsecond=0)),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Database]:
    with connect(":memory:", Catalog) as db:
        yield db


@given(entity=everything)
def test_an_entity_that_is_put_comes_back_equal(shared: Database, entity: Everything) -> None:
    shared.run(put(entity))
    assert shared.run(Everything.primary(entity.name)) == entity


@given(entity=everything)
def test_an_entity_as_plain_values_comes_back_equal(entity: Everything) -> None:
    adapter = TypeAdapter(Everything)
    assert adapter.validate_python(adapter.dump_python(entity)) == entity


@given(entity=everything)
def test_an_entity_can_be_copied_whatever_it_holds(entity: Everything) -> None:
    assert copy.copy(entity) == copy.deepcopy(entity) == entity
    assert pickle.loads(pickle.dumps(entity)) == entity
