"""Comparison: from two descriptions of a design to the changes between them.

Tables are paired by name, entities by the type of their items, attributes by their stored name, or
by `renamed_from`. A rename is never guessed: without `renamed_from`, one part is removed and
another one added. In a table without a type attribute, an entity is recognized by its key, so there
entities are also paired by equal keys.

Invariant: two descriptions that differ give at least one change, and so does each pair of their
parts; only `renamed_from` makes none. A pair of parts that differ in a way that no function here
knows raises UnclassifiedChange.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from tablewright.design_changes.change import DesignChange, change
from tablewright.design_changes.kinds import Reading
from tablewright.design_description import (
    AttributeDescription,
    DesignDescription,
    EntityDescription,
    HistoryDescription,
    IndexDesign,
    KeyDescription,
    TableDesign,
    TemplateDescription,
    UniqueDescription,
    show_key,
    show_places,
)
from tablewright.errors import UnclassifiedChange
from tablewright.table_changes import describe

D = TypeVar("D")
#: For each renamed entity or attribute: its earlier name, and its new one.
Names: TypeAlias = Mapping[str, str]

#: Types that read every stored value of another one as the same value.
_WIDER = frozenset(
    {("int", "Decimal"), ("timedelta", "Decimal")}
    | {(text, "str") for text in ("UUID", "KSUID", "ULID", "date", "datetime", "time")}
    | {("choice", scalar) for scalar in ("str", "int", "Decimal")}
)


def differences(old: DesignDescription, new: DesignDescription) -> list[DesignChange]:
    """Return the changes from one version of a design to another, by table, entity and part.

    Raise UnclassifiedChange for parts that differ in a way that is not known here.
    """
    found = list[DesignChange]()
    for name in sorted({*old.tables, *new.tables}):
        before, after = old.tables.get(name), new.tables.get(name)
        if before is None:
            found.append(change("table-added", name))
        elif after is None:
            found.append(change("table-removed", name))
        else:
            found += _table(name, before, after)
    return found


def _table(name: str, old: TableDesign, new: TableDesign) -> list[DesignChange]:
    found = [*_structure(name, old, new), *_settings(name, old, new)]
    if old.entities is not None and new.entities is not None:
        is_same = old.type_attribute == new.type_attribute
        common = old.type_attribute if is_same else ""
        found += _entities(name, old.entities, new.entities, common)
    return found


def _structure(name: str, old: TableDesign, new: TableDesign) -> Iterator[DesignChange]:
    if old.keys != new.keys:
        texts = {"before": describe(old.keys.schema), "after": describe(new.keys.schema)}
        yield change("table-key-changed", name, **texts)
    for index, before, after in _pairs(old.indexes, new.indexes):
        texts = {"before": _show_index(before), "after": _show_index(after)}
        if before == after:
            continue
        if "local" in (getattr(before, "kind", ""), getattr(after, "kind", "")):
            yield change("local-index-changed", name, "", index, **texts)
        elif before is None:
            yield change("index-added", name, "", index, **texts)
        elif after is None:
            yield change("index-removed", name, "", index, **texts)
        else:
            yield change("index-changed", name, "", index, **texts)


def _show_index(index: IndexDesign | None) -> str:
    if index is None:
        return ""
    included = f" ({', '.join(index.include)})" if index.include else ""
    return f"{index.kind}, {describe(index.keys.schema)}, {index.projection}{included}"


def _settings(name: str, old: TableDesign, new: TableDesign) -> Iterator[DesignChange]:
    for setting, before, after in (
        ("ttl", old.ttl, new.ttl),
        ("stream", old.stream, new.stream),
    ):
        if before != after:
            verb = "added" if not before else "changed" if after else "removed"
            yield change(f"{setting}-{verb}", name, before=before, after=after)
    if old.entities is None or new.entities is None:
        return  # a template or a table without a record: nothing is known about the rest
    types = ((each.type_attribute, each.type_form) for each in (old, new))
    before_type, after_type = (f"{attribute or 'none'} ({form})" for attribute, form in types)
    if before_type != after_type:
        # An item without a known type is recognized by its key, unless variants share the key.
        has_variants = bool(_variants(old.entities) or _variants(new.entities))
        reading = Reading.FAILS if has_variants else Reading.COMPLETE
        texts = {"before": before_type, "after": after_type}
        yield change("type-attribute-changed", name, reads=(reading, reading), **texts)
    if old.tenancy != new.tenancy:
        yield change("tenancy-changed", name)


# -- entities --------------------------------------------------------------------------------------


def _entities(
    table: str,
    old: Mapping[str, EntityDescription],
    new: Mapping[str, EntityDescription],
    type_attribute: str,
) -> Iterator[DesignChange]:
    """Yield the changes of entities; the type attribute is "" if the versions share none."""
    renamed = _renamed(old, new)
    if not type_attribute:
        renamed = _with_equal_keys(old, new, renamed)
    former = {after: before for before, after in renamed.items()}
    attributes = {
        renamed.get(name, name): _renamed(each.attributes, new[renamed.get(name, name)].attributes)
        for name, each in old.items()
        if renamed.get(name, name) in new
    }
    for name in sorted({*old, *new} - {*renamed}):
        before, after = old.get(former.get(name, name)), new.get(name)
        if before is None:
            in_range = not type_attribute and _is_in_range(new[name], old.values())
            reads = (Reading.COMPLETE, Reading.FAILS if in_range else Reading.COMPLETE)
            yield change("entity-added", table, name, reads=reads)
        elif after is None:
            in_range = not type_attribute and _is_in_range(before, new.values())
            reads = (Reading.FAILS if in_range else Reading.MISSES, Reading.COMPLETE)
            yield change("entity-removed", table, name, reads=reads)
        else:
            if name in former:
                texts = {"before": former[name], "after": name}
                yield _entity_renamed(table, name, old, new, texts, is_typed=bool(type_attribute))
            before = _with_new_names(before, attributes[name])
            before = _with_new_events(before, renamed, attributes)
            found = _entity(table, name, before, after, attributes[name], type_attribute)
            yield from found if type_attribute else _with_sentinels(found, old, new, former)


def _entity_renamed(
    table: str,
    name: str,
    old: Mapping[str, EntityDescription],
    new: Mapping[str, EntityDescription],
    texts: dict[str, str],
    *,
    is_typed: bool,
) -> DesignChange:
    if not is_typed:
        return change("entity-name-changed", table, name, **texts)
    # An item of an unknown type is recognized by its key, unless variants share the key.
    is_variant = name in _variants(new) or texts["before"] in _variants(old)
    reading = Reading.FAILS if is_variant else Reading.COMPLETE
    return change("entity-renamed", table, name, reads=(reading, reading), **texts)


def _variants(entities: Mapping[str, EntityDescription]) -> set[str]:
    """Return the entities that share their keys with others."""
    keys = Counter(show_key(each.key) for each in entities.values())
    return {name for name, each in entities.items() if keys[show_key(each.key)] > 1}


def _is_in_range(entity: EntityDescription, others: Iterable[EntityDescription]) -> bool:
    """Return whether queries of other entities may read items of an entity.

    A query of the table is bounded if other entities may be in its partition; one of an index, or
    of a partition that is a literal, may not be.
    """
    for other in others:
        one, two = entity.key.templates[0], other.key.templates[0]
        if not two.parts and _may_be_equal(one, two):
            return True
        for index, keys in other.places.items():
            places = [(key, each) for key in entity.places.get(index, ()) for each in keys]
            if any(_may_be_equal(key.templates[0], each.templates[0]) for key, each in places):
                return True
            if not places and any(_has_attributes(entity, each) for each in keys):
                return True
    return False


def _with_sentinels(
    found: Iterable[DesignChange],
    old: Mapping[str, EntityDescription],
    new: Mapping[str, EntityDescription],
    former: Names,
) -> Iterator[DesignChange]:
    """Yield changes in a table without types; there, sentinels in an index are unknown items."""
    for each in found:
        unknown_to_old = unknown_to_new = False
        if each.kind.name in ("unique-added", "unique-changed"):
            unknown_to_old = _are_in_index(new[each.entity].uniques[each.part], old.values())
        if each.kind.name in ("unique-removed", "unique-changed"):
            sentinels = old[former.get(each.entity, each.entity)].uniques[each.part]
            unknown_to_new = _are_in_index(sentinels, new.values())
        reads = (
            Reading.FAILS if unknown_to_new else each.new_reads,
            Reading.FAILS if unknown_to_old else each.old_reads,
        )
        yield replace(each, reads=reads) if unknown_to_old or unknown_to_new else each


def _are_in_index(sentinels: UniqueDescription, readers: Iterable[EntityDescription]) -> bool:
    """Return whether sentinels have all attributes of a key by which entities are read."""
    names = {*sentinels.keeps, *(each.name for each in sentinels.key.templates)}
    return any(
        all(template.name in names for template in key.templates)
        for entity in readers
        for keys in entity.places.values()
        for key in keys
    )


def _has_attributes(entity: EntityDescription, key: KeyDescription) -> bool:
    """Return whether an entity stores all attributes of a key, which adds it to the index."""
    keys = (entity.key, *(each for places in entity.places.values() for each in places))
    composed = {template.name for each in keys for template in each.templates}
    return all(each.name in composed | entity.attributes.keys() for each in key.templates)


def _may_be_equal(one: TemplateDescription, other: TemplateDescription) -> bool:
    """Return whether two key attributes may have equal values, by the literals that begin them."""
    first, second = (each.pieces[0] if each.pieces else "" for each in (one, other))
    if not isinstance(first, str) or not isinstance(second, str):
        return True
    return first.startswith(second) or second.startswith(first)


def _renamed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the new names of renamed parts, by their earlier names."""
    claims = Counter(each.renamed_from for name, each in new.items() if name not in old)
    return {
        each.renamed_from: name
        for name, each in new.items()
        if name not in old
        and each.renamed_from in old
        and each.renamed_from not in new
        and claims[each.renamed_from] == 1
    }


