"""Item: its attributes, its keys part by part, its place in every index, what belongs to it.

    /item/{table}?pk=…&sk=…      the key, each attribute by its type

The page reads the item, its neighbours in each index (two queries of three items each), and one
lookup of one page for each relation.
"""

from __future__ import annotations

from tablewright.capacity import write_units
from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue
from tablewright.limits import READ_UNIT_SIZE
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.keys import TITLE, key_value, short_title
from tablewright.presentation.kinds import kind_of, unreadable
from tablewright.presentation.values import middle, size_text
from tablewright.studio.items.places import Subject, places_of
from tablewright.studio.items.reading import RequestMeter
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.parts import NOTHING, button_link, note
from tablewright.studio.views.item_panels import (
    history_panels,
    key_panel,
    places_panels,
    relations_panel,
)
from tablewright.studio.views.tables import inferred_note
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.values import Item, tag_of

TYPES = {
    "S": "string",
    "N": "number",
    "B": "binary",
    "BOOL": "boolean",
    "NULL": "null",
    "L": "list",
    "M": "map",
    "SS": "string set",
    "NS": "number set",
    "BS": "binary set",
}
UNKNOWN = "not in the design"
KEY = "key"
#: How many attributes that are not of the entity are shown.
MOST_OTHERS = 100
_ROLES = {
    "version": "counted",
    "created_at": "set once",
    "updated_at": "set by each write",
    "ttl": "expires",
}


