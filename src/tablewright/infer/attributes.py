"""Attributes: what the items of a class store, and what that explains of their keys.

An attribute explains a variable of a key if its value, in one format, has the variable's text in
every item that has the key. A condition on an attribute distinguishes the items in an index, or in
one of its places, from the others:

    items 1 and 2 in the index, 3 not; 3 alone has a parent     parent.not_exists()
    items 1 and 2 with one form of key, 3 with another          status == "open", status == "paid"

The conditions of several places are on one attribute, so the model can prove that they exclude
each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from typing import Any

from tablewright.infer.declaration import InferredAttribute, InferredCondition
from tablewright.infer.kinds import (
    DATETIME,
    STR,
    KeySpelling,
    Kind,
    kinds_of,
    spellings,
    spells,
    stores_equal,
)
from tablewright.infer.names import quoted, snake_case
from tablewright.infer.sample import Sample
from tablewright.infer.structure import VaryingPart
from tablewright.mapping.converters import converter
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.paths import path_format
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value

#: Names with a quote, a backslash or a control character: the decoder of items has no such names.
_UNUSABLE = re.compile(r'["\\\x00-\x1f]').search

#: Attributes of these names say in which state an item is.
_STATES = frozenset({"active", "kind", "stage", "state", "status", "type"})
_TAGS = {"str": "S", "bool": "BOOL"}


class StoredAttributes:
    """The attributes of a class of items."""

    def __init__(
        self,
        items: Sequence[Item],
        sample: Sample,
        generic: Container[str],
        type_attribute: str | None,
    ) -> None:
        """`generic` are key attributes without a name of their own, which explain nothing."""
        self._items = items
        self._sample = sample
        self._generic = generic
        self._primary = sample.table.keys.names
        names = dict.fromkeys(name for item in items for name in sorted(item))
        #: The names that a design cannot declare.
        self.undeclared = [name for name in names if _UNUSABLE(name)]
        #: The attributes, by their names in items, without the keys that are composed.
        self.by_name = {
            name: self.make(name)
            for name in names
            if name not in self._primary
            and name not in generic
            and name != type_attribute
            and not _UNUSABLE(name)
        }

    def make(self, name: str) -> InferredAttribute:
        """Return an attribute that some items have."""
        values = {n: item[name] for n, item in enumerate(self._items) if name in item}
        kinds = kinds_of(list(values.values()))
        exact = _exact(kinds, values.values())
        # An inexact type is chosen only if it alone explains a key.
        kinds = exact if self._sample.is_exact else tuple(dict.fromkeys((*exact, *kinds)))
        is_optional = len(values) < len(self._items) or any("NULL" in v for v in values.values())
        is_ttl = name == self._sample.table.ttl and kinds[0].source == "int"
        kinds = (DATETIME,) if is_ttl else kinds
        return InferredAttribute(name, kinds, values, is_optional, is_ttl=is_ttl)

    def add(self, name: str) -> InferredAttribute:
        """Return an attribute, which the entity declares from now on."""
        return self.by_name.setdefault(name, self.make(name))

    def explain(
        self,
        variable: VaryingPart,
        key: KeyAttribute,
        members: list[int],
        delimiter: Delimiter,
        *,
        sorts: bool,
    ) -> Iterator[tuple[InferredAttribute, KeySpelling]]:
        """Yield the attributes, in a format, that have the texts of a variable."""
        for attribute in self.by_name.values():
            if attribute.stored == key.name or attribute.stored in self._generic:
                continue
            if not all(n in attribute.values for n in members):
                continue
            for kind in attribute.kinds:
                # Most spellings differ from the first text, so the other values are not decoded.
                first = _decoded(attribute, kind, members[:1])
                likely = [
                    spelling
                    for spelling in spellings(kind, key.type, variable.texts)
                    if not spelling.formats or _is_evidence(spelling, variable.texts)
                    if first and spells(spelling, delimiter, first, variable.texts[:1], sorts=sorts)
                ]
                values = _decoded(attribute, kind, members) if likely else None
                if values is None:
                    continue
                for spelling in likely:
                    if spells(spelling, delimiter, values, variable.texts, sorts=sorts):
                        yield attribute, spelling
                        break
            yield from self._inside(attribute, members, variable.texts)

    def _inside(
        self, attribute: InferredAttribute, members: list[int], texts: tuple[str, ...]
    ) -> Iterator[tuple[InferredAttribute, KeySpelling]]:
        """Yield the members of a document that have these texts."""
        if attribute.kind.source != "dict[str, str]":
            return
        documents = [attribute.values[n].get("M", {}) for n in members]
        for name in documents[0] if len(set(texts)) > 1 else ():
            found = [document.get(name, {}).get("S") for document in documents]
            if found == list(texts):
                how = path_format(itemgetter(name), "it")
                source = f"{{}}.path(lambda inside: inside[{quoted(name)}])"
                yield attribute, KeySpelling(attribute.kind, source, (how,))

    def choose_kind(self, name: str, votes: Mapping[Kind, int], *, is_natural: bool) -> None:
        """Give an attribute the type with most votes; a natural key is stored as it was."""
        attribute = self.by_name[name]
        kinds = attribute.kinds
        if is_natural:
            kinds = _exact(kinds, attribute.values.values())
        attribute.kinds = (max(kinds, key=lambda kind: votes.get(kind, 0)),)


def _exact(kinds: tuple[Kind, ...], values: Iterable[Value]) -> tuple[Kind, ...]:
    """Return the types that store values as they are; the last one if none does."""
    present = [value for value in values if "NULL" not in value]
    return tuple(kind for kind in kinds if stores_equal(kind, present)) or kinds[-1:]


def _decoded(attribute: InferredAttribute, kind: Kind, members: list[int]) -> list[Any] | None:
    """Return the values of items; None if one of them is NULL."""
    values = [attribute.values[n] for n in members]
    if any("NULL" in value for value in values):
        return None
    if attribute.is_ttl:
        return [datetime.fromtimestamp(int(value["N"]), UTC) for value in values]
    decode = converter(kind.type, attribute.stored).decode
    return [decode(value) for value in values]


def rank(explanation: tuple[InferredAttribute, KeySpelling], word: str) -> tuple[bool, bool, bool]:
    attribute, spelling = explanation
    name = snake_case(attribute.stored)
    words = snake_case(word.strip("#")).rstrip("_") if word else "?"
    return bool(spelling.formats), not name.startswith(words[:4]), not name.endswith("id")


def _is_evidence(spelling: KeySpelling, texts: Sequence[str]) -> bool:
    """Whether texts that a format gives are hardly equal by chance."""
    if len(set(texts)) > 1:
        return True
    if spelling.kind is STR:
        return spelling.names in (("lower",), ("upper",)) and len(texts[0]) > 2
    return len(texts[0]) > 3


def find_condition(
    attributes: Iterable[InferredAttribute], inside: Sequence[int], outside: Sequence[int]
) -> InferredCondition | None:
    """Return a condition that is true for all items in an index, and for no other item."""
    found = find_alternatives(attributes, [inside], outside)
    return found[0] if found else None


def find_alternatives(
    attributes: Iterable[InferredAttribute], groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return a condition for each group that is true for its items only; [] if there is none."""
    known = list(attributes)
    ranked = sorted(known, key=lambda each: snake_case(each.stored) not in _STATES)
    present = (_presence(each, groups, outside) for each in known)
    equal = (_equality(each, groups, outside) for each in ranked)
    return next(filter(None, chain(present, equal)), [])