def _with_equal_keys(
    old: Mapping[str, EntityDescription], new: Mapping[str, EntityDescription], renamed: Names
) -> dict[str, str]:
    """Add the entities with equal keys: without a known type, an item is recognized by its key."""
    variants = _variants(old) | _variants(new)
    added = {show_key(each.key): name for name, each in new.items() if name not in old}
    removed = {
        name: show_key(each.key)
        for name, each in old.items()
        if name not in new and name not in variants
    }
    return {name: added[key] for name, key in removed.items() if key in added} | dict(renamed)


def _entity(
    table: str,
    name: str,
    old: EntityDescription,
    new: EntityDescription,
    renamed: Names,
    type_attribute: str,
) -> Iterator[DesignChange]:
    """Yield the changes of an entity, whose old version has the new names of attributes."""
    where = f"{table}.{name}"
    yield from _attributes(table, name, old, new, renamed)
    retyped = [
        change("attribute-retyped", table, name, number, before=before, after=after)
        for number, before, after in _pairs(old.in_keys, new.in_keys)
        if before and after and before != after
    ]
    has_same_keys = (old.key, old.places) == (new.key, new.places)  # else numbers may differ
    yield from _checked(where, old.in_keys, new.in_keys, retyped) if has_same_keys else retyped
    yield from _checked(where, old.key, new.key, _primary(table, name, old.key, new.key))
    yield from _checked(
        where, old.places, new.places, _places(table, name, old, new, type_attribute)
    )
    yield from _checked(where, old.uniques, new.uniques, _uniques(table, name, old, new))
    yield from _checked(where, old.histories, new.histories, _histories(table, name, old, new))


