"""Check the conditions of writes against the stored item."""

from __future__ import annotations

from tablewright.engine.rows import ItemRow
from tablewright.errors import ConditionalCheckFailedException
from tablewright.expression import CompiledCondition


def check_condition(
    condition: CompiledCondition | None, row: ItemRow | None, return_on_failure: str | None
) -> None:
    """Raise a fault unless the condition is true for the row (None: no item exists)."""
    if condition is None or condition.holds(row.item if row else {}):
        return
    returned_item = row.item if row and return_on_failure == "ALL_OLD" else None
    raise ConditionalCheckFailedException(item=returned_item)
