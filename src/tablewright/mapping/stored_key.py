"""Stored keys: what the key attributes of an item say about its entity.

    values that are only in keys     parsed from the key: attr(key_only=True), KEYS_ONLY indexes
    a key in another spelling        kept, so that a read and a write are the identity
    a key that the values do not give    UnreadableItem, with both

A spelling is another one if it stands for the same values: `AT#2020-01-03T01:57:44Z` in a design
whose keys have microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Parser, Template
from tablewright.values import Item, Value


class _KeyAttribute(Struct, frozen=True):
    """One composed key attribute, and how its texts are parsed."""

    name: str
    template: Template
    parse: Parser

    def explains(self, text: str, values: Mapping[str, Any]) -> bool:
        """Whether a stored text stands for an entity's values."""
        texts = self.parse.texts(text)
        return texts is not None and all(
            part.explains(each, values[part.attribute])
            for part, each in zip(self.template.parts, texts, strict=True)
        )


class StoredKey:
    """Reads the key attributes of an entity's items."""

    def __init__(self, primary: KeyMap, indexes: tuple[KeyMap, ...], key_only: set[str]) -> None:
        self._primary = primary
        self._own = tuple(_attributes(primary))
        others = [each for key in indexes for each in _attributes(key)]
        needed = key_only - primary.depends_on
        self._all = self._own + tuple(
            each for each in others if needed & {part.attribute for part in each.template.parts}
        )
        #: How else the key attributes of an index with several places can be composed.
        self._otherwise = {
            each.name: [one for one in others if one.name == each.name] for each in others
        }
        #: The attributes of an item that it reads.
        self.names = tuple(dict.fromkeys(each.name for each in self._all))

    def check(self, values: Mapping[str, Any], stored: Sequence[Value | None]) -> Item | None:
        """Return the stored key if its spelling differs from that of the values; None if not.

        `stored` has the values of `names`; None for an attribute that is not known. Raise
        UnreadableItem if the entity's values do not explain the key.
        """
        try:
            composed = self._primary.compose(values) or {}
        except InvalidValue as error:
            raise UnreadableItem(str(error)) from None
        different = None
        for name, value in zip(self.names, stored, strict=True):
            if value is not None and value != composed.get(name, value):
                different = (different or composed) | {name: value}
        if different is None:
            return None
        for each in self._own:
            if different[each.name] != composed[each.name]:
                self._check_spelling(each, different[each.name], composed[each.name], values)
        return different

    def _check_spelling(
        self, each: _KeyAttribute, stored: Value, composed: Value, values: Mapping[str, Any]
    ) -> None:
        ((tag, text),) = stored.items()
        try:
            if tag == each.template.tag and each.explains(text, values):
                return
        except InvalidValue:
            pass
        names = ", ".join(dict.fromkeys(part.attribute for part in each.template.parts))
        raise UnreadableItem(
            f"{self._primary.name}: the stored {each.name} is {text!r}, but its values "
            f"({names}) give {next(iter(composed.values()))!r}, by {each.template.show()}"
        )

    def sources(self, attribute: str) -> list[str]:
        """Return the key attributes that each determine the value of an attribute."""
        return [
            each.name
            for each in self._all
            for part in each.template.parts
            if part.attribute == attribute and part.notation.derive is None
        ]

    def values(self, stored: Mapping[str, Value]) -> dict[str, Any]:
        """Return the attributes whose values the key determines; raise UnreadableItem if none."""
        found: dict[str, Any] = {}
        for each in self._all:
            text = stored.get(each.name, {}).get(each.template.tag)
            if text is None:
                continue
            try:
                read = each.parse(text)
            except ValueError as error:
                others = self._otherwise.get(each.name, ())
                if any(other.parse.texts(text) is not None for other in others):
                    continue  # the item is in another place of the index
                raise UnreadableItem(f"{self._primary.name}: {each.name}: {error}") from None
            for part, value in zip(each.template.parts, read, strict=True):
                if part.notation.derive is None:
                    found.setdefault(part.attribute, value)
        return found


def _attributes(key: KeyMap) -> Iterator[_KeyAttribute]:
    for name, template in key.templates.items():
        if template.natural is None:
            yield _KeyAttribute(name, template, Parser(template, any_spelling=True))


def check_key_only(part: KeyPart, value: Any) -> None:
    """Raise InvalidValue for a value that its text in the key does not give back."""
    text = part.text(value)
    if part.read(text) != value:
        raise InvalidValue(
            f"{part.attribute} is {value!r}, of which the key keeps {part.read(text)!r}; it is "
            f"stored only there ({part.label}), so give a value that fits"
        )
