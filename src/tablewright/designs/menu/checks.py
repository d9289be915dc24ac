"""Sample data and checks of the menu: the same menus and the same patterns in each variant."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tablewright import Entity
from tablewright.designs.menu.collection import checks as collection
from tablewright.designs.menu.composite import checks as composite
from tablewright.designs.menu.document import checks as document
from tablewright.designs.menu.joins import checks as joins
from tablewright.verify.checks import Check, Stored

VARIANTS = {
    "collection": collection,
    "joins": joins,
    "composite": composite,
    "document": document,
}


def sample() -> list[Entity]:
    """Return the sample menus, once for each variant."""
    return [entity for variant in VARIANTS.values() for entity in variant.sample()]


def checks(stored: Stored) -> Iterator[Check]:
    """Yield the checks of each variant; the name of a check begins with the name of its variant."""
    for name, variant in VARIANTS.items():
        for check in variant.checks(stored):
            yield msgspec.structs.replace(check, name=f"{name}: {check.name}")
