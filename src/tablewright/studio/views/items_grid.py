"""The grid of the items view: items by partition, the name of an attribute above its value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct

from tablewright.encoding.items import item_size
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.hues import entity_hue
from tablewright.presentation.keys import (
    KeyPiece,
    column_widths,
    encode_cursor,
    key_pieces,
    kind_name,
    kind_of,
    unreadable,
)
from tablewright.presentation.values import size_text
from tablewright.studio.items.reading import ItemPage
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.item_parts import key_line, short_value, value_class
from tablewright.studio.markup.parts import NOTHING, faint
from tablewright.studio.views.items_filter import AskedItems
from tablewright.values import Item

#: The attributes of one row, and the columns of a table without a design.
MAX_CELLS = 12
MAX_COLUMNS = 40


class Row(Struct, frozen=True):
    """One item of a page, with what the design knows about it."""

    item: Item
    kind: ItemKind
    #: The key of the item, for URLs.
    token: str
    #: The pieces of each key attribute.
    keys: dict[str, list[KeyPiece]]


def grid(asked: AskedItems, known: TableMap | None, page: ItemPage) -> Markup:
    """Return the items of a page; each row leads to the same page with its item in the drawer."""
    if not page.items:
        return _empty(asked, page)
    grid = _Grid(asked, known, [_row(asked, known, item) for item in page.items])
    table = element("table.items", grid.head(), grid.body(page.next is not None))
    return parts.scroll(f"Items of {asked.collection.title}", table, "tall round-t")


def _row(asked: AskedItems, known: TableMap | None, item: Item) -> Row:
    kind, place = kind_of(known, item), asked.collection
    keys = {name: key_pieces(place, kind, item, name) for name in place.keys.names}
    return Row(item, kind, encode_cursor(asked.layout.key(item)), keys)


def _empty(asked: AskedItems, page: ItemPage) -> Markup:
    more = " in what was read; Next continues" if page.next is not None else ""
    message = [
        element("h2", f"No items{more}"),
        element("p", f"{page.read} items were read. Change the filter to see others."),
        parts.button_link("Clear the filter", item_parts.items_url(asked.layout, asked.collection)),
    ]
    return element("div.body", element("div.empty", message))


class _Grid:
    def __init__(self, asked: AskedItems, known: TableMap | None, rows: list[Row]) -> None:
        self.asked, self.known, self.rows = asked, known, rows
        self.layout, self.collection = asked.layout, asked.collection
        self.widths = {
            each.name: column_widths(row.keys[each.name] for row in rows)
            for each in self.collection.keys.sort
        }
        self.cells = [list(self._attributes(row)) for row in rows]
        #: Without a design: one column for each attribute.
        names = list(dict.fromkeys(name for cells in self.cells for name in cells))
        self.columns = names[:MAX_COLUMNS] if known is None else []
        self.left_out = len(names) - MAX_COLUMNS
        widest = max(min(len(cells), MAX_CELLS) for cells in self.cells)
        self.width = len(self.columns) if known is None else widest

    def head(self) -> Markup:
        """Return the head of the table."""
        first = element("th.fix", "Entity", scope="col") if self.known else NOTHING
        sort = [each.name for each in self.collection.keys.sort]
        names = ", ".join(sort or self.layout.base.keys.names)
        second = element("th", names, scope="col", class_="fix2" if self.known else "fix")
        if self.known is None:
            more = [f"and {self.left_out} more"] * (self.left_out > 0)
            rest = join([element("th", name, scope="col") for name in [*self.columns, *more]])
        else:
            named = element("th", "Attributes", scope="col", colspan=self.width)
            rest = named if self.width else NOTHING
        caption = element("caption.vh", "Items by partition")
        return join([caption, element("thead", element("tr", first, second, rest))])

    def body(self, continues: bool) -> list[Markup]:
        """Return the rows, those of each partition after its header."""
        numbered = list(enumerate(self.rows))
        if self.collection.kind == "table" and not self.collection.keys.sort:
            return [element("tbody", [self._line(number, row) for number, row in numbered])]
        found = groupby(numbered, lambda each: self._partition(each[1]))
        groups = [list(group) for _, group in found]
        return [
            element(
                "tbody",
                self._header([row for _, row in group], continues and group is groups[-1]),
                [self._line(number, row) for number, row in group],
            )
            for group in groups
        ]

    def _partition(self, row: Row) -> list[object]:
        return list(self.collection.partition_of(row.item))

    def _header(self, rows: list[Row], continues: bool) -> Markup:
        """Return the header row of a partition: its key, its kinds, and how much of it is here."""
        first = rows[0]
        keys: list[Markup] = []
        for each in self.collection.keys.partition:
            keys += [faint(each.name), key_line(first.keys[each.name], first.kind.entity)]
        hues = [entity_hue(row.kind.entity) for row in rows]
        size = sum(item_size(row.item) for row in rows)
        count = f"{len(rows)}{'+' * continues} item{'s' * (len(rows) != 1 or continues)}"
        kinds = Counter(kind_name(row.kind).strip("-") for row in rows)
        names = ", ".join(f"{many} {name}" for name, many in kinds.items())
        href = item_parts.partition_url(self.layout, self.collection, first.item)
        inside = [
            element("a.kl", keys, href=href),
            join([item_parts.strip(hues), parts.spoken(names)]) if self.known else NOTHING,
            element("span.faint.nowrap", f"{count} · {size_text(size)}"),
        ]
        columns = self.width + (2 if self.known else 1)
        shown = element("span.in", inside)
        return element("tr.part-h", element("th", shown, colspan=columns, scope="rowgroup"))

    def _line(self, number: int, row: Row) -> Markup:
        """Return the row of one item."""
        target = self.asked.url(item=row.token)
        keys = [
            key_line(row.keys[each.name], row.kind.entity, self.widths[each.name])
            for each in self.collection.keys.sort
        ] or item_parts.key_lines(self.layout.base, row.kind, row.item)
        swap = parts.swap("#drawer", hx_get=target)
        named = {"class_": "kl", "id": f"row{number}", "href": target, "data_row": ""}
        link = element("a", join(keys, " · "), **named, **swap)
        cells = [element("td", link, class_="fix2 sk" if self.known else "fix sk")]
        if self.known is not None:
            cells.insert(0, element("td.fix", item_parts.kind_chip(row.kind)))
        selected = "sel" if row.token == self.asked.item else None
        return element("tr", cells, self._values(number, row), class_=selected)

    def _values(self, number: int, row: Row) -> list[Markup]:
        names = self.cells[number]
        if self.known is None:
            return [
                element("td.at", short_value(row.item[name]), data_l=name)
                if name in row.item
                else element("td", faint("absent"), data_l=name)
                for name in self.columns
            ]
        shown = names[:MAX_CELLS] if len(names) <= MAX_CELLS else names[: MAX_CELLS - 1]
        cells = [element("td.at", element("small", name), self._value(row, name)) for name in shown]
        if len(shown) < len(names):
            more = f"{len(names) - len(shown)} more"
            cells.append(element("td.at", element("small", "…"), element("span", more)))
        if self.collection.projection.type == "ALL" and (reason := unreadable(row.kind, row.item)):
            tag = parts.tag("cannot be decoded", "bad", title=reason)
            cells.insert(0, element("td.at.why", tag, element("small", reason)))
        if len(cells) < self.width:
            cells.append(element("td", colspan=self.width - len(cells)))
        return cells

    def _value(self, row: Row, name: str) -> Markup:
        hue = value_class(row.kind.entity, row.kind.attribute(name))
        return short_value(row.item[name], hue)

    def _attributes(self, row: Row) -> Iterator[str]:
        """Return the attributes of a row's cells: not those that its key and its kind show."""
        hidden = {*self.collection.keys.names}
        entity = row.kind.entity
        if self.known is None or entity is None:
            yield from (name for name in row.item if name not in hidden)
            return
        hidden.add(str(self.known.type_attribute))
        hidden.update(name for key in (entity.primary, *entity.indexes) for name in key.composed)
        if row.kind.key is not None:
            hidden.update(row.kind.key.composed)
        in_key = {piece.attribute for pieces in row.keys.values() for piece in pieces}
        declared = [each for each in entity.attributes.values() if each.stored in row.item]
        yield from (
            each.stored
            for each in declared
            if each.name not in in_key and each.stored not in hidden
        )
        names = {each.stored for each in declared}
        yield from (name for name in row.item if name not in names and name not in hidden)
