"""The format that a codec of the user makes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.codec import FAILURES, SupportsCodec, check_codec_members
from tablewright.mapping.formats.format import Format, refuse_descending
from tablewright.mapping.language import Chars, Repeat
from tablewright.mapping.notation import Notation
from tablewright.symbol import Symbol


def coded(codec: SupportsCodec[Any], label: str) -> Format:
    """Return the format by a codec of the user's."""
    check_codec_members(codec)
    alphabet, width = getattr(codec, "alphabet", None), getattr(codec, "width", None)
    is_ordered = bool(getattr(codec, "ordered", False))
    member = Chars(frozenset(), negated=True) if alphabet is None else Chars(frozenset(alphabet))
    language = Repeat(member, 1 if width is None else width, width)

    def encode(value: Any) -> str:
        if isinstance(value, Symbol):
            raise InvalidValue("is not known yet")  # its name is shown instead
        try:
            text = codec.encode(value)
        except FAILURES as error:
            raise InvalidValue(f"is {value!r}, which {label} does not encode: {error}") from None
        if type(text) is not str or not text:
            raise InvalidValue(f"is {value!r}, for which {label} gives {text!r}; give a text")
        if width is not None and len(text) != width:
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its width is declared as {width}"
            )
        if alphabet is not None and not set(text) <= set(alphabet):
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its alphabet is {alphabet!r}"
            )
        return text

    def decode(text: str) -> Any:
        try:
            return codec.decode(text)
        except FAILURES as error:
            raise ValueError(f"{label} does not decode {text!r}: {error}") from None

    def apply(inner: Notation) -> Notation:
        refuse_descending(inner)
        if inner.kind in (str, datetime) and not inner.is_exact:
            raise DeclarationError("takes the value itself, not another format of it")
        return replace(
            inner,
            encode=encode,
            decode=decode,
            language=language,
            is_ordered=is_ordered,
            is_free_text=alphabet is None,
            codec=codec,
            has_one_text=False,
            beginning=None,
        )

    return Format(f"{label}({{}})", apply)
