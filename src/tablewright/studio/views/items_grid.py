"""The grid of the items view: items by partition, the name of an attribute above its value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby

from msgspec import Struct

from tablewright.encoding.items import item_size
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.item_page import ItemPage
from tablewright.studio.items.key_parts import KeyPiece, column_widths, key_pieces
from tablewright.studio.items.key_values import encode_cursor
from tablewright.studio.items.kinds import kind_name, kind_of, unreadable
from tablewright.studio.markup.hues import entity_hue
from tablewright.studio.markup.item_parts import (
    items_url,
    key_line,
    kind_chip,
    partition_url,
    short_value,
    size_text,
    strip,
    value_class,
)
from tablewright.studio.markup.parts import NOTHING, scroll
from tablewright.table_description import IndexDescription, TableDescription
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


def grid(
    layout: TableDescription,
    collection: IndexDescription,
    known: TableMap | None,
    page: ItemPage,
    select: Callable[[str], str],
    selected: str,
) -> Markup:
    """Return the items of a page; `select` returns the URL that shows an item in the drawer."""
    rows = [_row(layout, collection, known, item) for item in page.items]
    if not rows:
        return _empty(layout, collection, page)
    label = f"Items of {collection.title}"
    grid = _Grid(layout, collection, known, select, selected, rows)
    table = element("table", grid.head(), grid.body(page.next is not None), class_="items")
    return scroll(label, table, "tall round-t")


def _row(
    layout: TableDescription, collection: IndexDescription, known: TableMap | None, item: Item
) -> Row:
    kind = kind_of(known, item)
    keys = {name: key_pieces(collection, kind, item, name) for name in collection.keys.names}
    return Row(item, kind, encode_cursor(layout.key(item)), keys)


def _empty(layout: TableDescription, collection: IndexDescription, page: ItemPage) -> Markup:
    more = " in what was read; Next continues" if page.next is not None else ""
    everything = element("a", "Clear the filter", class_="btn", href=items_url(layout, collection))
    return element(
        "div",
        element(
            "div",
            element("h2", f"No items{more}"),
            element("p", f"{page.read} items were read. Change the filter to see others."),
            everything,
            class_="empty",
        ),
        class_="body",
    )


class _Grid:
    def __init__(
        self,
        layout: TableDescription,
        collection: IndexDescription,
        known: TableMap | None,
        select: Callable[[str], str],
        selected: str,
        rows: list[Row],
    ) -> None:
        self.layout, self.collection, self.known = layout, collection, known
        self.select, self.selected, self.rows = select, selected, rows
        self.widths = {
            each.name: column_widths(row.keys[each.name] for row in rows)
            for each in collection.keys.sort
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
        first = element("th", "Entity", scope="col", class_="fix") if self.known else NOTHING
        sort = [each.name for each in self.collection.keys.sort]
        names = ", ".join(sort or self.layout.base.keys.names)
        second = element("th", names, scope="col", class_="fix2" if self.known else "fix")
        if self.known is None:
            more = [f"and {self.left_out} more"] * (self.left_out > 0)
            rest = join([element("th", name, scope="col") for name in [*self.columns, *more]])
        else:
            rest = (
                element("th", "Attributes", scope="col", colspan=self.width)
                if self.width
                else NOTHING
            )
        return join(
            [
                element("caption", "Items by partition", class_="vh"),
                element("thead", element("tr", first, second, rest)),
            ]
        )

    def body(self, continues: bool) -> list[Markup]:
        """Return the rows, those of each partition after its header."""
        numbered = list(enumerate(self.rows))
        if self.collection.kind == "table" and not self.collection.keys.sort:
            return [element("tbody", [self._line(number, row) for number, row in numbered])]
        groups = [
            list(group) for _, group in groupby(numbered, lambda each: self._partition(each[1]))
        ]
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
            keys.append(element("span", each.name, class_="faint"))
            keys.append(key_line(first.keys[each.name], first.kind.entity))
        hues = [entity_hue(row.kind.entity) for row in rows]
        size = sum(item_size(row.item) for row in rows)
        count = f"{len(rows)}{'+' * continues} item{'s' * (len(rows) != 1 or continues)}"
        names = ", ".join(f"{many} {name}" for name, many in _counts(rows).items())
        inside = element(
            "span",
            element(
                "a", keys, class_="kl", href=partition_url(self.layout, self.collection, first.item)
            ),
            strip(hues) if self.known else NOTHING,
            element("span", names, class_="vh") if self.known else NOTHING,
            element("span", f"{count} · {size_text(size)}", class_="faint nowrap"),
            class_="in",
        )
        columns = self.width + (2 if self.known else 1)
        cell = element("th", inside, colspan=columns, scope="rowgroup")
        return element("tr", cell, class_="part-h")

    def _line(self, number: int, row: Row) -> Markup:
        """Return the row of one item."""
        target = self.select(row.token)
        keys = [
            key_line(row.keys[each.name], row.kind.entity, self.widths[each.name])
            for each in self.collection.keys.sort
        ]
        if not keys:
            keys = [
                key_line(key_pieces(self.layout.base, row.kind, row.item, name), row.kind.entity)
                for name in self.layout.base.keys.names
            ]
        link = element(
            "a",
            join(keys, " · "),
            class_="kl",
            id=f"row{number}",
            href=target,
            data_row="",
            hx_get=target,
            hx_select="#drawer",
            hx_target="#drawer",
            hx_swap="outerHTML",
            hx_push_url="true",
        )
        class_ = "fix2 sk" if self.known else "fix sk"
        cells = [element("td", link, class_=class_)]
        if self.known is not None:
            cells.insert(0, element("td", kind_chip(row.kind), class_="fix"))
        return element(
            "tr",
            cells,
            self._values(number, row),
            class_="sel" if row.token == self.selected else None,
        )

    def _values(self, number: int, row: Row) -> list[Markup]:
        names = self.cells[number]
        if self.known is None:
            return [
                element("td", short_value(row.item[name]), class_="at", data_l=name)
                if name in row.item
                else element("td", element("span", "absent", class_="faint"), data_l=name)
                for name in self.columns
            ]
        shown = names[:MAX_CELLS] if len(names) <= MAX_CELLS else names[: MAX_CELLS - 1]
        cells = [
            element("td", element("small", name), self._value(row, name), class_="at")
            for name in shown
        ]
        if len(shown) < len(names):
            more = f"{len(names) - len(shown)} more"
            cells.append(element("td", element("small", "…"), element("span", more), class_="at"))
        if self.collection.projection.type == "ALL" and (reason := unreadable(row.kind, row.item)):
            tag = element("span", "cannot be decoded", class_="tag bad", title=reason)
            cells.insert(0, element("td", tag, element("small", reason), class_="at why"))
        if len(cells) < self.width:
            cells.append(element("td", colspan=self.width - len(cells)))
        return cells

    def _value(self, row: Row, name: str) -> Markup:
        entity = row.kind.entity
        hue = ""
        if entity is not None:
            found = next((each for each in entity.attributes.values() if each.stored == name), None)
            hue = value_class(entity, found.name) if found is not None else ""
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


def _counts(rows: list[Row]) -> dict[str, int]:
    """Return how many rows of each kind there are."""
    return Counter(kind_name(row.kind).strip("-") for row in rows)
