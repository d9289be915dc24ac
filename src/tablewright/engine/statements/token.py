"""NextToken: where the next page of a statement begins.

A token holds the number of the branch to read, the key of the last row in it, and a digest of the
statement and its parameters; it is refused with any other statement. It holds nothing that the
response does not show, and gives no access: the key is checked like an ExclusiveStartKey.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import msgspec

from tablewright.encoding.items import normalise_item
from tablewright.errors import DynamoDBError, ValidationException
from tablewright.values import Item, Value
from tablewright.wire.values import read_values


class Position(msgspec.Struct, array_like=True):
    """A place between two rows of a statement's result."""

    digest: bytes
    branch: int
    start_key: Item | None


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Position).decode


def encode_token(
    text: str, parameters: Sequence[Value] | None, branch: int, key: Item | None
) -> str:
    """Return the token of the page that begins after a key of a branch."""
    position = Position(_digest(text, parameters), branch, key)
    return base64.urlsafe_b64encode(_encode(position)).decode()


def read_token(token: str, text: str, parameters: Sequence[Value] | None) -> Position:
    """Decode a token; raise a fault if it is invalid, or belongs to another statement."""
    try:
        position = _decode(base64.urlsafe_b64decode(token))
        if position.start_key is not None:
            position.start_key = normalise_item(read_values(position.start_key))
    except (ValueError, DynamoDBError):
        raise ValidationException("Invalid NextToken") from None
    if position.digest != _digest(text, parameters) or position.branch < 0:
        raise ValidationException("NextToken does not match request")
    return position


def _digest(text: str, parameters: Sequence[Value] | None) -> bytes:
    return hashlib.sha256(_encode((text, parameters or ()))).digest()[:12]
