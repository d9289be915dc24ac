"""Parts of SVG that the diagrams share: the image with its title, and texts with their widths.

Widths are estimated from an average width of characters, because the fonts of the reader are
unknown. The averages are those of wide fonts, so a text that fits here also fits with others.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining, east_asian_width

from tablewright.publish.html.element import Markup, element, visible

#: Average widths of a character, in units of the font size.
MONO = 0.61
SANS = 0.6
_WIDE = 1.1


def image(
    children: Iterable[str], size: tuple[float, float], title: str, description: str, ident: str
) -> Markup:
    """Return an image with a title and a description for screen readers.

    The colours come from the style sheet of the page. `ident` must be unique on the page.
    """
    wide, high = size
    return element(
        "svg",
        element("title", title, id=f"{ident}-title"),
        element("desc", description, id=f"{ident}-desc"),
        children,
        class_="diagram",
        role="img",
        aria_labelledby=f"{ident}-title",
        aria_describedby=f"{ident}-desc",
        width=wide,
        height=high,
        viewBox=f"0 0 {wide:.1f} {high:.1f}",
    )


def text(content: str, x: float, y: float, class_: str, length: float | None = None) -> Markup:
    """Return a text; with `length`, the browser fits it to this width in any font."""
    adjust = None if length is None else "spacingAndGlyphs"
    return element("text", content, x=x, y=y, class_=class_, textLength=length, lengthAdjust=adjust)


def rectangle(
    x: float, y: float, width: float, height: float, class_: str, rx: float | None = None
) -> Markup:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, class_=class_, rx=rx)


def path(commands: str, class_: str) -> Markup:
    """Return a path of a line."""
    return element("path", d=commands, class_=class_)


# -- widths --------------------------------------------------------------------------------------


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
