"""Plans and statuses of migrations as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablewright.migrations import MigrationPlan, MigrationStatus


def plan_document(plan: MigrationPlan) -> dict[str, Any]:
    from tablewright.evolve import assess_plan
    from tablewright.publish import changes_text

    found = assess_plan(plan)
    return {
        "table": plan.table,
        "items": plan.items,
        "done": plan.done,
        "changes": [changes_text.change_members(each) for each in found.changes],
        "steps": [
            {
                "name": each.step.name,
                "part": each.step.part,
                "does": each.step.does,
                "undo": each.step.undo,
                "cost": each.cost,
            }
            for each in found.steps
        ],
    }


def status_document(status: MigrationStatus) -> dict[str, Any]:
    revision = status.revision
    state = None if revision is None else revision.state
    return {
        "table": status.table,
        "is_recorded": revision is not None,
        "changes": [str(each) for each in status.changes],
        "command": None if state is None else state.command,
        "steps": [] if state is None else [str(each) for each in state.steps],
        "done": 0 if state is None else state.done,
        "items": 0 if state is None or state.position is None else state.position.items,
        "executor": None if revision is None or revision.lease is None else revision.lease.owner,
        "is_completed": revision is None or revision.previous is None,
    }
