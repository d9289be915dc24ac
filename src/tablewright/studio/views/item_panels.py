"""The panels of an item: its key, its place in each index with the neighbours, its relations.

Relations are links both ways, the events of its histories, and its unique values.
"""

from __future__ import annotations

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.presentation.element import Markup, element
from tablewright.presentation.keys import TITLE, key_text, own_value, short_title
from tablewright.presentation.kinds import filter_name, kind_of
from tablewright.presentation.style import chip, entity_hue
from tablewright.presentation.values import content, middle
from tablewright.studio.items import relations
from tablewright.studio.items.places import ItemPlace, Subject, read_neighbours
from tablewright.studio.items.reading import Found, Lookup, Send, run
from tablewright.studio.items.relations import Event, Related, Reserved
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.item_parts import item_url
from tablewright.studio.markup.parts import NOTHING, aside, note, tag
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

#: The maximum number of links to the items of a relation.
LINKS = 6


# --- places -------------------------------------------------------------------------------------


def key_panel(send: Send, subject: Subject, place: ItemPlace) -> Markup:
    """Return the key of an item in the table, taken apart, and its neighbours."""
    shown = [_keys(place, subject.kind), _near(send, subject, place)]
    return parts.panel("Key in the table", element("div.body", shown))


def places_panels(send: Send, subject: Subject, places: list[ItemPlace]) -> Markup:
    """Return a panel for each index: the place of the item, or why it has none."""
    if not places:
        return NOTHING
    count = sum(place.is_in for place in places)
    counted = tag(f"{count} of {len(places)}", "good" if count else "")
    heading = element("h2.bh", "Place in each index ", counted)
    panels = [_panel(send, subject, place) for place in places]
    return element("div", heading, element("div.cols.c3", panels))


def _panel(send: Send, subject: Subject, place: ItemPlace) -> Markup:
    collection = place.collection
    if place.is_in:
        where = tag("in the index", "good")
        body = [_reason(place, "warn"), _near(send, subject, place)]
    else:
        where = tag("not in the index")
        body = [_reason(place, ""), _about(place, subject.item)]
    name = element("a", collection.name, href=item_parts.items_url(subject.description, collection))
    head = element("header", element("h3.mono", name), aside(where))
    facts = element("p.small.muted", _described(collection))
    shown = element("div.body", _keys(place, subject.kind), body, facts)
    return element("section.panel", head, shown)


def _keys(place: ItemPlace, kind: ItemKind) -> Markup:
    rows = []
    for name, pieces in place.keys.items():
        explained = item_parts.key_explained(pieces, kind.entity)
        rows.append(element("div.krow", element("span.kn", name), explained))
    return element("div", rows)


def _reason(place: ItemPlace, kind: str) -> Markup:
    return (
        note(place.reason[:1].upper() + place.reason[1:] + ".", kind) if place.reason else NOTHING
    )


def _about(place: ItemPlace, item: Item) -> Markup:
    """Return the stored values that a reason mentions."""
    if not place.about:
        return NOTHING
    lines = []
    for name in place.about:
        text = middle(content(item[name]), item_parts.SHORT) if name in item else "absent"
        lines.append([element("code", name), element("span.end.mono", text)])
    return parts.listed(lines, "rel")


def _described(collection: IndexDescription) -> str:
    projection = {"ALL": "all attributes", "KEYS_ONLY": "keys only"}.get(
        collection.projection.type, f"keys and {', '.join(collection.projection.include)}"
    )
    return f"{collection.kind} index, {projection}"


def _near(send: Send, subject: Subject, place: ItemPlace) -> Markup:
    """Return the neighbours of an item in its partition."""
    description, collection, item = subject.description, place.collection, subject.item
    if not collection.is_ready:
        return note("The index is being built, so it cannot be read yet.", "warn")
    found = read_neighbours(send, description, collection, item)
    me = [_line(description, subject.kind, collection, item), parts.spoken("this item")]
    lines = [
        *([_more("before")] if found.more_before else []),
        *(_neighbour(subject, collection, each) for each in found.before),
        element("li.me", me, aria_current="true"),
        *(_neighbour(subject, collection, each) for each in found.after),
        *([_more("after")] if found.more_after else []),
    ]
    where = element(
        "a", found.position, href=item_parts.partition_url(description, collection, item)
    )
    position = element("p.small.muted.pos", where)
    return element("div", position, element("ol.near", lines))


def _more(where: str) -> Markup:
    return element("li", element("span.faint.wide", f"… more {where}"))


def _neighbour(subject: Subject, collection: IndexDescription, item: Item) -> Markup:
    description, kind = subject.description, subject.kind
    other = kind_of(None if kind.entity is None else kind.entity.table, item)
    line = _line(description, other, collection, item)
    link = element("a.kl", line, href=item_url(description, item))
    kind_of_other = (
        item_parts.kind_chip(other) if filter_name(other) != filter_name(kind) else NOTHING
    )
    return element("li", link, kind_of_other)


def _line(
    description: TableDescription, kind: ItemKind, collection: IndexDescription, item: Item
) -> Markup:
    """Return the sort key of an item; without one, its key in the table."""
    names = [each.name for each in collection.keys.sort]
    place = collection if names else description.base
    return element("span.key.wrap", item_parts.key_lines(place, kind, item, names or None))


# --- relations ----------------------------------------------------------------------------------


