"""Item: its attributes, its keys part by part, its place in every index, what belongs to it.

    /item/{table}?pk=…&sk=…      the key, each attribute by its type

The page reads the item, its neighbours in each index (two queries of three items each), and one
lookup of one page for each relation.
"""

from __future__ import annotations

from msgspec import Struct

from tablewright.capacity import write_units
from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue
from tablewright.limits import READ_UNIT_SIZE
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.key_parts import key_pieces, short_title
from tablewright.studio.items.key_values import key_value
from tablewright.studio.items.kinds import kind_of, unreadable
from tablewright.studio.items.meter import RequestMeter
from tablewright.studio.items.places import places_of
from tablewright.studio.markup.item_parts import (
    item_url,
    items_url,
    key_line,
    kind_chip,
    partition_url,
    size_text,
)
from tablewright.studio.markup.parts import NOTHING, heading, json_code, note
from tablewright.studio.views.inferred import inferred_note
from tablewright.studio.views.item_attributes import attributes_panel
from tablewright.studio.views.item_drawer import typed_view
from tablewright.studio.views.item_places import key_panel, places_panels
from tablewright.studio.views.item_relations import history_panels, relations_panel
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item


class Subject(Struct, frozen=True):
    """The item of a page."""

    layout: TableDescription
    known: TableMap | None
    item: Item
    kind: ItemKind

    @property
    def title(self) -> str:
        """What tells the item from others of its kind: the last value in its key."""
        base = self.layout.base
        pieces = [
            piece
            for name in base.keys.names
            for piece in key_pieces(base, self.kind, self.item, name)
        ]
        values = [piece.text for piece in pieces if piece.label]
        return values[-1] if values else pieces[-1].text


class NoSubject(Exception):
    """There is no such item; the page says so."""

    def __init__(self, page: WebPage) -> None:
        super().__init__(page.title)
        self.page = page


def show(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show an item."""
    meter = RequestMeter(workspace.send)
    try:
        subject = find_subject(workspace, meter, request, table, infer=True)
    except NoSubject as missing:
        return missing.page
    return WebPage(f"{subject.title} · {table}", _content(workspace, meter, subject), "Items")


def find_subject(
    workspace: Workspace,
    meter: RequestMeter,
    request: WebRequest,
    table: str,
    *,
    infer: bool = False,
) -> Subject:
    """Read the whole item that a URL names; `infer` its entity for a page. Raises NoSubject."""
    layout = workspace.describe(table)
    if layout is None:
        raise NoSubject(_missing(f"The target has no table {table}.", "/tables", "Tables", 404))
    everything = items_url(layout, layout.base)
    try:
        key = {
            attribute.name: key_value(request.query.get(name), attribute)
            for name, attribute in zip(("pk", "sk"), layout.base.keys, strict=False)
        }
    except InvalidValue as error:
        raise NoSubject(_missing(f"{error}.", everything, "Items", 400)) from None
    answer = meter("GetItem", TableName=table, Key=key, ConsistentRead=True)
    if "Item" not in answer:
        text = "There is no item with this key: it was deleted, it expired, or it never existed."
        raise NoSubject(_missing(text, everything, "Items", 404))
    known = workspace.map_of(table) if infer else workspace.maps.get(table)
    return Subject(layout, known, answer["Item"], kind_of(known, answer["Item"]))


def _missing(text: str, href: str, label: str, status: int) -> WebPage:
    content = [heading("No such item"), note([text, " ", element("a", label, href=href)], "warn")]
    return WebPage("No such item", content, "Items", status)


def _content(workspace: Workspace, meter: RequestMeter, subject: Subject) -> list[Markup]:
    layout, kind, item = subject.layout, subject.kind, subject.item
    places = places_of(layout, kind, item)
    reason = unreadable(kind, item)
    warning = (
        element("p", f"This item cannot be decoded: {reason}", class_="note bad", role="alert")
        if reason
        else NOTHING
    )
    columns = element(
        "div",
        element("div", attributes_panel(subject.known, kind, item)),
        element(
            "div",
            key_panel(meter, layout, kind, item, places[0]),
            relations_panel(meter, layout, kind, item),
        ),
        element("div", *history_panels(meter, layout, kind, item), _raw(kind, item)),
        class_="cols c3b",
    )
    indexes = places_panels(meter, layout, kind, item, places[1:])
    head = [subject_head(workspace, subject), inferred_note(workspace, layout.name)]
    return [*head, warning, columns, indexes, _facts(meter, subject)]


def subject_head(workspace: Workspace, subject: Subject, *, actions: bool = True) -> Markup:
    """Return the heading of a page about an item."""
    layout, kind, item = subject.layout, subject.kind, subject.item
    keys = [
        key_line(key_pieces(layout.base, kind, item, name), kind.entity)
        for name in layout.base.keys.names
    ]
    crumbs = element(
        "p",
        join(
            [
                element("a", "Items", href=items_url(layout, layout.base)),
                element("a", keys[0], href=partition_url(layout, layout.base, item)),
                *keys[1:],
            ],
            " / ",
        ),
        class_="crumbs",
    )
    chip = kind_chip(kind) if subject.known is not None else NOTHING
    about = short_title(kind.entity, item) if kind.entity is not None else ""
    called = element("span", about, class_="muted") if about else NOTHING
    title = element("div", chip, element("h1", subject.title), called, class_="row")
    shown = _actions(workspace, subject) if actions else NOTHING
    return element("div", element("div", crumbs, title), shown, class_="head")


def _actions(workspace: Workspace, subject: Subject) -> Markup:
    """Return what can be done with the item; nothing is written before a preview."""
    links = [element("a", "Raw JSON", class_="btn", href="#raw")]
    path, _, query = item_url(subject.layout, subject.item).partition("?")
    if workspace.is_writable:
        if subject.kind.unique is None:
            links.append(element("a", "Edit", class_="btn", href=f"{path}/edit?{query}"))
        links.append(element("a", "Delete…", class_="btn bad", href=f"{path}/delete?{query}"))
    return element("div", links, class_="row")


def _raw(kind: ItemKind, item: Item) -> Markup:
    """Return the item as it is stored, and as a program writes it."""
    typed = typed_view(kind, item)
    head = element("header", element("h2", "Stored item"))
    parts = [element("details", element("summary", "DynamoDB JSON"), json_code(item), open="")]
    if typed is not None:
        parts.append(element("details", element("summary", "Python"), typed))
    return element("section", head, parts, class_="panel wrapcode", id="raw")


def _facts(meter: RequestMeter, subject: Subject) -> Markup:
    """Return the size of the item, and what reading and writing it costs."""
    size = item_size(subject.item)
    rows = sum(each.contains(subject.item) for each in subject.layout.indexes)
    read = -(-size // READ_UNIT_SIZE)
    text = [
        f"{len(subject.item)} attributes, {size_text(size)}",
        f"read units: {read / 2:g}, consistent: {read:g}",
        f"write units: {write_units(size):g}, and those of {rows} index rows",
        f"this page took {meter.show()}",
    ]
    return element("div", [element("span", each) for each in text], class_="note facts-line")


ROUTES = {("GET", "/item/{}"): show}
