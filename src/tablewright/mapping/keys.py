"""Keys: templates of literals and parts, and the conditions that a query puts on them.

A template is filled in with the values of an entity when an item is written, and with the
arguments of a call when an item is read:

    "ORDER" / created_at / order_id   ->   ORDER#2026-01-15T10:15:30.000000Z#O100

A call binds parts from the left. The bound parts and the comparison of the next part result in one
condition on the sort key. Every prefix ends with `#`, so order 1 never matches order 10; `$` sorts
right after `#`:

    nothing bound                       begins_with(SK, "ORDER#")
    .eq(day)                            begins_with(SK, "ORDER#day#")
    .eq(day, id)                        SK = "ORDER#day#id"
    .gte(day)                           SK BETWEEN "ORDER#day" AND "ORDER$"
    .gt(day)                            SK BETWEEN "ORDER#day$" AND "ORDER$"
    .lte(day)                           SK BETWEEN "ORDER#" AND "ORDER#day$"

If no other entity can be in the partition, the bounds that exclude other entities are left out:
`PK = "USER"`, `SK >= "AT#1719473962"`.

This module must not know items, requests or entities.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.converters import Converter
from tablewright.mapping.parts import AFTER_DELIMITER, DELIMITER, KeyPart
from tablewright.symbol import Symbol
from tablewright.values import Value

#: How a query compares the next part; `begins_with` takes the start of a text.
Comparison: TypeAlias = Literal["=", "<", "<=", ">", ">=", "between", "begins_with"]
FLIPPED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class SortCondition(Struct, frozen=True):
    """A condition on the sort key, as DynamoDB takes it."""

    comparison: Comparison
    values: tuple[Value, ...]
    #: A key that matches the condition but not the comparison: it must be filtered out.
    excluded: Value | None = None


class Template(Struct, frozen=True):
    """One key attribute: literals and parts, joined by `#`."""

    pieces: tuple[str | KeyPart, ...]
    #: For each part, the position of its value among the arguments of a call.
    slots: tuple[int, ...]
    #: The converter of a natural key, which is an attribute itself; None for a composed key.
    natural: Converter | None = None

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, KeyPart))

    @property
    def segments(self) -> list[str | KeyPart]:
        """The pieces, with literals split at `#`."""
        segments: list[str | KeyPart] = []
        for piece in self.pieces:
            segments += piece.split(DELIMITER) if isinstance(piece, str) else [piece]
        return segments

    def pattern(self) -> str:
        """Return a regular expression that matches every possible text of the key."""
        if self.natural is not None:
            return ".+"
        return DELIMITER.join(
            re.escape(piece) if isinstance(piece, str) else f"(?:{piece.pattern})"
            for piece in self.pieces
        )

    def show(self, name: str = "{}") -> str:
        """Return the template as documents show it: `ORDER#{created_at}#{order_id}`."""
        return DELIMITER.join(
            piece if isinstance(piece, str) else f"{{{name.format(piece.label)}}}"
            for piece in self.pieces
        )


class Composer:
    """Fills in the leading pieces of a template."""

    __slots__ = ("form", "slots", "texts")

    def __init__(self, template: Template, pieces: int, ending: str = "") -> None:
        leading = template.pieces[:pieces]
        texts = [piece.replace("%", "%%") if isinstance(piece, str) else "%s" for piece in leading]
        self.form = DELIMITER.join(texts) + ending
        self.texts = tuple(piece.text for piece in leading if isinstance(piece, KeyPart))
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
    #: ALL, KEYS_ONLY, or the stored names of the attributes that it contains besides its keys.
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"


class IndexCondition(Protocol):
    """The condition under which an entity is in an index."""

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
        when: IndexCondition | None = None,
        provided: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self.attributes = attributes
        self.partition = partition
        self.sort = sort
        self.index = index
        self.when = when
        #: The attributes that are composed for this key: not natural, and not in `provided`.
        self.composed = tuple(
            attribute
            for attribute, template in zip(attributes, (partition, sort), strict=True)
            if attribute is not None
            and template is not None
            and template.natural is None
            and attribute not in provided
        )
        #: The parts whose values a call takes: the partition key's first, then the sort key's.
        parameters: dict[int, KeyPart] = {}
        for template in _present(partition, sort):
            for part, slot in zip(template.parts, template.slots, strict=True):
                parameters.setdefault(slot, part)
        self.parameters = tuple(parameters[slot] for slot in sorted(parameters))
        #: How many of the parameters are in the partition key.
        self.partition_arity = len(set(partition.slots))
        #: The attributes of the entity that the key depends on.
        self.depends_on = frozenset(
            part.attribute for template in _present(partition, sort) for part in template.parts
        ) | (when.attributes if when is not None else frozenset())
        self._partition = Composer(partition, len(partition.pieces))
        self._sort = None if sort is None else Composer(sort, len(sort.pieces))
        self._required = tuple(
            part.attribute for template in _present(partition, sort) for part in template.parts
        )
        self._forms = tuple(
            (
                attribute,
                composer.form,
                tuple((part.attribute, part.attribute_text) for part in template.parts),
            )
            for attribute, template, composer in (
                (attributes[0], partition, self._partition),
                (attributes[1], sort, self._sort),
            )
            if attribute in self.composed and template is not None and composer is not None
        )
        #: For each number of bound arguments: the composer of the prefix, and the next part.
        self._prefixes = [] if sort is None else self._compose_prefixes(sort)

    def _compose_prefixes(self, sort: Template) -> list[tuple[Composer, KeyPart | None]]:
        prefixes: list[tuple[Composer, KeyPart | None]] = []
        bound = self.partition_arity
        part_number = -1
        for position, piece in enumerate(sort.pieces):
            if isinstance(piece, KeyPart):
                part_number += 1
                if sort.slots[part_number] == bound:  # the first use of this argument
                    ending = DELIMITER if position else ""
                    prefixes.append((Composer(sort, position, ending), piece))
                    bound += 1
        prefixes.append((Composer(sort, len(sort.pieces)), None))
        return prefixes

    def show(self) -> str:
        """Return both templates as documents show them: `PK=USER, SK=USER#{id}`."""
        pairs = zip(self.attributes, (self.partition, self.sort), strict=True)
        return ", ".join(f"{name}={each.show()}" for name, each in pairs if each is not None)

    # -- from the arguments of a call --------------------------------------------------------

    def check_arguments(self, arguments: Sequence[Any], *, complete: bool) -> None:
        """Raise DeclarationError if the number of arguments is wrong.

        A complete key takes all values; any other takes at least those of the partition key.
        """
        wanted = len(self.parameters) if complete else self.partition_arity
        if len(arguments) != wanted if complete else len(arguments) < wanted:
            labels = ", ".join(part.label for part in self.parameters[:wanted]) or "nothing"
            raise DeclarationError(
                f"{self.name} takes {labels}; {len(arguments)} "
                f"value{'s were' if len(arguments) != 1 else ' was'} given"
            )
        if len(arguments) > len(self.parameters):
            raise DeclarationError(
                f"{self.name} takes at most {len(self.parameters)} values; {len(arguments)} were "
                "given"
            )

    def partition_value(self, arguments: Sequence[Any]) -> Value:
        """Return the partition key of a call."""
        return _value(self.partition, self._partition, arguments)

    def sort_value(self, arguments: Sequence[Any]) -> Value:
        """Return the sort key of a call that binds all parts."""
        assert self.sort is not None
        assert self._sort is not None
        return _value(self.sort, self._sort, arguments)

    def next_part(self, bound: int) -> KeyPart | None:
        """Return the part that a comparison applies to after `bound` arguments."""
        return self._prefixes[bound - self.partition_arity][1] if self._prefixes else None

    def is_last(self, bound: int) -> bool:
        """Return whether the next part is the last piece of the sort key."""
        assert self.sort is not None
        return self.sort.pieces[-1] is self.next_part(bound)

    def can_compare(self, bound: int, comparison: Comparison) -> bool:
        """Return whether a key condition can compare the attribute of the next part."""
        part = self.next_part(bound)
        if part is None or self.sort is None or not part.is_exact:
            return False
        if self.sort.natural is not None:
            return True
        if comparison == "begins_with":
            return part.is_free_text
        return part.is_ordered and (not part.sorts_only_last or self.is_last(bound))

    def prefix(self, arguments: Sequence[Any]) -> str:
        """Return the start of the sort key that the arguments determine, with its delimiter."""
        return self._prefixes[len(arguments) - self.partition_arity][0](arguments)

    def condition(
        self,
        arguments: Sequence[Any],
        comparison: Comparison | None,
        operands: Sequence[Any],
        *,
        is_exclusive: bool,
    ) -> SortCondition | None:
        """Return the condition on the sort key; None for the whole partition.

        `is_exclusive`: no other entity can be in this partition.
        """
        if self.sort is None:
            return None
        part = self.next_part(len(arguments))
        if part is None:
            return SortCondition("=", (self.sort_value(arguments),))
        if self.sort.natural is not None:
            return _natural_condition(self.sort.natural, comparison, operands)
        prefix = self.prefix(arguments)
        if comparison is None:
            if not prefix or (is_exclusive and len(arguments) == self.partition_arity):
                return None
            return SortCondition("begins_with", (_text(prefix),))
        if part.is_descending and comparison != "begins_with":
            comparison, operands = FLIPPED.get(comparison, comparison), operands[::-1]
        return _composed_condition(
            prefix,
            comparison,
            [prefix + part.text(operand) for operand in operands],
            is_last=self.is_last(len(arguments)),
            is_exclusive=is_exclusive and len(arguments) == self.partition_arity,
        )

    # -- from the values of an entity --------------------------------------------------------

    def compose(self, values: Mapping[str, Any]) -> dict[str, Value] | None:
        """Return the composed attributes of the key.

        Return None if the entity is not in the index: a part has no value, or `when` is false.
        """
        if self.when is not None and not self.when.holds(values):
            return None
        for name in self._required:
            if values[name] is None:
                return None
        return {
            attribute: {"S": form % tuple([text(values[name]) for name, text in parts])}
            for attribute, form, parts in self._forms
        }


def _present(*templates: Template | None) -> list[Template]:
    return [template for template in templates if template is not None]


def _value(template: Template, composer: Composer, arguments: Sequence[Any]) -> Value:
    if template.natural is None:
        return {"S": composer(arguments)}
    return encode_natural(template.natural, arguments[template.slots[0]])


def encode_natural(natural: Converter, value: Any) -> Value:
    """Return the value of a natural key; for a symbol, its text."""
    if isinstance(value, Symbol):
        return {natural.tag or "S": Symbol.text(value)}
    return natural.encode(value)


def _text(text: str) -> Value:
    return {"S": text}


def _natural_condition(
    natural: Converter, comparison: Comparison | None, operands: Sequence[Any]
) -> SortCondition | None:
    if comparison is None:
        return None
    return SortCondition(
        comparison, tuple(encode_natural(natural, operand) for operand in operands)
    )


def _composed_condition(
    prefix: str, comparison: Comparison, bounds: list[str], *, is_last: bool, is_exclusive: bool
) -> SortCondition:
    if comparison == "begins_with":
        return SortCondition("begins_with", (_text(bounds[0]),))
    lowest, highest = prefix, prefix.removesuffix(DELIMITER) + AFTER_DELIMITER
    unbounded = is_exclusive or not prefix
    # A key `bound#…` equals the bound in this part; `bound$` sorts after all such keys.
    end = "" if is_last else AFTER_DELIMITER
    if comparison == "=":
        if is_last:
            return SortCondition("=", (_text(bounds[0]),))
        return SortCondition("begins_with", (_text(bounds[0] + DELIMITER),))
    if comparison == "between":
        return SortCondition("between", (_text(bounds[0]), _text(bounds[1] + end)))
    bound = bounds[0]
    if comparison == ">=":
        if unbounded:
            return SortCondition(">=", (_text(bound),))
        return SortCondition("between", (_text(bound), _text(highest)))
    if comparison == ">":
        if unbounded:
            return SortCondition(">", (_text(bound + end),))
        excluded = _text(bound) if is_last else None
        return SortCondition("between", (_text(bound + end), _text(highest)), excluded)
    if comparison == "<=":
        if unbounded:
            return SortCondition("<=", (_text(bound + end),))
        return SortCondition("between", (_text(lowest), _text(bound + end)))
    if unbounded:
        return SortCondition("<", (_text(bound),))
    return SortCondition(
        "between", (_text(lowest), _text(bound)), _text(bound) if is_last else None
    )


# -- comparing two templates ---------------------------------------------------------------------


def can_collide(one: str | KeyPart, other: str | KeyPart) -> bool:
    """Return whether two segments can have the same text."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    if isinstance(one, KeyPart) and isinstance(other, KeyPart):
        return (
            one.is_free_text
            or other.is_free_text
            or one.pattern == other.pattern
            or _formats_can_collide(one, other)
        )
    text, part = (one, other) if isinstance(one, str) else (other, one)
    assert isinstance(text, str)
    assert isinstance(part, KeyPart)
    return bool(text) and re.fullmatch(part.pattern, text) is not None


