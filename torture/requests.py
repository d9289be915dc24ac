"""Random requests of every operation: valid ones, and mutations of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tablewright.wire.operations import OPERATIONS
from tests.durability.orders import NAME, TABLE

Request = tuple[str, Any]

NUMBERS = ("0", "-0", "1", "-1", "1e125", "9" * 38, "1e-130", "0.1", "1e126", "9" * 39, "x", "")
TEXTS = ("", "a", "p0", "p1", "é", "e\u0301", "\0", "#", "\U0001f600", "a" * 1025, "a" * 2049, "Z")
BINARIES = ("", "AA==", "/w==", "AA", "not base64", "A" * 4000)


def value(chance: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a value of any type, usually a valid one."""
    kind = chance.choice(("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"))
    if kind == "S":
        return {"S": chance.choice(TEXTS)}
    if kind == "N":
        return {"N": chance.choice(NUMBERS)}
    if kind == "B":
        return {"B": chance.choice(BINARIES)}
    if kind in ("BOOL", "NULL"):
        return {kind: True}
    if kind in ("SS", "NS", "BS"):
        pool = {"SS": TEXTS, "NS": NUMBERS, "BS": BINARIES}[kind]
        return {kind: chance.sample(pool, chance.randrange(4))}
    if depth > 3:
        return {"S": "deep"}
    if kind == "L":
        return {"L": [value(chance, depth + 1) for _ in range(chance.randrange(4))]}
    names = chance.sample(("a", "b", "", "c.d"), chance.randrange(3))
    return {"M": {name: value(chance, depth + 1) for name in names}}


def key(chance: random.Random) -> dict[str, Any]:
    return {"pk": {"S": chance.choice(("p0", "p1"))}, "sk": {"S": str(chance.randrange(5))}}


def item(chance: random.Random) -> dict[str, Any]:
    found = key(chance)
    if chance.random() < 0.7:
        found["status"] = {"S": chance.choice(("open", "paid"))}
    if chance.random() < 0.7:
        found["total"] = {"N": str(chance.randrange(9))}
    for name in chance.sample(("a", "b", "l", "m", "version"), chance.randrange(3)):
        found[name] = value(chance)
    return found


CONDITIONS = (
    "attribute_exists(pk)",
    "attribute_not_exists(#a)",
    "#a = :a OR size(#a) > :n",
    "#a BETWEEN :a AND :n",
    "NOT contains(#a, :a)",
    "#a IN (:a, :n) AND attribute_type(#a, :t)",
    "begins_with(#a, :a)",
    "#a.#a[0] <> :n",
)
UPDATES = (
    "SET #a = :a",
    "SET #a = if_not_exists(#a, :n) + :n",
    "SET l = list_append(if_not_exists(l, :l), :l)",
    "REMOVE #a, l[0]",
    "ADD total :n",
    "DELETE #a :a",
    "SET m.#a = :a",
    "SET #a = :a REMOVE total ADD version :n",
)


def values(chance: random.Random, text: str) -> dict[str, Any]:
    """Return the names and values that an expression uses."""
    every = {":a": value(chance), ":n": {"N": "1"}, ":t": {"S": "S"}, ":l": {"L": [{"N": "1"}]}}
    used = {name: each for name, each in every.items() if name in text}
    found: dict[str, Any] = {"ExpressionAttributeValues": used} if used else {}
    if "#a" in text:
        found["ExpressionAttributeNames"] = {"#a": chance.choice(("a", "status", "total", "m"))}
    return found


def conditional(chance: random.Random, member: str = "ConditionExpression") -> dict[str, Any]:
    if chance.random() < 0.5:
        return {}
    text = chance.choice(CONDITIONS)
    return {member: text, **values(chance, text)}


def put(chance: random.Random) -> dict[str, Any]:
    return {"TableName": NAME, "Item": item(chance), **conditional(chance)}


def update(chance: random.Random) -> dict[str, Any]:
    text = chance.choice(UPDATES)
    condition = chance.choice(("", "", chance.choice(CONDITIONS)))
    request = {"TableName": NAME, "Key": key(chance), "UpdateExpression": text}
    if condition:
        request["ConditionExpression"] = condition
    return request | values(chance, text + condition)


def delete(chance: random.Random) -> dict[str, Any]:
    return {"TableName": NAME, "Key": key(chance), **conditional(chance)}


