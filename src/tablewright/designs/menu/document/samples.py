"""Sample data of the menu, for the nested document."""

from __future__ import annotations

from uuid import UUID

from tablewright import Entity
from tablewright.designs.menu.document import Menu, Product, Section
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree, id_of


def sort_id_of(menu: str) -> UUID:
    """Return the id in the sort key of a menu."""
    return id_of(menu, "sort key")


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    return [
        Menu(
            id=id_of(menu),
            sort_id=sort_id_of(menu),
            name=menu,
            sections={
                str(id_of(menu, section)): _make_section(menu, section, products)
                for section, products in sections.items()
            },
        )
        for menu, sections in menus.items()
    ]


def _make_section(menu: str, section: str, products: dict[str, list[str]]) -> Section:
    products_by_id = {
        str(id_of(menu, section, name)): Product(
            ProductId=str(id_of(menu, section, name)), ProductName=name, allergens=allergens
        )
        for name, allergens in products.items()
    }
    return Section(
        SectionId=str(id_of(menu, section)), SectionName=section, Products=products_by_id
    )
