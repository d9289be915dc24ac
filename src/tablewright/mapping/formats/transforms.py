"""Transforms: values of any type as one text, or as bytes that only programs read.

    codec             stored as
    json_text()       S    {"city":"Bern","zone":null}
    compressed()      B    the gzip of the text, of the bytes, or of the JSON
    encrypted(…)      B    the same, encrypted: see `encryption`

They are codecs of attributes. DynamoDB can neither compare nor sort what they write, so keys and
conditions refuse such attributes.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from tablewright.errors import DeclarationError
from tablewright.mapping.notation import Format, Notation, Transform

#: The most bytes that a stored value may expand to: an item has at most 400 KB.
LARGEST = 64 * 1024 * 1024
#: For zlib: a stream with the header of gzip or of zlib.
_ANY_HEADER = 47


def transforming(label: str, transform: Transform) -> Format[Any]:
    """Return the codec that stores values by a transform."""

    def refuse(inner: Notation) -> Notation:
        raise DeclarationError(
            f"is stored {transform.state}, so no key can contain it: its stored form can be "
            "neither sorted nor compared; use another attribute"
        )

    return Format(label, refuse, transform=transform)


def contents(kind: Any, *, keeps_text: bool) -> tuple[Callable[[Any], bytes], Callable[..., Any]]:
    """Return the functions from a value to the bytes that are transformed, and back.

    They raise what pydantic raises, or ValueError.
    """
    if kind is str and keeps_text:
        return str.encode, bytes.decode
    if kind is bytes and keeps_text:
        return bytes, bytes
    adapter = TypeAdapter[Any](kind)
    return adapter.dump_json, adapter.validate_json


def _expand(content: bytes) -> bytes:
    reader = zlib.decompressobj(_ANY_HEADER)
    try:
        found = reader.decompress(content, LARGEST)
    except zlib.error as error:
        raise ValueError(f"it is not compressed: {error}") from None
    if not reader.eof:
        raise ValueError(f"it is truncated, or expands to more than {LARGEST} bytes")
    return found


def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # the same bytes each time


JSON_TEXT: Format[Any] = transforming(
    "json_text({})", Transform("S", "as JSON", bytes, bytes, keeps_text=False)
)
COMPRESSED: Format[Any] = transforming(
    "compressed({})", Transform("B", "compressed", _compress, _expand)
)


def encrypted(keys: Any) -> Format[Any]:
    """Return the codec that encrypts values by the secrets of a provider."""
    for name in ("current", "secret"):
        if isinstance(keys, type) or not callable(getattr(keys, name, None)):
            given = keys.__name__ if isinstance(keys, type) else f"of type {type(keys).__name__}"
            raise DeclarationError(
                f"encrypted(…): {given} has no {name}(); pass KeyRing({{key_id: secret}}), "
                "EnvironmentKeys(variable), or an object with current() and secret(key_id)"
            )
    transform = Transform("B", "encrypted", bytes, bytes, keys=keys)
    return transforming("encrypted({})", transform)
