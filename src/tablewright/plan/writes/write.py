"""Write: the base of every write, alone or in `transact(…)`.

A write prepares itself: it reads what it has to know, computes its effect, and returns its actions
(`Write._prepare`). `commit` sends them, and prepares the write again if an item has changed.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, Protocol, Self

from typing_extensions import TypeVar

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Prepared
from tablewright.plan.writes.commit import commit
from tablewright.plan.writes.side_items import Audit
from tablewright.values import Item

T_co = TypeVar("T_co", covariant=True)
#: The result in a transaction, of which DynamoDB returns nothing.
R_co = TypeVar("R_co", covariant=True, default=Any)


class IsEntity(Protocol):
    """An instance of an entity's class; this layer does not know the class itself."""

    __entity__: ClassVar[EntityMap]


class IsRewritable(IsEntity, Protocol):
    """An instance of an entity that the type checkers do not know to be write-once."""

    __write_once__: ClassVar[Literal[False]]


def refuse_write_once(entity: EntityMap, verb: str) -> None:
    """Raise DeclarationError for a write that could change a write-once entity."""
    for kind in entity.kinds:
        if kind.is_write_once:
            raise DeclarationError(
                f"{kind.name} is write-once, so {verb} is not allowed; use create(…), which never "
                "overwrites"
            )


def refuse_undeletable(entity: EntityMap, verb: str) -> None:
    """Raise DeclarationError for a delete of a write-once entity that does not allow it."""
    for kind in entity.kinds:
        if not kind.is_deletable:
            raise DeclarationError(
                f"{kind.name} is write-once, so {verb} is not allowed; to allow deletes, declare "
                f"class {kind.name}(…, deletable=True)"
            )


def entity_of(instance: Any) -> EntityMap:
    """Return the compiled entity of an instance."""
    entity = getattr(type(instance), "__entity__", None)
    if not isinstance(entity, EntityMap):
        by_key = "; for a key, write Order.primary(…).update(…) or .delete()"
        raise DeclarationError(
            f"{instance!r} is not an entity; pass an instance, such as Order(order_id=…)"
            f"{by_key if isinstance(instance, Plan) else ''}"
        )
    return entity


class Write(Plan[T_co], Generic[T_co, R_co]):
    """A write, alone or in `transact(…)`."""

    _entity: EntityMap
    #: The key of its item before the write.
    _key: Item
    _conditions: tuple[Condition[Any], ...] = ()
    _by: Any = None
    _reason: Any = None
    #: The function that made it, for messages.
    _verb = "write"

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        """Read what has to be known, and return the actions.

        `alone`: there are no other writes in the same transaction. Raises RetryWrite if an item
        has changed meanwhile, WriteRejected if the write cannot succeed.
        """
        raise NotImplementedError

    def _steps(self, context: Context) -> Steps[T_co]:
        results = yield from commit((self,), context)
        return results[0]  # type: ignore[no-any-return]

    def _shape(self) -> Shape:
        raise NotImplementedError

    def _with_condition(self, condition: Condition[Any]) -> Self:
        check_condition(condition, self._entity)
        return self._replace(_conditions=(*self._conditions, *condition.parts()))

    def _audit(self, context: Context) -> Audit:
        return Audit(context.clock(), self._by, self._reason)
