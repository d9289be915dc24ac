"""The places of an item: its key in the table, and each index with the neighbours."""

from __future__ import annotations

from tablewright.mapping.item_kind import ItemKind
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.item_page import Send
from tablewright.studio.items.key_parts import key_pieces
from tablewright.studio.items.kinds import kind_name, kind_of
from tablewright.studio.items.neighbours import read_neighbours
from tablewright.studio.items.places import Place
from tablewright.studio.markup.item_parts import (
    item_url,
    items_url,
    key_explained,
    key_line,
    kind_chip,
    partition_url,
)
from tablewright.studio.markup.parts import NOTHING, content, note
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item


def key_panel(
    send: Send, layout: TableDescription, kind: ItemKind, item: Item, place: Place
) -> Markup:
    """Return the key of an item in the table, taken apart, and its neighbours."""
    return element(
        "section",
        element("header", element("h2", "Key in the table")),
        element("div", _keys(place, kind), _near(send, layout, kind, item, place), class_="body"),
        class_="panel",
    )


def places_panels(
    send: Send, layout: TableDescription, kind: ItemKind, item: Item, places: list[Place]
) -> Markup:
    """Return a panel for each index: the place of the item, or why it has none."""
    if not places:
        return NOTHING
    count = sum(place.is_in for place in places)
    tag = element("span", f"{count} of {len(places)}", class_="tag good" if count else "tag")
    heading = element("h2", "Place in each index ", tag, class_="bh")
    panels = [_panel(send, layout, kind, item, place) for place in places]
    return element("div", heading, element("div", panels, class_="cols c3"))


def _panel(
    send: Send, layout: TableDescription, kind: ItemKind, item: Item, place: Place
) -> Markup:
    collection = place.collection
    if place.is_in:
        tag = element("span", "in the index", class_="tag good")
        body = [_keys(place, kind), _reason(place, "warn")]
        body.append(_near(send, layout, kind, item, place))
    else:
        tag = element("span", "not in the index", class_="tag")
        body = [_keys(place, kind), _reason(place, ""), _about(place, item)]
    name = element("a", collection.name, href=items_url(layout, collection))
    head = element("header", element("h3", name, class_="mono"), element("span", tag, class_="end"))
    facts = element("p", _described(collection), class_="small muted")
    return element("section", head, element("div", body, facts, class_="body"), class_="panel")


def _keys(place: Place, kind: ItemKind) -> Markup:
    rows = [
        element(
            "div",
            element("span", name, class_="kn"),
            key_explained(pieces, kind.entity),
            class_="krow",
        )
        for name, pieces in place.keys.items()
    ]
    return element("div", rows)


def _reason(place: Place, kind: str) -> Markup:
    return (
        note(place.reason[:1].upper() + place.reason[1:] + ".", kind) if place.reason else NOTHING
    )


def _about(place: Place, item: Item) -> Markup:
    """Return the stored values that a reason is about."""
    if not place.about:
        return NOTHING
    lines = [
        element(
            "li",
            element("code", name),
            element("span", content(item[name]) if name in item else "absent", class_="end mono"),
        )
        for name in place.about
    ]
    return element("ul", lines, class_="rel")


def _described(collection: IndexDescription) -> str:
    projection = {"ALL": "all attributes", "KEYS_ONLY": "keys only"}.get(
        collection.projection.type, f"keys and {', '.join(collection.projection.include)}"
    )
    return f"{collection.kind} index, {projection}"


def _near(send: Send, layout: TableDescription, kind: ItemKind, item: Item, place: Place) -> Markup:
    """Return the neighbours of an item in its partition."""
    collection = place.collection
    if not collection.is_ready:
        return note("The index is being built, so it cannot be read yet.", "warn")
    found = read_neighbours(send, layout, collection, item)
    where = element("a", found.position, href=partition_url(layout, collection, item))
    lines = [
        *([_more("before")] if found.more_before else []),
        *(_neighbour(layout, kind, collection, each) for each in found.before),
        element(
            "li",
            _line(layout, kind, collection, item),
            element("span", "this item", class_="vh"),
            class_="me",
            aria_current="true",
        ),
        *(_neighbour(layout, kind, collection, each) for each in found.after),
        *([_more("after")] if found.more_after else []),
    ]
    position = element("p", where, class_="small muted pos")
    return element("div", position, element("ol", lines, class_="near"))


def _more(where: str) -> Markup:
    return element("li", element("span", f"… more {where}", class_="faint wide"))


def _neighbour(
    layout: TableDescription, kind: ItemKind, collection: IndexDescription, item: Item
) -> Markup:
    known = None if kind.entity is None else kind.entity.table
    other = kind_of(known, item)
    link = element(
        "a", _line(layout, other, collection, item), class_="kl", href=item_url(layout, item)
    )
    chip = kind_chip(other) if kind_name(other) != kind_name(kind) else NOTHING
    return element("li", link, chip)


def _line(
    layout: TableDescription, kind: ItemKind, collection: IndexDescription, item: Item
) -> Markup:
    """Return the sort key of an item; without one, its key in the table."""
    names = [each.name for each in collection.keys.sort]
    place = collection if names else layout.base
    names = names or list(layout.base.keys.names)
    keys = [key_line(key_pieces(place, kind, item, name), kind.entity) for name in names]
    return element("span", keys, class_="key wrap")
