"""Scan: every item of an entity, by reading the whole table; declared with its reason.

Order.scan(reason="nightly export").filter(Order.total > 100)
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import SortCondition
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context
from tablewright.plan.reads.pages import MAX_REQUESTS
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.query_request import QueryRequest, Selection
from tablewright.plan.shape import Shape
from tablewright.plan.units import page_read

R = TypeVar("R")


class Scan(Query[R], Generic[R]):
    """Every item of an entity, in no useful order."""

    _operation: Literal["Query", "Scan"] = "Scan"

    def __init__(self, entity: EntityMap, reason: str) -> None:
        if not reason or not reason.strip():
            raise DeclarationError(f'{entity.name}.scan() needs its reason: scan(reason="…")')
        super().__init__(entity, entity.primary, (None,) * entity.primary.partition_arity)
        self._reason = reason

    @property
    def _may_contain_others(self) -> bool:
        return True

    def _check_filter(self, stored: str, condition: Condition[Any]) -> None:
        """Accept every filter: a scan reads whole items."""

    def desc(self) -> Any:
        raise DeclarationError(f"{self._entity.name}: a scan has no order; query a key or an index")

    def _request(self, context: Context) -> tuple[QueryRequest, bool, SortCondition | None]:
        members: dict[str, Any] = {"TableName": context.name_of(self._entity.table)}
        if self._is_consistent:
            members["ConsistentRead"] = True
        selection = Selection(None, self._filters(), self._paths())
        return QueryRequest(self._operation, members, selection), True, None

    def _shape(self) -> Shape:
        filters = [repr(self._filter)] if self._filter is not None else []
        return Shape(
            operation="Scan",
            table=self._entity.table.name,
            entity=self._entity.name,
            condition=self._reason,
            page=self._page_shape(filtered=False),
            filter=" AND ".join(filters),
            read_units=128,  # a page of 1 MB
            read_range=page_read(
                None,
                consistent=self._is_consistent,
                requests=1 if self._size is None else MAX_REQUESTS,
            ),
        )
