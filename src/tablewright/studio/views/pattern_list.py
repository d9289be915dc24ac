"""The list of patterns: reads and writes, with a box that filters them."""

from __future__ import annotations

from tablewright.model.pattern import AccessPattern
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.parts import NOTHING
from tablewright.studio.shapes import shape_of
from tablewright.studio.url import url
from tablewright.verify import Design

#: Short names of operations in the list.
_SHORT = {
    "TransactWriteItems": "Transact",
    "PutItem": "Put",
    "UpdateItem": "Update",
    "DeleteItem": "Delete",
    "BatchWriteItem": "Batch",
}


def pattern_list(design: Design, current: str, wanted: str) -> Markup:
    """Return the patterns whose names or texts contain what is wanted."""
    found = [each for each in design.patterns if _matches(each, wanted)]
    box = element(
        "form",
        element("label", "Filter patterns", class_="vh", for_="pf"),
        element(
            "input",
            id="pf",
            name="filter",
            type="search",
            class_="mono",
            value=wanted,
            placeholder=f"Filter {len(design.patterns)} patterns",
            autocomplete="off",
            hx_get=url("/patterns/{}", current) if current else "/patterns",
            hx_trigger="input delay:150ms",
            hx_select="#plist",
            hx_target="#plist",
            hx_swap="outerHTML",
        ),
        class_="body pf",
        action="/patterns",
    )
    reads = [each for each in found if not shape_of(each).writes]
    writes = [each for each in found if shape_of(each).writes]
    lists = [_group("Reads", reads, design, current), _group("Writes", writes, design, current)]
    none = element("p", "No pattern has this name.", class_="body muted")
    listed = element("div", lists if found else none, class_="plist", id="plist")
    return element("aside", box, listed, class_="panel", aria_label="Patterns")


def _matches(pattern: AccessPattern, wanted: str) -> bool:
    text = f"{pattern.label} {pattern.doc} {shape_of(pattern).operation}".lower()
    return all(word in text for word in wanted.lower().split())


def _group(title: str, found: list[AccessPattern], design: Design, current: str) -> Markup:
    if not found:
        return NOTHING
    links = [element("li", _link(each, design, current)) for each in found]
    return join([element("h2", f"{title} · {len(found)}"), element("ul", links)])


def _link(pattern: AccessPattern, design: Design, current: str) -> Markup:
    place = pattern.function.__module__.rpartition(".")[2]
    where = element("small", place, " ") if len(design.tables) > 1 else NOTHING
    return element(
        "a",
        element("span", where, breakable(pattern.name)),
        operation_badge(pattern, is_short=True),
        href=url("/patterns/{}", pattern.label),
        aria_current="page" if pattern.label == current else None,
    )


def breakable(name: str) -> Markup:
    """Return a name that may be broken after each underscore."""
    pieces = name.split("_")
    return join([each + "_" * (n < len(pieces) - 1) for n, each in enumerate(pieces)],
                element("wbr"))  # fmt: skip


def operation_badge(pattern: AccessPattern, *, is_short: bool = False) -> Markup:
    """Return the operation of a pattern."""
    names = shape_of(pattern).operation.split(" + ")
    if is_short:
        names = [_SHORT.get(name, name) for name in names]
        names = names[-1:] if shape_of(pattern).writes else names[:1]
    return element("span", " + ".join(names), class_="op w" if shape_of(pattern).writes else "op")
