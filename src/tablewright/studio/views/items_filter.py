"""The filter of the items view: its fields in the URL, its form, and the line below it.

The line shows the request that the filter becomes, and what it read.
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element
from tablewright.presentation.keys import read_key_token
from tablewright.presentation.kinds import (
    INDEX_RECORD,
    UNIQUE_VALUES,
    UNKNOWN_ITEMS,
    filter_name,
    kind_of,
)
from tablewright.presentation.values import plural
from tablewright.studio.items.reading import (
    FILTERED_LIMIT,
    MAX_REQUESTS,
    OPERATORS,
    PAGE_SIZE,
    ItemChoice,
    ItemPage,
    PlannedRead,
    prepare,
    read_page,
)
from tablewright.studio.markup import parts
from tablewright.studio.markup.item_parts import items_url
from tablewright.studio.markup.parts import NOTHING, choice, field
from tablewright.studio.web.http import Fields, url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

BAD_CURSOR = "the key in the URL is malformed; start at the first page"
_SIGNS = {"<=": "≤", ">=": "≥"}


class ItemsQuery(Struct, frozen=True, dict=True):
    """The items that the URL of a page asks for."""

    description: TableDescription
    collection: IndexDescription
    choice: ItemChoice
    entity: str
    cursor: str
    back: tuple[str, ...]
    item: str

    @property
    def is_filtered(self) -> bool:
        """Whether it asks for a part of the items, or for a later page."""
        choice = self.choice
        return bool(any((*choice.partition, *choice.sort)) or self.entity or self.cursor)

    def url(self, **changed: str | tuple[str, ...] | None) -> str:
        """Return the URL of this page, with some fields changed."""
        choice = self.choice
        fields: dict[str, str | tuple[str, ...] | None] = {
            "entity": self.entity or None,
            "pk": choice.partition if any(choice.partition) else None,
            "op": None if choice.operator == "any" else choice.operator,
            "sk": choice.sort if any(choice.sort) else None,
            "sk2": choice.upper or None,
            "order": "desc" if choice.descending else None,
            "cursor": self.cursor or None,
            "back": self.back or None,
        }
        return items_url(self.description, self.collection, **(fields | changed))

    def url_of_item(self, token: str) -> str:
        """Return the URL of this page with the item of a token in the drawer."""
        page = self._page
        return f"{page}{'&' if '?' in page else '?'}item={token}"

    @cached_property
    def _page(self) -> str:
        return self.url()

    def export_url(self, form: str, pages: str) -> str:
        """Return the URL of the items of this page, or of all pages from it, as a file."""
        path, _, query = self.url(format=form, pages=pages, back=None).partition("?")
        return f"{path}/export?{query}"


def read_asked(
    description: TableDescription, collection: IndexDescription, query: Fields
) -> ItemsQuery:
    """Read the fields of a URL."""
    choice = ItemChoice(
        partition=tuple(query.all("pk")),
        operator=query.get("op", "any"),
        sort=tuple(query.all("sk")),
        upper=query.get("sk2"),
        descending=query.get("order") == "desc",
    )
    return ItemsQuery(
        description,
        collection,
        choice,
        query.get("entity"),
        query.get("cursor"),
        tuple(query.all("back")),
        query.get("item"),
    )


def read_asked_page(
    workspace: Workspace, asked: ItemsQuery, known: TableMap | None
) -> tuple[PlannedRead, ItemPage]:
    """Read the page that a URL asks for. Raises InvalidValue if a field is malformed."""
    reading = prepare(asked.description, asked.collection, asked.choice)
    start: Item | None = read_key_token(asked.cursor, BAD_CURSOR) if asked.cursor else None
    wanted = asked.entity
    page = read_page(
        workspace.send,
        asked.description,
        asked.collection,
        reading,
        start,
        accepts=(lambda item: filter_name(kind_of(known, item)) == wanted) if wanted else None,
    )
    return reading, page


# --- the form -----------------------------------------------------------------------------------


def filter_form(asked: ItemsQuery, known: TableMap | None, line: Markup) -> Markup:
    """Return the filter with the line below it."""
    collection, wanted = asked.collection, asked.choice
    controls = [
        parts.hidden("index", collection.name) if collection.name else NOTHING,
        _entities(asked, known) if known is not None else NOTHING,
    ]
    for number, attribute in enumerate(collection.keys.partition):
        value = wanted.partition[number] if number < len(wanted.partition) else ""
        name = f"{attribute.name} ="
        controls.append(_text(f"f-pk{number}", name, "pk", value, "every partition"))
    if collection.keys.sort:
        sort = ", ".join(each.name for each in collection.keys.sort)
        offered = [
            each
            for each in OPERATORS
            if each != "begins_with" or collection.keys.sort[-1].type != "N"
        ]
        controls.append(field(sort, _operators(sort, offered, wanted.operator)))
        several = len(collection.keys.sort) > 1
        for number, attribute in enumerate(collection.keys.sort):
            value = wanted.sort[number] if number < len(wanted.sort) else ""
            label = attribute.name if several else "value"
            controls.append(_text(f"f-sk{number}", label, "sk", value))
        controls.append(_text("f-sk2", "to", "sk2", wanted.upper, class_="f upper"))
        orders, chosen = (("", "ascending"), ("desc", "descending")), "desc" * wanted.descending
        order = choice(orders, chosen, id="f-order", name="order")
        controls.append(field("order", order, "f-order"))
    controls += [
        parts.button(["Show ", element("kbd", "↵")], "go", type="submit"),
        parts.button("Explain", type="submit", name="plan", value="1"),
    ]
    action, plan = (url("/items/{}", asked.description.name, plan=each) for each in (None, "1"))
    swap = parts.swap("#line", push=False, hx_get=plan, hx_trigger="input delay:300ms")
    form = element("form.filters", controls, action=action, **swap)
    return parts.region("Filter", form, line)


def _text(
    id_: str, label: str, name: str, value: str, hint: str | None = None, class_: str = "f"
) -> Markup:
    control = element(
        "input.mono", id=id_, name=name, value=value, placeholder=hint, size=16,
        autocomplete="off",
    )  # fmt: skip
    return field(label, control, id_, class_)


def _entities(asked: ItemsQuery, known: TableMap) -> Markup:
    names = [("", "any"), *((each.name, each.name) for each in known.entities)]
    if any(each.uniques for each in known.entities):
        names.append((UNIQUE_VALUES, "unique values"))
    names += [(INDEX_RECORD, "index record"), (UNKNOWN_ITEMS, "not in the design")]
    return field("entity", choice(names, asked.entity, id="f-entity", name="entity"), "f-entity")


def _operators(label: str, offered: list[str], current: str) -> Markup:
    choices = []
    for each in offered:
        checked = "" if each == current else None
        button = element("input", type="radio", name="op", value=each, checked=checked)
        choices.append(element("label", button, _SIGNS.get(each, each)))
    named = f"Operator of {label}"
    return element("div.seg.ops", choices, role="radiogroup", aria_label=named)


# --- the line -----------------------------------------------------------------------------------


def planned_line(asked: ItemsQuery, reading: PlannedRead) -> Markup:
    """Return the line before a read: the request, and the maximum that it reads."""
    if asked.entity or reading.is_filtered:
        most = f"at most {MAX_REQUESTS} requests of {FILTERED_LIMIT} items"
    else:
        most = f"one request of at most {PAGE_SIZE} items"
    text = element("span", f"{most}; nothing is read yet")
    return _condition_line(reading, [_described(asked, reading), text])


def read_line(asked: ItemsQuery, reading: PlannedRead, page: ItemPage, unknown: int) -> Markup:
    """Return the line after a read: the request, and what it read.

    `unknown` is the number of items that the design does not know.
    """
    total = asked.description.state.items or 0
    about = f" (about {total:,} in the table)" if total and not reading.is_query else ""
    requests = f", {page.requests} requests" if page.requests > 1 else ""
    units = plural(page.units, "read unit")
    returned = f"{len(page.items)} of {page.read} items read{about}, {units}{requests}"
    what = [_described(asked, reading), element("span", returned)]
    is_cut = len(page.items) < PAGE_SIZE and page.requests == MAX_REQUESTS
    if page.next is not None and is_cut:
        text = f"stopped after {MAX_REQUESTS} requests: Next continues"
        what.append(parts.tag(text, "warn"))
    if unknown:
        text = f"{plural(unknown, 'item')} the design does not know"
        what.append(parts.tag(text, "warn"))
    if asked.collection.projection.type != "ALL":
        text = f"projection: {_projection(asked.collection)}"
        what.append(parts.tag(text))
    return _condition_line(reading, what)


def _condition_line(reading: PlannedRead, what: list[Markup]) -> Markup:
    operation = element("span.op", reading.request.operation)
    return element("div.cond-line.last", operation, what, id="line", aria_live="polite")


def _described(asked: ItemsQuery, reading: PlannedRead) -> Markup:
    condition = element("code.key", reading.show())
    entity = f", and only {asked.entity.strip('-')} items are shown" if asked.entity else ""
    if reading.is_query:
        return element("span", condition, entity)
    if reading.is_filtered:
        text = "no partition is given, so every partition is read and filtered: "
        return element("span", text, condition, entity)
    whole = asked.collection.title
    return element("span", f"every partition of {whole}, in the order of DynamoDB{entity}")


def _projection(collection: IndexDescription) -> str:
    projection = collection.projection
    if projection.type == "INCLUDE":
        return f"keys and {', '.join(projection.include)}"
    return "keys only" if projection.type == "KEYS_ONLY" else projection.type
