"""Contents: read everything that the tables of a design contain, and check it.

    scan = Scanner(database)
    scan(Order)                     all orders, in key order
    scan.contents(table).items      all items; the same `Contents` if nothing has changed
    scan.hold()                     from now on, each table is scanned once until the next `hold()`

What follows from an item is computed once for its stored bytes, however often a scan returns them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.plan.writes.effect import sentinel
from tablewright.values import Item, sort_key
from tablewright.verify.stored_items import compare_stored

E = TypeVar("E")


class _Page(Struct, rename="pascal"):
    items: list[Raw]
    last_evaluated_key: Item | None = None


_decode_page = msgspec.json.Decoder(_Page).decode
_decode_item = msgspec.json.Decoder(dict[str, Any]).decode
_position = attrgetter("position")


class StoredItem:
    """An item, or a row of an index, and what follows from it."""

    def __init__(self, table: TableMap, body: bytes) -> None:
        self.table = table
        self.item: Item = _decode_item(body)
        #: Sorts items by their primary key.
        self.position = [
            sort_key(*next(iter(self.item[name].items())))
            for name in table.attributes
            if name is not None
        ]

    @cached_property
    def kind(self) -> ItemKind:
        return self.table.identify(self.item)

    @cached_property
    def text(self) -> str:
        """The item as text that does not depend on the order of its attributes."""
        return _canonical_text(self.item)

    @cached_property
    def has_own_keys(self) -> bool:
        """Whether its keys are those that its values give; true if it is of no entity."""
        return self.kind.stored is None or self.kind.stored.rekey(self.item) == self.item

    @cached_property
    def sentinels(self) -> list[str]:
        """The sentinels that its unique values need, each as its `text`."""
        entity = self.kind.stored
        if entity is None or not entity.uniques:
            return []
        values = entity.values(self.item)
        found = (sentinel(entity, unique, values) for unique in entity.uniques)
        return [_canonical_text(each) for each in found if each is not None]


class Contents:
    """What a scan of a table or of an index returned; equal if its items are."""

    __hash__ = None  # type: ignore[assignment]  # as Python says that a type has no hash

    def __init__(self, pages: list[bytes], items: list[StoredItem]) -> None:
        #: The bodies of its responses.
        self.pages = pages
        #: In the order of the table's keys.
        self.items = items

    @cached_property
    def _by_entity(self) -> dict[EntityMap | None, list[StoredItem]]:
        found: dict[EntityMap | None, list[StoredItem]] = {}
        for each in self.items:
            found.setdefault(each.kind.stored, []).append(each)
        return found

    def items_of(self, entity: EntityMap) -> list[Item]:
        """Return the items of an entity, or of its variants."""
        groups = [each for kind, each in self._by_entity.items() if entity.includes(kind)]
        found = groups[0] if len(groups) == 1 else sorted(chain(*groups), key=_position)
        return [each.item for each in found]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contents):
            return NotImplemented
        mine, theirs = ([each.item for each in one.items] for one in (self, other))
        return self is other or mine == theirs


class Scanner:
    """Reads the stored entities and items, with requests that no recorder sees."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._known: dict[tuple[TableMap, bytes], StoredItem] = {}
        self._last: dict[tuple[TableMap, str | None], Contents] = {}
        self._held: dict[tuple[TableMap, str | None], Contents] | None = None

    def __call__(self, kind: type[E], /) -> list[E]:
        entity = kind.__entity__  # type: ignore[attr-defined]
        return list(map(entity.decode, self.contents(entity.table).items_of(entity)))

    def hold(self) -> None:
        """Forget what was read, and read each table and index once until the next call."""
        self._held = {}

    def items(self, table: TableMap, index: str | None = None) -> list[Item]:
        """Return every item of a table or an index, in the order of the table's keys."""
        return [each.item for each in self.contents(table, index).items]

    def contents(self, table: TableMap, index: str | None = None) -> Contents:
        """Return what a table or an index contains; the same value as before, if it is equal."""
        place = table, index
        if self._held is not None and place in self._held:
            return self._held[place]
        pages = list(self._pages(table, index))
        found = self._last.get(place)
        if found is None or found.pages != pages:
            bodies = [bytes(item) for page in pages for item in _decode_page(page).items]
            items = [self._stored(table, body) for body in bodies]
            found = self._last[place] = Contents(pages, sorted(items, key=_position))
        if self._held is not None:
            self._held[place] = found
        return found

    def _stored(self, table: TableMap, body: bytes) -> StoredItem:
        known = self._known.get((table, body))
        if known is None:
            known = self._known[table, body] = StoredItem(table, body)
        return known

    def _pages(self, table: TableMap, index: str | None) -> Iterator[bytes]:
        body: dict[str, Any] = {"TableName": self.database.table_names[table]}
        body |= {"ConsistentRead": True} if index is None else {"IndexName": index}
        while True:
            page = self.database.transport.send("Scan", body).body
            yield page
            last = _decode_page(page).last_evaluated_key
            if last is None:
                return
            body["ExclusiveStartKey"] = last

    def is_empty(self, table: TableMap) -> bool:
        """Return whether a table has no items but the index record; reads at most two."""
        body = {
            "TableName": self.database.table_names[table],
            "Limit": 2,
            "ConsistentRead": True,
        }
        page = msgspec.json.decode(self.database.transport.send("Scan", body).body)
        return all(table.identify(item).is_record for item in page["Items"])

    def everything(self) -> dict[TableMap, Contents]:
        """Return what every table contains."""
        return {table: self.contents(table) for table in self.database.table_names}


def table_problem(table: TableMap, whole: Contents, indexes: list[Contents]) -> str:
    """Return what is wrong in a table, or between it and its indexes; "" if nothing is.

    Each item must have the keys that its values give, each unique value its sentinel, and each
    index must contain exactly the items that have its key attributes.
    """
    expected = sorted(text for each in whole.items for text in each.sentinels)
    others = [each for each in whole.items if each.kind.stored is None]
    found = sorted(each.text for each in others if not each.kind.is_record)
    if found != expected or not all(each.has_own_keys for each in whole.items):
        report = compare_stored(table, (each.item for each in whole.items), shown=1)
        for difference in report.differences:
            return str(difference)
        return (  # `compare_stored` accepts sentinels with further attributes
            f"the sentinels of unique values are wrong: expected {expected}, found {found}"
        )
    for index, rows in zip(table.indexes.values(), indexes, strict=True):
        names = set(index.attributes)
        indexed = [each.position for each in whole.items if names <= each.item.keys()]
        present = [each.position for each in rows.items]
        if indexed != present:
            return (
                f"the index {index.name} does not match the table: expected {len(indexed)} items "
                f"with its key attributes, found {len(present)}"
            )
    return ""


def _canonical_text(item: Item) -> str:
    return str(sorted(item.items()))
