"""What a plan says about itself, for the packages above: its name, its entities, its writes.

Plans are values of users' programs, so these are functions, and no methods beside those that make
further plans. What a plan asks of DynamoDB is its shape: see `tablewright.explain`.
"""

from __future__ import annotations

from typing import Any

from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Plan
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.query import Query
from tablewright.plan.writes.transaction import Transaction
from tablewright.plan.writes.write import Write


def label_of(plan: Plan[Any]) -> str:
    """Return the pattern that made a plan, with its module; "" if none did."""
    return plan._pattern


def name_of(plan: Plan[Any]) -> str:
    """Return the name of the pattern that made a plan, or of the type of plan."""
    return plan._name


def entity_of(plan: Get[Any] | Write[Any]) -> EntityMap:
    """Return the entity that a plan gets or writes."""
    return plan._entity


def entities_of(plan: Plan[Any]) -> tuple[EntityMap, ...]:
    """Return every entity that a plan reads or writes."""
    return plan._entities()


def writes_of(plan: Transaction[Any]) -> tuple[Write[Any], ...]:
    """Return the writes of a transaction."""
    return plan._writes


def has_page_size(plan: Query[Any]) -> bool:
    """Return whether a query says how many items a page has."""
    return plan._size is not None
