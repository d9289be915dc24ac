"""Texts of relocations: what each step does, what it costs, and what programs see meanwhile.

This module must not know the terminal.
"""

from __future__ import annotations

from tablewright.evolve.relocation import AssessedRelocation
from tablewright.plan.relocation.checking import RelocationPlan, RelocationStatus
from tablewright.plan.relocation.place import PlaceRecord
from tablewright.plan.relocation.state import STEPS, RelocationState, StepName
from tablewright.presentation.values import plural, size_text
from tablewright.publish.changes_text import cost_text

#: What each step does, and how it is undone.
DOES: dict[StepName, tuple[str, str]] = {
    "check": ("compare both tables; write nothing", "nothing to undo"),
    "prepare": (
        "create the destination, and enable a stream of the source if it has none",
        "migrate rollback disables the stream; the destination stays",
    ),
    "copy": (
        "copy all items, and then those that the stream of the source names",
        "the destination stays; no program uses it",
    ),
    "compare": (
        "compare all items of both tables; stop and list the items that differ",
        "nothing to undo",
    ),
    "await-programs": (
        "enable TTL and the stream of the destination; wait until every program checks a gate "
        "with each write",
        "programs write without gates again",
    ),
    "cut-over": (
        "let writes wait, read the stream to its end, and switch all programs",
        "migrate rollback copies back what was written since, and switches the programs again",
    ),
}
#: What a program sees, by the step until which it does.
SEES = (
    ("until await-programs", "programs use the source, as before"),
    (
        "await-programs",
        "programs with moves_to= run; each write takes twice the units, each read one request "
        "more. Programs without it raise DesignMismatch",
    ),
    ("cut-over", "reads go on; writes of programs with moves_to= wait, for about a second at most"),
    (
        "after it",
        "programs with moves_to= use the destination. Others connect to the destination, and raise "
        "DesignMismatch at the source",
    ),
)
#: What each item costs that programs write before the cut-over.
PER_WRITE = (
    "Each item that programs write before the cut-over costs its read units once more, and twice "
    "its write units at the destination"
)
NOTHING_TO_DO = (
    "its items were moved. `migrate complete` ends the move, or `migrate rollback` goes back"
)
NOT_MOVED = "it is not being moved"
#: What follows `migrate apply`.
NEXT = (
    "programs use the destination. `migrate rollback` goes back, with what was written meanwhile; "
    "`migrate complete` gives that up. The source stays as it was: delete it when no program "
    "connects to it any more"
)


def step_fields(step: StepName, assessed: AssessedRelocation) -> list[tuple[str, str]]:
    """Return what a step does, what it costs at most, and how it is undone."""
    does, undo = DOES[step]
    cost = assessed.costs.get(step)
    costs = [("costs", f"at most {cost_text(cost, assessed.currency)}")] if cost else []
    return [("does", does), *costs, ("undo", undo)]


def assumptions(plan: RelocationPlan, assessed: AssessedRelocation) -> str:
    """Return what the costs are computed from."""
    return (
        f"Costs are for about {plural(assessed.items, 'item')} of "
        f"{size_text(round(assessed.size))}, all of them in "
        f"{plural(len(plan.source.indexes), 'index')}; on-demand prices of {assessed.prices}; "
        f"{assessed.rate:,g} write units a second. {PER_WRITE}. Both tables together take "
        f"{assessed.storage:,.2f} {assessed.currency} of storage a month, until one is deleted."
    ).replace("indexs", "indexes")


def status_fields(status: RelocationStatus) -> list[tuple[str, str]]:
    """Return how far a relocation is, and what the records tell programs."""
    progress = status.progress
    if progress is None and status.first is None:
        return [("move", NOT_MOVED)]
    fields = [("move", "completed, or undone" if progress is None else _how_far(progress))]
    for name, record in (("here", status.first), ("there", status.second)):
        if record is not None:
            fields.append((name, _used(record)))
    return fields


def _how_far(progress: RelocationState) -> str:
    where = f"the table {progress.table!r} at {progress.place}"
    direction = f"back from {where}" if progress.is_back else f"to {where}"
    if progress.is_over:
        return f"{direction}: done; migrate complete, or migrate rollback"
    items = f", {plural(progress.items, 'item')} read" if progress.items else ""
    step = STEPS[progress.done]
    return f"{direction}: {progress.done} of {len(STEPS)} steps done; next: {step}{items}"


def _used(record: PlaceRecord) -> str:
    return {
        "open": "programs use it",
        "guarded": "programs use it, and check a gate with each write",
        "closed": "programs read it; writes wait for the cut-over",
        "away": "programs do not use it",
    }[record.phase]
