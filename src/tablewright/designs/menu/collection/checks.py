"""Sample data and checks of the menu, for the item collection."""

from __future__ import annotations

from collections.abc import Iterator

import tablewright.designs.menu.collection as collection
from tablewright import Entity
from tablewright.designs.menu import named_checks
from tablewright.designs.menu.collection import (
    Menu,
    Product,
    Section,
    WholeMenu,
    add_section,
    create_menu,
    delete_menu,
    delete_product,
    delete_section,
    move_products,
    products_by_section,
    rename_section,
    whole_menu,
)
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree
from tablewright.errors import ConditionFailed
from tablewright.verify.checks import Check, Raises, Stored, changed


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


def checks(stored: Stored) -> Iterator[Check]:
    """Check the patterns of the source document, then renames and deletes."""
    yield from named_checks.read_checks(collection, stored)
    yield Check("Get the whole menu", whole_menu("Lunch"), _whole(stored, "Lunch"))
    yield from named_checks.update_checks(collection, stored)
    yield from _renames(stored)
    yield from _renames_in_steps(stored)
    yield from _deletes(stored)


def _whole(stored: Stored, menu: str) -> WholeMenu:
    return WholeMenu(
        menu=named_checks.menu_of(collection, stored, menu),
        sections=named_checks.sections_of(collection, stored, menu),
        products=[product for product in stored(Product) if product.menu == menu],
    )


def _section(stored: Stored, menu: str, name: str) -> tuple[Section, list[Product]]:
    """Return a section and its products."""
    sections = named_checks.sections_of(collection, stored, menu)
    section = next(section for section in sections if section.name == name)
    return section, named_checks.products_of(collection, stored, menu, name)


def _renames(stored: Stored) -> Iterator[Check]:
    yield named_checks.product_rename_check(collection, stored)
    drinks, teas = _section(stored, "Breakfast", "Hot Drinks")
    yield Check("Rename a section", rename_section(drinks, teas, "Teas and Coffees"), None)
    yield Check(
        "Get Products by Section, after the rename",
        products_by_section("Breakfast", "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    whole = _whole(stored, "Breakfast")
    renamed = WholeMenu(
        menu=changed(whole.menu, name="Brunch"),
        sections=[changed(section, menu="Brunch") for section in whole.sections],
        products=[changed(product, menu="Brunch") for product in whole.products],
    )
    yield from named_checks.menu_rename_checks(collection, stored, renamed)


def _renames_in_steps(stored: Stored) -> Iterator[Check]:
    """For a section with too many products for one transaction: another section gets them."""
    desserts, sweets = _section(stored, "Lunch", "Desserts")
    new = Section(menu="Lunch", name="Sweets")
    yield Check("Rename a section in steps: a new section", add_section(new), None)
    yield Check(
        "Rename a section in steps: its products", move_products(desserts, sweets, "Sweets"), None
    )
    yield Check("Rename a section in steps: the old section", delete_section(desserts, []), None)
    yield Check(
        "Get Products by Section, after the rename in steps",
        products_by_section("Lunch", "Sweets"),
        [changed(sweet, section="Sweets") for sweet in sweets],
    )


def _deletes(stored: Stored) -> Iterator[Check]:
    new = Menu(name="New")
    yield Check("Create a menu", create_menu(new), new)
    yield Check("Delete a product", delete_product("Lunch", "Soups", "Borscht"), None)
    soups, products = _section(stored, "Lunch", "Soups")
    yield Check(
        "Delete a section without its products", delete_section(soups, []), Raises(ConditionFailed)
    )
    yield Check("Delete a section", delete_section(soups, products), None)
    yield Check(
        "Get Products by Section, after the delete", products_by_section("Lunch", "Soups"), []
    )
    whole = _whole(stored, "Lunch")
    rows = 1 + len(whole.sections) + len(whole.products)
    yield Check("Delete a menu", delete_menu("Lunch"), rows)
    yield Check("Get the whole menu, after the delete", whole_menu("Lunch"), None)
