"""Touched items: which items a request reads or writes, by the keys and items in its body.

    >>> body = {"TableName": "shop", "Key": {"PK": {"S": "C1"}}, "UpdateExpression": "..."}
    >>> list(touched_items("UpdateItem", body))
    [('write', 'shop', {'PK': {'S': 'C1'}})]

Invariant: every item that DynamoDB would read or write for the request is listed. A body in which
that cannot be seen (another operation, a missing member, an action that is not known here) raises
`Unclear`. The table names and keys are given as they stand in the body: they may be anything.

This module must not know tenants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

AccessKind: TypeAlias = Literal["read", "write"]
#: How it is touched, the name of its table, and its key or the whole item.
Touched: TypeAlias = tuple[AccessKind, object, object]

#: For each operation or action: how it touches its item, and the member that holds the key.
_READ_KEY: tuple[AccessKind, str] = ("read", "Key")
_WRITE_KEY: tuple[AccessKind, str] = ("write", "Key")
_WRITE_ITEM: tuple[AccessKind, str] = ("write", "Item")
_ONE_ITEM = {
    "GetItem": _READ_KEY,
    "PutItem": _WRITE_ITEM,
    "UpdateItem": _WRITE_KEY,
    "DeleteItem": _WRITE_KEY,
}
_TRANSACTIONS = {
    "TransactGetItems": {"Get": _READ_KEY},
    "TransactWriteItems": {
        "ConditionCheck": _READ_KEY,
        "Put": _WRITE_ITEM,
        "Update": _WRITE_KEY,
        "Delete": _WRITE_KEY,
    },
}
_BATCH_WRITES = {"PutRequest": _WRITE_ITEM, "DeleteRequest": _WRITE_KEY}


class Unclear(Exception):
    """The body does not show which items the request touches."""


def touched_items(operation: str, body: object) -> Iterator[Touched]:
    """Yield the items that a request touches; raise Unclear if the body does not show them."""
    if operation in _ONE_ITEM:
        access, member = _ONE_ITEM[operation]
        yield access, _member(body, "TableName"), _member(body, member)
    elif operation in _TRANSACTIONS:
        for each in _listed(_member(body, "TransactItems")):
            access, action, member = _only_action(each, _TRANSACTIONS[operation])
            yield access, _member(action, "TableName"), _member(action, member)
    elif operation == "BatchGetItem":
        for table, keys in _entries(_member(body, "RequestItems")):
            for key in _listed(_member(keys, "Keys")):
                yield "read", table, key
    elif operation == "BatchWriteItem":
        for table, writes in _entries(_member(body, "RequestItems")):
            for each in _listed(writes):
                access, write, member = _only_action(each, _BATCH_WRITES)
                yield access, table, _member(write, member)
    else:
        raise Unclear


def _entries(value: object) -> Iterator[tuple[object, object]]:
    if type(value) is not dict:
        raise Unclear
    yield from value.items()


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise Unclear
    return value


def _member(value: object, name: str) -> object:
    if type(value) is not dict or name not in value:
        raise Unclear
    return value[name]


def _only_action(
    value: object, known: Mapping[str, tuple[AccessKind, str]]
) -> tuple[AccessKind, object, str]:
    """The one action that a member of a batch or a transaction holds."""
    if type(value) is not dict or len(value) != 1:
        raise Unclear
    ((name, action),) = value.items()
    if name not in known:
        raise Unclear
    access, member = known[name]
    return access, action, member
