"""Comparison: from two descriptions of a design to the changes between them.

Tables are paired by name, entities by the type of their items, attributes by their stored name, or
by `renamed_from`. A rename is never guessed: without `renamed_from`, one part is removed and
another one added.

Invariant: two descriptions that differ give at least one change. A pair of parts that differ in a
way that no function here knows raises UnclassifiedChange.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from tablewright.design_changes.change import DesignChange, change
from tablewright.design_changes.kinds import Reading
from tablewright.design_description import (
    AttributeDescription,
    DesignDescription,
    EntityDescription,
    IndexDesign,
    KeyDescription,
    PartDescription,
    TableDesign,
    UniqueDescription,
    show_key,
    show_places,
)
from tablewright.errors import UnclassifiedChange
from tablewright.table_changes import describe

D = TypeVar("D")

#: Types that read every stored value of another one as the same value.
_WIDER = frozenset({("int", "Decimal"), ("date", "str"), ("UUID", "str"), ("datetime", "str")})
_STAMPS = ("created_at", "updated_at")


def differences(old: DesignDescription, new: DesignDescription) -> list[DesignChange]:
    """Return the changes from one version of a design to another, by table, entity and part."""
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
        found += _entities(name, old.entities, new.entities)
        if not found and old != new:
            _refuse(name, old, new)
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
        yield change("type-attribute-changed", name, before=before_type, after=after_type)
    if old.tenancy != new.tenancy:
        yield change("tenancy-changed", name)


# -- entities --------------------------------------------------------------------------------------


def _entities(
    table: str, old: Mapping[str, EntityDescription], new: Mapping[str, EntityDescription]
) -> Iterator[DesignChange]:
    renamed = _renamed(old, new)
    for name in sorted({*old, *new} - {*renamed.values()}):
        before = old.get(renamed.get(name, name))
        after = new.get(name)
        if before is None:
            yield change("entity-added", table, name)
        elif after is None:
            yield change("entity-removed", table, name)
        else:
            if name in renamed:
                yield change("entity-renamed", table, name, before=renamed[name], after=name)
            yield from _entity(table, name, before, after)


def _renamed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the earlier names of renamed parts, by their new names."""
    return {
        name: each.renamed_from
        for name, each in new.items()
        if name not in old and each.renamed_from in old and each.renamed_from not in new
    }