def _checked(
    where: str, old: object, new: object, found: Iterable[DesignChange]
) -> list[DesignChange]:
    """Return the changes of a part; raise UnclassifiedChange if it differs and has none."""
    changes = list(found)
    if not changes and old != new:
        raise UnclassifiedChange(
            f"{where}: the two versions differ in a way that this version of Tablewright cannot "
            f"classify: {old} -> {new}"
        )
    return changes


def _with_new_names(entity: EntityDescription, names: Names) -> EntityDescription:
    """Return an entity whose attributes have other names, also in its keys."""
    if not names:
        return entity

    def rename(name: str) -> str:
        return names.get(name, name)

    return replace(
        entity,
        attributes={rename(name): each for name, each in entity.attributes.items()},
        key=entity.key.renamed(names),
        places={
            name: tuple(sorted((each.renamed(names) for each in keys), key=show_key))
            for name, keys in entity.places.items()
        },
        uniques={
            name: UniqueDescription(each.key.renamed(names), tuple(sorted(map(rename, each.keeps))))
            for name, each in entity.uniques.items()
        },
        histories={
            rename(name): tuple(
                replace(each, sources={n: rename(source) for n, source in each.sources.items()})
                for each in histories
            )
            for name, histories in entity.histories.items()
        },
    )


def _with_new_events(
    entity: EntityDescription, types: Names, attributes: Mapping[str, Names]
) -> EntityDescription:
    """Return an entity whose histories write events with other names."""

    def rename(history: HistoryDescription) -> HistoryDescription:
        event = types.get(history.event, history.event)
        names = attributes.get(event, {})
        sources = {names.get(name, name): source for name, source in history.sources.items()}
        return HistoryDescription(event, sources, history.always)

    return replace(
        entity,
        histories={name: tuple(map(rename, each)) for name, each in entity.histories.items()},
    )


