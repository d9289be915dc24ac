"""The grid of the items view: items by partition.

    several kinds of items     the name of an attribute is above its value
    one kind                   a column for each attribute of the entity, as in the design, and then
                               for others that the items have
    without a design           a column for each attribute

Columns do not depend on the values of a page, so paging and filtering do not move them. What the
items of one kind have in common is computed once for a page: see `_Kind`.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby, islice

from msgspec import Struct

from tablewright.encoding.items import item_size
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.keys import KeyPiece, key_pieces, key_token
from tablewright.presentation.kinds import filter_name, unreadable
from tablewright.presentation.style import entity_hue
from tablewright.presentation.values import middle, plural, size_text
from tablewright.studio.items.reading import ItemPage
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.item_parts import SHORT, key_line, short_value, value_class
from tablewright.studio.markup.parts import NOTHING, faint
from tablewright.studio.views.items_filter import ItemsQuery
from tablewright.table_description import IndexDescription
from tablewright.values import Item

#: The maximum number of attributes in a row, and of columns.
MAX_CELLS = 12
MAX_COLUMNS = 40
_ABSENT = element("span.faint", "—", title="absent")


class _Kind(Struct, frozen=True):
    """What the items of one kind have in common."""

    kind: ItemKind
    chip: Markup
    hue: str
    #: The declared attributes by their stored names: the name in Python, and the class of a value.
    declared: dict[str, tuple[str, str]]
    #: The attributes without a cell, because the key or the kind shows them.
    hidden: set[str]


class _Row(Struct, frozen=True):
    """One item of a page, with what the design knows about it."""

    item: Item
    of: _Kind
    #: The pieces of each key attribute.
    keys: dict[str, list[KeyPiece]]
    #: The attributes of its cells.
    names: list[str]


def grid(
    asked: ItemsQuery, known: TableMap | None, page: ItemPage, kinds: list[ItemKind]
) -> Markup:
    """Return the items of a page; the link of a row opens its item in the drawer."""
    if not page.items:
        return _empty(asked, page)
    grid = _Grid(asked, known, page.items, kinds)
    table = element("table.items", grid.head(), grid.body(page.next is not None))
    return parts.scroll(f"Items of {asked.collection.title}", table, "tall round-t")


def _empty(asked: ItemsQuery, page: ItemPage) -> Markup:
    if not asked.is_filtered and page.next is None:
        text = "It has no items." if asked.collection.kind == "table" else "No item is in it."
        message = [element("h2", "No items yet"), element("p", text)]
        return element("div.body", element("div.empty", message))
    more = " in what was read; Next continues" if page.next is not None else ""
    message = [
        element("h2", f"No items{more}"),
        element("p", f"{plural(page.read, 'item')} read. Change the filter to see others."),
        parts.button_link(
            "Clear the filter", item_parts.items_url(asked.description, asked.collection)
        ),
    ]
    return element("div.body", element("div.empty", message))


def _common(kind: ItemKind, known: TableMap | None, collection: IndexDescription) -> _Kind:
    """Return what all items of a kind have in common."""
    hidden, declared, entity = set(collection.keys.names), {}, kind.entity
    if known is not None and entity is not None:
        hidden.add(str(known.type_attribute))
        for key in filter(None, (kind.key, entity.primary, *entity.indexes)):
            hidden.update(key.composed)
        declared = {
            each.stored: (name, value_class(entity, name))
            for name, each in entity.attributes.items()
        }
    return _Kind(kind, item_parts.kind_chip(kind), entity_hue(entity), declared, hidden)


def _row(item: Item, of: _Kind, collection: IndexDescription, names: tuple[str, ...]) -> _Row:
    keys = {name: key_pieces(collection, of.kind, item, name) for name in names}
    in_key = {piece.attribute for pieces in keys.values() for piece in pieces}
    shown = [
        name
        for name, (attribute, _) in of.declared.items()
        if name in item and attribute not in in_key and name not in of.hidden
    ]
    shown += [name for name in item if name not in of.declared and name not in of.hidden]
    return _Row(item, of, keys, shown)


class _Grid:
    def __init__(
        self, asked: ItemsQuery, known: TableMap | None, items: list[Item], kinds: list[ItemKind]
    ) -> None:
        self.asked, self.known = asked, known
        self.description, self.collection = asked.description, asked.collection
        common = {kind: _common(kind, known, self.collection) for kind in set(kinds)}
        names = self.collection.keys.names
        self.rows = [
            _row(item, common[kind], self.collection, names)
            for item, kind in zip(items, kinds, strict=True)
        ]
        self.sort = [each.name for each in self.collection.keys.sort]
        #: The names of attributes, above their values.
        shown = dict.fromkeys(name for row in self.rows for name in row.names)
        self.labels = {name: element("small", middle(name, SHORT)) for name in shown}
        is_one_kind = known is None or len(common) == 1
        self.columns = self._columns(self.rows[0]) if is_one_kind else {}
        widest = max(len(row.names) for row in self.rows)
        self.width = len(self.columns) or min(widest, MAX_CELLS)

    def _columns(self, first: _Row) -> dict[str, str]:
        """Return the attributes that have a column, and the class of their cells.

        Numbers are aligned on the right.
        """
        in_key = {piece.attribute for pieces in first.keys.values() for piece in pieces}
        own = [
            name
            for name, (attribute, _) in first.of.declared.items()
            if name not in first.of.hidden and attribute not in in_key
        ]
        texts = {name for row in self.rows for name in row.names if "N" not in row.item[name]}
        found = dict.fromkeys((*own, *self.labels))
        return {name: "at" if name in texts else "at num" for name in islice(found, MAX_COLUMNS)}

    def head(self) -> Markup:
        """Return the head of the table."""
        first = element("th.fix", "Entity", scope="col") if self.known else NOTHING
        names = ", ".join(self.sort or self.description.base.keys.names)
        second = element("th", names, scope="col", class_="fix2" if self.known else "fix")
        if self.columns:
            left_out = len(self.labels.keys() - self.columns.keys())
            more = [element("th", f"and {left_out} more", scope="col")] * (left_out > 0)
            rest = join([*map(self._column, self.columns), *more])
        else:
            named = element("th", "Attributes", scope="col", colspan=self.width)
            rest = named if self.width else NOTHING
        caption = element("caption.vh", "Items by partition")
        return join([caption, element("thead", element("tr", first, second, rest))])

    def _column(self, name: str) -> Markup:
        """Return the head of a column; an attribute that the design does not know has a mark."""
        is_known = self.known is None or name in self.rows[0].of.declared
        mark = NOTHING if is_known else element("span.faint", " ?", title="not in the design")
        return element("th", middle(name, SHORT), mark, scope="col", class_=self.columns[name])

    def body(self, continues: bool) -> list[Markup]:
        """Return the rows, those of each partition after its header."""
        lines = [self._line(number, row) for number, row in enumerate(self.rows)]
        if self.collection.kind == "table" and not self.sort:
            return [element("tbody", lines)]
        partition = [each.name for each in self.collection.keys.partition]
        found = groupby(
            zip(self.rows, lines, strict=True),
            lambda each: [each[0].item[name] for name in partition],
        )
        groups = [list(group) for _, group in found]
        return [
            element(
                "tbody",
                self._header([row for row, _ in group], continues and group is groups[-1]),
                [line for _, line in group],
            )
            for group in groups
        ]

    def _header(self, rows: list[_Row], continues: bool) -> Markup:
        """Return the header row of a partition: its key, its kinds, and how much of it is here."""
        first = rows[0]
        keys: list[Markup] = []
        for each in self.collection.keys.partition:
            keys += [faint(each.name), key_line(first.keys[each.name], first.of.kind.entity)]
        size = sum([item_size(row.item) for row in rows])
        count = f"{len(rows)}{'+' * continues} item{'s' * (len(rows) != 1 or continues)}"
        kinds = Counter([filter_name(row.of.kind).strip("-") for row in rows])
        names = ", ".join([f"{many} {name}" for name, many in kinds.items()])
        href = item_parts.partition_url(self.description, self.collection, first.item)
        strip = item_parts.strip([row.of.hue for row in rows])
        inside = [
            element("a.kl", keys, href=href),
            join([strip, parts.spoken(names)]) if self.known else NOTHING,
            element("span.faint.nowrap", f"{count} · {size_text(size)}"),
        ]
        columns = self.width + (2 if self.known else 1)
        shown = element("span.in", inside)
        return element("tr.part-h", element("th", shown, colspan=columns, scope="rowgroup"))

    def _line(self, number: int, row: _Row) -> Markup:
        """Return the row of one item."""
        token = key_token(self.description.key(row.item))
        target, entity = self.asked.url_of_item(token), row.of.kind.entity
        keys = [key_line(row.keys[name], entity) for name in self.sort] or item_parts.key_lines(
            self.description.base, row.of.kind, row.item
        )
        swap = parts.swap("#drawer", hx_get=target)
        named = {"id": f"row{number}", "href": target, "data_row": ""}
        link = element("a.kl", join(keys, " · "), **named, **swap)
        cells = [element("td.fix2.sk" if self.known else "td.fix.sk", link)]
        if self.known is not None:
            cells.insert(0, element("td.fix", row.of.chip, self._problem(row)))
        selected = "sel" if token == self.asked.item else None
        return element("tr", cells, self._values(row), class_=selected)

    def _problem(self, row: _Row) -> Markup:
        """Return why an item cannot be decoded, if it is a whole one."""
        if self.collection.projection.type != "ALL":
            return NOTHING
        reason = unreadable(row.of.kind, row.item)
        return parts.tag("cannot be decoded", "bad", title=reason) if reason else NOTHING

    def _values(self, row: _Row) -> list[Markup]:
        item, declared, labels = row.item, row.of.declared, self.labels
        plain = ("", "")
        if self.columns:
            return [
                element(
                    "td",
                    short_value(item[name], declared.get(name, plain)[1])
                    if name in item
                    else _ABSENT,
                    class_=class_,
                    data_l=name,
                )
                for name, class_ in self.columns.items()
            ]
        shown = row.names if len(row.names) <= MAX_CELLS else row.names[: MAX_CELLS - 1]
        cells = [
            element("td.at", labels[name], short_value(item[name], declared.get(name, plain)[1]))
            for name in shown
        ]
        if len(shown) < len(row.names):
            more = f"{len(row.names) - len(shown)} more"
            cells.append(element("td.at", element("small", "…"), element("span", more)))
        if len(cells) < self.width:
            cells.append(element("td", colspan=self.width - len(cells)))
        return cells
