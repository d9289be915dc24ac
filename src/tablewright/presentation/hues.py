"""Hues: the colour of each entity, and of each attribute that identifies an entity.

`customer_id` has the hue of Customer in the keys of every entity, so a key can be read without a
legend. A hue is a class of the style sheet: `e1` to `e12`, and `e0` for what the design does not
know.
"""

from __future__ import annotations

from datetime import date
from enum import Enum
from functools import cache
from typing import Literal, get_origin

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element
from tablewright.presentation.erd import owners
from tablewright.presentation.style import hue

UNKNOWN = "e0"


@cache
def entity_hues(table: TableMap) -> dict[str, str]:
    """Return the hue of each entity of a table by its name."""
    return {entity.name: hue(position) for position, entity in enumerate(table.entities)}


def entity_hue(entity: EntityMap | None) -> str:
    """Return the hue of an entity, or that of unknown items."""
    return UNKNOWN if entity is None else entity_hues(entity.table).get(entity.name, UNKNOWN)


def chip(entity: EntityMap | None, *, href: str | None = None) -> Markup:
    """Return the name of an entity with its colour and shape."""
    name = "unknown" if entity is None else entity.name
    return element("a" if href else "span", name, class_=f"chip {entity_hue(entity)}", href=href)


def attribute_hue(entity: EntityMap, attribute: str) -> str:
    """Return the hue of the entity that an attribute identifies.

    Another attribute has the quiet tone of times or enumerations, or "".
    """
    found = _attribute_hues(entity.table).get((entity.name, attribute), "")
    if found or attribute not in entity.attributes:
        return found
    kind = entity.attributes[attribute].converter.kind
    if isinstance(kind, type):
        return "time" if issubclass(kind, date) else "enum" if issubclass(kind, Enum) else ""
    return "enum" if get_origin(kind) is Literal else ""


@cache
def _attribute_hues(table: TableMap) -> dict[tuple[str, str], str]:
    hues = entity_hues(table)
    return {place: hues[owner] for place, owner in owners(table.entities).items() if owner in hues}
