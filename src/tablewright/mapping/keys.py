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

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Composer, Template, encode_natural, encode_value
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


class _Next(Struct, frozen=True):
    """The part of a sort key that follows the bound ones."""

    #: Composes what stands before the part.
    prefix: Composer
    #: None if every part is bound.
    part: KeyPart | None
    #: What tells the end of the part: a delimiter, or the first character of a literal; "" if
    #: another part follows, None if nothing does.
    following: str | None = None
    #: The keys sort as the values of the part do.
    is_in_order: bool = True


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
        self._partition = Composer(partition)
        self._sort = None if sort is None else Composer(sort)
        self._required = tuple(
            part.attribute for template in _present(partition, sort) for part in template.parts
        )
        #: Parts that may have no value although their attribute has one.
        self._optional = tuple(
            (part.attribute, part.argument)
            for template in _present(partition, sort)
            for part in template.parts
            if part.notation.is_optional
        )
        self._forms = tuple(
            (
                attribute,
                template.tag,
                composer.form,
                tuple((part.attribute, part.attribute_text) for part in template.parts),
            )
            for attribute, template, composer in (
                (attributes[0], partition, self._partition),
                (attributes[1], sort, self._sort),
            )
            if attribute in self.composed and template is not None and composer is not None
        )
        #: For each number of bound arguments in the sort key: what follows them.
        self._prefixes = [] if sort is None else self._compose_prefixes(sort)

    def _compose_prefixes(self, sort: Template) -> list[_Next]:
        prefixes: list[_Next] = []
        bound = self.partition_arity
        part_number = -1
        for position, piece in enumerate(sort.pieces):
            if isinstance(piece, KeyPart):
                part_number += 1
                if sort.slots[part_number] == bound:  # the first use of this argument
                    following = _following(sort, position)
                    is_in_order = not following or piece.sorts_before(following)
                    prefixes.append(_Next(Composer(sort, position), piece, following, is_in_order))
                    bound += 1
        prefixes.append(_Next(Composer(sort), None))
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
        return encode_value(self.partition, self._partition, arguments)

    def sort_value(self, arguments: Sequence[Any]) -> Value:
        """Return the sort key of a call that binds all parts."""
        assert self.sort is not None
        assert self._sort is not None
        return encode_value(self.sort, self._sort, arguments)

    def next_part(self, bound: int) -> KeyPart | None:
        """Return the part that a comparison applies to after `bound` arguments."""
        return self._prefixes[bound - self.partition_arity].part if self._prefixes else None

    def is_in_order(self, bound: int) -> bool:
        """Return whether the keys sort as the values of the next part do."""
        return self._prefixes[bound - self.partition_arity].is_in_order

    def can_compare(self, bound: int, comparison: Comparison) -> bool:
        """Return whether a key condition can compare the attribute of the next part."""
        part = self.next_part(bound)
        if part is None or self.sort is None or not part.is_exact:
            return False
        if self.sort.natural is not None or self.sort.tag != "S":
            return True
        if comparison == "begins_with":
            return part.is_free_text
        return part.is_ordered and self.is_in_order(bound)

    def prefix(self, arguments: Sequence[Any]) -> str:
        """Return the start of the sort key that the arguments determine, with its delimiter."""
        return self._prefixes[len(arguments) - self.partition_arity].prefix(arguments)

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
        if self.sort.natural is not None or self.sort.tag != "S":
            return _whole_condition(self.sort, part, comparison, operands)
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
            following=self._prefixes[len(arguments) - self.partition_arity].following,
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
        for name, argument in self._optional:
            if argument(values[name]) is None:
                return None
        return {
            attribute: {tag: form % tuple([text(values[name]) for name, text in parts])}
            for attribute, tag, form, parts in self._forms
        }


class AlternativeKeys:
    """The places of an entity in one index, of which at most one holds at a time."""

    def __init__(self, keys: tuple[KeyMap, ...]) -> None:
        self.keys = keys
        self.name = ", ".join(key.name for key in keys)
        self.index = keys[0].index
        self.composed = tuple(dict.fromkeys(name for key in keys for name in key.composed))
        self.depends_on = frozenset[str]().union(*(key.depends_on for key in keys))

    def compose(self, values: Mapping[str, Any]) -> dict[str, Value] | None:
        """Return the composed attributes of the place that holds; None if none does."""
        for key in self.keys:
            composed = key.compose(values)
            if composed is not None:
                return composed
        return None


#: What an entity writes for one index.
IndexKeys: TypeAlias = KeyMap | AlternativeKeys


def group_by_index(keys: Sequence[KeyMap]) -> tuple[IndexKeys, ...]:
    """Return the keys of an entity for each index: one, or the alternatives."""
    groups: dict[str, list[KeyMap]] = {}
    for key in keys:
        assert key.index is not None
        groups.setdefault(key.index.name, []).append(key)
    return tuple(
        group[0] if len(group) == 1 else AlternativeKeys(tuple(group)) for group in groups.values()
    )


def _present(*templates: Template | None) -> list[Template]:
    return [template for template in templates if template is not None]


def _following(sort: Template, position: int) -> str | None:
    """Return what tells the end of a part; "" before another part, None if nothing follows."""
    if position + 1 == len(sort.pieces):
        return None
    piece, delimiter = sort.pieces[position + 1], sort.delimiter.text
    if not isinstance(piece, str):
        return ""
    return delimiter if piece.startswith(delimiter) else piece[0]


def _text(text: str) -> Value:
    return {"S": text}


def _whole_condition(
    sort: Template, part: KeyPart, comparison: Comparison | None, operands: Sequence[Any]
) -> SortCondition | None:
    """Return the condition on a sort key that is one value, not a composed text."""
    if comparison is None:
        return None
    if part.is_descending:
        comparison, operands = FLIPPED.get(comparison, comparison), operands[::-1]
    if sort.natural is None:
        values: list[Value] = [{sort.tag: part.text(operand)} for operand in operands]
    else:
        values = [encode_natural(sort.natural, operand) for operand in operands]
    return SortCondition(comparison, tuple(values))


#: Sorts after every text that continues a key, where no literal says how it continues.
HIGHEST = "\U0010ffff"


def after(text: str) -> str:
    """Return the lowest text that sorts after every text which begins with this one.

    >>> after("ORDER#")
    'ORDER$'
    """
    return text[:-1] + chr(ord(text[-1]) + 1) if ord(text[-1]) < 0xD7FF else text + HIGHEST


def _composed_condition(
    prefix: str,
    comparison: Comparison,
    bounds: list[str],
    *,
    following: str | None,
    is_exclusive: bool,
) -> SortCondition:
    """Return the condition on a composed sort key; `following` tells the end of the part."""
    if comparison == "begins_with":
        return SortCondition("begins_with", (_text(bounds[0]),))
    is_last = following is None
    lowest, highest = prefix, after(prefix) if prefix else ""
    unbounded = is_exclusive or not prefix
    # A key `bound#…` equals the bound in this part; `bound$` sorts after all such keys.
    end = "" if following is None else after(following) if following else HIGHEST
    if comparison == "=":
        if following is None:
            return SortCondition("=", (_text(bounds[0]),))
        return SortCondition("begins_with", (_text(bounds[0] + following),))
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