def query(chance: random.Random) -> dict[str, Any]:
    index, text = chance.choice(
        (
            (None, "pk = :k"),
            (None, "pk = :k AND sk > :k"),
            ("by_status", "#s = :k"),
            ("by_sort", "sk = :k AND begins_with(pk, :k)"),
        )
    )
    request: dict[str, Any] = {"TableName": NAME, "KeyConditionExpression": text}
    request["ExpressionAttributeValues"] = {":k": {"S": chance.choice(("p0", "open", "1"))}}
    if index:
        request["IndexName"] = index
    if "#s" in text:
        request["ExpressionAttributeNames"] = {"#s": "status"}
    if chance.random() < 0.5:
        request |= {"Limit": chance.randrange(1, 5), "ScanIndexForward": chance.random() < 0.5}
    return request


def transaction(chance: random.Random) -> dict[str, Any]:
    kinds = {"Put": put, "Update": update, "Delete": delete}
    return {
        "TransactItems": [
            {kind: kinds[kind](chance)}
            for kind in chance.choices(sorted(kinds), k=chance.randrange(1, 4))
        ]
    }


def batch_write(chance: random.Random) -> dict[str, Any]:
    writes = [
        chance.choice(
            ({"PutRequest": {"Item": item(chance)}}, {"DeleteRequest": {"Key": key(chance)}})
        )
        for _ in range(chance.randrange(1, 5))
    ]
    return {"RequestItems": {NAME: writes}}


#: Valid requests of the operations on items; other operations get a few known parameters.
MAKERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "PutItem": put,
    "UpdateItem": update,
    "DeleteItem": delete,
    "Query": query,
    "TransactWriteItems": transaction,
    "BatchWriteItem": batch_write,
    "GetItem": lambda chance: {"TableName": NAME, "Key": key(chance), "ConsistentRead": True},
    "Scan": lambda chance: {"TableName": NAME, **conditional(chance, "FilterExpression")},
    "BatchGetItem": lambda chance: {"RequestItems": {NAME: {"Keys": [key(chance)]}}},
    "TransactGetItems": lambda chance: {
        "TransactItems": [{"Get": {"TableName": NAME, "Key": key(chance)}}]
    },
    "CreateTable": lambda chance: {**TABLE, "TableName": chance.choice(("fuzz-1", "fuzz-2"))},
}

#: Values that replace a part of a request.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1 << 70, 1e300, "", "a", "\0", "a" * 300, [], {}, [[]], [{}]),
    *({"S": 1}, {"S": "x", "N": "1"}, {"": ""}, {"L": [{"L": [{}]}]}, {"N": "1" * 50}, {"X": "1"}),
)


def request(chance: random.Random) -> Request:
    """Return a request, often with one or more mutations."""
    operation = chance.choice(sorted(MAKERS) if chance.random() < 0.8 else sorted(OPERATIONS))
    # The table itself is not deleted, because it is checked at the end.
    if operation == "DeleteTable":
        return operation, {"TableName": chance.choice(("fuzz-1", "fuzz-2", "", "x" * 300))}
    body: Any = MAKERS[operation](chance) if operation in MAKERS else {"TableName": NAME}
    for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
        body = mutated(chance, body)
    return operation, body


def mutated(chance: random.Random, part: Any) -> Any:
    """Return a copy with a part replaced, removed, added or repeated."""
    if chance.random() < 0.15 or not isinstance(part, dict | list | str) or not part:
        return chance.choice(ODD)
    if isinstance(part, str):
        at = chance.randrange(len(part) + 1)
        return chance.choice((part[:at], part[:at] + chance.choice("#:()[].,\0é ") + part[at:]))
    if isinstance(part, list):
        at = chance.randrange(len(part))
        if chance.random() < 0.2:
            return part * chance.choice((2, 30, 101))
        return [*part[:at], mutated(chance, part[at]), *part[at + 1 :]]
    name = chance.choice(sorted(part))
    left = {each: part[each] for each in part if each != name}
    kind = chance.random()
    if kind < 0.1:
        return left
    if kind < 0.2:
        return {**left, mutated_name(chance, name): part[name]}
    return {**part, name: mutated(chance, part[name])}


def mutated_name(chance: random.Random, name: str) -> str:
    return chance.choice((name + "x", name[:-1], name.lower(), "", "\0", ":" + name))


def mangled(chance: random.Random, body: Any) -> bytes:
    """Return the JSON of a body with bytes changed, removed or repeated."""
    data = bytearray(json.dumps(body).encode())
    for _ in range(chance.choice((1, 1, 3, 20))):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randrange(1, 10)]
        elif kind == 2:
            data[at:at] = chance.choice((b"\\ud800", b"[", b"{", b'"', b"1e999", b"\xff", b"null"))
        else:
            data[at:at] = data[at : at + chance.randrange(1, 50)]
        if not data:
            break
    return bytes(data)
