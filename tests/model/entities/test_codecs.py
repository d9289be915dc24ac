"""Codecs: how `attr(codec=…)` stores values, reads them, and which conditions it allows."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    created_at,
    explain,
    index,
    key,
    updated_at,
)
from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.formats import (
    Codec,
    binary,
    compressed,
    descending,
    enum_name,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    fixed_width,
    iso,
    json_text,
    lower,
    number,
    padded,
    text,
)
from tablewright.mapping.converters import Converter
from tablewright.mapping.formats.attributes import codec_of, coded_converter
from tests.new_table import new_table

MOMENT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
ID = UUID("00112233-4455-6677-8899-aabbccddeeff")


class State(Enum):
    NEW = "n"
    PAID = "p"


@dataclass(frozen=True)
class Place:
    """Only a codec knows how it is stored."""

    city: str


REVERSED = Codec[str](encode=lambda text: text[::-1], decode=lambda text: text[::-1])
PLACES = Codec[Place](encode=lambda place: place.city, decode=Place)


def stored_by(kind: Any, codec: Any) -> Converter:
    return coded_converter(kind, codec_of(codec, "Thing.x"), None, "Thing.x")


STORED: list[tuple[Any, Any, Any, dict[str, Any]]] = [
    (datetime, iso("seconds"), MOMENT, {"S": "2026-01-15T10:15:30Z"}),
    (datetime, iso("milliseconds", zone=""), MOMENT, {"S": "2026-01-15T10:15:30.000"}),
    (datetime, epoch_seconds(), MOMENT, {"N": "1768472130"}),
    (datetime, epoch_seconds(), datetime(1969, 12, 31, tzinfo=UTC), {"N": "-86400"}),
    (datetime, epoch_millis(), MOMENT, {"N": "1768472130000"}),
    (datetime, number(epoch_millis()), MOMENT, {"N": "1768472130000"}),
    (datetime, text(epoch_seconds()), MOMENT, {"S": "1768472130"}),
    (datetime | None, epoch_seconds(), MOMENT, {"N": "1768472130"}),
    (UUID, binary(), ID, {"B": "ABEiM0RVZneImaq7zN3u/w=="}),
    (State, enum_name(), State.PAID, {"S": "PAID"}),
    (Decimal, text(), Decimal("12.50"), {"S": "12.5"}),
    (Decimal, text(), Decimal("1E+3"), {"S": "1000"}),
    (Decimal, text(places=2), Decimal("12.5"), {"S": "12.50"}),
    (Decimal, fixed_point(4, 2), Decimal("12.5"), {"S": "0012.50"}),
    (float, text(), 0.1, {"S": "0.1"}),
    (int, padded(6), 7, {"S": "000007"}),
    (str, fixed_width(3), "abc", {"S": "abc"}),
    (int, text(), -7, {"S": "-7"}),
    (bool, text(), True, {"S": "true"}),
    (bool, number(), True, {"N": "1"}),
    (date, Codec(encode=lambda day: f"{day:%Y%m%d}", decode=lambda text: date(2026, 1, 15)),
     date(2026, 1, 15), {"S": "20260115"}),
    (str, REVERSED, "abc", {"S": "cba"}),
    (Place, PLACES, Place("Bern"), {"S": "Bern"}),
    (list[int], json_text(), [1, 2], {"S": "[1,2]"}),
    (str, json_text(), "é", {"S": '"é"'}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "codec", "value", "stored"), STORED)
def test_a_codec_decides_the_stored_form(kind: Any, codec: Any, value: Any, stored: Any) -> None:
    made = stored_by(kind, codec)
    assert made.encode(value) == stored
    assert made.decode(stored) == value


def test_a_compressed_value_is_gzip() -> None:
    for kind, value, content in ((str, "é", "é".encode()), (list[int], [1, 2], b"[1,2]")):
        stored = stored_by(kind, compressed()).encode(value)
        assert gzip.decompress(base64.b64decode(stored["B"])) == content


@given(st.binary() | st.text(max_size=200))
def test_compressed_values_come_back(value: bytes | str) -> None:
    made = stored_by(type(value), compressed())
    assert made.decode(made.encode(value)) == value


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_a_bound_sorts_among_stored_moments_as_the_moments_do(one: Any, two: Any) -> None:
    for codec in (iso("seconds"), iso("milliseconds"), epoch_seconds(), epoch_millis()):
        made = stored_by(datetime, codec)
        assert made.cut is not None
        kept = made.cut(one)
        stored, bound = made.encode(kept), made.bound(two)
        (tag,) = stored
        read: Any = Decimal if tag == "N" else str
        assert (read(stored[tag]) < read(bound[tag])) == (kept < two)
        assert (read(stored[tag]) == read(bound[tag])) == (kept == two)


@pytest.mark.parametrize(
    ("kind", "codec", "spelling", "value"),
    [
        (datetime, iso("seconds"), {"S": "2026-01-15T11:15:30.000+01:00"}, MOMENT),
        (Decimal, text(), {"S": "12.500"}, Decimal("12.5")),
        (list[int], json_text(), {"S": " [1, 2] "}, [1, 2]),
        (str, compressed(), {"B": "eJxLTEoGAAJNASc="}, "abc"),  # the header of zlib
    ],
)
def test_other_spellings_are_read(kind: Any, codec: Any, spelling: Any, value: Any) -> None:
    assert stored_by(kind, codec).decode(spelling) == value


@pytest.mark.parametrize(
    ("kind", "codec", "stored"),
    [
        (datetime, epoch_seconds(), {"N": "1.5"}),
        (datetime, epoch_seconds(), {"N": "99999999999999"}),
        (datetime, iso("seconds"), {"N": "1"}),
        (State, enum_name(), {"S": "p"}),
        (float, text(), {"S": "0.10000000000000000000001"}),
        (bool, number(), {"N": "2"}),
        (str, compressed(), {"B": "AAAA"}),
        (str, compressed(), {"B": "H4sIAAAAAAACAzu8EgCpzQ6U"}),  # cut
        (list[int], json_text(), {"S": "{}"}),
    ],
)
def test_what_is_no_stored_form_is_unreadable(kind: Any, codec: Any, stored: Any) -> None:
    with pytest.raises(UnreadableItem, match=r"Thing\.x"):
        stored_by(kind, codec).decode(stored)


def test_a_value_that_expands_to_too_much_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.mapping.formats.transforms.LARGEST", 1000)
    made = stored_by(str, compressed())
    assert made.decode(made.encode("x" * 999)) == "x" * 999
    with pytest.raises(UnreadableItem, match="more than 1000 bytes"):
        made.decode(made.encode("x" * 1001))


@pytest.mark.parametrize(
    ("kind", "codec", "value", "told"),
    [
        (datetime, iso("seconds"), MOMENT.replace(microsecond=5), "keeps datetime"),
        (datetime, epoch_seconds(), MOMENT.replace(tzinfo=None), "no time zone"),
        (Decimal, text(places=2), Decimal("1.005"), "more than 2 digits"),
        (Decimal, text(), Decimal("NaN"), "not finite"),
        (int, padded(2), 100, "outside the range 0 to 99"),
        (State, enum_name(), "PAID", "State"),
        (str, Codec(encode=str.upper, decode=str), "abc", "keeps 'ABC'"),
        (str, compressed(), 7, "is not a str"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused(
    kind: Any, codec: Any, value: Any, told: str
) -> None:
    with pytest.raises(InvalidValue, match=told):
        stored_by(kind, codec).encode(value)


@pytest.mark.parametrize(
    ("kind", "codec", "told"),
    [
        (str, iso("seconds"), r"iso\(x, 'seconds'\) takes a value of type datetime, not of type"),
        (int, enum_name(), "takes an Enum"),
        (list[int], text(), "cannot be a part of a key"),
        (int, text(places=2), "leave it out"),
        (datetime, epoch_seconds, r"is a function; call it: attr\(codec=epoch_seconds"),
        (str, Codec, r"attr\(codec=Codec\) is a class; make an object of it: attr\(codec=Codec\("),
        (str, "iso", "a codec has encode and decode"),
    ],
)
def test_a_codec_of_another_type_is_refused(kind: Any, codec: Any, told: str) -> None:
    with pytest.raises(DeclarationError, match=told):
        stored_by(kind, codec)


def test_a_format_that_loses_the_value_is_no_codec() -> None:
    for lossy in (descending, lower):
        with pytest.raises(DeclarationError, match="cannot contain a codec"):
            lossy(epoch_seconds())  # type: ignore[call-overload, arg-type]


class Things(Table, name="codecs", sk="at"):
    by_seen = GSI("gsi_pk", "seen")
    by_state = GSI("gsi2_pk", "gsi2_sk")


class Thing(Entity, table=Things):
    thing_id: Attr[str] = attr()
    at: Attr[datetime] = attr(codec=iso("seconds"))
    seen: Attr[datetime | None] = attr(codec=epoch_seconds(), default=None)
    state: Attr[State] = attr(codec=enum_name(), default=State.NEW)
    due: Attr[datetime] = attr(codec=iso("seconds"), default=MOMENT)
    price: Attr[Decimal] = attr(codec=text(), default=Decimal(1))
    host: Attr[str] = attr(codec=REVERSED, default="abc")
    tags: Attr[list[str]] = attr(codec=json_text(), default_factory=list)
    note: Attr[str] = attr(codec=compressed(), default="")
    made: Attr[datetime] = created_at(codec=iso("seconds"))
    changed: Attr[datetime] = updated_at(codec=epoch_millis())
    primary = key("THING" / thing_id, at)
    by_seen = index(Things.by_seen, "SEEN" / thing_id, seen)
    by_state = index(Things.by_state, "STATE" / state, "AT" / at)


def a_thing() -> tuple[Any, Engine]:
    engine = Engine(":memory:")
    db = connect(engine, Things)
    db.run(create(Thing(thing_id="1", at=MOMENT, seen=MOMENT)))
    return db, engine


def test_a_natural_key_and_a_composed_key_are_written_by_the_codec() -> None:
    db, engine = a_thing()
    (item,) = engine.call("Scan", {"TableName": "codecs"})["Items"]
    assert item["at"] == {"S": "2026-01-15T10:15:30Z"}
    assert item["seen"] == {"N": "1768472130"}
    assert item["gsi2_pk"] == {"S": "STATE#NEW"}
    assert item["gsi2_sk"] == {"S": "AT#2026-01-15T10:15:30Z"}
    later = MOMENT + timedelta(microseconds=1)
    assert db.run(Thing.primary("1", MOMENT)) == db.run(Thing.primary("1", later))
    assert len(db.run(Thing.primary.within("1").gte(MOMENT))) == 1
    assert len(db.run(Thing.by_seen("1").lt(later))) == 1
    assert len(db.run(Thing.by_seen("1").gt(MOMENT))) == 0
    assert len(db.run(Thing.by_state(State.NEW).eq(MOMENT))) == 1


def test_a_value_is_cut_where_it_enters() -> None:
    now = MOMENT.replace(microsecond=123_456)
    thing = Thing(thing_id="1", at=now)
    assert thing.at == MOMENT
    thing.due = now
    assert thing.due == MOMENT
    db, _ = a_thing()
    changed = db.run(Thing.primary("1", MOMENT).update(Thing.due.set(now)))
    assert changed.due == MOMENT
    created = db.run(create(Thing(thing_id="2", at=now)))
    assert created == db.run(Thing.primary("2", now))
    assert created.made.microsecond == 0
    assert created.changed.microsecond % 1000 == 0


def test_conditions_compare_stored_values() -> None:
    db, _ = a_thing()
    query = Thing.primary.within("1")
    later = MOMENT + timedelta(microseconds=1)
    for condition, found in (
        (Thing.due == MOMENT, 1),
        (Thing.due < later, 1),
        (Thing.due >= later, 0),
        (Thing.due.between(MOMENT, later), 1),
        (Thing.state == State.NEW, 1),
        (Thing.state.in_([State.PAID]), 0),
        (Thing.price == Decimal("1.0"), 1),
        (Thing.host == "abc", 1),
        (Thing.note.exists(), 1),
    ):
        assert len(db.run(query.filter(condition))) == found


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (lambda: Thing.note == "x", "stored compressed, so DynamoDB cannot compare it"),
        (lambda: Thing.note.size() > 3, "stored compressed"),
        (lambda: Thing.tags.contains("x"), "stored as JSON"),
        (lambda: Thing.price > Decimal(1), r"text\(price\), which does not sort"),
        (lambda: Thing.price.between(Decimal(1), Decimal(2)), "does not sort"),
        (lambda: Thing.host < "x", "does not sort"),
        (lambda: Thing.host.begins_with("ab"), "begins_with would test the stored form"),
        (lambda: Thing.due == Thing.seen, "in different forms"),
    ],
)
def test_a_condition_that_dynamodb_cannot_decide_is_refused(condition: Any, told: str) -> None:
    with pytest.raises(DeclarationError, match=told):
        condition()


@pytest.mark.parametrize(
    "change",
    [
        lambda: Thing.tags.append("x"),
        lambda: Thing.tags.path(lambda tags: tags[0]),
        lambda: Thing.price.increment(1),
    ],
)
def test_a_part_of_a_value_cannot_be_changed(change: Any) -> None:
    with pytest.raises((DeclarationError, InvalidValue), match="in one value"):
        change()


def test_a_key_refuses_a_transformed_attribute() -> None:
    with pytest.raises(DeclarationError, match="is stored compressed, so no key can contain it"):

        class Composed(Entity, table=new_table()):
            note: Attr[str] = attr(codec=compressed())
            primary = key("X" / note, "X")

    with pytest.raises(DeclarationError, match="is stored as JSON, so no query finds it"):

        class Natural(Entity, table=new_table(sk="note")):
            note: Attr[str] = attr(codec=json_text())
            primary = key("X", note)


def test_no_range_is_queried_by_a_key_whose_texts_do_not_sort() -> None:
    class Priced(Entity, table=new_table(sk="price")):
        price: Attr[Decimal] = attr(codec=text())
        primary = key("X", price)

    assert explain(Priced.primary.within().eq(Decimal(7))).condition == 'PK="X" AND price="7"'
    with pytest.raises(DeclarationError, match="do not sort as its values do, so no range"):
        Priced.primary.within().gt(Decimal(7))


def test_a_text_of_a_fixed_width_sorts_before_other_parts() -> None:
    table = new_table("days")

    class Visit(Entity, table=table):
        day: Attr[str] = attr()
        guest: Attr[str] = attr()
        primary = key("VISITS", "ON" / fixed_width(day, 10) / guest)

    db = connect(":memory:", table)
    for day, guest in (("2026-01-14", "ann"), ("2026-01-15", "ann b"), ("2026-02-01", "cy")):
        db.run(create(Visit(day=day, guest=guest)))
    january = Visit.primary.within().between("2026-01-15", "2026-01-31")
    assert [each.guest for each in db.run(january)] == ["ann b"]
    assert [each.guest for each in db.run(Visit.primary.within().gt("2026-01-14"))] == [
        "ann b",
        "cy",
    ]
    with pytest.raises(InvalidValue, match="does not have 10 characters"):
        db.run(create(Visit(day="2026-1-5", guest="ann")))


def test_a_list_in_one_text_is_saved_when_it_changed_in_place() -> None:
    from tablewright import save

    db, engine = a_thing()
    thing = db.run(Thing.primary("1", MOMENT))
    assert thing is not None
    thing.tags.append("x")
    db.run(save(thing))
    (item,) = engine.call("Scan", {"TableName": "codecs"})["Items"]
    assert item["tags"] == {"S": '["x"]'}


def test_a_serializer_of_pydantic_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"PlainSerializer would change its JSON.*codec="):

        class Wrong(Entity, table=new_table()):
            at: Attr[Annotated[datetime, pydantic.PlainSerializer(str)]] = attr()
            primary = key("X" / at, "X")
