"""Codecs of attributes: the converter of an attribute that is stored by a format.

    attr(codec=iso("seconds"))       {"S": "2026-01-15T10:15:30Z"}
    attr(codec=epoch_seconds())      {"N": "1768472130"}
    attr(codec=binary())             {"B": the 16 bytes of a UUID}
    attr(codec=compressed())         {"B": the gzip of a text}
    attr(codec=encrypted(keys))      {"B": a text that is encrypted when its item is written}

Invariants: a value that would not be read back equal is refused by `encode`. A format that keeps
less than its argument, as seconds of a moment, has `cut`, which makes an argument a value that is
kept; it is applied where values enter. Other spellings of a value are read.
"""

from __future__ import annotations

import binascii
import dataclasses
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_args

from pydantic.errors import PydanticUserError

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.converters.conversion import FAILURES, optional, refused, stored_as
from tablewright.mapping.formats.codecs import coded
from tablewright.mapping.formats.encryption import Cipher, Unsealed
from tablewright.mapping.formats.transforms import contents
from tablewright.mapping.language import NOTHING
from tablewright.mapping.notation import Format, Notation, Transform, notation_of
from tablewright.mapping.paths import without_none
from tablewright.mapping.pydantic_bridge import unannotated
from tablewright.values import Value


def codec_of(given: Any, where: str) -> Format[Any]:
    """Return the format of `codec=`: one of ours, or one made of a codec of the user."""
    if isinstance(given, Format):
        return given
    if isinstance(given, type):
        raise DeclarationError(
            f"{where}: attr(codec={given.__name__}) is a class; make an object of it: "
            f"attr(codec={given.__name__}(…))"
        )
    if callable(given) and not hasattr(given, "encode"):
        name = getattr(given, "__name__", repr(given))
        raise DeclarationError(
            f"{where}: attr(codec={name}) is a function; call it: attr(codec={name}(…))"
        )
    codec: Any = given
    try:
        return coded(codec, type(codec).__name__)
    except DeclarationError as error:
        message = error.message.replace("coded(…, ", "attr(codec=", 1)
        raise DeclarationError(f"{where}: {message}") from None


def coded_converter(
    annotation: Any, codec: Format[Any], pad: int | None, where: str, stored: str = ""
) -> Converter:
    """Return the converter of an attribute with a codec; raise DeclarationError.

    `stored` is its stored name, for values that are encrypted.
    """
    kind = without_none(annotation)
    with suppress(DeclarationError):  # only the codec may know the type
        kind = converter(kind, where).kind
    form = "{}"
    codec = codec.of_attribute or codec
    try:
        notation = notation_of(kind, pad) or Notation(kind, str, str, NOTHING)
        made: Converter | None = None
        for each in codec.chain:
            form = each.label.format(form)
            if each.transform is None:
                notation = each.apply(notation)
            else:
                made = _transformed(kind, each.transform, where, stored)
        if made is None:
            made = _written_by(notation, kind, form, where)
    except DeclarationError as error:
        shown = form.format(where.partition(".")[2])
        raise DeclarationError(f"{where}: {shown} {error.message}") from None
    made = dataclasses.replace(made, codec=form)
    return optional(made) if type(None) in get_args(unannotated(annotation)) else made


def _written_by(notation: Notation, kind: Any, form: str, where: str) -> Converter:
    """Return the converter of values that are stored in a notation."""
    tag, write, read, write_bound = (
        notation.tag,
        notation.encode,
        notation.decode,
        notation.bound,
    )
    attribute = where.partition(".")[2]
    keeps_all = notation.is_exact and notation.codec is None

    def text(value: Any, write: Callable[[Any], str]) -> str:
        try:
            return write(value)
        except InvalidValue as error:
            raise InvalidValue(f"{where} {error}", attribute=attribute) from None

    def encode(value: Any) -> Value:
        written = text(value, write)
        if not keeps_all and read(written) != value:
            raise InvalidValue(
                f"{where} is {value!r}, of which {form.format(attribute)} keeps "
                f"{read(written)!r}; pass that",
                attribute=attribute,
            )
        return {tag: written}

    def bound(value: Any) -> Value:
        return encode(value) if write_bound is None else {tag: text(value, write_bound)}

    made = stored_as(tag, where, kind, encode, read)
    return dataclasses.replace(
        made,
        exact=bound,
        cut=None if notation.is_exact else lambda value: read(text(value, write)),
        is_ordered=notation.is_ordered,
    )


def _transformed(kind: Any, transform: Transform, where: str, stored: str) -> Converter:
    """Return the converter of values that only programs read."""
    try:
        dump, load = contents(kind, keeps_text=transform.keeps_text)
    except (PydanticUserError, ImportError, TypeError) as failure:
        says = str(failure).splitlines()[0]
        raise DeclarationError(
            f"needs a type that pydantic supports (its message: {says})"
        ) from None

    cipher = None if transform.keys is None else Cipher(transform.keys, where, stored)

    def encode(value: Any) -> Value:
        try:
            content = dump(value)
            same = load(content)
        except FAILURES as failure:
            raise refused(where, value, kind, "it would not come back as it is") from failure
        if type(same) is not type(value) or same != value:
            raise refused(where, value, kind, "it would not come back as it is")
        if cipher is not None:
            return {"B": Unsealed(content, cipher)}
        written = transform.encode(content)
        if transform.tag == "S":
            return {"S": written.decode()}
        return {"B": binascii.b2a_base64(written, newline=False).decode()}

    def read(content: Any) -> Any:
        if cipher is not None:
            if not isinstance(content, Unsealed):
                raise ValueError("it is encrypted, and is read with the key of its item only")
            return load(content.content)
        stored = content.encode() if transform.tag == "S" else binascii.a2b_base64(content)
        return load(transform.decode(stored))

    made = stored_as(transform.tag, where, kind, encode, read)
    return dataclasses.replace(made, state=transform.state, is_ordered=False, cipher=cipher)
