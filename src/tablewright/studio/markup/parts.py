"""Parts that pages share. Each function returns markup; its classes are those of `style.css`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.values import middle

NOTHING = Markup("")
#: The sign and the class of what happens to an item, in a preview and in a stream.
CHANGES = {
    **dict.fromkeys(("added", "created"), ("+", "add")),
    **dict.fromkeys(("changed", "updated"), ("~", "mod")),
    **dict.fromkeys(("removed", "deleted", "expired"), ("\u2212", "del")),  # a minus sign
    "moved": ("→", "mov"),
    "same": ("=", "mod"),
}
#: The width of a bar.
BAR = 72
#: How much of a code is shown, how much of a text in it, and what each member counts for.
MAX_CODE = 16_000
LONG_TEXT = 400
JSON_MARKUP = 40


def heading(title: str, about: Child = "", aside: Child = "") -> Markup:
    """Return the heading of a page, with a description below and other content beside it."""
    below = element("p", about) if about else NOTHING
    return element("div.head", element("div", element("h1", title), below), aside)


def region(label: str, *content: Child) -> Markup:
    """Return a section with a border; the label names it for screen readers."""
    return element("section.panel", *content, aria_label=label)


def panel(
    title: str,
    *content: Child,
    about: Child = "",
    label: str = "",
    class_: str = "",
    **attributes: str | None,
) -> Markup:
    """Return a section with a border below its title, and what stands beside the title.

    The label names it for screen readers, if the title is not enough.
    """
    header = element("header", element("h2", title), about)
    classes, named = f"panel {class_}".strip(), label or title
    return element("section", header, *content, class_=classes, aria_label=named, **attributes)


def note(text: Child, kind: str = "", **attributes: str) -> Markup:
    """Return a remark; its kind is "", "warn", "bad" or "good"."""
    return element("p", text, class_=f"note {kind}".strip(), **attributes)


def tag(text: str, kind: str = "", **attributes: str) -> Markup:
    """Return a word in a box; its kind is "", "warn", "bad" or "good"."""
    return element("span", text, class_=f"tag {kind}".strip(), **attributes)


def faint(text: str) -> Markup:
    """Return a faint placeholder for a missing value."""
    return element("span.faint", text)


def aside(*content: Child) -> Markup:
    """Return content that is placed at the end of a line."""
    return element("span.end", *content)


def spoken(text: str) -> Markup:
    """Return a text for screen readers only."""
    return element("span.vh", text)


def sign(symbol: str, kind: str = "", title: str | None = None) -> Markup:
    """Return the symbol of a change or a check, hidden from screen readers."""
    class_ = f"sg {kind}".strip()
    return element("span", symbol, class_=class_, title=title, aria_hidden="true")


def arrow() -> Markup:
    """Return the arrow from an old value to a new one."""
    return join([element("span.arrow", "→", aria_hidden="true"), spoken("to")])


def scroll(label: str, content: Child, class_: str = "") -> Markup:
    """Return a region that scrolls sideways, reachable by keyboard."""
    classes = f"scroll {class_}".strip()
    return element("div", content, class_=classes, tabindex="0", role="group", aria_label=label)


def details(summary: Child, *content: Child, is_open: bool = False, class_: str | None = None
            ) -> Markup:  # fmt: skip
    """Return a summary; a click on it shows the content."""
    opened = "" if is_open else None
    return element("details", element("summary", summary), *content, class_=class_, open=opened)


def tabs(name: str, codes: Mapping[str, Markup], *more: Markup, id_: str | None = None) -> Markup:
    """Return tabs without a script, one for each title; the first one is open.

    `more` stands behind the titles.
    """
    choices = [
        part
        for number, title in enumerate(codes)
        for part in (
            element("input", type="radio", name=name, id=f"{name}-{number}",
                    checked="" if number == 0 else None),
            element("label", title, for_=f"{name}-{number}"),
        )
    ]  # fmt: skip
    return element("div.tabs", choices, *more, list(codes.values()), id=id_)


def bar(share: float) -> Markup:
    """Return a bar of which a share is filled."""
    return element(
        "svg.bar",
        element("rect", width=BAR, height=6, rx=3),
        element("rect", width=BAR * share, height=6, rx=3),
        viewBox=f"0 0 {BAR} 6",
        aria_hidden="true",
    )


# --- tables and lists ---------------------------------------------------------------------------


def data_table(
    caption: str,
    columns: Iterable[str],
    rows: Iterable[Markup | Sequence[Child]],
    *,
    kinds: Mapping[str, str] = {},
    foot: Child = "",
    class_: str | None = None,
    body: str | None = None,
) -> Markup:
    """Return a table with a caption for screen readers.

    `kinds` are the classes of the cells of some columns: "num" for numbers. A row is a list of
    cells, or the markup of a whole row. `body` is the id of the body.
    """
    classes = {name: kinds.get(name) for name in columns}
    names = [
        element("th", name, scope="col", class_="num" if "num" in (kind or "").split() else None)
        for name, kind in classes.items()
    ]
    shown = [
        row if isinstance(row, Markup) else element("tr", map(_cell, row, classes.values()))
        for row in rows
    ]
    return element(
        "table",
        element("caption.vh", caption),
        element("thead", element("tr", names)),
        element("tbody", shown, id=body),
        element("tfoot", element("tr", foot)) if foot else NOTHING,
        class_=class_,
    )


def _cell(content: Child, class_: str | None) -> Markup:
    return element("td", content, class_=class_)


def listed(lines: Iterable[Child], class_: str | None = None, **attributes: str) -> Markup:
    """Return a list."""
    return element("ul", [element("li", line) for line in lines], class_=class_, **attributes)


def facts(values: Iterable[tuple[str, str]]) -> Markup:
    """Return numbers with their names below them."""
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in values]
    return element("dl.facts", pairs)


def definitions(values: Iterable[tuple[str, Child]]) -> Markup:
    """Return names with their values beside them."""
    pairs = [each for name, value in values for each in (element("dt", name), element("dd", value))]
    return element("dl.dl", pairs)


# --- forms and links ----------------------------------------------------------------------------


def button_link(text: Child, href: str, kind: str = "", **attributes: str) -> Markup:
    """Return a link that looks like a button; its kind is "go", "bad", "sm" or ""."""
    return element("a", text, class_=f"btn {kind}".strip(), href=href, **attributes)


def button(text: Child, kind: str = "", **attributes: str | None) -> Markup:
    """Return a button that submits its form; its kind is "go", "bad", "sm" or ""."""
    return element("button", text, class_=f"btn {kind}".strip(), **attributes)


def hidden(name: str, value: str) -> Markup:
    """Return an invisible input of a form."""
    return element("input", type="hidden", name=name, value=value)


def choice(choices: Iterable[tuple[str, str]], chosen: str, **attributes: str | None) -> Markup:
    """Return an input with choices: the value and the label of each."""
    options = [
        element("option", label, value=value, selected="" if value == chosen else None)
        for value, label in choices
    ]
    return element("select", options, **attributes)


def field(label: str, control: Child, for_: str | None = None, class_: str = "f") -> Markup:
    """Return a control of a filter with its label above it."""
    name = element("label", label, for_=for_) if for_ else element("span", label)
    return element("div", name, control, class_=class_)


def swap(place: str, *, push: bool = True, **source: str) -> dict[str, str]:
    """Return the attributes that let htmx replace an element by the same one of another page.

    `source` is `hx_get` or `hx_post` with the URL, perhaps with `hx_trigger`.
    """
    kept = {"hx_push_url": "true"} if push else {}
    return {**source, "hx_select": place, "hx_target": place, "hx_swap": "outerHTML", **kept}


# --- code ---------------------------------------------------------------------------------------


def json_code(value: Any, label: str = "DynamoDB JSON") -> Markup:
    """Return a JSON value in lines, with its names and texts coloured.

    Long texts, and what is after MAX_CODE characters, are left out, and it says so.
    """
    return element("pre", _JsonLines().lines(value, ""), tabindex="0", aria_label=f"{label} code")


class _JsonLines:
    """Formats a JSON value, and counts what is left to show."""

    def __init__(self) -> None:
        self._left = MAX_CODE

    def lines(self, value: Any, indent: str) -> Markup:
        match value:
            case str():
                self._left -= min(len(value), LONG_TEXT)
                return element("span.s", msgspec.json.encode(middle(value, LONG_TEXT)).decode())
            case Mapping() if len(value) == 1 and not isinstance(
                next(iter(value.values())), Mapping
            ):
                ((name, inner),) = value.items()
                return join(["{", self._name(name), ": ", self.lines(inner, indent), "}"])
            case Mapping() if value:
                members = (
                    join([self._name(name), ": ", self.lines(inner, indent + "  ")])
                    for name, inner in value.items()
                )
                return self._block("{", "}", indent, members, len(value))
            case list() if value:
                members = (self.lines(inner, indent + "  ") for inner in value)
                return self._block("[", "]", indent, members, len(value))
            case _:
                return Markup(msgspec.json.encode(value).decode())

    def _name(self, name: str) -> Markup:
        return element("span.a", msgspec.json.encode(middle(name, LONG_TEXT)).decode())

    def _block(
        self, opening: str, closing: str, indent: str, members: Iterator[Markup], count: int
    ) -> Markup:
        shown: list[Markup] = []
        for member in members:
            shown.append(member)
            self._left -= JSON_MARKUP + len(indent)
            if self._left < 0:
                break
        lines = join(shown, f",\n{indent}  ")
        if len(shown) < count:
            rest = element("span.faint", f"… {count - len(shown):,} more")
            lines = join([lines, rest], f",\n{indent}  ")
        return join([opening, f"\n{indent}  ", lines, f"\n{indent}", closing])
