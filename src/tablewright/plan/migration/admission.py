"""Admission: which programs may use a table, before, during and after a migration, and how.

    the program declares      it may use the table
    $design                   unless it cannot run together with $target; until `await-programs`
    $target                   if its changes only need to be deployed, or have guards of their own;
                              in transition, if `fill=` gives stored items what they lack, or after
                              `await-programs`, when no program of the old version runs any more
    $previous                 if it can run together with $design; until it is completed
    what a rollback removes   until `await-programs`
    a version that was ended  never: its items were migrated, and that was completed
    anything else             as $target before `await-programs`

A program that is connected to a managed table reads the record again before a request, at most
every `RECHECK_SECONDS`, and raises DesignMismatch when it is no longer admitted. An executor
records first what it will do, then waits `PROGRAM_SECONDS`, and only then changes what such
programs use. So no program of a version that is not admitted reads or writes meanwhile, whether it
was connected before or not; both sides measure a duration, and no two clocks are compared. (F1's
schema leases work in the same way.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_changes import DesignChange, Need, differences
from tablewright.design_description import DesignDescription, TableDesign
from tablewright.errors import AccessDeniedException, DesignMismatch
from tablewright.mapping.table import TableMap
from tablewright.plan.description import describe_entities
from tablewright.plan.migration.moves import FormerKey, find_moves, has_known_moves
from tablewright.plan.migration.renames import TypePair, renames_in
from tablewright.plan.migration.revision import (
    Revision,
    fingerprint,
    record_request,
    revision_in,
)
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.migration.spellings import find_spellings
from tablewright.plan.migration.transition import Transition, send_in_transition
from tablewright.plan.plan import AnyRequest, Context, Plan, Steps
from tablewright.plan.relocation.place import refuse_moved
from tablewright.plan.writes.effect import unique_names

#: How often a connected program reads the record again, in seconds.
RECHECK_SECONDS = 5.0
#: What programs can do for each item when they use it.
_ITEM_BY_ITEM = (Need.NOTHING, Need.REWRITE, Need.BACKFILL)


class Admission(Struct, frozen=True):
    """How a program may use a table."""

    #: While items are in the form of another version.
    transition: Transition | None = None
    #: Indexes in which stored items may have keys of another version, each with the type of items.
    places: frozenset[tuple[str, str]] = frozenset()
    #: Unique values whose sentinels may contain values of another version: the type of the
    #: sentinels, and the type of the items.
    uniques: frozenset[tuple[str, str]] = frozenset()
    #: What stored items may not be prepared for.
    unprepared: tuple[DesignChange, ...] = ()


_AS_DECLARED = Admission()


# -- versions --------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _entities(table: TableMap, count: int) -> Any:
    return describe_entities(table)


def declared_entities(table: TableMap) -> Any:
    """Return the descriptions of the entities of a table, computed once."""
    return _entities(table, len(table.entities))


def item_changes(old: TableDesign, new: TableDesign, name: str) -> list[DesignChange]:
    """Return the changes between two versions that concern items; `name` is that of the table.

    The structure of a table is compared with the table itself.
    """
    same = replace(new, keys=old.keys, indexes=old.indexes, ttl=old.ttl, stream=old.stream)
    pair = (DesignDescription({name: each}) for each in (old, same))
    return differences(*pair)


def declared_version(table: TableMap, revision: Revision) -> TableDesign:
    """Return the declared version of a managed table, for a comparison of items."""
    return replace(
        revision.design,
        type_attribute=table.type_attribute or "",
        type_form=table.type_form,
        entities=declared_entities(table),
    )


# -- which programs run when -----------------------------------------------------------------------


def _runs_together(change: DesignChange) -> bool:
    """Return whether programs of the old version may run during a migration and after it.

    What they write after an item was rewritten stays in the old form, which no one reads.
    """
    return change.runs_together and change.need is not Need.REWRITE


def runs_before(
    change: DesignChange,
    table: TableMap,
    moves: Mapping[TypePair, FormerKey] = MappingProxyType({}),
) -> bool:
    """Return whether programs of the new version may run beside those of the old one.

    They may if `fill=` gives items of the old version what the new one needs, and the old one can
    read what the new one writes; and if they can write the former primary keys.
    """
    if change.is_deployable or has_known_moves(change, moves):
        return True
    is_filled = any(
        attribute.fill is not None
        for entity in table.entities
        for attribute in entity.attributes.values()
        if (entity.type_name, attribute.stored) == (change.entity, change.part)
    )
    return change.need is Need.REWRITE and change.is_read_by_old and is_filled


def waits_for_items(
    changes: Iterable[DesignChange], moves: Mapping[TypePair, FormerKey]
) -> list[DesignChange]:
    """Return the changes with which programs of the new version wait until items are rewritten.

    They need not if it can be seen in each item whether it has the new form, and an item that moves
    can be found under its former key. The sentinels of a unique value with other keys must all
    exist before programs rely on them.
    """
    return [
        each
        for each in changes
        if not each.is_deployable
        and each.need not in _ITEM_BY_ITEM
        and not has_known_moves(each, moves)
    ]


def ending_changes(name: str, old: TableDesign, new: TableDesign) -> list[DesignChange]:
    """Return the changes that programs of the old version cannot run together with."""
    return [each for each in item_changes(old, new, name) if not _runs_together(each)]


def completing_ends_programs(name: str, old: TableDesign, new: TableDesign) -> bool:
    """Return whether programs of the old version may run until a migration is completed."""
    is_refused = any(
        not each.is_deployable
        or (each.kind.name == "natural-place-added" and each.part not in new.indexes)
        for each in item_changes(new, old, name)
    )
    return is_refused and not ending_changes(name, old, new)


def admit(table: TableMap, name: str, revision: Revision) -> Admission:
    """Return how a program may use a table; raise DesignMismatch if it may not."""
    refuse_moved(name, revision.move, DesignMismatch)
    declared = declared_version(table, revision)
    changes = item_changes(revision.design, declared, name)
    target, previous, state = revision.target, revision.previous, revision.state
    command = None if state is None or not state.stops_programs else state.command
    if command == "rollback":
        kept = revision.design if previous is None else previous
        removed = target if previous is None else revision.design
        if removed is not None and not item_changes(removed, declared, name):
            _refuse(
                name,
                item_changes(kept, removed, name),
                "is being migrated back to the version of the design before that of this program",
                "Deploy that version; `tablewright migrate status DESIGN TARGET` shows how far the "
                "rollback is",
            )
            return _AS_DECLARED
    if target is not None and (command is not None or (state is not None and state.is_mixed)):
        _refuse(
            name,
            ending_changes(name, declared, target),
            "is being migrated to a version of the design that this program cannot run together "
            "with",
            "Deploy the new version; `tablewright migrate status DESIGN TARGET` shows how far the "
            "migration is",
        )
    if not changes:
        return _until_completed(table, name, previous, declared)
    if previous is not None and not item_changes(previous, declared, name):
        ended = ending_changes(name, previous, revision.design)
        if command == "complete" and state is not None and state.ends_programs:
            ended = item_changes(previous, revision.design, name)
        _refuse(
            name,
            ended,
            "was migrated from the version of the design that this program declares to a version "
            "that it cannot run together with",
            "Deploy the new version, or go back: tablewright migrate rollback DESIGN TARGET",
        )
        return _AS_DECLARED
    if fingerprint(declared) in revision.ended:
        _refuse(
            name,
            item_changes(declared, revision.design, name),
            "was migrated from the version of the design that this program declares to a later "
            "one, and that was completed",
            "Deploy the later version",
        )
    moves = find_moves(table, revision.design, declared, renames_in(changes))
    refused = [each for each in changes if not runs_before(each, table, moves)]
    writes_former = True
    if target is not None and not item_changes(target, declared, name):
        waiting = waits_for_items(changes, moves)
        if state is not None and state.command == "apply" and state.has_stopped_programs:
            refused, writes_former = waiting, False
        _refuse(
            name,
            refused,
            "is being migrated to the version of the design that this program declares, and is not "
            "ready yet",
            "Wait until the step `await-programs` is done: tablewright migrate status DESIGN TARGET"
            if not waiting
            else "Wait until the migration has ended: tablewright migrate status DESIGN TARGET",
        )
    else:
        _refuse(
            name,
            refused,
            "is not prepared for the version of the design that this program declares",
            "See what the change needs, and carry it out: tablewright migrate plan DESIGN TARGET",
        )
    found = _in_transition(table, name, revision.design, declared, changes)
    if found.transition is None:
        return found
    return replace(found, transition=replace(found.transition, writes_former=writes_former))


def _until_completed(
    table: TableMap, name: str, previous: TableDesign | None, declared: TableDesign
) -> Admission:
    """Return how a program uses items that are prepared for it, until the migration is completed.

    If it removes an attribute and its former name stays, `complete` would take that for the value.
    So it drops former names of optional attributes, as during the migration.
    """
    changes = [] if previous is None else item_changes(previous, declared, name)
    renamed = {
        (each.entity, each.part) for each in changes if each.kind.name == "attribute-renamed"
    }
    if previous is None or not any(
        attribute.may_be_absent
        for entity in table.entities
        for attribute in entity.attributes.values()
        if (entity.type_name, attribute.stored) in renamed
    ):
        return _AS_DECLARED
    return Admission(_transition(table, name, previous, declared, changes, is_prepared=True))


def _transition(
    table: TableMap,
    name: str,
    stored: TableDesign,
    declared: TableDesign,
    changes: Sequence[DesignChange],
    *,
    is_prepared: bool = False,
) -> Transition:
    rewriter = Rewriter(table, stored, declared, renames_in(changes), keeps_former=True)
    return Transition(table, name, rewriter, is_prepared=is_prepared)


def _in_transition(
    table: TableMap,
    name: str,
    stored: TableDesign,
    declared: TableDesign,
    changes: Sequence[DesignChange],
) -> Admission:
    """Return how a program uses items of which some are in the form of the version before."""
    unprepared = tuple(each for each in changes if each.need is not Need.NOTHING)
    if all(each.is_deployable for each in changes):
        return Admission(unprepared=unprepared)
    renames = renames_in(changes)
    places = {(each.part, each.entity) for each in changes if each.need is Need.BACKFILL}
    converted = {(each.entity, each.part) for each in changes if each.need is Need.REWRITE}
    uniques = {
        (unique.type_name, entity.type_name)
        for entity in table.entities
        for unique in entity.uniques
        for each in unique_names(unique)
        if (entity.type_name, entity.attributes[each].stored) in converted
        and entity.attributes[each].stored not in dict(renames.attributes_of(entity.type_name))
    }
    spellings = find_spellings(table, stored, declared, renames, places)
    transition = replace(
        _transition(table, name, stored, declared, changes),
        spellings={
            index: [each for (at, _), found in spellings.items() if at == index for each in found]
            for index, _ in spellings
        },
    )
    return Admission(
        transition, frozenset(places - spellings.keys()), frozenset(uniques), unprepared
    )


def _refuse(name: str, changes: Sequence[DesignChange], problem: str, advice: str) -> None:
    if changes:
        listed = "\n  ".join(map(str, changes))
        raise DesignMismatch(f"the table {name!r} {problem}:\n  {listed}\n{advice}")


# -- connected programs ----------------------------------------------------------------------------


class TableWatch:
    """What a connected program knows about the record of one table."""

    def __init__(
        self, table: TableMap, name: str, revision: Revision, now: Callable[[], float]
    ) -> None:
        self.table = table
        self.name = name
        admission = admit(table, name, revision)
        self.transition = admission.transition
        #: What this program knows that items are not prepared for: it does not rely on that.
        self.unprepared = admission.unprepared
        #: When the record is read again; not at all if the role of this program may not read it.
        self.due_at = now() + RECHECK_SECONDS

    def check(self, now: Callable[[], float]) -> Steps[None]:
        """Read the record again; raise DesignMismatch if this program is no longer admitted."""
        asked_at = now()
        try:
            revision = revision_in((yield record_request(self.table, self.name)), self.name)
        except AccessDeniedException:
            self.due_at = inf
            return
        if revision is not None:
            self._admit(revision)
        self.due_at = asked_at + RECHECK_SECONDS

    def _admit(self, revision: Revision) -> None:
        admission = admit(self.table, self.name, revision)
        _refuse(
            self.name,
            [each for each in admission.unprepared if each not in self.unprepared],
            "was migrated back from the version of the design that this program declares, after "
            "the program connected",
            "Restart the program, or deploy the version before it",
        )
        self.transition, self.unprepared = admission.transition, admission.unprepared


class ProgramWatch:
    """The watch of a database: it asks now and then whether the program is still admitted."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._tables: list[TableWatch] = []

    def add(self, table: TableMap, name: str, revision: Revision) -> None:
        """Watch a table; `revision` is what it records now."""
        self._tables.append(TableWatch(table, name, revision, self._now))

    def rely_on(self, table: TableMap) -> None:
        """Note that the program has found out that the items of a table are prepared for it."""
        for each in self._tables:
            if each.table is table:
                each.unprepared = ()

    def is_needed(self) -> bool:
        now = self._now()
        return any(each.transition is not None or each.due_at <= now for each in self._tables)

    def around(self, request: AnyRequest) -> Plan[bytes]:
        return _Watched(request, self)

    def check(self) -> Steps[None]:
        """Read the records that are due."""
        for each in self._tables:
            if each.due_at <= self._now():
                yield from each.check(self._now)

    @property
    def transitions(self) -> dict[str, Transition]:
        found = (each.transition for each in self._tables)
        return {each.name: each for each in found if each is not None}


class _Watched(Plan[bytes]):
    """A request of a program, after its admission was checked; its result is the response."""

    def __init__(self, request: AnyRequest, watch: ProgramWatch) -> None:
        self._request = request
        self._watch = watch

    def _steps(self, context: Context) -> Steps[bytes]:
        yield from self._watch.check()
        transitions = self._watch.transitions
        if not transitions:
            return (yield self._request)
        return (yield from send_in_transition(self._request, transitions, context))
