"""Report: all changes from one version of a design to another, each with what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from tablewright.design_changes import DesignChange, Need, Reading, differences
from tablewright.evolve.estimate import ChangeCost, Workload, estimate
from tablewright.evolve.recorded_keys import recorded_changes
from tablewright.evolve.versions import DesignVersion
from tablewright.plan.migration.admission import runs_before
from tablewright.plan.migration.moves import find_moves
from tablewright.plan.migration.renames import renames_in

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
