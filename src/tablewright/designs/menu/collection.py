"""One item collection: a menu's sections and products share its partition.

    pk=MENU#{menu}    sk=METADATA#{menu}                  Menu
                      sk=SECTION#{section}                Section
                      sk=PRODUCT#{section}#{product}      Product

Chosen: the document has no key for products in this way; they lie in the menu's partition under
their section's name. Everything is keyed by name, so a rename moves rows: of a menu, its whole
partition; of a section, its row and those of its products, in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright import (
    Aggregate,
    Atomic,
    Attr,
    Entity,
    Get,
    Load,
    Many,
    Table,
    Update,
    atomic,
    attr,
    key,
    many,
    one,
    pattern,
    update,
)


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
    menu: Menu = one()
    sections: list[Section] = many()
    products: list[Product] = many()


@pattern
def menu_by_name(menu: str) -> Get[Menu]:
    """Get Menu by Name"""
    return Menu.primary(menu)


@pattern
def sections_by_menu(menu: str) -> Many[Section]:
    """Get Sections by Menu"""
    return Section.primary.within(menu)


@pattern
def products_by_section(menu: str, section: str) -> Many[Product]:
    """Get Products by Section"""
    return Product.primary.within(menu).at(section)


@pattern
def whole_menu(menu: str) -> Load[WholeMenu]:
    """The menu with all its sections and products"""
    return WholeMenu.of(Menu.primary(menu))


@pattern
def update_menu(menu: str, status: str) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu).update(Menu.status.set(status))


@pattern
def update_section(menu: str, section: str, status: str) -> Update[Section]:
    """Update Section"""
    return Section.primary(menu, section).update(Section.status.set(status))


@pattern
def update_product(menu: str, section: str, product: str, allergens: list[str]) -> Update[Product]:
    """Update Product"""
    return Product.primary(menu, section, product).update(Product.allergens.set(allergens))


@pattern
def rename_menu(menu: str, name: str) -> Update[Menu]:
    """Rename a menu: everything in its partition moves"""
    return Menu.primary(menu).update(Menu.name.set(name))


@pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Atomic:
    """Rename a section: its row and those of its products move"""
    return atomic(
        update(section, Section.name.set(name)),
        *(update(product, Product.section.set(name)) for product in products),
    )


@pattern
def rename_product(menu: str, section: str, product: str, name: str) -> Update[Product]:
    """Rename a product: its row moves"""
    return Product.primary(menu, section, product).update(Product.name.set(name))
