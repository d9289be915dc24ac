"""Composite sort keys: each level's sort key goes on from its parent's.

    pk=MENU#{menu}    sk=MENU#{menu}                                          Menu
                      sk=MENU#{menu}#SECTION#{section}                        Section
                      sk=MENU#{menu}#SECTION#{section}#PRODUCT#{product}      Product

Chosen: the document names no keys for this way, and calls it unsuitable because a section could
not be renamed. Here a rename is a move of the row and of all rows below it.
"""

from __future__ import annotations

from tablewright import (
    Aggregate,
    Attr,
    Entity,
    Get,
    Load,
    Many,
    Table,
    Update,
    attr,
    key,
    many,
    one,
    pattern,
)


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
    section: Section = one()
    products: list[Product] = many()


class WholeMenu(Aggregate):
    menu: Menu = one()
    sections: list[SectionWithProducts] = many()


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
    """The menu with its sections and their products, three levels from one query"""
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
    """Rename a menu: it and all rows below it move"""
    return Menu.primary(menu).update(Menu.name.set(name))


@pattern
def rename_section(menu: str, section: str, name: str) -> Update[Section]:
    """Rename a section: it and its products move"""
    return Section.primary(menu, section).update(Section.name.set(name))


@pattern
def rename_product(menu: str, section: str, product: str, name: str) -> Update[Product]:
    """Rename a product: its row moves"""
    return Product.primary(menu, section, product).update(Product.name.set(name))
