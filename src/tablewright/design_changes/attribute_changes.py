"""The changes of the attributes of an entity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from tablewright.design_changes.change import DesignChange, change, require_changes
from tablewright.design_changes.kinds import Reading
from tablewright.design_changes.pairing import Names, pair_parts
from tablewright.design_description import AttributeDescription, EntityDescription

#: Types that read every stored value of another one as the same value.
_WIDER = frozenset(
    {("int", "Decimal"), ("timedelta", "Decimal")}
    | {(text, "str") for text in ("UUID", "KSUID", "ULID", "date", "datetime", "time")}
    | {("choice", scalar) for scalar in ("str", "int", "Decimal")}
)


def compare_attributes(
    table: str, entity: str, old: EntityDescription, new: EntityDescription, renamed: Names
) -> Iterator[DesignChange]:
    """Yield the changes of attributes; `old` has the new names of those in `renamed`."""
    former = {after: before for before, after in renamed.items()}
    for name, before, after in pair_parts(old.attributes, new.attributes):
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
        yield from require_changes(f"{table}.{entity}.{name}", plain, after, changes)


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
    uniques = reader.uniques.values()
    is_kept = any(name in each.keeps or name in each.key.attributes for each in uniques)
    if attribute.is_required or is_kept:  # the sentinel has it under the other name, too
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
    if {old.role, new.role} == {"", "counter"}:
        yield ("counter-added" if new.role else "counter-removed"), {}
    elif old.role != new.role:
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
    elif old.role == new.role and has_other_default(old, new):
        yield "default-changed", default_texts(old, new)


def has_other_default(old: AttributeDescription, new: AttributeDescription) -> bool:
    """Return whether the versions read different values from an item without the attribute."""
    return (old.default, old.computes_default) != (new.default, new.computes_default)


def default_texts(old: AttributeDescription, new: AttributeDescription) -> dict[str, Any]:
    return {"before": _show_default(old), "after": _show_default(new)}


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
