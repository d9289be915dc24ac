"""Composite sort keys: each level's sort key goes on from its parent's.

    pk=MENU#{menu}    sk=MENU#{menu}                                          Menu
                      sk=MENU#{menu}#SECTION#{section}                        Section
                      sk=MENU#{menu}#SECTION#{section}#PRODUCT#{product}      Product

Chosen: the document names no keys for this way, and calls it unsuitable because a section could
not be renamed. Here a rename is a move of the row and of all rows below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tablewright import (
    Aggregate,
    Attr,
    Create,
    Entity,
    Get,
    Load,
    Query,
    Table,
    Update,
    access_pattern,
    attr,
    children,
    create,
    key,
    root,
)
from tablewright.designs.menu.carte import CARTE, Carte
from tablewright.verify.rows import Row, Stored, changed


class Composite(Table, name="menu_composite", pk="pk", sk="sk", type_attribute=None):
    pass


class Menu(Entity, table=Composite):
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("MENU" / name, "MENU" / name.again)


class Section(Entity, table=Composite):
    menu: Attr[str] = attr(name="MenuName")
    name: Attr[str] = attr(name="SectionName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("MENU" / menu, "MENU" / menu.again / "SECTION" / name)


class Product(Entity, table=Composite):
    menu: Attr[str] = attr(name="MenuName")
    section: Attr[str] = attr(name="SectionName")
    name: Attr[str] = attr(name="ProductName")
    allergens: Attr[list[str]] = attr(default_factory=list)

    primary = key("MENU" / menu, "MENU" / menu.again / "SECTION" / section / "PRODUCT" / name)


class SectionWithProducts(Aggregate):
    section: Section = root()
    products: list[Product] = children()


class WholeMenu(Aggregate):
    menu: Menu = root()
    sections: list[SectionWithProducts] = children()


@access_pattern
def menu_by_name(menu: str) -> Get[Menu]:
    """Get Menu by Name"""
    return Menu.primary(menu)


@access_pattern
def sections_by_menu(menu: str) -> Query[Section]:
    """Get Sections by Menu"""
    return Section.primary.within(menu)


@access_pattern
def products_by_section(menu: str, section: str) -> Query[Product]:
    """Get Products by Section"""
    return Product.primary.within(menu).eq(section)


@access_pattern
def whole_menu(menu: str) -> Load[WholeMenu]:
    """The menu with its sections and their products, three levels from one query"""
    return WholeMenu.of(Menu.primary(menu))


@access_pattern
def update_menu(menu: str, status: str) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu).update(Menu.status.set(status))


@access_pattern
def update_section(menu: str, section: str, status: str) -> Update[Section]:
    """Update Section"""
    return Section.primary(menu, section).update(Section.status.set(status))


@access_pattern
def update_product(menu: str, section: str, product: str, allergens: list[str]) -> Update[Product]:
    """Update Product"""
    return Product.primary(menu, section, product).update(Product.allergens.set(allergens))


@access_pattern
def add_allergen(menu: str, section: str, product: str, allergen: str) -> Update[Product]:
    """Append to a product's list, if it is not there"""
    return Product.primary(menu, section, product).update(
        Product.allergens.append_if_absent(allergen)
    )


@access_pattern
def add_section(section: Section) -> Create[Section]:
    """Add a section"""
    return create(section)


@access_pattern
def rename_menu(menu: str, name: str) -> Update[Menu]:
    """Rename a menu: it and all rows below it move"""
    return Menu.primary(menu).update(Menu.name.set(name))


@access_pattern
def rename_section(menu: str, section: str, name: str) -> Update[Section]:
    """Rename a section: it and its products move"""
    return Section.primary(menu, section).update(Section.name.set(name))


@access_pattern
def rename_product(menu: str, section: str, product: str, name: str) -> Update[Product]:
    """Rename a product: its row moves"""
    return Product.primary(menu, section, product).update(Product.name.set(name))


# -- sample data, and what each row of the document must give ------------------------------------


