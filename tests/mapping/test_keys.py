"""Keys: conditions on sort keys, and what a table knows of its entities."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, index, key, unique
from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.formats.codecs import Codec, coded
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition
from tablewright.mapping.key_parts import Delimiter, KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.symbol import Symbol
from tests.mapping.key_parts import (
    A_DAY,
    DOWN,
    FREE_NUMBER,
    NUMBER,
    OTHER,
    TEXT,
    WHERE,
    keyed,
    natural,
    part,
    template,
)
from tests.new_table import new_table

CODE = part(
    str, coded(Codec(encode=str, decode=str, ordered=True, alphabet="abc"), "Code"), name="code"
)


def test_a_value_that_is_used_again_is_asked_for_once() -> None:
    made = keyed(["CUST", TEXT], ["PROFILE", TEXT, "AT", NUMBER])
    assert made.parameters == (TEXT, NUMBER)
    assert made.partition_arity == 1
    assert made.encode(("C1", 7))["SK"] == {"S": "PROFILE#C1#AT#007"}


def test_values_compose_the_attributes_of_a_key() -> None:
    made = keyed(["CUST", TEXT], ["DAY", A_DAY, NUMBER])
    values = {"name": "C#1", "at": datetime(2026, 1, 15, 10, tzinfo=UTC), "number": 7}
    assert made.compose(values) == {
        "PK": {"S": "CUST#C$!1"},
        "SK": {"S": "DAY#2026-01-15#007"},
    }


@pytest.mark.parametrize("absent", ["name", "number"])
def test_nothing_is_composed_while_a_part_has_no_value(absent: str) -> None:
    values: Mapping[str, Any] = {"name": "C1", "number": 7, absent: None}
    assert keyed(["CUST", TEXT], ["N", NUMBER]).compose(values) is None


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [(str, "a#b", {"S": "a#b"}), (int, -7, {"N": "-7"}), (bytes, b"\x00", {"B": "AA=="})],
)
def test_a_natural_key_is_stored_as_the_attribute_is(kind: Any, value: Any, stored: Any) -> None:
    made = KeyMap(WHERE, {"id": natural(kind)}, {})
    assert made.encode((value,)) == made.partition_values((value,)) == {"id": stored}
    assert made.composed == ()
    assert made.compose({"id": value}) == {}


@pytest.mark.parametrize(
    ("given", "complete", "told"),
    [
        ((), True, "Order.primary takes name, number; 0 values were given"),
        (("C1",), True, "Order.primary takes name, number; 1 value was given"),
        (("C1", 7, 8), True, "Order.primary takes name, number; 3 values were given"),
        ((), False, "Order.primary takes name; 0 values were given"),
        (("C1", 7, 8), False, "Order.primary takes at most 2 values; 3 were given"),
    ],
)
def test_a_call_with_another_number_of_values_is_refused(
    given: tuple[Any, ...], complete: bool, told: str
) -> None:
    made = keyed(["CUST", TEXT], ["ORDER", NUMBER])
    with pytest.raises(DeclarationError) as refused:
        made.check_arguments(given, complete=complete)
    assert refused.value.message == told


# -- beginnings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "arguments", "beginning", "following"),
    [
        (("ORDER", TEXT), ("C",), "ORDER#", TEXT),
        (("ORDER", TEXT, "ITEM", NUMBER), ("C", "1"), "ORDER#1#ITEM#", NUMBER),
        ((TEXT, NUMBER), ("C",), "", TEXT),
        ((TEXT, NUMBER), ("C", "1"), "1#", NUMBER),
        (("O", OTHER, "X", TEXT), ("C",), "O#C#X#", TEXT),
        (("O", TEXT, OTHER, NUMBER), ("C", "1"), "O#1#C#", NUMBER),
    ],
)
def test_a_beginning_ends_at_a_delimiter(
    sort: tuple[str | KeyPart, ...],
    arguments: tuple[Any, ...],
    beginning: str,
    following: KeyPart,
) -> None:
    found = keyed(["CUST", OTHER], sort).next_part(len(arguments))
    assert found is not None
    assert found.part is following
    assert found.prefix(arguments) == beginning


@pytest.mark.parametrize("sort", [("ORDER", TEXT), ("ORDER", TEXT, "ITEM"), ("ORDER", OTHER)])
def test_no_part_follows_a_key_of_which_all_are_bound(sort: tuple[str | KeyPart, ...]) -> None:
    made = keyed(["CUST", OTHER], sort)
    assert made.next_part(len(made.parameters)) is None


# -- conditions ----------------------------------------------------------------------------------

ORDERS = keyed(["CUST", OTHER], ["ORDER", NUMBER])
ITEMS = keyed(["CUST", OTHER], ["ORDER", NUMBER, "ITEM", TEXT])
BARE = keyed(["CUST", OTHER], [NUMBER])
BARE_ITEMS = keyed(["CUST", OTHER], [NUMBER, TEXT])
SCORES = keyed(["CUST", OTHER], ["TOP", DOWN])
SCORED = keyed(["CUST", OTHER], ["TOP", DOWN, TEXT])
CLOSED = keyed(["CUST", OTHER], ["ORDER", NUMBER, "END"])


@pytest.mark.parametrize(
    ("made", "bound", "comparison", "operands", "shared", "alone"),
    [
        # the last part
        (ORDERS, (), None, (), ("begins_with", "ORDER#"), None),
        (ORDERS, (7,), None, (), ("=", "ORDER#007"), ("=", "ORDER#007")),
        (ORDERS, (), "=", (7,), ("=", "ORDER#007"), ("=", "ORDER#007")),
        (ORDERS, (), ">=", (7,), ("between", "ORDER#007", "ORDER$"), (">=", "ORDER#007")),
        (ORDERS, (), "<=", (7,), ("between", "ORDER#", "ORDER#007"), ("<=", "ORDER#007")),
        (
            ORDERS,
            (),
            "between",
            (7, 9),
            ("between", "ORDER#007", "ORDER#009"),
            ("between", "ORDER#007", "ORDER#009"),
        ),
        # more behind it
        (ITEMS, (), None, (), ("begins_with", "ORDER#"), None),
        (
            ITEMS,
            (7,),
            None,
            (),
            ("begins_with", "ORDER#007#ITEM#"),
            ("begins_with", "ORDER#007#ITEM#"),
        ),
        (ITEMS, (7, "a"), None, (), ("=", "ORDER#007#ITEM#a"), ("=", "ORDER#007#ITEM#a")),
        (ITEMS, (), "=", (7,), ("begins_with", "ORDER#007#"), ("begins_with", "ORDER#007#")),
        (ITEMS, (), ">=", (7,), ("between", "ORDER#007", "ORDER$"), (">=", "ORDER#007")),
        (ITEMS, (), ">", (7,), ("between", "ORDER#007$", "ORDER$"), (">", "ORDER#007$")),
        (ITEMS, (), "<=", (7,), ("between", "ORDER#", "ORDER#007$"), ("<=", "ORDER#007$")),
        (ITEMS, (), "<", (7,), ("between", "ORDER#", "ORDER#007"), ("<", "ORDER#007")),
        (
            ITEMS,
            (),
            "between",
            (7, 9),
            ("between", "ORDER#007", "ORDER#009$"),
            ("between", "ORDER#007", "ORDER#009$"),
        ),
        # within a beginning nobody is alone
        (
            ITEMS,
            (7,),
            ">=",
            ("a",),
            ("between", "ORDER#007#ITEM#a", "ORDER#007#ITEM$"),
            ("between", "ORDER#007#ITEM#a", "ORDER#007#ITEM$"),
        ),
        (
            ITEMS,
            (7,),
            "<=",
            ("a",),
            ("between", "ORDER#007#ITEM#", "ORDER#007#ITEM#a"),
            ("between", "ORDER#007#ITEM#", "ORDER#007#ITEM#a"),
        ),
        (
            ITEMS,
            (7,),
            "begins_with",
            ("a#",),
            ("begins_with", "ORDER#007#ITEM#a$!"),
            ("begins_with", "ORDER#007#ITEM#a$!"),
        ),
        # nothing in front of the part
        (BARE, (), None, (), None, None),
        (BARE, (), ">=", (7,), (">=", "007"), (">=", "007")),
        (BARE, (), ">", (7,), (">", "007"), (">", "007")),
        (BARE, (), "<=", (7,), ("<=", "007"), ("<=", "007")),
        (BARE, (), "<", (7,), ("<", "007"), ("<", "007")),
        (BARE_ITEMS, (), ">", (7,), (">", "007$"), (">", "007$")),
        (BARE_ITEMS, (), "<=", (7,), ("<=", "007$"), ("<=", "007$")),
        (BARE_ITEMS, (7,), None, (), ("begins_with", "007#"), ("begins_with", "007#")),
        # a literal behind the part
        (CLOSED, (), ">", (7,), ("between", "ORDER#007$", "ORDER$"), (">", "ORDER#007$")),
        (CLOSED, (7,), None, (), ("=", "ORDER#007#END"), ("=", "ORDER#007#END")),
        # larger values first
        (SCORES, (), ">=", (7,), ("between", "TOP#", "TOP#992"), ("<=", "TOP#992")),
        (SCORES, (), "<=", (7,), ("between", "TOP#992", "TOP$"), (">=", "TOP#992")),
        (SCORES, (), "=", (7,), ("=", "TOP#992"), ("=", "TOP#992")),
        (
            SCORES,
            (),
            "between",
            (7, 9),
            ("between", "TOP#990", "TOP#992"),
            ("between", "TOP#990", "TOP#992"),
        ),
        (SCORED, (), ">", (7,), ("between", "TOP#", "TOP#992"), ("<", "TOP#992")),
        (SCORED, (), "<", (7,), ("between", "TOP#992$", "TOP$"), (">", "TOP#992$")),
    ],
)
def test_a_comparison_is_one_condition_on_the_sort_key(
    made: KeyMap,
    bound: tuple[Any, ...],
    comparison: Comparison | None,
    operands: tuple[Any, ...],
    shared: tuple[Any, ...] | None,
    alone: tuple[Any, ...] | None,
) -> None:
    """In a partition that is shared with other entities, and in one that is not."""
    for is_exclusive, told in ((False, shared), (True, alone)):
        found = made.condition(("C1", *bound), comparison, operands, is_exclusive=is_exclusive)
        if told is not None and told[0] == "=":
            assert found.fixed() == {"PK": {"S": "CUST#C1"}, "SK": {"S": told[1]}}
        else:
            assert found == _on_key(told)


def _on_key(
    told: tuple[Any, ...] | None, excluded: str | None = None, partition: str = "CUST#C1"
) -> KeyCondition:
    equal = {"PK": {"S": partition}}
    if told is None:
        return KeyCondition(equal)
    comparison, *texts = told
    left_out = None if excluded is None else {"S": excluded}
    values = tuple({"S": text} for text in texts)
    return KeyCondition(equal, SortCondition("SK", comparison, values, left_out))


@pytest.mark.parametrize(
    ("made", "comparison", "told", "excluded"),
    [
        (ORDERS, ">", ("between", "ORDER#007", "ORDER$"), "ORDER#007"),
        (ORDERS, "<", ("between", "ORDER#", "ORDER#007"), "ORDER#007"),
        (SCORES, ">", ("between", "TOP#", "TOP#992"), "TOP#992"),
        (SCORES, "<", ("between", "TOP#992", "TOP$"), "TOP#992"),
    ],
)
def test_a_bound_that_between_lets_through_is_named_to_be_left_out(
    made: KeyMap, comparison: Comparison, told: tuple[Any, ...], excluded: str
) -> None:
    """DynamoDB takes one condition, and BETWEEN includes both ends."""
    assert made.condition(("C1",), comparison, (7,), is_exclusive=False) == _on_key(told, excluded)


@pytest.mark.parametrize("comparison", [">", "<"])
def test_nothing_is_left_out_where_no_key_ends_at_the_bound(comparison: Comparison) -> None:
    for made in (ITEMS, CLOSED, SCORED):
        found = made.condition(("C1",), comparison, (7,), is_exclusive=False)
        assert found.sort is not None
        assert found.sort.excluded is None


@pytest.mark.parametrize(
    ("kind", "comparison", "operands", "told"),
    [
        (str, None, (), None),
        (str, ">=", ("a#",), (">=", {"S": "a#"})),
        (str, "<", ("a$",), ("<", {"S": "a$"})),
        (str, "begins_with", ("a#",), ("begins_with", {"S": "a#"})),
        (int, ">", (-7,), (">", {"N": "-7"})),
        (int, "<=", (10,), ("<=", {"N": "10"})),
        (int, "between", (9, 10), ("between", {"N": "9"}, {"N": "10"})),
        (bytes, ">=", (b"\x01",), (">=", {"B": "AQ=="})),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_a_natural_sort_key_is_compared_as_it_is_stored(
    kind: Any,
    comparison: Comparison | None,
    operands: tuple[Any, ...],
    told: tuple[Any, ...] | None,
    alone: bool,
) -> None:
    made = KeyMap(WHERE, {"PK": template("ORDER")}, {"id": natural(kind)})
    found = made.condition((), comparison, operands, is_exclusive=alone)
    assert found.equal == {"PK": {"S": "ORDER"}}
    assert found.sort == (None if told is None else SortCondition("id", told[0], tuple(told[1:])))


def test_a_natural_sort_key_that_is_given_is_an_equality() -> None:
    made = KeyMap(WHERE, {"PK": template("ORDER")}, {"id": natural(int)})
    found = made.condition((7,), None, (), is_exclusive=False)
    assert found == KeyCondition({"PK": {"S": "ORDER"}, "id": {"N": "7"}})


def test_a_key_without_a_sort_key_has_no_condition_on_it() -> None:
    made = keyed(["CUST", TEXT], None)
    assert made.condition(("C1",), None, (), is_exclusive=False) == _on_key(None)


def test_arguments_that_are_not_known_yet_stand_in_the_condition_by_name() -> None:
    found = ITEMS.condition((Symbol("c"), Symbol("o")), ">=", (Symbol("from"),), is_exclusive=False)
    told = ("between", "ORDER#{o}#ITEM#{from}", "ORDER#{o}#ITEM$")
    assert found == _on_key(told, partition="CUST#{c}")


# -- which comparisons a key supports ------------------------------------------------------------

COMPARISONS: tuple[Comparison, ...] = ("=", "<", ">=", "between", "begins_with")


@pytest.mark.parametrize(
    ("sort", "supported"),
    [
        (template("ORDER", NUMBER), ["=", "<", ">=", "between"]),
        (template("ORDER", TEXT), ["=", "<", ">=", "between", "begins_with"]),
        # A character of the name can sort before the `#` behind it.
        (template("ORDER", TEXT, NUMBER), ["begins_with"]),
        (template("ORDER", FREE_NUMBER), []),  # 10 sorts before 9
        (template("ORDER", A_DAY), []),  # a day does not determine the time
        # `ax` sorts after `abx`, but `a` before `ab`.
        (Template((CODE, "x"), (0,)), []),
        (Template((CODE, "!"), (0,)), ["=", "<", ">=", "between"]),
        (natural(str), ["=", "<", ">=", "between", "begins_with"]),
        (template("ORDER"), []),
    ],
)
def test_a_key_condition_compares_only_what_sorts_as_the_attribute_does(
    sort: Template, supported: list[Comparison]
) -> None:
    made = KeyMap(WHERE, {"PK": template("CUSTOMER")}, {"SK": sort})
    assert [each for each in COMPARISONS if made.can_compare(0, each)] == supported


def test_a_key_without_a_sort_key_compares_nothing() -> None:
    made = keyed(["CUSTOMER"], None)
    assert made.next_part(0) is None
    assert not any(made.can_compare(0, comparison) for comparison in COMPARISONS)


def test_the_values_of_the_partition_key_are_enough_for_a_query() -> None:
    made = keyed(["CUSTOMER", TEXT], ["O", NUMBER])
    made.check_arguments(("C1",), complete=False)
    made.check_arguments(("C1", 7), complete=False)
    made.check_arguments(("C1", 7), complete=True)
    assert made.partition_values(("C1",)) == {"PK": {"S": "CUSTOMER#C1"}}
    assert made.show() == "PK=CUSTOMER#{name}, SK=O#{number}"


def test_an_equality_ends_at_the_whole_delimiter() -> None:
    """With `::` between parts, `a:b` is another value than `a`."""
    pair = Delimiter("::", escapes=False)
    names = [part(str, name=name, delimiter=pair) for name in "ab"]
    sort = {"SK": template(*names, delimiter=pair)}
    made = KeyMap(WHERE, {"PK": template("P")}, sort)
    found = made.condition((), "=", ("a",), is_exclusive=False)
    assert found == _on_key(("begins_with", "a::"), partition="P")


# -- what a table knows of its entities ----------------------------------------------------------


class Store(Table, name="store"):
    first = GSI("G1PK", "G1SK")
    second = GSI("G2PK", "G2SK")


class Customer(Entity, table=Store):
    customer: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("CUST" / customer, "PROFILE")
    by_email = unique("EMAIL" / email)
    listed = index(Store.first, "CUSTOMERS", email)


class Order(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("CUST" / customer, "ORDER" / number)
    listed = index(Store.first, "ORDERS", "N" / number)
    timeline = index(Store.second, "CUST" / customer, "ORDER" / number)


class Item(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    line: Attr[int] = attr(pad=3)
    primary = key("CUST" / customer, "ORDER" / number / "ITEM" / line)
    timeline = index(Store.second, "CUST" / customer, "ITEM" / number / line)


class Product(Entity, table=Store):
    sku: Attr[str] = attr()
    primary = key("PRODUCT", "SKU" / sku)


STORE: TableMap = Store.__table__


def _map(entity: type[Entity]) -> EntityMap:
    return entity.__entity__


def test_an_entity_is_alone_where_no_other_has_its_partitions() -> None:
    assert STORE.is_exclusive(_map(Product).primary)
    assert not STORE.is_exclusive(_map(Customer).primary)
    assert not STORE.is_exclusive(_map(Order).primary)


def test_an_index_is_judged_by_the_places_in_it() -> None:
    listed, timeline = _map(Order).indexes
    assert STORE.is_exclusive(listed)
    assert not STORE.is_exclusive(timeline)
    assert STORE.is_exclusive(_map(Customer).indexes[0])


def test_a_query_is_mixed_where_others_can_begin_as_it_does() -> None:
    order, item = _map(Order).primary, _map(Item).primary
    assert STORE.types_beside(order, 1)  # ORDER#… are orders and items
    assert STORE.types_beside(item, 1)
    assert not STORE.types_beside(order, 2)  # SK = ORDER#007 is no item
    assert not STORE.types_beside(item, 2)  # ORDER#007#ITEM#… are items
    assert not STORE.types_beside(_map(Customer).primary, 1)
    assert not STORE.types_beside(_map(Product).primary, 0)


def test_a_query_of_an_index_is_not_mixed_where_beginnings_differ() -> None:
    assert not STORE.types_beside(_map(Order).indexes[1], 1)
    assert not STORE.types_beside(_map(Item).indexes[0], 1)


def test_sentinels_share_the_partitions_of_a_table() -> None:
    mailed = new_table("mailed")

    class User(Entity, table=mailed):
        user: Attr[str] = attr()
        email: Attr[str] = attr()
        primary = key("USER" / user, "PROFILE")
        by_email = unique("EMAIL" / email, "EMAIL")

    class Alias(Entity, table=mailed):
        email: Attr[str] = attr()
        number: Attr[int] = attr(pad=2)
        primary = key("EMAIL" / email, "ALIAS" / number)

    assert not mailed.__table__.is_exclusive(_map(Alias).primary)
    assert not mailed.__table__.types_beside(_map(Alias).primary, 1)


def test_an_entity_that_comes_later_changes_what_is_known() -> None:
    growing = new_table("growing")

    class Plant(Entity, table=growing):
        bed: Attr[str] = attr()
        number: Attr[int] = attr(pad=2)
        primary = key("BED", "PLANT" / bed / number)

    assert growing.__table__.is_exclusive(_map(Plant).primary)
    assert not growing.__table__.types_beside(_map(Plant).primary, 1)

    class Leaf(Entity, table=growing):
        bed: Attr[str] = attr()
        number: Attr[int] = attr(pad=2)
        leaf: Attr[int] = attr(pad=2)
        primary = key("BED", "PLANT" / bed / number / "LEAF" / leaf)

    assert not growing.__table__.is_exclusive(_map(Plant).primary)
    assert growing.__table__.types_beside(_map(Plant).primary, 1)
    assert not growing.__table__.types_beside(_map(Leaf).primary, 2)


def test_a_partition_that_belongs_to_something_is_not_for_one_entity_alone() -> None:
    """Others of it will be there some day; a query says what it wants from the start."""

    class Owned(Table, name="owned"):
        by_owner = GSI("GSI1PK", "GSI1SK")

    class Thing(Entity, table=Owned):
        owner: Attr[str] = attr()
        number: Attr[int] = attr(pad=2)
        primary = key("OWNER" / owner, "THING" / number)
        owned = index(Owned.by_owner, "OWNER" / owner, "THING" / number)

    assert not Owned.__table__.is_exclusive(_map(Thing).primary)
    assert Owned.__table__.is_exclusive(_map(Thing).indexes[0])


def test_an_item_is_known_by_its_type() -> None:
    item = {"PK": {"S": "anything"}, "SK": {"S": "at all"}, "type": {"S": "Order"}}
    assert STORE.entity_of(item) is _map(Order)
    assert STORE.entity_of({**item, "type": {"S": "Unknown"}}) is None


class Untyped(Table, name="untyped", type_attribute=None): ...


class Shelf(Entity, table=Untyped):
    room: Attr[str] = attr()
    shelf: Attr[str] = attr()
    primary = key("ROOM" / room, "SHELF" / shelf)


class Board(Entity, table=Untyped):
    room: Attr[str] = attr()
    shelf: Attr[str] = attr()
    board: Attr[int] = attr(pad=2)
    primary = key("ROOM" / room, "SHELF" / shelf / board)


class Wing(Entity, table=Untyped):
    room: Attr[str] = attr()
    wing: Attr[str] = attr()
    primary = key("ROOM" / room / wing, "WING")


@pytest.mark.parametrize(
    ("partition", "sort", "entity"),
    [
        ("ROOM#a", "SHELF#1", Shelf),
        ("ROOM#a", "SHELF#1#02", Board),
        ("ROOM#a", "SHELF#1#2", Board),  # another spelling
        ("ROOM#a#b", "WING", Wing),
        ("ROOM#a\nb", "SHELF#1\n2", Shelf),
        ("ROOM#a", "DOOR#1", None),
        ("HALL#a", "SHELF#1", None),
    ],
)
def test_without_a_type_an_item_is_known_by_its_key(
    partition: str, sort: str, entity: type[Entity] | None
) -> None:
    found = Untyped.__table__.entity_of({"PK": {"S": partition}, "SK": {"S": sort}})
    assert found is (None if entity is None else _map(entity))


def test_a_line_break_in_a_value_does_not_make_another_entity_of_it() -> None:
    """Partition and sort key are two texts, whatever characters they hold."""
    item = _map(Wing).encode({"room": "a\nSHELF", "wing": "b"})
    assert Untyped.__table__.entity_of(item) is _map(Wing)
