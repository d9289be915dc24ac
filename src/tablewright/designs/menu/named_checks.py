"""Checks that the item collection and composite sort keys have in common: names are their keys.

`variant` is the module of a variant. Its entities and patterns have the same names in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablewright.errors import NotFound
from tablewright.verify.checks import Check, Raises, Stored, changed


def menu_of(variant: Any, stored: Stored, name: str) -> Any:
    return next(menu for menu in stored(variant.Menu) if menu.name == name)


def sections_of(variant: Any, stored: Stored, menu: str) -> list[Any]:
    return [section for section in stored(variant.Section) if section.menu == menu]


def products_of(variant: Any, stored: Stored, menu: str, section: str) -> list[Any]:
    return [p for p in stored(variant.Product) if (p.menu, p.section) == (menu, section)]


def read_checks(variant: Any, stored: Stored) -> Iterator[Check]:
    sections = sections_of(variant, stored, "Lunch")
    yield Check(
        "Get Menu by Name", variant.menu_by_name("Lunch"), menu_of(variant, stored, "Lunch")
    )
    yield Check("Get Sections by Menu", variant.sections_by_menu("Lunch"), sections)
    yield Check(
        "Get one section of a menu", variant.section_by_name("Lunch", "Desserts"), sections[0]
    )
    yield Check(
        "Get one product of a section",
        variant.product_by_name("Lunch", "Soups", "Tomato"),
        products_of(variant, stored, "Lunch", "Soups")[1],
    )
    yield Check(
        "Get Products by Section",
        variant.products_by_section("Lunch", "Desserts"),
        products_of(variant, stored, "Lunch", "Desserts"),
    )


def update_checks(variant: Any, stored: Stored) -> Iterator[Check]:
    lunch = menu_of(variant, stored, "Lunch")
    yield Check(
        "Update Menu",
        variant.update_menu("Lunch", "INACTIVE"),
        changed(lunch, status="INACTIVE"),
    )
    soups = next(s for s in sections_of(variant, stored, "Lunch") if s.name == "Soups")
    yield Check(
        "Update Section",
        variant.update_section("Lunch", "Soups", "INACTIVE"),
        changed(soups, status="INACTIVE"),
    )
    borscht, _ = products_of(variant, stored, "Lunch", "Soups")
    yield Check(
        "Update Product",
        variant.update_product("Lunch", "Soups", "Borscht", ["Celery", "Beetroot"]),
        changed(borscht, allergens=["Celery", "Beetroot"]),
    )
    yield Check(
        "Add an allergen, if it is missing",
        variant.add_allergen("Lunch", "Soups", "Borscht", "Milk"),
        changed(borscht, allergens=["Celery", "Beetroot", "Milk"]),
    )
    salads = variant.Section(menu="Lunch", name="Salads")
    yield Check("Add a section", variant.add_section(salads), None)
    greek = variant.Product(menu="Lunch", section="Salads", name="Greek")
    yield Check("Add a product", variant.add_product(greek), None)
    yield Check(
        "Add a product to a section that does not exist",
        variant.add_product(changed(greek, section="Grill")),
        Raises(NotFound),
    )


def product_rename_check(variant: Any, stored: Stored) -> Check:
    coffee = products_of(variant, stored, "Breakfast", "Hot Drinks")[0]
    return Check(
        "Rename a product",
        variant.rename_product("Breakfast", "Hot Drinks", "Coffee", "Filter Coffee"),
        changed(coffee, name="Filter Coffee"),
    )


def menu_rename_checks(variant: Any, stored: Stored, renamed: Any) -> Iterator[Check]:
    """Check the rename of a menu; `renamed` is the whole menu with its new name, Brunch."""
    yield Check(
        "Rename a menu",
        variant.rename_menu("Breakfast", "Brunch"),
        changed(menu_of(variant, stored, "Breakfast"), name="Brunch"),
    )
    yield Check("Get the whole menu, after the rename", variant.whole_menu("Brunch"), renamed)
    yield Check("Get Menu by Name, old name", variant.menu_by_name("Breakfast"), None)
