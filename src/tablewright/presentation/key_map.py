"""The key map: a row for each entity, a column for the table and for each index.

A cell shows the template of each key attribute. Literals are plain; an attribute has the hue of the
entity that it identifies, so `CUST#{customerId}` has the same colour in the key of every entity.

    PK  CUST#customerId
    SK  ORDER#orderId
"""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.table import TableMap
from tablewright.presentation.blocks import NO_LINKS, Links
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.style import attribute_hue, chip, entity_hue

LITERAL, IDENTIFIER = "fixed text", "an id, in the colour of the entity that it names"
TIME, CHOICE = "a time", "a choice"
MEANINGS = (LITERAL, IDENTIFIER, TIME, CHOICE)
ABSENT = "not in this index"


def key_map(table: TableMap, links: Links = NO_LINKS) -> Markup:
    """Return the key map of a table, with a caption for screen readers."""
    columns: list[IndexMap | None] = [None, *table.indexes.values()]
    header = [
        element("th.fix", "Entity", scope="col"),
        *[element("th", _heading(table, index), scope="col") for index in columns],
    ]
    rows = [
        element(
            "tr",
            element(
                "th",
                chip(entity, href=links.entity(entity)),
                scope="row",
                class_=f"fix {entity_hue(entity)}",
            ),
            [_cell(entity, index, table) for index in columns],
        )
        for entity in table.entities
    ]
    return element(
        "table.keymap",
        element("caption.vh", f"Key map of the table {table.name}"),
        element("thead", element("tr", header)),
        element("tbody", rows),
    )


def legend(table: TableMap) -> Markup:
    """Return what the tones of a key map mean, with the first example of each."""
    found: dict[str, Markup] = {}
    for entity in table.entities:
        for key in (entity.primary, *entity.indexes):
            for template in key.templates.values():
                for piece in template.pieces:
                    meaning, class_ = _meaning(piece, entity)
                    shown = element("span", _text(piece, entity), class_=class_)
                    found.setdefault(meaning, shown)
    swatches = [
        element("span", element("span.key.tpl", found[meaning]), f" {meaning}")
        for meaning in MEANINGS
        if meaning in found
    ]
    return element("div.swatches", swatches)


def _meaning(piece: str | KeyPart, entity: EntityMap) -> tuple[str, str]:
    """Return what a piece of a template is, and its class."""
    if isinstance(piece, str):
        return LITERAL, "l"
    hue = attribute_hue(entity, piece.attribute)
    return {"time": TIME, "enum": CHOICE, "": ""}.get(hue, IDENTIFIER), f"v {hue}".strip()


def _heading(table: TableMap, index: IndexMap | None) -> list[Markup]:
    if index is None:
        names, about = [name for name in table.attributes if name is not None], "table"
    else:
        names, kept = list(index.attributes), index.projection
        projected = kept if isinstance(kept, str) else f"{len(kept)} attributes"
        about = projected if index.kind == "global" else f"local · {projected}"
    name = element("code", table.name if index is None else index.name)
    return [name, element("span.faint", f"{', '.join(names)} · {about}")]


def _cell(entity: EntityMap, index: IndexMap | None, table: TableMap) -> Markup:
    keys = [key for key in (entity.primary, *entity.indexes) if key.index == index]
    if not keys:
        return element("td.none", ABSENT)
    label = table.name if index is None else index.name
    return element("td", [join(_key_lines(key, entity)) for key in keys], data_l=label)


def _key_lines(key: KeyMap, entity: EntityMap) -> Iterator[Markup]:
    """Return a line for each key attribute, and the condition of a sparse key."""
    for name, template in key.templates.items():
        role = "PK" if name in key.partition_attributes else "SK"
        pieces = [
            element("span", _text(piece, entity), class_=_meaning(piece, entity)[1])
            for piece in template.pieces
        ]
        shown = element("span.key.tpl.wrap", join(pieces, element("wbr")))
        yield element("div.kt", element("i", role, title=name), shown)
    if key.when is not None:
        yield element("div.kt", element("i", "if"), element("code", repr(key.when)))


def _text(piece: str | KeyPart, entity: EntityMap) -> str:
    """Return a piece as the map shows it: a part with a format as it is declared."""
    if isinstance(piece, str):
        return piece
    return entity.attributes[piece.attribute].stored if piece.is_plain else piece.label
