"""Checks of the menu, for the item collection."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.designs.menu.collection import (
    Menu,
    Product,
    Section,
    WholeMenu,
    add_allergen,
    add_product,
    add_section,
    create_menu,
    delete_menu,
    delete_product,
    delete_section,
    menu_by_name,
    move_products,
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
from tablewright.errors import ConditionFailed, NotFound
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
        sections=_sections(stored, menu),
        products=[product for product in stored(Product) if product.menu == menu],
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
    yield Check("Rename a section", rename_section(drinks, teas, "Teas and Coffees"), None)
    yield Check(
        "Get Products by Section, after the rename",
        products_by_section("Breakfast", "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    whole = _whole(stored, "Breakfast")
    whole_renamed = WholeMenu(
        menu=changed(whole.menu, name="Brunch"),
        sections=[changed(section, menu="Brunch") for section in whole.sections],
        products=[changed(product, menu="Brunch") for product in whole.products],
    )
    yield Check(
        "Rename a menu",
        rename_menu("Breakfast", "Brunch"),
        changed(_menu(stored, "Breakfast"), name="Brunch"),
    )
    yield Check("Get the whole menu, after the rename", whole_menu("Brunch"), whole_renamed)
    yield Check("Get Menu by Name, old name", menu_by_name("Breakfast"), None)
    # For a section with too many products for one transaction: another section gets them.
    desserts = next(s for s in _sections(stored, "Lunch") if s.name == "Desserts")
    sweets = _products(stored, "Lunch", "Desserts")
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
    soups = next(s for s in _sections(stored, "Lunch") if s.name == "Soups")
    yield Check(
        "Delete a section without its products", delete_section(soups, []), Raises(ConditionFailed)
    )
    yield Check(
        "Delete a section", delete_section(soups, _products(stored, "Lunch", "Soups")), None
    )
    yield Check(
        "Get Products by Section, after the delete", products_by_section("Lunch", "Soups"), []
    )
    whole = _whole(stored, "Lunch")
    rows = 1 + len(whole.sections) + len(whole.products)
    yield Check("Delete a menu", delete_menu("Lunch"), rows)
    yield Check("Get the whole menu, after the delete", whole_menu("Lunch"), None)
