"""Checks of the menu, for composite sort keys."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.designs.menu.composite import (
    Menu,
    Product,
    Section,
    SectionWithProducts,
    WholeMenu,
    add_allergen,
    add_product,
    add_section,
    create_menu,
    delete_menu,
    delete_product,
    delete_section,
    menu_by_name,
    product_by_name,
    products_by_section,
    rename_menu,
    rename_product,
    rename_section,
    section_by_name,
    sections_by_menu,
    update_menu,
    update_product,
    update_section,
    whole_menu,
)
from tablewright.errors import NotFound
from tablewright.verify.checks import Check, Raises, Stored, changed


def checks(stored: Stored) -> Iterator[Check]:
    """Check the patterns of the source document, then renames and deletes."""
    yield from _reads(stored)
    yield from _updates(stored)
    yield from _renames(stored)
    yield from _deletes(stored)


def _menu(stored: Stored, name: str) -> Menu:
    return next(menu for menu in stored(Menu) if menu.name == name)


def _sections(stored: Stored, menu: str) -> list[Section]:
    return [section for section in stored(Section) if section.menu == menu]


def _products(stored: Stored, menu: str, section: str) -> list[Product]:
    return [p for p in stored(Product) if (p.menu, p.section) == (menu, section)]


def _reads(stored: Stored) -> Iterator[Check]:
    yield Check("Get Menu by Name", menu_by_name("Lunch"), _menu(stored, "Lunch"))
    yield Check("Get Sections by Menu", sections_by_menu("Lunch"), _sections(stored, "Lunch"))
    yield Check(
        "Get one section of a menu",
        section_by_name("Lunch", "Desserts"),
        _sections(stored, "Lunch")[0],
    )
    yield Check(
        "Get one product of a section",
        product_by_name("Lunch", "Soups", "Tomato"),
        _products(stored, "Lunch", "Soups")[1],
    )
    yield Check(
        "Get Products by Section",
        products_by_section("Lunch", "Desserts"),
        _products(stored, "Lunch", "Desserts"),
    )
    yield Check("Get the whole menu", whole_menu("Lunch"), _whole(stored, "Lunch"))


def _whole(stored: Stored, menu: str) -> WholeMenu:
    return WholeMenu(
        menu=_menu(stored, menu),
        sections=[
            SectionWithProducts(section=section, products=_products(stored, menu, section.name))
            for section in _sections(stored, menu)
        ],
    )


def _updates(stored: Stored) -> Iterator[Check]:
    yield Check(
        "Update Menu",
        update_menu("Lunch", "INACTIVE"),
        changed(_menu(stored, "Lunch"), status="INACTIVE"),
    )
    soups = next(s for s in _sections(stored, "Lunch") if s.name == "Soups")
    yield Check(
        "Update Section",
        update_section("Lunch", "Soups", "INACTIVE"),
        changed(soups, status="INACTIVE"),
    )
    borscht, _ = _products(stored, "Lunch", "Soups")
    yield Check(
        "Update Product",
        update_product("Lunch", "Soups", "Borscht", ["Celery", "Beetroot"]),
        changed(borscht, allergens=["Celery", "Beetroot"]),
    )
    yield Check(
        "Add an allergen, if it is missing",
        add_allergen("Lunch", "Soups", "Borscht", "Milk"),
        changed(borscht, allergens=["Celery", "Beetroot", "Milk"]),
    )
    salads = Section(menu="Lunch", name="Salads")
    yield Check("Add a section", add_section(salads), None)
    greek = Product(menu="Lunch", section="Salads", name="Greek")
    yield Check("Add a product", add_product(greek), None)
    yield Check(
        "Add a product to a section that does not exist",
        add_product(changed(greek, section="Grill")),
        Raises(NotFound),
    )


def _renames(stored: Stored) -> Iterator[Check]:
    coffee = _products(stored, "Breakfast", "Hot Drinks")[0]
    yield Check(
        "Rename a product",
        rename_product("Breakfast", "Hot Drinks", "Coffee", "Filter Coffee"),
        changed(coffee, name="Filter Coffee"),
    )
    drinks = _sections(stored, "Breakfast")[1]
    teas = _products(stored, "Breakfast", "Hot Drinks")
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
    whole_renamed = WholeMenu(
        menu=changed(_menu(stored, "Breakfast"), name="Brunch"),
        sections=[
            SectionWithProducts(
                section=changed(section, menu="Brunch"),
                products=[
                    changed(product, menu="Brunch")
                    for product in _products(stored, "Breakfast", section.name)
                ],
            )
            for section in _sections(stored, "Breakfast")
        ],
    )
    yield Check(
        "Rename a menu",
        rename_menu("Breakfast", "Brunch"),
        changed(_menu(stored, "Breakfast"), name="Brunch"),
    )
    yield Check("Get the whole menu, after the rename", whole_menu("Brunch"), whole_renamed)
    yield Check("Get Menu by Name, old name", menu_by_name("Breakfast"), None)


def _deletes(stored: Stored) -> Iterator[Check]:
    new = Menu(name="New")
    yield Check("Create a menu", create_menu(new), new)
    borscht, *others = _products(stored, "Lunch", "Soups")
    yield Check("Delete a product", delete_product("Lunch", "Soups", borscht.name), borscht)
    yield Check("Delete a section", delete_section("Lunch", "Soups"), 1 + len(others))
    yield Check(
        "Get Products by Section, after the delete", products_by_section("Lunch", "Soups"), []
    )
    whole = _whole(stored, "Lunch")
    rows = 1 + sum(1 + len(section.products) for section in whole.sections)
    yield Check("Delete a menu", delete_menu("Lunch"), rows)
    yield Check("Get the whole menu, after the delete", whole_menu("Lunch"), None)
