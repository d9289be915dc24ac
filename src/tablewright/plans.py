"""Plans: the types of plans, for annotations; the most common ones are in `tablewright` as well.

    from tablewright.plans import Range, Scan, Then

A plan describes requests; `db.run(plan)` sends them. What a plan is made of (`Condition`, `Ref`)
and what is known of it without running it (`AccessPattern`, `Shape`) are here, too.

This module defines nothing. It must not be imported by the modules that it lists.
"""

from __future__ import annotations

from tablewright.model.pattern import AccessPattern, access_patterns
from tablewright.plan.backfill.backfill import Backfill, BackfillProgress, backfill
from tablewright.plan.backfill.reconcile import (
    CounterDifference,
    Reconcile,
    ReconcileProgress,
    reconcile,
)
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Plan
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.get import Get, GetByUnique
from tablewright.plan.reads.include import Included
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.paged_load import LoadFound
from tablewright.plan.reads.query import Count, First, Query
from tablewright.plan.reads.query_parts import ShardedRange
from tablewright.plan.reads.range import Range, UnionRange
from tablewright.plan.reads.scan import Scan, SegmentedScan
from tablewright.plan.reads.several import BatchGet, BatchGetTuple, TransactGet
from tablewright.plan.reads.single import OptionalRead, RequiredRead, Single, Then
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape
from tablewright.plan.writes.collection import DeleteAggregate
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.range_write import DeleteRange, UpdateRange
from tablewright.plan.writes.returning import ReturningOld
from tablewright.plan.writes.save import Save
from tablewright.plan.writes.several import BatchWrite, ConditionCheck, Transaction
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.upsert import Upsert
from tablewright.plan.writes.write import Write

__all__ = [
    "AccessPattern",
    "Backfill",
    "BackfillProgress",
    "BatchGet",
    "BatchGetTuple",
    "BatchWrite",
    "Condition",
    "ConditionCheck",
    "Count",
    "CounterDifference",
    "Create",
    "Delete",
    "DeleteAggregate",
    "DeleteRange",
    "First",
    "Get",
    "GetByUnique",
    "Included",
    "Load",
    "LoadFound",
    "OptionalRead",
    "Page",
    "Plan",
    "Put",
    "Query",
    "Range",
    "Reconcile",
    "ReconcileProgress",
    "Ref",
    "RequiredRead",
    "ReturningOld",
    "Save",
    "Scan",
    "SegmentedScan",
    "Shape",
    "ShardedRange",
    "Single",
    "Then",
    "TransactGet",
    "Transaction",
    "UnionRange",
    "Update",
    "UpdateRange",
    "Upsert",
    "Write",
    "access_patterns",
    "backfill",
    "reconcile",
]
