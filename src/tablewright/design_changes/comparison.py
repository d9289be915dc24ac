"""Comparison: from two descriptions of a design to the changes between them.

Invariant: two descriptions that differ give at least one change, and so does each pair of their
parts; only `renamed_from` makes none. A pair of parts that differ in a way that no function here
knows raises UnclassifiedChange.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tablewright.design_changes.attribute_changes import compare_attributes
from tablewright.design_changes.change import DesignChange, change, require_changes
from tablewright.design_changes.key_changes import (
    compare_counters,
    compare_histories,
    compare_places,
    compare_primary,
    compare_uniques,
)
from tablewright.design_changes.kinds import Reading
from tablewright.design_changes.pairing import (
    FormerTypes,
    Names,
    add_equal_keys,
    find_former_types,
    find_renames,
    pair_parts,
    variants_of,
    with_new_children,
    with_new_events,
    with_new_names,
)
from tablewright.design_changes.visibility import Reader, with_unknown_items
from tablewright.design_description import (
    DesignDescription,
    EntityDescription,
    IndexDesign,
    TableDesign,
)
from tablewright.table_changes import describe


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
        found += _entities(name, old, new, common)
    return found


def _structure(name: str, old: TableDesign, new: TableDesign) -> Iterator[DesignChange]:
    if old.keys != new.keys:
        texts = {"before": describe(old.keys.schema), "after": describe(new.keys.schema)}
        yield change("table-key-changed", name, **texts)
    for index, before, after in pair_parts(old.indexes, new.indexes):
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
        has_variants = bool(variants_of(old.entities) or variants_of(new.entities))
        reading = Reading.FAILS if has_variants else Reading.COMPLETE
        texts = {"before": before_type, "after": after_type}
        yield change("type-attribute-changed", name, reads=(reading, reading), **texts)
    if old.tenancy != new.tenancy:
        yield change("tenancy-changed", name)


def _entities(
    table: str, one: TableDesign, other: TableDesign, type_attribute: str
) -> Iterator[DesignChange]:
    """Yield the changes of entities; the type attribute is "" if the versions share none."""
    old, new = one.entities or {}, other.entities or {}
    formers: FormerTypes = find_former_types(old, new)
    if not type_attribute:
        formers = add_equal_keys(old, new, formers)
    pairs = [
        (former, name) for name in new for former in formers.get(name, (name,)) if former in old
    ]
    attributes = {
        (former, name): find_renames(old[former].attributes, new[name].attributes)
        for former, name in pairs
    }
    parts = Counter(former for former, _ in pairs)
    renamed = {former: name for former, name in pairs if parts[former] == 1}
    for name in sorted({*old, *new}.difference(*formers.values())):
        if name not in new:
            fails = Reader(other, type_attribute).fails_for_entity(name, old[name], old)
            reads = (Reading.FAILS if fails else Reading.MISSES, Reading.COMPLETE)
            yield change("entity-removed", table, name, reads=reads)
        elif name not in old and name not in formers:
            fails = Reader(one, type_attribute).fails_for_entity(name, new[name], new)
            reads = (Reading.COMPLETE, Reading.FAILS if fails else Reading.COMPLETE)
            yield change("entity-added", table, name, reads=reads)
        for pair in (each for each in pairs if each[1] == name):
            former, is_merged = pair[0], len(formers.get(name, ())) > 1
            texts = {"before": former, "after": name}
            if parts[former] > 1:
                yield change("entity-split", table, name, **texts)
            if is_merged:
                yield change("entity-merged", table, name, **texts)
            elif parts[former] == 1 and former != name:
                yield _entity_renamed(table, name, old, new, texts, is_typed=bool(type_attribute))
            before = with_new_names(old[former], attributes[pair])
            before = with_new_events(before, renamed, attributes)
            before = with_new_children(before, attributes[pair], renamed, attributes)
            found = _entity(table, name, before, new[name], attributes[pair], type_attribute)
            for each in with_unknown_items(found, one, other, former, type_attribute):
                yield replace(each, former=former) if is_merged else each


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
    is_variant = name in variants_of(new) or texts["before"] in variants_of(old)
    reading = Reading.FAILS if is_variant else Reading.COMPLETE
    return change("entity-renamed", table, name, reads=(reading, reading), **texts)


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
    yield from compare_attributes(table, name, old, new, renamed)
    retyped = [
        change("attribute-retyped", table, name, number, before=before, after=after)
        for number, before, after in pair_parts(old.in_keys, new.in_keys)
        if before and after and before != after
    ]
    has_same_keys = (old.key, old.places) == (new.key, new.places)  # else numbers may differ
    yield from (
        require_changes(where, old.in_keys, new.in_keys, retyped) if has_same_keys else retyped
    )
    yield from require_changes(
        where, old.key, new.key, compare_primary(table, name, old.key, new.key)
    )
    yield from require_changes(
        where, old.places, new.places, compare_places(table, name, old, new, type_attribute)
    )
    yield from require_changes(
        where, old.uniques, new.uniques, compare_uniques(table, name, old, new)
    )
    yield from require_changes(
        where, old.histories, new.histories, compare_histories(table, name, old, new)
    )
    counters = list(
        require_changes(where, old.counters, new.counters, compare_counters(table, name, old, new))
    )
    # That an attribute has become a counter, or stopped to be one, is a change of the attribute.
    both = old.attributes.keys() & new.attributes.keys()
    reported = {name for name in both if old.attributes[name].role != new.attributes[name].role}
    yield from (each for each in counters if each.part not in reported)
