"""The places of an item: its key in the table and in each index, or why it is not there.

A `Subject` is the item of a page, with what the design knows about it. In each place, its
neighbours are the items before and after it. A `collection` is the table or one of its indexes.

An item is in every index whose key attributes it has. The design declares how these attributes are
made from values, and under which condition. So a place shows:

    in the index            the key, taken apart
    a part has no value     the key that it would have, with ∅ for the part
    `when` is false         the condition, and the values that it reads
    no key is declared      the attributes that the item does not have

Invariant: `is_in` is what DynamoDB does, whatever the design says. This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.presentation.keys import KeyPiece, explain_missing, key_pieces, own_value
from tablewright.studio.items.reading import Send, reading_of
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item, Value, tag_of

#: How many neighbours are shown before and after an item.
SHOWN = 2


class Subject(Struct, frozen=True):
    """The item of a page."""

    description: TableDescription
    #: The design of its table, or what was inferred; None if nothing is known.
    known: TableMap | None
    item: Item
    kind: ItemKind

    @property
    def title(self) -> str:
        """What distinguishes the item from others of its kind: the last value in its key."""
        return own_value(self.description.base, self.kind, self.item)

    @property
    def values(self) -> Values | None:
        """The values of its entity; None if it cannot be decoded, or is of none."""
        return values_of(self.kind, self.item)


class ItemPlace(Struct, frozen=True):
    """An item in the table or in an index, or its absence from it."""

    collection: IndexDescription
    is_in: bool
    #: The pieces of each key attribute; empty if there is nothing to show.
    keys: dict[str, list[KeyPiece]]
    #: Why the item is not there, or what is unusual about its place; "" if nothing is.
    reason: str = ""
    #: The stored attributes that the reason is about.
    about: tuple[str, ...] = ()


def places_of(description: TableDescription, kind: ItemKind, item: Item) -> list[ItemPlace]:
    """Return the place of an item in the table and in each index."""
    values = values_of(kind, item)
    return [_place(each, kind, item, values) for each in description.collections]


def values_of(kind: ItemKind, item: Item) -> Values | None:
    """Return the values of an item's entity; None if it cannot be decoded, or is of none."""
    if kind.stored is None:
        return None
    try:
        return kind.stored.values(item)
    except UnreadableItem:
        return None


def _place(
    collection: IndexDescription, kind: ItemKind, item: Item, values: Values | None
) -> ItemPlace:
    if collection.contains(item):
        keys = {name: key_pieces(collection, kind, item, name) for name in collection.keys.names}
        return ItemPlace(collection, True, keys, _unusual(collection, kind, item, values))
    declared = kind.keys_in(collection.name)
    if kind.entity is not None and declared and values is not None:
        return _declared_absence(collection, kind.entity, declared, item, values)
    reason = _missing(collection, item)
    if kind.entity is not None and not declared:
        reason = f"{kind.entity.name} declares no key for it: {reason}"
    return ItemPlace(collection, False, {}, reason)


def _missing(collection: IndexDescription, item: Mapping[str, Value]) -> str:
    """Return which key attributes an item does not have, or has with another type."""
    absent = [each.name for each in collection.keys if each.name not in item]
    wrong = [
        f"{each.name} has the type {tag_of(item[each.name])}, and the key takes {each.type}"
        for each in collection.keys
        if each.name in item and each.type not in item[each.name]
    ]
    parts = [f"the item has no {' and no '.join(absent)}"] * bool(absent) + wrong
    return "; ".join(parts)


def _declared_absence(
    collection: IndexDescription,
    entity: EntityMap,
    declared: tuple[KeyMap, ...],
    item: Item,
    values: Values,
) -> ItemPlace:
    """Return why an item is not in an index for which its entity declares keys."""
    reasons: list[str] = []
    about: list[str] = []
    shown: dict[str, list[KeyPiece]] = {}
    for key in declared:
        stored = [entity.attributes[name].stored for name in sorted(key.depends_on)]
        if key.when is not None and not key.when.holds(values):
            reasons.append(f"its condition is false: {key.when!r}")
            about += [entity.attributes[name].stored for name in sorted(key.when.attributes)]
            continue
        pieces = {name: explain_missing(values, key, name, entity) for name in key.attributes}
        shown = shown or pieces
        labels = [each.label for part in pieces.values() for each in part if each.is_missing]
        if labels:
            reasons.append(f"{' and '.join(dict.fromkeys(labels))} has no value")
            about += [name for name in stored if name in labels]
        else:
            reasons.append(
                f"{_missing(collection, item)}, although its values give a key: it was written "
                "without it"
            )
    return ItemPlace(collection, False, shown, "; ".join(reasons), tuple(dict.fromkeys(about)))


def _unusual(
    collection: IndexDescription, kind: ItemKind, item: Item, values: Values | None
) -> str:
    """Return what is unusual about an item that is in an index; "" if nothing is."""
    declared = kind.keys_in(collection.name)
    if kind.entity is None or not collection.name:
        return ""
    if not declared:
        if kind.key is not None and set(collection.keys.names) <= set(kind.key.attributes):
            return ""  # every item of the table is in such an index
        names = " and ".join(collection.keys.names)
        return f"{kind.entity.name} declares no key for it; the item is here because it has {names}"
    if values is None:
        return ""
    composed = [each for key in declared if (each := _composed(key, values)) is not None]
    if not composed:
        return "by its values it would not be here: its key was written before they changed"
    if all(any(item.get(name) != value for name, value in each.items()) for each in composed):
        keys = ", ".join(f"{name}={value[tag_of(value)]}" for name, value in composed[0].items())
        return f"by its values its key would be {keys}"
    return ""


def _composed(key: KeyMap, values: Values) -> Item | None:
    try:
        return key.compose(values)
    except InvalidValue:
        return None


# --- neighbours ---------------------------------------------------------------------------------


class Neighbours(Struct, frozen=True):
    """The nearest items before and after one, in the order of the sort key."""

    before: list[Item]
    after: list[Item]
    #: Whether there are more than those.
    more_before: bool
    more_after: bool

    @property
    def position(self) -> str:
        """Where the item is, as far as it is known."""
        place, total = len(self.before) + 1, len(self.before) + len(self.after) + 1
        if self.more_before and self.more_after:
            return "in the middle of its partition"
        if self.more_before:
            last = {1: "last", 2: "second to last", 3: "third to last"}[len(self.after) + 1]
            return f"{last} in its partition"
        if self.more_after:
            return f"number {place} in its partition"
        return "alone in its partition" if total == 1 else f"{place} of {total} in its partition"


def read_neighbours(
    send: Send, description: TableDescription, collection: IndexDescription, item: Item
) -> Neighbours:
    """Read the neighbours of an item in the table or an index, with two small queries."""
    if not collection.name and not collection.keys.sort:
        return Neighbours([], [], False, False)  # a partition of the table is one item
    partition = {each.name: item[each.name] for each in collection.keys.partition}
    start = description.start_key(collection, item)
    members = reading_of(description, collection, Limit=SHOWN + 1, ExclusiveStartKey=start)
    request = QueryRequest("Query", members, Selection(KeyCondition(partition)))
    answers = [
        send("Query", **request.with_members(ScanIndexForward=forward).body)
        for forward in (False, True)
    ]
    before, after = (answer["Items"] for answer in answers)
    more = ["LastEvaluatedKey" in answer or len(answer["Items"]) > SHOWN for answer in answers]
    return Neighbours(before[:SHOWN][::-1], after[:SHOWN], *more)
