"""Migrations: carry tables and their items from one version of a design to the next, and back.

    from tablewright import migrations

    migrations.plan("shop.db", Shop)        # what would be done; nothing is written
    migrations.apply("shop.db", Shop)       # do it; run it again to continue
    migrations.rollback("shop.db", OldShop)
    migrations.complete("shop.db", Shop)

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
from tablewright.plan.migration.executing import MigrationProgress
from tablewright.plan.migration.migrate import MigrationPlan, MigrationReport
from tablewright.plan.migration.steps import MigrationStep

__all__ = [
    "DesignChange",
    "ExecutorOptions",
    "MigrationPlan",
    "MigrationProgress",
    "MigrationReport",
    "MigrationStatus",
    "MigrationStep",
    "apply",
    "baseline",
    "complete",
    "plan",
    "rollback",
    "status",
    "write_units",
]
