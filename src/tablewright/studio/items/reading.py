"""Reading items: a page that a filter asks for, and lookups by the values of an entity.

    partition given          Query: reads the items of the page, no others
    no partition             Scan of the table or of the index
    a filter DynamoDB does not apply by key (an entity, a sort key without a partition)
                             up to MAX_REQUESTS requests of FILTERED_LIMIT items, then the page ends
                             with a cursor, even if it is not full

A lookup finds the items of an entity by some of its values. Keys bind values from the left, so it
is a GetItem, or a Query of one partition; it reads one page.

    Order, customer_id and order_id known     GetItem of its key
    Order, status known                       Query of the index whose partition is a status
    Order, order_id known                     nothing: no key begins with it, it would be a Scan

Invariants: a page without such a filter is one request. A page never holds more than its size.
A `collection` is the table or one of its indexes. This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, cast

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.plan.expressions import Placeholders
from tablewright.plan.query_requests import QueryRequest, Selection, key_expression
from tablewright.presentation.keys import key_text, key_value
from tablewright.presentation.kinds import kind_of
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item, Value

PAGE_SIZE = 50
#: A page with a filter that DynamoDB applies after reading, or that the studio applies.
FILTERED_LIMIT = 250
MAX_REQUESTS = 4
#: The operators of a sort key; "any" compares nothing.
OPERATORS = ("any", "=", "<", "<=", ">", ">=", "between", "begins_with")

#: Sends a request: `send("Query", TableName=…)`.
Send: TypeAlias = Callable[..., dict[str, Any]]


class RequestMeter:
    """Sends requests that read, and counts them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.requests = 0
        self.units = 0.0

    def __call__(self, operation: str, **request: Any) -> dict[str, Any]:
        answer = self._send(operation, **request, ReturnConsumedCapacity="TOTAL")
        self.requests += 1
        self.units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
        return answer

    def show(self) -> str:
        """Return what was counted: `9 requests, 5.5 read units`."""
        requests = f"{self.requests} request{'s' * (self.requests != 1)}"
        return f"{requests}, {self.units:g} read unit{'s' * (self.units != 1)}"


class ItemChoice(Struct, frozen=True, kw_only=True):
    """What the filter of a page asks for, as it was typed."""

    #: A value for each partition key attribute; all empty: every partition.
    partition: tuple[str, ...] = ()
    operator: str = "any"
    #: A value for each sort key attribute, from the left; the operator applies to the last one.
    sort: tuple[str, ...] = ()
    #: The upper bound of `between`.
    upper: str = ""
    descending: bool = False


class PlannedRead(Struct, frozen=True):
    """The read of a page before it is sent: a Query or a Scan, its key condition or filter."""

    request: QueryRequest
    condition: KeyCondition

    @property
    def is_query(self) -> bool:
        return self.request.operation == "Query"

    @property
    def is_filtered(self) -> bool:
        """Whether DynamoDB reads items that it does not return."""
        return not self.is_query and self.condition.sort is not None

    def show(self) -> str:
        """Return the condition as a person reads it; "" if there is none."""
        return show_condition(self.condition)


class ItemPage(Struct, frozen=True):
    """Items, what was read for them, and the key after which the next page starts."""

    items: list[Item]
    next: Item | None
    read: int
    units: float
    requests: int


def show_condition(condition: KeyCondition) -> str:
    """Return a key condition as a person reads it: `PK = C1 AND begins_with(SK, ORDER#)`."""
    return key_expression(condition, str, key_text)


def reading_of(
    description: TableDescription, collection: IndexDescription, **members: Any
) -> dict[str, Any]:
    """Return the members of a request that reads the table or an index."""
    index = {"IndexName": collection.name} if collection.name else {}
    return {"TableName": description.name, **index, **members}


class _KeyFilter(Struct, frozen=True):
    """A condition on key attributes, as a filter of a Scan."""

    condition: KeyCondition

    @property
    def names(self) -> tuple[str, ...]:
        return self.condition.attributes

    def factor(self, marks: Placeholders) -> str:
        return key_expression(self.condition, marks.name, marks.value)