def relations_panel(send: Send, subject: Subject) -> Markup:
    """Return the relations of an item, in both directions, and its unique values."""
    description, kind, values = subject.description, subject.kind, subject.values
    if kind.entity is None:
        return NOTHING
    groups: list[Markup] = []
    if kind.unique is not None:
        groups += _group("Reserves a value of", [_owner(send, subject)])
    elif values is not None:
        found = relations.relations_of(description, kind.entity, values)
        for direction, title in (("belongs to", "Belongs to"), ("has", "Has")):
            lines = [
                _related(send, description, each) for each in found if each.direction == direction
            ]
            groups += _group(title, lines)
        reserved = relations.reserved_by(kind.entity, values)
        groups += _group("Keeps with it", [_reserved(send, description, each) for each in reserved])
    if not groups:
        text = f"{kind.entity.name} has no relations that the design knows."
        groups = [element("p.muted", text)]
    return parts.panel("Relations", element("div.body.rel", groups))


def _group(title: str, lines: list[Markup]) -> list[Markup]:
    return [element("h3", title), element("ul", lines)] if lines else []


def _related(send: Send, description: TableDescription, related: Related) -> Markup:
    by = f"by {related.attribute}" if related.attribute else ""
    if related.lookup is None:
        text = f"{by}: only a Scan could find them"
        return element("li", chip(related.entity), aside(text))
    found = run(send, related.lookup)
    name = chip(
        related.entity, href=_query_url(description, related.lookup) if found.items else None
    )
    if related.direction == "belongs to" and not found.items:
        text = f"{by}: not found".strip(": ")
        return element("li", name, element("span.end.tag.warn", text))
    if related.direction == "has":
        count = element("b", found.count)
    else:
        count = element("span.muted", short_title(related.entity, found.items[0]))
    title = related.lookup.show()
    where = element("span.end", by or related.lookup.request.operation, title=title)
    links = _links(description, related.entity, found)
    parts = [count, *links] if related.direction == "has" else [*links, count]
    return element("li", name, parts, where)


def _query_url(description: TableDescription, wanted: Lookup) -> str:
    """Return the URL of the items that a lookup finds."""
    collection = description.find(wanted.key.index.name) if wanted.key.index is not None else None
    return item_parts.condition_url(description, collection or description.base, wanted.condition)


def _links(description: TableDescription, entity: EntityMap, found: Found) -> list[Markup]:
    """Return links to the first items that a lookup has found."""
    kind = ItemKind(entity)
    return [
        element("a.mono", own_value(description.base, kind, item), href=item_url(description, item))
        for item in found.items[:LINKS]
    ]


def _owner(send: Send, subject: Subject) -> Markup:
    description, kind = subject.description, subject.kind
    assert kind.entity is not None
    assert kind.unique is not None
    wanted = relations.owner_of(description, kind, subject.item)
    found = Found([], False) if wanted is None else run(send, wanted)
    links = _links(description, kind.entity, found)
    text = kind.unique.key.name
    if not links:
        text += (
            ": only a Scan could find it" if wanted is None else ": reserved, but no item has it"
        )
    return element("li", chip(kind.entity), links, aside(text))


def _reserved(send: Send, description: TableDescription, reserved: Reserved) -> Markup:
    """Return a unique value of an item: whether its sentinel exists."""
    name = element("code", reserved.unique.key.name)
    if reserved.key is None:
        return element("li", name, aside("no value"))
    answer = send("GetItem", TableName=description.name, Key=reserved.key)
    texts = (middle(key_text(value), TITLE) for value in reserved.key.values())
    key = " / ".join(dict.fromkeys(texts))
    if "Item" not in answer:
        tag = element("span.end.tag.bad", "missing: the value is not reserved")
        return element("li", name, element("span.mono", key), tag)
    link = element("a.mono", key, href=item_url(description, answer["Item"]))
    return element("li", name, link, element("span.end.tag.good", "reserved"))


def history_panels(send: Send, subject: Subject) -> list[Markup]:
    """Return the events of each history of an item, the newest first."""
    entity, values = subject.kind.entity, subject.values
    if entity is None or values is None:
        return []
    events = relations.events_of(subject.description, entity, values)
    return [_history(send, subject.description, event) for event in events]


def _history(send: Send, description: TableDescription, event: Event) -> Markup:
    found, empty = Found([], False), "Only a Scan could find its events."
    if event.lookup is not None:
        found, empty = run(send, event.lookup), "No changes yet."
    lines = [_event(description, event, item) for item in found.items]
    none = element("div.body", element("p.muted", empty))
    more = f", {found.count} shown" if found.has_more else ""
    about = element("p", f"of {event.history.attribute}{more}")
    body = element("ol.tl", lines) if lines else none
    return parts.panel("History", body, about=about)


def _event(description: TableDescription, event: Event, item: Item) -> Markup:
    """Return one event: from which value to which, when, by whom and why."""
    entity = event.history.event
    names = {source: name for name, source in event.history.sources.items()}

    def stored(source: str) -> str:
        attribute = entity.attributes.get(names.get(source, ""))
        value = None if attribute is None else item.get(attribute.stored)
        return "" if value is None else middle(content(value), item_parts.SHORT)

    version, at = stored(":version"), stored(":at")
    about = ": ".join(filter(None, (stored(":by"), stored(":reason"))))
    change = [
        element("span.st", stored(":old")) if stored(":old") else NOTHING,
        parts.arrow(),
        element("span.st", stored(":new")),
        element("a.tag", f"v{version}" if version else "event",
                href=item_url(description, item)),
    ]  # fmt: skip
    shown = [
        element("div.row", change),
        element("div.small.muted", about) if about else NOTHING,
        element("time", at, datetime=at) if at else NOTHING,
    ]
    return element("li", shown, class_=entity_hue(entity))
