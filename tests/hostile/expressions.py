"""Hostile expressions: few kilobytes of text that make the engine work on large stored items.

`bodies` attacks decoding and validation. Here the requests are valid, or refused by their effect:
every comparator, function and action, on values of every type, repeated until the expression has
4 KB, in every operation that takes expressions. The chains of conditions exist with AND and with
OR, so that one of both evaluates all of its tests.

The requests depend on the size of items and the seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from tablewright.limits import MAX_EXPRESSION_OPERATORS, MAX_ITEM_SIZE, MAX_TRANSACTION_ACTIONS
from tablewright.values import Item, Value

LARGE, TINY = "large", "tiny"
MAX_TEXT = 4000
#: The copies of the list that transactions and batches address.
COPIES = 100

#: Tests of a condition. `a` and `c` are equal but for their last member, `v` and `w` likewise.
EQUALITIES = ("a = :v", "a <> :w", "a = c", ":v = :w", "NOT a = :v", "a IN (:v,:w,:v)", "c IN (a)")
SEARCHES = (
    "contains(a, :e)",
    "contains(a, c)",
    "contains(:v, a)",
    "contains(:v, :e)",
    "contains(:v, pk)",
)
ORDERS = ("a < :v", "a <= :w", ":v > a", "a >= c", "a BETWEEN :v AND :w", "begins_with(a, :v)")
OTHERS = (
    "size(a) < :n",
    "size(:v) > :n",
    "size(a) = size(c)",
    "attribute_type(a, :t)",
    "attribute_exists(a)",
    "attribute_not_exists(a[99999])",
    "a[99999] = :e",
    "a.k99 = :e",
)
TESTS = (*EQUALITIES, *SEARCHES, *ORDERS, *OTHERS)

#: Updates, each repeated with `{}` as a number.
SETS = (
    "x{} = a",
    "x{} = :v",
    "x{} = list_append(a, a)",
    "x{} = list_append(a, :v)",
    "x{} = list_append(if_not_exists(x{}, a), if_not_exists(x{}, :v))",
    "x{} = if_not_exists(a, c)",
    "x{} = if_not_exists(pk, if_not_exists(a, if_not_exists(c, :v)))",
    "x{} = if_not_exists(x{}, a[{}])",
    "x{} = a[{}]",
    "a[{}] = :e",
    "a[{}] = a[{}]",
    "a[{}] = a",
    "a.y{} = a",
    "x{} = n + :n",
    "x{} = size(a) + :n",
    "x{} = list_append(a, a) + :n",
)
ACTIONS = {
    "SET": SETS,
    "REMOVE": ("a[{}]", "x{}", "a.k{}"),
    "ADD": ("x{} :v", "t.y{} :v", "n{} :n"),
    "DELETE": ("x{} :v", "t.y{} :v", "t.k{} :v"),
}


class Request(NamedTuple):
    name: str
    operation: str
    request: dict[str, Any]


def tables() -> Iterator[dict[str, Any]]:
    """A table of large items with indexes, and one of many tiny items."""
    for name in (LARGE, TINY):
        yield {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        }


def subjects(size: int = MAX_ITEM_SIZE) -> dict[str, tuple[Value, Value]]:
    """For each type, two values of half an item that differ in their last member only."""
    half = size // 2 - 200
    texts = [f"{number:06}" for number in range(half // 6)]
    numbers = [str(number) for number in range(100_000, 100_000 + half // 4)]
    binaries = [f"{number:08}" for number in range(half // 6)]
    chain = _nest({"L": [{"S": ""}] * (half - 30 * 6)}, 30)
    wide: Value = {"L": [{"L": []}] * (half // 4)}
    return {
        "list": ({"L": [{"S": ""}] * half}, {"L": [*[{"S": ""}] * (half - 1), {"S": "x"}]}),
        "lists": (wide, {"L": [*wide["L"][1:], {"L": [{"S": ""}]}]}),
        "map": _maps(half // 7),
        "deep": (chain, _nest({"L": [*[{"S": ""}] * (half - 30 * 6 - 1), {"S": "x"}]}, 30)),
        "string set": ({"SS": texts}, {"SS": [*texts[:-1], "x"]}),
        "number set": ({"NS": numbers}, {"NS": [*numbers[:-1], "999999999"]}),
        "binary set": ({"BS": binaries}, {"BS": [*binaries[:-1], "AAAA"]}),
        "text": ({"S": "a" * half}, {"S": "a" * (half - 1) + "b"}),
        "unicode": ({"S": "é" * (half // 2)}, {"S": "é" * (half // 2 - 1) + "b"}),
        "binary": ({"B": "AAAA" * (half // 3)}, {"B": "AAAA" * (half // 3 - 1) + "AAAB"}),
        "number": ({"N": "9" * 38}, {"N": "9" * 37}),
    }


def _nest(value: Value, depth: int) -> Value:
    for _ in range(depth):
        value = {"M": {"k": value}}
    return value


def _maps(count: int) -> tuple[Value, Value]:
    members = {f"k{number:05}": {"S": ""} for number in range(count)}
    return {"M": members}, {"M": {**members, f"k{count - 1:05}": {"S": "x"}}}


def stored(size: int = MAX_ITEM_SIZE, copies: int = COPIES) -> Iterator[tuple[str, Item]]:
    """The items of the table of large items, then `copies` of one list."""
    for name, (one, two) in subjects(size).items():
        yield LARGE, {"pk": {"S": name}, "a": one, "c": two, "n": {"N": "1"}, "t": {"M": {}}}
    elements = {"L": [{"S": ""}] * (size - 200)}
    for number in range(copies):
        yield LARGE, {"pk": {"S": f"copy{number}"}, "a": elements, "n": {"N": "1"}}


def tiny(count: int) -> Iterator[tuple[str, Item]]:
    for number in range(count):
        yield TINY, {"pk": {"S": f"{number:x}"}, "a": {"N": "1"}}


def requests(
    size: int = MAX_ITEM_SIZE, *, seed: int = 0, copies: int = COPIES
) -> Iterator[Request]:
    """Every test on every type, and every action, each in one of the operations that take it."""
    chance = random.Random(seed)
    found = subjects(size)
    for subject, (one, two) in found.items():
        for test in TESTS:
            for word in (" AND ", " OR "):
                values = _used(test, one, two)
                condition = chain(test, word)
                yield from _conditions(
                    subject, f"{subject}: {test}{word}…", condition, values, chance
                )
        for keyword, actions in ACTIONS.items():
            for action in actions:
                yield from _updates(subject, keyword, action, one, two, chance)
    yield from _projections(size)
    yield from _many(size, copies, found["list"])
    yield from _scans(found)


def chain(test: str, word: str) -> str:
    """Repeat a test until the expression has 4 KB or 300 operators."""
    operators = 1 + test.count("NOT") + test.count("size")
    count = min(MAX_TEXT // len(test + word), (MAX_EXPRESSION_OPERATORS - 1) // (operators + 1))
    if " IN (" in test:
        head, _, options = test.partition(" IN (")
        options = ",".join([options[:-1]] * (90 // (options.count(",") + 1)))
        test = f"{head} IN ({options})"
        count = MAX_TEXT // len(test + word)
    return word.join([test] * count)


def repeat(action: str, text: int = MAX_TEXT) -> str:
    """Repeat an action with ascending numbers."""
    operators = max(1, sum(action.count(word) for word in ("(", " + ")))
    count = min(text // (len(action) + 6), (MAX_EXPRESSION_OPERATORS - 1) // operators)
    return ", ".join(action.replace("{}", str(number)) for number in range(count))


def _used(text: str, one: Value, two: Value) -> dict[str, Value]:
    """The values that a text refers to."""
    values = {":v": one, ":w": two, ":e": {"S": "y"}, ":n": {"N": "7"}, ":t": {"S": "L"}}
    return {name: value for name, value in values.items() if name in text}


def _with(request: dict[str, Any], values: dict[str, Value]) -> dict[str, Any]:
    return {**request, "ExpressionAttributeValues": values} if values else request


def _conditions(
    subject: str, name: str, condition: str, values: dict[str, Value], chance: random.Random
) -> Iterator[Request]:
    key = {"pk": {"S": subject}}
    table = {"TableName": LARGE}
    refused = f"({condition}) AND attribute_not_exists(pk)"
    write = _with({**table, "ConditionExpression": refused}, values)
    kind = chance.choice(("put", "update", "delete", "transaction", "query", "scan"))
    match kind:
        case "put":
            yield Request(name, "PutItem", {**write, "Item": key})
        case "update":
            yield Request(name, "UpdateItem", {**write, "Key": key})
        case "delete":
            yield Request(name, "DeleteItem", {**write, "Key": key})
        case "transaction":
            check = {"ConditionCheck": {**write, "Key": key}}
            yield Request(name, "TransactWriteItems", {"TransactItems": [check]})
        case "query":
            filtered = condition.replace("pk", "n")
            query = {**table, "FilterExpression": filtered, "KeyConditionExpression": "pk = :p"}
            yield Request(name, "Query", _with(query, {**values, ":p": key["pk"]}))
        case _:
            yield Request(
                name,
                "Scan",
                _with({**table, "FilterExpression": condition, "Select": "COUNT"}, values),
            )


def _updates(
    subject: str, keyword: str, action: str, one: Value, two: Value, chance: random.Random
) -> Iterator[Request]:
    returned = chance.choice(("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"))
    request = {
        "TableName": LARGE,
        "Key": {"pk": {"S": subject}},
        "UpdateExpression": f"{keyword} {repeat(action)}",
        "ConditionExpression": "attribute_exists(pk)",
        "ReturnValues": returned,
    }
    name = f"{subject}: {keyword} {action}…"
    yield Request(name, "UpdateItem", _with(request, _used(action, one, two)))
    small = {"SS": ["x"]} if keyword in ("ADD", "DELETE") else {"L": [{"S": "x"}]}
    if ":v" in action:
        yield Request(f"{name} of a small value", "UpdateItem", _with(request, {":v": small}))


def _projections(size: int) -> Iterator[Request]:
    for name, paths in {
        "elements": ",".join(f"a[{number}]" for number in range(400)),
        "last elements": ",".join(f"a[{size // 2 - 500 + number}]" for number in range(300)),
        "members": ",".join(f"a.k{number:05}" for number in range(300)),
        "levels": ",".join("a" + ".k" * depth + f".x{depth}" for depth in range(28)),
        "attributes": "a,c,n",
    }.items():
        for subject in ("list", "map", "deep"):
            request = {
                "TableName": LARGE,
                "Key": {"pk": {"S": subject}},
                "ProjectionExpression": paths,
            }
            yield Request(f"{subject}: project {name}", "GetItem", request)
        request = {"TableName": LARGE, "ProjectionExpression": paths}
        yield Request(f"project {name}", "Scan", request)


def _many(size: int, copies: int, lists: tuple[Value, Value]) -> Iterator[Request]:
    """Transactions and batches on many large items."""
    keys = [{"pk": {"S": f"copy{number}"}} for number in range(copies)]
    keys = keys[:MAX_TRANSACTION_ACTIONS]

    def transaction(action: str, key: Item, **members: Any) -> dict[str, Any]:
        return {action: {"TableName": LARGE, "Key": key, **members}}

    updates = {
        "appended": f"SET {repeat('x{} = list_append(a, a)')}",
        "copied": "SET x = a",
        "small": "SET x = n",
        "element": "SET x = a[5] REMOVE a",
        "removed": "REMOVE a[0]",
        "emptied": "REMOVE a, n",
        "grown": f"SET {repeat('a[{}] = n')}",
    }
    for name, update in updates.items():
        actions = [transaction("Update", key, UpdateExpression=update) for key in keys]
        if name in ("small", "element", "emptied"):  # and refused by the last action
            actions[-1]["Update"]["ConditionExpression"] = "attribute_not_exists(pk)"
        yield Request(f"100 updates: {name}", "TransactWriteItems", {"TransactItems": actions})
    for name, condition in {
        "element": "a[5] = n",
        "chain": chain("a = n", " OR "),
        "contains": chain("contains(a, n)", " OR "),
        "exists": "attribute_not_exists(a)",
    }.items():
        actions = [
            transaction("ConditionCheck", key, ConditionExpression=condition) for key in keys
        ]
        yield Request(f"100 checks: {name}", "TransactWriteItems", {"TransactItems": actions})
    for name, projection in {"element": "a[5]", "number": "n"}.items():
        gets = [transaction("Get", key, ProjectionExpression=projection) for key in keys]
        yield Request(f"100 gets: {name}", "TransactGetItems", {"TransactItems": gets})
        batch = {LARGE: {"Keys": keys, "ProjectionExpression": projection}}
        yield Request(f"100 keys: {name}", "BatchGetItem", {"RequestItems": batch})
    statements = {
        "SELECT a[5]": "SELECT a[5] FROM large WHERE pk = 'copy{}'",
        "SELECT n": "SELECT n FROM large WHERE pk = 'copy{}'",
        "UPDATE": "UPDATE large SET x=list_append(a, a) SET y=list_append(a, a) WHERE pk='copy{}'",
    }
    for name, text in statements.items():
        entries = [{"Statement": text.replace("{}", str(number))} for number in range(25)]
        yield Request(f"25 statements: {name}", "BatchExecuteStatement", {"Statements": entries})
    tests = " OR ".join(["a = c"] * 250)
    yield Request(
        "a statement with OR",
        "ExecuteStatement",
        {"Statement": f"SELECT n FROM large WHERE {tests}"},
    )
    tests = " OR ".join(["contains(a, 'y')"] * 200)
    yield Request(
        "a statement with contains",
        "ExecuteStatement",
        {"Statement": f"SELECT n FROM large WHERE {tests}"},
    )
    options = ",".join(["?"] * 49)
    yield Request(
        "a statement with IN",
        "ExecuteStatement",
        {
            "Statement": f"SELECT n FROM large WHERE a IN [{options}]",
            "Parameters": [{"L": [{"S": ""}] * (size // 20)}] * 49,
        },
    )


def _scans(found: dict[str, tuple[Value, Value]]) -> Iterator[Request]:
    """Filters on a page of tiny items."""
    for test in (
        "a = :e",
        "a <> :n",
        "a IN (:n,:e)",
        "a < :n",
        "size(pk) > :n",
        "contains(pk, :e)",
    ):
        for word in (" AND ", " OR "):
            request = {"TableName": TINY, "FilterExpression": chain(test, word)}
            yield Request(f"tiny: {test}{word}…", "Scan", _with(request, _used(test, {}, {})))
    for subject, (one, two) in found.items():
        for test in (
            ":v = :w",
            ":v <> :w",
            "contains(:v, pk)",
            "a IN (:v)",
            ":v IN (:w)",
            "a = :v",
        ):
            request = {"TableName": TINY, "FilterExpression": test}
            yield Request(f"tiny: {test}, {subject}", "Scan", _with(request, _used(test, one, two)))
    numbers = [{"N": str(number)} for number in range(2, 300_000)]
    legacy = {"a": {"ComparisonOperator": "IN", "AttributeValueList": numbers}}
    yield Request("tiny: a legacy IN", "Scan", {"TableName": TINY, "ScanFilter": legacy})
    names = {f"b{number}": {"ComparisonOperator": "NULL"} for number in range(100_000)}
    yield Request("tiny: legacy names", "Scan", {"TableName": TINY, "ScanFilter": names})
    legacy_value = {"a": {"Value": found["list"][0]}, "c": {"Value": found["list"][1]}}
    yield Request(
        "legacy values",
        "DeleteItem",
        {"TableName": LARGE, "Key": {"pk": {"S": "deep"}}, "Expected": legacy_value},
    )