def sample(carte: Carte = CARTE) -> list[Entity]:
    """The menus of a carte."""
    found: list[Entity] = []
    for menu, sections in carte.items():
        found.append(Menu(name=menu))
        for section, products in sections.items():
            found.append(Section(menu=menu, name=section))
            found += [
                Product(menu=menu, section=section, name=product, allergens=allergens)
                for product, allergens in products.items()
            ]
    return found


def rows(stored: Stored) -> Iterator[Row]:
    """The document's patterns, then renames."""
    yield from _reads(stored)
    yield from _updates(stored)
    yield from _renames(stored)


def _menu(stored: Stored, name: str) -> Menu:
    return next(menu for menu in stored(Menu) if menu.name == name)


def _sections(stored: Stored, menu: str) -> list[Section]:
    return [section for section in stored(Section) if section.menu == menu]


def _products(stored: Stored, menu: str, section: str) -> list[Product]:
    return [p for p in stored(Product) if (p.menu, p.section) == (menu, section)]


def _reads(stored: Stored) -> Iterator[Row]:
    yield Row("Get Menu by Name", menu_by_name("Lunch"), _menu(stored, "Lunch"))
    yield Row("Get Sections by Menu", sections_by_menu("Lunch"), _sections(stored, "Lunch"))
    yield Row(
        "Get Products by Section",
        products_by_section("Lunch", "Desserts"),
        _products(stored, "Lunch", "Desserts"),
    )
    yield Row("Get the whole menu", whole_menu("Lunch"), _whole(stored, "Lunch"))


def _whole(stored: Stored, menu: str) -> WholeMenu:
    return WholeMenu(
        menu=_menu(stored, menu),
        sections=[
            SectionWithProducts(section=section, products=_products(stored, menu, section.name))
            for section in _sections(stored, menu)
        ],
    )


def _updates(stored: Stored) -> Iterator[Row]:
    yield Row(
        "Update Menu",
        update_menu("Lunch", "INACTIVE"),
        changed(_menu(stored, "Lunch"), status="INACTIVE"),
    )
    soups = next(s for s in _sections(stored, "Lunch") if s.name == "Soups")
    yield Row(
        "Update Section",
        update_section("Lunch", "Soups", "INACTIVE"),
        changed(soups, status="INACTIVE"),
    )
    borscht, _ = _products(stored, "Lunch", "Soups")
    yield Row(
        "Update Product",
        update_product("Lunch", "Soups", "Borscht", ["Celery", "Beetroot"]),
        changed(borscht, allergens=["Celery", "Beetroot"]),
    )
    yield Row(
        "Add an allergen, if it is not there",
        add_allergen("Lunch", "Soups", "Borscht", "Milk"),
        changed(borscht, allergens=["Celery", "Beetroot", "Milk"]),
    )
    salads = Section(menu="Lunch", name="Salads")
    yield Row("Add a section", add_section(salads), salads)


def _renames(stored: Stored) -> Iterator[Row]:
    coffee = _products(stored, "Breakfast", "Hot Drinks")[0]
    yield Row(
        "Rename a product",
        rename_product("Breakfast", "Hot Drinks", "Coffee", "Filter Coffee"),
        changed(coffee, name="Filter Coffee"),
    )
    drinks = _sections(stored, "Breakfast")[1]
    teas = _products(stored, "Breakfast", "Hot Drinks")
    yield Row(
        "Rename a section",
        rename_section("Breakfast", "Hot Drinks", "Teas and Coffees"),
        changed(drinks, name="Teas and Coffees"),
    )
    yield Row(
        "Get Products by Section, renamed",
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
    yield Row(
        "Rename a menu",
        rename_menu("Breakfast", "Brunch"),
        changed(_menu(stored, "Breakfast"), name="Brunch"),
    )
    yield Row("Get the whole menu, renamed", whole_menu("Brunch"), whole_renamed)
    yield Row("Get Menu by its old name", menu_by_name("Breakfast"), None)