def show(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show an item."""
    meter = RequestMeter(workspace.send)
    subject = find_subject(workspace, meter, request, table, infer=True)
    return WebPage(f"{subject.title} · {table}", _content(workspace, meter, subject), "Items")


def find_subject(
    workspace: Workspace,
    meter: RequestMeter,
    request: WebRequest,
    table: str,
    *,
    infer: bool = False,
) -> Subject:
    """Read the item with the key in a URL; with `infer`, infer its entity. Raises MissingPage."""
    description = workspace.describe(table)
    if description is None:
        raise _missing(f"The target has no table {table}.", "/tables", "Tables", 404)
    everything = item_parts.items_url(description, description.base)
    try:
        key = {
            attribute.name: key_value(request.query.get(name), attribute)
            for name, attribute in zip(("pk", "sk"), description.base.keys, strict=False)
        }
    except InvalidValue as error:
        raise _missing(f"{error}.", everything, "Items", 400) from None
    answer = meter("GetItem", TableName=table, Key=key, ConsistentRead=True)
    if "Item" not in answer:
        text = "There is no item with this key: it was deleted, it expired, or it never existed."
        raise _missing(text, everything, "Items", 404)
    known = workspace.map_of(table) if infer else workspace.maps.get(table)
    return Subject(description, known, answer["Item"], kind_of(known, answer["Item"]))


def _missing(text: str, href: str, label: str, status: int) -> MissingPage:
    title = "No such item"
    message = note([text, " ", element("a", label, href=href)], "warn")
    return MissingPage(WebPage(title, [parts.heading(title), message], "Items", status))


def _content(workspace: Workspace, meter: RequestMeter, subject: Subject) -> list[Markup]:
    places = places_of(subject.description, subject.kind, subject.item)
    reason = unreadable(subject.kind, subject.item)
    warning = note(f"This item cannot be decoded: {reason}", "bad", role="alert")
    columns = element(
        "div.cols.c3b",
        element("div", _attributes(subject)),
        element("div", key_panel(meter, subject, places[0]), relations_panel(meter, subject)),
        element("div", *history_panels(meter, subject), _raw(subject.kind, subject.item)),
    )
    return [
        subject_head(workspace, subject),
        inferred_note(workspace, subject.description.name),
        warning if reason else NOTHING,
        columns,
        places_panels(meter, subject, places[1:]),
        _facts(meter, subject),
    ]


def subject_head(workspace: Workspace, subject: Subject, *, actions: bool = True) -> Markup:
    """Return the heading of a page about an item."""
    description, kind, item = subject.description, subject.kind, subject.item
    partition, *sort = item_parts.key_lines(description.base, kind, item)
    items = element("a", "Items", href=item_parts.items_url(description, description.base))
    within = element(
        "a", partition, href=item_parts.partition_url(description, description.base, item)
    )
    crumbs = element("p.crumbs", join([items, within, *sort], " / "))
    chip = item_parts.kind_chip(kind) if subject.known is not None else NOTHING
    about = short_title(kind.entity, item) if kind.entity is not None else ""
    called = element("span.muted", about) if about else NOTHING
    title = element("div.row", chip, element("h1", subject.title), called)
    shown = _actions(workspace, subject) if actions else NOTHING
    return element("div.head", element("div", crumbs, title), shown)


def _actions(workspace: Workspace, subject: Subject) -> Markup:
    """Return what can be done with the item; nothing is written before a preview."""
    links = [button_link("Raw JSON", "#raw")]
    path, _, query = item_parts.item_url(subject.description, subject.item).partition("?")
    if workspace.is_writable:
        if subject.kind.unique is None:
            links.append(button_link("Edit", f"{path}/edit?{query}"))
        links.append(button_link("Delete…", f"{path}/delete?{query}", "bad"))
    return element("div.row", links)


def _raw(kind: ItemKind, item: Item) -> Markup:
    """Return the item in DynamoDB's JSON and, if it is of an entity, as Python code."""
    typed = item_parts.typed_view(kind, item)
    shown = [parts.details("DynamoDB JSON", parts.json_code(item))]
    if typed is not None:
        shown.append(parts.details("Python", typed))
    return parts.panel("Stored item", shown, class_="wrapcode", id="raw")


def _facts(meter: RequestMeter, subject: Subject) -> Markup:
    """Return the size of the item, and what reading and writing it costs."""
    size = item_size(subject.item)
    rows = sum(each.contains(subject.item) for each in subject.description.indexes)
    read = -(-size // READ_UNIT_SIZE)
    text = [
        f"{len(subject.item)} attributes, {size_text(size)}",
        f"read units: {read / 2:g}, consistent: {read:g}",
        f"write units: {write_units(size):g}, and those of {rows} index rows",
        f"this page took {meter.show()}",
    ]
    return element("div.note.facts-line", [element("span", each) for each in text])


# --- attributes ---------------------------------------------------------------------------------


def _attributes(subject: Subject) -> Markup:
    """Return all attributes: those of the entity, its keys, and what the design does not know."""
    entity, item = subject.kind.entity, subject.item
    rows: list[list[Child]] = []
    shown: set[str] = set()
    if entity is not None and subject.kind.unique is None:
        for attribute in entity.attributes.values():
            if not attribute.is_key_only:
                hue = item_parts.value_class(entity, attribute.name).replace("enum", "")
                about = type_name(attribute)
                rows.append(_row(subject, attribute.name, attribute.stored, about, hue))
                shown.add(attribute.stored)
    # Its keys have panels of their own, where they are taken apart.
    others = [
        name
        for name in item
        if name not in shown and _role(subject.known, subject.kind, name) != KEY
    ]
    keys = len(item) - len(others) - len(shown & item.keys())
    for name in others[:MOST_OTHERS]:
        what = _role(subject.known, subject.kind, name)
        warn = "tag warn" if what == UNKNOWN else "faint"
        rows.append(_row(subject, name, name, element("span", what, class_=warn)))
    columns, kinds = ("Attribute", "Type", "Value"), {"Type": "small", "Value": "mono"}
    table = parts.data_table("Attributes", columns, rows, kinds=kinds, class_="attributes")
    scrolled = element("div.scroll.flat", table)
    about = f"{len(item):,} stored" + (f", {keys} of them only in keys" if keys else "")
    if len(others) > MOST_OTHERS:
        about += f", {len(others) - MOST_OTHERS:,} of them not shown"
    return parts.panel("Attributes", scrolled, about=element("p", about))


def type_name(attribute: AttributeMap) -> str:
    """Return the type of an attribute as a program declares it, and what the library does."""
    kind = attribute.converter.kind
    name = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
    optional = " | None" if attribute.converter.optional else ""
    role = _ROLES.get(attribute.role)
    return f"{name}{optional}" + (f", {role}" if role else "")


def _role(known: TableMap | None, kind: ItemKind, name: str) -> str:
    """Return what an attribute is that is not one of the entity: a key, the type, or unknown."""
    if known is None:
        return ""
    if name == known.type_attribute:
        return "type of the item"
    indexes = known.indexes.values()
    if name in known.attributes or any(name in index.attributes for index in indexes):
        return KEY
    if kind.unique is not None and any(each.stored == name for each in kind.unique.keeps):
        return f"kept for {kind.unique.key.name}"
    return UNKNOWN


def _row(subject: Subject, name: str, stored: str, about: str, hue: str = "") -> list[Child]:
    value = subject.item.get(stored)
    type_ = TYPES[tag_of(value)] if value is not None else ""
    shown = parts.faint("absent")
    if value is not None:
        whole = item_parts.whole_value(subject.description, subject.item, stored)
        shown = element("span", whole, class_=f"v {hue}" if hue else "value")
    also = middle(stored, TITLE) if stored != name else ""
    return [
        [element("code", middle(name, TITLE)), element("small.faint", also)],
        [about, element("small.faint", type_)],
        shown,
    ]


ROUTES = {("GET", "/item/{}"): show}