#: A format with a fixed width: two of different widths never have the same text.
_WIDTH = re.compile(r"\[[^]]+\]\{(\d+)\}")


def _formats_can_collide(one: KeyPart, other: KeyPart) -> bool:
    widths = [_WIDTH.fullmatch(part.pattern) for part in (one, other)]
    if all(widths):
        return widths[0][1] == widths[1][1]  # type: ignore[index]
    return True


def templates_can_collide(one: Template, other: Template) -> bool:
    """Return whether two templates can produce the same key value."""
    if one.natural is not None or other.natural is not None:
        return True
    here, there = one.segments, other.segments
    return len(here) == len(there) and all(map(can_collide, here, there))


def can_begin_with(template: Template, beginning: Sequence[str | KeyPart]) -> bool:
    """Return whether a template can produce a text that begins with these segments."""
    if template.natural is not None:
        return True
    segments = template.segments
    return len(segments) >= len(beginning) and all(map(can_collide, beginning, segments))


def extends(longer: Template, shorter: Template) -> bool:
    """Return whether one sort key begins with all segments of the other and adds more."""
    here, there = shorter.segments, longer.segments
    return len(there) > len(here) and all(
        isinstance(one, KeyPart) == isinstance(other, KeyPart)
        and (isinstance(one, KeyPart) or one == other)
        for one, other in zip(here, there, strict=False)
    )
