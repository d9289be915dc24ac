"""Keys: the attributes of a key, each with its template, filled in by calls and by entities.

A template is filled in with the values of an entity when an item is written, and with the
arguments of a call when an item is read:

    "ORDER" / created_at / order_id   ->   ORDER#2026-01-15T10:15:30.000000Z#O100

A call binds parts from the left. A key of the table, and of most indexes, has a partition key
attribute and a sort key attribute. A global index may have up to four of each, all of them natural:

    GSI(("tenantId", "region"), ("status", "createdAt"))
    by_region("t1", "eu").eq(PAID).gte(monday)
        tenantId = "t1" AND region = "eu" AND status = "PAID" AND createdAt >= "2026-…"

This module must not know items, requests or entities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.key_condition import (
    FLIPPED,
    Comparison,
    KeyCondition,
    SortCondition,
    compare_text,
    compare_value,
)
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.language import width_of
from tablewright.mapping.table_settings import Provisioned
from tablewright.mapping.template import (
    Composer,
    Template,
    symbolic_text,
    templates_can_collide,
    value_encoder,
)
from tablewright.symbol import Parameter, Symbol, UnknownValue
from tablewright.values import Item, Value


class NextPart(Struct, frozen=True):
    """The first part of a sort key that is not bound; a comparison applies to it."""

    part: KeyPart
    #: The key attribute that contains the part.
    attribute: str
    template: Template
    #: The number of pieces before the part, and the function that composes them.
    position: int
    prefix: Composer
    #: The text that ends the part: a delimiter, or the first character of a literal; "" if another
    #: part follows, None at the end of the key.
    following: str | None
    #: Whether the keys sort as the values of the part do.
    is_in_order: bool
    #: Whether a key can end behind the part, because an optional part follows.
    may_end: bool = False


class _Binding(Struct, frozen=True):
    """What a call with some number of arguments determines."""

    #: The key attributes that must equal one value, and the functions that encode it.
    equal: tuple[tuple[str, Callable[[Sequence[Any]], Value]], ...]
    #: None if every part is bound.
    next: NextPart | None


class IndexMap(Struct, frozen=True):
    """A secondary index of the table."""

    name: str
    kind: Literal["global", "local"]
    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    #: ALL, KEYS_ONLY, or the stored names of the attributes that it contains besides its keys.
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"
    #: The capacity of a global index; None if the table is billed on demand.
    billing: Provisioned | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The key attributes, those of the partition key first."""
        return self.partition + self.sort


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
        partition: Mapping[str, Template],
        sort: Mapping[str, Template],
        *,
        index: IndexMap | None = None,
        when: IndexCondition | None = None,
        provided: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        #: The template of each key attribute, those of the partition key first.
        self.templates = {**partition, **sort}
        self.attributes = tuple(self.templates)
        self.partition_attributes = tuple(partition)
        self.sort_attributes = tuple(sort)
        self.index = index
        self.when = when
        #: The attributes that are composed for this key: not natural, and not in `provided`.
        self.composed = tuple(
            attribute
            for attribute, template in self.templates.items()
            if template.natural is None and attribute not in provided
        )
        #: The parts whose values a call takes: of the partition key, then of the sort key.
        parameters: dict[int, KeyPart] = {}
        for template in self.templates.values():
            for part, slot in zip(template.parts, template.slots, strict=True):
                parameters.setdefault(slot, part)
        self.parameters = tuple(parameters[slot] for slot in sorted(parameters))
        #: How many of the parameters are in the partition key.
        self.partition_arity = len({slot for each in partition.values() for slot in each.slots})
        parts = [part for template in self.templates.values() for part in template.parts]
        self._required = tuple(part.attribute for part in parts if not part.can_be_absent)
        #: The attributes of the entity that the key depends on.
        self.depends_on = frozenset(part.attribute for part in parts) | (
            when.attributes if when is not None else frozenset()
        )
        #: Parts that can be None although their attribute is not.
        self._optional = tuple(
            (part.attribute, part.argument) for part in parts if part.notation.is_optional
        )
        self._forms = tuple(
            (
                attribute,
                template.tag,
                Composer(template).form,
                tuple((part.attribute, part.attribute_text) for part in template.parts),
            )
            for attribute, template in self.templates.items()
            if attribute in self.composed
        )
        self._encoders = tuple(
            (attribute, value_encoder(template)) for attribute, template in self.templates.items()
        )
        #: For each number of bound arguments in the sort key: what they determine.
        self._bindings = self._make_bindings(sort)

    @property
    def part_names(self) -> frozenset[str]:
        """The attributes that the key contains, without those of its condition."""
        return frozenset(part.attribute for part in self.parameters)

    def _make_bindings(self, sort: Mapping[str, Template]) -> list[_Binding]:
        bindings: list[_Binding] = []
        bound = self.partition_arity
        count = len(self.partition_attributes)
        for number, (attribute, template) in enumerate(sort.items(), count):
            slots = iter(template.slots)
            for position, piece in enumerate(template.pieces):
                if isinstance(piece, KeyPart) and next(slots) == bound:  # not bound before it
                    following = _following(template, position)
                    found = NextPart(
                        part=piece,
                        attribute=attribute,
                        template=template,
                        position=position,
                        prefix=Composer(template, position),
                        following=following,
                        is_in_order=not following or piece.sorts_before(following),
                        may_end=_is_optional(template.pieces[position + 1 : position + 2]),
                    )
                    bindings.append(_Binding(self._encoders[:number], found))
                    bound += 1
        bindings.append(_Binding(self._encoders, None))
        return bindings

    @property
    def partition(self) -> Template:
        """The template of the only partition key attribute."""
        (attribute,) = self.partition_attributes
        return self.templates[attribute]

    @property
    def sort(self) -> Template | None:
        """The template of the only sort key attribute; None if there is none."""
        if not self.sort_attributes:
            return None
        (attribute,) = self.sort_attributes
        return self.templates[attribute]

    @property
    def has_several_attributes(self) -> bool:
        """Whether the partition key or the sort key consists of several attributes."""
        return len(self.partition_attributes) > 1 or len(self.sort_attributes) > 1

    def show(self) -> str:
        """Return all templates for documents and messages: `PK=USER, SK=USER#{id}`."""
        return ", ".join(f"{name}={each.show()}" for name, each in self.templates.items())

    @cached_property
    def order(self) -> str:
        """The templates of the sort key, which decide the order of a partition."""
        return ", ".join(f"{name}={self.templates[name].show()}" for name in self.sort_attributes)

    def can_equal(self, attributes: Sequence[str], others: Mapping[str, Template]) -> bool:
        """Return whether these key attributes can be equal to those of other templates."""
        return all(templates_can_collide(self.templates[each], others[each]) for each in attributes)

    # -- from the arguments of a call --------------------------------------------------------

    def begins_like(self, item: Mapping[str, Value]) -> bool:
        """Return whether the key attributes of an item begin with the literals of this key."""
        return all(
            not template.pieces
            or not isinstance(template.pieces[0], str)
            or str(item.get(name, {}).get("S", "")).startswith(template.pieces[0])
            for name, template in self.templates.items()
        )

    def check_arguments(self, arguments: Sequence[Any], *, complete: bool) -> None:
        """Raise DeclarationError if the number of arguments is wrong.

        A complete key needs all values; other calls need at least those of the partition key.
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

    def check_names(self, arguments: Sequence[Any], start: int = 0) -> None:
        """Raise DeclarationError if a parameter of a pattern has the name of another part.

        The first `start` arguments were checked before.
        """
        names = {part.attribute for part in self.parameters}
        swapped: dict[str, str] = {}
        for part, value in list(zip(self.parameters, arguments, strict=False))[start:]:
            if isinstance(value, Parameter):
                name = str(Symbol.expression(value))
                if name != part.attribute and name in names:
                    swapped[name] = f"the parameter {name!r} is passed for the part {part.label!r}"
        if swapped:
            wanted = ", ".join(part.label for part in self.parameters)
            raise DeclarationError(
                f"{self.name} takes {wanted}; {', '.join(swapped.values())}. Exchange the "
                f"arguments, or declare it: @access_pattern(rebinds={tuple(swapped)!r})"
            )

    def encode(self, arguments: Sequence[Any]) -> Item:
        """Return the key of a call that binds all parts."""
        return {attribute: encode(arguments) for attribute, encode in self._encoders}

    def partition_values(self, arguments: Sequence[Any]) -> Item:
        """Return the partition key of a call."""
        encoders = self._encoders[: len(self.partition_attributes)]
        return {attribute: encode(arguments) for attribute, encode in encoders}

    def next_part(self, bound: int) -> NextPart | None:
        """Return the part that a comparison applies to after `bound` arguments."""
        return self._bindings[bound - self.partition_arity].next

    def determined(self, bound: int) -> tuple[str, ...]:
        """Return the key attributes that `bound` arguments determine."""
        return tuple(name for name, _ in self._bindings[bound - self.partition_arity].equal)

    def can_compare(self, bound: int, comparison: Comparison) -> bool:
        """Return whether a key condition can compare the attribute of the next part."""
        following = self.next_part(bound)
        if following is None or not following.part.is_exact:
            return False
        if not following.template.is_text:
            return following.part.is_ordered or comparison == "="
        if following.may_end and comparison == "=":
            return False  # keys with and without the optional part are not in one range
        if comparison == "begins_with":
            return following.part.is_free_text
        return following.part.is_ordered and following.is_in_order

    def condition(
        self,
        arguments: Sequence[Any],
        comparison: Comparison | None,
        operands: Sequence[Any],
        *,
        is_exclusive: bool,
    ) -> KeyCondition:
        """Return the condition on the key.

        `is_exclusive`: no other entity can be in this partition.
        """
        binding = self._bindings[len(arguments) - self.partition_arity]
        equal = {attribute: encode(arguments) for attribute, encode in binding.equal}
        following = binding.next
        if following is None:
            return KeyCondition(equal)
        attribute, part = following.attribute, following.part
        if not following.template.is_text:
            if comparison is None:
                return KeyCondition(equal)
            return KeyCondition(
                equal, compare_value(attribute, following.template, part, comparison, operands)
            )
        prefix = following.prefix(arguments)
        unbounded = is_exclusive and len(arguments) == self.partition_arity
        if comparison is None:
            if not prefix or unbounded:
                return KeyCondition(equal)
            if part.can_be_absent:
                self._check_end(following)
            return KeyCondition(equal, SortCondition(attribute, "begins_with", ({"S": prefix},)))
        texts = [prefix + part.text_or_symbol(operand) for operand in operands]
        if part.can_be_absent:
            if None in operands:
                raise InvalidValue(
                    f"{self.name}: {part.label} cannot be compared with None; eq(None) selects the "
                    "keys without it"
                )
            prefix, unbounded = prefix + part.prefix, False
        if part.is_descending and comparison != "begins_with":
            comparison, texts = FLIPPED.get(comparison, comparison), texts[::-1]
        return KeyCondition(
            equal,
            compare_text(
                attribute,
                prefix,
                comparison,
                texts,
                following=following.following,
                is_exclusive=unbounded,
                may_end=following.may_end,
            ),
        )

    def _check_end(self, following: NextPart) -> None:
        """Raise DeclarationError if a prefix does not show where the part before it ends."""
        before = following.template.pieces[following.position - 1]
        if isinstance(before, KeyPart) and width_of(before.language) is None:
            raise DeclarationError(
                f"{self.name}: {before.label} has no fixed width, and keys end there without "
                f"{following.part.label}, so a range of keys would contain other ones, too; give "
                f"it a fixed width, or say the value of {following.part.label}, which can be None"
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
        try:
            return {
                attribute: {tag: form % tuple([text(values[name]) for name, text in parts])}
                for attribute, tag, form, parts in self._forms
            }
        except UnknownValue:
            return self._compose_symbols(values)

    def _compose_symbols(self, values: Mapping[str, Any]) -> dict[str, Value]:
        composed: dict[str, Value] = {}
        for attribute in self.composed:
            template = self.templates[attribute]
            arguments = [part.argument(values[part.attribute]) for part in template.parts]
            composed[attribute] = {template.tag: symbolic_text(template.pieces, arguments)}
        return composed

    def symbolic(self) -> KeyCondition:
        """Return the key of an item whose values are not known yet: `SK="USER#{id}"`."""
        return KeyCondition(
            {name: {each.stored_tag: each.symbolic()} for name, each in self.templates.items()}
        )


class AlternativeKeys:
    """The alternative places of an entity in one index; it is in at most one at a time."""

    def __init__(self, keys: tuple[KeyMap, ...]) -> None:
        self.keys = keys
        self.name = ", ".join(key.name for key in keys)
        self.index = keys[0].index
        self.composed = tuple(dict.fromkeys(name for key in keys for name in key.composed))
        self.depends_on = frozenset[str]().union(*(key.depends_on for key in keys))

    def compose(self, values: Mapping[str, Any]) -> dict[str, Value] | None:
        """Return the composed attributes of the entity's place; None if it is in none."""
        for key in self.keys:
            composed = key.compose(values)
            if composed is not None:
                return composed
        return None


