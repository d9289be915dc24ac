"""One item collection: a menu's sections and products share its partition.

    pk=MENU#{menu}    sk=METADATA#{menu}                  Menu
                      sk=SECTION#{section}                Section
                      sk=PRODUCT#{section}#{product}      Product

Chosen: the document has no key for products in this way; they lie in the menu's partition under
their section's name. Everything is keyed by name, so a rename moves rows: of a menu, its whole
partition; of a section, its row and those of its products, in one transaction.
That has room for 49 products; more of them are moved before, 50 at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tablewright import (
    Aggregate,
    Attr,
    Create,
    Entity,
    Get,
    Load,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    children,
    create,
    key,
    root,
    transact,
    update,
)
from tablewright.designs.menu.carte import CARTE, Carte
from tablewright.verify.rows import Row, Stored, changed


class Collection(Table, name="menu_collection", pk="pk", sk="sk", type_attribute=None):
    pass


class Menu(Entity, table=Collection):
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("MENU" / name, "METADATA" / name.again)


class Section(Entity, table=Collection):
    menu: Attr[str] = attr(name="MenuName")
    name: Attr[str] = attr(name="SectionName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("MENU" / menu, "SECTION" / name)


class Product(Entity, table=Collection):
    menu: Attr[str] = attr(name="MenuName")
    section: Attr[str] = attr(name="SectionName")
    name: Attr[str] = attr(name="ProductName")
    allergens: Attr[list[str]] = attr(default_factory=list)

    primary = key("MENU" / menu, "PRODUCT" / section / name)


class WholeMenu(Aggregate):
    menu: Menu = root()
    sections: list[Section] = children()
    products: list[Product] = children()


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
    """The menu with all its sections and products"""
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
    """Rename a menu: everything in its partition moves"""
    return Menu.primary(menu).update(Menu.name.set(name))


@access_pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Transaction:
    """Rename a section: its row and those of its products move"""
    return transact(
        update(section, Section.name.set(name)),
        *(update(product, Product.section.set(name)) for product in products),
    )


@access_pattern
def move_products(products: Sequence[Product], section: str) -> Transaction:
    """Move products to another section of their menu, up to 50"""
    return transact(*(update(product, Product.section.set(section)) for product in products))


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
        sections=_sections(stored, menu),
        products=[product for product in stored(Product) if product.menu == menu],
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
    yield Row("Rename a section", rename_section(drinks, teas, "Teas and Coffees"), None)
    yield Row(
        "Get Products by Section, renamed",
        products_by_section("Breakfast", "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    whole = _whole(stored, "Breakfast")
    whole_renamed = WholeMenu(
        menu=changed(whole.menu, name="Brunch"),
        sections=[changed(section, menu="Brunch") for section in whole.sections],
        products=[changed(product, menu="Brunch") for product in whole.products],
    )
    yield Row(
        "Rename a menu",
        rename_menu("Breakfast", "Brunch"),
        changed(_menu(stored, "Breakfast"), name="Brunch"),
    )
    yield Row("Get the whole menu, renamed", whole_menu("Brunch"), whole_renamed)
    yield Row("Get Menu by its old name", menu_by_name("Breakfast"), None)
    # Where a section has more products than one transaction takes: the products, then itself.
    desserts = next(s for s in _sections(stored, "Lunch") if s.name == "Desserts")
    sweets = _products(stored, "Lunch", "Desserts")
    yield Row("Rename a section in steps: its products", move_products(sweets, "Sweets"), None)
    yield Row("Rename a section in steps: itself", rename_section(desserts, [], "Sweets"), None)
    yield Row(
        "Get Products by Section, renamed in steps",
        products_by_section("Lunch", "Sweets"),
        [changed(sweet, section="Sweets") for sweet in sweets],
    )
