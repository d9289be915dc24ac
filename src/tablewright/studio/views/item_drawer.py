"""The drawer beside the items: the selected item, as DynamoDB's JSON and typed."""

from __future__ import annotations

from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.key_parts import key_pieces
from tablewright.studio.items.key_values import decode_cursor
from tablewright.studio.items.kinds import kind_of
from tablewright.studio.markup.item_parts import (
    item_url,
    key_line,
    kind_chip,
    partition_url,
    size_text,
)
from tablewright.studio.markup.parts import json_code, note
from tablewright.studio.patterns.typed_text import entity_code
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item


def drawer(
    workspace: Workspace,
    layout: TableDescription,
    known: TableMap | None,
    token: str,
    *,
    close: str,
) -> Markup:
    """Return the drawer with the item of a key; without one, an empty place for it."""
    if not token:
        return element("aside", id="drawer", class_="drawer-p", aria_label="Selected item")
    try:
        key = decode_cursor(token)
    except InvalidValue as error:
        return _aside(close, [], [note(str(error), "bad")])
    found = workspace.send(
        "GetItem", TableName=layout.name, Key=key, ReturnConsumedCapacity="TOTAL"
    )
    if "Item" not in found:
        text = "The item does not exist any more: it was deleted, or it expired."
        return _aside(close, [], [note(text, "warn")])
    item: Item = found["Item"]
    kind = kind_of(known, item)
    units = found.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
    facts = element(
        "div",
        element("span", f"{len(item)} attributes"),
        element("span", size_text(item_size(item))),
        element("span", f"{units:g} read units"),
        class_="pager",
    )
    opened = element("a", "Open", class_="btn sm", href=item_url(layout, item))
    chip = kind_chip(kind) if known is not None else element("b", layout.name, class_="mono")
    return _aside(close, [chip, opened], [_tabs(kind, item), _also(layout, kind, item), facts])


def _aside(close: str, head: list[Markup], content: list[Markup]) -> Markup:
    closing = element(
        "a",
        "Close ",
        element("kbd", "Esc"),
        class_="btn sm",
        href=close,
        data_close="",
        hx_get=close,
        hx_select="#drawer",
        hx_target="#drawer",
        hx_swap="outerHTML",
        hx_push_url="true",
    )
    header = element("header", head[:1], element("span", head[1:], closing, class_="end"))
    return element(
        "aside",
        header,
        content,
        id="drawer",
        class_="panel drawer-p wrapcode",
        aria_label="Selected item",
    )


def _tabs(kind: ItemKind, item: Item) -> Markup:
    """Return the item as it is stored, and as the design reads it."""
    tabs = [("DynamoDB JSON", json_code(item))]
    typed = typed_view(kind, item)
    if typed is not None:
        tabs.append(("Typed", typed))
    labels = [
        (
            element("input", type="radio", name="form", id=f"d{n}", checked="" if n == 0 else None),
            element("label", label, for_=f"d{n}"),
        )
        for n, (label, _) in enumerate(tabs)
    ]
    return element(
        "div", [each for pair in labels for each in pair], [code for _, code in tabs], class_="tabs"
    )


def typed_view(kind: ItemKind, item: Item) -> Markup | None:
    """Return the code of an item's entity, or why it has none; None if it is of no entity."""
    if kind.stored is None:
        return None
    try:
        text = entity_code(kind.stored.decode(item))
    except UnreadableItem as error:
        text = f"This item cannot be decoded as {kind.stored.name}:\n{error}"
    return element("pre", text, tabindex="0", aria_label="Typed code")


def _also(layout: TableDescription, kind: ItemKind, item: Item) -> Markup:
    """Return the links to the partitions of the item in the table and in the indexes."""
    lines = []
    for each in layout.collections:
        if each.contains(item):
            keys = [
                key_line(key_pieces(each, kind, item, attribute.name), kind.entity)
                for attribute in each.keys.partition
            ]
            place = element("span", "in ", keys, class_="end")
            link = element("a", each.title, class_="idx", href=partition_url(layout, each, item))
        else:
            place = element("span", "not in it", class_="end")
            link = element("span", each.title, class_="idx")
        lines.append(element("li", link, place))
    return element(
        "div", element("h2", "Its partitions"), element("ul", lines, class_="rel"),
        class_="body also top-line",
    )  # fmt: skip
