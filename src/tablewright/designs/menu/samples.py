"""Sample data of the menu: the same menus in each variant."""

from __future__ import annotations

from tablewright import Entity
from tablewright.designs.menu.collection import samples as collection
from tablewright.designs.menu.composite import samples as composite
from tablewright.designs.menu.document import samples as document
from tablewright.designs.menu.joins import samples as joins


def sample() -> list[Entity]:
    """Return the sample menus, once for each variant."""
    variants = (collection, joins, composite, document)
    return [entity for variant in variants for entity in variant.sample()]
