"""What keys promise, for any template and any values.

No two different values give the same key; keys sort as values do; a prefix ends at a delimiter;
and a comparison on the engine selects what the same comparison selects in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum, StrEnum
from itertools import count
from types import new_class
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    child,
    children,
    connect,
    create,
    index,
    key,
    put,
    root,
    unique,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.formats import day, descending, epoch_seconds, lower, year_month
from tablewright.ids import KSUID, ULID
from tablewright.model.attribute import Again, Path

NASTY = ["1", "10", "1#", "1$", "1 0", "1!", '1"', "#", "$", "$!", "turns", "turnstile", " ", "%s"]

#: Texts of characters around the delimiter, and of one, two, three and four bytes.
texts = st.sampled_from(NASTY) | st.text('01A#$ !"%&é\u0800🍲\n', min_size=1, max_size=4)


class Status(StrEnum):
    CREATED = "CREATED"
    PAID = "PAID"
    PAID_IN_PART = "PAID_IN_PART"


class Level(IntEnum):
    LOW = 1
    MIDDLE = 20
    HIGH = 300


moments = st.datetimes(
    datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 3), timezones=st.just(UTC)
) | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
dates = st.dates(date(2025, 12, 25), date(2026, 2, 5))
ksuids = st.builds(KSUID.new, moments.map(lambda at: at.replace(microsecond=0)))
ulids = st.builds(ULID.new, moments)


# -- no two different values give the same key ---------------------------------------------------


class Kind(NamedTuple):
    """A type that a part can have, and its values."""

    type: Any
    values: st.SearchStrategy[Any]
    pad: int | None = None
    sorts: bool = True


KINDS = [
    Kind(str, st.sampled_from([*NASTY, "A", "B", "A#B", "007", "PAID", "true", "A$!B"]) | texts),
    Kind(int, st.integers(0, 999), pad=3),
    Kind(int, st.integers(0, 9999), pad=4),
    Kind(int, st.integers(-11, 11) | st.integers(), sorts=False),
    Kind(bool, st.booleans()),
    Kind(Status, st.sampled_from(Status)),
    Kind(Level, st.sampled_from(Level)),
    Kind(Literal["a", "a#b", "b#c", "c"], st.sampled_from(["a", "a#b", "b#c", "c"])),
    Kind(date, dates),
    Kind(datetime, moments),
    Kind(UUID, st.uuids()),
    Kind(KSUID, ksuids),
]
LITERALS = ["A", "B", "A#B", "B#A#B", "007", "PAID", "true", "turns", "turnstile", "%s"]


class Made(NamedTuple):
    """An entity of a random design, and the values that its key asks for."""

    entity: Any
    values: st.SearchStrategy[tuple[Any, ...]]


@st.composite
def shapes(draw: st.DrawFn) -> tuple[list[str | int], list[str | int], list[Kind]]:
    """Two paths of literals and numbers of attributes, and the kinds of the attributes."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    piece = st.sampled_from(LITERALS) | st.integers(0, len(kinds) - 1)
    partition = draw(st.lists(piece, min_size=1, max_size=3))
    sort = draw(st.lists(piece, min_size=1, max_size=3))
    asked = {number for number in (*partition, *sort) if isinstance(number, int)}
    assume(asked)
    unsorted = {
        number
        for number in sort
        if isinstance(number, int) and not kinds[number].sorts and number not in partition
    }
    assume(not unsorted)
    return partition, sort, kinds


def _hint(kind: Any) -> Any:
    return Attr.__class_getitem__(kind)  # type: ignore[attr-defined]


def designed(
    table: type[Table], name: str, shape: tuple[list[str | int], list[str | int], list[Kind]]
) -> Made:
    """The entity of a shape, in a table; DeclarationError if it cannot live there."""
    partition, sort, kinds = shape
    attributes: list[Any] = [attr(pad=kind.pad) for kind in kinds]
    asked: list[int] = []

    def path(pieces: list[str | int]) -> Path[Any]:
        used: list[Any] = []
        for piece in pieces:
            if isinstance(piece, str):
                used.append(piece)
            elif piece in asked:
                used.append(Again(attributes[piece]))
            else:
                asked.append(piece)
                used.append(attributes[piece])
        return Path(tuple(used))

    body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    for number, declared in enumerate(attributes):
        body[f"a{number}"] = declared
        declared.name = f"a{number}"
        body["__annotations__"][f"a{number}"] = _hint(kinds[number].type)
    body["primary"] = key(path(partition), path(sort))
    entity = new_class(name, (Entity,), {"table": table}, lambda space: space.update(body))
    return Made(entity, st.tuples(*(kinds[number].values for number in asked)))


