"""Migrations: carry tables and their items from one version of a design to the next, and back.

    from tablewright import migrations

    migrations.plan("shop.db", Shop)        # what would be done; nothing is written
    migrations.apply("shop.db", Shop)       # do it; run it again to continue
    migrations.rollback("shop.db", OldShop)
    migrations.complete("shop.db", Shop)

    move = migrations.Relocation("shop.db", "dynamodb://eu-west-1", Shop)
    move.apply()                            # to another place, while programs run

`tablewright migrate` has the same commands. This module defines nothing. It must not be imported by
the modules that it lists.
"""

from __future__ import annotations

from tablewright.design_changes import DesignChange
from tablewright.model.databases.migrating import (
    ExecutorOptions,
    MigrationStatus,
    apply,
    baseline,
    complete,
    plan,
    rollback,
    status,
    write_units,
)
from tablewright.model.databases.relocating import Relocation, RelocationOptions
from tablewright.plan.migration.executing import MigrationProgress
from tablewright.plan.migration.migrate import MigrationPlan, MigrationReport
from tablewright.plan.migration.steps import MigrationStep
from tablewright.plan.relocation.checking import RelocationPlan, RelocationStatus
from tablewright.plan.relocation.relocate import RelocationReport
from tablewright.plan.relocation.state import RelocationProgress

__all__ = [
    "DesignChange",
    "ExecutorOptions",
    "MigrationPlan",
    "MigrationProgress",
    "MigrationReport",
    "MigrationStatus",
    "MigrationStep",
    "Relocation",
    "RelocationOptions",
    "RelocationPlan",
    "RelocationProgress",
    "RelocationReport",
    "RelocationStatus",
    "apply",
    "baseline",
    "complete",
    "plan",
    "rollback",
    "status",
    "write_units",
]
