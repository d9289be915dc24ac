"""Delimiters: what separates the parts of a key, and how a value that contains one is written.

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

from typing import ClassVar

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.language import Chars, Choice, Language, Repeat, Sequence, literal

#: Written behind the escape character for the delimiter itself. It sorts below every escape
#: character, so an escaped delimiter sorts below an escaped escape character.
MARK = "!"


class Delimiter(Struct, frozen=True):
    """What separates the parts of a key."""

    text: str = "#"
    escapes: bool = True

    def check(self, where: str) -> None:
        """Raise DeclarationError for a delimiter that cannot be used."""
        if not isinstance(self.text, str):
            raise DeclarationError(
                f"{where}: the delimiter is {self.text!r}; give a text of one or two characters"
            )
        if not self.text:
            raise DeclarationError(
                f"{where}: the delimiter is empty; give at least one character, and join parts "
                "without one by +"
            )
        if len(self.text) > 2:
            raise DeclarationError(
                f"{where}: the delimiter {self.text!r} has more than two characters"
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
        """Return what sorts right after the delimiter and everything that begins with it."""
        return self.text[:-1] + chr(ord(self.text[-1]) + 1)

    @property
    def special(self) -> str:
        """Return the characters that are written differently inside a value."""
        return self.text + self.escape_character if self.escapes else self.text

    def write(self, value: str) -> str:
        """Return a value as it stands in a key; raise InvalidValue if it cannot."""
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
        """Return the value of a text in a key; raise ValueError for an escape that is none."""
        if not self.escapes or self.escape_character not in text:
            return text
        escape = self.escape_character
        pieces = text.split(escape * 2)
        if any(piece.replace(escape + MARK, "").count(escape) for piece in pieces):
            raise ValueError(f"{text!r} has {escape!r} without {MARK!r} or {escape!r} after it")
        return escape.join(piece.replace(escape + MARK, self.text) for piece in pieces)

    def language(self, language: Language) -> Language:
        """Return the texts that the values of a language have in a key."""
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
        """Return the texts without these two characters in a row, even with the pair behind."""
        other = Chars(frozenset(first), negated=True)
        if first == second:
            return Repeat(Choice((other, Sequence((literal(first), other)))), 1, None)
        firsts = Repeat(literal(first), 1, None)
        neither = Chars(frozenset((first, second)), negated=True)
        whole = Choice((other, Sequence((firsts, neither))))
        return Choice((Repeat(whole, 1, None), Sequence((Repeat(whole, 0, None), firsts))))

    DEFAULT: ClassVar[Delimiter]


Delimiter.DEFAULT = Delimiter()