def _new_table() -> type[Table]:
    class Random(Table, name="random"): ...

    return Random


@given(shapes(), st.data())
def test_different_values_of_an_entity_have_different_keys(shape: Any, data: st.DataObject) -> None:
    made = designed(_new_table(), "One", shape)
    tuples = data.draw(st.lists(made.values, min_size=2, max_size=8, unique=True))
    keys = {repr(made.entity.primary(*values)._key) for values in tuples}
    assert len(keys) == len(tuples)


@given(st.tuples(texts, texts, texts), st.tuples(texts, texts, texts))
def test_texts_side_by_side_never_run_together(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (_joined(*one) == _joined(*other)) == (one == other)


class Joined(Table, name="joined"): ...


class Triple(Entity, table=Joined):
    a: Attr[str] = attr()
    b: Attr[str] = attr()
    c: Attr[str] = attr()
    primary = key(a / b, c)


def _joined(a: str, b: str, c: str) -> Any:
    return Triple.primary(a, b, c)._key


class Choosing(Table, name="choosing"): ...


class Choice(Entity, table=Choosing):
    first: Attr[Literal["a", "a#b"]] = attr()
    second: Attr[Literal["b#c", "c"]] = attr()
    primary = key("CHOICE", first / second)


def test_choices_that_hold_the_delimiter_have_different_keys() -> None:
    assert Choice.primary("a", "b#c")._key != Choice.primary("a#b", "c")._key


@settings(max_examples=300)
@given(shapes(), shapes(), st.data())
def test_entities_that_are_accepted_side_by_side_have_different_keys(
    one: Any, other: Any, data: st.DataObject
) -> None:
    table = _new_table()
    first = designed(table, "One", one)
    try:
        second = designed(table, "Other", other)
    except DeclarationError as refused:
        assert "can be the same key" in str(refused)  # noqa: PT017
        return
    ones = data.draw(st.lists(first.values, min_size=1, max_size=5))
    others = data.draw(st.lists(second.values, min_size=1, max_size=5))
    keys = [repr(first.entity.primary(*values)._key) for values in ones]
    assert not {repr(second.entity.primary(*values)._key) for values in others} & set(keys)


@settings(max_examples=200)
@given(shapes(), shapes(), st.data())
def test_without_a_type_every_item_is_known_by_its_key(
    one: Any, other: Any, data: st.DataObject
) -> None:
    class Untyped(Table, name="untyped", type_attribute=None): ...

    first = designed(Untyped, "One", one)
    try:
        second = designed(Untyped, "Other", other)
    except DeclarationError:
        return
    for made in (first, second):
        item = made.entity.primary(*data.draw(made.values))._key
        assert Untyped.__table__.entity_of(item) is made.entity.__entity__


# -- keys sort as values do ----------------------------------------------------------------------


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
        key_text: Any = Wide.primary._key.sort_value(row)["S"]
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

    class Doors(Table, name="doors"): ...

    class Door(Entity, table=Doors):
        door: Attr[str] = attr()
        state: Attr[Spaced] = attr()
        primary = key("DOOR" / door, "S" / state)

    class Gate(Entity, table=Doors):
        state: Attr[Spaced] = attr()
        gate: Attr[str] = attr()
        primary = key("GATES", "S" / state / gate)

    db = connect(":memory:", Doors)
    for state in Spaced:
        db.run(create(Door(state=state, door="1")))
        db.run(create(Gate(state=state, gate="1")))
    found = [door.state for door in db.run(Door.primary.within("1"))]
    assert found == sorted(Spaced)
    late = [door.state for door in db.run(Door.primary.within("1").gte(Spaced.OPEN_LATE))]
    assert late == [state for state in sorted(Spaced) if state >= Spaced.OPEN_LATE]
    with pytest.raises(DeclarationError, match=r"Gate\.primary: state is text with more behind it"):
        Gate.primary.within().gte(Spaced.OPEN_LATE)
    assert [gate.state for gate in db.run(Gate.primary.within().eq(Spaced.OPEN))] == [Spaced.OPEN]


# -- a prefix ends at a delimiter ----------------------------------------------------------------


class Nested(Table, name="nested"):
    second = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    primary = key("CUST" / customer, "ORDER" / order)
    listed = index(Nested.second, "CUST" / customer, order)


class Item(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    item: Attr[str] = attr()
    primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item)
    listed = index(Nested.second, "CUST" / customer, order / "ITEM" / item)


class Note(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    item: Attr[str] = attr()
    note: Attr[int] = attr(pad=2)
    primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item / note)


class Turn(Entity, table=Nested):
    customer: Attr[str] = attr()
    turn: Attr[str] = attr()
    primary = key("CUST" / customer, "turns" / turn)


class Turnstile(Entity, table=Nested):
    customer: Attr[str] = attr()
    turn: Attr[str] = attr()
    primary = key("CUST" / customer, "turnstile" / turn)


class NotedItem(Aggregate):
    item: Item = root()
    notes: list[Note] = children()


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[Item] = children()


class WholeOrder(Aggregate):
    order: Order = root()
    items: list[NotedItem] = children()


ids = st.sampled_from(NASTY) | texts
partitions = count()


@pytest.fixture(scope="module")
def nested() -> Database:
    return connect(":memory:", Nested)


@settings(max_examples=60)
@given(
    orders=st.sets(ids, max_size=6),
    items=st.sets(st.tuples(ids, ids), max_size=8),
    notes=st.sets(st.tuples(ids, ids, st.integers(0, 99)), max_size=6),
    turns=st.sets(ids, max_size=3),
    asked=st.lists(ids, min_size=1, max_size=4),
)
def test_a_prefix_selects_what_has_that_value_and_nothing_else(
    nested: Database,
    orders: set[str],
    items: set[tuple[str, str]],
    notes: set[tuple[str, str, int]],
    turns: set[str],
    asked: list[str],
) -> None:
    db, customer = nested, f"{next(partitions)}"
    for order in orders:
        db.run(put(Order(customer=customer, order=order)))
    for order, item in items:
        db.run(put(Item(customer=customer, order=order, item=item)))
    for order, item, note in notes:
        db.run(put(Note(customer=customer, order=order, item=item, note=note)))
    for turn in turns:
        db.run(put(Turn(customer=customer, turn=turn)))
        db.run(put(Turnstile(customer=customer, turn=turn)))

    assert _told(db, Turn.primary.within(customer), "turn") == sorted(turns)
    assert _told(db, Turnstile.primary.within(customer), "turn") == sorted(turns)
    assert _told(db, Order.primary.within(customer), "order") == sorted(orders)
    assert _told(db, Order.listed(customer), "order") == sorted(orders)
    for order in (*asked, *orders):
        own = sorted(item for o, item in items if o == order)
        assert _told(db, Item.primary.within(customer).eq(order), "item") == own
        assert _told(db, Item.listed(customer).eq(order), "item") == own
        assert _told(db, Order.primary.within(customer).eq(order), "order") == [
            each for each in orders if each == order
        ]
        begun = sorted(each for each in orders if each.startswith(order))
        assert _told(db, Order.primary.within(customer).begins_with(order), "order") == begun
        assert _told(db, Order.listed(customer).begins_with(order), "order") == begun
        begun = sorted(o for o, _ in items if o.startswith(order))
        found = _told(db, Item.primary.within(customer).begins_with(order), "order")
        assert sorted(found) == begun

        loaded = db.run(OrderWithItems.of(Order.primary(customer, order)))
        whole = db.run(WholeOrder.of(Order.primary(customer, order)))
        if order not in orders:
            assert loaded is None
            assert whole is None
            continue
        assert loaded is not None
        assert loaded.order.order == order
        assert [item.item for item in loaded.items] == own
        assert whole is not None
        assert {noted.item.item: [note.note for note in noted.notes] for noted in whole.items} == {
            item: sorted(n for o, i, n in notes if (o, i) == (order, item)) for item in own
        }


def _told(db: Database, plan: Any, attribute: str) -> list[Any]:
    """One attribute of all results, which small pages and a count agree with."""
    found = [getattr(entity, attribute) for entity in db.iterate(plan)]
    assert [getattr(entity, attribute) for entity in db.iterate(plan.page_size(2))] == found
    assert db.run(plan.count()) == len(found)
    return found


def test_an_empty_id_is_refused_wherever_it_is_given(nested: Database) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.primary: order is empty"):
        nested.run(create(Order(customer="C", order="")))
    with pytest.raises(InvalidValue, match=r"Order\.primary: order is empty"):
        nested.run(Order.primary("C", ""))
    with pytest.raises(InvalidValue, match=r"Item\.primary: order is empty"):
        nested.run(Item.primary.within("C").eq(""))


def test_the_root_of_an_aggregate_is_the_one_that_was_asked_for() -> None:
    """Also where a member does not lie below it, and the whole partition is read."""

    class Desk(Table, name="desk"): ...

    class Person(Entity, table=Desk):
        person: Attr[str] = attr()
        primary = key("P" / person, "PROFILE")

    class Task(Entity, table=Desk):
        person: Attr[str] = attr()
        task: Attr[str] = attr()
        primary = key("P" / person, "TASK" / task)

    class TaskOfPerson(Aggregate):
        task: Task = root()
        person: Person = child()

    db = connect(":memory:", Desk)
    db.run(create(Person(person="ann")))
    for task in ("1", "2"):
        db.run(create(Task(person="ann", task=task)))
    try:
        plan = TaskOfPerson.of(Task.primary("ann", "2"))
    except DeclarationError:
        return
    loaded = db.run(plan)
    assert loaded is not None
    assert loaded.task.task == "2"
    assert db.run(TaskOfPerson.of(Task.primary("ann", "3"))) is None


# -- what is in an index, whoever declared it ----------------------------------------------------


class Market(Table, name="market", pk="pk", sk="sk"):
    reverse = GSI("sk", "pk")
    by_id = GSI("id")


class Visit(Entity, table=Market):
    user: Attr[str] = attr()
    stall: Attr[str] = attr()
    primary = key("U" / user, "S" / stall)
    visitors = primary.swapped(Market.reverse)


class Rating(Entity, table=Market):
    """It is in the reverse index as well: every item has a pk and an sk."""

    rating: Attr[str] = attr()
    stall: Attr[str] = attr()
    primary = key("R" / rating, "S" / stall)


class Stall(Entity, table=Market):
    stall: Attr[str] = attr(name="id")
    name: Attr[str] = attr()
    primary = key("STALL" / stall, "META")
    by_name = unique("NAME" / name, "META")
    stalls = primary.swapped(Market.reverse)
    found = index(Market.by_id, stall)


class Seat(Entity, table=Market):
    """It is in the index by id as well, for it has one."""

    seat: Attr[str] = attr(name="id")
    colour: Attr[str] = attr()
    primary = key("SEAT" / seat, "SEAT")


@pytest.fixture
def market() -> Database:
    return connect(":memory:", Market)


def test_rows_of_an_entity_that_did_not_ask_for_a_swapped_index_stay_out(market: Database) -> None:
    visit = Visit(user="a", stall="1")
    market.run(create(visit))
    market.run(create(Rating(rating="a", stall="1")))
    assert market.run(Visit.visitors("1")) == [visit]


def test_sentinels_stay_out_of_a_swapped_index(market: Database) -> None:
    stall = Stall(stall="1", name="n")
    market.run(create(stall))
    assert market.run(Stall.stalls()) == [stall]


def test_rows_of_an_entity_that_did_not_ask_for_a_natural_index_stay_out(market: Database) -> None:
    seat = Seat(seat="1", colour="red")
    market.run(create(seat))
    assert market.run(Stall.found("1")) == []


def test_sentinels_stay_out_of_a_natural_index(market: Database) -> None:
    stall = Stall(stall="1", name="n")
    market.run(create(stall))
    assert market.run(Stall.found("1")) == [stall]


# -- a comparison selects what Python's does -----------------------------------------------------


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
    path: Path[Any] = Path(("ROW", piece)) if last else Path(("ROW", piece, tail))
    row = _entity(
        Ranged,
        "Row",
        p=p,
        value=value,
        value_type=part.type,
        tail=tail,
        primary=key("P" / p, path),
        listed=index(Ranged.second, "G" / p, Path((piece,)) if last else Path((piece, tail))),
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
        deeper: Path[Any] = Path(("ROW", again, "DEEP", "DEEP", number))
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
@settings(max_examples=40)
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
        return (-value if part.down else value, "" if place.last else entity.tail)

    ordered = sorted(entities, key=rank)
    operand = part.derived(
        data.draw(st.sampled_from([value for value, _ in drawn]) if drawn else part.values)
        if data.draw(st.booleans())
        else data.draw(part.values)
    )
    second = part.derived(data.draw(part.values))
    low, high = min(operand, second), max(operand, second)
    for start in place.ranges:
        whole = start(partition)
        _same(db, whole, ordered)
        for method, holds in COMPARISONS.items():
            expected = [each for each in ordered if holds(part.derived(each.value), operand)]
            _same(db, getattr(whole, method)(operand), expected)
        expected = [each for each in ordered if low <= part.derived(each.value) <= high]
        _same(db, whole.between(low, high), expected)


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


class Natural(Table, name="natural", pk="sensor", sk="at", type_attribute=None): ...


class Reading(Entity, table=Natural):
    sensor: Attr[str] = attr()
    at: Attr[int] = attr()
    primary = key(sensor, at)


@pytest.fixture(scope="module")
def natural() -> Database:
    return connect(":memory:", Natural)


@settings(max_examples=40)
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


# -- where(): the same, by conditions ------------------------------------------------------------


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
