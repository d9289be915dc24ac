"""Moves: items whose primary key is composed in another way than in the version before.

    the version before     PK=USER#{id}              SK=ORDER#{number}
    the declared version   PK=ORG#{org}#USER#{id}    SK=ORDER#{number}

DynamoDB cannot change a key, so an item is put under its new key and deleted under the former one,
in one transaction. While items are moved, no program writes former keys: an item under one can only
vanish. So a reader that looks under the former key first, and then under the new one, finds every
item that exists.

A former key follows from the new one if each of its parts is a part of the new one as well: that of
`ORG#acme#USER#7` is `USER#7`. The number of a shard follows from the text that it is computed from,
and a number from the same number with other digits. Otherwise programs of the declared version must
wait until all items are moved. The new key follows from the values of the item.

This module must not know how items are read and written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from tablewright.design_changes import DesignChange, Need
from tablewright.design_description import (
    EntityDescription,
    KeyDescription,
    PartDescription,
    TableDesign,
    TemplateDescription,
)
from tablewright.errors import IndexNotReady, InvalidValue, MigrationRefused
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.formats.numbers import shard_number
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.language import (
    ANY_CHARACTER,
    ANYTHING,
    Language,
    Repeat,
    intersects,
    literal,
    sequence,
    to_regex,
)
from tablewright.mapping.notation import Notation, padded_number, plain_number
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser, Template
from tablewright.plan.migration.renames import Renames, TypePair
from tablewright.values import Item, Value

#: The most digits of a whole number in a key.
_MOST_DIGITS = 38
#: Matches the form of a number of a shard: `shard({}, of=4)`.
_SHARD = re.compile(r"shard\((?P<text>.*), of=(?P<count>\d+)\)").fullmatch


class _Source(Struct, frozen=True):
    """Where the text of a part of a former key comes from: a part of a new key attribute."""

    attribute: str
    position: int
    #: Returns the text, which is not escaped, in the format of the former key.
    convert: Callable[[str], str]


#: The texts of the parts of each key attribute, not escaped.
_Texts: TypeAlias = Mapping[str, Sequence[str]]


class FormerTemplate:
    """One key attribute of the version before."""

    def __init__(self, template: TemplateDescription, *, is_natural: bool | None = None) -> None:
        is_natural = template.is_natural if is_natural is None else is_natural
        self._type = template.type
        self._pieces = template.pieces
        self._delimiter = Delimiter(template.delimiter or Delimiter.DEFAULT.text, template.escapes)
        self._is_composed = template.type == "S" and not is_natural
        text = Repeat(ANY_CHARACTER, 1, None)
        part = self._delimiter.language(text) if self._is_composed else text
        self.language: Language = sequence(
            *(
                literal(each) if isinstance(each, str) else ANYTHING if each.is_optional else part
                for each in self._pieces
            )
        )
        self._match = re.compile(to_regex(self.language), re.DOTALL).fullmatch

    def matches(self, value: Value) -> bool:
        """Return whether a key attribute can be one of the version before."""
        if self._type not in value:
            return False
        return not self._is_composed or self._match(value["S"]) is not None

    def compose(self, sources: Sequence[_Source], texts: _Texts) -> Value:
        """Return the key attribute for the texts of the new key; raise InvalidValue."""
        given = (each.convert(texts[each.attribute][each.position]) for each in sources)
        found = (
            piece
            if isinstance(piece, str)
            else (self._delimiter.write(next(given)) if self._is_composed else next(given))
            for piece in self._pieces
        )
        return {self._type: "".join(found)}


class FormerKey:
    """The primary key that the items of an entity had in the version before."""

    def __init__(
        self,
        entity: EntityMap,
        stored: KeyDescription,
        current: KeyDescription,
        names: Mapping[str, str],
        unchanged: frozenset[str],
    ) -> None:
        """Make the former key, whose attributes have new `names`.

        `unchanged` attributes have the same values in both versions.
        """
        self.entity = entity
        former = stored.renamed(names)
        self._templates = {
            each.name: FormerTemplate(each, is_natural=before.is_natural)
            for each, before in zip(former.templates, stored.templates, strict=True)
        }
        self._current = {
            name: (template, Parser(template) if template.is_text else None)
            for name, template in entity.primary.templates.items()
        }
        parts = [
            (template.name, position, part)
            for template in current.templates
            for position, part in enumerate(template.parts)
        ]
        self._sources = {
            template.name: [_source(each, parts, unchanged) for each in template.parts]
            for template in former.templates
        }
        #: Whether the former key follows from the new one.
        self.follows = all(each is not None for found in self._sources.values() for each in found)

    def matches(self, item: Item) -> bool:
        """Return whether an item can have a key of the version before."""
        return all(each.matches(item[name]) for name, each in self._templates.items())

    def of(self, key: Item) -> Item | None:
        """Return the former key of the item with a new key.

        Return None if the key is none of this entity, or if no item can have had such a key.
        """
        return self._compose(key, self._templates)

    def former(self, value: Value) -> Value | None:
        """Return the former partition key for a new one; None as `of` does.

        Raise IndexNotReady if it does not follow from the new one.
        """
        name = self.entity.primary.partition_attributes[0]
        if self._texts(name, value) is None:
            return None
        if any(each is None or each.attribute != name for each in self._sources[name]):
            raise IndexNotReady(
                f"{self.entity.primary.name}: items of this partition may still have their former "
                "primary key, and their former partition does not follow from this one. Migrate "
                "the table, or wait until that has ended: tablewright migrate status DESIGN TARGET"
            )
        found = self._compose({name: value}, (name,))
        return None if found is None else found[name]

    def _compose(self, key: Item, names: Iterable[str]) -> Item | None:
        texts: dict[str, Sequence[str]] = {}
        for name, value in key.items():
            found = self._texts(name, value)
            if found is None:
                return None
            texts[name] = found
        composed: Item = {}
        try:
            for name in names:
                sources = [each for each in self._sources[name] if each is not None]
                composed[name] = self._templates[name].compose(sources, texts)
        except (InvalidValue, ValueError):
            return None
        return composed

    def _texts(self, name: str, value: Value) -> Sequence[str] | None:
        template, parser = self._current[name]
        if template.stored_tag not in value:
            return None
        content: str = value[template.stored_tag]
        if parser is None:
            return (content,)
        found = parser.texts(content)
        return None if found is None else [template.delimiter.read(each) for each in found]

    def can_equal(self, others: Mapping[str, Template]) -> bool:
        """Return whether a key of the version before can be one of these templates."""
        return all(
            intersects(each.language, others[name].language())
            for name, each in self._templates.items()
        )


def _source(
    wanted: PartDescription,
    parts: Sequence[tuple[str, int, PartDescription]],
    unchanged: frozenset[str],
) -> _Source | None:
    """Return where a part of the former key comes from; None if it does not follow."""
    if wanted.attribute not in unchanged or wanted.is_optional:
        return None
    for name, position, part in parts:
        if part == wanted:
            return _Source(name, position, str)
    sharded = _SHARD(wanted.format)
    for name, position, part in parts:
        if sharded and (part.attribute, part.format) == (wanted.attribute, sharded["text"]):
            return _Source(name, position, _in_shard(int(sharded["count"])))
    former = _number_notation(wanted.format)
    for name, position, part in parts:
        is_number = part.attribute == wanted.attribute and _number_notation(part.format)
        if former is not None and is_number:
            return _Source(name, position, _in_notation(former))
    return None


def _number_notation(form: str) -> Notation | None:
    """Return the notation of whole numbers that is stored in a form; None for other forms."""
    padded = (padded_number(width) for width in range(1, _MOST_DIGITS + 1))
    return next((each for each in (plain_number(), *padded) if each.form == form), None)


def _in_shard(count: int) -> Callable[[str], str]:
    notation = padded_number(len(str(count - 1)))
    return lambda text: notation.encode(shard_number(text, count))


def _in_notation(notation: Notation) -> Callable[[str], str]:
    return lambda text: notation.encode(int(text))


def find_moves(
    table: TableMap, stored: TableDesign, declared: TableDesign, renames: Renames
) -> dict[TypePair, FormerKey]:
    """Return the former keys of entities whose primary key has changed, by the types of items."""
    before, after = stored.entities or {}, declared.entities or {}
    entities = {entity.type_name: entity for entity in table.entities}
    found: dict[TypePair, FormerKey] = {}
    for source, old in before.items():
        for target in (each for each in renames.targets_of(source) if each in after):
            pair = source, target
            names = {name: new for new, name in renames.attributes.get(pair, {}).items()}
            current = after[target].key
            if old.key.renamed(names).templates != current.templates:
                same = _unchanged(old, after[target], names)
                found[pair] = FormerKey(entities[target], old.key, current, names, same)
    return found


def _unchanged(
    old: EntityDescription, new: EntityDescription, names: Mapping[str, str]
) -> frozenset[str]:
    """Return the attributes whose values both versions store in the same way."""
    before = {names.get(name, name): each for name, each in old.attributes.items()}
    return frozenset(
        name
        for name, each in new.attributes.items()
        if name in before and (before[name].type, before[name].stored) == (each.type, each.stored)
    )


def has_known_moves(change: DesignChange, moves: Mapping[TypePair, FormerKey]) -> bool:
    """Return whether a change moves items whose former keys follow from their new ones."""
    moved = [each for (_, target), each in moves.items() if target == change.entity]
    return change.need is Need.MOVES and bool(moved) and all(each.follows for each in moved)


def refuse_moves(table: TableMap, moves: Mapping[TypePair, FormerKey]) -> None:
    """Raise MigrationRefused for keys that cannot be composed, or that are ambiguous."""
    problems: list[str] = []
    for former in moves.values():
        entity = former.entity
        problems += [
            f"{entity.name}.{part.attribute}: its values are stored only in the primary key, which "
            "the migration changes. Store the attribute first: declare it without "
            "key_only=True and with fill=, migrate, and change the key afterwards"
            for part in entity.primary.parameters
            if entity.attributes[part.attribute].is_key_only
        ]
        problems += [
            f"{entity.name}: its former key can be equal to that of {key.name}: {key.show()}. Give "
            "one of the two another key"
            for other in table.entities
            if other is not entity and (other.base is None or other.base is not entity.base)
            for key in other.table_keys
            if former.can_equal(key.templates)
        ]
    if problems:
        listed = "\n  ".join(dict.fromkeys(problems))
        raise MigrationRefused(f"these primary keys cannot be changed:\n  {listed}")
