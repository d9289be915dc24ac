"""Inspecting: what a table records, and what comes next. Nothing here writes."""

from __future__ import annotations

from msgspec import Struct

from tablewright.design_changes import DesignChange
from tablewright.design_description import TableDesign
from tablewright.errors import (
    DesignMismatch,
    MigrationRefused,
    ResourceNotFoundException,
)
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.admission import admit
from tablewright.plan.migration.executing import Version
from tablewright.plan.migration.migrate import (
    Apply,
    Complete,
    Migration,
    MigrationPlan,
    Rollback,
    as_found,
    find_table,
    plan_of,
    version_changes,
    with_ttl,
)
from tablewright.plan.migration.revision import Command, Revision, read_revision
from tablewright.plan.migration.steps import refuse_other_keys
from tablewright.plan.plan import Context, Plan, Steps


class ReadRevision(Plan[tuple[Revision | None, tuple[DesignChange, ...]]]):
    """Read what a table records, and how a declared version differs from it."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._entity = version.table.entities[0]

    def _steps(self, context: Context) -> Steps[tuple[Revision | None, tuple[DesignChange, ...]]]:
        name = context.name_of(self._version.table)
        found = yield from find_table(name)
        refuse_other_keys(self._version.table, found)
        revision = yield from read_revision(self._version.table, name)
        if revision is None:
            return None, ()
        stored = as_found(revision.design, found)
        return revision, tuple(version_changes(name, stored, self._version.design))


class MigrationInspection(Struct, frozen=True):
    """What a table records, and what comes next."""

    #: None: the table does not record a version.
    revision: Revision | None = None
    #: What the command that is under way does, or what `apply` would do.
    plan: MigrationPlan | None = None
    #: Why this command cannot be carried out with the declared version; "" if it can.
    problem: str = ""


class Inspect(Plan[MigrationInspection]):
    """Read what a table records and what comes next, in three requests; nothing is written.

    If the command is refused, the plan has the changes and no steps.
    """

    def __init__(self, version: Version) -> None:
        self._version = version
        self._entity = version.table.entities[0]

    def _steps(self, context: Context) -> Steps[MigrationInspection]:
        name, version = context.name_of(self._version.table), self._version
        found = yield from find_table(name)
        refuse_other_keys(version.table, found)
        revision = yield from read_revision(version.table, name)
        if revision is None:
            return MigrationInspection()
        found = yield from with_ttl(found)
        state = revision.state
        command = _COMMANDS["apply" if state is None else state.command](version)
        try:
            return MigrationInspection(revision, plan_of(command._work(revision, found), revision))
        except MigrationRefused as error:
            plan = MigrationPlan(
                name,
                tuple(version_changes(name, as_found(revision.design, found), version.design)),
                (),
                revision.design,
                version.design,
                found.state.items,
                found.state.size,
            )
            return MigrationInspection(revision, plan, str(error))


def plan_between(old: TableDesign, version: Version) -> MigrationPlan:
    """Return the plan for a table that is as its old version declares it; raise MigrationRefused.

    There is no table to look at: nothing is known of its items.
    """
    revision, found = Revision(old), old.structure(version.structure.name)
    return plan_of(Apply(version)._work(revision, found), revision)


_COMMANDS: dict[Command, type[Migration]] = {
    "apply": Apply,
    "rollback": Rollback,
    "complete": Complete,
}


class RequireAdmitted(Plan[None]):
    """Raise DesignMismatch unless all items of a table have the form of the declared version."""

    def __init__(self, table: TableMap) -> None:
        self._table = table
        self._entity = table.entities[0]

    def _steps(self, context: Context) -> Steps[None]:
        name = context.name_of(self._table)
        try:
            revision = yield from read_revision(self._table, name)
        except ResourceNotFoundException:
            return  # there are no items
        if revision is not None:
            found = admit(self._table, name, revision).transition
            if found is not None and not found.is_prepared:
                raise DesignMismatch(
                    f"the items of the table {name!r} are being rewritten for this version of the "
                    "design; wait until the migration has ended: tablewright migrate status "
                    "DESIGN TARGET"
                )
