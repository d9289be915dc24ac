"""Regular items: set the items of a class aside that differ from nearly all others.

Tables have items that an old program, a failed write or a person at a console has left behind. One
of them would make a literal a variable, or an attribute useless as the explanation of a key. So an
entity is inferred from the regular items alone, and exactly:

    an attribute has another type                        views is a text in 1 of 300 items
    a key has another number of parts                    ORDER#7#copy, where others are ORDER#7
    a part of a key is not what an attribute gives       STATUS#OPEN, where the status is PAID
    a part of a key is not equal to that of another key
    a key of an index is missing, where others have both

If more than one in `RARE` items differ, they are no exceptions: the design must describe them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from os.path import commonprefix
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.infer.kinds import Kind, kinds_of, spellings, writer_of
from tablewright.infer.names import has_own_name
from tablewright.infer.structure import is_word
from tablewright.mapping.converters import converter
from tablewright.mapping.key_parts import Delimiter
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value, tag_of

#: One item in so many may differ from the others of its class.
RARE = 20
#: The items with which an explanation is tried first, and how many of them may differ.
_PROBE, _PROBE_MISSES = 24, 4
#: Characters that separate a literal from the value behind it.
_LABEL_ENDS = frozenset("_:|~/#-")

#: The texts of a part of a key, by the numbers of the items.
Column = dict[int, str]
#: Returns the text that a value has in a key.
Write = Callable[[Any], str]


class UnexplainedItem(Struct, frozen=True):
    """An item that a design does not describe, and why."""

    item: Item
    reason: str


def find_irregular(
    items: Sequence[Item], table: TableDescription, delimiter: Delimiter | None
) -> dict[int, str]:
    """Return the numbers of the irregular items of a class, each with the reason.

    Without a delimiter, key texts are not split.
    """
    if len(items) < RARE:
        return {}
    finder = _Finder(items, table, delimiter)
    finder.compare_types()
    finder.compare_index_keys()
    finder.compare_keys()
    return finder.found


class _Finder:
    def __init__(
        self, items: Sequence[Item], table: TableDescription, delimiter: Delimiter | None
    ) -> None:
        self.items = items
        self.table = table
        self.split = "" if delimiter is None else delimiter.text
        self.delimiter = delimiter or Delimiter(escapes=False)
        self.found: dict[int, str] = {}
        self.schemas = [table.keys, *(index.keys for index in table.indexes)]
        self.keys = {key.name: key for schema in self.schemas for key in schema}
        #: The parts of keys that other keys may repeat, with the name of their key.
        self.columns: list[tuple[str, Column]] = []
        self._contents: dict[tuple[str, Kind], dict[int, Any]] = {}
        self._documents: list[tuple[str, Column]] | None = None
        self._kinds: dict[str, tuple[Kind, ...]] = {}

    def set_aside(self, numbers: Sequence[int], reason: str, among: int) -> bool:
        """Set items aside if they are rare among so many; return whether they are."""
        if len(numbers) > among // RARE:
            return False
        for number in numbers:
            self.found.setdefault(number, reason)
        return True

    def regular(self, name: str) -> dict[int, Value]:
        """Return the contents of an attribute in the items that are still regular."""
        return {
            n: item[name]
            for n, item in enumerate(self.items)
            if name in item and n not in self.found
        }

    # -- attributes ----------------------------------------------------------------------------

    def compare_types(self) -> None:
        for name in dict.fromkeys(name for item in self.items for name in item):
            values = self.regular(name)
            tags = Counter(tag_of(value) for value in values.values() if "NULL" not in value)
            if len(tags) > 1:
                usual = tags.most_common(1)[0][0]
                others = [n for n, value in values.items() if tag_of(value) not in (usual, "NULL")]
                reason = f"{name} is of another type than {usual}, its type in the other items"
                self.set_aside(others, reason, len(values))

    def compare_index_keys(self) -> None:
        for index in self.table.indexes:
            names = index.keys.names
            composed = [name for name in names if self._is_composed(name)]
            some = [
                n
                for n, item in enumerate(self.items)
                if any(name in item for name in composed) and n not in self.found
            ]
            partial = [n for n in some if not all(name in self.items[n] for name in names)]
            reason = f"it has only a part of the keys of {index.name}: {' or '.join(names)}"
            self.set_aside(partial, reason, len(some))

    def _is_composed(self, name: str) -> bool:
        """Whether a key attribute of an index is composed: it is named so, or has delimiters."""
        if name in self.table.keys.names:
            return False
        texts = [value.get("S", "") for value in self.regular(name).values()]
        split = sum(self.split in text for text in texts) if self.split else 0
        return not has_own_name(name) or split > len(texts) - len(texts) // RARE > 0

    # -- keys ----------------------------------------------------------------------------------

    def compare_keys(self) -> None:
        for name, key in self.keys.items():
            if key.type != "S":
                continue
            texts = {n: str(value["S"]) for n, value in self.regular(name).items()}
            rows = {n: self._split(text) for n, text in texts.items()}
            widths = Counter(map(len, rows.values()))
            if not widths:
                continue
            width = widths.most_common(1)[0][0]
            others = [n for n, row in rows.items() if len(row) != width]
            if others and width == 1 and has_own_name(name):
                continue  # values of an attribute, which may contain anything
            reason = f"{name} has another number of parts than in the other items"
            if self.set_aside(others, reason, len(rows)):
                for number in others:
                    del rows[number]
                self._compare_columns(name, rows, width)

    def _split(self, text: str) -> list[str]:
        return text.split(self.split) if self.split else [text]

    def _compare_columns(self, name: str, rows: Mapping[int, list[str]], width: int) -> None:
        start = 0
        while start < width:
            for end in range(width, start, -1):
                column = {n: self.split.join(row[start:end]) for n, row in rows.items()}
                if self._compare_column(name, column):
                    break
            else:
                column = {n: row[start] for n, row in rows.items()}
                self._compare_literal(name, column)
                self.columns.append((name, column))
                end = start + 1
            start = end

    def _compare_column(self, name: str, column: Column) -> bool:
        """Set aside the items that the explanation of the others does not fit, if there is one.

        Return whether there is one.
        """
        regular = {n: text for n, text in column.items() if n not in self.found}
        counts = Counter(regular.values())
        if len(counts) < 2:
            return False
        if len(counts) < 3 and min(counts.values()) <= len(regular) // RARE:
            return self._is_choice_of_attribute(name, regular)
        for stripped in self._without_labels(regular):
            best: tuple[int, str, list[int]] | None = None
            for source, misses in self._explanations(name, stripped):
                if best is None or len(misses) < best[0]:
                    best = len(misses), source, misses
                if not misses:
                    return True
            if best is not None:
                reason = f"{name} is not what {best[1]} gives"
                return self.set_aside(best[2], reason, len(column))
        return False

    def _is_choice_of_attribute(self, name: str, column: Column) -> bool:
        """Whether an attribute has these few texts; then none of them is a wrong literal."""
        return len(set(column.values())) > 1 and any(
            not misses for _, misses in self._explanations(name, column)
        )

    def _compare_literal(self, name: str, column: Column) -> None:
        regular = {n: text for n, text in column.items() if n not in self.found}
        counts = Counter(regular.values())
        usual, count = counts.most_common(1)[0]
        if len(counts) > 1 and (not usual or is_word(usual)) and count < len(regular):
            others = [n for n, text in regular.items() if text != usual]
            reason = f"{name} does not have {usual!r} where the other items have it"
            self.set_aside(others, reason, len(regular))

    def _without_labels(self, column: Column) -> Iterator[Column]:
        """Yield the texts, and what follows a literal that nearly all of them begin with."""
        yield column
        ordered = sorted(column.values())
        few = len(ordered) // RARE
        common = commonprefix([ordered[few], ordered[-1 - few]])  # noqa: RUF071  # no paths
        for end in (n + 1 for n, letter in enumerate(common) if letter in _LABEL_ENDS):
            label = common[:end]
            # A text without the label is no text of the explanation, so the item is set aside.
            rest = {n: text[end:] if text.startswith(label) else "" for n, text in column.items()}
            if any(rest.values()):
                yield rest

    def _explanations(self, name: str, column: Column) -> Iterator[tuple[str, list[int]]]:
        """Yield what explains nearly all texts, and the numbers of the items where it does not."""
        numbers = list(column)
        others = (
            (f"the same part of {other}", known) for other, known in self.columns if other != name
        )
        for source, known in chain(others, self._members()):
            misses = _misses(numbers, lambda n: known.get(n) == column[n])  # noqa: B023
            if misses is not None:
                yield source, misses
        length = Counter(map(len, filter(None, column.values()))).most_common(1)[0][0]
        texts = [text for text in column.values() if len(text) == length]
        for attribute in self._attributes(name):
            for kind in self._kinds_of(attribute):
                values = self._values(attribute, kind)
                for spelling in spellings(kind, "S", texts):
                    write = writer_of(spelling, self.delimiter)
                    if write is None or "truncated" in spelling.names:
                        continue  # it would hide what is wrong at the end of a value
                    misses = _misses(numbers, _gives(write, values, column))
                    if misses is not None:
                        yield spelling.source.format(attribute), misses

    def _members(self) -> Iterator[tuple[str, Column]]:
        """Yield the texts in documents."""
        if self._documents is None:
            found: dict[str, Column] = {}
            for n, item in enumerate(self.items):
                for name, value in item.items():
                    for member, inner in value.get("M", {}).items():
                        if "S" in inner:
                            found.setdefault(f"{name}.{member}", {})[n] = inner["S"]
            self._documents = [(name, column) for name, column in found.items() if len(column) > 1]
        yield from self._documents

    def _attributes(self, name: str) -> Iterator[str]:
        for attribute in dict.fromkeys(name for item in self.items for name in item):
            if attribute != name and (attribute not in self.keys or has_own_name(attribute)):
                yield attribute

    def _kinds_of(self, attribute: str) -> tuple[Kind, ...]:
        if attribute not in self._kinds:
            values = list(self.regular(attribute).values())
            kinds = kinds_of(values) if values else ()
            is_scalar = kinds and set(values[0]) <= {"S", "N", "BOOL"}
            self._kinds[attribute] = kinds if is_scalar else ()
        return self._kinds[attribute]

    def _values(self, attribute: str, kind: Kind) -> dict[int, Any]:
        found = self._contents.get((attribute, kind))
        if found is None:
            decode = converter(kind.type, attribute).decode
            values = self.regular(attribute).items()
            found = {n: decode(value) for n, value in values if "NULL" not in value}
            self._contents[attribute, kind] = found
        return found


def _gives(write: Write, values: Mapping[int, Any], column: Column) -> Callable[[int], bool]:
    """Return whether the value of an item is written as its text."""

    def gives(number: int) -> bool:
        try:
            return number in values and write(values[number]) == column[number]
        except InvalidValue:
            return False

    return gives


def _misses(numbers: Sequence[int], matches: Callable[[int], bool]) -> list[int] | None:
    """Return the numbers that do not match; None if too many of the first ones do not."""
    found: list[int] = []
    for count, number in enumerate(numbers):
        if not matches(number):
            found.append(number)
            if count < _PROBE:
                if len(found) > _PROBE_MISSES:
                    return None
            elif len(found) > len(numbers) // RARE:
                return None
    return found if len(found) <= len(numbers) // RARE else None
