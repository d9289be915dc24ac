"""Lookups: the request that finds the items of an entity by some of its values.

    Order, customer_id and order_id known     GetItem of its key
    Order, status known                       Query of the index whose partition is a status
    Order, order_id known                     nothing: no key begins with it, it would be a Scan

Keys bind values from the left, so a lookup is a GetItem, or a Query of one partition. It reads one
page, never more. This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import KeyMap
from tablewright.plan.expressions import QueryRequest, Selection
from tablewright.studio.items.item_page import Send, show_condition
from tablewright.studio.items.kinds import kind_of
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: The items of a lookup that are shown; one more is read, to know whether there are more.
SHOWN = 20


class GetRequest(Struct, frozen=True):
    """A GetItem of one key."""

    body: dict[str, Any]
    operation: str = "GetItem"


class Lookup(Struct, frozen=True):
    """A request for the items of an entity."""

    entity: EntityMap
    key: KeyMap
    condition: KeyCondition
    request: GetRequest | QueryRequest
    #: The values of all parts of the key are known.
    is_exact: bool
    #: How many parts are.
    bound: int

    def show(self) -> str:
        return show_request(self.request, self.condition)


def show_request(request: GetRequest | QueryRequest, condition: KeyCondition) -> str:
    """Return a request as a person reads it: `Query GSI2: GSI2PK = STATUS#PAID`."""
    index = f"{request.body['IndexName']}: " if "IndexName" in request.body else ""
    return f"{request.operation} {index}{show_condition(condition)}"


class Found(Struct, frozen=True):
    """The items that a lookup has found, at most SHOWN, and whether there are more."""

    items: list[Item]
    has_more: bool

    @property
    def count(self) -> str:
        return f"{len(self.items)}{'+' * self.has_more}"


def lookup(
    layout: TableDescription,
    entity: EntityMap,
    known: Mapping[str, Any],
    required: Collection[str] = (),
    *,
    descending: bool = False,
) -> Lookup | None:
    """Return the best request for the items of an entity with these values.

    It binds all `required` attributes. Return None if no key of the table at the target does: it
    would be a Scan.
    """
    found = lookups(layout, entity, known, required, descending=descending)
    return max(found, key=lambda each: (isinstance(each.request, GetRequest), each.bound),
               default=None)  # fmt: skip


def lookups(
    layout: TableDescription,
    entity: EntityMap,
    known: Mapping[str, Any],
    required: Collection[str] = (),
    *,
    descending: bool = False,
) -> list[Lookup]:
    """Return the requests for the items of an entity with these values, one for each key."""
    return [
        each
        for key in (entity.primary, *entity.indexes)
        if layout.can_read("" if key.index is None else key.index.name)
        and (each := _bind(layout, entity, key, known, required, descending)) is not None
    ]


def _bind(
    layout: TableDescription,
    entity: EntityMap,
    key: KeyMap,
    known: Mapping[str, Any],
    required: Collection[str],
    descending: bool,
) -> Lookup | None:
    arguments: list[Any] = []
    bound: set[str] = set()
    for part in key.parameters:
        value = known.get(part.attribute)
        argument = None if value is None else part.argument(value)
        if argument is None:
            break
        arguments.append(argument)
        bound.add(part.attribute)
    if len(arguments) < key.partition_arity or not bound.issuperset(required):
        return None
    is_exact = len(arguments) == len(key.parameters)
    members: dict[str, Any] = {"TableName": layout.name}
    try:
        condition = key.condition(arguments, None, (), is_exclusive=False)
    except InvalidValue:
        return None  # such a value cannot be part of a key
    request: GetRequest | QueryRequest
    if is_exact and key.index is None:
        request = GetRequest(members | {"Key": condition.equal})
    else:
        members |= {"Limit": SHOWN + 1, "ScanIndexForward": not descending}
        if key.index is not None:
            members["IndexName"] = key.index.name
        request = QueryRequest("Query", members, Selection(condition))
    return Lookup(entity, key, condition, request, is_exact, len(arguments))


def run(send: Send, wanted: Lookup) -> Found:
    """Send the request of a lookup, and keep the items of its entity."""
    table, includes = wanted.entity.table, wanted.entity.includes
    return read(send, wanted.request, lambda item: includes(kind_of(table, item).entity))


def read(
    send: Send, request: GetRequest | QueryRequest, accepts: Callable[[Item], bool] = lambda _: True
) -> Found:
    """Send a request for one item, or for one page, of which some items are kept."""
    answer = send(request.operation, **request.body)
    if isinstance(request, GetRequest):
        return Found([answer["Item"]] if "Item" in answer else [], False)
    items = [item for item in answer["Items"] if accepts(item)]
    return Found(items[:SHOWN], "LastEvaluatedKey" in answer or len(items) > SHOWN)
