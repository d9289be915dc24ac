"""A statement does what the equal Query, Scan or UpdateItem does, on the same items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tablewright.errors import ConditionalCheckFailedException, ValidationException
from tablewright.expression.tree import (
    KEYWORDS,
    Action,
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
    RemoveAction,
    SetAction,
    UpdateSection,
    UpdateTree,
    Value,
)
from tablewright.partiql.printing import format_condition, format_path, format_value
from tests.engine.database import av, item, table_request
from tests.examples import examples
from tests.expression.printing import print_condition, print_update

Json = dict[str, Any]

CONSTANTS: list[Json] = [
    *map(av, (0, 1, 2, 3, "a", "b", "ab", True, None, b"x", [1], {"k": 1}, {1, 2}, {"a", "b"})),
]
VALUES = {f":v{number}": value for number, value in enumerate(CONSTANTS)}
ITEMS = [
    item(
        pk=pk, sk=sk, num=sk % 3, txt=pk * sk, tags=["a", sk], doc={"k": sk, "deep": {"d": [1, pk]}}
    )
    for pk in ("a", "b", "c")
    for sk in range(5)
] + [item(pk="a", sk=9, num="text", txt=b"x", tags={"a", "b"}, doc={1, 2})]

NESTED: list[tuple[str | int, ...]] = [
    ("doc", "k"),
    ("tags", 0),
    ("doc", "deep", "d", 1),
    ("doc", "fresh"),
]
TOP = ["num", "txt", "tags", "doc", "absent"]
paths = st.sampled_from([*(Path((name,)) for name in TOP), *map(Path, NESTED)])
values = st.sampled_from(list(VALUES)).map(Value)
operands = paths | values | st.builds(lambda path: Call("size", (path,)), paths)
comparators = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
tests: st.SearchStrategy[Condition] = st.builds(Comparison, comparators, operands, operands)
tests |= st.builds(Between, paths, values, values)
tests |= st.builds(In, paths, st.lists(values, min_size=1, max_size=3).map(tuple))
tests |= st.builds(Call, st.sampled_from(["contains", "begins_with"]), st.tuples(paths, values))
tests |= st.builds(lambda path: Call("attribute_not_exists", (path,)), paths)
conditions = st.recursive(
    tests,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=5,
)
sort_tests = st.one_of(
    st.none(),
    st.builds(
        Comparison,
        st.sampled_from(["=", "<", "<=", ">", ">="]),
        st.just(Path(("sk",))),
        st.sampled_from([":v0", ":v1", ":v3"]).map(Value),
    ),
    st.just(Between(Path(("sk",)), Value(":v1"), Value(":v3"))),
)


class Literals:
    """Prints values as literals; binaries, and every third value, are parameters."""

    def __init__(self) -> None:
        self.parameters: list[Json] = []
        self.count = 0

    def __call__(self, name: str) -> str:
        self.count += 1
        if "B" in VALUES[name] or self.count % 3 == 0:
            self.parameters.append(VALUES[name])
            return "?"
        return format_value(VALUES[name])


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        for name in ("read", "statement", "expression"):
            engine.call("CreateTable", table_request(name, "pk:S / sk:N"))
        for one in ITEMS:
            engine.call("PutItem", {"TableName": "read", "Item": one})
        yield engine


def outcome(act: Callable[[], object]) -> object:
    """The result, or the message of the fault without the kind of expression."""
    try:
        return act()
    except (ValidationException, ConditionalCheckFailedException) as fault:
        message = fault.message.removeprefix("1 validation error detected: ")  # no PartiQL has it
        kind, found, rest = message.partition("Expression: ")
        return type(fault), rest if found and kind.startswith("Invalid ") else message


def execute(engine: Engine, text: str, parameters: list[Json], **members: Any) -> Json:
    request: Json = {"Statement": text, **members}
    if parameters:
        request["Parameters"] = parameters
    return engine.call("ExecuteStatement", request)


def used(text: str) -> Json:
    """The ExpressionAttributeValues that a text uses."""
    found = {name: VALUES[name] for name in re.findall(r":v[0-9]+", text)}
    return {"ExpressionAttributeValues": found} if found else {}


@given(
    partition=st.sampled_from([None, ":v4", ":v5", ":v6"]),
    sort=sort_tests,
    condition=st.none() | conditions,
    limit=st.none() | st.integers(1, 20),
    backwards=st.booleans(),
)
@examples(200)
def test_a_select_reads_what_query_or_scan_reads(
    engine: Engine,
    partition: str | None,
    sort: Condition | None,
    condition: Condition | None,
    limit: int | None,
    backwards: bool,
) -> None:
    show = Literals()
    request: Json = {"TableName": "read"}
    terms: list[str] = []
    order = ""
    if partition is None:
        operation, sort = "Scan", None
    else:
        operation = "Query"
        key: list[Condition] = [Comparison("=", Path(("pk",)), Value(partition))]
        key += [sort] if sort else []
        terms += [format_condition(test, show) for test in key]
        request["KeyConditionExpression"] = " AND ".join(map(print_condition, key))
        request["ScanIndexForward"] = not backwards
        order = " ORDER BY sk DESC" if backwards else ""
    if condition is not None:
        terms.append(f"({format_condition(condition, show)})")
        request["FilterExpression"] = print_condition(condition)
    where = f" WHERE {' AND '.join(terms)}" if terms else ""
    text = f"SELECT * FROM read{where}{order}"
    request |= used(
        f"{request.get('KeyConditionExpression', '')} {request.get('FilterExpression', '')}"
    )
    members = {"ReturnConsumedCapacity": "TOTAL", **({"Limit": limit} if limit else {})}

    def by_statement() -> object:
        page = execute(engine, text, show.parameters, **members)
        return page["Items"], page.get("LastEvaluatedKey"), page["ConsumedCapacity"]

    def by_operation() -> object:
        page = engine.call(operation, request | members)
        return page["Items"], page.get("LastEvaluatedKey"), page["ConsumedCapacity"]

    expected = outcome(by_operation)
    if isinstance(sort, Comparison) and sort.operator == "=" and isinstance(expected, tuple):
        # A GetItem: it reads one item, so it has no further page.
        assert outcome(by_statement)[0] == expected[0]  # type: ignore[index]
    else:
        assert outcome(by_statement) == expected


@given(condition=conditions, limit=st.integers(1, 7))
@examples(100)
def test_pages_of_any_size_have_all_items(engine: Engine, condition: Condition, limit: int) -> None:
    show = Literals()
    filtered = format_condition(condition, show)
    for where in (f"({filtered})", f"pk IN ['a', 'c', 'b'] AND ({filtered})"):
        text = f"SELECT * FROM read WHERE {where}"
        try:
            whole = execute(engine, text, show.parameters)
        except ValidationException:
            return
        assert "NextToken" not in whole
        items: list[Json] = []
        token: Json = {}
        while True:
            page = execute(engine, text, show.parameters, Limit=limit, **token)
            items += page["Items"]
            if "NextToken" not in page:
                break
            token = {"NextToken": page["NextToken"]}
        assert items == whole["Items"]


CHANGED: list[tuple[str | int, ...]] = [
    *((name,) for name in ("num", "txt", "tags", "fresh")),
    *(("doc", "k"), ("doc", "deep", "d", 1), ("tags", 1), ("nowhere", "x")),
]
changed = st.sampled_from([Path(parts) for parts in CHANGED])
sets = st.sampled_from([":v12", ":v13"]).map(Value)
terms = paths | values
actions: st.SearchStrategy[Action] = st.builds(
    SetAction,
    changed,
    terms
    | st.builds(Arithmetic, st.sampled_from("+-"), terms, terms)
    | st.builds(lambda left, right: Call("list_append", (left, right)), terms, terms),
)
actions |= st.builds(RemoveAction, changed)
actions |= st.builds(AddAction, changed, sets) | st.builds(DeleteAction, changed, sets)


def print_statement_action(action: Action, show: Literals) -> str:
    path = format_path(action.path)

    def operand(found: Any) -> str:
        match found:
            case Path():
                return format_path(found)
            case Value(name):
                return show(name)
            case Call(function, arguments):
                return f"{function}({', '.join(map(operand, arguments))})"
            case Arithmetic(operator, left, right):
                return f"{operand(left)} {operator} {operand(right)}"
        raise AssertionError

    match action:
        case SetAction(_, value):
            return f"SET {path} = {operand(value)}"
        case RemoveAction():
            return f"REMOVE {path}"
        case AddAction(_, value):
            return f"SET {path} = set_add({path}, {operand(value)})"
        case DeleteAction(_, value):
            return f"SET {path} = set_delete({path}, {operand(value)})"


@given(
    start=st.none() | st.sampled_from(ITEMS),
    changes=st.lists(actions, min_size=1, max_size=4),
    condition=st.none() | conditions,
    returning=st.sampled_from(["ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]),
)
@examples(200)
def test_an_update_changes_what_update_item_changes(
    engine: Engine,
    start: Json | None,
    changes: list[Action],
    condition: Condition | None,
    returning: str,
) -> None:
    changes = sorted(changes, key=lambda action: type(action).__name__)
    key = item(pk="a", sk=1)
    for table in ("statement", "expression"):
        if start is None:
            engine.call("DeleteItem", {"TableName": table, "Key": key})
        else:
            engine.call("PutItem", {"TableName": table, "Item": start | key})
    show = Literals()
    text = " ".join(
        [
            "UPDATE statement",
            *(print_statement_action(action, show) for action in changes),
            "WHERE pk = 'a' AND sk = 1",
            *([f"AND ({format_condition(condition, show)})"] if condition else []),
            f"RETURNING {returning.replace('UPDATED', 'MODIFIED').replace('_', ' ')} *",
        ]
    )
    sections: dict[str, list[Action]] = {}
    for action in changes:
        sections.setdefault(KEYWORDS[type(action)], []).append(action)
    update = print_update(
        UpdateTree(tuple(UpdateSection(word, tuple(some)) for word, some in sections.items()))
    )
    whole = "attribute_exists(pk)"
    if condition is not None:
        whole += f" AND ({print_condition(condition)})"
    request = {
        "TableName": "expression",
        "Key": key,
        "UpdateExpression": update,
        "ConditionExpression": whole,
        "ReturnValues": returning,
    } | used(f"{update} {whole}")

    def by_operation() -> object:
        found = engine.call("UpdateItem", request).get("Attributes")
        return [] if found is None else [found]

    by_statement = outcome(lambda: execute(engine, text, show.parameters)["Items"])
    assert by_statement == outcome(by_operation)
    assert engine.call("GetItem", {"TableName": "statement", "Key": key}) == engine.call(
        "GetItem", {"TableName": "expression", "Key": key}
    )
