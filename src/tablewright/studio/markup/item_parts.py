"""Parts of pages that show items: kinds, keys, values and links. Each function returns markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.key_condition import KeyCondition
from tablewright.publish.html.element import Child, Markup, element
from tablewright.studio.items.key_parts import KeyPiece, paths
from tablewright.studio.items.key_values import key_text
from tablewright.studio.markup.hues import attribute_hue, entity_hue
from tablewright.studio.markup.parts import chip, content
from tablewright.studio.web.url import url
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Value

#: The widest part of a key that is aligned: the style sheet has a class for each width.
MAX_WIDTH = 40
#: Characters of a value in a grid.
SHORT = 60
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,}")


def item_url(layout: TableDescription, item: Mapping[str, Value], **query: str) -> str:
    """Return the URL of the page of an item."""
    return key_url(layout.name, layout.key(item), **query)


def key_url(table: str, key: Mapping[str, Value], **query: str) -> str:
    """Return the URL of the page of the item with a key, whose partition key is first."""
    texts = map(key_text, key.values())
    return url("/item/{}", table, **dict(zip(("pk", "sk"), texts, strict=False)), **query)


def items_url(
    layout: TableDescription, collection: IndexDescription, **query: Sequence[str] | str | None
) -> str:
    """Return the URL of the items of a collection; a name may have several values."""
    return url("/items/{}", layout.name, index=collection.name or None, **query)


def partition_url(
    layout: TableDescription, collection: IndexDescription, item: Mapping[str, Value]
) -> str:
    """Return the URL of the items of the partition that an item is in."""
    texts = [key_text(value) for value in collection.partition_of(item)]
    return items_url(layout, collection, pk=texts)


def condition_url(
    layout: TableDescription, collection: IndexDescription, condition: KeyCondition
) -> str:
    """Return the URL of the items that a key condition selects."""
    partition = {each.name for each in collection.keys.partition}
    pk = [key_text(value) for name, value in condition.equal.items() if name in partition]
    sk = [key_text(value) for name, value in condition.equal.items() if name not in partition]
    sort = condition.sort
    if sort is None:
        return items_url(layout, collection, pk=pk, sk=sk, op="=" if sk else None)
    bound, *upper = map(key_text, sort.values)
    return items_url(layout, collection, pk=pk, sk=[*sk, bound], op=sort.comparison, sk2=upper)


def kind_chip(kind: ItemKind, href: str | None = None) -> Markup:
    """Return the name of what an item is, with its colour and shape."""
    if kind.is_record:
        return element("a" if href else "span", "index record", class_="chip e0", href=href)
    if kind.unique is None:
        return chip(kind.entity, href=href)
    return element(
        "a" if href else "span",
        "unique",
        class_=f"chip {entity_hue(kind.entity)} reserves",
        title=f"{kind.unique.key.name}: reserves a unique value",
        href=href,
    )


def key_line(
    pieces: list[KeyPiece],
    entity: EntityMap | None,
    widths: Mapping[tuple[str, ...], int] | None = None,
) -> Markup:
    """Return a key in one line: fixed text plain, values with their hues, perhaps aligned."""
    located = paths(pieces)
    shown = []
    for number, (path, piece) in enumerate(located):
        if not piece.label:
            shown.append(element("span", piece.text, class_="l" if len(pieces) > 1 else None))
            continue
        width = 0 if widths is None or number == len(located) - 1 else widths.get(path, 0)
        pad = f" p w{width}" if len(piece.text) < width <= MAX_WIDTH else ""
        shown.append(
            element(
                "span", piece.text, class_=f"v {value_class(entity, piece.attribute)}".strip() + pad
            )
        )
    return element("span", shown, class_="key")


def key_explained(pieces: list[KeyPiece], entity: EntityMap | None) -> Markup:
    """Return a key taken apart: each piece above what it is."""
    shown = []
    for piece in pieces:
        kind = (
            "missing"
            if piece.is_missing
            else f"v {value_class(entity, piece.attribute)}"
            if piece.label
            else ""
        )
        meaning = piece.label or ("fixed" if len(pieces) > 1 and piece.text.strip("#") else "")
        shown.append(
            element(
                "span",
                element("code", piece.text),
                element("small", meaning or "\xa0"),
                class_=f"part {kind}".strip(),
            )
        )
    return element("div", shown, class_="parts")


def value_class(entity: EntityMap | None, attribute: str) -> str:
    """Return the colour of a value: that of the entity it identifies, of times, or of choices."""
    found = None if entity is None else entity.attributes.get(attribute)
    if entity is None or found is None:
        return ""
    if hue := attribute_hue(entity, attribute):
        return hue
    kind = found.converter.kind
    if not isinstance(kind, type):
        return ""
    return "time" if issubclass(kind, date) else "enum" if issubclass(kind, (str, Enum)) else ""


def short_value(value: Value, hue: str = "") -> Markup:
    """Return a value in one short line."""
    text = content(value)
    if "S" in value and _CONSTANT.fullmatch(text) and hue in ("", "enum"):
        return element("span", text, class_="st")
    if len(text) > SHORT:
        text = text[: SHORT - 1] + "…"
    is_id = hue not in ("", "enum", "time")
    return element("span", text, class_=f"mono v {hue}" if is_id else "mono")


def size_text(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> size_text(370), size_text(3789)
    ('370 bytes', '3.7 KB')
    """
    return f"{size} bytes" if size < 1000 else f"{size / 1024:.1f} KB"


def strip(hues: Sequence[str], limit: int = 40) -> Markup:
    """Return a row of small bars, one for each item of a partition, with the hue of its kind."""
    shown = hues[:limit]
    order = list(dict.fromkeys(shown))
    bars = [
        element(
            "rect",
            class_=hue,
            x=8 * position,
            # Kinds differ in height, too: colour is never alone.
            y=3 * (order.index(hue) % 2),
            width=7,
            height=8 - 3 * (order.index(hue) % 3 > 0),
        )
        for position, hue in enumerate(shown)
    ]
    width = 8 * len(shown)
    return element(
        "svg",
        bars,
        class_="strip",
        width=width,
        height=8,
        viewBox=f"0 0 {width} 8",
        aria_hidden="true",
    )


def field(label: str, control: Child, for_: str | None = None, class_: str = "f") -> Markup:
    """Return a control of a filter with its label above it."""
    name = element("label", label, for_=for_) if for_ else element("span", label)
    return element("div", name, control, class_=class_)
