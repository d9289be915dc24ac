"""The filter of the items view, and the line below it: what it is for DynamoDB, what it read."""

from __future__ import annotations

from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.item_page import (
    FILTERED_LIMIT,
    MAX_REQUESTS,
    OPERATORS,
    PAGE_SIZE,
    ItemPage,
    Reading,
)
from tablewright.studio.items.kinds import INDEX_RECORD, UNIQUE_VALUES, UNKNOWN_ITEMS, kind_of
from tablewright.studio.markup.item_parts import field
from tablewright.studio.markup.parts import NOTHING, panel
from tablewright.studio.views.items_asked import AskedItems
from tablewright.studio.web.url import url
from tablewright.table_description import IndexDescription

_SIGNS = {"<=": "≤", ">=": "≥"}


def filter_form(asked: AskedItems, known: TableMap | None, line: Markup) -> Markup:
    """Return the filter with the line below it."""
    collection, choice = asked.collection, asked.choice
    controls = [
        element("input", type="hidden", name="index", value=collection.name)
        if collection.name
        else NOTHING,
        _entities(asked, known) if known is not None else NOTHING,
    ]
    for number, attribute in enumerate(collection.keys.partition):
        value = choice.partition[number] if number < len(choice.partition) else ""
        name = f"{attribute.name} ="
        controls.append(_text(f"f-pk{number}", name, "pk", value, "every partition"))
    if collection.keys.sort:
        sort = ", ".join(each.name for each in collection.keys.sort)
        controls.append(field(sort, _operators(sort, choice.operator)))
        several = len(collection.keys.sort) > 1
        for number, attribute in enumerate(collection.keys.sort):
            value = choice.sort[number] if number < len(choice.sort) else ""
            label = attribute.name if several else "value"
            controls.append(_text(f"f-sk{number}", label, "sk", value))
        controls.append(_text("f-sk2", "to", "sk2", choice.upper, class_="f upper"))
        controls.append(_order(choice.descending))
    controls += [
        element("button", "Show ", element("kbd", "↵"), class_="btn go", type="submit"),
        element("button", "Explain", class_="btn", type="submit", name="plan", value="1"),
    ]
    action = url("/items/{}", asked.layout.name)
    form = element(
        "form",
        controls,
        class_="filters",
        action=action,
        hx_get=url("/items/{}", asked.layout.name, plan="1"),
        hx_trigger="input delay:300ms",
        hx_select="#line",
        hx_target="#line",
        hx_swap="outerHTML",
    )
    return panel("Filter", form, line)


def _text(
    id_: str,
    label: str,
    name: str,
    value: str,
    placeholder: str | None = None,
    class_: str = "f",
) -> Markup:
    control = element(
        "input",
        id=id_,
        name=name,
        class_="mono",
        value=value,
        placeholder=placeholder,
        size=16,
        autocomplete="off",
    )
    return field(label, control, id_, class_)


def _entities(asked: AskedItems, known: TableMap) -> Markup:
    names = [("", "any"), *((each.name, each.name) for each in known.entities)]
    if any(each.uniques for each in known.entities):
        names.append((UNIQUE_VALUES, "unique values"))
    names += [(INDEX_RECORD, "index record"), (UNKNOWN_ITEMS, "not in the design")]
    options = [
        element("option", label, value=name, selected="" if name == asked.entity else None)
        for name, label in names
    ]
    return field("entity", element("select", options, id="f-entity", name="entity"), "f-entity")


def _operators(label: str, current: str) -> Markup:
    choices = [
        element(
            "label",
            element(
                "input",
                type="radio",
                name="op",
                value=each,
                checked="" if each == current else None,
            ),
            _SIGNS.get(each, each),
        )
        for each in OPERATORS
    ]
    return element(
        "div", choices, class_="seg ops", role="radiogroup", aria_label=f"Operator of {label}"
    )


def _order(descending: bool) -> Markup:
    options = [
        element("option", label, value=value, selected="" if chosen else None)
        for value, label, chosen in (
            ("", "ascending", not descending),
            ("desc", "descending", descending),
        )
    ]
    control = element("select", options, id="f-order", name="order")
    return field("order", control, "f-order")


def planned_line(asked: AskedItems, reading: Reading) -> Markup:
    """Return what the filter will be for DynamoDB, and how much it will read at most."""
    if asked.entity or reading.is_filtered:
        most = f"at most {MAX_REQUESTS} requests of {FILTERED_LIMIT} items"
    else:
        most = f"one request of at most {PAGE_SIZE} items"
    text = element("span", f"{most}; nothing is read yet")
    return _condition_line(reading, [_described(asked, reading), text])


def read_line(
    asked: AskedItems, reading: Reading, page: ItemPage, known: TableMap | None
) -> Markup:
    """Return what the filter was for DynamoDB, and what it read."""
    total = asked.layout.state.items or 0
    about = f" (about {total:,} in the table)" if total and not reading.is_query else ""
    requests = f", {page.requests} requests" if page.requests > 1 else ""
    returned = f"{len(page.items)} of {page.read} items read{about}, {_units(page.units)}{requests}"
    what = [_described(asked, reading), element("span", returned)]
    if page.next is not None and len(page.items) < PAGE_SIZE and page.requests == MAX_REQUESTS:
        text = f"stopped after {MAX_REQUESTS} requests: Next continues"
        what.append(element("span", text, class_="tag warn"))
    unknown = sum(kind_of(known, item).is_unknown for item in page.items)
    if known is not None and unknown:
        text = f"{unknown} item{'s' * (unknown != 1)} the design does not know"
        what.append(element("span", text, class_="tag warn"))
    if asked.collection.projection.type != "ALL":
        text = f"projection: {_projection(asked.collection)}"
        what.append(element("span", text, class_="tag"))
    return _condition_line(reading, what)


def _condition_line(reading: Reading, what: list[Markup]) -> Markup:
    operation = element("span", reading.request.operation, class_="op")
    return element("div", operation, what, id="line", class_="cond-line last", aria_live="polite")


def _described(asked: AskedItems, reading: Reading) -> Markup:
    condition = element("code", reading.show(), class_="key")
    entity = f", and only {asked.entity.strip('-')} items are shown" if asked.entity else ""
    if reading.is_query:
        return element("span", condition, entity)
    if reading.is_filtered:
        text = "no partition is given, so every partition is read and filtered: "
        return element("span", text, condition, entity)
    whole = asked.collection.title
    return element("span", f"every partition of {whole}, in the order of DynamoDB{entity}")


def _units(units: float) -> str:
    return f"{units:g} read unit{'s' * (units != 1)}"


def _projection(collection: IndexDescription) -> str:
    if collection.projection.type == "INCLUDE":
        return f"keys and {', '.join(collection.projection.include)}"
    return "keys only" if collection.projection.type == "KEYS_ONLY" else collection.projection.type
