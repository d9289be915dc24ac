"""Keys sort as their values do."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import Attr, Entity, Table, attr, connect, create, key
from tablewright.errors import DeclarationError
from tablewright.formats import descending
from tablewright.ids import ULID
from tests.new_table import new_table
from tests.properties.keys.values import Level, Status, Triple, texts


class Ordered(Table, name="ordered"): ...


class Wide(Entity, table=Ordered):
    number: Attr[int] = attr(pad=4)
    at: Attr[datetime] = attr()
    on: Attr[date] = attr()
    status: Attr[Status] = attr()
    level: Attr[Level] = attr()
    paid: Attr[bool] = attr()
    ulid: Attr[ULID] = attr()
    score: Attr[int] = attr(pad=3)
    name: Attr[str] = attr()
    primary = key(
        "WIDE", "W" / number / at / on / status / level / paid / ulid / descending(score) / name
    )


few_moments = st.sampled_from([datetime(2026, 1, 15, 10, 15, 30, n, tzinfo=UTC) for n in (0, 1)])


few_ulids = st.sampled_from([ULID.floor(datetime(2026, 1, n, tzinfo=UTC)) for n in (1, 2)])


#: Few of each, so that the parts in front are often equal and those behind decide.
wide_values = st.tuples(
    st.sampled_from([0, 9, 10, 100]),
    few_moments,
    st.sampled_from([date(2026, 1, 9), date(2026, 1, 10)]),
    st.sampled_from(Status),
    st.sampled_from(Level),
    st.booleans(),
    few_ulids,
    st.sampled_from([0, 9, 10, 999]),
    texts,
)


@given(st.lists(wide_values, min_size=2, max_size=6))
def test_the_order_of_keys_is_the_order_of_values(rows: list[tuple[Any, ...]]) -> None:
    def text(row: tuple[Any, ...]) -> str:
        key_text: Any = Wide.primary._key.encode(row)["SK"]["S"]
        return str(key_text)

    by_values = sorted(rows, key=lambda row: (*row[:7], -row[7], row[8]))
    assert sorted(rows, key=text) == by_values


@given(st.lists(texts, min_size=2, max_size=8, unique=True))
def test_texts_sort_by_code_point(names: list[str]) -> None:
    """As DynamoDB does, by their bytes in UTF-8."""
    encoded = [Triple.primary("a", "b", name)._key["SK"]["S"].encode() for name in sorted(names)]
    assert encoded == sorted(encoded)


class Spaced(StrEnum):
    OPEN = "OPEN"
    OPEN_LATE = "OPEN LATE"
    OPEN_NOW = "OPEN!"


def test_an_enum_with_characters_below_the_delimiter_sorts_by_value() -> None:
    """As the last part. Where a part follows it, `OPEN LATE#1` is below `OPEN#1`: no range."""

    doors = new_table("doors")

    class Door(Entity, table=doors):
        door: Attr[str] = attr()
        state: Attr[Spaced] = attr()
        primary = key("DOOR" / door, "S" / state)

    class Gate(Entity, table=doors):
        state: Attr[Spaced] = attr()
        gate: Attr[str] = attr()
        primary = key("GATES", "S" / state / gate)

    db = connect(":memory:", doors)
    for state in Spaced:
        db.run(create(Door(state=state, door="1")))
        db.run(create(Gate(state=state, gate="1")))
    found = [door.state for door in db.run(Door.primary.within("1"))]
    assert found == sorted(Spaced)
    late = [door.state for door in db.run(Door.primary.within("1").gte(Spaced.OPEN_LATE))]
    assert late == [state for state in sorted(Spaced) if state >= Spaced.OPEN_LATE]
    with pytest.raises(
        DeclarationError, match=r"Gate\.primary: state is text followed by other parts"
    ):
        Gate.primary.within().gte(Spaced.OPEN_LATE)
    assert [gate.state for gate in db.run(Gate.primary.within().eq(Spaced.OPEN))] == [Spaced.OPEN]
