"""The catalog of bundled designs, by name."""

from __future__ import annotations

from tablewright.designs import commerce, market, menu, recipes, shop
from tablewright.verify import Design
from tablewright.verify import load as load_design

BUNDLED = {"shop": shop, "market": market, "recipes": recipes, "menu": menu, "commerce": commerce}


def bundled() -> list[Design]:
    """Return the designs that are part of the package."""
    return [load(name) for name in BUNDLED]


def load(name: str) -> Design:
    """Return the design with this name: a bundled one, a module, or a path to a file."""
    return load_design(name, BUNDLED)
