"""Load found: an aggregate whose root is found by a plan of its own.

OrderWithItems.of(Order.by_state("open").first())      Query + Query
OrderWithItems.of(Order.by_number("7"))                GetItem + GetItem + Query
"""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.members import AggregateMap
from tablewright.plan.reads.paged_load import load_of
from tablewright.plan.reads.single import Single, in_turn
from tablewright.plan.shape import Shape
from tablewright.symbol import Argument

T = TypeVar("T")


class LoadFound(Plan[T | None], Generic[T]):
    """An aggregate whose root is found by a plan of its own."""

    def __init__(self, kind: AggregateMap, root: Single[Any]) -> None:
        self._kind = kind
        self._root = root
        self._entity = entity = kind.root.entity
        arguments = entity.key_arguments(entity.symbolic(Argument(kind.root.field)))
        #: Loads the aggregate, with the key of the root that was found; raises if no query can.
        self._second: Load[T] = load_of(kind, entity.primary, arguments)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_second=self._second.consistent())

    def desc(self) -> Self:
        """Read from the highest sort key down."""
        return self._replace(_second=self._second.desc())

    def limit(self, children: int) -> Self:
        """Limit the rows after the root, on all levels together; the root must come first."""
        return self._replace(_second=self._second.limit(children))

    def page_size(self, size: int) -> Self:
        """Limit the results in the member that is a `Page`."""
        return self._replace(_second=self._second.page_size(size))

    def after(self, cursor: str | None) -> Self:
        """Continue the member that is a `Page` after `cursor`; None starts from the beginning."""
        return self._replace(_second=self._second.after(cursor))

    def skip_unreadable(self) -> Self:
        """Leave rows that cannot be decoded out of the member that is a `Page`."""
        return self._replace(_second=self._second.skip_unreadable())

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def _steps(self, context: Context) -> Steps[T | None]:
        found = yield from self._root._steps(context)
        if found is None:
            return None
        return (yield from self._load(found)._steps(context))

    def _load(self, root: Any) -> Load[T]:
        arguments = self._entity.key_arguments(root)
        return self._second._replace(_arguments=arguments, _pattern=self._pattern)

    def _shape(self) -> Shape:
        return in_turn(self._root._shape(), self._second._shape())
