"""Sample: some items of a table, divided into the classes that will be one entity each.

The sample is read with DescribeTable, DescribeTimeToLive and Scan; nothing is written. Pages of
several segments of the table are read in turn, so that a sample of a large table has items of many
partitions.

Items are divided by a type attribute if the table has one: an attribute whose values divide the
items as their keys do. Else they are divided by the literals of their keys.

Classes with different types at one key become one entity with variants:

    ACCOUNT#ann   type User            the base Account has the key, and what both have;
    ACCOUNT#acme  type Organisation    User and Organisation have the rest
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from tablewright.errors import TableNotFound
from tablewright.infer.names import snake_case
from tablewright.infer.structure import is_word
from tablewright.mapping.item_kind import is_record
from tablewright.schema import KeySchema
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import read_definition, require_description
from tablewright.transfer.endpoints import select_tables
from tablewright.transfer.rows import scan_pages
from tablewright.transport import Transport
from tablewright.values import Item, Value

#: The number of items that are enough to see the structure of most tables.
SAMPLE_SIZE = 1000
SEGMENTS = 4

#: Names of type attributes, without case and underscores.
_TYPE_NAMES = (
    "entitytype", "type", "entity", "itemtype", "kind", "model", "objecttype", "recordtype",
    "typename", "types", "discriminator", "tp", "et", "en", "edbe",
)  # fmt: skip

#: A literal of a key; None is a variable.
Skeleton = tuple[tuple[str | None, ...], ...]


class Sample(Struct, frozen=True):
    """A table and some of its items."""

    table: TableDescription
    items: tuple[Item, ...]
    #: Whether the entities must store each item exactly as it is, also moments.
    is_exact: bool = False


def natural_names(keys: KeySchema) -> frozenset[str]:
    """Return the key attributes that are one of several of a side, and so never composed."""
    sides = (keys.partition, keys.sort)
    return frozenset(key.name for side in sides if len(side) > 1 for key in side)


def read_sample(
    transport: Transport, table: str, where: str, size: int = SAMPLE_SIZE, segments: int = SEGMENTS
) -> Sample:
    """Return up to `size` items of a table; raise TableNotFound if it has none."""
    select_tables(transport, where, table)
    definition = read_definition(transport, require_description(transport, table))
    items = [
        item
        for item in _some_items(transport, table, size, segments)
        if not is_record(item[name] for name in definition.keys.names)
    ]
    if not items:
        raise TableNotFound(f"{where}: the table {table!r} has no items to infer a design from")
    return Sample(definition, tuple(items))


def _some_items(transport: Transport, table: str, size: int, segments: int) -> list[Item]:
    limit = -(-size // segments)
    pages = [scan_pages(transport, table, each, segments, limit=limit) for each in range(segments)]
    waiting: list[Iterator[list[Item]]] = pages
    found: list[Item] = []
    while waiting and len(found) < size:
        following = []
        for each in waiting:
            page = next(each, None)
            if page is not None:
                found += page
                following.append(each)
        waiting = following
    return found[:size]


class ItemClass(Struct, eq=False):
    """Items of one entity."""

    items: list[Item]
    #: The content of the type attribute; None if they do not have it.
    type_name: str | None = None
    #: The classes that it joins, because they share a key: variants of one entity.
    variants: list[ItemClass] = []


def find_type_attribute(sample: Sample, delimiter: str) -> str | None:
    """Return the attribute that has the type of each item; None if there is none."""
    keys = set(sample.table.keys.names)
    counts = Counter(
        name
        for item in sample.items
        for name, value in item.items()
        if name not in keys
        and ("S" in value or (_rank(name) < len(_TYPE_NAMES) and type_of(value)))
    )
    for index in sample.table.indexes:
        for name in index.keys.names:
            if name in natural_names(index.keys) or _rank(name) == len(_TYPE_NAMES):
                del counts[name]  # an attribute or a literal of an index, not a type
    ranked = sorted(counts, key=lambda name: (_rank(name), -counts[name], name))
    skeletons = _skeletons(sample, delimiter)
    for name in ranked:
        is_named = _rank(name) < len(_TYPE_NAMES)
        is_in_all = sample.is_exact or not is_named
        needed = len(sample.items) if is_in_all else len(sample.items) / 2
        if counts[name] >= needed and _divides(sample.items, skeletons, name, is_named=is_named):
            return name
    return None


def type_of(value: Value) -> str:
    """Return the type that a type attribute names, alone in a set or a list; "" if it does not.

    >>> type_of({"S": "User"}), type_of({"SS": ["User"]}), type_of({"L": [{"N": "1"}]})
    ('User', 'User', '')
    """
    if "SS" in value and len(value["SS"]) == 1:
        return str(value["SS"][0])
    if "L" in value and len(value["L"]) == 1:
        return str(value["L"][0].get("S", ""))
    return str(value.get("S", ""))


def _rank(name: str) -> int:
    plain = snake_case(name).replace("_", "")
    return _TYPE_NAMES.index(plain) if plain in _TYPE_NAMES else len(_TYPE_NAMES)


def _divides(
    items: Sequence[Item], skeletons: Sequence[Skeleton], name: str, *, is_named: bool
) -> bool:
    """Whether no two values of an attribute have keys of the same form.

    The variants of an entity have such keys; then the attribute must have a usual name, and its
    values must say which form a key has, in all items.
    """
    values: dict[Skeleton, set[str]] = defaultdict(set)
    for item, skeleton in zip(items, skeletons, strict=True):
        if name in item:
            values[skeleton].add(type_of(item[name]))
    distinct = {value for found in values.values() for value in found}
    if "" in distinct:
        return False
    if any(len(found) > 1 for found in values.values()):
        is_in_all = all(name in item for item in items)
        has_one_form = sum(map(len, values.values())) == len(distinct)
        is_typing = has_one_form and len(values) > 1 and all(map(is_word, distinct))
        return is_named and is_in_all and is_typing
    if len(distinct) == 1 and not all(name in item for item in items):
        return False  # the kind or the model of a thing
    return is_named or (1 < len(distinct) < len(items) and all(map(is_word, distinct)))


def divide(sample: Sample, delimiter: str, type_attribute: str | None) -> list[ItemClass]:
    """Return the classes of a sample, in the order of their first items' keys."""
    found: dict[object, ItemClass] = {}
    for item, skeleton in zip(sample.items, _skeletons(sample, delimiter), strict=True):
        type_name = type_of(item[type_attribute]) if type_attribute in item else None
        kind = found.setdefault(type_name or skeleton, ItemClass([], type_name))
        kind.items.append(item)
    return list(found.values())


