"""Keys: templates of literals and parts, and the conditions that a query puts on them.

A template is composed from an entity's values when an item is written, and from the arguments of
a call when one is read:

    "ORDER" / created_at / order_id   ->   ORDER#2026-01-15T10:15:30.000000Z#O100

A call binds parts from the left. What is bound, and what the next part is compared with, gives
one condition on the sort key (`#` ends every prefix, so order 1 never meets order 10; `$` sorts
right after `#`):

    nothing bound                       begins_with(SK, "ORDER#")
    .eq(day)                            begins_with(SK, "ORDER#day#")
    .eq(day, id)                        SK = "ORDER#day#id"
    .gte(day)                           SK BETWEEN "ORDER#day" AND "ORDER$"
    .gt(day)                            SK BETWEEN "ORDER#day$" AND "ORDER$"
    .lte(day)                           SK BETWEEN "ORDER#" AND "ORDER#day$"

Where no other entity can be in the partition, the bounds that would keep it out are left away:
`PK = "USER"`, `SK >= "AT#1719473962"`.

This module knows nothing of items, requests or entities.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.converters import Converter
from tablewright.mapping.parts import ABOVE, DELIMITER, Part
from tablewright.symbol import Symbol
from tablewright.values import Value

#: How a query compares the part that comes next; `begins_with` takes the start of a text.
Comparison: TypeAlias = Literal["=", "<", "<=", ">", ">=", "between", "begins_with"]
FLIPPED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Sort(Struct, frozen=True):
    """A condition on the sort key, as DynamoDB takes it."""

    comparison: Comparison
    values: tuple[Value, ...]
    #: A key that the condition lets through and that the comparison means to leave out.
    excluded: Value | None = None


class Template(Struct, frozen=True):
    """One key attribute: literals and parts, joined by `#`."""

    pieces: tuple[str | Part, ...]
    #: For each part, where its value stands among the arguments of a call.
    slots: tuple[int, ...]
    #: Stores an attribute as it is; the key is that attribute, not a composed text.
    natural: Converter | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Part))

    @property
    def segments(self) -> list[str | Part]:
        """The pieces, with literals that hold a `#` cut there."""
        segments: list[str | Part] = []
        for piece in self.pieces:
            segments += piece.split(DELIMITER) if isinstance(piece, str) else [piece]
        return segments

    def pattern(self) -> str:
        """A regular expression of the texts that the key can be."""
        if self.natural is not None:
            return ".+"
        return DELIMITER.join(
            re.escape(piece) if isinstance(piece, str) else f"(?:{piece.pattern})"
            for piece in self.pieces
        )

    def show(self, name: str = "{}") -> str:
        """The template as documents write it: `ORDER#{created_at}#{order_id}`."""
        return DELIMITER.join(
            piece if isinstance(piece, str) else f"{{{name.format(piece.label)}}}"
            for piece in self.pieces
        )


class Composer:
    """A template's leading pieces, ready to be filled in."""

    __slots__ = ("form", "slots", "texts")

    def __init__(self, template: Template, pieces: int, ending: str = "") -> None:
        leading = template.pieces[:pieces]
        texts = [piece.replace("%", "%%") if isinstance(piece, str) else "%s" for piece in leading]
        self.form = DELIMITER.join(texts) + ending
        self.texts = tuple(piece.text for piece in leading if isinstance(piece, Part))
        self.slots = template.slots[: len(self.texts)]

    def __call__(self, arguments: Sequence[Any]) -> str:
        return self.form % tuple(
            [text(arguments[slot]) for text, slot in zip(self.texts, self.slots, strict=True)]
        )


class IndexMap(Struct, frozen=True):
    """A secondary index of the table."""

    name: str
    kind: Literal["global", "local"]
    attributes: tuple[str, str | None]
    #: ALL, KEYS_ONLY, or the stored names of the attributes it holds beside its keys.
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"


class When(Protocol):
    """A condition under which an entity is in an index."""

    @property
    def attributes(self) -> frozenset[str]: ...
    def holds(self, values: Mapping[str, Any]) -> bool: ...


