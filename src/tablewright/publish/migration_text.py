"""Texts of migrations: what a table records, the steps of a plan, and how far a migration is.

The terminal and the studio share what is said here. This module must not know either of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.design_changes import DesignChange, Need
from tablewright.evolve import AssessedStep
from tablewright.plan.migration.awaiting import awaited
from tablewright.plan.migration.revision import MigrationState, Revision, has_ended
from tablewright.presentation.values import plural
from tablewright.publish.changes_text import cost_text

#: Of a table: its items have the declared version.
NOTHING_TO_DO = "its items are prepared for this design; there is nothing to do"
#: Of a table whose last migration is not completed.
PREPARED = (
    "its items are prepared for this design. `migrate apply` reads them again, and rewrites those "
    "that programs of the old version have created since; `migrate complete` or `migrate rollback` "
    "ends the migration"
)
#: Of an attribute that stored items may lack.
UNFILLED = (
    "`check` refuses the migration if a stored item lacks it. Give it attr(fill=…), or "
    "attr(renamed_from=…) if it had another name."
)
#: Of a table without a record.
NOT_RECORDED = (
    "does not record which version of the design its items are prepared for; "
    "`tablewright migrate baseline` records it"
)
#: Of a table whose last migration can still be undone.
NOT_COMPLETED = "`migrate rollback` can go back; `migrate complete` ends that"


def step_fields(
    assessed: AssessedStep, currency: str, *, by_template: bool = False
) -> list[tuple[str, str]]:
    """Return what a step does, what it costs at most, and how it is undone."""
    step, cost = assessed.step, assessed.cost
    awaits = awaited(step) if by_template else ""
    does = f"wait for a template: {awaits}" if awaits else step.does
    costs = [("costs", f"at most {cost_text(cost, currency)}")] if cost else []
    return [("does", does), *costs, ("undo", step.undo)]


def deployment(changes: Sequence[DesignChange]) -> str:
    """Return when programs of the old and the new version can run."""
    if all(each.runs_together for each in changes):
        return "Programs of both versions can run before, during and after the migration."
    if all(each.is_deployable or each.need is Need.TABLE_UPDATE for each in changes):
        return (
            "Deploy the new version first: it can connect at once, and refuses what is not ready "
            "yet. The old version cannot connect from the first step on; stop it before `verify` "
            "ends, because what it writes lacks the new keys."
        )
    return (
        "This needs downtime. Stop the programs of the old version first, also those that only "
        "wait: the versions cannot run together, and what an old program changes after `verify` is "
        "lost. Programs of the new version can connect after the last step."
    )


def progress(state: MigrationState) -> str:
    """Return how far a migration is: the steps that are done, the next one, the items read."""
    following = state.steps[state.done] if state.done < len(state.steps) else "the end"
    items = "" if state.position is None else f", {plural(state.position.items, 'item')} read"
    return f"{state.done} of {plural(len(state.steps), 'step')} done; next: {following}{items}"


def revision_fields(revision: Revision, changes: Sequence[DesignChange]) -> list[tuple[str, str]]:
    """Return what a table records; `changes` lead from its version to the declared one."""
    found = [("prepared for", "another version" if changes else "this design")]
    state = revision.state
    if state is not None:
        found.append((f"migrate {state.command}", progress(state)))
    if revision.lease is not None:
        ended = "has ended; run the command again to continue"
        running = ended if has_ended(revision.lease) else "is at work, or was stopped"
        found.append(("executor", f"{revision.lease.owner} {running}"))
    if revision.previous is not None and state is None:
        found.append(("not completed", NOT_COMPLETED))
    return found
