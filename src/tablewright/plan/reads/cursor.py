"""Cursors: where a page ended, for the request for the next one.

A cursor is an opaque text: the key of the last item, and what remains of the limit if the query has
one, signed together with the query it belongs to. It is rejected for another pattern, other
arguments, another order, filter or limit, for another tenant, and if it was changed.

    base64url( first 16 bytes of HMAC-SHA256(secret, binding + position) + position as JSON )
"""

from __future__ import annotations

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeAlias

import msgspec

from tablewright.errors import InvalidCursor
from tablewright.values import Item

_SIGNATURE = 16

#: The key at which a page ended; for a query with a limit, and how many results remain of it.
Position: TypeAlias = Item | tuple[Item, int]


def sign(secret: bytes, binding: Any, position: Position) -> str:
    """Return the cursor for a position in the query that `binding` describes."""
    text = msgspec.json.encode(position)
    return urlsafe_b64encode(_signature(secret, binding, text) + text).decode().rstrip("=")


def open_cursor(secret: bytes, binding: Any, cursor: str) -> Position:
    """Return the position in a cursor; raise InvalidCursor unless it is signed for this binding."""
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error, TypeError):
        raise InvalidCursor("this is not a cursor; pass page.next_cursor unchanged") from None
    signature, position = raw[:_SIGNATURE], raw[_SIGNATURE:]
    # Base64 has spare bits at the end: only the one spelling that we gave out is ours.
    if not hmac.compare_digest(signature, _signature(secret, binding, position)) or (
        urlsafe_b64encode(raw).decode().rstrip("=") != cursor
    ):
        raise InvalidCursor(
            "the cursor was changed, or belongs to another pattern, other arguments, another "
            "tenant or a database with another cursor_secret; start again without one"
        )
    opened: Position = _decode(position)
    return opened


_decode = msgspec.json.Decoder(Item | tuple[Item, int]).decode


def _signature(secret: bytes, binding: Any, position: bytes) -> bytes:
    message = msgspec.json.encode(binding) + b"\n" + position
    return hmac.digest(secret, message, "sha256")[:_SIGNATURE]
