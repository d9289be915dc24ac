"""Key parts: the place of one value in a key, and the delimiters between parts.

A part has a notation, which says how its values are written, and the delimiter of its key. Texts
of different lengths never contain the delimiter; texts of one length are written as they are, since
it is known where they end. Texts of different lengths do not always sort as values do: a shorter
text is followed by the delimiter, and a space or `!` sorts below `#`.

A delimiter that escapes writes itself, inside a value, as two characters. Both escapes begin with
the character that follows the delimiter, so escaping keeps the order of values; it works character
by character, so it keeps prefixes:

    delimiter   a value     in the key
    #           a#b         a$!b
    #           $5          $$5
    :           a:b         a;!b

With `escape=False` a value is written as it is, and one that contains the delimiter is refused:
for tables that other programs write, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.converters import Converter
from tablewright.mapping.language import (
    ANYTHING,
    DIGITS,
    EMPTY,
    NOTHING,
    Chars,
    Choice,
    Language,
    Repeat,
    Sequence,
    characters,
    literal,
    may_contain,
    sequence,
    width_of,
)
from tablewright.mapping.notation import Format, Notation, no_notation, notation_of
from tablewright.symbol import Argument, Computed, Expression, Symbol, SymbolicText, UnknownValue

#: Follows the escape character in an escaped delimiter. It sorts below every escape character, so
#: an escaped delimiter sorts below an escaped escape character.
MARK = "!"


class Delimiter(Struct, frozen=True):
    """What separates the parts of a key."""

    text: str = "#"
    escapes: bool = True

    def check(self, where: str) -> None:
        """Raise DeclarationError for a delimiter that cannot be used."""
        text: object = self.text
        if not isinstance(text, str) or not 1 <= len(text) <= 2:
            raise DeclarationError(
                f"{where}: the delimiter is {text!r}; write a text of one or two characters, "
                "and join parts without a delimiter by +"
            )
        if self.escapes and (len(self.text) > 1 or not MARK < self.text < "\x7f"):
            raise DeclarationError(
                f"{where}: values cannot be escaped for the delimiter {self.text!r}; use one of "
                "the characters from '\"' to '~', or escape=False"
            )

    @property
    def escape_character(self) -> str:
        return chr(ord(self.text) + 1)

    @property
    def above(self) -> str:
        """The lowest text that sorts after all texts with this prefix."""
        return self.text[:-1] + chr(ord(self.text[-1]) + 1)

    @property
    def special(self) -> str:
        """The characters that must be escaped inside a value, or are refused."""
        return self.text + self.escape_character if self.escapes else self.text

    def write(self, value: str) -> str:
        """Escape a value for a key; raise InvalidValue if it contains the delimiter unescaped."""
        if self.escapes:
            escape = self.escape_character
            return value.replace(escape, escape * 2).replace(self.text, escape + MARK)
        if (value + self.text).index(self.text) != len(value):
            raise InvalidValue(
                f"{value!r} contains the delimiter {self.text!r}, and the table is declared with "
                "escape=False; use another value"
            )
        return value

    def read(self, text: str) -> str:
        """Return the value of a text in a key; raise ValueError for an invalid escape."""
        if not self.escapes or self.escape_character not in text:
            return text
        escape = self.escape_character
        pieces = text.split(escape * 2)
        if any(piece.replace(escape + MARK, "").count(escape) for piece in pieces):
            raise ValueError(f"{text!r} has {escape!r} without {MARK!r} or {escape!r} after it")
        return escape.join(piece.replace(escape + MARK, self.text) for piece in pieces)

    def language(self, language: Language) -> Language:
        """Return the language of the escaped texts of a language."""
        match language:
            case Chars():
                return self._characters(language)
            case Sequence(items):
                return Sequence(tuple(map(self.language, items)))
            case Choice(options):
                return Choice(tuple(map(self.language, options)))
            case Repeat(item, least, most):
                if len(self.text) == 2 and isinstance(item, Chars) and item.negated:
                    return self._without_pair(*self.text)
                return Repeat(self.language(item), least, most)

    def _characters(self, chars: Chars) -> Language:
        if len(self.text) == 2:
            return chars
        special = frozenset(self.special)
        plain = Chars(
            chars.members | special if chars.negated else chars.members - special,
            negated=chars.negated,
        )
        if not self.escapes:
            return plain
        escape = self.escape_character
        written = {self.text: escape + MARK, escape: escape * 2}
        escaped = [literal(text) for character, text in written.items() if character in chars]
        return Choice((plain, *escaped)) if escaped else plain

    def _without_pair(self, first: str, second: str) -> Language:
        """Return the texts without this pair, also where the pair follows the text."""
        other = Chars(frozenset(first), negated=True)
        if first == second:
            return Repeat(Choice((other, Sequence((literal(first), other)))), 1, None)
        firsts = Repeat(literal(first), 1, None)
        neither = Chars(frozenset((first, second)), negated=True)
        whole = Choice((other, Sequence((firsts, neither))))
        return Choice((Repeat(whole, 1, None), Sequence((Repeat(whole, 0, None), firsts))))

    DEFAULT: ClassVar[Delimiter]


Delimiter.DEFAULT = Delimiter()


#: The texts of whole numbers above zero.
POSITIVE = sequence(characters(DIGITS[1:], 1, 1), characters(DIGITS, 0))


class KeyPart(Struct, frozen=True):
    """One value in a key."""

    attribute: str
    #: How the part is shown: `created_at`, `day(created_at)`.
    label: str
    notation: Notation
    #: Returns the text of an argument. Raises InvalidValue, which names the key, and UnknownValue
    #: for a symbol.
    text: Callable[[Any], str]
    #: Returns the argument of a text. Raises ValueError.
    read: Callable[[str], Any]
    #: The texts that are possible.
    language: Language
    #: How it is stored, with {} for the stored attribute: `day({})`, `padded({}, 3)`.
    form: str = "{}"
    #: Whether a delimiter in its text is escaped or refused.
    is_escaped: bool = False
    #: How a value is shown, with {} for it: `day({})`.
    shown: str = "{}"
    #: Of an optional part, the text before its value, `#ITEM#`: without a value, it has no text.
    prefix: str = ""
    #: The part that it is with a value.
    inner: KeyPart | None = None

    @property
    def can_be_absent(self) -> bool:
        """Whether it is an optional part, the last one of its key."""
        return self.inner is not None

    def text_or_symbol(self, value: Any) -> str:
        """Return the text of an argument; a SymbolicText for a symbol."""
        try:
            return self.text(value)
        except UnknownValue as unknown:
            return SymbolicText(unknown.expression)

    @property
    def expression(self) -> Expression:
        """The expression for the part in an item with unknown values: `day(created_at)`."""
        return _formatted(Argument(self.attribute), self.shown)

    def argument(self, value: Any) -> Any:
        """Return the argument of a call for a value of the attribute."""
        derive = self.notation.derive
        if derive is None:
            return value
        if isinstance(value, Symbol):
            return Symbol(_formatted(Symbol.expression(value), self.shown))
        return derive(value)

    @property
    def is_plain(self) -> bool:
        """Whether it is an attribute in the default notation of its type."""
        return self.label == self.attribute

    @property
    def is_ordered(self) -> bool:
        return self.notation.is_ordered

    @property
    def is_exact(self) -> bool:
        return self.notation.is_exact

    @property
    def is_free_text(self) -> bool:
        return self.notation.is_free_text

    @property
    def is_descending(self) -> bool:
        return self.notation.is_descending

    @property
    def attribute_text(self) -> Callable[[Any], str]:
        """The function that returns the text of an attribute's value."""
        argument, text = self.argument, self.text
        return text if self.notation.derive is None else lambda value: text(argument(value))

    def sorts_before(self, following: str) -> bool:
        """Return whether texts sort as values do if this literal follows them."""
        if width_of(self.language) is not None:
            return True
        below = "".join(map(chr, range(ord(following[0]))))
        return not may_contain(self.language, below)

    def language_or(self, other: Language) -> Language:
        """Return its texts and those of another language, each with what is before a value."""
        if not self.can_be_absent:
            return Choice((self.language, other))
        return Choice((self.language, sequence(literal(self.prefix), other)))

    def explains(self, text: str, value: Any) -> bool:
        """Return whether a stored text is a spelling of an attribute's value."""
        canonical = self.attribute_text(value)
        if text == canonical:
            return True
        try:
            return bool(self.read(text) == self.read(canonical))
        except ValueError:
            return False


