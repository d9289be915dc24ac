"""The catalog of bundled designs, by name."""

from __future__ import annotations

from tablewright.verify import Design
from tablewright.verify import load as load_design

#: The names of the designs, with their modules; a design is imported when it is loaded.
BUNDLED = {
    name: f"tablewright.designs.{name}"
    for name in ("shop", "market", "recipes", "menu", "commerce")
}


def bundled() -> list[Design]:
    """Return the designs that are part of the package."""
    return [load(name) for name in BUNDLED]


def load(name: str) -> Design:
    """Return the design with this name: a bundled one, a module, or a path to a file."""
    return load_design(name, BUNDLED)
