"""Finding: which items have a text as their id, their unique value, or their key.

A text is tried as the value of each attribute that a key of an entity begins with, as each unique
value, and as a whole key; several words as the parts of a key. Each try is a GetItem or a Query of
one page, never a Scan, and there are at most MAX_TRIES of them. A unique value that is found takes
a second request, for the item that has it.

    C1            CustomerProfile C1 (its whole key), and the orders of C1 (a partition)
    C1 O101       CustomerOrder O101 of C1
    CUST#C1       the partition with this key
    tomatoes      the Ingredient whose unique name it is

This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.table import TableMap
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.presentation.keys import key_value, parser
from tablewright.studio.items.reading import (
    SHOWN,
    Found,
    GetRequest,
    Lookup,
    Send,
    lookups,
    read,
    reading_of,
    run,
    show_request,
)
from tablewright.studio.items.relations import owner_of
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

MAX_TRIES = 40


class Try(Struct, frozen=True):
    """One request that may find something."""

    description: TableDescription
    #: What the text is tried as: `CustomerProfile by customer_id`.
    what: str
    collection: IndexDescription
    condition: KeyCondition
    #: Whether what it finds has the text as its own id, and not only in its partition.
    is_exact: bool
    request: GetRequest | QueryRequest
    #: How its items are found, if the request alone does not find them.
    find: Callable[[Send], Found] | None = None

    def run(self, send: Send) -> Found:
        return read(send, self.request) if self.find is None else self.find(send)

    def show(self) -> str:
        return show_request(self.request, self.condition)


class Hit(Struct, frozen=True):
    """What a try has found."""

    tried: Try
    found: Found


class Search(Struct, frozen=True):
    """What was found, and what was tried."""

    hits: list[Hit]
    tried: list[Try]
    #: How many tries were left out.
    left_out: int

    @property
    def items(self) -> list[tuple[Try, Item]]:
        """The items whose own id or key it is, each once; those of the first try first."""
        found: dict[bytes, tuple[Try, Item]] = {}
        for hit in self.hits:
            if hit.tried.is_exact:
                for item in hit.found.items:
                    found.setdefault(_identity(hit.tried.description, item), (hit.tried, item))
        return list(found.values())

    @property
    def collections(self) -> list[Hit]:
        """The tries that found items with the text in another part of their key."""
        return [hit for hit in self.hits if not hit.tried.is_exact]

    @property
    def only(self) -> tuple[TableDescription, Item] | None:
        """The item that was meant, if there is only one."""
        found = [(tried.description, item) for tried, item in self.items]
        if not found:
            found = [(hit.tried.description, item) for hit in self.hits for item in hit.found.items]
        return found[0] if len(found) == 1 else None


def _identity(description: TableDescription, item: Item) -> bytes:
    return msgspec.json.encode([description.name, description.key(item)])


def search(
    send: Send, tables: Mapping[str, tuple[TableDescription, TableMap | None]], text: str
) -> Search:
    """Find the items with a text as their id, unique value or key, in these tables."""
    wanted = list(_tries(tables, text.strip()))
    unique: dict[bytes, Try] = {}
    for each in wanted:
        request = msgspec.json.encode([each.request.operation, each.request.body])
        if request not in unique or each.is_exact > unique[request].is_exact:
            unique[request] = each
    chosen = list(unique.values())[:MAX_TRIES]
    hits = [Hit(each, found) for each in chosen if (found := each.run(send)).items]
    return Search(hits, chosen, len(unique) - len(chosen))


def _tries(
    tables: Mapping[str, tuple[TableDescription, TableMap | None]], text: str
) -> Iterator[Try]:
    words = text.split()
    for description, known in tables.values():
        if known is not None:
            for entity in known.entities:
                yield from _by_parts(description, entity, words)
            for entity in known.entities:
                yield from _by_values(description, entity, text)
                for unique in entity.uniques:
                    yield from _by_unique(description, entity, unique, text)
        yield from _by_whole_key(description, text)
        yield from _by_partition(description, known, text)


# --- as the value of an attribute ----------------------------------------------------------------


def _by_values(description: TableDescription, entity: EntityMap, text: str) -> Iterator[Try]:
    """Try a text as each attribute with which a key of an entity begins."""
    parts = {
        part.attribute: part
        for key in (entity.primary, *entity.indexes)
        for part in key.parameters
        if part.notation.derive is None
    }
    own = [part.attribute for part in entity.primary.parameters]
    for name, part in parts.items():
        value = _value(entity, part, text)
        if value is None:
            continue
        for each in lookups(description, entity, {name: value}, (name,)):
            is_own = each.is_exact and (name == own[-1] or each.key.index is not None)
            yield _try(description, each, f"{entity.name} by {name}", is_exact=is_own)


def _by_parts(description: TableDescription, entity: EntityMap, words: list[str]) -> Iterator[Try]:
    """Try several words as the parts of the key of an entity, in their order."""
    parts = list({part.attribute: part for part in entity.primary.parameters}.values())
    if len(words) < 2 or len(words) != len(parts):
        return
    known = {
        part.attribute: _value(entity, part, word) for part, word in zip(parts, words, strict=True)
    }
    for each in lookups(description, entity, known, known):
        if each.key.index is None:
            yield _try(description, each, f"{entity.name} by {' and '.join(known)}", is_exact=True)


def _value(entity: EntityMap, part: KeyPart, text: str) -> Any:
    """Return a text as a value of an attribute; None if it does not fit the type."""
    kind = entity.attributes[part.attribute].converter.kind
    if kind is str:
        return text or None
    try:
        if kind in (int, Decimal):
            return kind(text)
        return part.read(text)
    except (ValueError, ArithmeticError):
        return None


def _try(description: TableDescription, each: Lookup, what: str, *, is_exact: bool) -> Try:
    name = each.key.index.name if each.key.index is not None else ""
    collection = description.find(name) or description.base
    condition, request = each.condition, each.request
    find = partial(run, wanted=each)
    return Try(description, what, collection, condition, is_exact, request, find)


# --- as a unique value ---------------------------------------------------------------------------


def _by_unique(
    description: TableDescription, entity: EntityMap, unique: UniqueMap, text: str
) -> Iterator[Try]:
    """Try a text as a unique value: its sentinel says whose it is."""
    parts = {part.attribute: part for part in unique.key.parameters}
    if len(parts) != 1:
        return
    ((name, part),) = parts.items()
    value = _value(entity, part, text)
    if value is None:
        return
    try:
        key = unique.key.encode([value] * len(unique.key.parameters))
    except InvalidValue:
        return
    kind, request = (
        ItemKind(entity, unique),
        GetRequest({"TableName": description.name, "Key": key}),
    )

    def find(send: Send) -> Found:
        reserved = read(send, request)
        owner = owner_of(description, kind, reserved.items[0]) if reserved.items else None
        found = Found([], False) if owner is None else run(send, owner)
        return found if found.items else reserved

    what = f"{unique.key.name}, a unique {name}"
    yield Try(description, what, description.base, KeyCondition(key), True, request, find)


# --- as a key ------------------------------------------------------------------------------------


def _by_whole_key(description: TableDescription, text: str) -> Iterator[Try]:
    """Try a text as a whole key of the table: its attributes, separated by a space, / or |."""
    attributes = tuple(description.base.keys)
    for separator in (None, "/", "|"):
        texts = [each.strip() for each in text.split(separator)] if len(attributes) > 1 else [text]
        if len(texts) != len(attributes):
            continue
        try:
            key = {
                each.name: key_value(given, each)
                for each, given in zip(attributes, texts, strict=True)
            }
        except InvalidValue:
            continue
        what, condition = f"{' and '.join(key)} of an item", KeyCondition(key)
        request = GetRequest({"TableName": description.name, "Key": key})
        yield Try(description, what, description.base, condition, True, request)


def _by_partition(
    description: TableDescription, known: TableMap | None, text: str
) -> Iterator[Try]:
    """Try a text as a partition key of the table and of each index."""
    for collection in description.collections:
        if len(collection.keys.partition) != 1 or not collection.is_ready:
            continue
        (attribute,) = collection.keys.partition
        if known is not None and not _is_partition(known, collection, text):
            continue
        try:
            condition = KeyCondition({attribute.name: key_value(text, attribute)})
        except InvalidValue:
            continue
        members = reading_of(description, collection, Limit=SHOWN + 1)
        request = QueryRequest("Query", members, Selection(condition))
        what = f"{attribute.name} of {collection.name or 'the table'}"
        yield Try(description, what, collection, condition, False, request)


def _is_partition(known: TableMap, collection: IndexDescription, text: str) -> bool:
    """Return whether a partition key of the design can be a text."""
    (attribute,) = collection.keys.partition
    keys = [
        key
        for entity in known.entities
        for kind in (ItemKind(entity), *(ItemKind(entity, each) for each in entity.uniques))
        for key in kind.keys_in(collection.name)
    ]
    return any(
        key.templates[attribute.name].is_text
        and parser(key, attribute.name).texts(text) is not None
        for key in keys
    )