def make_part(
    attribute: str,
    kind: Any,
    formats: tuple[Format, ...],
    *,
    pad: int | None,
    delimiter: Delimiter,
    where: str,
    is_positive: bool = False,
    keeps_value: bool = False,
) -> KeyPart:
    """Return the part for an attribute; `where` names the key in messages.

    With `keeps_value`, the formats are its codec: its values are those that they keep.
    """
    notation, shown, form = _notation(attribute, kind, formats, pad, where)
    if keeps_value:
        notation = replace(notation, is_exact=True)
    label = shown.format(attribute)
    if is_positive and notation.tag == "N" and notation.kind is int and notation.derive is None:
        notation = replace(notation, language=POSITIVE)
    if notation.derive is not None:
        notation = replace(notation, derive=_named(notation.derive, attribute, f"{where}: {label}"))
    is_escaped = (
        notation.tag == "S"
        and width_of(notation.language) is None
        and may_contain(notation.language, delimiter.special)
    )
    language = delimiter.language(notation.language) if is_escaped else notation.language
    write = _writer(notation, delimiter, attribute, shown, where, is_escaped=is_escaped)
    return KeyPart(
        attribute,
        label,
        notation,
        _text_writer(delimiter, write) if notation.is_free_text and not formats else write,
        _reader(notation, delimiter) if is_escaped else notation.decode,
        language,
        form,
        is_escaped,
        shown,
    )


