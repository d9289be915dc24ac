"""Rewriting: from a stored item of one version of a design to the item of another version.

    what has changed             what the item gets
    the type of the items        the new type; an item of a merged entity keeps the former one
    a renamed attribute          the value of the old one, which stays until `complete`
    a renamed text that had      the value of `fill=`: a text can be read as str, whatever type it
    another type                 was written by
    a required attribute         the value of `fill=`, if the item has none
    another type of values       the value of `fill=`, if the stored one cannot be read
    a required part of keys      the value of `fill=`, if no key of the item contains it
    keys in indexes              those that its values give; an attribute that is a key itself gets
                                 its default, if the item has none
    a primary key of its values  it is put under that key, and deleted under the former one
    what only one version has    stays; `clean` removes it

This module must not know how items are read and written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from msgspec import Struct

from tablewright.design_description import TableDesign
from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.formats.encryption import seal_values
from tablewright.mapping.item_kind import UNKNOWN, ItemKind
from tablewright.mapping.keys import places_of
from tablewright.mapping.stored_type import stored_type
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.key_changes import IndexKeyChanges, key_changes
from tablewright.plan.migration.moves import FormerKey, find_moves
from tablewright.plan.migration.recoding import is_recoded, recode
from tablewright.plan.migration.renames import FORMER_TYPE, Renames, TypeChoice, TypePair, plain
from tablewright.plan.writes.effect import names_owner
from tablewright.plan.writes.guard import WriteExpressions, stored_values
from tablewright.table_description import IndexDescription
from tablewright.values import Item, Value


class ItemRewrite(Struct, frozen=True):
    """What a migration writes to one item: attributes to set and to remove, a move, or a deletion.

    An item that moves has other values for attributes of its key.
    """

    item: Item
    #: The new values; None removes an attribute. Empty: the item is deleted.
    values: dict[str, Value | None]
    #: The attributes that must be as they were read.
    watched: list[str]
    is_move: bool = False

    def apply(self) -> Item:
        """Return the item as it is after the write."""
        changed = {**self.item, **self.values}
        return {name: value for name, value in changed.items() if value is not None}

    def condition(self, table: TableMap, name: str) -> dict[str, Any]:
        """Return the check that the item is as it was read."""
        return self._expressions(table).add_to({"TableName": name, "Key": table.key(self.item)})

    def _expressions(self, table: TableMap) -> WriteExpressions:
        expressions = WriteExpressions()
        expressions.require_exists(table)
        expressions.require_unchanged(stored_values(self.item, self.watched))
        return expressions

    def actions(self, table: TableMap, name: str) -> list[dict[str, Any]]:
        """Return the actions of a transaction: one, or the deletion and the put of a move."""
        expressions = self._expressions(table)
        body = {"TableName": name, "Key": table.key(self.item)}
        if self.is_move:
            absent = WriteExpressions()
            absent.require_not_exists(table)
            put = absent.add_to({"TableName": name, "Item": self.apply()})
            return [{"Delete": expressions.add_to(body)}, {"Put": put}]
        for attribute, value in self.values.items():
            expressions.update.set_or_remove(attribute, value)
        return [{"Update" if self.values else "Delete": expressions.add_to(body)}]

    def changes_row_of(self, index: IndexDescription) -> bool:
        """Return whether an index gets, changes or loses a row."""
        old = self.item
        is_new = bool(self.values) and index.contains(self.apply())
        if index.contains(old) != is_new or (is_new and self.is_move):
            return True
        names = {*(key.name for key in index.keys), *index.projection.include}
        return is_new and any(
            old.get(name) != value
            for name, value in self.values.items()
            if index.projection.type == "ALL" or name in names
        )


def kind_by_key(table: TableMap, item: Item) -> ItemKind:
    """Return what an item is by its key: the version that wrote it may use its type otherwise."""
    return table.identify({name: item[name] for name in item if name != table.type_attribute})


class Rewriter:
    """Rewrites the items of one table for a version of its design."""

    def __init__(
        self,
        table: TableMap,
        source: TableDesign,
        target: TableDesign,
        renames: Renames,
        *,
        keeps_new: bool = False,
        keeps_former: bool = False,
    ) -> None:
        """Make a rewriter from one version to another, which `table` is.

        With `keeps_new`, a value under the new name is newer than the old one: before the items are
        prepared, only programs of the old version write them; afterwards, only programs of the new
        one. With `keeps_former`, items of a merged entity get their former type, for a rollback.
        """
        self._table = table
        self._renames = renames
        self.keys: Mapping[TypePair, IndexKeyChanges] = key_changes(source, target, renames)
        self.moves: Mapping[TypePair, FormerKey] = find_moves(table, source, target, renames)
        self._keeps_new = keeps_new
        self._keeps_former = keeps_former
        self._choice = TypeChoice(table, renames, self.moves)
        self._watched: dict[EntityMap, list[str] | None] = {}

    def former_keys(self, key: Item) -> list[Item]:
        """Return the other keys under which the item with a key may be stored."""
        found = (each.of(key) for each in self.moves.values() if each.follows)
        return [each for each in found if each is not None and each != key]

    def entity_of(self, item: Item) -> EntityMap | None:
        """Return the entity of an item in the target version; None if it is not rewritten.

        Raise UnreadableItem, which names the item, if its entity is not known.
        """
        with self._naming(item):
            found = self._choice.choose(item)
            return None if found is None else found[0]

    def rewrite(self, item: Item) -> tuple[EntityMap, Item] | None:
        """Return the entity and the item as the target version stores it; None to leave it alone.

        Raise UnreadableItem, which names the item, if the target version cannot read it.
        """
        with self._naming(item):
            found = self._choice.choose(item)
            if found is None:
                return None
            entity, source = found
            pair = source, entity.type_name
            wanted = self._carried(entity, item, pair)
            wanted = entity.rekey(wanted, self._values(entity, wanted, item, pair))
            if entity.has_encrypted:  # what `fill=` gives
                wanted = seal_values(wanted, self._table.key(item))
        if pair in self.moves and self.moves[pair].matches(item):
            return entity, wanted
        # An item keeps its key in the table, also one that is spelled in another way.
        return entity, wanted | self._table.key(item)

    @contextmanager
    def _naming(self, item: Item) -> Iterator[None]:
        """Add the key of an item to errors."""
        try:
            yield
        except (InvalidValue, UnreadableItem) as error:
            raise self._table.unreadable(error, item) from None

    def view(self, item: Item) -> Item:
        """Return an item or a sentinel as the target version stores it; others unchanged.

        One that the target version cannot read is returned unchanged, too.
        """
        try:
            found = self.rewrite(item)
        except UnreadableItem:
            return item
        if found is not None:
            return found[1]
        change = self.change(item, drops_former=True)
        return item if change is None else change.apply()

    def change(self, item: Item, *, drops_former: bool = False) -> ItemRewrite | None:
        """Return what makes an item one of the target version; None if it is one already.

        With `drops_former`, attributes under former names are removed, also those of sentinels.
        """
        found = self.rewrite(item)
        if found is None:
            return self._sentinel_change(item, drops_former=drops_former)
        entity, wanted = found
        if drops_former:
            former = {former for _, former in self._renames.attributes_of(entity.type_name)}
            former -= {each.stored for each in entity.attributes.values()}
            wanted = {name: value for name, value in wanted.items() if name not in former}
        if wanted == item:
            return None
        names = sorted({*item, *wanted})
        values = {name: wanted.get(name) for name in names if item.get(name) != wanted.get(name)}
        if self._table.key(wanted) != self._table.key(item):  # the whole item is written
            declared = {each.stored for each in entity.attributes.values()}
            watched = {*item, *declared} - {*self._table.attributes}
            return ItemRewrite(item, values, sorted(watched), is_move=True)
        watched = {*self.watched(entity, item), *values}
        return ItemRewrite(item, values, sorted(watched - {*self._table.attributes}))

    def _sentinel_change(self, item: Item, *, drops_former: bool) -> ItemRewrite | None:
        """Return the new type of a sentinel, and the new names in it; None for other items.

        Without `drops_former`, one that names its item keeps its names: it is replaced when its
        value is reserved. Others have both names.
        """
        values: dict[str, Value | None] = {}
        attribute = self._table.type_attribute
        for former, new in self._renames.uniques.items():
            if attribute is not None and item.get(attribute) == self._table.type_value(former):
                values[attribute] = self._table.type_value(new)
        kind = kind_by_key(self._table, item) if self._renames.attributes else UNKNOWN
        if kind.unique is None or kind.entity is None:
            return ItemRewrite(item, values, sorted(values)) if values else None
        if drops_former or not names_owner(kind.entity, kind.unique):
            kept = {each.stored for each in kind.unique.keeps}
            for name, former in self._renames.attributes_of(kind.entity.type_name):
                if name in kept and former in item and (drops_former or name not in item):
                    values |= {name: item[former]} | ({former: None} if drops_former else {})
        return ItemRewrite(item, values, sorted(values)) if values else None

    def _carried(self, entity: EntityMap, item: Item, pair: TypePair) -> Item:
        """Return an item with the type and the attributes of the target version."""
        wanted = dict(item)
        if self._table.type_attribute is not None:
            wanted[self._table.type_attribute] = self._table.type_value(entity.type_name)
        if self._keeps_former and pair[0] and entity.type_name in self._renames.merged:
            wanted[FORMER_TYPE] = {"S": pair[0]}
        for name, former in self._renames.attributes.get(pair, {}).items():
            # A former key attribute has the new key, once the item has moved.
            keeps_new = self._keeps_new or former in self._table.attributes
            if former in item and not (keeps_new and name in item):
                is_retyped = name in self._renames.retyped.get(pair, ())
                wanted[name] = _moved(entity, item, name, former, is_retyped=is_retyped)
        self._recode(entity, wanted, item, pair)
        for attribute in entity.attributes.values():
            is_stored = attribute.fill is not None and not attribute.is_key_only
            if is_stored and not _is_readable(attribute, wanted):
                wanted[attribute.stored] = attribute.converter.encode(_filled(attribute, item))
        for attribute in _natural_keys(entity):
            if attribute.stored not in wanted and attribute.default is not None:
                value = attribute.store(attribute.default())
                wanted |= {} if value is None else {attribute.stored: value}
        return wanted

    def _recode(self, entity: EntityMap, wanted: Item, item: Item, pair: TypePair) -> None:
        """Store the values whose codec has changed as the target version does."""
        before = self._renames.former_types.get(pair, {})
        for attribute in entity.attributes.values() if before else ():
            name = attribute.stored
            if name not in before or name not in wanted or not is_recoded(attribute, before[name]):
                continue
            former = self._renames.attributes.get(pair, {}).get(name)
            is_moved = former in item and wanted[name] == item[former]
            value = recode(attribute, wanted[name], before[name], is_moved=is_moved)
            if value is not None:
                wanted[name] = value

    def _values(
        self, entity: EntityMap, wanted: Item, item: Item, pair: TypePair
    ) -> dict[str, Any]:
        """Return the values of an item; those that are only in keys by keys of both versions."""
        changed = self.keys[pair].changed if pair in self.keys else ()
        unread = {key for _, key in entity.only_in_indexes if key in changed}
        if pair in self.moves:  # its parts are stored, and the key may be a former one
            unread.update(entity.primary.composed)
        values = entity.values({name: wanted[name] for name in wanted if name not in unread})
        for name, _ in entity.only_in_indexes:
            attribute = entity.attributes[name]
            if values[name] is None and not attribute.may_be_absent:
                if attribute.fill is None:
                    where = f"{entity.name}.{name}"
                    problem = f"{where}: no key of the item contains it"
                    raise UnreadableItem(problem, where=where)
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
        is_chosen = entity.type_name in self._renames.sources and entity.renamed_when is not None
        if is_chosen or any(callable(each.fill) for each in entity.attributes.values()):
            return None
        names = {name for key in entity.index_keys for name in key.composed}
        depends = {name for key in entity.index_keys for name in key.depends_on}
        stored = {each.stored for each in entity.attributes.values() if each.fill is not None}
        stored |= {
            name
            for source in self._renames.sources_of(entity.type_name)
            for name in self._renames.former_types.get((source, entity.type_name), ())
        }
        stored |= {
            entity.attributes[name].stored
            for name in depends
            if not entity.attributes[name].is_key_only
        }
        for each in self._renames.attributes_of(entity.type_name):
            stored |= {*each}
        if self._table.type_attribute is not None:
            stored |= {self._table.type_attribute}
        if self._renames.merged:
            stored |= {FORMER_TYPE}
        return sorted((names | stored) - {*self._table.attributes})


@lru_cache(maxsize=256)
def _natural_keys(entity: EntityMap) -> list[AttributeMap]:
    """Return the attributes of an entity that are keys of an index themselves."""
    names = {name for key in places_of(entity.index_keys) for name in key.attributes}
    return [each for each in entity.attributes.values() if each.stored in names]


def _moved(entity: EntityMap, item: Item, name: str, former: str, *, is_retyped: bool) -> Value:
    """Return the value of a renamed attribute."""
    value = item[former]
    attribute = next(each for each in entity.attributes.values() if each.stored == name)
    if not is_retyped or stored_type(attribute.converter.kind) != "str" or "S" not in value:
        return value
    if callable(attribute.fill):
        return attribute.converter.encode(_filled(attribute, item))
    if item.get(name, value) != value:
        raise UnreadableItem(
            f"{entity.name}.{attribute.name}: the item has {item[name]['S']!r}, but also "
            f"{value['S']!r} in {former!r}, whose values have another type. Decide it by a "
            "function of the item, attr(fill=…)"
        )
    return value


def _is_readable(attribute: AttributeMap, item: Mapping[str, Value]) -> bool:
    value = item.get(attribute.stored)
    if value is None:
        return attribute.may_be_absent
    if attribute.converter.cipher is not None:
        return "B" in value
    try:
        attribute.converter.decode(value)
    except UnreadableItem:
        return False
    return True


def _filled(attribute: AttributeMap, item: Item) -> Any:
    """Return the value that `fill=` gives for an item."""
    fill = attribute.fill
    try:
        return fill(plain({"M": item})) if callable(fill) else fill
    except Exception as error:  # the caller's function
        problem = f"{attribute.converter.where}: fill= raised {type(error).__name__}: {error}"
        raise InvalidValue(problem) from error
