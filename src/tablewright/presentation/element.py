"""Elements of HTML and SVG, escaped by default.

`element` returns `Markup`. Every other text that becomes a child or the value of an attribute is
escaped, so a value cannot become markup. Characters that are invisible or that change the direction
of a text are replaced by visible names: they could hide or reorder what a reader sees, and most of
them are not allowed in XML.

A page has hundreds of elements, so `element` makes few calls: most texts have nothing to escape,
which one search finds, and tags and names of attributes are prepared once. This module must not
know what a page contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape as escape_markup
from typing import TypeAlias

#: Control characters except tab and line feed, the marks of direction, zero-width characters,
#: separators of lines and paragraphs, surrogates and the two last code points.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"
)
_invisible = re.compile(f"[{_INVISIBLE}]")
#: Finds a character that markup does not have as it is.
_special = re.compile(f"[&<>\"'{_INVISIBLE}]").search
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})


class Markup(str):
    """Text that is markup already; only this module makes it from values."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[str]"


def visible(text: str) -> str:
    """Return a text with a visible name for each invisible character: `[U+202E]`."""
    return _invisible.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def escape(text: str) -> Markup:
    """Return a text as markup that shows it; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape_markup(visible(text)))


def join(children: Iterable[str], separator: str = "") -> Markup:
    """Return several texts and elements as one markup."""
    shown = [
        each if each.__class__ is Markup or not _special(each) else escape(each)
        for each in children
    ]
    return Markup(escape(separator).join(shown) if separator else "".join(shown))


def element(tag: str, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element; `class_="num"` and `aria_label="…"` are its attributes.

    The tag may have classes, as in a style sheet. An attribute with the value None is left out. A
    number has at most one decimal place.

    >>> element("td.num.mono", "2", colspan=3)
    '<td class="num mono" colspan="3">2</td>'
    """
    start, end = _tags(tag)
    pieces = [start]
    for name, value in attributes.items():
        if value is None:
            continue
        if not isinstance(value, str):
            value = f"{round(value, 1):g}"
        elif value.__class__ is not Markup and _special(value):
            value = escape(value)
        pieces.append(f'{_names(name)}{value}"')
    pieces.append(">")
    for child in children:
        if child.__class__ is Markup:
            pieces.append(child)
        elif isinstance(child, str):
            pieces.append(escape(child) if _special(child) else child)
        else:
            pieces += [
                each if each.__class__ is Markup or not _special(each) else escape(each)
                for each in child
            ]
    pieces.append(end)
    return Markup("".join(pieces))


@cache
def _tags(tag: str) -> tuple[str, str]:
    """Return what an element with this tag begins and ends with."""
    name, _, classes = tag.partition(".")
    start = f'<{name} class="{classes.replace(".", " ")}"' if classes else f"<{name}"
    return start, "" if name in _VOID else f"</{name}>"


@cache
def _names(name: str) -> str:
    """Return what an attribute begins with."""
    return f' {name.rstrip("_").replace("_", "-")}="'