def prepare(
    description: TableDescription, collection: IndexDescription, choice: ItemChoice
) -> PlannedRead:
    """Return the read of a page. Raises InvalidValue if a value is not of the type of its key."""
    condition = _condition(collection, choice)
    members = reading_of(description, collection)
    if any(choice.partition):
        members["ScanIndexForward"] = not choice.descending
        return PlannedRead(QueryRequest("Query", members, Selection(condition)), condition)
    if condition.equal or condition.sort is not None:
        selection = Selection(None, (_KeyFilter(condition),))
    else:
        selection = Selection(None)
    return PlannedRead(QueryRequest("Scan", members, selection), condition)


def _condition(collection: IndexDescription, choice: ItemChoice) -> KeyCondition:
    equal: dict[str, Value] = {}
    if any(choice.partition):
        for attribute, text in zip(collection.keys.partition, choice.partition, strict=False):
            equal[attribute.name] = key_value(text, attribute)
        missing = [each.name for each in collection.keys.partition if each.name not in equal]
        if missing:
            raise InvalidValue(
                f"a partition of {collection.title} has {len(collection.keys.partition)} "
                f"attributes; give {', '.join(missing)}, too"
            )
    if choice.operator not in OPERATORS:
        raise InvalidValue(f"{choice.operator!r} is not an operator of a sort key")
    if choice.operator == "any":
        return KeyCondition(equal)
    given = list(zip(collection.keys.sort, choice.sort, strict=False))
    while given and not given[-1][1]:
        given.pop()
    if not given:
        names = ", ".join(each.name for each in collection.keys.sort)
        if not names:
            raise InvalidValue(f"{collection.title} has no sort key; choose the operator any")
        raise InvalidValue(f"{choice.operator} needs a value for {names}; or choose any")
    *before, (attribute, text) = given
    equal |= {each.name: key_value(value, each) for each, value in before}
    values = [key_value(text, attribute)]
    if choice.operator == "between":
        values.append(key_value(choice.upper, attribute))
    if choice.operator == "begins_with" and attribute.type == "N":
        raise InvalidValue(f"{attribute.name} is a number, which has no beginning; use = or <")
    comparison = cast(Comparison, choice.operator)
    return KeyCondition(equal, SortCondition(attribute.name, comparison, tuple(values)))


def read_page(
    send: Send,
    description: TableDescription,
    collection: IndexDescription,
    reading: PlannedRead,
    start: Item | None = None,
    *,
    accepts: Callable[[Mapping[str, Value]], bool] | None = None,
    size: int = PAGE_SIZE,
) -> ItemPage:
    """Read one page; with `accepts`, of the items for which it returns True."""
    is_filtered = reading.is_filtered or accepts is not None
    items: list[Item] = []
    read, units, requests = 0, 0.0, 0
    members = {"Limit": FILTERED_LIMIT if is_filtered else size, "ReturnConsumedCapacity": "TOTAL"}
    request = reading.request.with_members(**members)
    if start is not None:
        request = request.next_page(start)
    while True:
        answer = send(request.operation, **request.body)
        requests += 1
        read += answer["ScannedCount"]
        units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
        last: Item | None = answer.get("LastEvaluatedKey")
        found = [item for item in answer["Items"] if accepts is None or accepts(item)]
        for item in found:
            items.append(item)
            if len(items) == size and is_filtered:
                end = description.start_key(collection, item)
                is_end = last is None and item is found[-1]
                return ItemPage(items, None if is_end else end, read, units, requests)
        if last is None or not is_filtered or requests == MAX_REQUESTS:
            return ItemPage(items, last, read, units, requests)
        request = request.next_page(last)


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
    description: TableDescription,
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
    found = lookups(description, entity, known, required, descending=descending)
    return max(found, key=lambda each: (isinstance(each.request, GetRequest), each.bound),
               default=None)  # fmt: skip


def lookups(
    description: TableDescription,
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
        if description.can_read("" if key.index is None else key.index.name)
        and (each := _bind(description, entity, key, known, required, descending)) is not None
    ]


def _bind(
    description: TableDescription,
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
    members: dict[str, Any] = {"TableName": description.name}
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