def _skeletons(sample: Sample, delimiter: str) -> list[Skeleton]:
    """Return the literals of each item's key."""
    names = [key.name for key in sample.table.keys if key.type == "S"]
    words = {name: _Words(sample, name, delimiter) for name in names}
    return [tuple(words[name].skeleton(item) for name in names) for item in sample.items]


class _Words:
    """Decides which words of a key attribute are literals, from the whole sample."""

    def __init__(self, sample: Sample, name: str, delimiter: str) -> None:
        self.name = name
        self.delimiter = delimiter
        self.keys = set(sample.table.keys.names)
        self.sorts = name != sample.table.keys.partition[0].name
        partition = sample.table.keys.partition[0].name
        rows = [self._row(item) for item in sample.items]
        self._firsts = Counter(row[0] for row in rows if len(row) > 1)
        self._partitions: dict[str, set[str]] = defaultdict(set)
        for item, row in zip(sample.items, rows, strict=True):
            for text in row if len(row) > 1 else row[:1]:
                self._partitions[text].add(str(item[partition]))
        self._wholes = Counter(row[0] for row in rows if len(row) == 1)
        self._inner = Counter(text for row in rows for text in row[1:] if text.isupper())

    def _row(self, item: Item) -> list[str]:
        text: str = item[self.name]["S"]
        return text.split(self.delimiter) if self.delimiter else [text]

    def skeleton(self, item: Item) -> tuple[str | None, ...]:
        row = self._row(item)
        contents = {value.get("S") for name, value in item.items() if name not in self.keys}
        if len(row) == 1:
            return (row[0] if self._is_whole_literal(row[0], contents) else None,)
        first = row[0] if self._is_first_literal(row[0]) else None
        rest = (text if self._is_inner_literal(text, contents) else None for text in row[1:])
        return (first, *rest)

    def _is_first_literal(self, text: str) -> bool:
        if text and not is_word(text):
            return False
        total, distinct = self._firsts.total(), len(self._firsts)
        return total < 10 or distinct <= total / 2 or self._firsts[text] > 1

    def _is_whole_literal(self, text: str, contents: set[str | None]) -> bool:
        if not is_word(text) or text in contents:
            return False
        if text.isupper() and _are_few(self._wholes):
            return True
        if not self.sorts:
            return len(self._wholes) == 1 and self._wholes[text] > 1
        few = len(self._wholes) <= max(3, self._wholes.total() / 4)
        return few and len(self._partitions[text]) > 1

    def _is_inner_literal(self, text: str, contents: set[str | None]) -> bool:
        if not text:
            return True
        is_literal = is_word(text) and text.isupper() and text not in contents
        return is_literal and _are_few(self._inner)


def _are_few(words: Counter[str]) -> bool:
    """Whether words are names of entities; there are more values than entities."""
    return len(words) <= max(10, words.total() / 4)


# -- variants ------------------------------------------------------------------------------------


def join_classes(first: ItemClass, second: ItemClass) -> ItemClass | None:
    """Return the class of two that are variants; None if one of them has items without a type."""
    variants = [each for kind in (first, second) for each in kind.variants or [kind]]
    if any(each.type_name is None for each in variants):
        return None
    return ItemClass([item for each in variants for item in each.items], None, variants)
