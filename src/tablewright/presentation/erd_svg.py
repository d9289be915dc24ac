"""The entity-relationship diagram as SVG: boxes in columns, relations as lines between them.

A diagram of states (`states.py`) is drawn in the same way, with arrows.

Lines run at right angles. Those between two columns use one lane each, left of their labels, so
neither covers the other. Entities without relations are in rows below.

Widths are estimated from an average width of characters, because the fonts of the reader are
unknown. The averages are those of wide fonts, so a text that fits here also fits with others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias
from unicodedata import combining, east_asian_width

from msgspec import Struct

from tablewright.presentation.element import Markup, element, visible
from tablewright.presentation.erd import Attribute, Erd, Node, Relation
from tablewright.presentation.layers import Layers, layers
from tablewright.presentation.style import hue

ROW, CAP, PAD, MARGIN = 18, 28, 12, 16
#: The distance between boxes in a column, between lanes, and between lines at a box.
GAP, LANE, STEP = 28, 10, 18
#: The height of a line of a label.
LABEL = 14
NAME_LIMIT, KIND_LIMIT, LABEL_LIMIT, TITLE_LIMIT = 210, 150, 150, 260
#: The width that is filled with entities without relations.
SHELF = 900


class _Line(Struct, frozen=True):
    marks: str
    name: list[str]
    kind: list[str]
    #: The hue of the entity that the attribute identifies, or "".
    hue: str

    @property
    def height(self) -> int:
        return ROW * max(len(self.name), len(self.kind))


class _Box(Struct):
    """A box with its texts wrapped; the layout gives it a place and perhaps more height."""

    title: list[str]
    lines: list[_Line]
    hue: str
    #: The label of the relations to itself, wrapped; empty if there are none.
    loop: list[str]
    width: float
    height: float
    x: float = 0
    y: float = 0

    @property
    def outer_height(self) -> float:
        return self.height + (LABEL * (len(self.loop) + 1) if self.loop else 0)


def erd_svg(erd: Erd, title: str, ident: str) -> Markup:
    """Return the diagram; `ident` must be unique on the page."""
    return network_svg(erd, title, _describe(erd), ident, _draw_counts)


def network_svg(erd: Erd, title: str, description: str, ident: str, draw_ends: DrawEnds) -> Markup:
    """Return boxes with lines between them; `draw_ends` draws the two ends of each line."""
    hues = {node.name: hue(position) for position, node in enumerate(erd.nodes)}
    relations = [each for each in erd.relations if each.source != each.target]
    loops = [each for each in erd.relations if each.source == each.target]
    boxes = {
        node.name: _box(node, hues, [each.label for each in loops if each.source == node.name])
        for node in erd.nodes
    }
    related = {name for each in relations for name in (each.source, each.target)}
    placed = layers(
        [name for name in boxes if name in related],
        [(each.source, each.target) for each in relations],
    )
    drawing = _Drawing(boxes, relations, placed)
    lines = list(drawing.draw_relations(draw_ends))
    size = _place_shelf([box for name, box in boxes.items() if name not in related], drawing.size)
    drawn = [mark for box in boxes.values() for mark in _draw_box(box)]
    return image([*lines, *drawn], size, title, description, ident)


def _describe(erd: Erd) -> str:
    """Return the content of the diagram in words."""
    names = {node.name: node.entity for node in erd.nodes}
    relations = (
        f" One {names[each.source]} to {'many' if each.many else 'one'} {names[each.target]}, "
        f"by {each.label}."
        for each in erd.relations
    )
    return f"Entities: {', '.join(names.values())}.{''.join(relations)}"


# -- boxes ---------------------------------------------------------------------------------------


def _box(node: Node, hues: dict[str, str], loops: list[str]) -> _Box:
    title = wrap(node.entity, TITLE_LIMIT, 13, SANS)
    lines = [_line(each, hues.get(each.owner, "")) for each in node.attributes]
    name = max((width(each, 12) for line in lines for each in line.name), default=0)
    kind = max((width(each, 11) for line in lines for each in line.kind), default=0)
    marks = max((width(line.marks, 9, CAPITALS) for line in lines), default=0)
    heading = max(width(line, 13, CAPITALS) for line in title)
    inner = max(marks + 8 + name + 20 + kind, heading, 120) if lines else heading
    labels = wrap(", ".join(loops), inner - 60, 11, SANS) if loops else []
    height = CAP + ROW * (len(title) - 1) + sum(line.height for line in lines)
    height += PAD if lines else 0
    return _Box(title, lines, hues[node.name], labels, inner + 2 * PAD, height)


def _line(attribute: Attribute, color: str) -> _Line:
    return _Line(
        " ".join(attribute.marks),
        wrap(attribute.name, NAME_LIMIT, 12),
        wrap(attribute.kind, KIND_LIMIT, 11),
        color,
    )


def _draw_box(box: _Box) -> Iterator[Markup]:
    cap = CAP + ROW * (len(box.title) - 1)
    marked = cap if box.lines else box.height
    marks = max((width(line.marks, 9, CAPITALS) for line in box.lines), default=0)
    left, right = box.x + PAD, box.x + box.width - PAD
    drawn = [
        rectangle(box.x, box.y, box.width, box.height, "box", 6),
        rectangle(box.x + 1, box.y + 1, box.width - 2, marked - 2, "cap", 5),
        *(text(line, left, box.y + 19 + ROW * n, "name") for n, line in enumerate(box.title)),
    ]
    y = box.y + cap + 4
    for line in box.lines:
        if line.marks:
            drawn.append(text(line.marks, left, y + 13, "mark"))
        class_ = f"attribute {line.hue}" if line.hue else "key" if line.marks else "field"
        drawn += [
            text(each, left + marks + 8, y + 13 + ROW * n, class_, width(each, 12, MONO))
            for n, each in enumerate(line.name)
        ]
        drawn += [text(each, right, y + 13 + ROW * n, "kind") for n, each in enumerate(line.kind)]
        y += line.height
    yield element("g", drawn, class_=box.hue)
    if box.loop:
        x, bottom = box.x + box.width - 14, box.y + box.height
        yield path(f"M{x - 28:.1f} {bottom:.1f}v12h28v-12", "relation")
        for n, each in enumerate(box.loop):
            yield text(each, x - 34, bottom + 13 + LABEL * n, "label")


def _place_shelf(boxes: list[_Box], above: tuple[float, float]) -> tuple[float, float]:
    """Place the boxes without relations below; return the size of the whole diagram."""
    total, top = above
    x, y, bottom = float(MARGIN), top + (GAP if top else MARGIN), top
    for box in boxes:
        if x > MARGIN and x + box.width > max(total, SHELF):
            x, y = MARGIN, bottom + GAP
        box.x, box.y = x, y
        x += box.width + GAP
        total = max(total, x - GAP)
        bottom = max(bottom, y + box.outer_height)
    return total + MARGIN, bottom + MARGIN


# -- relations -----------------------------------------------------------------------------------


class _Hop(Struct):
    """The part of a relation between two columns that are side by side."""

    start_y: float
    end_y: float
    start_x: float = 0
    end_x: float = 0
    #: Where the line runs up or down.
    lane_x: float = 0


class _Drawing:
    """The boxes with relations in their columns, and the lines between them."""

    def __init__(self, boxes: dict[str, _Box], relations: list[Relation], placed: Layers) -> None:
        self._boxes, self._relations, self._placed = boxes, relations, placed
        self._labels = [wrap(each.label, LABEL_LIMIT, 11, SANS) for each in relations]
        #: The top and the height of each box and waypoint.
        self._spans: dict[str, tuple[float, float]] = {}
        self._make_room_for_lines()
        self._place_vertically()
        self._hops = self._make_hops()
        self.size = self._place_horizontally()

    def _make_room_for_lines(self) -> None:
        """Make each box high enough for the lines at either side, with their labels."""
        for name, box in self._boxes.items():
            for end in (0, -1):
                found = [each.edge for each in self._placed.chains if each.nodes[end] == name]
                lines = max((len(self._labels[edge]) for edge in found), default=1)
                step = STEP + LABEL * (lines - 1)
                box.height = max(box.height, step * (len(found) + 1))

    def _place_vertically(self) -> None:
        heights = {name: box.outer_height for name, box in self._boxes.items()}
        columns = self._placed.columns
        totals = [
            sum(heights.get(node, 0) for node in column) + GAP * (len(column) - 1)
            for column in columns
        ]
        for column, total in zip(columns, totals, strict=True):
            y = MARGIN + (max(totals) - total) / 2
            for node in column:
                box = self._boxes.get(node)
                self._spans[node] = (y, 0 if box is None else box.height)
                if box is not None:
                    box.y = y
                y += heights.get(node, 0) + GAP

    def _make_hops(self) -> list[list[_Hop]]:
        """Return the hops of each chain, with their heights; the rest is set later."""
        ports: dict[tuple[int, int, int], float] = {}
        for side in (0, 1):  # leaves on the right, arrives on the left
            at_node: dict[str, list[tuple[float, int, int]]] = {}
            for number, chain in enumerate(self._placed.chains):
                for hop in range(len(chain.nodes) - 1):
                    other, height = self._spans[chain.nodes[hop + 1 - side]]
                    node = chain.nodes[hop + side]
                    at_node.setdefault(node, []).append((other + height / 2, number, hop))
            for node, found in at_node.items():
                top, height = self._spans[node]
                for place, (_, number, hop) in enumerate(sorted(found), 1):
                    ports[number, hop, side] = top + height * place / (len(found) + 1)
        return [
            [
                _Hop(_snap(ports[number, hop, 0], end), end)
                for hop in range(len(chain.nodes) - 1)
                for end in [ports[number, hop, 1]]
            ]
            for number, chain in enumerate(self._placed.chains)
        ]

    def _place_horizontally(self) -> tuple[float, float]:
        """Place the columns and the lanes between them; return the size."""
        x = float(MARGIN)
        bottom = max((top for top, _ in self._spans.values()), default=0)
        for column in self._placed.columns:
            boxes = [self._boxes[node] for node in column if node in self._boxes]
            for box in boxes:
                box.x = x
                bottom = max(bottom, box.y + box.outer_height)
            right = x + max((box.width for box in boxes), default=0)
            x = self._place_lanes(column, x, right)
        return x, bottom

    def _place_lanes(self, column: list[str], left: float, right: float) -> float:
        """Place the lanes behind a column; return where the next column begins."""
        leaving, labels = [], [0.0]
        for chain, hops in zip(self._placed.chains, self._hops, strict=True):
            for node, hop in zip(chain.nodes, hops, strict=False):
                if node in column:
                    leaving.append(hop)
                    hop.start_x = left + (self._boxes[node].width if node in self._boxes else 0)
                    if hop is hops[-1]:
                        labels += [width(line, 11, SANS) for line in self._labels[chain.edge]]
        if not leaving:
            return right
        # Lines that go down cross least if the lowest has the first lane; those that go up, if
        # the highest has it.
        leaving.sort(key=lambda hop: hop.start_y * (1 if hop.end_y < hop.start_y else -1))
        lane = right + 20
        for hop in leaving:
            hop.lane_x = lane
            if hop.start_y != hop.end_y:
                lane += LANE
        for hop in leaving:
            hop.end_x = lane + max(labels) + 32
        return leaving[0].end_x

    def draw_relations(self, draw_ends: DrawEnds) -> Iterator[Markup]:
        """Draw each relation with its ends and its label."""
        for chain, hops in zip(self._placed.chains, self._hops, strict=True):
            steps = "".join(f"H{hop.lane_x:.1f}V{hop.end_y:.1f}H{hop.end_x:.1f}" for hop in hops)
            left, right = (hops[0].start_x, hops[0].start_y), (hops[-1].end_x, hops[-1].end_y)
            yield path(f"M{left[0]:.1f} {left[1]:.1f}{steps}", "relation")
            relation = self._relations[chain.edge]
            if chain.is_reversed:
                yield from draw_ends(relation, End(right, -1), End(left, 1))
            else:
                yield from draw_ends(relation, End(left, 1), End(right, -1))
            for n, line in enumerate(reversed(self._labels[chain.edge])):
                yield text(line, right[0] - 24, right[1] - 5 - LABEL * n, "label")


def _snap(start: float, end: float) -> float:
    """Return where a line starts: at the height of its end, if that is almost the same."""
    return end if abs(start - end) < STEP / 2 else start


class End(Struct, frozen=True):
    """Where a line meets a box, and the direction away from the box: 1 is right."""

    point: tuple[float, float]
    direction: int


#: Draws the two ends of a relation: at its source, and at its target.
DrawEnds: TypeAlias = Callable[[Relation, End, End], Iterator[Markup]]


def _draw_counts(relation: Relation, source: End, target: End) -> Iterator[Markup]:
    """Draw exactly one at the source, and zero or one, or zero or more, at the target."""
    (x, y), step = source.point, 4 * source.direction
    yield path(f"M{x + step:.1f} {y - 5:.1f}v10M{x + 2 * step:.1f} {y - 5:.1f}v10", "relation")
    (x, y), far = target.point, 12 * target.direction
    foot = f"M{x + far:.1f} {y:.1f}L{x:.1f} {y - 6:.1f}M{x + far:.1f} {y:.1f}L{x:.1f} {y + 6:.1f}"
    tick = f"M{x + far / 2:.1f} {y - 5:.1f}v10"
    yield path(foot if relation.many else tick, "relation")
    yield element("circle", cx=x + far + 4 * target.direction, cy=y, r=4, class_="zero")


def draw_arrow(_: Relation, source: End, target: End) -> Iterator[Markup]:
    """Draw the head of an arrow at the target."""
    (x, y), far = target.point, 9 * target.direction
    yield path(f"M{x + far:.1f} {y - 5:.1f}L{x:.1f} {y:.1f}L{x + far:.1f} {y + 5:.1f}", "relation")


#: Average widths of a character, in units of the font size.
MONO = 0.61
SANS = 0.6
CAPITALS = 0.75
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
