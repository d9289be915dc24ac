"""Backfill: give stored items the keys of indexes that were declared after they were written.

    db.run(backfill(Order))      # how many items were changed

It reads the whole table, and writes an item only if its keys are not what its values give. Each
write is guarded by what was read: an item that somebody changes meanwhile has got its keys from
that write.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tablewright.errors import ConditionalCheckFailedException, DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.plan.change import Clauses
from tablewright.plan.guard import Conditions, read_from
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.query import decode_answer
from tablewright.plan.scan import Scan
from tablewright.plan.shape import Shape
from tablewright.values import Item


class Backfill(Plan[int]):
    """Write the index keys of stored items again; gives how many were not as they should be."""

    def __init__(self, entity: EntityMap) -> None:
        self._entity = entity
        self._scan: Scan[Any] = Scan(entity, "backfill")

    def _steps(self, context: Context) -> Steps[int]:
        request, _, _ = self._scan._request(context)
        changed = 0
        while True:
            answer = decode_answer((yield request))
            for item in self._scan._own(answer.items, None):
                if self._entity.rekey(item) != item:
                    changed += yield from self._rewrite(item, context)
            if answer.last_evaluated_key is None:
                return changed
            request = request.next_page(answer.last_evaluated_key)

    def _rewrite(self, item: Item, context: Context) -> Steps[int]:
        entity = self._entity
        wanted = entity.rekey(item)
        names = {name for key in entity.indexes for name in key.composed}
        conditions, clauses = Conditions(), Clauses()
        conditions.still(read_from(item, sorted(item)))
        for name in sorted(names):
            mark = conditions.marks.name(name)
            if name not in wanted:
                clauses["REMOVE"].append(mark)
            else:
                clauses["SET"].append(f"{mark} = {conditions.marks.value(wanted[name])}")
        request = conditions.into(
            {
                "TableName": context.name_of(entity.table),
                "Key": entity.table.key(item),
                "UpdateExpression": clauses.text(),
            }
        )
        with suppress(ConditionalCheckFailedException):
            yield Request("UpdateItem", request)
            return 1
        return 0

    def _shape(self) -> Shape:
        return self._scan._shape()


def backfill(entity: type[Any]) -> Backfill:
    """Give the stored items of an entity the keys of indexes that were declared after them."""
    compiled = getattr(entity, "__entity__", None)
    if not isinstance(compiled, EntityMap):
        raise DeclarationError(f"backfill() takes an entity, such as Order, not {entity!r}")
    return Backfill(compiled)
