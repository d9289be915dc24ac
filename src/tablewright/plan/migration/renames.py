"""Renames: the types and attributes that have another name in the other version of a design.

    renamed    the items of one type get another type
    split      the items of one type get several types; `renamed_when=` says which item gets which
    merged     the items of several types get one type

On the way back, a split entity is merged, which needs no more than the types of its items; and a
merged one is split. So the items of a merged entity keep their former type in the attribute
`$former_type`, until `complete` or a rollback removes it. An item that a program of the new version
has created, or replaced, does not have it: `renamed_when=` of the old version says what it becomes.
If that is not declared, the rollback is refused.

Invariant: no type of items is on both sides of a rename. So the type of an item shows whether it
was rewritten.

This module must not know how items are rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from tablewright.design_changes import DesignChange
from tablewright.design_description import EntityDescription, TableDesign
from tablewright.errors import InvalidValue, MigrationRefused
from tablewright.hints import did_you_mean
from tablewright.mapping.converters import converter
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.variants import VariantsMap
from tablewright.plan.description import describe_entity
from tablewright.plan.migration.recoding import (
    is_encrypted,
    is_recoded,
    refuse_ambiguous_codec,
)
from tablewright.values import Item

#: The attribute of an item of a merged entity that has its former type.
FORMER_TYPE = "$former_type"
#: The kinds of change that give items another type.
TYPE_CHANGES = frozenset({"entity-renamed", "entity-split", "entity-merged"})
RETYPED = frozenset({"attribute-narrowed", "attribute-retyped", "attribute-widened"})
FORM_CHANGES = RETYPED | {"choice-added", "choice-removed"}
#: The types of an item in the source and in the target.
TypePair: TypeAlias = tuple[str, str]
plain = converter(Any, "a stored item").decode


class Renames(Struct, frozen=True, dict=True):
    """The renamed types and attributes between two versions."""

    #: The types of items in the source and in the target, where they differ.
    pairs: frozenset[TypePair] = frozenset()
    #: The attribute in the source of each renamed attribute.
    attributes: Mapping[TypePair, Mapping[str, str]] = {}
    #: The type of sentinels in the target, by their type in the source.
    uniques: Mapping[str, str] = {}
    #: The renamed attributes whose values have another type, too.
    retyped: Mapping[TypePair, frozenset[str]] = {}
    #: The type in the source of each attribute whose type has changed, by its name in the target.
    former_types: Mapping[TypePair, Mapping[str, str]] = {}
    #: The types in the target whose items can have a former type, because they are or were merged.
    merged: frozenset[str] = frozenset()

    @cached_property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """The types of items in the target, by their type in the source."""
        pairs = sorted(self.pairs)
        return {one: tuple(new for old, new in pairs if old == one) for one, _ in pairs}

    @cached_property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """The types of items in the source, by their type in the target."""
        pairs = sorted(self.pairs)
        return {one: tuple(old for old, new in pairs if new == one) for _, one in pairs}

    def targets_of(self, source: str) -> tuple[str, ...]:
        return self.targets.get(source, (source,))

    def sources_of(self, target: str) -> tuple[str, ...]:
        return self.sources.get(target, (target,))

    def attributes_of(self, target: str) -> list[tuple[str, str]]:
        """Return the renamed attributes of a type in the target, each with its former name."""
        pairs = ((source, target) for source in self.sources_of(target))
        return [each for pair in pairs for each in self.attributes.get(pair, {}).items()]


def renames_in(changes: Iterable[DesignChange], *, reverse: bool = False) -> Renames:
    """Return what was renamed; with `reverse`, for the way back to the old version."""
    changes = list(changes)
    pairs = frozenset(
        (each.before, each.after) for each in changes if each.kind.name in TYPE_CHANGES
    )
    merged = [each for each in changes if each.kind.name == "entity-merged"]
    others = {(*pair_of(each, pairs), each.part) for each in changes if each.kind.name in RETYPED}
    attributes: dict[TypePair, dict[str, str]] = {}
    former_types: dict[TypePair, dict[str, str]] = {}
    retyped: dict[TypePair, frozenset[str]] = {}
    for each in changes:
        if each.kind.name == "attribute-renamed":
            (old, new), name, former = pair_of(each, pairs), each.after, each.before
            is_retyped = (old, new, name) in others
            if reverse:
                old, new, name, former = new, old, former, name
            pair = old, new
            attributes.setdefault(pair, {})[name] = former
            if is_retyped:
                retyped[pair] = retyped.get(pair, frozenset()) | {name}
    for each in changes:
        if each.kind.name in FORM_CHANGES:
            (old, new), name, before = pair_of(each, pairs), each.part, each.before
            if reverse:
                old, new, before = new, old, each.after
                names = {was: now for now, was in attributes.get((old, new), {}).items()}
                name = names.get(each.part, each.part)
            is_type = each.kind.name in RETYPED
            former_types.setdefault((old, new), {})[name] = before if is_type else "choice"
    uniques = {each.before: each.after for each in changes if each.kind.name == "unique-renamed"}
    if reverse:
        pairs = frozenset((new, old) for old, new in pairs)
        uniques = {new: old for old, new in uniques.items()}
    return Renames(
        pairs,
        attributes,
        uniques,
        retyped,
        former_types,
        frozenset(each.before if reverse else each.after for each in merged),
    )


def pair_of(change: DesignChange, pairs: Iterable[TypePair]) -> TypePair:
    """Return the types that the items of a changed entity have in the old and the new version."""
    formers = (old for old, new in pairs if new == change.entity)
    return change.former or next(formers, change.entity), change.entity


# -- which type an item gets -----------------------------------------------------------------------


class Matching(Protocol):
    """The former key of an entity."""

    def matches(self, item: Item) -> bool:
        """Return whether an item can have it."""
        ...


class TypeChoice:
    """Says which entity of the target version an item belongs to."""

    def __init__(
        self, table: TableMap, renames: Renames, formers: Mapping[TypePair, Matching]
    ) -> None:
        """Make a choice; `formers` are the keys by which items without a type are recognized."""
        self._table = table
        self._renames = renames
        self._formers = formers
        self._by_type = {entity.type_name: entity for entity in table.entities}

    def choose(self, item: Item) -> tuple[EntityMap, str] | None:
        """Return the entity of an item in the target, and its type in the source.

        The type is "" if no program of the source version has written it. Return None for an item
        that is not rewritten; raise InvalidValue if its entity is not known.
        """
        name = self._table.type_attribute
        if name is not None and name in item:
            for source in self._renames.targets:
                if item[name] == self._table.type_value(source):
                    return self._target(source, item), source
        kind = self._table.identify(item)
        if kind.is_unknown:
            for (source, target), former in self._formers.items():
                if former.matches(item):
                    return self._by_type[target], source
        found = kind.stored
        if found is None:
            return None
        entity = found.kind_of(item)
        if isinstance(entity, VariantsMap):
            # Without a known type, neither version can read it, unless the source has one entity
            # with this key: an item is recognized by its key.
            sources = {old for old, new in self._renames.pairs if new in entity.type_names}
            if len(sources) != 1:
                return None
            (source,) = sources
            return self._target(source, item), source
        sources = {*self._renames.sources_of(entity.type_name)}
        if len(sources) > 1:
            sources &= {item.get(FORMER_TYPE, {}).get("S", "")}
        return entity, next(iter(sources), "")

    def _target(self, source: str, item: Item) -> EntityMap:
        """Return the entity that an item of a type becomes; raise InvalidValue."""
        targets = [self._by_type[name] for name in self._renames.targets[source]]
        rules = [
            each
            for each in targets
            if each.renamed_when is not None and source in each.renamed_from
        ]
        former = item.get(FORMER_TYPE, {}).get("S", "")
        known = [each for each in targets if each.type_name == former]
        if known or (len(targets) == 1 and not rules):
            return (known or targets)[0]
        names = ", ".join(each.name for each in targets)
        if not rules:
            raise InvalidValue(
                f"a program of the new version has created or replaced this item of {source}, and "
                f"the old version does not declare which of {names} it becomes. Declare "
                f'renamed_from="{source}" and renamed_when=… in these entities of the old version, '
                "or delete the item"
            )
        matching = [each for each in rules if _matches(each, item)]
        if len(matching) != 1:
            found = f"those of {', '.join(each.name for each in matching)}" if matching else "none"
            raise InvalidValue(
                f"an item of {source}: exactly one of the functions renamed_when= of {names} must "
                f"return True, but {found} did"
            )
        return matching[0]


def _matches(entity: EntityMap, item: Item) -> bool:
    """Return what `renamed_when=` returns for an item."""
    assert entity.renamed_when is not None
    try:
        found = entity.renamed_when(plain({"M": item}))
    except Exception as error:  # the caller's function
        problem = f"{entity.name}: renamed_when= raised {type(error).__name__}: {error}"
        raise InvalidValue(problem) from error
    if not isinstance(found, bool):
        raise InvalidValue(f"{entity.name}: renamed_when= returned {found!r}, not True or False")
    return found


# -- refusals --------------------------------------------------------------------------------------


def refuse_renames(
    table: TableMap, old: TableDesign, changes: Iterable[DesignChange], renames: Renames
) -> None:
    """Raise MigrationRefused for renames that cannot be carried out, or not be undone."""
    _refuse_unknown_names(table, old)
    _refuse_overwritten_texts(table, old, changes, renames)
    _refuse_encryption(table, old, renames)
    _refuse_ambiguous_codecs(table, changes, renames)
    _refuse_composed_attributes(table, old, renames)
    _refuse_reserved_name(table, old, renames)


def _refuse_unknown_names(table: TableMap, old: TableDesign) -> None:
    """Raise MigrationRefused for a `renamed_from` that does not say which items are meant."""
    before = old.entities or {}
    for entity in table.entities:
        if entity.type_name in before:
            _refuse_two_meanings(entity, before)
            formers = [before[entity.type_name]]
        else:
            _refuse_unknown_types(entity, before)
            formers = [before[name] for name in entity.renamed_from]
        _refuse_unknown_attributes(entity, formers)


def _refuse_two_meanings(entity: EntityMap, old: Mapping[str, EntityDescription]) -> None:
    declared = {each.type_name for each in entity.table.entities}
    for name in entity.renamed_from:
        if name in old and name not in declared:
            raise MigrationRefused(
                f"{entity.name}: renamed_from={name!r}, but stored items have the type "
                f"{entity.type_name!r}, too. To merge them, give the entity a new type, "
                f"type_name=…, and renamed_from=({entity.type_name!r}, {name!r}); otherwise remove "
                "renamed_from="
            )


def _refuse_unknown_types(entity: EntityMap, old: Mapping[str, EntityDescription]) -> None:
    declared = {each.type_name for each in entity.table.entities}
    for name in entity.renamed_from:
        if name not in old:
            raise MigrationRefused(
                f"{entity.name}: renamed_from={name!r} is not a type of stored items"
                f"{did_you_mean(name, old)}"
            )
        if name in declared:
            raise MigrationRefused(
                f"{entity.name}: renamed_from={name!r} is a type that the design still declares. "
                f"To split its items, give those that stay a new type, too: type_name=…, "
                f"renamed_from={name!r}, renamed_when=…; otherwise remove renamed_from="
            )


def _refuse_unknown_attributes(entity: EntityMap, formers: list[EntityDescription]) -> None:
    known = {name for each in formers for name in each.attributes}
    for attribute in entity.attributes.values() if formers else ():
        where = f"{entity.name}.{attribute.name}"
        for name in attribute.renamed_from:
            if name not in known and attribute.stored not in known:
                raise MigrationRefused(
                    f"{where}: renamed_from={name!r} is not an attribute of stored items of "
                    f"{entity.name}{did_you_mean(name, known)}"
                )
        for former in formers:
            both = [name for name in attribute.renamed_from if name in former.attributes]
            if len(both) > 1 and attribute.stored not in former.attributes:
                raise MigrationRefused(
                    f"{where}: stored items have both {both[0]!r} and {both[1]!r}, and "
                    "renamed_from= does not say which one is meant; name one of them"
                )


def _refuse_reserved_name(table: TableMap, old: TableDesign, renames: Renames) -> None:
    """Raise MigrationRefused if items have an attribute with the name of the former type."""
    stored = {name for each in (old.entities or {}).values() for name in each.attributes}
    stored |= {each.stored for one in table.entities for each in one.attributes.values()}
    if renames.merged and FORMER_TYPE in stored:
        raise MigrationRefused(
            f"items of a merged entity keep their former type in the attribute {FORMER_TYPE!r}; "
            "store your attribute of this name under another name first"
        )


def _refuse_overwritten_texts(
    table: TableMap, old: TableDesign, changes: Iterable[DesignChange], renames: Renames
) -> None:
    """Raise MigrationRefused if a rollback could not tell texts of the new version from old ones.

    A str can be read from every text. So if `fill=` replaces texts by those of another type, under
    the same name, a rollback would take these for values of the old version.
    """
    entities = {entity.type_name: entity for entity in table.entities}
    problems: list[str] = []
    for each in changes:
        pair = pair_of(each, renames.pairs)
        if each.kind.name not in RETYPED or each.part in renames.attributes.get(pair, ()):
            continue
        described = (old.entities or {})[pair[0]]
        if each.part not in described.attributes:
            continue  # a part of a key that has no attribute of this name
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
            "Store the new values under another name: attr(renamed_from=…, fill=…)"
        )


def _refuse_encryption(table: TableMap, old: TableDesign, renames: Renames) -> None:
    """Raise MigrationRefused for changes of what a value is encrypted for: its name and its key."""
    for entity in table.entities:
        for source in renames.sources_of(entity.type_name):
            former = (old.entities or {}).get(source)
            if former is not None:
                names = renames.attributes.get((source, entity.type_name), {})
                _refuse_encrypted_attributes(entity, former, names)


def _refuse_encrypted_attributes(
    entity: EntityMap, former: EntityDescription, names: Mapping[str, str]
) -> None:
    own = describe_entity(entity)
    for name, attribute in own.attributes.items():
        source = names.get(name, name)
        was = former.attributes.get(source)
        if was is None or not (is_encrypted(attribute.type) or is_encrypted(was.type)):
            continue
        if source != name or _without_none(was.type) != _without_none(attribute.type):
            raise MigrationRefused(
                f"{entity.name}: {source!r} ({was.type}) cannot become {name!r} "
                f"({attribute.type}): a value is encrypted for the name of its attribute, and only "
                "programs with the secrets can read it. Declare another attribute; fill= gives it "
                "the values of one that is not encrypted: "
                f'attr(name=…, codec=encrypted(…), fill=lambda item: item["{source}"])'
            )
    if entity.has_encrypted and own.key != former.key:
        raise MigrationRefused(
            f"{entity.name}: its values are encrypted for the keys of their items, so a migration "
            "cannot change its primary key; move the items with update(…), which encrypts them "
            "again"
        )


def _without_none(described: str) -> str:
    return described.removesuffix(" | None")


def _refuse_composed_attributes(table: TableMap, old: TableDesign, renames: Renames) -> None:
    """Raise MigrationRefused if a key of an index is composed in place of an attribute."""
    problems: list[str] = []
    for entity in table.entities:
        composed = {name for key in entity.index_keys for name in key.composed}
        composed -= {each.stored for each in entity.attributes.values()}
        for source in renames.sources_of(entity.type_name):
            before = (old.entities or {}).get(source)
            former = renames.attributes.get((source, entity.type_name), {}).values()
            lost = composed & before.attributes.keys() - {*former} if before is not None else ()
            problems += (f"{entity.name}: {name!r}" for name in sorted(lost))
    if problems:
        listed = "\n  ".join(problems)
        raise MigrationRefused(
            "the new version composes a key of an index in place of these attributes, whose values "
            f"would be lost:\n  {listed}\n"
            "Declare what they are now, attr(renamed_from=…), or give the index another key "
            "attribute: GSI(…)"
        )


def _refuse_ambiguous_codecs(
    table: TableMap, changes: Iterable[DesignChange], renames: Renames
) -> None:
    """Raise MigrationRefused if a value does not show which of two codecs has written it."""
    entities = {entity.type_name: entity for entity in table.entities}
    for each in changes:
        pair = pair_of(each, renames.pairs)
        if each.kind.name not in RETYPED or each.part in renames.attributes.get(pair, ()):
            continue
        for attribute in entities[each.entity].attributes.values():
            if attribute.stored == each.part and is_recoded(attribute, each.before):
                refuse_ambiguous_codec(attribute, each.before, str(each))
