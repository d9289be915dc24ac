"""The catalog of bundled designs, by name.

A list of them needs no design: their summaries are written here, and a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tablewright.verify import Design


class Summary(NamedTuple):
    """What a design is about, and how many tables, entities and patterns it has."""

    title: str
    tables: int
    entities: int
    patterns: int


SUMMARIES = {
    "shop": Summary(
        "users, categories, brands, products and orders, in one table with an LSI and two GSIs.",
        *(1, 5, 28),
    ),
    "market": Summary(
        "a multi-tenant shop that stores the data of each user in several shards.", 1, 10, 36
    ),
    "recipes": Summary(
        "menus, recipes, ingredients and categories; unique names; parents with their children.",
        *(2, 8, 39),
    ),
    "menu": Summary(
        "menus with sections and products, modelled in four variants with the same patterns.",
        *(4, 10, 82),
    ),
    "commerce": Summary(
        "customers, orders and line items; status feeds, optimistic lock and history.", 1, 4, 19
    ),
}

#: The names of the designs, with their modules; a design is imported when it is loaded.
BUNDLED = {name: f"tablewright.designs.{name}" for name in SUMMARIES}


def bundled() -> list[Design]:
    """Return the designs that are part of the package."""
    return [load(name) for name in BUNDLED]


def load(name: str) -> Design:
    """Return the design with this name: a bundled one, a module, or a path to a file."""
    from tablewright import verify

    return verify.load(name, BUNDLED)
