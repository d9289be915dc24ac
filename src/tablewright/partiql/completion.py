"""Completion: what the word at the cursor can become, in the shell and in the studio.

Owns the rules only: words after FROM, INTO and UPDATE are tables, a name after a table and a dot is
an index, anything else is a keyword or an attribute. Names that need quotes get them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from tablewright.errors import TablewrightError
from tablewright.partiql.operands import FUNCTIONS
from tablewright.partiql.printing import format_name
from tablewright.partiql.tokens import RESERVED

_UNSUPPORTED = frozenset(("GROUP", "HAVING", "LIMIT", "JOIN", "UNION", "LIKE", "AS"))
KEYWORDS = sorted(
    [*(RESERVED - _UNSUPPORTED), "VALUE", "ALL", "MODIFIED", "OLD", "NEW"]
    + [f"{function}(" for function in FUNCTIONS]
)
#: The characters that end a word. Quotes and dots belong to it.
DELIMITERS = " \t\n,()=<>[]{}'"
_NAME = r'(?:"(?:[^"]|"")*"|[A-Za-z_$][\w$]*)'
_SOURCE = re.compile(rf"\b(?:FROM|INTO|UPDATE)\s+({_NAME})", re.IGNORECASE)
_BEFORE_SOURCE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+$", re.IGNORECASE)
_INDEX = re.compile(rf"({_NAME})\.(.*)", re.DOTALL)


class Names:
    """The names that completion offers; each function may ask the target."""

    def __init__(
        self,
        tables: Callable[[], Sequence[str]],
        indexes: Callable[[str], Sequence[str]],
        attributes: Callable[[str], Sequence[str]],
    ) -> None:
        self.tables = tables
        self.indexes = indexes
        self.attributes = attributes


def complete(before: str, word: str, names: Names, commands: Iterable[str] = ()) -> list[str]:
    """Return what a word can become, given the text before it; nothing if the target fails."""
    with suppress(TablewrightError, OSError):
        if not before.strip() and word.startswith("."):
            return [command for command in commands if command.startswith(word)]
        if before.lstrip().startswith("."):
            return _matching(word, names.tables())
        if _BEFORE_SOURCE.search(before):
            index = _INDEX.fullmatch(word)
            if index is None:
                return _matching(word, names.tables())
            table, part = index.groups()
            return [f"{table}.{one}" for one in _matching(part, names.indexes(_unquote(table)))]
        source = _SOURCE.search(before)
        attributes = names.attributes(_unquote(source[1])) if source else ()
        return [*_matching(word, attributes), *_matching_keywords(word)]
    return []


def _matching(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with a word, as a statement writes them."""
    if word.startswith('"'):
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        return sorted(name for name in quoted if name.startswith(word))
    return sorted(format_name(name) for name in names if name.startswith(word))


def _matching_keywords(word: str) -> list[str]:
    """Return the keywords that begin with a word, in the case of the word."""
    found = [one for one in KEYWORDS if word and one.lower().startswith(word.lower())]
    return [one.lower() for one in found] if word.islower() else found


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
