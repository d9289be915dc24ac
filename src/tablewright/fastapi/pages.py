"""Pages: the query parameters `limit` and `cursor`.

    @app.get("/issues")
    async def list_issues(db: DatabaseDep, page: Paging) -> Page[Issue]:
        return await db.run(page.apply(open_issues()))

A response is `{"items": […], "next_cursor": "…" | null}`. A cursor is opaque and can be in a URL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, Self, TypeAlias, TypeVar

from fastapi import Depends, Query


class _Paged(Protocol):
    """A plan with pages: a query, or an aggregate with a page of members."""

    def page_size(self, size: int, /) -> Self: ...
    def after(self, cursor: str | None, /) -> Self: ...


Plan = TypeVar("Plan", bound=_Paged)


@dataclass(frozen=True)
class PageParams:
    """The page that a client requests."""

    limit: int
    cursor: str | None = None

    def apply(self, plan: Plan) -> Plan:
        """Return the plan of this page."""
        return plan.page_size(self.limit).after(self.cursor)


def page_params(*, default: int = 20, maximum: int = 100) -> Callable[..., Any]:
    """Return a dependency with another page size: `Depends(page_params(maximum=500))`."""
    size: Any = Query(default, ge=1, le=maximum, description="The number of items on a page.")
    start: Any = Query(None, description="The `next_cursor` of the page before.")

    async def get_page_params(limit: int = size, cursor: str | None = start) -> PageParams:
        return PageParams(limit, cursor)

    return get_page_params


#: Pages of 20 items, or of 1 to 100 if the client says so.
Paging: TypeAlias = Annotated[PageParams, Depends(page_params())]