# -- attributes ------------------------------------------------------------------------------------


def _attributes(
    table: str, entity: str, old: EntityDescription, new: EntityDescription, renamed: Names
) -> Iterator[DesignChange]:
    former = {after: before for before, after in renamed.items()}
    for name, before, after in _pairs(old.attributes, new.attributes):
        if before is None or after is None:
            yield change(_added_or_removed(before, after), table, entity, name)
            continue
        if name in former:
            reads = (_without(name, after, new), _without(name, before, old))
            texts = {"before": former[name], "after": name}
            yield change("attribute-renamed", table, entity, name, reads=reads, **texts)
        changes = [
            change(kind, table, entity, name, **rest) for kind, rest in _attribute(before, after)
        ]
        if _is_in_keys(name, old) or _is_in_keys(name, new):
            changes = [_in_keys(each) for each in changes]
        plain = replace(before, renamed_from=after.renamed_from)
        yield from _checked(f"{table}.{entity}.{name}", plain, after, changes)


def _added_or_removed(old: AttributeDescription | None, new: AttributeDescription | None) -> str:
    attribute, verb = (new, "added") if new is not None else (old, "removed")
    assert attribute is not None
    if attribute.role == "version":
        return f"version-{verb}"
    if attribute.role in ("created_at", "updated_at"):
        return f"timestamp-{verb}"
    return f"{'required-' if attribute.is_required else ''}attribute-{verb}"


def _without(name: str, attribute: AttributeDescription, reader: EntityDescription) -> Reading:
    """Return how an item is read that has an attribute under another name."""
    if attribute.is_required:
        return Reading.FAILS
    return Reading.MISSES if _is_in_keys(name, reader) else Reading.OTHER_VALUES


def _is_in_keys(name: str, entity: EntityDescription) -> bool:
    """Return whether another value of an attribute means another key, except the primary key."""
    places = [key for keys in entity.places.values() for key in keys]
    keys = [*places, *(each.key for each in entity.uniques.values())]
    return any(name in each.depends_on for each in keys)