class KeyMap:
    """A partition key and a sort key: the table's, or those of an index."""

    def __init__(
        self,
        name: str,
        attributes: tuple[str, str | None],
        partition: Template,
        sort: Template | None,
        *,
        index: IndexMap | None = None,
        when: When | None = None,
        given: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self.attributes = attributes
        self.partition = partition
        self.sort = sort
        self.index = index
        self.when = when
        #: Those of its attributes that are composed for it: neither natural nor the table's own.
        self.composed = tuple(
            attribute
            for attribute, template in zip(attributes, (partition, sort), strict=True)
            if attribute is not None
            and template is not None
            and template.natural is None
            and attribute not in given
        )
        #: What a call asks for: first the partition's parts, then the sort key's.
        asked: dict[int, Part] = {}
        for template in _there(partition, sort):
            for part, slot in zip(template.parts, template.slots, strict=True):
                asked.setdefault(slot, part)
        self.asked = tuple(asked[slot] for slot in sorted(asked))
        self.in_partition = len(set(partition.slots))
        #: The attributes that decide on the key.
        self.names = frozenset(
            part.attribute for template in _there(partition, sort) for part in template.parts
        ) | (when.attributes if when is not None else frozenset())
        self._partition = Composer(partition, len(partition.pieces))
        self._sort = None if sort is None else Composer(sort, len(sort.pieces))
        self._needed = tuple(
            part.attribute for template in _there(partition, sort) for part in template.parts
        )
        self._forms = tuple(
            (attribute, composer.form, tuple((part.attribute, part.of) for part in template.parts))
            for attribute, template, composer in (
                (attributes[0], partition, self._partition),
                (attributes[1], sort, self._sort),
            )
            if attribute in self.composed and template is not None and composer is not None
        )
        #: For each number of bound arguments: the composed beginning, and the part that is next.
        self._beginnings = [] if sort is None else self._compose_beginnings(sort)

    def _compose_beginnings(self, sort: Template) -> list[tuple[Composer, Part | None]]:
        beginnings: list[tuple[Composer, Part | None]] = []
        bound = self.in_partition
        part_number = -1
        for position, piece in enumerate(sort.pieces):
            if isinstance(piece, Part):
                part_number += 1
                if sort.slots[part_number] == bound:  # the first time that this value is used
                    ending = DELIMITER if position else ""
                    beginnings.append((Composer(sort, position, ending), piece))
                    bound += 1
        beginnings.append((Composer(sort, len(sort.pieces)), None))
        return beginnings

    def show(self) -> str:
        """Both templates, as documents write them: `PK=USER, SK=USER#{id}`."""
        pairs = zip(self.attributes, (self.partition, self.sort), strict=True)
        return ", ".join(f"{name}={each.show()}" for name, each in pairs if each is not None)

    # -- from the arguments of a call --------------------------------------------------------

    def check(self, arguments: Sequence[Any], *, complete: bool) -> None:
        wanted = len(self.asked) if complete else self.in_partition
        if len(arguments) != wanted if complete else len(arguments) < wanted:
            labels = ", ".join(part.label for part in self.asked[:wanted]) or "nothing"
            raise DeclarationError(
                f"{self.name} takes {labels}; {len(arguments)} "
                f"value{'s were' if len(arguments) != 1 else ' was'} given"
            )
        if len(arguments) > len(self.asked):
            raise DeclarationError(f"{self.name} takes at most {len(self.asked)} values")

    def partition_value(self, arguments: Sequence[Any]) -> Value:
        return _value(self.partition, self._partition, arguments)

    def sort_value(self, arguments: Sequence[Any]) -> Value:
        assert self.sort is not None
        assert self._sort is not None
        return _value(self.sort, self._sort, arguments)

    def next_part(self, bound: int) -> Part | None:
        """The part that a comparison is about when `bound` arguments are given."""
        return self._beginnings[bound - self.in_partition][1] if self._beginnings else None

    def is_last(self, bound: int) -> bool:
        """Nothing follows the part that comes next."""
        assert self.sort is not None
        return self.sort.pieces[-1] is self.next_part(bound)

    def compares(self, bound: int, comparison: Comparison) -> bool:
        """Whether a condition on the key can compare the attribute of the part that is next."""
        part = self.next_part(bound)
        if part is None or self.sort is None or not part.exact:
            return False
        if self.sort.natural is not None:
            return True
        if comparison == "begins_with":
            return part.free
        return part.ordered and (not part.loose or self.is_last(bound))

    def beginning(self, arguments: Sequence[Any]) -> str:
        """The sort key as far as the arguments go, up to and with the delimiter."""
        return self._beginnings[len(arguments) - self.in_partition][0](arguments)

    def condition(
        self,
        arguments: Sequence[Any],
        comparison: Comparison | None,
        operands: Sequence[Any],
        *,
        alone: bool,
    ) -> Sort | None:
        """The condition on the sort key; None where the whole partition is meant.

        `alone`: no other entity is in such a partition of this index.
        """
        if self.sort is None:
            return None
        part = self.next_part(len(arguments))
        if part is None:
            return Sort("=", (self.sort_value(arguments),))
        if self.sort.natural is not None:
            return _natural_condition(self.sort.natural, comparison, operands)
        beginning = self.beginning(arguments)
        if comparison is None:
            if not beginning or (alone and len(arguments) == self.in_partition):
                return None
            return Sort("begins_with", (_text(beginning),))
        if part.reversed and comparison != "begins_with":
            comparison, operands = FLIPPED.get(comparison, comparison), operands[::-1]
        return _composed_condition(
            beginning,
            comparison,
            [beginning + part.text(operand) for operand in operands],
            last=self.is_last(len(arguments)),
            alone=alone and len(arguments) == self.in_partition,
        )

    # -- from the values of an entity --------------------------------------------------------

    def compose(self, values: Mapping[str, Any]) -> dict[str, Value] | None:
        """The composed attributes of the key; None where a part has no value, or `when` does not
        hold, and the entity is not in the index."""
        if self.when is not None and not self.when.holds(values):
            return None
        for name in self._needed:
            if values[name] is None:
                return None
        return {
            attribute: {"S": form % tuple([of(values[name]) for name, of in parts])}
            for attribute, form, parts in self._forms
        }


def _there(*templates: Template | None) -> list[Template]:
    return [template for template in templates if template is not None]


def _value(template: Template, composer: Composer, arguments: Sequence[Any]) -> Value:
    if template.natural is None:
        return {"S": composer(arguments)}
    return encoded(template.natural, arguments[template.slots[0]])


def encoded(natural: Converter, value: Any) -> Value:
    if isinstance(value, Symbol):
        return {natural.tag or "S": Symbol.text(value)}
    return natural.encode(value)


def _text(text: str) -> Value:
    return {"S": text}


def _natural_condition(
    natural: Converter, comparison: Comparison | None, operands: Sequence[Any]
) -> Sort | None:
    if comparison is None:
        return None
    return Sort(comparison, tuple(encoded(natural, operand) for operand in operands))


def _composed_condition(
    beginning: str, comparison: Comparison, bounds: list[str], *, last: bool, alone: bool
) -> Sort:
    if comparison == "begins_with":
        return Sort("begins_with", (_text(bounds[0]),))
    lowest, highest = beginning, beginning.removesuffix(DELIMITER) + ABOVE
    unbounded = alone or not beginning
    end = "" if last else ABOVE  # `bound#…` is still equal to the bound; `bound$` is above it
    if comparison == "=":
        return Sort("=" if last else "begins_with", (_text(bounds[0] + ("" if last else "#")),))
    if comparison == "between":
        return Sort("between", (_text(bounds[0]), _text(bounds[1] + end)))
    bound = bounds[0]
    if comparison == ">=":
        if unbounded:
            return Sort(">=", (_text(bound),))
        return Sort("between", (_text(bound), _text(highest)))
    if comparison == ">":
        if unbounded:
            return Sort(">", (_text(bound + end),))
        excluded = _text(bound) if last else None
        return Sort("between", (_text(bound + end), _text(highest)), excluded)
    if comparison == "<=":
        if unbounded:
            return Sort("<=", (_text(bound + end),))
        return Sort("between", (_text(lowest), _text(bound + end)))
    if unbounded:
        return Sort("<", (_text(bound),))
    return Sort("between", (_text(lowest), _text(bound)), _text(bound) if last else None)


# -- what two templates have in common -----------------------------------------------------------


def may_meet(one: str | Part, other: str | Part) -> bool:
    """Whether two segments can have the same text."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    if isinstance(one, Part) and isinstance(other, Part):
        return one.free or other.free or one.pattern == other.pattern or _formats_meet(one, other)
    text, part = (one, other) if isinstance(one, str) else (other, one)
    assert isinstance(text, str)
    assert isinstance(part, Part)
    return bool(text) and re.fullmatch(part.pattern, text) is not None


#: Formats whose texts never have the same length.
_WIDTH = re.compile(r"\[[^]]+\]\{(\d+)\}")


def _formats_meet(one: Part, other: Part) -> bool:
    widths = [_WIDTH.fullmatch(part.pattern) for part in (one, other)]
    if all(widths):
        return widths[0][1] == widths[1][1]  # type: ignore[index]
    return True


def overlap(one: Template, other: Template) -> bool:
    """Whether two templates can give the same text."""
    if one.natural is not None or other.natural is not None:
        return True
    here, there = one.segments, other.segments
    return len(here) == len(there) and all(map(may_meet, here, there))


def shares_beginning(beginning: Sequence[str | Part], template: Template) -> bool:
    """Whether a template can give a text that begins with these segments and is longer."""
    if template.natural is not None:
        return True
    segments = template.segments
    return len(segments) >= len(beginning) and all(map(may_meet, beginning, segments))


def goes_on(sort: Template, theirs: Template) -> bool:
    """Whether one sort key extends the other."""
    here, there = sort.segments, theirs.segments
    return len(there) > len(here) and all(
        isinstance(one, Part) == isinstance(other, Part) and (isinstance(one, Part) or one == other)
        for one, other in zip(here, there, strict=False)
    )
