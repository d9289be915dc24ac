"""One page: the blocks of a document as HTML, with the style inside and no script.

The page loads nothing. It is readable with a screen reader: it has one `h1`, headings in order, a
caption for each table, a name for each region that scrolls, and each diagram is an image with a
title, with a table of the same content beside it.

A key condition has one line for each key attribute, its values coloured:

    PK="CUST#{customer_id}" AND begins_with(SK, "ORDER#")

    PK  = CUST#customer_id
    SK  begins_with ORDER#
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tablewright.mapping.entity import EntityMap
from tablewright.plan.explanation import parts_text
from tablewright.plan.facts import ShapeKey, WholeScan
from tablewright.plan.shape import Shape
from tablewright.presentation.blocks import (
    NO_LINKS,
    Block,
    Cell,
    Chart,
    Code,
    ConditionCell,
    EntityCell,
    ErdDiagram,
    Heading,
    KeyMapDiagram,
    Links,
    PatternCell,
    Plain,
    Prose,
    StateDiagram,
    Verbatim,
)
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.erd import RELATION_COLUMNS, Erd
from tablewright.presentation.erd_svg import erd_svg
from tablewright.presentation.key_map import key_map, legend
from tablewright.presentation.states import states_svg
from tablewright.presentation.style import attribute_hue, chip, stylesheet
from tablewright.symbol import Argument, AttributeOf, Expression, MemberOf, parts_of
from tablewright.values import Value

#: The numbers of columns from which a table is stacked on a narrow screen, and has smaller text.
STACKED, DENSE = 3, 5
#: The sizes of a drawing: the first one fits the page.
ZOOMS = ("fit", "100%", "150%")
#: The lengths from which a word may be broken after a separator, and anywhere.
BREAKABLE_WORD, LONG_WORD = 16, 36


def page(blocks: Sequence[Block]) -> str:
    """Return a document as one HTML page; its first block is the title."""
    title, *rest = blocks
    if not isinstance(title, Heading):
        raise TypeError(f"a document begins with a heading, not with {title!r}")
    links = [
        element("li", element("a", _inline(block.text), href=f"#s{number}"))
        for number, block in enumerate(rest)
        if isinstance(block, Heading) and block.level == 2
    ]
    head = element(
        "head",
        "\n",
        [
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="generator", content="tablewright"),
            element("title", title.text.replace("`", "")),
            element("style", Markup(stylesheet())),
        ],
        "\n",
    )
    content = rendered(rest)
    body = element(
        "body",
        "\n",
        element("header", element("h1", _inline(title.text))),
        "\n",
        element("nav", element("ul", links), aria_label="Contents") if links else Markup(""),
        "\n",
        element("main", "\n", join(content, "\n"), "\n"),
        "\n",
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def rendered(blocks: Sequence[Block], links: Links = NO_LINKS) -> list[Markup]:
    """Return the blocks of a document, with links from the names in it."""
    return [_block(block, number, links) for number, block in enumerate(blocks)]


def _block(block: Block, number: int, links: Links) -> Markup:
    """Return a block; its number makes the ids in it unique."""
    match block:
        case Heading(level, text):
            return element(f"h{level}", _inline(text), id=f"s{number}")
        case Prose(text):
            return join(_prose(text))
        case Verbatim(text):
            return element("pre", element("code", text), tabindex="0")
        case Chart():
            return chart_table(block, links)
        case ErdDiagram(table, erd):
            title = f"Entities of the table {table}"
            drawn = zoomed(erd_svg(erd, title, f"erd{number}"), title, f"zoom{number}")
            return join([drawn, _relations(erd)])
        case KeyMapDiagram(table):
            title = f"Keys of each entity in the table {table.name} and its indexes"
            return join([legend(table), _scroll(key_map(table, links), title)])
        case StateDiagram(states):
            return _scroll(states_svg(states, f"states{number}"), states.title)


def zoomed(drawing: Markup, label: str, name: str) -> Markup:
    """Return a drawing that fits its page at first, with a choice of sizes above it."""
    sizes = []
    for number, size in enumerate(ZOOMS):
        checked = "" if number == 0 else None
        choice = element("input", type="radio", name=name, value=size, checked=checked)
        sizes.append(element("label", choice, f" {size}"))
    group = element("fieldset.zoom", element("legend.vh", f"Size of {label}"), sizes)
    return element("div.zoomed", group, _scroll(drawing, label))


def _scroll(content: Markup, label: str) -> Markup:
    return element("div", content, class_="scroll", tabindex="0", role="group", aria_label=label)


# -- texts ---------------------------------------------------------------------------------------


def _prose(text: str) -> Iterator[Markup]:
    """Return the paragraph and the list of a text."""
    paragraph, *entries = re.split(r"(?:^|\n)- ", text)
    if paragraph.strip():
        yield element("p", _inline(paragraph.strip()))
    if entries:
        yield element("ul", [element("li", _inline(entry)) for entry in entries])


def _inline(text: str, show: Callable[[str], str] = str) -> Markup:
    """Return a text with the code between its backticks marked."""
    parts = enumerate(map(show, re.split(r"`([^`\n]+)`", text)))
    return join(element("code", part) if position % 2 else part for position, part in parts)


# -- tables --------------------------------------------------------------------------------------


def chart_table(chart: Chart, links: Links = NO_LINKS) -> Markup:
    """Return a table with its caption, in a region that scrolls if it is too wide.

    On a narrow screen, each row of a table with several columns becomes a list of labelled values.
    It has roles, because a table that is not displayed as one loses its meaning for screen readers.
    """
    first_number = len(chart.header) - chart.numbers
    kinds = ["num" if n >= first_number else None for n in range(len(chart.header))]
    header = [
        element("th", name, scope="col", class_=kind, role="columnheader")
        for name, kind in zip(chart.header, kinds, strict=True)
    ]
    rows = [
        element("tr", _cells(chart.header, row, kinds, links), role="row") for row in chart.rows
    ]
    wanted = {"stacks": STACKED, "dense": DENSE}
    classes = [name for name, least in wanted.items() if len(chart.header) >= least]
    classes.insert(0, "chart")
    table = element(
        "table",
        element("caption", chart.caption),
        element("thead", element("tr", header, role="row"), role="rowgroup"),
        element("tbody", "\n", join(rows, "\n"), "\n", role="rowgroup"),
        role="table",
        class_=" ".join(classes),
    )
    return _scroll(table, chart.caption)


def _cells(
    header: Sequence[str], row: Sequence[Cell], kinds: Sequence[str | None], links: Links
) -> Iterator[Markup]:
    """Return the cells of a row; the first one is its heading unless it is empty."""
    for position, (name, cell, kind) in enumerate(zip(header, row, kinds, strict=True)):
        class_ = "long" if isinstance(cell, str) and _has_long_word(cell) else kind
        if isinstance(cell, ConditionCell):
            class_ = "cond"
        shown = _cell(cell, links)
        if position == 0 and cell:
            yield element("th", shown, scope="row", class_=class_, role="rowheader")
        else:
            yield element("td", shown, class_=class_, data_label=name, role="cell")


def _has_long_word(text: str) -> bool:
    return not isinstance(text, Markup) and max(map(len, text.split()), default=0) > LONG_WORD


def _cell(text: Cell, links: Links) -> Markup:
    match text:
        case Markup():
            return text
        case EntityCell(_, entities):
            return join([chip(each, href=links.entity(each)) for each in entities], " ")
        case PatternCell(name, label):
            code, href = element("code", _breakable(name)), links.pattern(label)
            return code if href is None else element("a", code, href=href)
        case ConditionCell(shape, entities):
            return condition_lines(shape, entities)
        case Code():
            return element("code", _breakable(text))
        case Plain():
            return _breakable(text)
        case _:
            return _inline(text, _breakable)


def _breakable(text: str) -> Markup:
    """Return a text whose long words may be broken after `_`, `#` and `.`."""
    words = re.split(r"(\s+)", text)
    return join(
        join(re.split(r"(?<=[_#.])(?=\w)", word), element("wbr"))
        if len(word) > BREAKABLE_WORD
        else word
        for word in words
    )


def _relations(erd: Erd) -> Markup:
    """Return the relations of a diagram as a table, for those who cannot see it."""
    if not erd.relations:
        return Markup("")
    rows = [
        [Plain(source), Plain(target), count, Code(label)]
        for source, target, count, label in erd.relation_rows()
    ]
    table = chart_table(Chart("Relations", RELATION_COLUMNS, rows))
    return element("details", element("summary", "The relations as a table"), table)


# -- key conditions --------------------------------------------------------------------------------


def condition_lines(shape: Shape, entities: Sequence[EntityMap]) -> Markup:
    """Return the key conditions of a shape, with a line for each key attribute of each.

    Those of a transaction are those of its first write.
    """
    keys = shape.keys or next((step.keys for step in shape.steps), ())
    steps = [join(_lines(key, entities)) for key in keys]
    if shape.parts is not None:
        steps[-1] = join([steps[-1], _line("", "", parts_text(shape))])
    return join(steps, element("div", "then", class_="then"))


def _lines(key: ShapeKey, entities: Sequence[EntityMap]) -> Iterator[Markup]:
    if isinstance(key, WholeScan):
        yield _line("", "", key.reason)
        return
    for name, value in key.equal.items():
        yield _line(name, "=", operands([value], entities))
    if key.sort is not None:
        yield _line(key.sort.attribute, key.sort.comparison, operands(key.sort.values, entities))


def _line(attribute: str, operator: str, shown: Markup | str) -> Markup:
    return element(
        "div", element("i", attribute), element("span", f"{operator} ", shown), class_="kt"
    )


def operands(values: Sequence[Value], entities: Sequence[EntityMap]) -> Markup:
    """Return the operands of a comparison; an argument has the hue of what it identifies."""
    pieces = []
    for position, value in enumerate(values):
        (text,) = value.values()
        pieces += [element("span", " and ", class_="l")] if position else []
        for part in parts_of(text):
            if isinstance(part, Expression):
                name = _name(part)
                hue = next(filter(None, (attribute_hue(each, name) for each in entities)), "")
                pieces.append(element("span", str(part), class_=f"v {hue}".strip()))
            else:
                pieces.append(element("span", part, class_="l"))
    return element("span", join(pieces, element("wbr")), class_="key tpl wrap")


def _name(expression: Expression) -> str:
    """Return the name of the attribute or argument that an expression is; "" for a computed one."""
    while isinstance(expression, MemberOf):
        expression = expression.of
    return expression.name if isinstance(expression, Argument | AttributeOf) else ""
