"""Evolve: compare two versions of a design, and estimate what each change costs.

    versions   one side of a comparison: a design, a lock file, a template, the tables of a target
    renames    renames that are declared for one run, and those that are possible
    estimate   what a change costs: units, money, time
    report     all changes from one version to another, and those of a planned migration, each with
               its estimate

`design_changes` says what follows from a difference. This package must not know how a report is
printed.
"""

from __future__ import annotations

from tablewright.evolve.estimate import DEFAULT_ITEMS, ChangeCost, Workload
from tablewright.evolve.renames import Rename, declare, find_renames, read_renames
from tablewright.evolve.report import (
    AssessedChange,
    AssessedPlan,
    AssessedStep,
    Coexistence,
    DesignDiff,
    assess_plan,
    compare,
)
from tablewright.evolve.versions import (
    DesignVersion,
    describe_version,
    read_file,
    read_lock_file,
    read_tables_at,
)

__all__ = [
    "DEFAULT_ITEMS",
    "AssessedChange",
    "AssessedPlan",
    "AssessedStep",
    "ChangeCost",
    "Coexistence",
    "DesignDiff",
    "DesignVersion",
    "Rename",
    "Workload",
    "assess_plan",
    "compare",
    "declare",
    "describe_version",
    "find_renames",
    "read_file",
    "read_lock_file",
    "read_renames",
    "read_tables_at",
]
