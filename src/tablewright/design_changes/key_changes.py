"""The changes of the keys of an entity, in the table and in indexes, and of its histories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablewright.design_changes.attribute_changes import default_texts, has_other_default
from tablewright.design_changes.change import DesignChange, change
from tablewright.design_changes.pairing import pair_parts
from tablewright.design_description import EntityDescription, KeyDescription, show_key, show_places


def compare_primary(
    table: str, entity: str, old: KeyDescription, new: KeyDescription
) -> Iterator[DesignChange]:
    """Yield the change of a primary key."""
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


def compare_places(
    table: str, entity: str, old: EntityDescription, new: EntityDescription, type_attribute: str
) -> Iterator[DesignChange]:
    """Yield the changes of places in indexes; the type attribute is "" if there is none."""
    for index, before, after in pair_parts(old.places, new.places):
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
        elif after is not None and any(each.is_composed for each in after):
            for name in sorted({name for each in after for name in each.depends_on}):
                yield from _default_in_place(table, entity, index, name, old, new)


def _default_in_place(
    table: str,
    entity: str,
    index: str,
    name: str,
    old: EntityDescription,
    new: EntityDescription,
) -> Iterator[DesignChange]:
    """Yield the change of a place whose key or condition takes a default from an attribute."""
    before, after = old.attributes.get(name), new.attributes.get(name)
    if before is None or after is None or before.is_required or after.is_required:
        return
    if before.role == after.role and has_other_default(before, after):
        texts = default_texts(before, after)
        texts = {side: f"{name}={text}" for side, text in texts.items()}
        yield change("index-default-changed", table, entity, index, **texts)


def _is_stored(
    keys: tuple[KeyDescription, ...],
    writer: EntityDescription,
    reader: EntityDescription,
    type_attribute: str,
) -> bool:
    """Return whether items have these keys of a reader although their writer does not know them.

    That is so for attributes that all items have, or whose absence means nothing, for the type, for
    the primary key, and for keys that the writer composes for another index.
    """
    primary = {each.name: each for each in writer.key.templates}
    composed = [key for place in writer.places.values() for key in place]
    return all(
        key in composed
        or all(
            template.name == type_attribute
            or template == primary.get(template.name)
            or (template.is_natural and _have_alike(template.name, writer, reader))
            for template in key.templates
        )
        for key in keys
    )


def _have_alike(name: str, one: EntityDescription, other: EntityDescription) -> bool:
    first, second = one.attributes.get(name), other.attributes.get(name)
    if first is None or second is None or first.stored != second.stored:
        return False
    return all(
        each.is_required or (each.default is None and not each.computes_default)
        for each in (first, second)
    )


def compare_uniques(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    """Yield the changes of unique values."""
    added = {name: new.uniques[name] for name in sorted(new.uniques) if name not in old.uniques}
    removed = {name: old.uniques[name] for name in sorted(old.uniques) if name not in new.uniques}
    pairs = [
        (name, old.uniques[name], new.uniques[name])
        for name in sorted(old.uniques)
        if name in new.uniques
    ]
    for name, unique in list(added.items()):
        former = next((each for each, other in removed.items() if other.key == unique.key), None)
        if former is not None:  # the type of sentinels is not read: their key recognizes them
            yield change("unique-renamed", table, entity, name, before=former, after=name)
            pairs.append((name, removed.pop(former), added.pop(name)))
    for name, unique in added.items():
        yield change("unique-added", table, entity, name, after=show_key(unique.key))
    for name, unique in removed.items():
        yield change("unique-removed", table, entity, name, before=show_key(unique.key))
    for name, before, after in pairs:
        if before.key != after.key:
            texts = {"before": show_key(before.key), "after": show_key(after.key)}
            yield change("unique-changed", table, entity, name, **texts)
        if before.keeps != after.keeps:
            texts = {"before": ", ".join(before.keeps), "after": ", ".join(after.keeps)}
            yield change("unique-contents-changed", table, entity, name, **texts)


def compare_counters(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    """Yield the changes of counters."""
    for attribute, before, after in pair_parts(old.counters, new.counters):
        if before is None:
            yield change("counter-added", table, entity, attribute)
        elif after is None:
            yield change("counter-removed", table, entity, attribute)
        elif before != after:
            yield change("counter-changed", table, entity, attribute)


def compare_histories(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[DesignChange]:
    """Yield the changes of histories."""
    for attribute, before, after in pair_parts(old.histories, new.histories):
        if before is None:
            yield change("history-added", table, entity, attribute)
        elif after is None:
            yield change("history-removed", table, entity, attribute)
        elif before != after:
            yield change("history-changed", table, entity, attribute)
