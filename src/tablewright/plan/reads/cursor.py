"""Cursors: where a page ended, for the request for the next one.

A cursor is a text without meaning to its holder: the key of the last item, and what is left of the
limit if the query has one, signed together with what it belongs to. It is refused for another
pattern, other arguments, another order, filter or limit, and for another tenant; and when a single
character of it has been changed.

    base64url( first 16 bytes of HMAC-SHA256(secret, binding + place) + place as JSON )
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

#: The key at which a page ended; for a query with a limit, and how many results are left of it.
Place: TypeAlias = Item | tuple[Item, int]


def sign(secret: bytes, binding: Any, place: Place) -> str:
    """Return the cursor for a place in what `binding` describes."""
    text = msgspec.json.encode(place)
    return urlsafe_b64encode(_signature(secret, binding, text) + text).decode().rstrip("=")


def open_cursor(secret: bytes, binding: Any, cursor: str) -> Place:
    """Return the place in a cursor; raise InvalidCursor if it was not signed for this binding."""
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error, TypeError):
        raise InvalidCursor("this is not a cursor; pass page.next_cursor as it is") from None
    signature, place = raw[:_SIGNATURE], raw[_SIGNATURE:]
    # Base64 has spare bits at the end: only the one spelling that we gave out is ours.
    if not hmac.compare_digest(signature, _signature(secret, binding, place)) or (
        urlsafe_b64encode(raw).decode().rstrip("=") != cursor
    ):
        raise InvalidCursor(
            "the cursor was changed, or belongs to another pattern, other arguments, another "
            "tenant or a database with another cursor_secret; start again without one"
        )
    opened: Place = _decode(place)
    return opened


_decode = msgspec.json.Decoder(Item | tuple[Item, int]).decode


def _signature(secret: bytes, binding: Any, place: bytes) -> bytes:
    message = msgspec.json.encode(binding) + b"\n" + place
    return hmac.digest(secret, message, "sha256")[:_SIGNATURE]
