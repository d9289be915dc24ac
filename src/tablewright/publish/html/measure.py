"""The width of texts, estimated from an average width of characters.

The fonts of the reader are unknown. The averages are those of wide fonts, so a text that fits here
also fits with others.
"""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from tablewright.publish.html.element import visible

#: Average widths of a character, in units of the font size.
MONO = 0.61
SANS = 0.6
_WIDE = 1.1


def width(text: str, size: float, average: float = MONO) -> float:
    """Return the width of a text in pixels."""
    return size * sum(_character(each, average) for each in visible(text))


def _character(character: str, average: float) -> float:
    if combining(character):
        return 0
    return _WIDE if ord(character) > 0xFF and east_asian_width(character) in "WFA" else average


def wrap(text: str, limit: float, size: float, average: float = MONO) -> list[str]:
    """Split a text into lines that are not wider than `limit`, if possible after a separator."""
    lines, rest = [], visible(text)
    while width(rest, size, average) > limit:
        count = 1
        while width(rest[: count + 1], size, average) <= limit:
            count += 1
        after_separator = max(rest.rfind(each, 0, count) for each in " _#.-/,") + 1
        if after_separator * 2 > count:
            count = after_separator
        lines.append(rest[:count])
        rest = rest[count:]
    return [*lines, rest]
