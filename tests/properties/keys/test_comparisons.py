"""A comparison of key parts selects what Python's comparison selects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import new_class
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import GSI, Attr, Entity, Table, attr, connect, create, index, key, put
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tablewright.formats import (
    Codec,
    casefold,
    coded,
    day,
    descending,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    hour,
    iso,
    lower,
    padded,
    truncated,
    upper,
    week,
    year,
    year_month,
)
from tablewright.ids import KSUID, ULID
from tests.examples import examples
from tests.properties.keys.values import (
    Level,
    Status,
    _hint,
    dates,
    joined,
    ksuids,
    moments,
    partitions,
    texts,
)
from tests.sensors import Reading, Sensors

ulids = st.builds(ULID.new, moments)


# -- a comparison selects what Python's does -------------------------------------------------------


class Part(NamedTuple):
    """A part that ranges are asked of."""

    type: Any
    values: st.SearchStrategy[Any]
    pad: int | None = None
    #: What the key makes of the attribute.
    made: Callable[[Any], Any] = lambda declared: declared
    #: What the attribute counts as, which is what a call asks for.
    derived: Callable[[Any], Any] = lambda value: value
    #: Where the larger ones come first.
    down: bool = False
    only_last: bool = False


def _second(at: datetime) -> datetime:
    return at.replace(microsecond=0)


def _milli(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _week(on: date) -> date:
    return on - timedelta(days=on.weekday())


class Hex:
    """A number with four digits of base 16."""

    ordered = True
    width = 4
    alphabet = "0123456789abcdef"

    def encode(self, value: int) -> str:
        return f"{value:04x}"

    def decode(self, text: str) -> int:
        return int(text, 16)


PLAIN = Codec[str](encode=str, decode=str, ordered=True)
hours = st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 1, 4), timezones=st.just(UTC))

PARTS = {
    "int": Part(int, st.integers(0, 30) | st.sampled_from([9, 10, 99, 100, 999]), pad=3),
    "datetime": Part(datetime, moments),
    "date": Part(date, dates),
    "status": Part(Status, st.sampled_from(Status)),
    "level": Part(Level, st.sampled_from(Level)),
    "bool": Part(bool, st.booleans()),
    "uuid": Part(UUID, st.integers(0, 9).map(lambda n: UUID(int=n << 100))),
    "ulid": Part(ULID, ulids),
    "ksuid": Part(KSUID, ksuids),
    "str": Part(str, texts, only_last=True),
    "lower": Part(
        str,
        st.text("aAbB#$ ", min_size=1, max_size=3),
        made=lower,
        derived=str.lower,
        only_last=True,
    ),
    "descending": Part(int, st.integers(0, 999), pad=3, made=descending, down=True),
    "epoch": Part(datetime, moments, made=epoch_seconds, derived=_second),
    "day": Part(datetime, moments, made=day, derived=datetime.date),
    "month": Part(
        date, st.dates(date(2025, 1, 1), date(2026, 6, 1)), made=year_month,
        derived=lambda on: on.replace(day=1),
    ),
    "hour": Part(datetime, hours, made=hour, derived=_hour),
    "week": Part(date, dates, made=week, derived=_week),
    "year": Part(date, st.dates(date(2024, 1, 1), date(2027, 1, 1)), made=year,
                 derived=lambda on: getattr(on, "year", on)),
    "iso seconds": Part(datetime, moments, made=lambda at: iso(at, "seconds"), derived=_second),
    "iso milliseconds": Part(
        datetime, moments, made=lambda at: iso(at, "milliseconds", zone="+00:00"), derived=_milli,
    ),
    "iso microseconds": Part(datetime, moments, made=lambda at: iso(at, "microseconds")),
    "epoch millis": Part(datetime, moments, made=epoch_millis, derived=_milli),
    "padded": Part(int, st.integers(0, 99999), made=lambda number: padded(number, 5)),
    "fixed point": Part(
        Decimal, st.decimals(0, 20, places=2), made=lambda price: fixed_point(price, 3, 2),
    ),
    "upper": Part(str, st.text("aAbB#", min_size=1, max_size=3), made=upper, derived=str.upper,
                  only_last=True),
    "casefold": Part(str, st.text("aAßs", min_size=1, max_size=3), made=casefold,
                     derived=str.casefold, only_last=True),
    "truncated": Part(str, st.text("aA#", min_size=1, max_size=3),
                      made=lambda text: truncated(text, 2), derived=lambda text: text[:2],
                      only_last=True),
    "coded number": Part(int, st.integers(0, 65535), made=lambda number: coded(number, Hex())),
    "coded text": Part(str, texts, made=lambda text: coded(text, PLAIN), only_last=True),
    "descending epoch": Part(
        datetime, moments, made=lambda at: descending(epoch_seconds(at)), derived=_second,
        down=True,
    ),
    "descending iso": Part(
        datetime, moments, made=lambda at: descending(iso(at, "microseconds")), down=True,
    ),
    "descending day": Part(
        datetime, moments, made=lambda at: descending(day(at)), derived=datetime.date, down=True,
    ),
    "descending fixed point": Part(
        Decimal, st.decimals(0, 20, places=2), down=True,
        made=lambda price: descending(fixed_point(price, 3, 2)),
    ),
}  # fmt: skip


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "gte": operator.ge,
    "gt": operator.gt,
    "lte": operator.le,
    "lt": operator.lt,
}


class Place(NamedTuple):
    """Where rows are: whether others are in the partition, and whether something follows."""

    db: Database
    row: Any
    others: list[Any]
    #: The key and the index that ranges are asked of.
    ranges: list[Callable[[str], Any]]
    last: bool


def _entity(table: type[Table], name: str, **body: Any) -> Any:
    annotations = {
        attribute: _hint(body.pop(f"{attribute}_type", str))
        for attribute, declared in list(body.items())
        if isinstance(declared, Attr)
    }
    body |= {"__module__": __name__, "__annotations__": annotations}
    return new_class(name, (Entity,), {"table": table}, lambda space: space.update(body))


def _declared(name: str, **options: Any) -> Any:
    made: Any = attr(**options)
    made.name = name
    return made


def _place(part: Part, *, shared: bool, last: bool, typed: bool) -> Place:
    class Ranged(Table, name="ranged", type_attribute="type" if typed else None):
        second = GSI("GSI1PK", "GSI1SK")

    p, value, tail = _declared("p"), _declared("value", pad=part.pad), _declared("tail")
    piece = part.made(value)
    path = joined("ROW", piece) if last else joined("ROW", piece, tail)
    row = _entity(
        Ranged,
        "Row",
        p=p,
        value=value,
        value_type=part.type,
        tail=tail,
        primary=key("P" / p, path),
        listed=index(Ranged.second, "G" / p, joined(piece) if last else joined(piece, tail)),
    )
    others: list[Any] = []
    if shared:
        for name, sort in {
            "Bare": "ROW",
            "Below": "ROV#1",
            "Above": "ROX#1",
            "Beside": "ROW 1#1",
            "Longer": "ROWS#1",
        }.items():
            q = _declared("q")
            others.append(
                _entity(
                    Ranged,
                    name,
                    q=q,
                    primary=key("P" / q, sort),
                    listed=index(Ranged.second, "G" / q, sort),
                )
            )
        q, extra, number = _declared("q"), _declared("extra", pad=part.pad), _declared("n", pad=2)
        again = part.made(extra)
        deeper = joined("ROW", again, "DEEP", "DEEP", number)
        others.append(
            _entity(
                Ranged,
                "Deeper",
                q=q,
                extra=extra,
                extra_type=part.type,
                n=number,
                n_type=int,
                primary=key("P" / q, deeper),
                listed=index(Ranged.second, "G" / q, deeper),
            )
        )
    return Place(connect(":memory:", Ranged), row, others, [row.primary.within, row.listed], last)


_places: dict[tuple[str, bool, bool, bool], Place] = {}


def _place_of(name: str, *, shared: bool, last: bool, typed: bool) -> Place:
    asked = (name, shared, last, typed)
    if asked not in _places:
        _places[asked] = _place(PARTS[name], shared=shared, last=last, typed=typed)
    return _places[asked]


@pytest.mark.parametrize("name", PARTS)
@examples(40)
@given(shared=st.booleans(), last=st.booleans(), typed=st.booleans(), data=st.data())
def test_a_comparison_selects_what_python_selects(
    name: str, shared: bool, last: bool, typed: bool, data: st.DataObject
) -> None:
    part = PARTS[name]
    place = _place_of(name, shared=shared, last=last or part.only_last, typed=typed)
    db, partition = place.db, f"p{next(partitions)}"
    drawn = data.draw(st.lists(st.tuples(part.values, texts), max_size=8))
    if place.last:  # the value alone is the key
        rows = {part.derived(value): (value, tail) for value, tail in drawn}
        drawn = list(rows.values())
    else:
        drawn = list({(part.derived(value), tail): (value, tail) for value, tail in drawn}.values())
    entities = [place.row(p=partition, value=value, tail=tail) for value, tail in drawn]
    for entity in entities:
        db.run(put(entity))
    for other in place.others:
        if other.__name__ != "Deeper":
            db.run(put(other(q=partition)))
            continue
        for value, _ in drawn:
            db.run(put(other(q=partition, extra=value, n=7)))

    def rank(entity: Any) -> Any:
        value = part.derived(entity.value)
        return (_falling(value) if part.down else value, "" if place.last else entity.tail)

    ordered = sorted(entities, key=rank)
    operand = part.derived(
        data.draw(st.sampled_from([value for value, _ in drawn]) if drawn else part.values)
        if data.draw(st.booleans())
        else data.draw(part.values)
    )
    second = part.derived(data.draw(part.values))
    low, high = min(operand, second), max(operand, second)
    whole = data.draw(st.sampled_from(place.ranges))(partition)
    _same(db, whole, ordered)
    for method, holds in COMPARISONS.items():
        expected = [each for each in ordered if holds(part.derived(each.value), operand)]
        _same(db, getattr(whole, method)(operand), expected)
    expected = [each for each in ordered if low <= part.derived(each.value) <= high]
    _same(db, whole.between(low, high), expected)


def _falling(value: Any) -> Any:
    """Return what sorts in the other direction."""
    if isinstance(value, datetime):
        return datetime.max.replace(tzinfo=UTC) - value
    return date.max - value if isinstance(value, date) else -value


def _same(db: Database, plan: Any, expected: list[Any]) -> None:
    """In both directions, in small pages, one at a time, and counted."""
    assert list(db.iterate(plan)) == expected
    assert list(db.iterate(plan.desc())) == expected[::-1]
    assert list(db.iterate(plan.page_size(2))) == expected
    assert db.run(plan.first()) == (expected[0] if expected else None)
    assert db.run(plan.count()) == len(expected)


def test_the_engine_holds_together_after_all_that() -> None:
    place = _place_of("int", shared=True, last=False, typed=True)
    for number in range(20):
        place.db.run(put(place.row(p="x", value=number, tail="#")))
    engine: Any = place.db._transport
    assert engine.engine.check().problems == []


@pytest.fixture(scope="module")
def natural() -> Database:
    return connect(":memory:", Sensors)


@examples(40)
@given(
    st.sets(st.integers(-1000, 1000) | st.integers(-(10**37), 10**37), max_size=8),
    st.integers(-1000, 1000),
    st.integers(-1000, 1000),
)
def test_a_comparison_of_numbers_that_are_keys_themselves_selects_what_python_selects(
    natural: Database, moments: set[int], one: int, other: int
) -> None:
    sensor = f"#{next(partitions)}"
    for at in moments:
        natural.run(put(Reading(sensor=sensor, at=at)))
    whole = Reading.primary.within(sensor)
    ordered = [Reading(sensor=sensor, at=at) for at in sorted(moments)]
    _same(natural, whole, ordered)
    for method, holds in COMPARISONS.items():
        found = getattr(whole, method)(one)
        _same(natural, found, [each for each in ordered if holds(each.at, one)])
    low, high = min(one, other), max(one, other)
    _same(natural, whole.between(low, high), [e for e in ordered if low <= e.at <= high])


@pytest.mark.parametrize("kind", [KSUID, ULID])
def test_a_range_of_time_is_a_range_of_ids(kind: Any) -> None:
    place = _place_of(kind.__name__.lower(), shared=True, last=True, typed=True)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = [kind.new(start + timedelta(hours=hour)) for hour in range(6)]
    for each in made:
        place.db.run(put(place.row(p="hours", value=each, tail="x")))
    low, high = kind.floor(start + timedelta(hours=2)), kind.ceiling(start + timedelta(hours=4))
    found = place.db.run(place.row.primary.within("hours").between(low, high))
    assert [row.value for row in found] == made[2:5]


def test_a_range_from_high_to_low_is_empty_or_refused_by_name() -> None:
    """DynamoDB refuses it; a caller sees which key, and what to turn round."""
    place = _place_of("int", shared=True, last=True, typed=True)
    try:
        assert place.db.run(place.row.primary.within("x").between(9, 7)) == []
    except InvalidValue as refused:
        assert "Row.primary" in str(refused)  # noqa: PT017


# -- where(): the same, by conditions --------------------------------------------------------------


class Dated(Table, name="dated"): ...


class Meeting(Entity, table=Dated):
    room: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("ROOM" / room, "AT" / epoch_seconds(at))


class Person(Entity, table=Dated):
    club: Attr[str] = attr()
    name: Attr[str] = attr()
    primary = key("CLUB" / club, "NAME" / lower(name))


class Visitor(Entity, table=Dated):
    room: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("HALL" / room, "DAY" / day(at))


def test_a_condition_on_a_moment_is_exact_where_the_key_has_seconds() -> None:
    db = connect(":memory:", Dated)
    at = datetime(2026, 1, 1, 0, 0, 0, 200_000, tzinfo=UTC)
    meeting = Meeting(room="1", at=at)
    db.run(create(meeting))
    later = at + timedelta(milliseconds=100)
    assert db.run(Meeting.where(Meeting.room == "1", Meeting.at >= later)) == []
    assert db.run(Meeting.where(Meeting.room == "1", Meeting.at < later)) == [meeting]


def test_a_condition_on_a_text_is_exact_where_the_key_is_in_lower_case() -> None:
    db = connect(":memory:", Dated)
    person = Person(club="1", name="ann")
    db.run(create(person))
    assert db.run(Person.where(Person.club == "1", Person.name.begins_with("Ann"))) == []
    assert db.run(Person.where(Person.club == "1", Person.name.begins_with("an"))) == [person]


def test_a_condition_on_a_moment_is_exact_where_the_key_has_days() -> None:
    db = connect(":memory:", Dated)
    visitor = Visitor(room="1", at=datetime(2026, 1, 1, 10, tzinfo=UTC))
    db.run(create(visitor))
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert db.run(Visitor.where(Visitor.room == "1", Visitor.at >= noon)) == []
    assert db.run(Visitor.where(Visitor.room == "1", Visitor.at < noon)) == [visitor]
