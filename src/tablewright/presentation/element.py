"""Elements of HTML and SVG, escaped by default.

`element` returns `Markup`. Every other text that becomes a child or the value of an attribute is
escaped, so a value cannot become markup. Characters that are invisible or that change the direction
of a text are replaced by visible names: they could hide or reorder what a reader sees, and most of
them are not allowed in XML.

This module must not know what a page contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as escape_markup
from typing import TypeAlias

#: Control characters except tab and line feed, the marks of direction, zero-width characters,
#: separators of lines and paragraphs, surrogates and the two last code points.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ud800-\udfff\ufff9-\ufffb\ufffe\uffff]"
)
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})


class Markup(str):
    """Text that is markup already; only this module makes it from values."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[str]"


def visible(text: str) -> str:
    """Return a text with a visible name for each invisible character: `[U+202E]`."""
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def escape(text: str) -> Markup:
    """Return a text as markup that shows it; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape_markup(visible(text)))


def join(children: Iterable[str], separator: str = "") -> Markup:
    """Return several texts and elements as one markup."""
    return Markup(escape(separator).join(map(escape, children)))


def element(tag: str, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element; `class_="num"` and `aria_label="…"` are its attributes.

    The tag may have classes, as in a style sheet. An attribute with the value None is left out. A
    number has at most one decimal place.

    >>> element("td.num.mono", "2", colspan=3)
    '<td class="num mono" colspan="3">2</td>'
    """
    tag, _, classes = tag.partition(".")
    if classes:
        attributes = {"class_": classes.replace(".", " "), **attributes}
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Markup(f"<{tag}{shown}>")
    content = "".join(
        escape(child) if isinstance(child, str) else join(child) for child in children
    )
    return Markup(f"<{tag}{shown}>{content}</{tag}>")


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 1):g}"
