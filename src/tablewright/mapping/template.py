"""Templates: one key attribute as literals and parts, composed from values and parsed from items.

    "ORDER" / created_at / order_id

    pieces     ("ORDER#", KeyPart(created_at), "#", KeyPart(order_id))
    composed   ORDER#2026-01-15T10:15:30.000000Z#O100
    parsed     (datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC), "O100")

Literals contain the delimiters that `/` puts between pieces; `+` puts none. A text can be parsed in
one way only: if the end of a part could not be found, the declaration is refused.

A natural template is an attribute of the item that is a key itself. This module knows nothing of
items, requests or entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import permutations
from typing import Any, Literal

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.converters import Converter
from tablewright.mapping.key_parts import Delimiter, KeyPart
from tablewright.mapping.language import (
    ANY_CHARACTER,
    NOTHING,
    Language,
    Repeat,
    intersects,
    literal,
    may_contain,
    sequence,
    starts_with,
    texts_of,
    to_regex,
    width_of,
)
from tablewright.symbol import Symbol, SymbolicText, UnknownValue, parts_of
from tablewright.values import Value

Tag = Literal["S", "N", "B"]


class Template(Struct, frozen=True):
    """One key attribute: literals and parts."""

    pieces: tuple[str | KeyPart, ...]
    #: For each part, the position of its value among the arguments of a call.
    slots: tuple[int, ...] = ()
    delimiter: Delimiter = Delimiter.DEFAULT
    #: The converter of the attribute, if the key is an attribute itself.
    natural: Converter | None = None
    tag: Tag = "S"

    @property
    def is_text(self) -> bool:
        """Whether its values are texts composed of pieces."""
        return self.natural is None and self.tag == "S"

    @property
    def has_one_text(self) -> bool:
        """Whether each key has only one spelling; DynamoDB normalizes numbers."""
        notations = [part.notation for part in self.parts]
        return all(each.has_one_text or each.tag != "S" for each in notations)

    @property
    def stored_tag(self) -> str:
        """The type of the key attribute: S, N or B."""
        return self.tag if self.natural is None else self.natural.tag or "S"

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, KeyPart))

    @property
    def first_literal(self) -> str:
        """The literal with which every text begins; "" if there is none."""
        first = self.pieces[0]
        return first if isinstance(first, str) else ""

    def language(self, first: int = 0, last: int | None = None) -> Language:
        """Return the possible texts of the key, or of some of its pieces."""
        return sequence(
            *(
                literal(piece) if isinstance(piece, str) else piece.language
                for piece in self.pieces[first:last]
            )
        )

    def show(self, name: str = "{}") -> str:
        """Return the template as documents write it: `ORDER#{created_at}#{order_id}`."""
        return "".join(
            piece if isinstance(piece, str) else _shown(piece, name) for piece in self.pieces
        )

    def symbolic(self) -> SymbolicText:
        """Return the text for an item with unknown values."""
        return SymbolicText(
            *(piece if isinstance(piece, str) else piece.expression for piece in self.pieces)
        )

    def check(self, where: str) -> None:
        """Raise DeclarationError for a part whose end could not be found in a text."""
        for part, following in zip(self.pieces, self.pieces[1:], strict=False):
            if isinstance(part, str) or width_of(part.language) is not None:
                continue
            if isinstance(following, KeyPart) and following.can_be_absent:
                following = following.prefix  # what follows, if anything does
            longer = _continuations(part)
            if longer is not None and not any(
                isinstance(following, KeyPart) or following[0] == text[0] for text in longer
            ):
                continue
            if isinstance(following, KeyPart):
                raise DeclarationError(
                    f"{where}: nothing separates {part.label} from {following.label}, so a key "
                    f"cannot be read; write / between them, or give {part.label} a fixed width"
                )
            if not following.startswith(self.delimiter.text) and may_contain(
                part.language, following[0]
            ):
                raise DeclarationError(
                    f"{where}: {part.label} can contain {following[0]!r}, and the next literal, "
                    f"{following!r}, begins with it, so a key cannot be read; write / between them"
                )


def _shown(part: KeyPart, name: str) -> str:
    """Return a part as documents write it; an optional one is in brackets."""
    if part.inner is not None:
        return f"[{part.prefix}{{{name.format(part.inner.label)}}}]"
    return f"{{{name.format(part.label)}}}"


def _continuations(part: KeyPart) -> list[str] | None:
    """Return the endings by which texts of a part extend other ones; None for free texts."""
    texts = texts_of(part.language)
    if texts is None:
        return None
    pairs = permutations(texts, 2)
    return [longer[len(text) :] for text, longer in pairs if longer.startswith(text)]


class Composer:
    """A template's leading pieces, ready to be filled in."""

    __slots__ = ("_parts", "_pieces", "form")

    def __init__(self, template: Template, count: int | None = None) -> None:
        leading = template.pieces[:count]
        self.form = "".join(
            piece.replace("%", "%%") if isinstance(piece, str) else "%s" for piece in leading
        )
        texts = [piece.text for piece in leading if isinstance(piece, KeyPart)]
        self._parts = tuple(zip(texts, template.slots, strict=False))
        self._pieces = leading

    def __call__(self, arguments: Sequence[Any]) -> str:
        """Return the text for the arguments of a call: a SymbolicText, if one is a symbol."""
        try:
            return self.form % tuple([text(arguments[slot]) for text, slot in self._parts])
        except UnknownValue:
            values = [arguments[slot] for _, slot in self._parts]
            return symbolic_text(self._pieces, values)


