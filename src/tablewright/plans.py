"""Plans: the types of plans, for annotations; the most common ones are in `tablewright` as well.

    from tablewright.plans import Range, Scan, Then

A plan describes requests; `db.run(plan)` sends them. What a plan is made of (`Condition`, `Ref`)
and what is known of it without running it (`AccessPattern`, `Shape`) are here, too.

This module defines nothing. It must not be imported by the modules that it lists.
"""

from __future__ import annotations

from tablewright.model.pattern import AccessPattern, access_patterns
from tablewright.plan.aggregate import Load, LoadFound
from tablewright.plan.backfill import Backfill, backfill
from tablewright.plan.batch import BatchWrite
from tablewright.plan.condition import Condition
from tablewright.plan.condition_check import ConditionCheck
from tablewright.plan.delete import Delete
from tablewright.plan.get import BatchGet
from tablewright.plan.get_by_unique import GetByUnique
from tablewright.plan.page import Page
from tablewright.plan.plan import Plan
from tablewright.plan.put import Create, Put
from tablewright.plan.query import Count, First, Query
from tablewright.plan.range import Range
from tablewright.plan.reference import Ref
from tablewright.plan.scan import Scan
from tablewright.plan.selection import Get
from tablewright.plan.shape import Shape
from tablewright.plan.single import Single, Then
from tablewright.plan.update import Update
from tablewright.plan.write import Transaction, Write

__all__ = [
    "AccessPattern",
    "Backfill",
    "BatchGet",
    "BatchWrite",
    "Condition",
    "ConditionCheck",
    "Count",
    "Create",
    "Delete",
    "First",
    "Get",
    "GetByUnique",
    "Load",
    "LoadFound",
    "Page",
    "Plan",
    "Put",
    "Query",
    "Range",
    "Ref",
    "Scan",
    "Shape",
    "Single",
    "Then",
    "Transaction",
    "Update",
    "Write",
    "access_patterns",
    "backfill",
]
