"""Touches: which items a request reads, writes or checks, as far as the request itself shows.

    >>> body = {"TableName": "shop", "Key": {"PK": {"S": "C1"}}, "UpdateExpression": "..."}
    >>> [(touch.access, touch.table, touch.what) for touch in one_item("Update", body)]
    [('write', 'shop', Key(item={'PK': {'S': 'C1'}}))]

There is one function for each form of a request; the table of operations names that of each
operation on items. It takes DynamoDB's JSON, or the typed request that was read from it.

Invariant: every item that DynamoDB reads or writes for the request is in a touch. A request in
which that cannot be seen (a missing member, an action that is not known here) raises `Unclear`.
Names and keys in DynamoDB's JSON are not checked: they may be any values.

This module must not know the keys of tables. So a Query touches a `KeyRange`: whether its condition
selects a partition or a part of one is clear only with the keys of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.expression import tree

AccessKind: TypeAlias = Literal["read", "write", "check"]
Kind: TypeAlias = Literal[
    "Get", "Put", "Update", "Delete", "ConditionCheck", "Query", "Scan", "Select"
]

_ACCESS: dict[Kind, AccessKind] = {
    "Get": "read",
    "Query": "read",
    "Scan": "read",
    "Select": "read",
    "Put": "write",
    "Update": "write",
    "Delete": "write",
    "ConditionCheck": "check",
}
#: The actions of transactions and batches, by the members that hold them.
_GETS: dict[str, Kind] = {"Get": "Get"}
_WRITES: dict[str, Kind] = {
    "ConditionCheck": "ConditionCheck",
    "Delete": "Delete",
    "Put": "Put",
    "Update": "Update",
}
_BATCH_WRITES: dict[str, Kind] = {"DeleteRequest": "Delete", "PutRequest": "Put"}
#: The members of a Query or Scan that decide which items it reads.
_RANGE = (
    *("TableName", "IndexName", "KeyConditionExpression", "ScanIndexForward", "Limit"),
    *("ConsistentRead", "ExclusiveStartKey", "Segment", "TotalSegments"),
)


class Named(Struct, frozen=True):
    """One item, which the request names."""

    item: Item


class Key(Named, frozen=True):
    """The item with this key."""


class WholeItem(Named, frozen=True):
    """The item whose key is in these attributes."""


class KeyRange(Struct, frozen=True):
    """The items that satisfy a condition; `fixed` are attributes with the same value in all."""

    find_fixed: Callable[[], Item]

    @property
    def fixed(self) -> Item:
        return self.find_fixed()  # parsed when it is asked for


class Everything(Struct, frozen=True):
    """All items of the table or the index."""


class Touch(Struct, frozen=True):
    """A part of a request, and the items that it touches."""

    kind: Kind
    table: str
    what: Named | KeyRange | Everything
    #: The members of the request that are about these items: JSON, or typed as the request is.
    part: Any
    index: str | None = None

    @property
    def access(self) -> AccessKind:
        return _ACCESS[self.kind]

    @property
    def body(self) -> dict[str, Any]:
        """The part of a request of JSON, with the name of the table: as in a transaction."""
        return {"TableName": self.table, **self.part}


class Unclear(Exception):
    """A request does not show which items it touches."""


# -- the forms of requests


def one_item(kind: Kind, request: object) -> Iterator[Touch]:
    """Yield the touch of a request about one item."""
    yield _named(kind, _member(request, "TableName"), request)


def transact_get(request: object) -> Iterator[Touch]:
    """Yield the touches of TransactGetItems."""
    return _transaction(request, _GETS)


def transact_write(request: object) -> Iterator[Touch]:
    """Yield the touches of TransactWriteItems."""
    return _transaction(request, _WRITES)


def _transaction(request: object, known: Mapping[str, Kind]) -> Iterator[Touch]:
    for entry in _listed(_member(request, "TransactItems")):
        for kind, action in _actions(entry, known):
            yield _named(kind, _member(action, "TableName"), action)


def batch_get(request: object) -> Iterator[Touch]:
    """Yield the touches of BatchGetItem; the part of a key is that of its table."""
    for table, wanted in _entries(_member(request, "RequestItems")):
        for key in _listed(_member(wanted, "Keys")):
            yield Touch("Get", table, Key(key), wanted)


def batch_write(request: object) -> Iterator[Touch]:
    """Yield the touches of BatchWriteItem."""
    for table, entries in _entries(_member(request, "RequestItems")):
        for entry in _listed(entries):
            for kind, write in _actions(entry, _BATCH_WRITES):
                yield _named(kind, table, write)


def page(kind: Kind, request: object) -> Iterator[Touch]:
    """Yield the touch of Query or Scan."""
    what = KeyRange(partial(_fixed_by_query, request)) if kind == "Query" else Everything()
    table, index = _member(request, "TableName"), _optional(request, "IndexName")
    yield Touch(kind, table, what, request, index)


def statements(member: str, request: object) -> Iterator[Touch]:
    """Yield the touches of PartiQL statements: those in a member, or the only one.

    Raise ValidationException if one is not valid.
    """
    parts = _listed(_member(request, member)) if member else [request]
    if not parts:
        raise Unclear
    for part in parts:
        yield _statement(part)


def _named(kind: Kind, table: str, part: object) -> Touch:
    if kind == "Put":
        return Touch(kind, table, WholeItem(_member(part, "Item")), part)
    return Touch(kind, table, Key(_member(part, "Key")), part)


def _statement(part: object) -> Touch:
    from tablewright import partiql  # with the first statement

    text = _member(part, "Statement")
    if not isinstance(text, str):
        raise Unclear
    parsed = partiql.parse(text)
    table, index = parsed.statement.source.table, parsed.statement.source.index

    def bind() -> dict[str, Any]:
        return parsed.bind(_optional(part, "Parameters") or ())

    kind: Kind
    match parsed.statement:
        case partiql.InsertStatement(_, item):
            return Touch("Put", table, KeyRange(lambda: bind()[item.name]["M"]), part)
        case partiql.ExistsStatement(partiql.SelectStatement(where=where)):
            kind = "ConditionCheck"
        case partiql.SelectStatement(where=where):
            kind = "Select"
        case partiql.UpdateStatement(where=where):
            kind = "Update"
        case partiql.DeleteStatement(where=where):
            kind = "Delete"
    return Touch(kind, table, KeyRange(lambda: dict(_equalities(where, bind()))), part, index)


def whole_page(request: dict[str, Any]) -> dict[str, Any]:
    """Return a Query or Scan of JSON that returns all items that the request reads, whole."""
    from tablewright.expression.lexer import tokenize

    kept = {name: request[name] for name in _RANGE if name in request}
    text = kept.get("KeyConditionExpression")
    used = {token.text for token in tokenize("KeyConditionExpression", text)} if text else set()
    for member in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        marks = {mark: each for mark, each in request.get(member, {}).items() if mark in used}
        if marks:
            kept[member] = marks
    return kept


# -- requests that are not checked yet: any JSON


def unchecked_parts(request: object) -> Iterator[dict[str, Any]]:
    """Yield a request, its statements and its actions, as far as they are JSON objects.

    A request with more entries than a transaction may have is not read further: it is refused.
    """
    if isinstance(request, dict):
        yield request
        for member in ("TransactItems", "TransactStatements", "Statements"):
            entries = request.get(member)
            for entry in entries[:MAX_TRANSACTION_ACTIONS] if isinstance(entries, list) else ():
                if isinstance(entry, dict):
                    yield entry
                    yield from (action for action in entry.values() if isinstance(action, dict))


def named_tables(request: object) -> Iterator[str]:
    """Yield the tables that a request names, except in statements.

    >>> list(named_tables({"TransactItems": [{"Put": {"TableName": "a"}}, {"Get": 1}]}))
    ['a']
    """
    for part in unchecked_parts(request):
        name, batch = part.get("TableName"), part.get("RequestItems")
        if isinstance(name, str):
            yield name
        if isinstance(batch, dict):
            yield from batch


# -- members of JSON, or of typed requests


class _Attributes(dict[type, dict[str, str]]):
    """By the type of a typed request: its attributes, by the names of members on the wire."""

    def __missing__(self, structure: type) -> dict[str, str]:
        if not issubclass(structure, Struct):
            raise Unclear
        members = structure.__struct_encode_fields__
        found = self[structure] = dict(zip(members, structure.__struct_fields__, strict=True))
        return found


_attributes = _Attributes()


def _member(value: Any, name: str) -> Any:
    if type(value) is not dict:
        return getattr(value, _attributes[type(value)][name])
    if name not in value:
        raise Unclear
    return value[name]


def _optional(value: object, name: str) -> Any:
    return None if type(value) is dict and name not in value else _member(value, name)


def _entries(value: object) -> Iterator[tuple[str, object]]:
    if type(value) is not dict:
        raise Unclear
    yield from value.items()


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise Unclear
    return value


def _actions(entry: Any, known: Mapping[str, Kind]) -> Iterator[tuple[Kind, object]]:
    """Yield the action of an entry; a typed entry may have several, which is refused later."""
    if type(entry) is not dict:
        for name, attribute in _attributes[type(entry)].items():
            if (action := getattr(entry, attribute)) is not None:
                yield known[name], action
    elif len(entry) == 1 and known.keys() >= entry.keys():
        ((name, action),) = entry.items()
        yield known[name], action
    else:
        raise Unclear


# -- conditions


def _fixed_by_query(request: object) -> Item:
    text = _optional(request, "KeyConditionExpression")
    if text is None:
        legacy = _optional(request, "KeyConditions") or {}
        return {
            name: condition["AttributeValueList"][0]
            for name, condition in legacy.items()
            if condition["ComparisonOperator"] == "EQ"
        }
    from tablewright.expression.parse import parse_condition

    names = _optional(request, "ExpressionAttributeNames") or {}
    values = _optional(request, "ExpressionAttributeValues") or {}
    found = _equalities(parse_condition("KeyConditionExpression", text), values)
    return {names.get(name, name): value for name, value in found}


def _equalities(
    condition: tree.Condition | None, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that a condition requires to have a value, with the value."""
    from tablewright.expression import tree

    match condition:
        case tree.And(conditions):
            for each in conditions:
                yield from _equalities(each, values)
        case tree.Comparison("=", tree.Path((str(name),)), tree.Value(value)) | tree.Comparison(
            "=", tree.Value(value), tree.Path((str(name),))
        ):
            yield name, values[value]
