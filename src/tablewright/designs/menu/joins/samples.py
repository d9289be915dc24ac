"""Sample data of the menu, for joins by index."""

from __future__ import annotations

from tablewright import Entity
from tablewright.designs.menu.joins import Menu, Product, Section
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree, id_of


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    found: list[Entity] = []
    for menu, sections in menus.items():
        menu_id = id_of(menu)
        found.append(Menu(id=menu_id, name=menu, section_count=len(sections)))
        for section, products in sections.items():
            section_id = id_of(menu, section)
            found.append(
                Section(
                    id=section_id,
                    name=section,
                    menu_id=menu_id,
                    menu=menu,
                    product_count=len(products),
                )
            )
            found += [
                Product(
                    id=id_of(menu, section, product),
                    name=product,
                    section_id=section_id,
                    section=section,
                    allergens=allergens,
                )
                for product, allergens in products.items()
            ]
    return found
