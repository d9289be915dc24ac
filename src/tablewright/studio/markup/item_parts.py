"""Parts of pages that show items: kinds, keys, values and links. Each function returns markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from tablewright.errors import UnreadableItem
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.key_condition import KeyCondition
from tablewright.presentation.element import Child, Markup, element
from tablewright.presentation.keys import KeyPiece, key_pieces, key_text
from tablewright.presentation.style import attribute_hue, chip, entity_hue
from tablewright.presentation.values import content, middle, size_text
from tablewright.studio.markup.parts import MAX_CODE
from tablewright.studio.patterns.programs import entity_code
from tablewright.studio.web.http import url
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item, Value

#: Characters of a value in a grid, of a part of a key in one line and taken apart, of a value on a
#: page, and of one that is longer.
SHORT = 60
KEY_PART = 48
KEY_TEXT = 400
LONG = 2_000
CUT = 240
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,}")


def item_url(description: TableDescription, item: Mapping[str, Value], **query: str) -> str:
    """Return the URL of the page of an item."""
    return key_url(description.name, description.key(item), **query)


def key_url(table: str, key: Mapping[str, Value], route: str = "/item/{}", **query: str) -> str:
    """Return the URL of the page of the item with a key, whose partition key is first."""
    texts = map(key_text, key.values())
    return url(route, table, **dict(zip(("pk", "sk"), texts, strict=False)), **query)


def value_url(
    description: TableDescription, item: Item, name: str, *, as_file: bool = False
) -> str:
    """Return the URL of the value of an attribute: of its beginning, or of all of it as a file."""
    route = "/item/{}/value/text" if as_file else "/item/{}/value"
    return key_url(description.name, description.key(item), route, name=name)


def items_url(
    description: TableDescription, collection: IndexDescription, **query: Sequence[str] | str | None
) -> str:
    """Return the URL of the items of a collection; a name may have several values."""
    return url("/items/{}", description.name, index=collection.name or None, **query)


def partition_url(
    description: TableDescription, collection: IndexDescription, item: Mapping[str, Value]
) -> str:
    """Return the URL of the items of the partition that an item is in."""
    texts = [key_text(value) for value in collection.partition_of(item)]
    return items_url(description, collection, pk=texts)


def condition_url(
    description: TableDescription, collection: IndexDescription, condition: KeyCondition
) -> str:
    """Return the URL of the items that a key condition selects."""
    partition = {each.name for each in collection.keys.partition}
    pk = [key_text(value) for name, value in condition.equal.items() if name in partition]
    sk = [key_text(value) for name, value in condition.equal.items() if name not in partition]
    sort = condition.sort
    if sort is None:
        return items_url(description, collection, pk=pk, sk=sk, op="=" if sk else None)
    bound, *upper = map(key_text, sort.values)
    return items_url(description, collection, pk=pk, sk=[*sk, bound], op=sort.comparison, sk2=upper)


def kind_chip(kind: ItemKind, href: str | None = None) -> Markup:
    """Return the name of the kind of an item, with its colour and shape."""
    if kind.is_record:
        return element("a" if href else "span", "index record", class_="chip e0", href=href)
    if kind.unique is None:
        return chip(kind.entity, href=href)
    class_ = f"chip {entity_hue(kind.entity)} reserves"
    title = f"{kind.unique.key.name}: reserves a unique value"
    return element("a" if href else "span", "unique", class_=class_, title=title, href=href)


def key_line(pieces: list[KeyPiece], entity: EntityMap | None) -> Markup:
    """Return a key in one line: fixed text plain, values with their hues, long parts cut."""
    shown = []
    for piece in pieces:
        class_ = "l" if len(pieces) > 1 else None
        if piece.label:
            class_ = f"v {value_class(entity, piece.attribute)}".strip()
        text = piece.text if len(piece.text) <= KEY_PART else middle(piece.text, KEY_PART)
        shown.append(element("span", text, class_=class_))
    return element("span.key", shown)


def key_lines(
    collection: IndexDescription,
    kind: ItemKind,
    item: Mapping[str, Value],
    names: Iterable[str] | None = None,
) -> list[Markup]:
    """Return key attributes of an item, each in one line; by default those of a collection."""
    return [
        key_line(key_pieces(collection, kind, item, name), kind.entity)
        for name in (collection.keys.names if names is None else names)
    ]


def key_explained(pieces: list[KeyPiece], entity: EntityMap | None) -> Markup:
    """Return a key in pieces, each above its meaning."""
    shown = []
    for piece in pieces:
        kind = f"v {value_class(entity, piece.attribute)}" if piece.label else ""
        class_ = f"part {'missing' if piece.is_missing else kind}".strip()
        meaning = piece.label or ("fixed" if len(pieces) > 1 and piece.text.strip("#") else "")
        text = element("code", middle(piece.text, KEY_TEXT))
        below = element("small", meaning or "\xa0")
        shown.append(element("span", text, below, class_=class_))
    return element("div.parts", shown)


@cache
def value_class(entity: EntityMap | None, attribute: str) -> str:
    """Return the colour of a value: that of the entity it identifies, of times, or of choices."""
    if entity is None or attribute not in entity.attributes:
        return ""
    kind = entity.attributes[attribute].converter.kind
    is_text = isinstance(kind, type) and issubclass(kind, str)
    return attribute_hue(entity, attribute) or ("enum" if is_text else "")


def short_value(value: Value, hue: str = "") -> Markup:
    """Return a value in one short line."""
    text = value["S"] if "S" in value else content(value)
    if hue in ("", "enum", "time"):
        if hue != "time" and "S" in value and _CONSTANT.fullmatch(text):
            return element("span.st", text)
        hue = "mono"
    else:
        hue = f"mono v {hue}"
    if len(text) <= SHORT:
        return element("span", text, class_=hue)
    size = element("span.size", size_text(len(text.encode())))
    return element("span", middle(text, SHORT), " ", size, class_=hue)


def whole_value(description: TableDescription, item: Item, name: str) -> Child:
    """Return the value of an attribute; of a long one its ends, its size, and a link to it."""
    text = content(item[name])
    if len(text) <= LONG:
        return text
    size, href = size_text(len(text.encode())), value_url(description, item, name)
    return [middle(text, CUT), element("a.size", f"{size}, open", href=href)]


def typed_view(kind: ItemKind, item: Item) -> Markup | None:
    """Return the code of an item's entity, or why it has none; None if it is of no entity."""
    if kind.entity is None or kind.unique is not None:
        return None
    try:
        text = entity_code(kind.entity.decode(item))
    except UnreadableItem as error:
        text = f"This item cannot be decoded as {kind.entity.name}:\n{error}"
    return element("pre", middle(text, MAX_CODE), tabindex="0", aria_label="Typed code")


def strip(hues: Sequence[str], limit: int = 40) -> Markup:
    """Return a row of small bars, one for each item of a partition, with the hue of its kind."""
    shown = hues[:limit]
    order = list(dict.fromkeys(shown))
    bars = []
    for position, hue in enumerate(shown):
        # Kinds also differ in height, for people who cannot distinguish the colours.
        y, height = 3 * (order.index(hue) % 2), 8 - 3 * (order.index(hue) % 3 > 0)
        bars.append(element("rect", class_=hue, x=8 * position, y=y, width=7, height=height))
    size = {"width": 8 * len(shown), "height": 8}
    box = f"0 0 {8 * len(shown)} 8"
    return element("svg.strip", bars, **size, viewBox=box, aria_hidden="true")
