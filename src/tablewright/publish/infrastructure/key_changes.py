"""Key changes: what stored items need because keys of a design are new or changed.

A template has the keys of tables and indexes, not what an entity writes into them. So two designs
with equal templates can differ in this: a changed template, format or `when=`, another place in an
index that exists, another unique value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from tablewright.errors import KeyDifference
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill.index_record import (
    PRIMARY_KEY,
    IndexRecord,
    complete_record,
    describe_all,
)
from tablewright.publish.infrastructure.stages import IndexChange
from tablewright.verify.design import Design

#: What the keys of each table are made of, by the names of the index record.
KeyTexts = Mapping[str, Mapping[str, str]]

_PRIMARY = "A primary key cannot be changed in place: declare another table and copy the items."
_CHANGED = (
    "Changed keys: stop all programs of the old version, run `tablewright backfill {name} TARGET`, "
    "then start the new version."
)
_ADDED = (
    "New keys and unique values: deploy the new version, wait until the old one has ended, then "
    "run `tablewright backfill {name} TARGET`."
)
_GUIDE = "See `tablewright help changes`."


class KeyChanges(Struct, frozen=True):
    """The changed keys, a line each, and what to do."""

    lines: tuple[str, ...]
    advice: str


def key_texts(design: Design) -> dict[str, dict[str, str]]:
    """Return what the keys of a design are made of."""
    return {table.__table__.name: describe_all(table.__table__) for table in design.tables}


def key_changes(
    design: Design, before: KeyTexts, created: Collection[IndexChange], *, name: str
) -> KeyChanges | None:
    """Return how the keys of a design differ from those of an earlier version; None if they do not.

    Indexes that are `created` have a step of their own; `name` is the design as the command line
    takes it.
    """
    changed, added = list[KeyDifference](), list[str]()
    for table in (each.__table__ for each in design.tables):
        if table.name in before:
            new = {each.index for each in created if each.table == table.name}
            record = complete_record(before[table.name])
            changed += record.differences(table.entities).values()

            added += _additions(table, record, new)
    if not changed and not added:
        return None
    advice = [
        *([_PRIMARY] if any(each.key == PRIMARY_KEY for each in changed) else []),
        *([_CHANGED.format(name=name)] if any(each.key != PRIMARY_KEY for each in changed) else []),
        *([_ADDED.format(name=name)] if added else []),
        _GUIDE,
    ]
    return KeyChanges((*map(str, changed), *added), " ".join(advice))


def _additions(table: TableMap, record: IndexRecord, new: Collection[str]) -> list[str]:
    """Return the places and unique values that entities with stored items did not have."""
    places = sorted(each for each in record.incomplete(table) if each[0] not in new)
    return [
        *(f"{kind}, the index {index}: stored items have no keys of it" for index, kind in places),
        *(
            f"{kind}, the unique value {unique}: stored items have not reserved theirs"
            for unique, kind in sorted(record.unreserved(table))
        ),
    ]