def _in_keys(found: DesignChange) -> DesignChange:
    """Return the change of an attribute in keys: who reads another value looks for another key."""
    reads = [
        Reading.MISSES if each is Reading.OTHER_VALUES else each
        for each in (found.new_reads, found.old_reads)
    ]
    return replace(found, reads=(reads[0], reads[1]))


def _attribute(
    old: AttributeDescription, new: AttributeDescription
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the kinds of the changes of an attribute, each with its texts."""
    if old.role != new.role:
        yield "role-changed", {"before": old.role or "none", "after": new.role or "none"}
    if (old.type, old.stored) != (new.type, new.stored):
        yield _retyped(old, new)
    for kind, texts in (
        ("choice-added", {"before": "", "after": _listed(new.choices, old.choices)}),
        ("choice-removed", {"before": _listed(old.choices, new.choices), "after": ""}),
    ):
        if old.choices and new.choices and any(texts.values()):
            yield kind, texts
    if old.is_required != new.is_required:
        yield f"attribute-made-{'required' if new.is_required else 'optional'}", {}
    elif old.role == new.role and (old.default, old.computes_default) != (
        new.default,
        new.computes_default,
    ):
        yield "default-changed", {"before": _show_default(old), "after": _show_default(new)}


def _retyped(old: AttributeDescription, new: AttributeDescription) -> tuple[str, dict[str, Any]]:
    texts: dict[str, Any] = {"before": old.type, "after": new.type}
    if not _reads_all(new, old):
        return ("attribute-narrowed" if _reads_all(old, new) else "attribute-retyped"), texts
    if _reads_all(old, new):
        texts["reads"] = (Reading.COMPLETE, Reading.COMPLETE)
    return "attribute-widened", texts


def _reads_all(one: AttributeDescription, other: AttributeDescription) -> bool:
    """Return whether one type reads every value of another one, as a value stored alike."""
    if one.type == "Any":
        return True
    if one.stored not in ("", other.stored):
        return False
    return all(
        any(read == written or (written, read) in _WIDER for read in _members(one.type))
        for written in _members(other.type)
    )


def _members(text: str) -> list[str]:
    """Return the members of a union of simple types; else the whole type."""
    return [text] if any(bracket in text for bracket in "[{") else text.split(" | ")


def _listed(choices: tuple[str, ...], others: tuple[str, ...]) -> str:
    return ", ".join(each for each in choices if each not in others)


def _show_default(attribute: AttributeDescription) -> str:
    if attribute.computes_default:
        return "computed"
    return "none" if attribute.default is None else str(next(iter(attribute.default.values())))


# -- keys ------------------------------------------------------------------------------------------


def _primary(
    table: str, entity: str, old: KeyDescription, new: KeyDescription
) -> Iterator[DesignChange]:
    if old.templates != new.templates:  # a primary key has no condition
        kind = f"primary-{_key_difference(old, new)}-changed"
        yield change(kind, table, entity, before=show_key(old), after=show_key(new))


def _key_difference(old: KeyDescription, new: KeyDescription) -> str:
    """Return in what two keys differ: key, format, delimiter, shards or condition."""
    if old.templates == new.templates:
        return "condition"
    pairs = list(zip(old.templates, new.templates, strict=False))
    if len(old.templates) != len(new.templates) or any(
        [part.attribute for part in before.parts] != [part.attribute for part in after.parts]
        or (before.name, before.type) != (after.name, after.type)
        for before, after in pairs
    ):
        return "key"
    if any(
        (before.delimiter, before.escapes) != (after.delimiter, after.escapes)
        for before, after in pairs
    ):
        return "delimiter"
    if any(_literals(before) != _literals(after) for before, after in pairs):
        return "key"
    changed = [
        (one.format, other.format)
        for before, after in pairs
        for one, other in zip(before.parts, after.parts, strict=True)
        if one.format != other.format
    ]
    is_sharded = all(text.startswith("shard(") for each in changed for text in each)
    return "shards" if is_sharded else "format"


def _literals(template: Any) -> list[str | None]:
    """Return the pieces of a template without its values."""
    return [each if isinstance(each, str) else None for each in template.pieces]


def _places(
    table: str, entity: str, old: EntityDescription, new: EntityDescription, type_attribute: str
) -> Iterator[DesignChange]:
    for index, before, after in _pairs(old.places, new.places):
        texts: dict[str, Any] = {
            "before": show_places(before or ()),
            "after": show_places(after or ()),
        }
        if before is None and after is not None:
            is_stored = _is_stored(after, old, new, type_attribute)
            kind = "natural-place-added" if is_stored else "place-added"
            yield change(kind, table, entity, index, **texts)
        elif before is not None and after is None:
            is_stored = _is_stored(before, new, old, type_attribute)
            kind = "natural-place-removed" if is_stored else "place-removed"
            yield change(kind, table, entity, index, **texts)
        elif before != after and before is not None and after is not None:
            single = len(before) == len(after) == 1
            part = _key_difference(before[0], after[0]) if single else "key"
            yield change(f"index-{part}-changed", table, entity, index, **texts)


def _is_stored(
    keys: tuple[KeyDescription, ...],
    writer: EntityDescription,
    reader: EntityDescription,
    type_attribute: str,
) -> bool:
    """Return whether items have these keys of a reader although their writer does not know them.

    That is so for attributes that all items have, or whose absence means nothing, for the type, and
    for the primary key.
    """
    primary = {each.name: each for each in writer.key.templates}
    return all(
        template.name == type_attribute
        or template == primary.get(template.name)
        or (template.is_natural and _have_alike(template.name, writer, reader))
        for key in keys
        for template in key.templates
    )


def _have_alike(name: str, one: EntityDescription, other: EntityDescription) -> bool:
    first, second = one.attributes.get(name), other.attributes.get(name)
    if first is None or second is None or first.stored != second.stored:
        return False
    return all(
        each.is_required or (each.default is None and not each.computes_default)
        for each in (first, second)
    )


def _uniques(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    added = {name: new.uniques[name] for name in sorted(new.uniques) if name not in old.uniques}
    removed = {name: old.uniques[name] for name in sorted(old.uniques) if name not in new.uniques}
    for name, unique in list(added.items()):
        former = next((each for each, other in removed.items() if other == unique), None)
        if former is not None:  # the type of sentinels is not read: their key recognizes them
            yield change("unique-renamed", table, entity, name, before=former, after=name)
            del added[name], removed[former]
    for name, unique in added.items():
        yield change("unique-added", table, entity, name, after=show_key(unique.key))
    for name, unique in removed.items():
        yield change("unique-removed", table, entity, name, before=show_key(unique.key))
    for name, before, after in _pairs(old.uniques, new.uniques):
        if before is None or after is None or before == after:
            continue
        if before.key != after.key:
            texts = {"before": show_key(before.key), "after": show_key(after.key)}
            yield change("unique-changed", table, entity, name, **texts)
        else:
            texts = {"before": ", ".join(before.keeps), "after": ", ".join(after.keeps)}
            yield change("unique-contents-changed", table, entity, name, **texts)


def _histories(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    for attribute, before, after in _pairs(old.histories, new.histories):
        if before is None:
            yield change("history-added", table, entity, attribute)
        elif after is None:
            yield change("history-removed", table, entity, attribute)
        elif before != after:
            yield change("history-changed", table, entity, attribute)


def _pairs(old: Mapping[str, D], new: Mapping[str, D]) -> Iterator[tuple[str, D | None, D | None]]:
    """Yield the parts of two versions in the order of their names; None for a missing one."""
    for name in sorted({*old, *new}):
        yield name, old.get(name), new.get(name)
