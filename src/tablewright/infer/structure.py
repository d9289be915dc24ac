"""Structure: literals and variables in the texts of one key attribute.

    ORDER#1#ITEM#7, ORDER#1#ITEM#8     "ORDER", VaryingPart(1, 1), "ITEM", VaryingPart(7, 8)
    #METADATA#p1                       "#METADATA", VaryingPart(p1)
    $app#id_7                          "$app", VaryingPart(7), with the prefix "id_"
    METADATA, METADATA                 "METADATA"

A word that all texts have at one place is a literal; what differs, and what contains digits, is a
variable. A place that an attribute explains is a variable even if all items have the same text
there. Elements are separated by the delimiter; a variable may have a literal right before it.

This module knows texts, and nothing of items and entities.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from os.path import commonprefix

from msgspec import Struct

#: In the order of preference, where several would do.
DELIMITERS = "#:|~/_.-"
#: A word that the items of so many partitions have at one place is no value.
MANY = 10
_WORD = re.compile(r"[^\W\d]([^\W\d]|[_ -])*|[vV]\d+|\$[^\W\d][\w-]*").fullmatch
#: The name of an entity and its version, as ElectroDB writes them: `$assignments#tasks_1#…`.
_VERSIONED = re.compile(r"[^\W\d]\w*_\d+").fullmatch
#: A literal that another program put before a value, with a delimiter of its own.
_PREFIX = re.compile(r"[A-Za-z_]+[:|~/#]").match


class VaryingPart(Struct, eq=False):
    """A place in a key whose text differs from item to item."""

    texts: tuple[str, ...]
    #: The literal right before it, without a delimiter between them.
    prefix: str = ""
    #: Some texts contain the delimiter.
    is_ragged: bool = False


Element = str | VaryingPart
#: Whether an attribute has these texts.
Explains = Callable[[tuple[str, ...]], bool]


def is_word(text: str) -> bool:
    """Whether a text can be a literal.

    >>> is_word("ORDER"), is_word("v0"), is_word("$tasks_1"), is_word("player001"), is_word("2026")
    (True, True, True, False, False)
    """
    return _WORD(text) is not None


def find_delimiter(texts: Sequence[str]) -> str:
    """Return what separates words from values in key texts; "" if nothing does.

    >>> find_delimiter(["USER:1", "USER:2", "PROFILE"]), find_delimiter(["a-b", "c-d"])
    (':', '')
    """
    best, most, usual = "", 0, 0
    for candidate in DELIMITERS:
        words = Counter(_first_word(text, candidate) for text in texts if candidate in text)
        del words[""]
        score = words.total() - len(words) if candidate != "#" else words.total()
        if candidate == "#":
            usual = score
        if score > most:
            best, most = candidate, score
    if usual * 10 > most:  # the others are in values: USER#ann-1, where ids are ann-1
        best = "#"
    if not best:
        return "#" if any("#" in text for text in texts) else ""
    double = best * 2
    if all(best not in text.replace(double, "") for text in texts):
        return double
    return best


def _first_word(text: str, delimiter: str) -> str:
    first, _, rest = text.partition(delimiter)
    if first:
        return first if is_word(first) else ""
    return delimiter if rest else ""


def form_of(text: str, delimiter: str) -> tuple[str | None, ...]:
    """Return the words of a key text that can be literals; None for each of the others.

    >>> form_of("#ISSUE#OPEN#0007#abc", "#")
    ('', 'ISSUE', 'OPEN', None, None)
    """
    words = text.split(delimiter) if delimiter else [text]
    return tuple(
        word if not word or (is_word(word) and (word.isupper() or number == 0)) else None
        for number, word in enumerate(words)
    )


def find_elements(
    texts: Sequence[str], delimiter: str, explains: Explains, *, sorts: bool, partitions: int
) -> list[Element]:
    """Return the literals and variables of a key attribute.

    `sorts`: of a sort key, whose items are in this many partitions.
    """
    rows = [text.split(delimiter) if delimiter else [text] for text in texts]
    if len({len(row) for row in rows}) > 1:
        return _ragged(rows, delimiter)
    columns = list(zip(*rows, strict=True))
    if any(len(set(column)) > 1 and "" in column for column in columns):
        return _ragged(rows, delimiter)
    elements: list[Element] = []
    start = 0
    while start < len(columns):
        end = _explained_end(columns, start, delimiter, explains)
        labelled = _labelled(columns[start], explains) if end is None and start else None
        if labelled is not None:
            elements.append(labelled)
        elif end is None and _is_literal(
            columns, start, elements, sorts=sorts, partitions=partitions
        ):
            if elements and isinstance(elements[-1], str):
                elements[-1] += delimiter + columns[start][0]
            else:
                elements.append(columns[start][0])
        else:
            run = _joined(columns[start : end or start + 1], delimiter)
            elements.append(_variable(run, explains))
        start = end or start + 1
    return elements


def _explained_end(
    columns: list[tuple[str, ...]], start: int, delimiter: str, explains: Explains
) -> int | None:
    """Return where the longest run of columns ends that an attribute explains."""
    if start == 0 and len(columns) > 1 and _is_constant_word(columns[0]):
        return None
    for end in range(len(columns), start, -1):
        run = _joined(columns[start:end], delimiter)
        if all(run) and explains(run):
            return end
    return None


def _joined(columns: list[tuple[str, ...]], delimiter: str) -> tuple[str, ...]:
    return tuple(map(delimiter.join, zip(*columns, strict=True)))


def _is_constant_word(column: tuple[str, ...]) -> bool:
    return len(set(column)) == 1 and (not column[0] or is_word(column[0]))


def _is_literal(
    columns: list[tuple[str, ...]],
    position: int,
    before: list[Element],
    *,
    sorts: bool,
    partitions: int,
) -> bool:
    column = columns[position]
    if len(set(column)) > 1:
        return False
    (text,) = set(column)
    if not text:
        return True
    is_last = position == len(columns) - 1
    if len(columns) == 1:  # the whole key
        if sorts:
            return is_word(text) or partitions > 1
        return is_word(text) and (text.isupper() or len(column) > 1)
    if position and isinstance(before[-1], str) and before[-1][:1] == "$" and _VERSIONED(text):
        return True
    if not is_word(text):
        return False
    if not any(any(earlier) for earlier in columns[:position]):  # the first, perhaps behind a #
        return True
    if not isinstance(before[-1], str):
        return True
    if partitions >= MANY:
        return True
    # A word behind a literal: `CAT#NAME#…`, or the id in `user#alice`.
    return (text.isupper() and not is_last) or (is_last and partitions > 1 and sorts)


def _variable(texts: tuple[str, ...], explains: Explains) -> VaryingPart:
    if not explains(texts):
        prefixes = {found[0] if (found := _PREFIX(text)) else "" for text in texts}
        if len(prefixes) == 1 and len(set(texts)) > 1:
            prefix = prefixes.pop()
            if all(len(text) > len(prefix) for text in texts):
                return VaryingPart(tuple(text[len(prefix) :] for text in texts), prefix)
    return VaryingPart(texts)


def _labelled(texts: tuple[str, ...], explains: Explains) -> VaryingPart | None:
    """Return a variable behind its name, `project_p1`, if an attribute has its texts."""
    common = commonprefix(texts)  # noqa: RUF071  # they are no paths
    for end in (position + 1 for position, letter in enumerate(common) if letter == "_"):
        rest = tuple(text[end:] for text in texts)
        is_evidence = len(set(rest)) > 1 or len(rest[0]) > 2
        if all(rest) and is_evidence and explains(rest):
            return VaryingPart(rest, common[:end])
    return None


def _ragged(rows: list[list[str]], delimiter: str) -> list[Element]:
    """Return the common literals, and one variable for all that follows them."""
    shared = 0
    shortest = min(map(len, rows))
    while shared < shortest - 1 and _is_constant_word(tuple(row[shared] for row in rows)):
        shared += 1
    if not all(delimiter.join(row[shared:]) for row in rows):
        shared = 0
    literals: list[Element] = [delimiter.join(rows[0][:shared])] if shared else []
    rest = tuple(delimiter.join(row[shared:]) for row in rows)
    return [*literals, VaryingPart(rest, is_ragged=True)]
