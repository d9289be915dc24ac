"""The key map: a row for each entity, a column for the table and for each index."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.markup import parts
from tablewright.studio.markup.hues import attribute_hue, entity_hue
from tablewright.studio.web.url import url

LITERAL, IDENTIFIER = "fixed text", "an id, in the colour of the entity that it names"
TIME, CHOICE = "a time", "a choice"
MEANINGS = (LITERAL, IDENTIFIER, TIME, CHOICE)


def key_map(table: TableMap) -> Markup:
    """Return the key map of a table."""
    columns: list[IndexMap | None] = [None, *table.indexes.values()]
    header = [
        element("th", "Entity", scope="col", class_="fix"),
        *(element("th", join(_heading(table, index)), scope="col") for index in columns),
    ]
    rows = [
        element("tr", _row_heading(entity), [_cell(entity, index, table) for index in columns])
        for entity in table.entities
    ]
    label = f"Key map of the table {table.name}"
    drawn = element(
        "table",
        element("caption", label, class_="vh"),
        element("thead", element("tr", header)),
        element("tbody", rows),
        class_="keymap",
    )
    return element(
        "section",
        element("header", element("h2", "Key map"), _legend(table)),
        parts.scroll(label, drawn),
        class_="panel",
        aria_label=label,
    )


def _legend(table: TableMap) -> Markup:
    """Return what the tones of this key map mean, with the first example of each."""
    found: dict[str, Markup] = {}
    for entity in table.entities:
        for key in (entity.primary, *entity.indexes):
            for template in key.templates.values():
                for piece in template.pieces:
                    meaning, class_ = _meaning(piece, entity)
                    text = piece if isinstance(piece, str) else piece.label
                    found.setdefault(meaning, element("span", text, class_=class_))
    swatches = [
        element("span", element("span", found[meaning], class_="key tpl"), f" {meaning}")
        for meaning in MEANINGS
        if meaning in found
    ]
    return element("div", swatches, class_="swatches")


def _meaning(piece: str | KeyPart, entity: EntityMap) -> tuple[str, str]:
    """Return what a piece of a template is, and its class."""
    if isinstance(piece, str):
        return LITERAL, "l"
    hue = attribute_hue(entity, piece.attribute)
    return {"time": TIME, "enum": CHOICE, "": ""}.get(hue, IDENTIFIER), f"v {hue}"


def _heading(table: TableMap, index: IndexMap | None) -> Iterator[Markup]:
    if index is None:
        names = [name for name in table.attributes if name is not None]
        yield element("code", table.name)
        yield element("span", f"{', '.join(names)} · table", class_="faint")
        return
    projection = index.projection
    projected = projection if isinstance(projection, str) else f"{len(projection)} attributes"
    kind = "" if index.kind == "global" else "local · "
    yield element("code", index.name)
    yield element("span", f"{', '.join(index.attributes)} · {kind}{projected}", class_="faint")


def _row_heading(entity: EntityMap) -> Markup:
    link = url("/items/{}", entity.table.name, entity=entity.name)
    return element(
        "th", parts.chip(entity, href=link), scope="row", class_=f"fix {entity_hue(entity)}"
    )


def _cell(entity: EntityMap, index: IndexMap | None, table: TableMap) -> Markup:
    keys = [key for key in (entity.primary, *entity.indexes) if key.index == index]
    if not keys:
        return element("td", "not in this index", class_="none")
    label = table.name if index is None else index.name
    return element("td", [join(_key_lines(key, entity)) for key in keys], data_l=label)


def _key_lines(key: KeyMap, entity: EntityMap) -> Iterator[Markup]:
    for name, template in key.templates.items():
        role = "PK" if name in key.partition_attributes else "SK"
        yield element(
            "div", element("i", role, title=name), parts.template_key(template, entity), class_="kt"
        )
    if key.when is not None:
        yield element("div", element("i", "if"), element("code", repr(key.when)), class_="kt")
