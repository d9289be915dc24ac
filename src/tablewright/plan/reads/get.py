"""Get: one item by its key; read it, update it or delete it.

db.run(Order.primary("C1", "O1"))                                       Order | None
db.run(Order.primary("C1", "O1").update(Order.status.set(PAID)))        Order
db.run(Counter.primary("x").upsert(Counter.hits.increment(1)))           Counter
db.run(Order.primary("C1", "O1").delete())                              Order | None
"""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.mapping.entity import EntityMap, Values
from tablewright.plan.change import Change
from tablewright.plan.facts import Paging
from tablewright.plan.plan import DECLARED, Context, Request, Steps
from tablewright.plan.reads.item import key_from
from tablewright.plan.reads.single import Single
from tablewright.plan.shape import Shape, read_shape, typical_size
from tablewright.plan.units import item_read
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.move import update_item
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.upsert import Upsert
from tablewright.plan.writes.write import IsRewritable, refuse_undeletable

E = TypeVar("E")
Rewritable = TypeVar("Rewritable", bound=IsRewritable)


class Get(Single[E], Generic[E]):
    """The item with one key: run it to read, or write to it."""

    _is_consistent = False

    def __init__(self, entity: EntityMap, arguments: tuple[Any, ...]) -> None:
        self._entity = entity
        self._arguments = entity.enter_arguments(entity.primary, arguments)
        self._key = key_from(entity.primary, self._arguments)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_is_consistent=True)

    def update(self: Get[Rewritable], *changes: Change[Rewritable]) -> Update[Rewritable]:
        """Change attributes of the item; NotFound if it does not exist."""
        return update_item(self._entity, self._key, self._known(), changes)

    def upsert(self: Get[Rewritable], *changes: Change[Rewritable]) -> Upsert[Rewritable]:
        """Change attributes of the item; create it, with defaults and the changes, if missing."""
        return Upsert(self._entity, self._key, self._known(), changes)

    def _known(self) -> Values:
        """Return the attributes whose values the key says."""
        return {
            part.attribute: value
            for part, value in zip(self._entity.primary.parameters, self._arguments, strict=True)
            if part.is_exact
        }

    def delete(self) -> Delete[E]:
        """Delete the item, whatever its version."""
        refuse_undeletable(self._entity, "delete")
        return Delete(self._entity, self._key)

    def _steps(self, context: Context) -> Steps[E | None]:
        found: E | None = self._entity.decode_get((yield self._request(context)))
        return found

    def _request(self, context: Context) -> Request:
        body: dict[str, Any] = {"TableName": context.name_of(self._entity.table), "Key": self._key}
        if self._is_consistent:
            body["ConsistentRead"] = True
        return Request("GetItem", body)

    def _shape(self) -> Shape:
        return replace(
            read_shape(self._request(DECLARED), [self._entity], [self._entity.table]),
            extent=Paging(1),
            read_units=read_units(typical_size(self._entity), consistent=self._is_consistent),
            read_range=item_read(consistent=self._is_consistent),
        )
