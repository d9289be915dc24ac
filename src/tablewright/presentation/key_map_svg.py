"""The key map as SVG: a row for each entity, a column for the table and for each index.

A cell shows the template of each key attribute. Literals are plain; an attribute has the hue of the
entity that it identifies, so `CUST#{customerId}` has the same colour in the key of every entity.

    PK  CUST#customerId
    SK  ORDER#orderId
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.presentation.element import Markup, element
from tablewright.presentation.erd import owners
from tablewright.presentation.erd_svg import SANS, image, path, rectangle, text, width, wrap
from tablewright.presentation.style import hue

SIZE, LINE, PAD = 12, 20, 12
#: The widest name of a key attribute and of an entity, in pixels.
NAME_LIMIT, ENTITY_LIMIT = 96, 180
#: The width that the templates of all columns share, and the least and the most for one column.
TEMPLATES, NARROWEST, WIDEST = 880, 180, 300
ABSENT = "not in this index"


class _Piece(Struct, frozen=True):
    """A piece of a template; the hue is "" for a literal."""

    text: str
    hue: str

    @property
    def width(self) -> float:
        return width(self.text, SIZE) + (4 if self.hue else 0)


class _Row(Struct, frozen=True):
    """A key attribute and its template, or a condition, in wrapped lines."""

    name: list[str]
    lines: list[list[_Piece]]

    @property
    def height(self) -> int:
        return LINE * max(len(self.name), len(self.lines))


class _Column(Struct, frozen=True):
    """The table or an index: its heading, and the rows of each entity."""

    title: list[str]
    note: list[str]
    cells: list[list[_Row]]

    @property
    def name_width(self) -> float:
        rows = (row for cell in self.cells for row in cell)
        return max((width(name, 10, SANS) for row in rows for name in row.name), default=0)

    @property
    def width(self) -> float:
        lines = (line for cell in self.cells for row in cell for line in row.lines)
        content = max((sum(piece.width for piece in line) for line in lines), default=0)
        title = max(width(line, SIZE) for line in self.title)
        note = max(width(line, 11, SANS) for line in [*self.note, ABSENT])
        return 2 * PAD + max(self.name_width + 8 + content, title, note)


def key_map_svg(table: TableMap, title: str, ident: str) -> Markup:
    """Return the key map of a table; `ident` must be unique on the page."""
    places = [None, *table.indexes.values()]
    limit = min(max(TEMPLATES / len(places), NARROWEST), WIDEST)
    columns = [_column(table, place, limit) for place in places]
    names = [wrap(entity.name, ENTITY_LIMIT, 13, SANS) for entity in table.entities]
    entity_width = 2 * PAD + max(
        (width(line, 13, SANS) for lines in names for line in lines), default=60
    )
    head = 2 * PAD + LINE * max(len(each.title) + len(each.note) for each in columns)
    heights = [
        2 * PAD
        + max(
            LINE * len(name),
            *(sum(row.height for row in column.cells[n]) for column in columns),
        )
        for n, name in enumerate(names)
    ]
    size = (entity_width + sum(column.width for column in columns), head + sum(heights))
    drawn = [rectangle(0, 0, size[0], head, "head"), text("Entity", PAD, PAD + 14, "quiet")]
    y: float = head
    for position, (lines, height) in enumerate(zip(names, heights, strict=True)):
        drawn.append(path(f"M0 {y:.1f}H{size[0]:.1f}", "grid"))
        name = [
            text(line, PAD, _middle(y, height, len(lines), n), "name")
            for n, line in enumerate(lines)
        ]
        drawn.append(element("g", rectangle(0, y, 4, height, "stripe"), name, class_=hue(position)))
        y += height
    x: float = entity_width
    for column in columns:
        drawn.append(path(f"M{x:.1f} 0V{size[1]:.1f}", "grid"))
        drawn += _draw_column(column, x, head, heights)
        x += column.width
    drawn.append(rectangle(0.5, 0.5, size[0] - 1, size[1] - 1, "grid"))
    return image(drawn, size, title, _describe(table), ident)


def _middle(y: float, height: float, count: int, line: int) -> float:
    """Return the base line of one of several lines that are centred in a cell."""
    return y + height / 2 - LINE * count / 2 + LINE * line + 14


def _column(table: TableMap, index: IndexMap | None, limit: float) -> _Column:
    identified = owners(table.entities)
    hues = {entity.name: hue(position) for position, entity in enumerate(table.entities)}
    cells = []
    for entity in table.entities:
        keys = [key for key in (entity.primary, *entity.indexes) if key.index == index]
        found = {name: hues[owner] for (of, name), owner in identified.items() if of == entity.name}
        cells.append([row for key in keys for row in _rows(key, entity, found, limit)])
    if index is None:
        name, note = table.name, "table"
    else:
        projection = index.projection
        projected = projection if isinstance(projection, str) else ", ".join(projection)
        name, note = index.name, f"{index.kind} index, {projected}"
    return _Column(wrap(name, limit, SIZE), wrap(note, limit, 11, SANS), cells)


def _rows(key: KeyMap, entity: EntityMap, hues: dict[str, str], limit: float) -> Iterator[_Row]:
    for name, template in key.templates.items():
        lines = _flow(_pieces(template, entity, hues), limit)
        yield _Row(wrap(name, NAME_LIMIT, 10, SANS), lines)
    if key.when is not None:
        yield _Row(["if"], _flow([_Piece(repr(key.when), "")], limit))


def _pieces(template: Template, entity: EntityMap, hues: dict[str, str]) -> Iterator[_Piece]:
    for piece in template.pieces:
        if isinstance(piece, str):
            yield _Piece(piece, "")
        else:
            stored = entity.attributes[piece.attribute].stored
            label = stored if piece.is_plain else piece.label
            yield _Piece(label, hues.get(piece.attribute, "e0"))


def _flow(pieces: Iterable[_Piece], limit: float) -> list[list[_Piece]]:
    """Put pieces into lines that are not wider than the limit."""
    lines: list[list[_Piece]] = [[]]
    for piece in pieces:
        used = sum(each.width for each in lines[-1])
        if lines[-1] and used + piece.width > limit:
            lines.append([])
        first, *others = wrap(piece.text, limit - 4, SIZE)
        lines[-1].append(_Piece(first, piece.hue))
        lines += [[_Piece(each, piece.hue)] for each in others]
    return lines


def _draw_column(column: _Column, x: float, head: float, heights: list[int]) -> Iterator[Markup]:
    for n, line in enumerate(column.title):
        yield text(line, x + PAD, PAD + 14 + LINE * n, "key", width(line, SIZE))
    for n, line in enumerate(column.note, len(column.title)):
        yield text(line, x + PAD, PAD + 14 + LINE * n, "quiet")
    y = head
    for cell, height in zip(column.cells, heights, strict=True):
        if cell:
            yield from _draw_cell(cell, x + PAD, y, height, column.name_width + 8)
        else:
            yield rectangle(x + 1, y + 1, column.width - 1, height - 1, "absent")
            yield text(ABSENT, x + PAD, _middle(y, height, 1, 0), "quiet")
        y += height


def _draw_cell(
    cell: list[_Row], x: float, y: float, height: float, indent: float
) -> Iterator[Markup]:
    y += height / 2 - sum(row.height for row in cell) / 2
    for row in cell:
        for n, name in enumerate(row.name):
            yield text(name, x, y + 14 + LINE * n, "mark")
        for n, line in enumerate(row.lines):
            start = x + indent
            for piece in line:
                yield from _draw_piece(piece, start, y + LINE * n)
                start += piece.width
        y += row.height


def _draw_piece(piece: _Piece, x: float, y: float) -> Iterator[Markup]:
    length = width(piece.text, SIZE)
    if not piece.hue:
        yield text(piece.text, x, y + 14, "literal", length)
        return
    yield element(
        "g",
        rectangle(x, y + 1, length + 4, LINE - 3, "part", 3),
        text(piece.text, x + 2, y + 14, "attribute", length),
        class_=piece.hue,
    )


def _describe(table: TableMap) -> str:
    """Return the content of the key map in words."""
    return " ".join(
        f"{entity.name} in {'the table' if key.index is None else key.index.name}: "
        + ", ".join(f"{name} {template.show()}" for name, template in key.templates.items())
        + "."
        for entity in table.entities
        for key in (entity.primary, *entity.indexes)
    )
