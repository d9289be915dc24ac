"""Plans of a migration, assessed: what each change and each step costs for the items of a table."""

from __future__ import annotations

from msgspec import Struct

from tablewright.cost import load_prices
from tablewright.design_description import DesignDescription
from tablewright.evolve.estimate import (
    DEFAULT_ITEMS,
    DEFAULT_SIZE,
    ChangeCost,
    TableLoad,
    Workload,
    estimate,
    estimate_step,
)
from tablewright.evolve.report import AssessedChange
from tablewright.plan.migration.migrate import MigrationPlan
from tablewright.plan.migration.steps import MigrationStep

#: The write units in a second, if no limit is given.
DEFAULT_RATE = 1000.0


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
