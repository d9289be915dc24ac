"""Backfill: give stored items the keys of indexes that were declared after they were written.

    db.run(backfill(Order))      # how many items were changed

It reads the whole table, and writes an item only if its keys do not match its values. Each write
requires the item as it was read: an item that another writer changes meanwhile gets its keys from
that write.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from tablewright.errors import ConditionalCheckFailedException, DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.reads.pages import decode_page
from tablewright.plan.reads.scan import Scan
from tablewright.plan.reads.single import in_turn
from tablewright.plan.shape import TYPICAL_PAGE, Shape, key_template, write_units
from tablewright.plan.units import all_read, item_write
from tablewright.plan.writes.guard import WriteExpressions, snapshot
from tablewright.values import Item


class Backfill(Plan[int]):
    """Write the index keys of stored items again; returns how many items were changed."""

    def __init__(self, entity: EntityMap) -> None:
        self._entity = entity
        self._scan: Scan[Any] = Scan(entity, "backfill")

    def _steps(self, context: Context) -> Steps[int]:
        request, _, _ = self._scan._request(context)
        changed = 0
        while True:
            page = decode_page((yield request))
            for item in self._scan._matching(page.items, None):
                entity = self._entity.kind_of(item)
                wanted = entity.rekey(item)
                if wanted != item:
                    changed += yield from self._rewrite(entity, item, wanted, context)
            if page.last_evaluated_key is None:
                return changed
            request = request.next_page(page.last_evaluated_key)

    def _rewrite(self, entity: EntityMap, item: Item, wanted: Item, context: Context) -> Steps[int]:
        """Write the index keys of an item; return how many items were changed, 0 or 1."""
        expressions = WriteExpressions()
        expressions.require_unchanged(snapshot(item, sorted(item)))
        for name in sorted({name for key in entity.indexes for name in key.composed}):
            expressions.update.set_or_remove(name, wanted.get(name))
        body = {"TableName": context.name_of(entity.table), "Key": entity.table.key(item)}
        with suppress(ConditionalCheckFailedException):
            yield Request("UpdateItem", expressions.add_to(body))
            return 1
        return 0

    def _shape(self) -> Shape:
        entity = self._entity
        read = replace(self._scan._shape(), page="all pages", read_range=all_read(consistent=False))
        update = Shape(
            operation="UpdateItem",
            table=read.table,
            entity=read.entity,
            condition=key_template(entity),
            page="1 for each item whose index keys differ",
            write_units=write_units(entity, entity.index_rows, 0) * TYPICAL_PAGE,
            write_range=item_write(entity.index_rows, 0).for_each(),
        )
        return replace(in_turn(read, update), condition=read.condition)


def backfill(entity: type[Any]) -> Backfill:
    """Give the stored items of an entity the keys of indexes that were declared after them."""
    compiled = getattr(entity, "__entity__", None)
    if not isinstance(compiled, EntityMap):
        raise DeclarationError(f"backfill() takes an entity, such as Order, not {entity!r}")
    return Backfill(compiled)
