"""The list of patterns: reads and writes, with a box that filters them."""

from __future__ import annotations

from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import READS
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.markup.parts import NOTHING, scroll
from tablewright.studio.patterns.shapes import shape_of
from tablewright.studio.web.url import url
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
    lists = [_group("Reads", reads, current), _group("Writes", writes, current)]
    none = element("p", "No pattern has this name.", class_="body muted")
    listed = element("div", lists if found else none, class_="plist", id="plist")
    return element("aside", box, listed, class_="panel", aria_label="Patterns")


def _matches(pattern: AccessPattern, wanted: str) -> bool:
    text = f"{pattern.label} {pattern.doc} {shape_of(pattern).operation}".lower()
    return all(word in text for word in wanted.lower().split())


def _group(title: str, found: list[AccessPattern], current: str) -> Markup:
    """Return the patterns, by their modules if they are of several."""
    if not found:
        return NOTHING
    modules = dict.fromkeys(each.function.__module__ for each in found)
    lists = [
        join(
            [
                element("h3", module.rpartition(".")[2]) if len(modules) > 1 else NOTHING,
                element(
                    "ul",
                    [
                        element("li", _link(each, current))
                        for each in found
                        if each.function.__module__ == module
                    ],
                ),
            ]
        )
        for module in modules
    ]
    return join([element("h2", f"{title} · {len(found)}"), *lists])


def _link(pattern: AccessPattern, current: str) -> Markup:
    return element(
        "a",
        element("span", breakable(pattern.name)),
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
    shape = shape_of(pattern)
    names = shape.operation.split(" + ")
    if is_short:
        wanted = [name for name in names if (name not in READS) == shape.writes]
        names = [_SHORT.get(name, name) for name in wanted[:1]]
    return element("span", " + ".join(names), class_="op w" if shape.writes else "op")


def overview(design: Design, wanted: str) -> Markup:
    """Return what each wanted pattern does, for the page without a chosen one."""
    rows = [
        element(
            "tr",
            element("td", element("a", breakable(each.name), class_="mono",
                                  href=url("/patterns/{}", each.label))),
            element("td", each.doc.partition("\n")[0]),
            element("td", operation_badge(each)),
            element("td", shape_of(each).index or "", class_="mono"),
        )
        for each in design.patterns
        if _matches(each, wanted)
    ]  # fmt: skip
    header = [element("th", name, scope="col") for name in ("Pattern", "What it does",
                                                            "Operation", "Index")]  # fmt: skip
    table = element(
        "table",
        element("caption", "Access patterns", class_="vh"),
        element("thead", element("tr", header)),
        element("tbody", rows),
    )
    return element("section", scroll("Access patterns", table, "flat"), class_="panel",
                   aria_label="Access patterns")  # fmt: skip
