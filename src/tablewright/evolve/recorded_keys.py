"""Recorded keys: the keys that the index record of a table describes, compared with a design.

A record describes keys as texts. They are compared as a whole and never parsed, so a key that
differs is a key of other parts, also if only a format, the delimiter or the condition differs: all
of these need the same. `plan/backfill/index_record.py` says what a record contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from tablewright.design_changes import KINDS, DesignChange
from tablewright.design_description import EntityDescription, show_key, show_places
from tablewright.plan.backfill.index_record import IndexRecord


class RecordedKey(Struct, frozen=True):
    """A key of an entity: its name in the record, its text, and the kinds of its changes."""

    name: str
    text: str
    part: str
    changed: str
    #: If stored items may lack it; "" for the primary key, which every item has.
    added: str = ""
    removed: str = ""


def recorded_changes(
    table: str,
    record: IndexRecord,
    entities: Mapping[str, EntityDescription],
    *,
    is_new: bool = False,
) -> Iterator[DesignChange]:
    """Yield the changes from the recorded keys to those of a design.

    With `is_new`, from the design to the recorded keys. Nothing is known of an entity that the
    record does not describe, and nothing else is needed of a record that has the whole design.
    """
    if record.revision is not None:
        return
    for entity, declared in entities.items():
        if f"key {entity}" not in record.descriptions:
            continue
        for key in _keys(entity, declared):
            stored = record.descriptions.get(key.name)
            if stored is None and key.text in record.descriptions.values():
                continue  # a unique value that has another name now
            if stored is not None and stored != key.text:
                kind, before, after = key.changed, stored, key.text
            elif key.added and key.name not in record.complete:
                kind, before, after = (key.removed if is_new else key.added), "", key.text
            else:
                continue
            if is_new:
                before, after = after, before
            yield DesignChange(KINDS[kind], table, entity, key.part, before, after)


def _keys(entity: str, declared: EntityDescription) -> Iterator[RecordedKey]:
    yield RecordedKey(f"key {entity}", show_key(declared.key), "", "primary-key-changed")
    for index, places in declared.places.items():
        if any(each.is_composed for each in places):
            name, text = f"index {index} {entity}", show_places(places)
            kinds = ("index-key-changed", "place-added", "place-removed")
            yield RecordedKey(name, text, index, *kinds)
    for unique, each in declared.uniques.items():
        name, text = f"unique {unique} {entity}", show_key(each.key)
        kinds = ("unique-changed", "unique-added", "unique-removed")
        yield RecordedKey(name, text, unique, *kinds)
