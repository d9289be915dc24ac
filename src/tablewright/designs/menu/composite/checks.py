"""Sample data and checks of the menu, for composite sort keys."""

from __future__ import annotations

from collections.abc import Iterator

import tablewright.designs.menu.composite as composite
from tablewright import Entity
from tablewright.designs.menu import named_checks
from tablewright.designs.menu.composite import (
    Menu,
    Product,
    Section,
    SectionWithProducts,
    WholeMenu,
    create_menu,
    delete_menu,
    delete_product,
    delete_section,
    products_by_section,
    rename_section,
    whole_menu,
)
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree
from tablewright.verify.checks import Check, Stored, changed


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    found: list[Entity] = []
    for menu, sections in menus.items():
        found.append(Menu(name=menu))
        for section, products in sections.items():
            found.append(Section(menu=menu, name=section))
            found += [
                Product(menu=menu, section=section, name=product, allergens=allergens)
                for product, allergens in products.items()
            ]
    return found


def checks(stored: Stored) -> Iterator[Check]:
    """Check the patterns of the source document, then renames and deletes."""
    yield from named_checks.read_checks(composite, stored)
    yield Check("Get the whole menu", whole_menu("Lunch"), _whole(stored, "Lunch"))
    yield from named_checks.update_checks(composite, stored)
    yield from _renames(stored)
    yield from _deletes(stored)


def _whole(stored: Stored, menu: str) -> WholeMenu:
    return WholeMenu(
        menu=named_checks.menu_of(composite, stored, menu),
        sections=[
            SectionWithProducts(
                section=section,
                products=named_checks.products_of(composite, stored, menu, section.name),
            )
            for section in named_checks.sections_of(composite, stored, menu)
        ],
    )


def _renames(stored: Stored) -> Iterator[Check]:
    yield named_checks.product_rename_check(composite, stored)
    drinks = named_checks.sections_of(composite, stored, "Breakfast")[1]
    teas = named_checks.products_of(composite, stored, "Breakfast", "Hot Drinks")
    yield Check(
        "Rename a section",
        rename_section("Breakfast", "Hot Drinks", "Teas and Coffees"),
        changed(drinks, name="Teas and Coffees"),
    )
    yield Check(
        "Get Products by Section, after the rename",
        products_by_section("Breakfast", "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    whole = _whole(stored, "Breakfast")
    renamed = WholeMenu(
        menu=changed(whole.menu, name="Brunch"),
        sections=[
            SectionWithProducts(
                section=changed(inner.section, menu="Brunch"),
                products=[changed(product, menu="Brunch") for product in inner.products],
            )
            for inner in whole.sections
        ],
    )
    yield from named_checks.menu_rename_checks(composite, stored, renamed)


def _deletes(stored: Stored) -> Iterator[Check]:
    new = Menu(name="New")
    yield Check("Create a menu", create_menu(new), new)
    borscht, *others = named_checks.products_of(composite, stored, "Lunch", "Soups")
    yield Check("Delete a product", delete_product("Lunch", "Soups", borscht.name), borscht)
    yield Check("Delete a section", delete_section("Lunch", "Soups"), 1 + len(others))
    yield Check(
        "Get Products by Section, after the delete", products_by_section("Lunch", "Soups"), []
    )
    whole = _whole(stored, "Lunch")
    rows = 1 + sum(1 + len(inner.products) for inner in whole.sections)
    yield Check("Delete a menu", delete_menu("Lunch"), rows)
    yield Check("Get the whole menu, after the delete", whole_menu("Lunch"), None)
