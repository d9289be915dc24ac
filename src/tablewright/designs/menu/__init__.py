"""Menu: one menu with sections and products, modelled four ways, with the same patterns.

    way          menu by name            sections of a menu        products of a section
    collection   GetItem                 Query, one partition      Query, one partition
    joins        Query, an index         Query, GSI1               Query, GSI2
    composite    GetItem                 Query, by prefix          Query, by prefix
    document     Query, an index         in the menu               in the menu

Each way is a module with a table, entities and patterns of the same names; `compare` measures all
four with one menu. A rename moves what has the name in its key: in `collection` and `composite`
rows, in `joins` a row and the index keys of its children, in `document` nothing but a value.

Chosen where the document leaves it open is told in each module. It lists "Get Sections by Menu"
twice; here it is one pattern.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tablewright import Entity
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.verify.rows import Row, Stored

WAYS = {
    "collection": collection,
    "joins": joins,
    "composite": composite,
    "document": document,
}


def sample() -> list[Entity]:
    """The same menus, four times."""
    return [entity for way in WAYS.values() for entity in way.sample()]


def rows(stored: Stored) -> Iterator[Row]:
    """Every row of every way; its name begins with the way's."""
    for name, way in WAYS.items():
        for row in way.rows(stored):
            yield msgspec.structs.replace(row, name=f"{name}: {row.name}")
