"""Page: the results of a query in order, with the cursor of the next page (`cursors.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args, overload

import pydantic
from pydantic_core import core_schema

from tablewright.errors import UnreadableItem
from tablewright.mapping.pydantic_bridge import core_schema_of, model_of

R = TypeVar("R")


class Page(Sequence[R]):
    """Results in order; `next_cursor` is a cursor for `after()`, None at the end.

    Only `next_cursor` shows whether there is more: a page may be shorter than its size, or empty,
    and still have a cursor, if items were left out of it and 64 requests did not fill it.
    `unreadable` has an error for each stored item that does not match its entity.
    """

    __slots__ = ("_items", "next_cursor", "unreadable")

    def __init__(
        self,
        items: list[R],
        following: str | None,
        unreadable: tuple[UnreadableItem, ...] = (),
    ) -> None:
        self._items = items
        self.next_cursor = following
        self.unreadable = unreadable

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def __getitem__(self, index: int | slice) -> R | list[R]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[R]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        """A page equals a list of the same results.

        Two pages are equal if both end there, or neither: two cursors of one place differ.
        """
        if isinstance(other, Page):
            return self._items == other._items and (
                (self.next_cursor is None) == (other.next_cursor is None)
            )
        return self._items == other

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __repr__(self) -> str:
        unreadable = f", unreadable={list(self.unreadable)!r}" if self.unreadable else ""
        return f"Page({self._items!r}, next_cursor={self.next_cursor!r}{unreadable})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """As `{"items": [...], "next_cursor": "…" | null}`."""
        (kind,) = get_args(source) or (Any,)
        name = f"Page_{getattr(kind, '__name__', 'Any')}_"
        items: Any = list
        model = model_of(name, {"items": (items[kind], ...), "next_cursor": (str | None, None)})
        return core_schema_of(
            cls,
            model,
            handler,
            lambda values: cls(values["items"], values["next_cursor"]),
            lambda page: {"items": page._items, "next_cursor": page.next_cursor},
        )
