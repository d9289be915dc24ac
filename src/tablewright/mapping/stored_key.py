"""Stored keys: what the key attributes of an item say about its entity.

    values that are only in keys     parsed from the key: attr(key_only=True), KEYS_ONLY indexes
    a key in another spelling        kept, so that a read and a write change nothing
    a primary key of other values    UnreadableItem, with both

Two texts are spellings of one key if they stand for the same values: `AT#2020-01-03T01:57:44Z` in
a design whose keys have microseconds, or `2020-01-03T01:57:44Z` in an attribute that is a key
itself. The keys of indexes are kept, too, while the entity has a place there; other keys that its
values do not give are left to the next write.

Most texts have no other spelling, and are not looked at: see `Notation.has_one_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.converters import Converter
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
from tablewright.mapping.template import Parser, Template
from tablewright.values import Item, Value


class _ComposedAttribute(Struct, frozen=True):
    """A composed key attribute, and how its texts are parsed."""

    name: str
    template: Template
    parse: Parser

    def stands_for(self, stored: Value, values: Mapping[str, Any]) -> bool:
        """Whether a stored key is that of an entity with these values, in any spelling."""
        texts = self.parse.texts(stored.get(self.template.tag, ""))
        try:
            return texts is not None and all(
                part.explains(each, values[part.attribute])
                for part, each in zip(self.template.parts, texts, strict=True)
            )
        except InvalidValue:
            return False


class NaturalAttribute(Struct, frozen=True):
    """An attribute that is a key itself, and has values with several spellings."""

    name: str
    attribute: str
    converter: Converter

    def stands_for(self, stored: Value, values: Mapping[str, Any]) -> bool:
        """Whether a stored key is that of an entity with these values, in any spelling."""
        try:
            return bool(self.converter.decode(stored) == values[self.attribute])
        except UnreadableItem:
            return False


class StoredKey:
    """Reads the key attributes of an entity's items."""

    def __init__(
        self, primary: KeyMap, indexes: tuple[IndexKeys, ...], key_only: Collection[str]
    ) -> None:
        self.primary = primary
        self._indexes = indexes
        self._needed = set(key_only) - primary.depends_on
        #: The composed keys of indexes that may be in another spelling, each with the templates of
        #: the places that it can have.
        self.index_templates: dict[str, list[Template]] = {}
        for name, templates in _composed_templates(indexes):
            if not all(template.has_one_text for template in templates):
                self.index_templates[name] = templates
        parsed = [
            name
            for name, templates in _composed_templates(indexes)
            if any(self._needed & {part.attribute for part in each.parts} for each in templates)
        ]
        #: The attributes of an item that it reads, besides those of the entity.
        self.names = tuple(dict.fromkeys((*primary.composed, *self.index_templates, *parsed)))
        #: The attributes of the entity whose stored values it compares.
        self.natural = tuple(_natural_attributes((primary, *places_of(indexes))))

    # Created on first use: most items have the usual spelling.

    @cached_property
    def _own(self) -> tuple[_ComposedAttribute, ...]:
        return tuple(_attributes(self.primary))

    @cached_property
    def _parsed(self) -> tuple[_ComposedAttribute, ...]:
        """The key attributes that contain values which are stored nowhere else."""
        return self._own + tuple(
            each
            for each in self._in_places
            if self._needed & {part.attribute for part in each.template.parts}
        )

    @cached_property
    def _in_places(self) -> tuple[_ComposedAttribute, ...]:
        """The composed attributes of all places in indexes."""
        return tuple(each for key in places_of(self._indexes) for each in _attributes(key))

    @cached_property
    def _spelled(self) -> dict[str, list[_ComposedAttribute | NaturalAttribute]]:
        """The key attributes that may be in another spelling."""
        attributes: list[_ComposedAttribute | NaturalAttribute] = [
            *self._own,
            *self.natural,
            *(each for each in self._in_places if each.name in self.index_templates),
        ]
        names = dict.fromkeys(each.name for each in attributes)
        return {name: [each for each in attributes if each.name == name] for name in names}

    def check(
        self,
        values: Mapping[str, Any],
        stored: Mapping[str, Value | None],
        compose: Callable[[Mapping[str, Any]], Item],
    ) -> Item | None:
        """Return the stored keys that differ from the composed ones; None if none do.

        `compose` returns all keys of an entity. Raise UnreadableItem if the primary key does not
        stand for the values.
        """
        try:
            composed = compose(values)
        except InvalidValue:
            composed = self._own_key(values)
        different: Item = {}
        for name in (*self.primary.composed, *self.index_templates):
            found = stored[name]
            if found is not None and found != composed.get(name):
                different[name] = found
        for natural in self.natural:
            found = stored[natural.name]
            if found is not None and found != natural.converter.encode(values[natural.attribute]):
                different[natural.name] = found
        if not different:
            return None
        for each in self._own:
            if each.name in different and not each.stands_for(different[each.name], values):
                raise self._unreadable(each, different[each.name], composed[each.name])
        return different

    def _own_key(self, values: Mapping[str, Any]) -> Item:
        """Return the primary key alone; raise UnreadableItem if the values lack a part."""
        try:
            composed = self.primary.compose(values)
        except InvalidValue as error:
            raise UnreadableItem(str(error)) from None
        if composed is None:
            raise UnreadableItem(f"{self.primary.name}: the item lacks the value of a part")
        return composed

    def _unreadable(
        self, each: _ComposedAttribute, stored: Value, composed: Value
    ) -> UnreadableItem:
        names = ", ".join(dict.fromkeys(part.attribute for part in each.template.parts))
        return UnreadableItem(
            f"{self.primary.name}: the stored {each.name} is {next(iter(stored.values()))!r}, but "
            f"its values ({names}) give {next(iter(composed.values()))!r}, by "
            f"{each.template.show()}",
            where=self.primary.name,
        )

    def keep_spelling(
        self, item: Item, stored: Mapping[str, Value], values: Mapping[str, Any]
    ) -> None:
        """Give a new item the stored spelling of each key that stands for the same values."""
        for name, attributes in self._spelled.items():
            new, old = item.get(name), stored.get(name)
            if (
                new is not None
                and old is not None
                and new != old
                and any(
                    # In alternative places, the stored key may be that of another one.
                    each.stands_for(old, values) and each.stands_for(new, values)
                    for each in attributes
                )
            ):
                item[name] = old

    def sources(self, attribute: str) -> list[str]:
        """Return the key attributes that contain the value of an attribute."""
        return [
            each.name
            for each in self._parsed
            for part in each.template.parts
            if part.attribute == attribute and part.notation.derive is None
        ]

    def values(self, stored: Mapping[str, Value | None]) -> dict[str, Any]:
        """Return the values in the keys; raise UnreadableItem for a key in another form."""
        found: dict[str, Any] = {}
        for each in self._parsed:
            text = (stored.get(each.name) or {}).get(each.template.tag)
            if text is None:
                continue
            try:
                read = each.parse(text)
            except ValueError as error:
                if self._is_in_another_place(each, text):
                    continue
                reason = "" if each.parse.texts(text) is None else f": {error}"
                raise UnreadableItem(
                    f"{self.primary.name}: the stored {each.name} is {text!r}, which is not "
                    f"{each.template.show()}{reason}",
                    where=self.primary.name,
                ) from None
            for part, value in zip(each.template.parts, read, strict=True):
                if part.notation.derive is None:
                    found.setdefault(part.attribute, value)
        return found

    def _is_in_another_place(self, attribute: _ComposedAttribute, text: str) -> bool:
        """Return whether a key belongs to another place of the entity in the same index."""
        return any(
            each.name == attribute.name and each.parse.texts(text) is not None
            for each in self._in_places
        )


def _composed_templates(indexes: Iterable[IndexKeys]) -> Iterator[tuple[str, list[Template]]]:
    """Yield each composed attribute of indexes, with the templates of its places."""
    for key in indexes:
        for name in key.composed:
            yield (
                name,
                [each.templates[name] for each in places_of((key,)) if name in each.composed],
            )


def _attributes(key: KeyMap) -> Iterator[_ComposedAttribute]:
    for name in key.composed:
        template = key.templates[name]
        yield _ComposedAttribute(name, template, Parser(template, any_spelling=True))


def _natural_attributes(keys: Iterable[KeyMap]) -> Iterator[NaturalAttribute]:
    seen: set[str] = set()
    for key in keys:
        for name, template in key.templates.items():
            if template.natural is not None and not template.has_one_text and name not in seen:
                seen.add(name)
                yield NaturalAttribute(name, template.parts[0].attribute, template.natural)


def check_key_only(part: KeyPart, value: Any) -> None:
    """Raise InvalidValue for a value that the key does not keep exactly."""
    text = part.text(value)
    if part.read(text) != value:
        raise InvalidValue(
            f"{part.attribute} is {value!r}, of which the key keeps {part.read(text)!r}; it is "
            f"stored only there ({part.label}), so give a value that fits"
        )