def _entity(
    table: str, name: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    renamed = _renamed(old.attributes, new.attributes)
    old = _with_new_names(old, {before: after for after, before in renamed.items()})
    found = [
        *_attributes(table, name, old, new, renamed),
        *_primary(table, name, old.key, new.key),
        *_places(table, name, old, new),
        *_uniques(table, name, old, new),
        *_histories(table, name, old, new),
    ]
    plain = replace(old, renamed_from=new.renamed_from)
    if not found and plain != _without_hints(new, plain):
        _refuse(f"{table}.{name}", old, new)
    yield from found


def _without_hints(new: EntityDescription, old: EntityDescription) -> EntityDescription:
    """Return an entity with the `renamed_from` of the old one, which stores nothing."""
    attributes = {
        name: replace(each, renamed_from=old.attributes.get(name, each).renamed_from)
        for name, each in new.attributes.items()
    }
    return replace(new, attributes=attributes)


def _with_new_names(entity: EntityDescription, names: Mapping[str, str]) -> EntityDescription:
    """Return an entity whose attributes have other names, also in its keys."""
    if not names:
        return entity

    def key(old: KeyDescription) -> KeyDescription:
        return replace(
            old,
            templates=tuple(
                replace(
                    each,
                    pieces=tuple(
                        replace(piece, attribute=names.get(piece.attribute, piece.attribute))
                        if isinstance(piece, PartDescription)
                        else piece
                        for piece in each.pieces
                    ),
                )
                for each in old.templates
            ),
        )

    def rename(name: str) -> str:
        return names.get(name, name)

    return replace(
        entity,
        attributes={rename(name): each for name, each in entity.attributes.items()},
        key=key(entity.key),
        places={name: tuple(map(key, each)) for name, each in entity.places.items()},
        uniques={
            # A sentinel has attributes by their stored names, so their names are its contents.
            name: UniqueDescription(key(each.key), each.keeps)
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


# -- attributes ------------------------------------------------------------------------------------


def _attributes(
    table: str,
    entity: str,
    old: EntityDescription,
    new: EntityDescription,
    renamed: Mapping[str, str],
) -> Iterator[DesignChange]:
    for name, before, after in _pairs(old.attributes, new.attributes):
        if name in renamed and before is not None and after is not None:
            reads = (_without(after), _without(before))
            texts = {"before": renamed[name], "after": name}
            yield change("attribute-renamed", table, entity, name, reads=reads, **texts)
        for kind, texts in _attribute(before, after):
            yield change(kind, table, entity, name, **texts)


def _without(attribute: AttributeDescription) -> Reading:
    """Return how an item is read that has an attribute under another name."""
    return Reading.FAILS if attribute.is_required else Reading.OTHER_VALUES


def _attribute(
    old: AttributeDescription | None, new: AttributeDescription | None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the kinds of the changes of an attribute, each with its texts."""
    if old is None or new is None:
        verb, attribute = ("added", new) if old is None else ("removed", old)
        assert attribute is not None
        if attribute.role == "version":
            yield f"version-{verb}", {}
        elif attribute.role in _STAMPS:
            yield f"timestamp-{verb}", {}
        else:
            yield f"{'required-' if attribute.is_required else ''}attribute-{verb}", {}
        return
    if old.role != new.role and "version" in (old.role, new.role):
        yield "role-changed", {"before": old.role or "none", "after": new.role or "none"}
        return
    if (old.type, old.stored) != (new.type, new.stored):
        kind = "attribute-widened" if (old.type, new.type) in _WIDER else "attribute-retyped"
        yield kind, {"before": old.type, "after": new.type}
    for kind, texts in (
        ("choice-added", {"before": "", "after": _listed(new.choices, old.choices)}),
        ("choice-removed", {"before": _listed(old.choices, new.choices), "after": ""}),
    ):
        if old.choices and new.choices and any(texts.values()):
            yield kind, texts
    if old.is_required != new.is_required:
        yield f"attribute-made-{'required' if new.is_required else 'optional'}", {}
    elif old.default != new.default or (old.role != new.role and not old.is_required):
        yield "default-changed", {"before": _shown(old.default), "after": _shown(new.default)}


def _listed(choices: tuple[str, ...], others: tuple[str, ...]) -> str:
    return ", ".join(each for each in choices if each not in others)


def _shown(default: Mapping[str, Any] | None) -> str:
    return "none" if default is None else str(next(iter(default.values())))


# -- keys ------------------------------------------------------------------------------------------


def _primary(
    table: str, entity: str, old: KeyDescription, new: KeyDescription
) -> Iterator[DesignChange]:
    if old != new:
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
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    for index, before, after in _pairs(old.places, new.places):
        texts = {"before": show_places(before or ()), "after": show_places(after or ())}
        if before is None and after is not None:
            is_composed = any(each.is_composed for each in after)
            kind = "place-added" if is_composed else "natural-place-added"
            yield change(kind, table, entity, index, **texts)
        elif before is not None and after is None:
            yield change("place-removed", table, entity, index, **texts)
        elif before != after and before is not None and after is not None:
            single = len(before) == len(after) == 1
            part = _key_difference(before[0], after[0]) if single else "key"
            yield change(f"index-{part}-changed", table, entity, index, **texts)


def _uniques(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    added = {name: new.uniques[name] for name in new.uniques if name not in old.uniques}
    removed = {name: old.uniques[name] for name in old.uniques if name not in new.uniques}
    for name, unique in list(added.items()):
        for former, other in removed.items():
            if unique == other:  # the type of sentinels is not read: their key recognizes them
                yield change("unique-renamed", table, entity, name, before=former, after=name)
                del added[name], removed[former]
                break
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


def _refuse(where: str, old: object, new: object) -> None:
    raise UnclassifiedChange(
        f"{where}: the two versions differ in a way that this version of Tablewright cannot "
        f"classify: {old} -> {new}"
    )
