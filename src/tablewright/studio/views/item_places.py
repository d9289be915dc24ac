"""The places of an item: its key in the table, and each index with the neighbours."""

from __future__ import annotations

from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.item_page import Send
from tablewright.studio.items.kinds import ItemKind, kind_of
from tablewright.studio.items.layout import ItemCollection, Layout
from tablewright.studio.items.places import Place, Subject, read_neighbours
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.parts import NOTHING, note, tag
from tablewright.values import Item


def key_panel(send: Send, subject: Subject, place: Place) -> Markup:
    """Return the key of an item in the table, taken apart, and its neighbours."""
    shown = [_keys(place, subject.kind), _near(send, subject, place)]
    return parts.panel("Key in the table", element("div.body", shown))


def places_panels(send: Send, subject: Subject, places: list[Place]) -> Markup:
    """Return a panel for each index: the place of the item, or why it has none."""
    if not places:
        return NOTHING
    count = sum(place.is_in for place in places)
    counted = tag(f"{count} of {len(places)}", "good" if count else "")
    heading = element("h2.bh", "Place in each index ", counted)
    panels = [_panel(send, subject, place) for place in places]
    return element("div", heading, element("div.cols.c3", panels))


def _panel(send: Send, subject: Subject, place: Place) -> Markup:
    collection = place.collection
    if place.is_in:
        where = tag("in the index", "good")
        body = [_reason(place, "warn"), _near(send, subject, place)]
    else:
        where = tag("not in the index")
        body = [_reason(place, ""), _about(place, subject.item)]
    name = element("a", collection.name, href=item_parts.items_url(subject.layout, collection))
    head = element("header", element("h3.mono", name), parts.aside(where))
    facts = element("p.small.muted", _described(collection))
    shown = element("div.body", _keys(place, subject.kind), body, facts)
    return element("section.panel", head, shown)


def _keys(place: Place, kind: ItemKind) -> Markup:
    rows = []
    for name, pieces in place.keys.items():
        explained = item_parts.key_explained(pieces, kind.entity)
        rows.append(element("div.krow", element("span.kn", name), explained))
    return element("div", rows)


def _reason(place: Place, kind: str) -> Markup:
    return (
        note(place.reason[:1].upper() + place.reason[1:] + ".", kind) if place.reason else NOTHING
    )


def _about(place: Place, item: Item) -> Markup:
    """Return the stored values that a reason is about."""
    if not place.about:
        return NOTHING
    lines = []
    for name in place.about:
        text = parts.content(item[name]) if name in item else "absent"
        lines.append([element("code", name), element("span.end.mono", text)])
    return parts.listed(lines, "rel")


def _described(collection: ItemCollection) -> str:
    projection = {"ALL": "all attributes", "KEYS_ONLY": "keys only"}.get(
        collection.projection, f"keys and {', '.join(collection.included)}"
    )
    return f"{collection.kind} index, {projection}"


def _near(send: Send, subject: Subject, place: Place) -> Markup:
    """Return the neighbours of an item in its partition."""
    layout, collection, item = subject.layout, place.collection, subject.item
    if not collection.is_ready:
        return note("The index is being built, so it cannot be read yet.", "warn")
    found = read_neighbours(send, layout, collection, item)
    me = [_line(layout, subject.kind, collection, item), parts.said("this item")]
    lines = [
        *([_more("before")] if found.more_before else []),
        *(_neighbour(subject, collection, each) for each in found.before),
        element("li.me", me, aria_current="true"),
        *(_neighbour(subject, collection, each) for each in found.after),
        *([_more("after")] if found.more_after else []),
    ]
    where = element("a", found.position, href=item_parts.partition_url(layout, collection, item))
    position = element("p.small.muted.pos", where)
    return element("div", position, element("ol.near", lines))


def _more(where: str) -> Markup:
    return element("li", element("span.faint.wide", f"… more {where}"))


def _neighbour(subject: Subject, collection: ItemCollection, item: Item) -> Markup:
    layout, kind = subject.layout, subject.kind
    other = kind_of(None if kind.entity is None else kind.entity.table, item)
    line = _line(layout, other, collection, item)
    link = element("a.kl", line, href=item_parts.item_url(layout, item))
    return element("li", link, item_parts.kind_chip(other) if other.name != kind.name else NOTHING)


def _line(layout: Layout, kind: ItemKind, collection: ItemCollection, item: Item) -> Markup:
    """Return the sort key of an item; without one, its key in the table."""
    names = [each.name for each in collection.keys.sort]
    place = collection if names else layout.base
    return element("span.key.wrap", item_parts.key_lines(place, kind, item, names or None))
