"""Connecting: what `connect_async` returns, a database that is not open yet.

    async with connect_async("shop.db", Shop) as db: ...     opens it, closes it at the end
    db = await connect_async("shop.db", Shop)                 opens it; close it with db.close()

It is a coroutine, so `asyncio.run`, `create_task` and `gather` take it as well. Like a coroutine it
can be used once, and Python warns if it is never used.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

#: The type of the database.
D = TypeVar("D", bound=AbstractAsyncContextManager[Any])


class Connecting(Coroutine[Any, Any, D], Generic[D]):
    """A database to be opened by `await` or `async with`."""

    __slots__ = ("_database", "_opening")

    def __init__(self, opening: Coroutine[Any, Any, D]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, Any, D]:
        return self._opening.__await__()

    async def __aenter__(self) -> D:
        self._database = await self._opening
        return self._database

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._database.__aexit__(kind, error, trace)

    def send(self, value: Any) -> Any:
        return self._opening.send(value)

    def throw(self, *error: Any) -> Any:
        return self._opening.throw(*error)

    def close(self) -> None:
        self._opening.close()
