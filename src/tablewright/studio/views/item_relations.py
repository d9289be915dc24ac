"""What an item has to do with others: links both ways, its history, its unique values."""

from __future__ import annotations

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.item_page import Send
from tablewright.studio.items.key_parts import key_pieces, short_title
from tablewright.studio.items.key_values import key_text
from tablewright.studio.items.lookups import Found, Lookup, run
from tablewright.studio.items.places import values_of
from tablewright.studio.items.relations import (
    Event,
    Related,
    Reserved,
    events_of,
    owner_of,
    relations_of,
    reserved_by,
)
from tablewright.studio.markup.hues import entity_hue
from tablewright.studio.markup.item_parts import condition_url, item_url
from tablewright.studio.markup.parts import NOTHING, chip, content
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: The links to single items of one relation.
LINKS = 6


def relations_panel(send: Send, layout: TableDescription, kind: ItemKind, item: Item) -> Markup:
    """Return the relations of an item, in both directions, and its unique values."""
    if kind.entity is None:
        return NOTHING
    groups: list[Markup] = []
    values = values_of(kind, item)
    if kind.unique is not None:
        groups += _group("Reserves a value of", [_owner(send, layout, kind, item)])
    elif values is not None:
        related = relations_of(layout, kind.entity, values)
        for direction, title in (("belongs to", "Belongs to"), ("has", "Has")):
            lines = [
                _related(send, layout, each) for each in related if each.direction == direction
            ]
            groups += _group(title, lines)
        lines = [_reserved(send, layout, each) for each in reserved_by(kind.entity, values)]
        groups += _group("Keeps with it", lines)
    if not groups:
        text = f"{kind.entity.name} has no relations that the design knows."
        groups = [element("p", text, class_="muted")]
    return element(
        "section",
        element("header", element("h2", "Relations")),
        element("div", groups, class_="body rel"),
        class_="panel",
    )


def _group(title: str, lines: list[Markup]) -> list[Markup]:
    return [element("h3", title), element("ul", lines)] if lines else []


def _related(send: Send, layout: TableDescription, related: Related) -> Markup:
    by = f"by {related.attribute}" if related.attribute else ""
    if related.lookup is None:
        text = f"{by}: no key finds them, so it would be a Scan"
        return element("li", chip(related.entity), element("span", text, class_="end"))
    found = run(send, related.lookup)
    name = chip(related.entity, href=_query_url(layout, related.lookup) if found.items else None)
    if related.direction == "belongs to" and not found.items:
        text = f"{by}: there is none".strip(": ")
        return element("li", name, element("span", text, class_="end tag warn"))
    if related.direction == "has":
        count = element("b", found.count)
    else:
        count = element("span", short_title(related.entity, found.items[0]), class_="muted")
    title = related.lookup.show()
    where = element("span", by or related.lookup.request.operation, class_="end", title=title)
    links = _links(layout, related.entity, found)
    parts = [count, *links] if related.direction == "has" else [*links, count]
    return element("li", name, parts, where)


def _query_url(layout: TableDescription, wanted: Lookup) -> str:
    """Return the URL of the items that a lookup finds."""
    collection = layout.find(wanted.key.index.name) if wanted.key.index is not None else None
    return condition_url(layout, collection or layout.base, wanted.condition)


def _links(layout: TableDescription, entity: EntityMap, found: Found) -> list[Markup]:
    """Return links to the first items that a lookup has found."""
    return [
        element("a", _short(layout, entity, item), class_="mono", href=item_url(layout, item))
        for item in found.items[:LINKS]
    ]


def _short(layout: TableDescription, entity: EntityMap, item: Item) -> str:
    """Return what tells an item from others of its entity: the last value in its key."""
    kind = ItemKind(entity)
    values = [
        piece.text
        for name in layout.base.keys.names
        for piece in key_pieces(layout.base, kind, item, name)
        if piece.label
    ]
    return values[-1] if values else key_text(item[layout.base.keys.names[-1]])


def _owner(send: Send, layout: TableDescription, kind: ItemKind, item: Item) -> Markup:
    assert kind.entity is not None
    assert kind.unique is not None
    wanted: Lookup | None = owner_of(layout, kind, item)
    found = Found([], False) if wanted is None else run(send, wanted)
    links = _links(layout, kind.entity, found)
    text = kind.unique.key.name
    if not links:
        text += ": no key finds it" if wanted is None else ": no such item, so nothing uses it"
    return element("li", chip(kind.entity), links, element("span", text, class_="end"))


def _reserved(send: Send, layout: TableDescription, reserved: Reserved) -> Markup:
    """Return a unique value of an item: whether its sentinel exists."""
    name = element("code", reserved.unique.key.name)
    if reserved.key is None:
        return element("li", name, element("span", "no value", class_="end"))
    answer = send("GetItem", TableName=layout.name, Key=reserved.key)
    key = " / ".join(dict.fromkeys(key_text(value) for value in reserved.key.values()))
    if "Item" not in answer:
        tag = element("span", "missing: the value is not reserved", class_="end tag bad")
        return element("li", name, element("span", key, class_="mono"), tag)
    link = element("a", key, class_="mono", href=item_url(layout, answer["Item"]))
    return element("li", name, link, element("span", "reserved", class_="end tag good"))


def history_panels(
    send: Send, layout: TableDescription, kind: ItemKind, item: Item
) -> list[Markup]:
    """Return the events of each history of an item, the newest first."""
    values = values_of(kind, item)
    if kind.entity is None or values is None:
        return []
    return [_history(send, layout, event) for event in events_of(layout, kind.entity, values)]


def _history(send: Send, layout: TableDescription, event: Event) -> Markup:
    history = event.history
    if event.lookup is None:
        found = Found([], False)
        empty = "No key finds its events, so it would be a Scan."
    else:
        found = run(send, event.lookup)
        empty = "No changes yet."
    lines = [_event(layout, event, item) for item in found.items]
    body = (
        element("ol", lines, class_="tl")
        if lines
        else element("div", element("p", empty, class_="muted"), class_="body")
    )
    count = (
        f"of {history.attribute}, {found.count} shown"
        if found.has_more
        else (f"of {history.attribute}")
    )
    head = element("header", element("h2", "History"), element("p", count))
    return element("section", head, body, class_="panel")


def _event(layout: TableDescription, event: Event, item: Item) -> Markup:
    """Return one event: from which value to which, when, by whom and why."""
    entity = event.history.event
    names = {source: name for name, source in event.history.sources.items()}

    def stored(source: str) -> str:
        attribute = entity.attributes.get(names.get(source, ""))
        value = None if attribute is None else item.get(attribute.stored)
        return "" if value is None else content(value)

    version, at = stored(":version"), stored(":at")
    about = ": ".join(filter(None, (stored(":by"), stored(":reason"))))
    change = [
        element("span", stored(":old"), class_="st") if stored(":old") else NOTHING,
        element("span", "→", class_="arrow", aria_hidden="true"),
        element("span", "to", class_="vh"),
        element("span", stored(":new"), class_="st"),
        element("a", f"v{version}" if version else "event", class_="tag",
                href=item_url(layout, item)),
    ]  # fmt: skip
    return element(
        "li",
        element("div", change, class_="row"),
        element("div", about, class_="small muted") if about else NOTHING,
        element("time", at, datetime=at) if at else NOTHING,
        class_=entity_hue(entity),
    )
