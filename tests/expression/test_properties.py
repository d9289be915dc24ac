"""Laws, on expressions and items that nobody thought of."""

from __future__ import annotations

import contextlib
import copy
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright.errors import ValidationException
from tablewright.expression import Scope
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tablewright.expression.printing import EXPRESSION
from tablewright.expression.tree import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Condition,
    DeleteAction,
    In,
    Not,
    Or,
    Path,
    ProjectionTree,
    RemoveAction,
    SetAction,
    UpdateSection,
    UpdateTree,
    Value,
)
from tests.expression.printing import print_condition, print_projection, print_update

COMPARATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
names = st.sampled_from(["a", "b", "c1", "d_e", "#x", "#1"])
paths = st.builds(
    lambda first, rest: Path((first, *rest)),
    names,
    st.lists(names | st.integers(0, 99), max_size=3),
)
values = st.builds(Value, st.sampled_from([":v", ":w", ":0"]))
sizes = st.builds(lambda path: Call("size", (path,)), paths)
operands = paths | values | sizes
tests: st.SearchStrategy[Condition] = st.builds(Comparison, COMPARATORS, operands, operands)
tests |= st.builds(Between, operands, operands, operands)
tests |= st.builds(In, operands, st.lists(operands, min_size=1, max_size=3).map(tuple))
tests |= st.builds(
    Call, st.sampled_from(["contains", "begins_with"]), st.tuples(operands, operands)
)
conditions = st.recursive(
    tests,
    lambda inner: (
        st.builds(Not, inner)
        # A chain is one node, so an And holds no And unless it was written in parentheses.
        | st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=12,
)
update_operands = st.recursive(
    paths | values,
    lambda inner: st.builds(lambda path, other: Call("if_not_exists", (path, other)), paths, inner),
    max_leaves=3,
)
sums = update_operands | st.builds(
    Arithmetic, st.sampled_from("+-"), update_operands, update_operands
)
sums |= st.builds(
    lambda left, right: Call("list_append", (left, right)), update_operands, update_operands
)


def section(keyword: str, action: st.SearchStrategy[Any]) -> st.SearchStrategy[UpdateSection]:
    several = st.lists(action, min_size=1, max_size=3).map(tuple)
    return st.builds(UpdateSection, st.just(keyword), several)


updates = st.lists(
    section("SET", st.builds(SetAction, paths, sums))
    | section("REMOVE", st.builds(RemoveAction, paths))
    | section("ADD", st.builds(AddAction, paths, values))
    | section("DELETE", st.builds(DeleteAction, paths, values)),
    min_size=1,
    max_size=4,
).map(lambda sections: UpdateTree(tuple(sections)))


@given(conditions)
def test_a_printed_condition_parses_to_itself(tree: Any) -> None:
    assert parse_condition("ConditionExpression", print_condition(tree)) == tree


@given(conditions)
def test_the_condition_of_a_request_means_what_its_tree_means(tree: Any) -> None:
    """A chain in a chain may be one chain in the text, so only the texts are equal."""
    text = EXPRESSION.condition(tree)
    assert EXPRESSION.condition(parse_condition("ConditionExpression", text)) == text


@given(updates)
def test_a_printed_update_parses_to_itself(tree: UpdateTree) -> None:
    assert parse_update(print_update(tree)) == tree


@given(st.lists(paths, min_size=1).map(lambda found: ProjectionTree(tuple(found))))
def test_a_printed_projection_parses_to_itself(tree: ProjectionTree) -> None:
    assert parse_projection(print_projection(tree)) == tree


WORDS = [
    "a",
    "b.c",
    "#x",
    ":v",
    "0",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "=",
    "<>",
    "<",
    "+",
    "-",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "SET",
    "ADD",
    "size(",
    "contains(",
    "é",
]


@given(st.lists(st.sampled_from(WORDS)).map(" ".join) | st.text(max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    for kind in ("condition", "update", "projection", "key_condition"):
        try:
            outcome = getattr(Scope({"#x": "x"}, {":v": {"S": "x"}}), kind)(text)
        except ValidationException as refusal:
            outcome = refusal.message
        assert outcome


# -- meaning

integers = st.integers(-20, 20)
scalars: st.SearchStrategy[dict[str, Any]] = (
    integers.map(lambda number: {"N": str(number)})
    | st.text("abé😀", max_size=2).map(lambda text: {"S": text})
    | st.sampled_from([{"BOOL": True}, {"BOOL": False}, {"NULL": True}])
    | st.sets(st.sampled_from("abc"), min_size=1).map(lambda found: {"SS": sorted(found)})
)
attribute_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda found: {"L": found})
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(lambda found: {"M": found})
    ),
    max_leaves=8,
)
items = st.dictionaries(st.sampled_from("abc"), attribute_values, max_size=3)


def reference(operator: str, left: Any, right: Any) -> bool:
    """Comparison, as slow and plain as possible."""
    if operator == "=":
        return left is not None and left == right
    if operator == "<>":
        return not reference("=", left, right)
    if left is None or right is None or set(left) != set(right) or not set(left) & {"S", "N"}:
        return False
    if "N" in left:
        one, two = Decimal(left["N"]), Decimal(right["N"])
        less, same = one < two, one == two
    else:
        before, after = left["S"].encode(), right["S"].encode()
        less, same = before < after, before == after
    return {"<": less, "<=": less or same, ">": not less and not same, ">=": not less}[operator]


@given(items, COMPARATORS)
def test_comparisons_agree_with_a_plain_reference(item: Any, operator: str) -> None:
    condition = Scope().condition(f"a {operator} b")
    assert condition is not None
    assert condition.holds(item) is reference(operator, item.get("a"), item.get("b"))


@given(items, st.sampled_from(["a = b", "a < b", "contains(a, b)", "size(a) > size(b)"]))
def test_not_not_is_nothing(item: Any, text: str) -> None:
    plain, twice = Scope().condition(text), Scope().condition(f"NOT NOT {text}")
    assert plain is not None
    assert twice is not None
    assert plain.holds(item) is twice.holds(item)


ACTIONS = st.sampled_from(
    [
        "SET a = b",
        "SET a.b = :v",
        "SET a[0] = :v, a[9] = b",
        "SET a = if_not_exists(b, :v), b = :v",
        "SET a = b + :v",
        "REMOVE a[0], a[1]",
        "REMOVE a.b, c",
        "ADD a :v, b.a :v",
        "DELETE a :s",
        "SET a = list_append(b, c) REMOVE c",
    ]
)


@given(items, ACTIONS)
def test_an_update_never_changes_its_item(item: Any, text: str) -> None:
    before = copy.deepcopy(item)
    update = Scope(None, {":v": {"N": "1"}, ":s": {"SS": ["a"]}}).update(text)
    assert update is not None
    with contextlib.suppress(ValidationException):
        update.apply(item)
    assert item == before


@given(items)
def test_a_projection_gives_only_what_is_there(item: Any) -> None:
    project = Scope().projection("a.b, a.c[0], b[1], c")
    assert project is not None
    picked = project(item)
    assert project(picked).keys() <= picked.keys() <= item.keys()
    assert picked.get("c") == item.get("c")
