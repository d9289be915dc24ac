"""Sample data of the menu, for the item collection."""

from __future__ import annotations

from tablewright import Entity
from tablewright.designs.menu.collection import Menu, Product, Section
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    found: list[Entity] = []
    for menu, sections in menus.items():
        found.append(Menu(name=menu, section_count=len(sections)))
        for section, products in sections.items():
            found.append(Section(menu=menu, name=section, product_count=len(products)))
            found += [
                Product(menu=menu, section=section, name=product, allergens=allergens)
                for product, allergens in products.items()
            ]
    return found