#: What an entity writes for one index.
IndexKeys: TypeAlias = KeyMap | AlternativeKeys


def places_of(keys: Iterable[IndexKeys]) -> Iterator[KeyMap]:
    """Yield each place, also each alternative."""
    for key in keys:
        yield from (key,) if isinstance(key, KeyMap) else key.keys


def group_by_index(keys: Sequence[KeyMap]) -> tuple[IndexKeys, ...]:
    """Return the keys of an entity for each index: one, or the alternatives."""
    groups: dict[str, list[KeyMap]] = {}
    for key in keys:
        assert key.index is not None
        groups.setdefault(key.index.name, []).append(key)
    return tuple(
        group[0] if len(group) == 1 else AlternativeKeys(tuple(group)) for group in groups.values()
    )


def _following(sort: Template, position: int) -> str | None:
    """Return the text that ends a part; "" before another part, None at the end of the key."""
    if position + 1 == len(sort.pieces):
        return None
    piece, delimiter = sort.pieces[position + 1], sort.delimiter.text
    if isinstance(piece, KeyPart):
        if not piece.can_be_absent:
            return ""
        piece = piece.prefix
    return delimiter if piece.startswith(delimiter) else piece[0]


def _is_optional(pieces: Sequence[str | KeyPart]) -> bool:
    return any(isinstance(piece, KeyPart) and piece.can_be_absent for piece in pieces)
