"""The generated reader of an entity returns what the general way to read an item returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import GSI, Attr, Entity, Table, attr, index, key
from tablewright.errors import UnreadableItem
from tablewright.formats import day, hour, iso, lower, year
from tablewright.ids import KSUID, ULID
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.reader import make_reader
from tablewright.values import Item

MOMENT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)


class Log(Table, name="log"): ...


class Line(Entity, table=Log):
    owner: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("OWNER" / owner, "AT" / at / owner.again)


class Places(Table, name="places", pk="key_id", sk="at"):
    by_day = GSI("GSI1PK", "GSI1SK")
    by_seen = GSI("GSI2PK", "seen")


class Place(Entity, table=Places):
    """Its keys are in indexes, in alternative places, or attributes themselves."""

    key_id: Attr[UUID] = attr()
    at: Attr[datetime] = attr()
    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=3, default=7)
    seen: Attr[datetime | None] = attr(default=None)
    primary = key(key_id, at)
    by_day = index(Places.by_day, "DAY" / day(at) / hour(at), owner / at / number, when=number > 5)
    by_number = index(
        Places.by_day, "N" / number, iso(at, "seconds") / number.again, when=number <= 5
    )
    by_seen = index(Places.by_seen, "SEEN" / year(seen) / owner, seen)


PLACE = Place(key_id=UUID(int=5), at=MOMENT, owner="a#b", seen=MOMENT)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Size:
    width: int
    unit: str = "mm"


@dataclass
class Corner:
    x: int
    color: Color


@dataclass
class Label:
    text: str
    printed: datetime
    corner: Corner


class Boxes(Table, name="boxes"): ...


class Box(Entity, table=Boxes):
    shelf: Attr[int] = attr(pad=3)
    number: Attr[int] = attr()
    maker: Attr[str] = attr()
    made: Attr[date] = attr()
    seen: Attr[datetime] = attr()
    color: Attr[Color] = attr()
    serial: Attr[UUID] = attr()
    price: Attr[Decimal] = attr(default=Decimal(0))
    is_new: Attr[bool] = attr(name="isNew", default=True)
    tags: Attr[set[str]] = attr()
    codes: Attr[set[int]] = attr()
    marks: Attr[list[Annotated[int, []]]] = attr(default_factory=list)
    label: Attr[Label] = attr()
    size: Attr[Size | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    primary = key(
        "SHELF" / shelf / number / lower(maker), "BOX" / made / day(seen) / color / serial / seen
    )


BOX = Box(
    shelf=7,
    number=12,
    maker="Ann",
    made=date(2026, 1, 2),
    seen=MOMENT,
    color=Color.RED,
    serial=UUID(int=5),
    price=Decimal("12.5"),
    tags={"a", "b"},
    codes={1, 2},
    label=Label("top", MOMENT, Corner(1, Color.BLUE)),
    size=Size(3),
)


class Ids(Table, name="ids"): ...


class Event(Entity, table=Ids):
    source: Attr[KSUID] = attr()
    event_id: Attr[ULID] = attr()
    primary = key("SOURCE" / source, "EVENT" / event_id)


def usual(entity: EntityMap, item: Mapping[str, Any]) -> Any:
    """Return what the reader makes of a usual item; None if it leaves the item to others."""
    read = make_reader(
        entity.type,
        tuple(entity.attributes.values()),
        entity._stored_key,
        tracking=entity.tracking,
        absent=entity.value_if_absent,
        otherwise=lambda stored: None,
    )
    return read(tuple(map(item.get, entity._fields)))


def kept(entity: Any) -> tuple[Any, ...]:
    """Return an entity with all that it keeps."""
    return (entity, *(getattr(entity, name, None) for name in ("_stored_key", "_snapshot")))


def outcome(read: Any, entity: EntityMap, item: Mapping[str, Any]) -> Any:
    try:
        return kept(read(tuple(map(item.get, entity._fields))))
    except UnreadableItem as error:
        return str(error)


def check(entity: EntityMap, item: Mapping[str, Any]) -> None:
    """Compare the readers with the general way."""
    expected = outcome(entity._decode_any, entity, item)
    assert outcome(entity._decode, entity, item) == expected
    stored = {name: value for name, value in item.items() if value is not None}
    try:
        found: Any = kept(entity.decode_get(msgspec.json.encode({"Item": stored})))
    except UnreadableItem as error:
        found = str(error).partition(" (the item with ")[0]
    assert found == expected


def test_usual_items_are_read_by_the_generated_function() -> None:
    line = Line(owner="ann", at=MOMENT)
    event = Event(source=KSUID.new(), event_id=ULID.new())
    low = Place(key_id=UUID(int=5), at=MOMENT, owner="a", number=3)
    for each in (line, event, BOX, PLACE, low):
        entity = each.__entity__
        item = entity.encode(vars(each))
        assert usual(entity, item) == each
        check(entity, item)


@pytest.mark.parametrize("name", ["price", "isNew", "tags", "codes", "size", "note"])
def test_an_attribute_with_a_default_may_be_absent(name: str) -> None:
    item = Box.__entity__.encode(vars(BOX))
    item.pop(name, None)
    assert usual(Box.__entity__, item) is not None
    check(Box.__entity__, item)


def test_the_key_of_an_item_is_compared() -> None:
    item = Line.__entity__.encode({"owner": "ann", "at": MOMENT}) | {"PK": {"S": "OWNER#bob"}}
    assert usual(Line.__entity__, item) is None
    with pytest.raises(UnreadableItem, match="OWNER#bob"):
        Line.__entity__.decode(item)


TEXTS = st.text("a#$!:", max_size=4)
MOMENTS = st.sampled_from(
    [
        "2026-01-15T10:15:30.000000Z",
        "2026-01-15T10:15:30Z",
        "2026-01-15T10:15:30.000000+00:00",
        "2026-01-15 10:15:30.000000Z",
        "2026-W03-4T10:15:30.000000Z",
        "2026-01-15T11:15:30.00+0100",
    ]
)


@given(owner=TEXTS, spelled=TEXTS, at=MOMENTS, moment=MOMENTS)
def test_other_spellings_of_a_key_are_left_to_the_general_way(
    owner: str, spelled: str, at: str, moment: str
) -> None:
    for text in (owner, spelled, Delimiter.DEFAULT.write(owner)):
        item = {
            "PK": {"S": f"OWNER#{text}"},
            "SK": {"S": f"AT#{moment}#{text}"},
            "owner": {"S": owner},
            "at": {"S": at},
        }
        if usual(Line.__entity__, item) is not None:
            assert Line.__entity__.key_of({"owner": owner, "at": MOMENT}).items() <= item.items()
        check(Line.__entity__, item)


KEYS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.builds(
        lambda form, at, text: form.format(at=at, day=at[:10], text=text),
        st.sampled_from(
            [
                "DAY#{day}#{day}T10",
                "N#{text}",
                "{text}#{at}#007",
                "{at}#3",
                "SEEN#2026#{text}",
                "{at}",
            ]
        ),
        MOMENTS,
        TEXTS,
    ).map(lambda text: {"S": text}),
)


@given(
    name=st.sampled_from(["key_id", "at", "seen", "GSI1PK", "GSI1SK", "GSI2PK"]),
    other=st.sampled_from(["at", "seen", "number", "GSI1SK"]),
    values=st.tuples(KEYS, KEYS),
)
def test_other_spellings_of_keys_in_indexes(name: str, other: str, values: tuple[Any, Any]) -> None:
    item: Item = Place.__entity__.encode(vars(PLACE))
    check(Place.__entity__, item | {name: values[0]})
    check(Place.__entity__, item | {name: values[0], other: values[1]})


@pytest.mark.parametrize(
    "changed",
    [
        {"GSI1SK": "a$!b#2026-01-15T10:15:30Z#007"},
        {"GSI1SK": "a$!b#2026-01-15T10:15:30.000000Z#7"},
        {"GSI1PK": "DAY#20260115#2026-01-15T10"},
        {"at": "2026-01-15T10:15:30Z"},
        {"seen": "2026-01-15T10:15:30Z"},
        {"key_id": "00000000000000000000000000000005"},
    ],
)
def test_a_key_in_another_spelling_is_not_usual(changed: dict[str, str]) -> None:
    item = Place.__entity__.encode(vars(PLACE))
    item |= {name: {"S": text} for name, text in changed.items()}
    assert usual(Place.__entity__, item) is None
    check(Place.__entity__, item)
    read = Place.__entity__.decode(item)
    assert read == PLACE
    assert Place.__entity__.stored_item(read, vars(read)) == item


@pytest.mark.parametrize(
    ("shelf", "text"),
    [
        ("7", "SHELF#7#12#ann"),
        ("7", "SHELF#0007#12#ann"),
        ("7", "SHELF#007#012#ann"),
        ("-7", "SHELF#-07#12#ann"),
        ("1000", "SHELF#1000#12#ann"),
    ],
)
def test_a_padded_number_has_one_spelling(shelf: str, text: str) -> None:
    item = Box.__entity__.encode(vars(BOX)) | {"shelf": {"N": shelf}, "PK": {"S": text}}
    assert usual(Box.__entity__, item) is None
    check(Box.__entity__, item)


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        {"S": "x"},
        {"S": ""},
        {"N": "1"},
        {"N": "1.5"},
        {"BOOL": False},
        {"NULL": True},
        {"SS": ["x"]},
        {"M": {}},
        {"M": {"width": {"N": "1"}}},
        {"M": {"text": {"S": "top"}, "printed": {"S": "2026-01-15T10:15:30+01:00"}}},
        {
            "M": {
                "text": {"S": "top"},
                "printed": {"S": "2026-01-15T10:15:30+01:00"},
                "corner": {"M": {"x": {"N": "1E1"}, "color": {"S": "red"}}},
            }
        },
        {"L": []},
    ]
)


@given(name=st.sampled_from(Box.__entity__._fields), value=VALUES)
def test_items_with_a_missing_or_mistyped_attribute(name: str, value: Any) -> None:
    item: Item = Box.__entity__.encode(vars(BOX))
    check(Box.__entity__, item | {name: value})