def _presence(
    attribute: InferredAttribute, groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return the conditions that an attribute exists, and that it does not."""
    if len(groups) > 2 or any("NULL" in value for value in attribute.values.values()):
        return []
    sides = [set(group) for group in groups]
    if len(groups) == 1:
        sides.append(set(outside))
    elif outside:
        return []
    present = set(attribute.values)
    for first, second in (sides, sides[::-1]):
        if first <= present and not second & present:
            made = {
                id(first): InferredCondition(attribute, "{}.exists()"),
                id(second): InferredCondition(attribute, "{}.not_exists()"),
            }
            return [made[id(side)] for side in sides[: len(groups)]]
    return []


def _equality(
    attribute: InferredAttribute, groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return the conditions that an attribute has the value of each group."""
    tag = _TAGS.get(attribute.kind.source)
    if tag is None:
        return []
    *contents, others = (
        {attribute.values.get(n, {}).get(tag) for n in group} for group in (*groups, outside)
    )
    values = [content for each in contents for content in each]
    is_clear = all(len(each) == 1 for each in contents) and len(set(values)) == len(groups)
    if not is_clear or None in values or not others.isdisjoint(values):
        return []
    if tag == "S" and not _is_choice(attribute, [*groups, outside], {*values, *others}):
        return []
    forms = (f" == {quoted(v)}" if isinstance(v, str) else f".in_([{v}])" for v in values)
    return [InferredCondition(attribute, f"{{}}{form}") for form in forms]


def _is_choice(
    attribute: InferredAttribute, groups: Sequence[Sequence[int]], contents: Collection[Any]
) -> bool:
    """Whether a text is one of few, not an id or a title that happens to differ."""
    count = sum(map(len, groups))
    is_state = snake_case(attribute.stored) in _STATES and len(contents) < count
    return is_state or len(contents) <= count / 2