def symbolic_text(pieces: Sequence[str | KeyPart], values: Iterable[Any]) -> SymbolicText:
    """Return the text of pieces with symbols among their values."""
    given = iter(values)
    return SymbolicText(
        *(
            part
            for piece in pieces
            for part in parts_of(
                piece if isinstance(piece, str) else piece.text_or_symbol(next(given))
            )
        )
    )


class Parser:
    """Reads the parts of a key from its text.

    Its expressions are compiled on first use: a process reads few of the keys that a design
    declares, and to compile those of an entity took a third of its declaration.
    """

    def __init__(self, template: Template, *, any_spelling: bool = False) -> None:
        """With `any_spelling`, a part may also be any text without the delimiter."""
        self.template = template
        self.parts = template.parts
        self._any_spelling = any_spelling

    @cached_property
    def _pattern(self) -> str:
        anything = self.template.delimiter.language(Repeat(ANY_CHARACTER, 1, None))
        other = anything if self._any_spelling else NOTHING
        return "".join(
            re.escape(piece)
            if isinstance(piece, str)
            else f"({to_regex(piece.language_or(other))})"
            for piece in self.template.pieces
        )

    @cached_property
    def _match(self) -> Callable[[str], re.Match[str] | None]:
        return re.compile(self._pattern, re.DOTALL).fullmatch

    @cached_property
    def _begin(self) -> Callable[[str], re.Match[str] | None]:
        end = re.escape(self.template.delimiter.text)
        return re.compile(rf"{self._pattern}(?={end}|\Z)", re.DOTALL).match

    def matches(self, text: str) -> bool:
        """Return whether a text is such a key."""
        return self._match(text) is not None

    def beginning(self, text: str) -> str:
        """Return the part of a longer text that is this key; "" if it does not begin with one."""
        found = self._begin(text)
        return "" if found is None else found[0]

    def texts(self, text: str) -> tuple[str, ...] | None:
        """Return the text of each part; None if the text is not such a key."""
        found = self._match(text)
        return None if found is None else found.groups()

    def __call__(self, text: str) -> tuple[Any, ...]:
        """Return the value of each part; raise ValueError if the text is not such a key."""
        texts = self.texts(text)
        if texts is None:
            raise ValueError(f"{text!r} is not {self.template.show()}")
        return tuple(part.read(each) for part, each in zip(self.parts, texts, strict=True))


def value_encoder(template: Template) -> Callable[[Sequence[Any]], Value]:
    """Return the function that encodes a key attribute from the arguments of a call."""
    natural = template.natural
    if natural is None:
        compose, tag = Composer(template), template.tag
        return lambda arguments: {tag: compose(arguments)}
    (slot,) = template.slots
    return lambda arguments: encode_natural(natural, arguments[slot])


def encode_natural(natural: Converter, value: Any) -> Value:
    if isinstance(value, Symbol):
        return {natural.tag or "S": Symbol.text(value)}
    return natural.encode(value)


def natural_bound(natural: Converter, value: Any) -> Value:
    """Return a bound of a range of natural keys."""
    return encode_natural(natural, value) if isinstance(value, Symbol) else natural.bound(value)


# -- what two templates have in common -----------------------------------------------------------


def templates_can_collide(one: Template, other: Template) -> bool:
    """Return whether two templates can produce the same key value."""
    here, there = one.first_literal, other.first_literal
    length = min(len(here), len(there))
    if here[:length] != there[:length]:
        return False  # most keys differ in their first literal
    return intersects(one.language(), other.language())


def can_begin_with(template: Template, beginning: Language) -> bool:
    """Return whether a template can produce a text that begins with one of a language."""
    return starts_with(template.language(), beginning)


def extends(longer: Template, shorter: Template) -> bool:
    """Return whether one key begins with all pieces of the other, a delimiter, and more."""
    if len(longer.pieces) < len(shorter.pieces):
        return False
    delimiter = shorter.delimiter.text
    last = len(shorter.pieces) - 1
    for position, (piece, other) in enumerate(zip(shorter.pieces, longer.pieces, strict=False)):
        if isinstance(piece, KeyPart) or isinstance(other, KeyPart):
            if isinstance(piece, str) or isinstance(other, str):
                return False
        elif piece != other:
            return position == last and other.startswith(piece + delimiter)
    following = longer.pieces[last + 1 : last + 2]
    return all(isinstance(piece, str) and piece.startswith(delimiter) for piece in following) and (
        bool(following)
    )