def optional_part(inner: KeyPart, prefix: str) -> KeyPart:
    """Return a part that has no text without a value, and else begins with a prefix."""
    derive = inner.notation.derive

    def text(value: Any) -> str:
        if value is None:
            return ""
        try:
            return prefix + inner.text(value)
        except UnknownValue as unknown:
            raise UnknownValue(_formatted(unknown.expression, "optional({})")) from None

    notation = replace(
        inner.notation,
        derive=None if derive is None else lambda value: None if value is None else derive(value),
        is_optional=False,
        can_be_none=False,
    )
    return replace(
        inner,
        label=f"optional({inner.label})",
        notation=notation,
        text=text,
        read=lambda text: inner.read(text[len(prefix) :]) if text else None,
        language=Choice((EMPTY, sequence(literal(prefix), inner.language))),
        form=f"optional({inner.form}, {prefix!r})",
        shown=f"optional({inner.shown})",
        prefix=prefix,
        inner=inner,
    )


def natural_part(attribute: str, converter: Converter, *, is_positive: bool = False) -> KeyPart:
    """Return the part for an attribute that is a key itself, as it is stored."""
    is_usual = converter.tag == "S" and not converter.codec
    notation = notation_of(converter.kind, None) if is_usual else None
    language = ANYTHING if notation is None else notation.language
    if is_positive and converter.kind is int:
        language = POSITIVE
    has_one_text = converter.tag != "S" or (notation is not None and notation.has_one_text)
    stored = Notation(
        converter.kind,
        str,
        str,
        language,
        is_ordered=converter.is_ordered,
        has_one_text=has_one_text,
    )
    return KeyPart(attribute, attribute, stored, str, str, language)


def _notation(
    attribute: str, kind: Any, formats: tuple[Format, ...], pad: int | None, where: str
) -> tuple[Notation, str, str]:
    """Return the notation of an attribute, and how it is shown and stored, each with {}."""
    shown = "{}"
    try:
        notation = notation_of(kind, pad)
        if notation is None and not formats:
            raise no_notation(kind)
        notation = notation or Notation(kind, str, str, NOTHING)  # until a format gives it one
        form = notation.form
        for position, each in enumerate(formats):
            shown = each.label.format(shown)
            made = each.apply(notation)
            if each.place is not None:
                form = made.form.format(each.place(notation))
            else:
                form = each.label.format(form if each.of_text or position else "{}")
            notation = made
    except DeclarationError as error:
        label = shown.format(attribute)
        raise DeclarationError(f"{where}: {label} {error.message}") from None
    return notation, shown, form


def _named(derive: Callable[[Any], Any], attribute: str, where: str) -> Callable[[Any], Any]:
    """Return a function whose errors name the part."""

    def named(value: Any) -> Any:
        try:
            return derive(value)
        except InvalidValue as error:
            raise InvalidValue(f"{where} {error}", attribute=attribute) from None

    return named


def _writer(
    notation: Notation,
    delimiter: Delimiter,
    attribute: str,
    shown: str,
    where: str,
    *,
    is_escaped: bool,
) -> Any:
    label = shown.format(attribute)
    encode, first, last = notation.encode, delimiter.special[0], delimiter.special[-1]

    def write(value: Any) -> str:
        try:
            text = encode(value)
            if is_escaped and (first in text or last in text):
                return delimiter.write(text)
            return text
        except InvalidValue as error:
            if isinstance(value, Symbol):
                # A derived value was formatted when it was derived, or is an argument itself.
                form = "{}" if notation.derive is not None else shown
                raise UnknownValue(_formatted(Symbol.expression(value), form)) from None
            raise InvalidValue(f"{where}: {label} {error}", attribute=attribute) from None

    return write


def _formatted(expression: Expression, shown: str) -> Expression:
    """Return an expression in the formats of a part: `day(visit.at)`."""
    return expression if shown == "{}" else Computed(shown, (expression,))


def _text_writer(delimiter: Delimiter, write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a writer that is faster for texts without special characters."""
    first, second = delimiter.special[0], delimiter.special[-1]

    def write_text(value: Any) -> str:
        if type(value) is str and value and first not in value and second not in value:
            return value
        return write(value)

    return write_text


def _reader(notation: Notation, delimiter: Delimiter) -> Any:
    return lambda text: notation.decode(delimiter.read(text))
