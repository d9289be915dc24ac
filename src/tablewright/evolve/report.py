"""Report: all changes from one version of a design to another, each with what it costs.

    compare        the changes from one version to another
    assess_plan    the changes and the steps of a migration that is planned

A live table may have an index record, which describes its keys as texts. They are compared with
those of the design as a whole and never parsed, so a key that differs is a key of other parts, also
if only a format, the delimiter or the condition differs: all of these need the same.
`plan/backfill/index_record.py` says what a record contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from tablewright.cost import load_prices
from tablewright.design_changes import KINDS, DesignChange, Need, Reading, differences
from tablewright.design_description import (
    DesignDescription,
    EntityDescription,
    show_key,
    show_places,
)
from tablewright.evolve.estimate import (
    DEFAULT_ITEMS,
    DEFAULT_SIZE,
    ChangeCost,
    TableLoad,
    Workload,
    estimate,
    estimate_step,
)
from tablewright.evolve.versions import DesignVersion
from tablewright.plan.backfill.index_record import IndexRecord
from tablewright.plan.migration.admission import runs_before
from tablewright.plan.migration.migrate import MigrationPlan
from tablewright.plan.migration.moves import find_moves
from tablewright.plan.migration.renames import renames_in
from tablewright.plan.migration.steps import MigrationStep

#: The write units in a second, if no limit is given.
DEFAULT_RATE = 1000.0
#: From the least to the most.
_NEEDS = list(Need)


class Coexistence(StrEnum):
    """Whether old and new programs can run at the same time, from the best to the worst."""

    YES = "yes"
    #: The new version cannot start before the table is updated; nothing else goes wrong.
    AFTER = "after the table update"
    #: The old version cannot run any more after the table is updated.
    BEFORE = "before the table update"
    #: A migration lets both run until then: each item is read as it is, or refused one by one.
    UNTIL_AWAIT = "until the step await-programs of a migration"
    NO = "no"


class AssessedChange(Struct, frozen=True):
    """A change with what follows from it."""

    change: DesignChange
    cost: ChangeCost
    #: Whether the new version may run before its migration (`admission.runs_before`); False if
    #: only its description is known.
    runs_before: bool = False

    @property
    def together(self) -> Coexistence:
        change = self.change
        if change.runs_together:
            return Coexistence.YES
        is_update = change.need in (Need.TABLE_UPDATE, Need.NOTHING)
        if is_update and change.old_reads < Reading.MISSES and not change.kind.breaks:
            return Coexistence.AFTER
        if change.need is Need.TABLE_UPDATE and change.new_reads < Reading.MISSES:
            return Coexistence.BEFORE
        if self.runs_before and (change.is_read_by_old or change.need is Need.MOVES):
            return Coexistence.UNTIL_AWAIT
        return Coexistence.NO

    @property
    def is_free(self) -> bool:
        """Whether it needs nothing, and old and new programs can run together."""
        return self.change.need is Need.NOTHING and self.change.runs_together


class DesignDiff(Struct, frozen=True):
    """The changes from one version of a design to another."""

    old: DesignVersion
    new: DesignVersion
    changes: tuple[AssessedChange, ...]
    workload: Workload

    @property
    def is_drift(self) -> bool:
        """Whether one side is a live table, and the other one says how it should be."""
        return self.old.is_live != self.new.is_live

    @property
    def is_free(self) -> bool:
        return all(each.is_free for each in self.changes)

    @property
    def largest_need(self) -> Need:
        return max((each.change.need for each in self.changes), key=_NEEDS.index, default=_NEEDS[0])

    @property
    def together(self) -> Coexistence:
        order = list(Coexistence)
        return max((each.together for each in self.changes), key=order.index, default=order[0])

    @property
    def cost(self) -> ChangeCost:
        """What all changes cost, each done on its own."""
        return sum((each.cost for each in self.changes), ChangeCost())


def compare(old: DesignVersion, new: DesignVersion, workload: Workload) -> DesignDiff:
    """Return the changes from one version to another, by table, entity and part.

    Raise UnclassifiedChange if the versions differ in a way that has no kind.
    """
    old, new = old.beside(new), new.beside(old)
    found = [*differences(old.description, new.description), *_recorded(old, new)]
    found.sort(key=lambda each: (each.table, each.entity))
    return DesignDiff(
        old,
        new,
        tuple(
            AssessedChange(
                each,
                estimate(each, old.description, new.description, workload),
                each.table in new.declared and _runs_before(each, old, new),
            )
            for each in found
        ),
        workload,
    )


def _runs_before(change: DesignChange, old: DesignVersion, new: DesignVersion) -> bool:
    """Return whether the declared new version may run before its migration."""
    table = new.declared[change.table]
    before, after = (each.description.tables.get(change.table) for each in (old, new))
    if change.need is not Need.MOVES or before is None or after is None:
        return runs_before(change, table)
    renames = renames_in(differences(old.description, new.description))
    return runs_before(change, table, find_moves(table, before, after, renames))


def _recorded(old: DesignVersion, new: DesignVersion) -> Iterator[DesignChange]:
    """Yield the differences between the keys of a design and those in a live table's record."""
    for live, other in ((old, new), (new, old)):
        for name, table in live.live.items():
            declared = other.description.tables.get(name)
            if table.record is None or declared is None or declared.entities is None:
                continue
            yield from recorded_changes(name, table.record, declared.entities, is_new=live is new)


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


class AssessedStep(Struct, frozen=True):
    """A step with what it costs at most."""

    step: MigrationStep
    cost: ChangeCost


class AssessedPlan(Struct, frozen=True):
    """The changes and the steps of a plan, each with what it costs."""

    changes: tuple[AssessedChange, ...]
    steps: tuple[AssessedStep, ...]
    workload: Workload

    @property
    def total(self) -> ChangeCost:
        """What all steps cost at most."""
        return sum((each.cost for each in self.steps), ChangeCost())

    @property
    def currency(self) -> str:
        return self.workload.prices.currency


def assess_plan(plan: MigrationPlan, rate: float | None = None) -> AssessedPlan:
    """Return what a plan costs for the items that the table reports.

    `rate` is the number of write units in a second.
    """
    items = DEFAULT_ITEMS if plan.items is None else plan.items
    load = TableLoad(items, plan.size / plan.items if plan.items else DEFAULT_SIZE)
    workload = Workload(load_prices(), rate or DEFAULT_RATE, {plan.table: load})
    old, new = (DesignDescription({plan.table: each}) for each in (plan.old, plan.new))
    changes = [
        AssessedChange(each, estimate(each, old, new, workload), each in plan.runs_before)
        for each in plan.changes
    ]
    steps = [
        AssessedStep(
            each, estimate_step(each, plan.changes, plan.old, plan.new, workload, plan.table)
        )
        for each in plan.steps
    ]
    return AssessedPlan(tuple(changes), tuple(steps), workload)
