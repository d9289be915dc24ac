"""Sample: read many items of a table, keep some, and divide them into classes of one entity each.

The table is described with DescribeTable and DescribeTimeToLive; its items are read with Scan, or
from the rows of an engine in this process. Nothing is written. Pages of several segments are read
in turn, so that a part of a large table has items of many partitions.

    up to KEPT items    all of them, in the order of the Scan
    more                a uniform sample of KEPT, and FEWEST items of every form of key

The sample takes as much memory for a million items as for ten thousand. The same items give the
same sample.

Items are divided by a type attribute if the table has one: an attribute whose values divide the
items as their keys do. Else they are divided by the literals of their keys.

Classes with different types at one key become one entity with variants:

    ACCOUNT#ann   type User            the base Account has the key, and what both have;
    ACCOUNT#acme  type Organisation    User and Organisation have the rest
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from tablewright.errors import TableNotFound
from tablewright.infer.names import snake_case
from tablewright.infer.regular import RARE, UnexplainedItem
from tablewright.infer.structure import is_word
from tablewright.mapping.item_kind import is_record
from tablewright.schema import KeySchema
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import read_definition, require_description
from tablewright.transfer.endpoints import select_tables
from tablewright.transfer.rows import is_engine, read_pages, scan_pages
from tablewright.transport import Transport
from tablewright.values import Item, Value

#: Names of type attributes, without case and underscores.
_TYPE_NAMES = (
    "entitytype", "type", "entity", "itemtype", "kind", "model", "objecttype", "recordtype",
    "typename", "types", "discriminator", "cls", "tp", "et", "en", "edbe",
)  # fmt: skip

#: A type that fewer than one of so many items with a form of key have is an exception.
_RARE_TYPE = 50
#: The most words in lower case at one place of a key that are literals.
_MOST_KINDS = 8

#: A literal of a key; None is a variable.
Skeleton = tuple[tuple[str | None, ...], ...]


class Sample(Struct, frozen=True):
    """A table and some of its items."""

    table: TableDescription
    items: tuple[Item, ...]
    #: Whether the entities must store each item exactly as it is, also moments.
    is_exact: bool = False
    #: The number of items that were read; the sample represents them.
    read: int = 0


def natural_names(keys: KeySchema) -> frozenset[str]:
    """Return the key attributes that are one of several of a side, and so never composed."""
    sides = (keys.partition, keys.sort)
    return frozenset(key.name for side in sides if len(side) > 1 for key in side)


class ItemClass(Struct, eq=False):
    """Items of one entity."""

    items: list[Item]
    #: The content of the type attribute; None if they do not have it.
    type_name: str | None = None
    #: The classes that it joins, because they share a key: variants of one entity.
    variants: list[ItemClass] = []

    def set_aside(self, reasons: Mapping[int, str]) -> list[UnexplainedItem]:
        """Remove items, by their numbers, and return them with the reasons."""
        removed = [UnexplainedItem(self.items[n], reason) for n, reason in reasons.items()]
        self.items = [item for n, item in enumerate(self.items) if n not in reasons]
        return removed


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
        needed = _nearly(len(sample.items)) if is_in_all else len(sample.items) / 2
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


def _nearly(count: int) -> int:
    """Return how many of so many items are all but the irregular ones."""
    return count - count // RARE


def _divides(
    items: Sequence[Item], skeletons: Sequence[Skeleton], name: str, *, is_named: bool
) -> bool:
    """Whether no two values of an attribute have keys of the same form, but for irregular items.

    The variants of an entity have such keys; then the attribute must have a usual name, and its
    values must say which form a key has, in all items.
    """
    values: dict[Skeleton, Counter[str]] = defaultdict(Counter)
    for item, skeleton in zip(items, skeletons, strict=True):
        if name in item:
            values[skeleton][type_of(item[name])] += 1
    usual = {skeleton: _usual(counts) for skeleton, counts in values.items()}
    distinct = {value for found in usual.values() for value in found}
    if "" in distinct:
        return False
    count = sum(name in item for item in items)
    is_in_all = count >= _nearly(len(items))
    if any(len(found) > 1 for found in usual.values()):
        has_one_form = sum(map(len, usual.values())) == len(distinct)
        is_typing = has_one_form and len(usual) > 1 and all(map(is_word, distinct))
        return is_named and is_in_all and is_typing
    if len(distinct) == 1 and not is_in_all:
        return False  # the kind or the model of a thing
    return is_named or (1 < len(distinct) < len(items) and all(map(is_word, distinct)))


def _usual(counts: Counter[str]) -> list[str]:
    """Return the types that are not exceptions; a variant may be rare."""
    total = counts.total()
    exceptions = max(total // _RARE_TYPE, total >= RARE)
    return [value for value, count in counts.items() if count > exceptions]


def divide(
    sample: Sample, delimiter: str, type_attribute: str | None
) -> tuple[list[ItemClass], list[UnexplainedItem]]:
    """Return the classes of a sample, in the order of their first items' keys, and other items.

    An item without a type, with a key as those of a type have it, is in no class. Nor are a few
    items whose keys have no literals, or only those of a frequent class.
    """
    skeletons = _skeletons(sample, delimiter)
    types: dict[Skeleton, Counter[str]] = defaultdict(Counter)
    for item, skeleton in zip(sample.items, skeletons, strict=True):
        if type_attribute in item:
            types[skeleton][type_of(item[type_attribute])] += 1
    found: dict[object, ItemClass] = {}
    forms: dict[object, Skeleton] = {}
    unexplained = []
    for item, skeleton in zip(sample.items, skeletons, strict=True):
        type_name = type_of(item[type_attribute]) if type_attribute in item else None
        counts = types[skeleton]
        if counts.total() >= RARE and type_name not in _usual(counts):
            reason = (
                f"its {type_attribute} is {type_name!r}"
                if type_name
                else f"it has no {type_attribute}"
            )
            usual = counts.most_common(1)[0][0]
            reason += f", but its key is like those of type {usual!r}"
            unexplained.append(UnexplainedItem(item, reason))
            continue
        found.setdefault(type_name or skeleton, ItemClass([], type_name)).items.append(item)
        forms.setdefault(type_name or skeleton, skeleton)
    rare = len(sample.items) // (4 * RARE)
    frequent = {_firsts(forms[n]) for n, kind in found.items() if len(kind.items) > rare}
    for name, kind in list(found.items()):
        firsts = _firsts(forms[name])
        is_known = not any(firsts) or firsts in frequent
        if len(kind.items) <= rare and is_known and kind.type_name is None:
            reason = f"its key has a form that only {len(kind.items)} of the items have"
            unexplained += [UnexplainedItem(item, reason) for item in found.pop(name).items]
    return list(found.values()), unexplained


def _firsts(skeleton: Skeleton) -> tuple[str | None, ...]:
    """Return the first literal of each key attribute."""
    return tuple(words[0] for words in skeleton)


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
        self._values = {str(item[partition]) for item in sample.items}
        self._firsts = Counter(row[0] for row in rows if len(row) > 1)
        self._partitions: dict[str, set[str]] = defaultdict(set)
        for item, row in zip(sample.items, rows, strict=True):
            for text in row if len(row) > 1 else row[:1]:
                self._partitions[text].add(str(item[partition]))
        self._wholes = Counter(row[0] for row in rows if len(row) == 1)
        self._inner = Counter(text for row in rows for text in row[1:] if text.isupper())
        self._lower = self._lower_literals(rows)

    def _lower_literals(self, rows: list[list[str]]) -> set[tuple[int, str]]:
        """Return the words in lower case that tell kinds of items apart, each with its position.

        They are few, and each is behind many values: `u#7#follower`, `u#7#following`.
        """
        found: dict[int, Counter[str]] = defaultdict(Counter)
        for row in rows:
            for position, text in enumerate(row[2:], 2):
                found[position][text] += 1
        return {
            (position, text)
            for position, counts in found.items()
            if len(counts) <= _MOST_KINDS
            for text, count in counts.items()
            if is_word(text) and count > counts.total() // RARE and self._recurs(text)
        }

    def _row(self, item: Item) -> list[str]:
        text: str = item[self.name]["S"]
        return text.split(self.delimiter) if self.delimiter else [text]

    def skeleton(self, item: Item) -> tuple[str | None, ...]:
        row = self._row(item)
        contents = {value.get("S") for name, value in item.items() if name not in self.keys}
        if len(row) == 1:
            return (row[0] if self._is_whole_literal(row[0], contents) else None,)
        first = row[0] if self._is_first_literal(row[0]) else None
        rest = (
            text if self._is_inner_literal(position, text, contents) else None
            for position, text in enumerate(row[1:], 1)
        )
        return (first, *rest)

    def _is_first_literal(self, text: str) -> bool:
        if text and not is_word(text):
            return False
        total, distinct = self._firsts.total(), len(self._firsts)
        return total < 10 or distinct <= total / 2 or self._firsts[text] > 1

    def _is_whole_literal(self, text: str, contents: set[str | None]) -> bool:
        if not is_word(text) or text in contents:
            return False
        if text.isupper() and (_are_few(self._wholes) or self._recurs(text)):
            return True
        if not self.sorts:
            return len(self._wholes) == 1 and self._wholes[text] > 1
        few = len(self._wholes) <= max(3, self._wholes.total() / 4)
        return few and len(self._partitions[text]) > 1

    def _recurs(self, text: str) -> bool:
        """Whether a text is in so many partitions that it is no value."""
        return len(self._partitions[text]) > max(2, len(self._values) // (5 * RARE))

    def _is_inner_literal(self, position: int, text: str, contents: set[str | None]) -> bool:
        if not text or ((position, text) in self._lower and text not in contents):
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


#: The number of items that are read, unless the caller decides it.
SAMPLE_SIZE = 10_000
#: The number of items that a design is inferred from.
KEPT = 3000
#: The items that are kept of each form, so that a rare entity is not lost.
FEWEST = 12
#: The most forms that are told apart: ids without a literal have any number of beginnings.
_MOST_FORMS = 100
SEGMENTS = 4
#: The items between two reports of the progress.
_STEP = 10_000
_BEGINNING = re.compile(r"[^\W\d]*\W?").match


class Reservoir:
    """Keeps the items of a table that represent those that were added."""

    def __init__(self, table: TableDescription) -> None:
        self.table = table
        self.count = 0
        self._random = random.Random(0)
        self._kept: list[tuple[int, Item]] = []
        self._of_form: dict[object, list[tuple[int, Item]]] = {}

    def add(self, item: Item) -> None:
        """Keep an item if it is drawn, or if few items of its form were kept."""
        number = self.count
        self.count += 1
        if number < KEPT:
            self._kept.append((number, item))
        else:
            position = int(self._random.random() * self.count)
            if position < KEPT:
                self._kept[position] = (number, item)
        form = self._form(item)
        rows = self._of_form.get(form)
        if rows is None:
            if len(self._of_form) < _MOST_FORMS:
                self._of_form[form] = [(number, item)]
        elif len(rows) < FEWEST:
            rows.append((number, item))

    def sample(self) -> Sample:
        """Return the items that were kept, in the order in which they were added."""
        found = dict(self._kept)
        if self.count > KEPT:
            for rows in self._of_form.values():
                found |= dict(rows)
        items = tuple(found[number] for number in sorted(found))
        return Sample(self.table, items, read=self.count)

    def _form(self, item: Item) -> object:
        """Return how the keys of an item begin."""
        found = []
        for name in self.table.keys.names:
            text = item[name].get("S")
            beginning = _BEGINNING(text) if text else None
            found.append(beginning[0] if beginning else "")
        return tuple(found)


class Sampling:
    """Reads a sample of a table; raises TableNotFound if the table is missing or empty."""

    def __init__(
        self,
        transport: Transport,
        table: str,
        where: str,
        size: int = SAMPLE_SIZE,
        segments: int = SEGMENTS,
    ) -> None:
        select_tables(transport, where, table)
        described = require_description(transport, table)
        self._reservoir = Reservoir(read_definition(transport, described))
        self._name = table
        self._transport = transport
        self._where = where
        self._size = size
        self._segments = segments
        #: The number of items to read, as far as the table says.
        self.expected = min(size, described.state.items or size)

    def read(self) -> Iterator[int]:
        """Read the items; yield how many were read so far."""
        reservoir = self._reservoir
        names = reservoir.table.keys.names
        for item in islice(self._items(), self._size):
            if is_record([item[name] for name in names]):
                continue
            reservoir.add(item)
            if reservoir.count % _STEP == 0:
                yield reservoir.count
        yield reservoir.count

    def sample(self) -> Sample:
        """Return the items that were kept."""
        if not self._reservoir.count:
            message = f"the table {self._name!r} has no items to infer a design from"
            raise TableNotFound(f"{self._where}: {message}")
        return self._reservoir.sample()

    def _items(self) -> Iterator[Item]:
        waiting = [self._pages(segment) for segment in range(self._segments)]
        while waiting:
            following = []
            for pages in waiting:
                page = next(pages, None)
                if page is not None:
                    yield from page
                    following.append(pages)
            waiting = following

    def _pages(self, segment: int) -> Iterator[Iterator[Item]]:
        transport = self._transport
        if is_engine(transport) and self._size > KEPT:
            for rows in read_pages(transport, self._name, segment, self._segments):
                yield (row.decode() for row in rows)
            return
        limit = -(-self._size // self._segments)
        for page in scan_pages(transport, self._name, segment, self._segments, limit=limit):
            yield iter(page)


def read_sample(
    transport: Transport, table: str, where: str, size: int = SAMPLE_SIZE, segments: int = SEGMENTS
) -> Sample:
    """Return a sample of up to `size` items of a table; raise TableNotFound if it has none."""
    sampling = Sampling(transport, table, where, size, segments)
    for _ in sampling.read():
        pass
    return sampling.sample()
