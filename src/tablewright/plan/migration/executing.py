"""Executing: carry out the steps of a migration, one after the other.

Each step can be stopped after any request and is repeated or continued by the next run: the steps
of a table are idempotent, and a sweep saves its position after each page. A step that finds a
problem raises an error and leaves the migration where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_changes import DesignChange
from tablewright.design_description import TableDesign
from tablewright.errors import (
    ConditionalCheckFailedException,
    DuplicateValues,
    MigrationRefused,
    UnreadableItem,
)
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill import index_record
from tablewright.plan.backfill.reservations import Claim, Reservations, claims_of
from tablewright.plan.backfill.throttling import Pace
from tablewright.plan.migration.awaiting import (
    FIRST_DELAY,
    LONGEST_DELAY,
    awaited,
    is_reached,
)
from tablewright.plan.migration.leftovers import Leftovers
from tablewright.plan.migration.new_keys import NewKeys
from tablewright.plan.migration.orphans import delete_orphans
from tablewright.plan.migration.problems import ProblemItems
from tablewright.plan.migration.renames import Renames
from tablewright.plan.migration.revision import (
    Command,
    Executor,
    MigrationState,
    SweepPosition,
    lost_lease,
)
from tablewright.plan.migration.rewriting import ItemRewrite, Rewriter, kind_by_key
from tablewright.plan.migration.steps import MigrationStep
from tablewright.plan.migration.sweep import Compute, RateLimit, read_page, write_changes
from tablewright.plan.plan import Context, Request, Steps, Wait
from tablewright.plan.reads.several import item_identity
from tablewright.plan.writes.action import Action, Verdict
from tablewright.table_description import TableDescription, read_ttl
from tablewright.transport.tables import add_indexes, wait_until_settled
from tablewright.values import Item

#: How often `verify` reads the table before it takes old programs for still running.
VERIFY_PASSES = 3


#: After how many duplicates `check` ends.
LISTED_DUPLICATES = 1_000


class MigrationProgress(Struct, frozen=True):
    """How far a migration is."""

    table: str
    step: MigrationStep
    #: The number of the step, from 1, and how many steps there are.
    number: int
    steps: int
    #: The items that the step has read and changed; how many items the table has, if known.
    items: int = 0
    changed: int = 0
    expected: int | None = None
    #: What the step awaits from a template; "" if it awaits nothing.
    awaits: str = ""


#: Is called with the progress after each page and step.
Report: TypeAlias = Callable[[MigrationProgress], None]


class Version(Struct, frozen=True):
    """A declared version of a table: its compiled form, its description and its structure."""

    table: TableMap
    design: TableDesign
    structure: TableDescription


class Work(Struct, frozen=True):
    """What a command will do: the changes, the steps, and how items are computed."""

    command: Command
    version: Version
    changes: tuple[DesignChange, ...]
    steps: tuple[MigrationStep, ...]
    rewriter: Rewriter
    leftovers: Leftovers
    #: The version that the items are prepared for at the end, and the one before it.
    design: TableDesign
    previous: TableDesign | None
    found: TableDescription
    #: The version that programs are told the migration leads to, while it runs.
    target: TableDesign
    #: How far an earlier run is.
    state: MigrationState | None = None
    #: Whether items may have been written by programs of both versions when the command begins.
    is_mixed: bool = False
    #: The versions that no program may have any more, by their fingerprints.
    ended: frozenset[str] = frozenset()
    #: Whether the items of removed entities are deleted.
    deletes_removed: bool = False
    #: The types of items that are renamed.
    former_types: frozenset[str] = frozenset()

    def require(self, changes: Sequence[DesignChange], steps: Sequence[MigrationStep]) -> None:
        """Raise MigrationRefused unless these changes and steps were planned."""
        if (tuple(changes), tuple(steps)) != (self.changes, self.steps):
            raise MigrationRefused(
                f"the table {self.found.name!r} has changed since this plan was made, and needs "
                "other steps now. Nothing was written; make a new plan: tablewright migrate plan "
                "DESIGN TARGET"
            )


def no_work(command: Command, version: Version, found: TableDescription) -> Work:
    """Return the work of a command that is done already.

    So a command can be repeated if its last response was lost.
    """
    design, renames = version.design, Renames()
    rewriter = Rewriter(version.table, design, design, renames)
    leftovers = Leftovers(design, design, renames)
    return Work(command, version, (), (), rewriter, leftovers, design, None, found, design)


def under_way(name: str, command: str) -> MigrationRefused:
    return MigrationRefused(
        f"another command on the table {name!r} has begun and is not finished; continue it: "
        f"tablewright migrate {command}"
    )


class StepRun:
    """Carries out the steps of one run."""

    def __init__(
        self,
        work: Work,
        executor: Executor,
        context: Context,
        pace: Pace,
        limit: RateLimit,
        report: Report | None,
        *,
        by_template: bool,
        program_seconds: float | None,
    ) -> None:
        self._work = work
        self._executor = executor
        self._context = context
        self._pace = pace
        self._limit = limit
        self._progress = report
        self._by_template = by_template
        self._program_seconds = program_seconds
        self._table = work.version.table
        self.state = work.state or MigrationState(work.command, work.steps, is_mixed=work.is_mixed)
        self.changed = 0
        self.reserved = 0
        self._number = 0
        #: The sentinels of the present page with keys of the old version only, by their keys.
        self._useless: dict[bytes, Item] = {}

    def carry_out(self, step: MigrationStep, number: int) -> Steps[None]:
        """Carry out a step, and record that it is done."""
        self._number = number
        self._report(step, 0, 0)
        name, structure = self._executor.name, self._work.version.structure
        match step.name:
            case _ if self._awaits(step):
                yield from self._await(step)
            case "check":
                yield from self._check(step)
            case "await-programs" | "await-new-keys":
                yield from self._executor.wait_for_programs(self._program_seconds)
            case "create-index":
                wanted = [each for each in structure.global_indexes if each.name == step.part]
                yield from self._executor.keep_alive(add_indexes(name, wanted))
            case "enable-stream" | "disable-stream":
                view = step.part if step.name == "enable-stream" else None
                yield from self._executor.keep_alive(_set_stream(name, view))
            case "rewrite":
                yield from self._sweep(step, self._work.rewriter.change, reserves=True)
            case "verify":
                yield from self._verify(step)
            case "enable-ttl" | "disable-ttl":
                enabled = step.name == "enable-ttl"
                yield from self._executor.keep_alive(_set_ttl(name, step.part, enabled=enabled))
            case "clean":
                # Programs of the old version may have written since; reserve their values, too.
                is_complete = self._work.command == "complete"
                yield from self._sweep(step, self._cleaned, reserves=is_complete)
            case "delete-index":
                yield from self._executor.keep_alive(_delete_index(name, step.part))
            case "switch" | "finish":
                yield from self._record_indexes()
                work = self._work
                yield from self._executor.switch(work.design, work.previous, work.ended)
                return  # the state ends with it
        self.state = replace(self.state, done=number, position=None)
        yield from self._executor.save(self.state)

    def _awaits(self, step: MigrationStep) -> str:
        """Return what a step awaits from a template; "" if this executor does it."""
        return awaited(step) if self._by_template else ""

    def _await(self, step: MigrationStep) -> Steps[None]:
        """Wait until a template has done a step; record meanwhile that this executor is alive."""
        delay = FIRST_DELAY
        while not (yield from is_reached(step, self._executor.name)):
            yield Wait(delay)
            delay = min(LONGEST_DELAY, delay * 1.5)
            yield from self._executor.save(self.state)

    def _record_indexes(self) -> Steps[None]:
        """Record in the index record that all items have all keys."""
        executor, former = self._executor, self._work.former_types
        try:
            yield from index_record.record_keys(
                self._table, executor.name, former, executor.fence_values
            )
        except ConditionalCheckFailedException:
            raise lost_lease(executor.name) from None

    # -- items -----------------------------------------------------------------------------------

    def _cleaned(self, item: Item) -> ItemRewrite | None:
        """Return the removal of what only the other version needs.

        An item that a program of the old version has written since gets its new attributes first,
        in the same write.
        """
        leftovers, rewriter = self._work.leftovers, self._work.rewriter
        if (
            self._is_removed(item)
            or self._useless.get(item_identity(self._table.key(item))) == item
        ):
            return ItemRewrite(item, {}, sorted({*item} - {*self._table.attributes}))
        entity, made = rewriter.entity_of(item), rewriter.change(item)
        names = leftovers.attributes_of(entity, item)
        if not names:
            return made
        made = made or ItemRewrite(item, {}, [])
        watched = sorted({*made.watched, *names})
        return replace(made, values=made.values | dict.fromkeys(names), watched=watched)

    def _is_removed(self, item: Item) -> bool:
        """Return whether an item is of a removed entity whose items are deleted."""
        if not self._work.deletes_removed:
            return False
        is_known = kind_by_key(self._table, item).entity is not None
        return self._work.leftovers.is_of_removed_entity(item, is_known=is_known)

    def _delete_orphans(self, step: MigrationStep, items: Iterable[Item]) -> Steps[int]:
        """Delete the sentinels of a page whose items do not have the value; return how many."""
        leftovers, table = self._work.leftovers, self._table
        matches = (
            leftovers.is_former_sentinel if step.name == "clean" else leftovers.is_new_sentinel
        )
        found = list(filter(matches, items))
        if step.name == "clean":  # `verify` keeps what the old version reads
            self._useless = {
                item_identity(table.key(item)): item
                for item in found
                if (kind := kind_by_key(table, item)).unique is None
                and (table.type_attribute is not None or kind.entity is None)
            }
        return (
            yield from delete_orphans(
                table, found, self._work.rewriter, self._is_removed, self._fence(), self._context
            )
        )

    def _check(self, step: MigrationStep) -> Steps[None]:
        """Raise MigrationRefused or DuplicateValues for items that cannot be carried over."""
        problems = ProblemItems(self._table)
        items = 0
        new_keys = NewKeys(self._table, self._executor.name, self._work.rewriter)
        reservations = Reservations(
            step.name, self._pace, dry_run=True, rewrite=self._rewrite_claimed
        )
        last: Item | None = None
        while True:
            page = yield from read_page(self._context, self._table, last)
            claims: list[Claim] = []
            for item in page.items:
                try:
                    found = self._work.rewriter.rewrite(item)
                    if found is not None:
                        claims += claims_of(*found)
                        new_keys.add(item, *found)
                except UnreadableItem as error:
                    problems.add(error)
            for each in (yield from new_keys.find_taken(self._context)):
                problems.add(each)
            yield from self._reserve(reservations, claims)
            items += page.scanned_count
            self._report(step, items, 0)
            yield from self._executor.save(self.state)
            last = page.last_evaluated_key
            if last is None or len(reservations.duplicates) >= LISTED_DUPLICATES:
                break
        if problems:
            raise problems.refusal(self._executor.name)
        self._refuse_duplicates(reservations)

    def _refuse_duplicates(self, reservations: Reservations) -> None:
        if reservations.duplicates:
            listed = "\n  ".join(map(str, reservations.duplicates))
            if len(reservations.duplicates) >= LISTED_DUPLICATES:
                listed += "\n  there may be more: the check stopped here"
            raise DuplicateValues(
                f"items of the table {self._executor.name!r} share values that must be unique:\n"
                f"  {listed}\n"
                "Delete some of them, or change their values, and run the command again",
                tuple(reservations.duplicates),
            )

    def _verify(self, step: MigrationStep) -> Steps[None]:
        """Rewrite items until a pass finds none; raise MigrationRefused if that does not happen."""
        written = 0
        for _ in range(VERIFY_PASSES):
            before = self.changed + self.reserved
            self.state = replace(self.state, position=None)
            yield from self._sweep(step, self._work.rewriter.change, reserves=True)
            written = self.changed + self.reserved - before
            if not written:
                return
        raise MigrationRefused(
            f"programs of the old version still write to the table {self._executor.name!r}: "
            f"the last pass rewrote {written} of their items. They do not notice the migration if "
            "they connected before `migrate baseline`, or if they are not allowed to read the "
            "record of the table. Stop them, and run the command again"
        )

    def _sweep(self, step: MigrationStep, compute: Compute, *, reserves: bool) -> Steps[None]:
        """Read all items and write those that differ; reserve their unique values."""
        position = self.state.position
        last = None if position is None else position.last
        items, changed = (0, 0) if position is None else (position.items, position.changed)
        reservations = Reservations(
            step.name,
            self._pace,
            dry_run=False,
            fence=self._fence(),
            rewrite=self._rewrite_claimed,
        )
        has_uniques = any(entity.uniques for entity in self._table.entities)
        while True:
            page = yield from read_page(self._context, self._table, last)
            if step.name in ("verify", "clean"):
                self.changed += yield from self._delete_orphans(step, page.items)
            changes = [made for item in page.items if (made := compute(item)) is not None]
            written = yield from write_changes(
                self._executor, changes, compute, self._context, self._limit
            )
            self.changed += written
            changed += written
            if reserves and has_uniques:
                found = filter(None, map(self._work.rewriter.rewrite, page.items))
                claims = [claim for each in found for claim in claims_of(*each)]
                self.reserved += yield from self._reserve(reservations, claims)
                self._refuse_duplicates(reservations)
            items += page.scanned_count
            self._report(step, items, changed)
            last = page.last_evaluated_key
            if last is None:
                return
            if reservations.can_continue:
                self.state = replace(self.state, position=SweepPosition(last, items, changed))
            yield from self._executor.save(self.state)

    def _reserve(self, reservations: Reservations, claims: Iterable[Claim]) -> Steps[int]:
        """Reserve unique values; return how many were not reserved yet.

        One transaction after the other, because each of them checks the fence.
        """
        total = 0
        for each in (yield from reservations.plans(claims, self._context)):
            reserved = reservations.add([(yield from each._steps(self._context))])
            total += reserved
            if not reservations.is_dry_run:
                yield from self._limit.spend_for_values(reserved, self._executor)
        return total

    def _rewrite_claimed(self, item: Item, _: TableMap) -> tuple[EntityMap, Item] | None:
        return self._work.rewriter.rewrite(item)

    def _fence(self) -> Action:
        """Return the check of the fence, for transactions that reserve values."""

        def refuse(_: Item | None) -> Verdict:
            raise lost_lease(self._executor.name)

        return Action("ConditionCheck", self._table, self._executor.fence_check(), refuse)

    def _report(self, step: MigrationStep, items: int, changed: int) -> None:
        if self._progress is not None:
            count = self._work.found.state.items
            self._progress(
                MigrationProgress(
                    self._executor.name,
                    step,
                    self._number,
                    len(self._work.steps),
                    items,
                    changed,
                    count,
                    self._awaits(step),
                )
            )


def _set_stream(name: str, view: str | None) -> Steps[None]:
    """Enable or disable a stream, unless that is done already."""
    found = yield from wait_until_settled(name)
    if found.stream != view:
        setting: dict[str, Any] = {"StreamEnabled": view is not None}
        if view is not None:
            setting["StreamViewType"] = view
        yield Request("UpdateTable", {"TableName": name, "StreamSpecification": setting})
        yield from wait_until_settled(name)


def _set_ttl(name: str, attribute: str, *, enabled: bool) -> Steps[None]:
    """Enable or disable TTL by an attribute, unless that is done already."""
    answer = yield Request("DescribeTimeToLive", {"TableName": name})
    if (read_ttl(msgspec.json.decode(answer)) == attribute) != enabled:
        setting = {"AttributeName": attribute, "Enabled": enabled}
        body = {"TableName": name, "TimeToLiveSpecification": setting}
        yield Request("UpdateTimeToLive", body)


def _delete_index(name: str, index: str) -> Steps[None]:
    """Delete an index, unless it is gone already."""
    found = yield from wait_until_settled(name)
    if index in found.index_names:
        deletion = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index}}]}
        yield Request("UpdateTable", {"TableName": name} | deletion)
        yield from wait_until_settled(name)
