"""An update with a bound, and a condition with a memo, mean the same as those without."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.encoding.items import ITEM_TO_UPDATE_TOO_LARGE, item_size, normalise_item
from tablewright.errors import ValidationException
from tablewright.expression import Scope
from tablewright.expression.evaluate import Memo, compile_condition
from tablewright.expression.parse import parse_condition, parse_update
from tablewright.expression.update import CompiledActions, SizeBudget
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item, Value

texts = st.sampled_from(["", "a", "é", "😀b"])
sets: st.SearchStrategy[Value] = st.one_of(
    st.lists(st.sampled_from("abcd"), min_size=1, unique=True).map(lambda some: {"SS": some}),
    st.lists(st.sampled_from("1234"), min_size=1, unique=True).map(lambda some: {"NS": some}),
)
scalars: st.SearchStrategy[Value] = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.integers(-3, 300).map(lambda number: {"N": str(number)}),
    st.sampled_from(["", "AAAA", "AAE="]).map(lambda text: {"B": text}),
    st.just({"NULL": True}),
    sets,
)
values: st.SearchStrategy[Value] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda some: {"L": some}),
        st.dictionaries(st.sampled_from("abé"), inner, max_size=3).map(lambda some: {"M": some}),
    ),
    max_leaves=8,
)
items = st.dictionaries(st.sampled_from("abcdeé"), values)
paths = st.sampled_from(["a", "b", "c", "d", "a.b", "a[0]", "b[1]", "b.a", "c[7]", "c.b.a", "d[0]"])
simple = st.recursive(
    paths | st.sampled_from([":v", ":w"]),
    lambda inner: st.builds("if_not_exists({}, {})".format, paths, inner),
    max_leaves=3,
)
operands = simple | st.builds("list_append({}, {})".format, simple, simple)
operands |= st.builds("{} {} {}".format, simple, st.sampled_from("+-"), simple)
#: No path contains another, or needs a list where another needs a map.
targets = st.sampled_from(["a", "b[1]", "b[0].a", "b[7]", "c.a", "c.b.a", "d", "e[0]", "e[3]"])
actions = st.one_of(
    st.builds(lambda path, operand: ("SET", path, f"{path} = {operand}"), targets, operands),
    st.builds(lambda path: ("REMOVE", path, path), targets),
    st.builds(
        lambda path, name: ("ADD", path, f"{path} {name}"), targets, st.sampled_from([":n", ":s"])
    ),
    st.builds(lambda path: ("DELETE", path, f"{path} :s"), targets),
)
updates = st.lists(actions, min_size=1, max_size=6, unique_by=lambda action: action[1]).map(
    lambda some: " ".join(
        f"{keyword} {', '.join(text for word, _, text in some if word == keyword)}"
        for keyword in dict.fromkeys(word for word, _, _ in some)
    )
)


def applied(actions: CompiledActions, item: Item, given: Item, size: int | None) -> Any:
    try:
        return actions.apply(item, given, size)
    except ValidationException as fault:
        return fault.message


@given(updates, items, values, values, sets)
def test_the_size_computed_beforehand_is_that_of_the_updated_item(
    text: str, item: Item, one: Value, two: Value, members: Value
) -> None:
    item = normalise_item(item)
    request = normalise_item({":v": one, ":w": two, ":n": {"N": "5"}, ":s": members})
    update = CompiledActions(parse_update(text))
    plain = applied(update, item, request, None)
    bounded = applied(update, item, request, item_size(item))
    if isinstance(plain, str):
        assert bounded == plain
    else:
        assert bounded == (plain[0], item_size(plain[0]))


TESTS = (
    *("a = b", "a <> :v", ":v = :w", "a IN (b, :v, c)", "a IN (:v, :w)", "contains(a, b)"),
    *("contains(a, :v)", "contains(:v, a)", "begins_with(a, b)", "a < b", "a >= c.b", "a = a[0]"),
    *("a BETWEEN b AND c", "size(a) = size(b)", "size(a) > size(:v)", "a.b = :w", "NOT a = b"),
)


@given(items, values, values)
def test_a_memo_changes_no_result(item: Item, one: Value, two: Value) -> None:
    item = normalise_item(item)
    given_values = normalise_item({":v": one, ":w": two})
    memo = Memo(given_values)
    for text in TESTS:
        test = compile_condition(parse_condition("", text))
        for _ in range(2):
            assert test(item, given_values, memo) == test(item, given_values, None), text


def test_a_memo_forgets_the_values_of_the_previous_item() -> None:
    given_values = {f":v{number}": {"L": [{"N": str(number)}]} for number in range(20)}
    names = " OR ".join(f"a = {name}" for name in given_values)
    condition = Scope(None, given_values).condition(names)
    assert condition is not None
    found = [condition.holds({"a": {"L": [{"N": str(number)}]}}) for number in range(30)]
    assert found == [True] * 20 + [False] * 10


def test_maps_are_equal_in_any_order_of_their_members() -> None:
    one = {"M": {"a": {"S": "x"}, "b": {"L": [{"M": {"c": {"S": ""}, "d": {"S": ""}}}]}}}
    two = {"M": {"b": {"L": [{"M": {"d": {"S": ""}, "c": {"S": ""}}}]}, "a": {"S": "x"}}}
    memo = Memo({})
    assert memo.equal(one, two)
    assert memo.has_element({"L": [one]}, two)


def list_of(size: int) -> Value:
    """A list whose size is exactly this."""
    return {"L": [{"S": ""}] * (size - 3)}


@pytest.mark.parametrize(
    "text",
    [
        "SET c = list_append(a, a) REMOVE a, b",
        "REMOVE a, b SET c = list_append(b, a)",
        "SET a = list_append(a, b), b = :v",
        "SET b = a, a = b",
        "SET c = list_append(if_not_exists(c, a), b), d = :v REMOVE a, b",
    ],
)
def test_what_an_update_replaces_or_removes_makes_room(text: str) -> None:
    item = {"a": list_of(130_000), "b": list_of(130_000)}
    used = {":v": {"S": ""}} if ":v" in text else None
    update = Scope(None, used).update(text)
    assert update is not None
    changed, size = update.apply_within_limit(item, item_size(item))
    assert changed == update.apply(item)
    assert size == item_size(changed)
    assert size <= MAX_ITEM_SIZE


def test_an_item_may_have_exactly_400_kb_after_an_update() -> None:
    item = {"a": list_of(200_000)}
    fits = {":v": {"S": "x" * (MAX_ITEM_SIZE - 200_002)}}
    update = Scope(None, fits).update("SET b = :v")
    assert update is not None
    assert update.apply_within_limit(item, 200_001)[1] == MAX_ITEM_SIZE
    update = Scope(None, {":v": {"S": fits[":v"]["S"] + "x"}}).update("SET b = :v")
    assert update is not None
    with pytest.raises(ValidationException, match=ITEM_TO_UPDATE_TOO_LARGE):
        update.apply_within_limit(item, 200_001)


def test_lists_that_do_not_fit_are_not_built() -> None:
    item = {"a": list_of(300_000)}
    lists = ", ".join(f"x{number} = list_append(a, a)" for number in range(150))
    update = Scope().update(f"SET {lists}")
    assert update is not None
    tracemalloc.start()
    try:
        with pytest.raises(ValidationException, match=ITEM_TO_UPDATE_TOO_LARGE):
            update.apply_within_limit(item, 300_001)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_budget_measures_a_value_once() -> None:
    budget = SizeBudget(10)
    value = {"L": [{"S": "abc"}]}
    assert budget.size(value) == 7
    value["L"].append({"S": "abc"})
    assert budget.size(value) == 7


def test_a_number_that_becomes_shorter_makes_room() -> None:
    """A sum may be shorter than the number that it replaces, unlike a union of sets."""
    actions = CompiledActions(parse_update("SET a = :big ADD n :n"))
    given: dict[str, Value] = {":big": {"S": "x" * 1000}, ":n": {"N": "-" + "1" * 37 + "0"}}
    small: Item = {"n": {"N": "1" * 38}, "pad": {"S": ""}}
    rest = MAX_ITEM_SIZE - item_size({**small, "n": {"N": "1"}, "a": given[":big"]})
    item = {**small, "pad": {"S": "x" * rest}}
    changed, size = actions.apply(item, given, item_size(item))
    assert (changed["n"], size) == ({"N": "1"}, MAX_ITEM_SIZE)
