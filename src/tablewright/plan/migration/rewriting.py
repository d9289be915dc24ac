"""Rewriting: from a stored item of one version of a design to the item of another version.

    what has changed             what the item gets
    the type of the items        the new type
    a renamed attribute          the value of the old one, which stays until `complete`
    a renamed text that had      the value of `fill=`: a text can be read as str, whatever type it
    another type                 was written by
    a required attribute         the value of `fill=`, if the item has none
    another type of values       the value of `fill=`, if the stored one cannot be read
    a required part of keys      the value of `fill=`, if no key of the item contains it
    keys in indexes              those that its values give; an attribute that is a key itself gets
                                 its default, if the item has none
    what only one version has    stays; `clean` removes it

This module must not know how items are read and written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from tablewright.design_changes import DesignChange
from tablewright.design_description import EntityDescription, TableDesign
from tablewright.errors import InvalidValue, MigrationRefused, UnreadableItem
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import converter
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import places_of
from tablewright.mapping.stored_type import stored_type
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.key_changes import IndexKeyChanges
from tablewright.plan.writes.guard import key_text
from tablewright.values import Item, Value

RETYPED = frozenset({"attribute-narrowed", "attribute-retyped", "attribute-widened"})
_plain = converter(Any, "a stored item").decode


class Renames(Struct, frozen=True):
    """The renamed types and attributes between two versions."""

    #: The type of items in the target, by their type in the source.
    types: Mapping[str, str] = {}
    #: By the type in the target: the attribute in the source of each renamed attribute.
    attributes: Mapping[str, Mapping[str, str]] = {}
    #: The type of sentinels in the target, by their type in the source.
    uniques: Mapping[str, str] = {}
    #: By the type in the target: the renamed attributes whose values have another type, too.
    retyped: Mapping[str, frozenset[str]] = {}


def renames_in(changes: Iterable[DesignChange], *, reverse: bool = False) -> Renames:
    """Return what was renamed; with `reverse`, for the way back to the old version."""
    types: dict[str, str] = {}
    attributes: dict[str, dict[str, str]] = {}
    retyped: dict[str, frozenset[str]] = {}
    changes = list(changes)
    others = {(each.entity, each.part) for each in changes if each.kind.name in RETYPED}
    for each in changes:
        if each.kind.name == "entity-renamed":
            types[each.before] = each.after
    for each in changes:
        if each.kind.name == "attribute-renamed":
            owner, renamed = each.entity, (each.after, each.before)
            if reverse:
                owner = next((old for old, new in types.items() if new == owner), owner)
                renamed = renamed[::-1]
            attributes.setdefault(owner, {})[renamed[0]] = renamed[1]
            if (each.entity, each.part) in others:
                retyped[owner] = retyped.get(owner, frozenset()) | {renamed[0]}
    uniques = {each.before: each.after for each in changes if each.kind.name == "unique-renamed"}
    if reverse:
        types = {new: old for old, new in types.items()}
        uniques = {new: old for old, new in uniques.items()}
    return Renames(types, attributes, uniques, retyped)


def refuse_overwritten_texts(
    table: TableMap, old: TableDesign, changes: Iterable[DesignChange], renames: Renames
) -> None:
    """Raise MigrationRefused if a rollback could not tell texts of the new version from old ones.

    A str can be read from every text. So if `fill=` replaces texts by those of another type, under
    the same name, a rollback would take these for values of the old version.
    """
    entities = {entity.type_name: entity for entity in table.entities}
    formers = {new: former for former, new in renames.types.items()}
    problems: list[str] = []
    for each in changes:
        if each.kind.name not in RETYPED or each.part in renames.attributes.get(each.entity, ()):
            continue
        described = (old.entities or {})[formers.get(each.entity, each.entity)]
        is_text = described.attributes[each.part].type == "str"
        for attribute in entities[each.entity].attributes.values():
            is_filled = attribute.stored == each.part and attribute.fill is not None
            if is_text and is_filled and attribute.converter.tag == "S":
                problems.append(str(each))
    if problems:
        listed = "\n  ".join(problems)
        raise MigrationRefused(
            "a rollback could not restore texts that fill= replaces under the same name:\n  "
            f"{listed}\n"
            "Store the new values under another name, and say so: attr(renamed_from=…, fill=…)"
        )


class Rewriter:
    """Rewrites the items of one table for a version of its design."""

    def __init__(
        self,
        table: TableMap,
        renames: Renames,
        keys: Mapping[str, IndexKeyChanges],
        *,
        keeps_new: bool = False,
    ) -> None:
        """Make a rewriter; with `keeps_new`, a value under the new name is newer than the old one.

        Before the items are prepared, only programs of the old version write them; afterwards,
        only programs of the new one.
        """
        self._table = table
        self._renames = renames
        self._keys = keys
        self._keeps_new = keeps_new
        self._by_type = {entity.type_name: entity for entity in table.entities}
        self._watched: dict[EntityMap, list[str] | None] = {}

    def entity_of(self, item: Item) -> EntityMap | None:
        """Return the entity of an item in the target version; None if it is not rewritten."""
        name = self._table.type_attribute
        if name is not None and name in item:
            for former, new in self._renames.types.items():
                if item[name] == self._table.type_value(former):
                    return self._by_type[new]
        found = self._table.identify(item).stored
        return None if found is None else found.kind_of(item)

    def rewrite(self, item: Item) -> tuple[EntityMap, Item] | None:
        """Return the entity and the item as the target version stores it; None to leave it alone.

        Raise UnreadableItem, which names the item, if the target version cannot read it.
        """
        entity = self.entity_of(item)
        if entity is None:
            return None
        try:
            wanted = self._carried(entity, item)
            wanted = entity.rekey(wanted, self._values(entity, wanted, item))
        except (InvalidValue, UnreadableItem) as error:
            shown = f"the item with {key_text(self._table.key(item))}"
            raise UnreadableItem(f"{error} ({shown})", item=item) from None
        # An item keeps its key in the table, also one that is spelled in another way.
        return entity, wanted | self._table.key(item)

    def sentinel_type(self, item: Item) -> Value | None:
        """Return the new type of a sentinel whose type is renamed; None for other items."""
        value = item.get(self._table.type_attribute or "")
        for former, new in self._renames.uniques.items():
            if value == self._table.type_value(former):
                return self._table.type_value(new)
        return None

    def _carried(self, entity: EntityMap, item: Item) -> Item:
        """Return an item with the type and the attributes of the target version."""
        wanted = dict(item)
        if self._table.type_attribute is not None:
            wanted[self._table.type_attribute] = self._table.type_value(entity.type_name)
        for name, former in self._renames.attributes.get(entity.type_name, {}).items():
            if former in item and not (self._keeps_new and name in item):
                wanted[name] = self._moved(entity, item, name, former)
        for attribute in entity.attributes.values():
            is_stored = attribute.fill is not None and not attribute.is_key_only
            if is_stored and not _is_readable(attribute, wanted):
                wanted[attribute.stored] = attribute.converter.encode(_filled(attribute, item))
        for attribute in _natural_keys(entity):
            if attribute.stored not in wanted and attribute.default is not None:
                value = attribute.store(attribute.default())
                wanted |= {} if value is None else {attribute.stored: value}
        return wanted

    def _moved(self, entity: EntityMap, item: Item, name: str, former: str) -> Value:
        """Return the value of a renamed attribute."""
        value = item[former]
        attribute = next(each for each in entity.attributes.values() if each.stored == name)
        is_retyped = name in self._renames.retyped.get(entity.type_name, ())
        if not is_retyped or stored_type(attribute.converter.kind) != "str" or "S" not in value:
            return value
        if callable(attribute.fill):
            return attribute.converter.encode(_filled(attribute, item))
        if item.get(name, value) != value:
            raise UnreadableItem(
                f"{entity.name}.{attribute.name}: the item has {item[name]['S']!r}, and "
                f"{value['S']!r} in {former!r}, whose values have another type: give the attribute "
                "a function of the item, attr(fill=…)"
            )
        return value

    def _values(self, entity: EntityMap, wanted: Item, item: Item) -> dict[str, Any]:
        """Return the values of an item; those that are only in keys by keys of both versions."""
        changed = self._keys[entity.type_name].changed if entity.type_name in self._keys else ()
        unread = {key for _, key in entity.only_in_indexes if key in changed}
        values = entity.values({name: wanted[name] for name in wanted if name not in unread})
        for name, _ in entity.only_in_indexes:
            attribute = entity.attributes[name]
            if values[name] is None and not attribute.may_be_absent:
                if attribute.fill is None:
                    raise UnreadableItem(f"{entity.name}.{name}: no key of the item contains it")
                values[name] = _filled(attribute, item)
                attribute.converter.encode(values[name])  # only the declared type
        return values

    def watched(self, entity: EntityMap, item: Item) -> list[str]:
        """Return the stored attributes that must not change between the read and the write."""
        if entity not in self._watched:
            self._watched[entity] = self._read_by(entity)
        names = self._watched[entity]
        return sorted({*item} - {*self._table.attributes}) if names is None else names

    def _read_by(self, entity: EntityMap) -> list[str] | None:
        """Return the stored attributes that an item is computed from; None: perhaps all."""
        if any(callable(each.fill) for each in entity.attributes.values()):
            return None
        names = {name for key in entity.index_keys for name in key.composed}
        depends = {name for key in entity.index_keys for name in key.depends_on}
        stored = {each.stored for each in entity.attributes.values() if each.fill is not None}
        stored |= {
            entity.attributes[name].stored
            for name in depends
            if not entity.attributes[name].is_key_only
        }
        renamed = self._renames.attributes.get(entity.type_name, {})
        stored |= {*renamed, *(renamed[name] for name in stored & {*renamed}), *renamed.values()}
        if self._table.type_attribute is not None:
            stored.add(self._table.type_attribute)
        return sorted((names | stored) - {*self._table.attributes})


@lru_cache(maxsize=256)
def _natural_keys(entity: EntityMap) -> list[AttributeMap]:
    """Return the attributes of an entity that are keys of an index themselves."""
    names = {name for key in places_of(entity.index_keys) for name in key.attributes}
    return [each for each in entity.attributes.values() if each.stored in names]


def _is_readable(attribute: AttributeMap, item: Mapping[str, Value]) -> bool:
    value = item.get(attribute.stored)
    if value is None:
        return attribute.may_be_absent
    try:
        attribute.converter.decode(value)
    except UnreadableItem:
        return False
    return True


def _filled(attribute: AttributeMap, item: Item) -> Any:
    """Return the value that `fill=` gives for an item."""
    fill = attribute.fill
    try:
        return fill(_plain({"M": item})) if callable(fill) else fill
    except Exception as error:  # the caller's function
        problem = f"{attribute.name}: fill= raised {type(error).__name__}: {error}"
        raise InvalidValue(problem) from error


class Leftovers:
    """What only the old version of a design needs: attributes and items."""

    def __init__(self, old: TableDesign, new: TableDesign, renames: Renames) -> None:
        before, after = old.entities or {}, new.entities or {}
        self._type_attribute = new.type_attribute
        #: By the type of items in the new version.
        self._attributes: dict[str, frozenset[str]] = {}
        for name, entity in before.items():
            current = after.get(renames.types.get(name, name))
            if current is not None:
                names = _stored_names(entity) - _stored_names(current)
                self._attributes[renames.types.get(name, name)] = names
        #: The attributes whose values are lost, by the type of items: `Order.note`.
        self.lost_values = tuple(
            sorted(
                f"{renames.types.get(name, name)}.{attribute}"
                for name, entity in before.items()
                if (current := after.get(renames.types.get(name, name))) is not None
                for attribute in entity.attributes.keys() - current.attributes.keys()
                if attribute
                not in renames.attributes.get(renames.types.get(name, name), {}).values()
            )
        )
        #: The types of the items that no version needs any more.
        self.removed_entities = frozenset(before) - frozenset(after) - frozenset(renames.types)
        kept = {name: unique for each in after.values() for name, unique in each.uniques.items()}
        former = {
            renames.uniques.get(name, name): unique
            for each in before.values()
            for name, unique in each.uniques.items()
        }
        #: The types of sentinels that may reserve values which the new version reserves elsewhere,
        #: or not at all.
        self._former_sentinels = frozenset(
            name
            for type_name, entity in before.items()
            if type_name not in self.removed_entities
            for name, unique in entity.uniques.items()
            if name not in renames.uniques and kept.get(name) != unique
        )
        #: Those that programs of the old version do not keep.
        self._new_sentinels = frozenset(
            name for name, unique in kept.items() if former.get(name) != unique
        )
        self._removed_types = self.removed_entities.union(
            name for each in self.removed_entities for name in before[each].uniques
        )

    def __bool__(self) -> bool:
        return bool(
            any(self._attributes.values()) or self.removed_entities or self._former_sentinels
        )

    def attributes_of(self, entity: EntityMap, item: Item) -> list[str]:
        """Return the attributes of an item that only the old version needs."""
        return sorted(self._attributes.get(entity.type_name, frozenset()) & {*item})

    def is_of_removed_entity(self, item: Item) -> bool:
        """Return whether an item is of an entity that only the old version has, or its sentinel."""
        return not self._removed_types.isdisjoint(self._types(item))

    def is_former_sentinel(self, item: Item) -> bool:
        """Return whether an item is a sentinel that the new version may not need."""
        return not self._former_sentinels.isdisjoint(self._types(item))

    def is_new_sentinel(self, item: Item) -> bool:
        """Return whether an item is a sentinel that only the new version keeps."""
        return not self._new_sentinels.isdisjoint(self._types(item))

    def _types(self, item: Item) -> list[str]:
        value = item.get(self._type_attribute, {})
        if "L" in value:
            return [each["S"] for each in value["L"] if "S" in each]
        return [value["S"]] if "S" in value else list(value.get("SS", ()))


def _stored_names(entity: EntityDescription) -> frozenset[str]:
    """Return the attributes that items of an entity can have, except the primary key."""
    keys = {
        each.name for place in entity.places.values() for key in place for each in key.templates
    }
    primary = {each.name for each in entity.key.templates}
    return frozenset({*entity.attributes, *keys} - primary)
