"""Migrate: the plans that carry a table and its items from one version of a design to another.

    Baseline   record what the items of a table without a record are prepared for
    Apply      prepare the table and its items for the declared version
    Rollback   prepare them for the version before again; the declared version must be that one
    Complete   remove what only the version before needs

Each step can be stopped after any request, and the next run continues it. Only one executor works
at a time (`revision.acquire`). Which programs may connect meanwhile: `admission.admit`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_changes import DesignChange, differences
from tablewright.design_description import DesignDescription, TableDesign
from tablewright.errors import (
    Contention,
    DuplicateValues,
    InvalidValue,
    MigrationRefused,
    TableNotFound,
    TablewrightError,
    UnreadableItem,
)
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill import index_record
from tablewright.plan.backfill.throttling import Pace, retry_throttled
from tablewright.plan.migration.admission import (
    completing_ends_programs,
    ending_changes,
    item_changes,
    runs_before,
    waits_for_items,
)
from tablewright.plan.migration.executing import (
    Report,
    StepRun,
    Version,
    Work,
    no_work,
    under_way,
)
from tablewright.plan.migration.key_changes import refuse_unreadable_keys
from tablewright.plan.migration.leftovers import Leftovers
from tablewright.plan.migration.moves import refuse_moves
from tablewright.plan.migration.renames import refuse_renames, renames_in
from tablewright.plan.migration.revision import (
    LEASE_SECONDS,
    Executor,
    Revision,
    acquire,
    begin_revision,
    fingerprint,
    read_revision,
    require_here,
)
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.migration.steps import (
    MigrationStep,
    apply_steps,
    clean_steps,
    filled_in_place,
    refuse_other_keys,
    refuse_unsupported,
    unfilled,
    with_await,
)
from tablewright.plan.migration.sweep import RateLimit
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.table_description import TableDescription, read_ttl
from tablewright.transport.tables import USABLE, describe_table
from tablewright.transport.transport import RetriesExhausted


class MigrationReport(Struct, frozen=True):
    """What a migration has done."""

    table: str
    #: The steps that this run has carried out.
    steps: tuple[MigrationStep, ...] = ()
    #: How many items were changed, and unique values reserved.
    changed: int = 0
    reserved: int = 0


class MigrationPlan(Struct, frozen=True):
    """What a migration of a table would do."""

    table: str
    changes: tuple[DesignChange, ...]
    steps: tuple[MigrationStep, ...]
    #: The version that the items have, and the one that they will have.
    old: TableDesign
    new: TableDesign
    #: How many items the table has, as far as that is known, and their bytes.
    items: int | None = None
    size: int = 0
    #: The attributes whose stored values a rollback or `complete` removes: `Order.note`.
    removes: tuple[str, ...] = ()
    #: The attributes that become required and have no `fill=`: `Order.email`.
    unfilled: tuple[str, ...] = ()
    #: The attributes of both versions that get values by `fill=`; a rollback keeps these values.
    filled_in_place: tuple[str, ...] = ()
    #: The step at which an interrupted migration continues; 0: it has not begun.
    done: int = 0
    #: The changes with which programs of the new version may run beside those of the old one.
    runs_before: tuple[DesignChange, ...] = ()
    #: The changes with which they wait until all items are rewritten.
    waits_for_items: tuple[DesignChange, ...] = ()


#: What a step raises that finds a problem; another run may begin at once.
_PROBLEMS = (MigrationRefused, DuplicateValues, UnreadableItem, InvalidValue, Contention)


def _before(work: Work, revision: Revision) -> Revision:
    """Return what to record after the first step has found a problem, so that programs may run.

    `revision` is what this run has read. The rollback of an interrupted migration that an earlier
    run has begun stays: it has replaced the state of that migration.
    """
    is_new = work.state is None
    if is_new or (work.command == "rollback" and revision.previous is None):
        return revision
    return replace(revision, target=None, state=None)


class Migration(Plan[MigrationReport]):
    """A plan that runs the steps of a migration."""

    def __init__(
        self,
        version: Version,
        *,
        progress: Report | None = None,
        units_per_second: float | str | None = None,
        lease_seconds: float = LEASE_SECONDS,
        program_seconds: float | None = None,
        by_template: bool = False,
        plan: MigrationPlan | None = None,
    ) -> None:
        self._version = version
        self._table = version.table
        self._entity = version.table.entities[0]
        self._progress = progress
        self._units_per_second = units_per_second
        self._lease_seconds = lease_seconds
        self._program_seconds = program_seconds
        self._by_template = by_template
        self._plan = plan

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._table.entities)

    def _work(self, revision: Revision, found: TableDescription) -> Work:
        """Return what is to be done; raise MigrationRefused if that is not possible."""
        raise NotImplementedError

    def _steps(self, context: Context) -> Steps[MigrationReport]:
        pace = Pace()
        return (yield from retry_throttled(self._run(context, pace), pace))

    def preview(self) -> MigrationPreview:
        """Return the plan that only says what would be done."""
        return MigrationPreview(self)

    def _run(self, context: Context, pace: Pace) -> Steps[MigrationReport]:
        name = context.name_of(self._table)
        revision, found = yield from read_state(self._table, name)
        if not self._work(revision, found).steps:  # or refuse, before anything is written
            return MigrationReport(name)
        executor = yield from acquire(self._table, name, lease_seconds=self._lease_seconds)
        try:
            return (yield from self._run_as(executor, context, pace))
        except (TablewrightError, RetriesExhausted):
            with suppress(TablewrightError, RetriesExhausted):  # the first error is reported
                yield from executor.release()
            raise

    def _run_as(self, executor: Executor, context: Context, pace: Pace) -> Steps[MigrationReport]:
        revision, found = yield from read_state(self._table, executor.name)
        work = self._work(revision, found)
        if not work.steps:
            yield from executor.release()
            return MigrationReport(executor.name)
        if self._plan is not None:
            work.require(self._plan.changes, self._plan.steps)
        limit = RateLimit(self._units_per_second)
        run = StepRun(
            work,
            executor,
            context,
            pace,
            limit,
            self._progress,
            by_template=self._by_template,
            program_seconds=self._program_seconds,
        )
        if work.state is None:
            yield from executor.begin(run.state, work.target)
        done = run.state.done
        try:
            for number, step in enumerate(work.steps[done:], done + 1):
                yield from run.carry_out(step, number)
        except _PROBLEMS:
            if not run.state.done and work.steps[0].name == "check":
                yield from executor.restore(_before(work, revision))
            raise
        return MigrationReport(executor.name, work.steps[done:], run.changed, run.reserved)


def read_state(table: TableMap, name: str) -> Steps[tuple[Revision, TableDescription]]:
    """Return what a managed table records, and what it is; raise MigrationRefused."""
    found = yield from find_table(name)
    refuse_other_keys(table, found)
    found = yield from with_ttl(found)
    revision = yield from read_revision(table, name)
    return require_here(revision, name), found


def find_table(name: str) -> Steps[TableDescription]:
    """Return what a table is; raise MigrationRefused if it cannot be read and written."""
    found = yield from describe_table(name)
    if found is None:
        raise TableNotFound(f"the table {name!r} does not exist")
    if found.state.status not in USABLE:
        raise MigrationRefused(
            f"the table {name!r} is {found.state.status}, for example because it is being created, "
            "restored or deleted; run the command again when it is ACTIVE"
        )
    return found


def with_ttl(found: TableDescription) -> Steps[TableDescription]:
    """Return a description with the TTL, which DescribeTable does not return."""
    answer = yield Request("DescribeTimeToLive", {"TableName": found.name})
    return replace(found, ttl=read_ttl(msgspec.json.decode(answer)))


class MigrationPreview(Plan[MigrationPlan]):
    """Say what a migration would do; nothing is written."""

    def __init__(self, migration: Migration) -> None:
        self._migration = migration
        self._entity = migration._entity

    def _steps(self, context: Context) -> Steps[MigrationPlan]:
        table = self._migration._table
        name = context.name_of(table)
        revision, found = yield from read_state(table, name)
        return plan_of(self._migration._work(revision, found), revision)


def plan_of(work: Work, revision: Revision) -> MigrationPlan:
    """Return what a command would do, for people."""
    return MigrationPlan(
        work.found.name,
        work.changes,
        work.steps,
        revision.design,
        work.design,
        work.found.state.items,
        work.found.state.size,
        () if work.command == "apply" else work.leftovers.lost_values,
        unfilled(work.changes, work.version.table) if work.command == "apply" else (),
        filled_in_place(work.changes, work.version.table) if work.command == "apply" else (),
        0 if work.state is None else work.state.done,
        tuple(
            each
            for each in work.changes
            if runs_before(each, work.version.table, work.rewriter.moves)
        )
        if work.command == "apply"
        else (),
        tuple(waits_for_items(work.changes, work.rewriter.moves)),
    )


class Apply(Migration):
    """Prepare a table and its items for the declared version."""

    def _work(self, revision: Revision, found: TableDescription) -> Work:
        version, design = self._version, self._version.design
        state = revision.state
        if state is not None and state.command != "apply":
            raise under_way(found.name, state.command)
        if revision.target is not None and version_changes(found.name, revision.target, design):
            raise MigrationRefused(
                f"the table {found.name!r} is being migrated to another version of the design; "
                "continue with that version, or go back first: tablewright migrate rollback"
            )
        stored = as_found(revision.design, found)
        changes = version_changes(found.name, stored, design)
        refuse_unsupported(changes)
        if not changes and revision.previous is not None:
            # It is prepared already: find the items that old programs have written since.
            since = version_changes(found.name, revision.previous, design)
            steps = [
                each
                for each in apply_steps(since, version.structure, found)
                if each.name in ("verify", "switch")
            ]
            renames, previous = renames_in(since), revision.previous
            rewriter = Rewriter(
                version.table, previous, design, renames, keeps_new=True, keeps_former=True
            )
        else:
            if changes and revision.previous is not None:
                raise MigrationRefused(
                    f"the last migration of the table {found.name!r} is not completed; complete it "
                    "or go back first: tablewright migrate complete, tablewright migrate rollback"
                )
            steps = apply_steps(changes, version.structure, found)
            if not changes and [each.name for each in steps] == ["switch"]:
                steps = []
            renames, previous = renames_in(changes), stored
            rewriter = Rewriter(version.table, stored, design, renames, keeps_former=True)
            refuse_renames(version.table, stored, changes, renames)
            refuse_unreadable_keys(version.table, rewriter.keys)
            refuse_moves(version.table, rewriter.moves)
            ending = ending_changes(found.name, previous, design)
            if steps and ending:
                is_rolling = all(runs_before(each, version.table) for each in ending)
                steps = with_await(steps, until_verify=is_rolling)
        return Work(
            "apply",
            version,
            tuple(changes),
            tuple(steps) if state is None else state.steps,
            rewriter,
            Leftovers(previous, design, renames),
            design,
            previous,
            found,
            design,
            state,
            ended=frozenset(revision.ended) - {fingerprint(design)},
            former_types=frozenset(renames.targets),
        )


class Rollback(Migration):
    """Prepare a table and its items for the version before the last migration again."""

    def _work(self, revision: Revision, found: TableDescription) -> Work:
        version, state = self._version, revision.state
        if state is not None and state.command == "complete":
            raise MigrationRefused(
                f"the migration of the table {found.name!r} is being completed, and cannot be "
                "undone any more; continue it: tablewright migrate complete"
            )
        old = revision.previous or revision.design
        new = revision.design if revision.previous is not None else revision.target
        if new is None and not version_changes(found.name, old, version.design):
            return no_work("rollback", version, found)
        if new is None:
            raise MigrationRefused(
                f"the table {found.name!r} has no migration that can be undone: none was begun, or "
                "the last one is completed or undone already; see: tablewright migrate status "
                "DESIGN TARGET"
            )
        if version_changes(found.name, old, version.design):
            raise MigrationRefused(
                f"a rollback of the table {found.name!r} needs the version of the design that it "
                "had before the migration, to compose the old keys: tablewright migrate rollback "
                "DESIGN@REVISION TARGET, or check out that revision"
            )
        changes = version_changes(found.name, old, new)
        renames = renames_in(changes, reverse=True)
        leftovers = Leftovers(new, old, renames, deletes_removed=True)
        # What the old version needs of items that programs of the new one have written.
        needs = [*changes, *version_changes(found.name, new, old)]
        steps = [
            *(
                each
                for each in apply_steps(needs, old.structure(found.name), found)
                if each.name in ("check", "create-index", "rewrite", "verify")
            ),
            *clean_steps(
                bool(leftovers), new.structure(found.name), old.structure(found.name), found
            ),
        ]
        if item_changes(old, new, found.name):
            steps = with_await(steps)
        is_begun = state is not None and state.command == "rollback"
        return Work(
            "rollback",
            version,
            tuple(changes),
            state.steps if is_begun and state is not None else tuple(steps),
            # Before the items were prepared, only old programs wrote: their values are newer.
            Rewriter(version.table, new, old, renames, keeps_new=revision.previous is None),
            leftovers,
            version.design,
            None,
            found,
            # Before the switch, the next run finds here what is to be undone.
            version.design if revision.previous is not None else new,
            state if is_begun else None,
            is_mixed=state is not None and state.command == "apply" and state.stops_programs,
            ended=frozenset(revision.ended),
            deletes_removed=True,
            former_types=frozenset(renames.targets),
        )


class Complete(Migration):
    """Remove what only the version before the last migration needs."""

    def __init__(self, version: Version, *, delete_removed: bool = False, **options: Any) -> None:
        super().__init__(version, **options)
        self._deletes_removed = delete_removed

    def _work(self, revision: Revision, found: TableDescription) -> Work:
        version, state = self._version, revision.state
        if state is not None and state.command != "complete":
            raise under_way(found.name, state.command)
        old = revision.previous
        if version_changes(found.name, revision.design, version.design):
            raise MigrationRefused(
                f"the items of the table {found.name!r} are prepared for another version of the "
                "design; run the command with that version, or `migrate apply` with this one"
            )
        if old is None:
            return no_work("complete", version, found)
        changes = version_changes(found.name, old, version.design)
        renames = renames_in(changes)
        deletes = self._deletes_removed
        leftovers = Leftovers(old, version.design, renames, deletes_removed=deletes)
        before, after = old.structure(found.name), version.structure
        *steps, finish = clean_steps(bool(leftovers), before, after, found)
        if before.ttl is not None and after.ttl is None and found.ttl == before.ttl:
            steps.append(MigrationStep("disable-ttl", before.ttl))
        if before.stream is not None and after.stream is None and found.stream is not None:
            steps.append(MigrationStep("disable-stream"))
        steps.append(finish)
        ended = {*revision.ended}
        if ending_changes(found.name, old, version.design):
            ended.add(fingerprint(old))
        elif leftovers or completing_ends_programs(found.name, old, version.design):
            ended.add(fingerprint(old))
            steps = with_await(steps)
        return Work(
            "complete",
            version,
            tuple(changes),
            tuple(steps) if state is None else state.steps,
            Rewriter(version.table, old, version.design, renames, keeps_new=True),
            leftovers,
            version.design,
            None,
            found,
            version.design,
            state,
            ended=frozenset(ended),
            deletes_removed=deletes,
            former_types=frozenset(renames.targets),
        )


def as_found(design: TableDesign, found: TableDescription) -> TableDesign:
    """Return a version with the indexes of the table: one may have been replaced since."""
    present = TableDesign.of(found).indexes
    indexes = {name: present.get(name, index) for name, index in design.indexes.items()}
    return replace(design, indexes=indexes)


def version_changes(name: str, old: TableDesign, new: TableDesign) -> list[DesignChange]:
    """Return the changes from one version of a table to another; `name` is that of the table."""
    return differences(DesignDescription({name: old}), DesignDescription({name: new}))


class Baseline(Plan[None]):
    """Record what the items of a table are prepared for.

    The caller has compared the items with the design before.
    """

    def __init__(self, version: Version) -> None:
        self._version = version
        self._entity = version.table.entities[0]

    def _steps(self, context: Context) -> Steps[None]:
        table, name = self._version.table, context.name_of(self._version.table)
        index_record.check_record(table)
        record = yield from index_record.read_record(table, name)
        if record is None or not record.complete:
            found = yield from describe_table(name)
            present = () if found is None else found.index_names
            yield from index_record.begin_record(table, name, present)
        yield from begin_revision(table, name, self._version.design)
