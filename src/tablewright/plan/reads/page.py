"""Page: the results of a query in order, with the cursors of the next page and of the one before.

A cursor holds the key of the last item, and what is left of the limit if the query has one; that of
the page before holds the key of the first item. It is
encrypted, so it reveals no key, and authenticated together with what it is bound to: it is rejected
for another pattern, other arguments, another order or sort key, filter or limit, for another
tenant, and if a single character of it was changed.

    base64url( nonce + AES-256-GCM(key, nonce, position as MessagePack, associated data = binding) )

    nonce   12 random bytes
    key     HKDF-SHA256(secret, info = purpose + binding)

Each binding has a key of its own, so that no key gets near the number of random nonces after which
one may repeat (2**32 for GCM), however long a secret is used.

This module must not know where the secret comes from.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args, overload

import msgspec
import pydantic
from msgspec import Struct
from pydantic_core import core_schema

from tablewright.errors import InvalidCursor, InvalidValue, UnreadableItem
from tablewright.mapping.item_kind import UnknownItem
from tablewright.mapping.pydantic_bridge import core_schema_of, model_of
from tablewright.plan.plan import Context
from tablewright.plan.query_requests import QueryRequest
from tablewright.values import Item

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from tablewright.plan.reads.page_query import PageQuery

R = TypeVar("R")


class Page(Sequence[R]):
    """Results in order; `next_cursor` is a cursor for `after()`, None at the end.

    `previous_cursor` is a cursor for `before()`, None on the first page.
    Only `next_cursor` shows whether there is more: a page may be shorter than its size, or empty,
    and still have a cursor, if items were left out of it and 64 requests did not fill it.
    `unreadable` has an error for each stored item that does not match its entity.
    """

    __slots__ = ("_items", "next_cursor", "previous_cursor", "unreadable")

    def __init__(
        self,
        items: list[R],
        following: str | None = None,
        unreadable: tuple[UnreadableItem, ...] = (),
        previous: str | None = None,
    ) -> None:
        self._items = items
        self.next_cursor = following
        self.previous_cursor = previous
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


# -- cursors ---------------------------------------------------------------------------------------

#: Keeps the keys of cursors apart from others that are derived from the same secret.
_PURPOSE = b"tablewright cursor\n"
_KEY_SIZE = 32
_NONCE_SIZE = 12
#: The key at which a page ended, or where it began for the page before; {} for the end of the range
#: that is read. For a query with a limit, also how many results remain of it there.
Position: TypeAlias = Item | tuple[Item, int]
_decode = msgspec.msgpack.Decoder(Item | tuple[Item, int]).decode


class PageItems(Struct):
    """The items of a page that are not decoded yet, and the key where it ended if there is more.

    Items that no entity describes are among them, each as an `UnknownItem`.
    """

    items: list[Item]
    last: Item | None
    #: Where the page before ends; None if there is none.
    before: Item | None = None


class PageCursor:
    """Opens the cursor with which a page begins or ends, and makes those of the pages around it.

    `request` is that of the first page of the query.
    """

    def __init__(self, query: PageQuery[Any], request: QueryRequest, context: Context) -> None:
        self._query = query
        self._request = request
        self._context = context
        #: Where the page starts, or ends if it is one before; None at the beginning.
        self.start: Item | None = None
        #: What remains of the limit of the query at the start of the page; None without one.
        self.remaining = query._total
        self.is_backward = query._before is not None
        given = query._before if self.is_backward else query._cursor
        if given is not None:
            if self.is_backward and query._cursor is not None:
                raise InvalidValue("a page is read after() a cursor or before() one, not both")
            binding = self._binding(is_backward=self.is_backward)
            position = open_cursor(context.secret, binding, given)
            self.start, self.remaining = (
                position if isinstance(position, tuple) else (position, None)
            )

    def _binding(self, *, is_backward: bool) -> tuple[Any, ...]:
        binding = self._query._binding(self._request, self._context)
        return (*binding, "before") if is_backward else binding

    @property
    def passed(self) -> int | None:
        """How many results of the limit come before the cursor; None without a limit."""
        return None if self.remaining is None else (self._query._total or 0) - self.remaining

    def after(self, end: Item, results: list[Any]) -> str:
        """Return the cursor that continues behind `end`, after these results."""
        position = end if self.remaining is None else (end, self.remaining - len(results))
        return seal_cursor(self._context.secret, self._binding(is_backward=False), position)

    def _before(self, start: Item) -> str:
        """Return the cursor of the page that ends before `start`."""
        position = start if self.remaining is None else (start, self.remaining)
        return seal_cursor(self._context.secret, self._binding(is_backward=True), position)

    def page(
        self,
        results: list[Any],
        end: Item | None,
        unreadable: tuple[UnreadableItem, ...] = (),
        before: Item | None = None,
    ) -> Page[Any]:
        """Return a page that ends at `end`, or is the last if there is none.

        `before` is where the page before ends; None if this is the first. A page before a cursor
        always has a next one.
        """
        has_before = before is not None and self._query._can_turn
        previous = self._before(before or {}) if has_before else None
        is_last = not self.is_backward and (
            not end or self.remaining == len(results) or (self._query._is_first_only and results)
        )
        following = None if is_last else self.after(end or {}, results)
        return Page(results, following, unreadable, previous)


# -- the items of a page --------------------------------------------------------------------------


def known(items: list[Item]) -> Sequence[int]:
    """Return the places of the items that fill a page: those that are not unknown."""
    if UnknownItem not in map(type, items):
        return range(len(items))
    return [place for place, item in enumerate(items) if not isinstance(item, UnknownItem)]


def smaller(size: int | None, remaining: int | None) -> int | None:
    """Return the size of a page: never more than what remains of the limit."""
    if size is None or remaining is None:
        return remaining if size is None else size
    return min(size, remaining)


# -- the text of a cursor -------------------------------------------------------------------------


def seal_cursor(secret: bytes, binding: Any, position: Position) -> str:
    """Return the cursor for a position in what `binding` describes."""
    bound = msgspec.json.encode(binding)
    nonce = os.urandom(_NONCE_SIZE)
    sealed = _cipher(secret, bound).encrypt(nonce, msgspec.msgpack.encode(position), bound)
    return _text(nonce + sealed)


def open_cursor(secret: bytes, binding: Any, cursor: str) -> Position:
    """Return the position in a cursor; raise InvalidCursor if it is for another binding."""
    from cryptography.exceptions import InvalidTag

    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (ValueError, TypeError):
        raise InvalidCursor(
            "this is not a cursor; pass page.next_cursor, or page.previous_cursor, unchanged"
        ) from None
    bound = msgspec.json.encode(binding)
    nonce, sealed = raw[:_NONCE_SIZE], raw[_NONCE_SIZE:]
    try:
        # Base64 has spare bits at the end: only the one spelling that we gave out is ours.
        if _text(raw) != cursor or not sealed:
            raise InvalidTag
        opened: Position = _decode(_cipher(secret, bound).decrypt(nonce, sealed, bound))
    except InvalidTag:
        raise InvalidCursor(
            "the cursor was changed, or belongs to another pattern, other arguments, another "
            "tenant or a database with another cursor_secret; start again without one. after() "
            "takes page.next_cursor, before() takes page.previous_cursor"
        ) from None
    return opened


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


@lru_cache(maxsize=64)
def _cipher(secret: bytes, bound: bytes) -> AESGCM:
    """Return the cipher for the cursors of one binding.

    It is kept: each page of a query but the first opens a cursor and seals the next one.
    """
    # Imported with the first cursor: it takes 20 ms, and many programs need none.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derivation = HKDF(algorithm=SHA256(), length=_KEY_SIZE, salt=None, info=_PURPOSE + bound)
    return AESGCM(derivation.derive(secret))
