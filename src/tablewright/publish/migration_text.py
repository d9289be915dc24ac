"""Texts of migrations: what a table records, the steps of a plan, and how far a migration is.

The terminal and the studio share what is said here. This module must not know either of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.design_changes import DesignChange, Need
from tablewright.evolve import AssessedPlan, AssessedStep
from tablewright.plan.migration.awaiting import awaited
from tablewright.plan.migration.migrate import MigrationPlan
from tablewright.plan.migration.revision import MigrationState, Revision, has_ended
from tablewright.plan.relocation.place import Phase
from tablewright.presentation.values import plural, size_text
from tablewright.publish.changes_text import REFUSED, cost_text

#: Of a table: its items have the declared version.
NOTHING_TO_DO = "its items are prepared for this design; there is nothing to do"
#: Of a rollback, and of a completion, of a table without a migration.
ROLLED_BACK = (
    "there is nothing to undo: its items are prepared for this design, and no migration is under "
    "way; it was rolled back already, or never begun"
)
COMPLETED = (
    "there is nothing to complete: its items are prepared for this design, and no other version "
    "can be restored; it was completed already, or no migration was applied. Nothing was deleted"
)
#: Of a table whose last migration is not completed.
PREPARED = (
    "its items are prepared for this design. `migrate apply` reads them again, and rewrites those "
    "that programs of the old version have created since; `migrate complete` or `migrate rollback` "
    "ends the migration"
)
#: Of a table without a record.
NOT_RECORDED = (
    "does not record which version of the design its items are prepared for; "
    "`tablewright migrate baseline` records it"
)
#: Of a table whose last migration can still be undone.
NOT_COMPLETED = (
    "`migrate rollback` can go back to the old version, until `migrate complete` ends it"
)


def step_fields(
    assessed: AssessedStep, currency: str, *, by_template: bool = False
) -> list[tuple[str, str]]:
    """Return what a step does, what it costs at most, and how it is undone."""
    step, cost = assessed.step, assessed.cost
    awaits = awaited(step) if by_template else ""
    does = f"wait for a template: {awaits}" if awaits else step.does
    costs = [("costs", f"at most {cost_text(cost, currency)}")] if cost else []
    return [("does", does), *costs, ("undo", step.undo)]


def steps_text(assessed: AssessedPlan) -> str:
    """Return the number of steps, and what they cost together."""
    total = assessed.total
    costs = f": at most {cost_text(total, assessed.currency)}" if total else ""
    return f"{plural(len(assessed.steps), 'step')}{costs}"


def assumptions(plan: MigrationPlan, assessed: AssessedPlan) -> str:
    """Return what the costs of a plan are computed from."""
    load, prices = assessed.workload.of(plan.table), assessed.workload.prices
    return (
        f"Costs are for about {plural(load.items, 'item')} of {size_text(round(load.size))}, all "
        f"of the changed entities and in all their indexes; on-demand prices of {prices.title} "
        f"({prices.on_demand}); {assessed.workload.rate:,g} write units a second."
    )


def warnings(plan: MigrationPlan) -> list[str]:
    """Return what stored items may lack, and what a rollback does not restore."""
    return [
        *(
            f"{name} is required and has no fill=: `check` refuses the migration if a stored item "
            "lacks it. Give it fill=…, or renamed_from=… if it had another name."
            for name in plan.unfilled
        ),
        *(
            f"{name}: a rollback keeps the values that fill= gives to stored items, and does not "
            "restore those that it replaces, because it cannot distinguish them from other values."
            for name in plan.filled_in_place
        ),
    ]


def is_rolling(plan: MigrationPlan) -> bool:
    """Return whether programs of the new version can start beside those of the old one."""
    return all(
        each.need is Need.TABLE_UPDATE or each in plan.runs_before for each in plan.changes
    ) or not any(each.name == "await-programs" for each in plan.steps)


def deployment(plan: MigrationPlan) -> str:
    """Return when programs of the old and the new version can run."""
    changes, names = plan.changes, [each.name for each in plan.steps]
    waits = [each for each in plan.waits_for_items if each.need is not Need.TABLE_UPDATE]
    if "await-programs" in names[: plan.done] and not plan.waits_for_items:
        return "Programs of the old version have ended. Those of the new version can connect."
    if "await-programs" not in names:
        return (
            "Programs of both versions can run before, during and after the migration, until "
            "`migrate complete`."
        )
    ends = (
        "Programs of the old version can run until the step `await-programs`; from then on they "
        "raise DesignMismatch."
    )
    if is_rolling(plan):
        start = "as soon as its indexes exist" if "create-index" in names else "at once"
        refused = [error for need, error in REFUSED.items() if any(c.need is need for c in changes)]
        until = f" Until the last step, {' and '.join(refused)}." if refused else ""
        return (
            f"Programs of the new version can connect {start}, beside those of the old one.{until} "
            f"{ends}"
        )
    if not waits:
        meanwhile = ", while the items are rewritten" if "rewrite" in names else ""
        return (
            f"{ends} Programs of the new version can connect when that step is done{meanwhile}. So "
            "the interruption lasts about 15 seconds and a restart, however many items there are."
        )
    return (
        f"{ends} Programs of the new version can connect after the last step. So this needs "
        "downtime."
    )


#: What a rollback means for programs.
ROLLBACK = (
    "programs of the new version can run until the step `await-programs`; programs of the old "
    "version can connect after the last step"
)


def progress(state: MigrationState) -> str:
    """Return how far a migration is: the steps that are done, the next one, the items read."""
    following = state.steps[state.done] if state.done < len(state.steps) else "the end"
    items = "" if state.position is None else f", {plural(state.position.items, 'item')} read"
    return f"{state.done} of {plural(len(state.steps), 'step')} done; next: {following}{items}"


#: Where the items of a table are that is moved, or was.
_PLACES: dict[Phase, str] = {
    "open": "its items are here; the other place of a move is {}",
    "guarded": "it is being moved to, or back to, {}",
    "closed": "it is being moved to, or back to, {}",
    "away": "its items are in {}",
}


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
    move = revision.move
    if move is not None:
        found.append(
            ("place", _PLACES[move.phase].format(f"the table {move.table!r} at {move.place}"))
        )
    return found
