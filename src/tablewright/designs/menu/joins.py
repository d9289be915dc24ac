"""Joins by index: every row has a partition of its own, and two indexes lead to its children.

    entity    pk               sk                GSI1PK | GSI1SK               GSI2PK | GSI2SK
    Menu      MENU#{id}        MENU#{name}       {pk}#{sk} | {sk}
    Section   SECTION#{id}     SECTION#{name}    {menu pk}#{menu sk} | {sk}    {pk}#{sk} | {sk}
    Product   PRODUCT#{id}     PRODUCT#{name}                                  {section pk}#… | {pk}

Chosen: a third index, by the menu's name, without which "Get Menu by Name" would be a scan. A
child holds the id and the name of its parent, as its index key is made of both; so a rename of a
parent updates its children too, in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from tablewright import (
    GSI,
    Aggregate,
    Atomic,
    Attr,
    Entity,
    First,
    Load,
    Many,
    Table,
    Update,
    atomic,
    attr,
    index,
    key,
    many,
    one,
    pattern,
    update,
)


class Joins(Table, name="menu_joins", pk="pk", sk="sk", type_attribute=None):
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="GSI2")
    names = GSI("MenuName", name="MenuNames")


class Menu(Entity, table=Joins):
    id: Attr[UUID] = attr(name="MenuId", default_factory=uuid4)
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("MENU" / id, "MENU" / name)
    joined = index(Joins.gsi1, "MENU" / id / "MENU" / name, "MENU" / name.again)
    by_name = index(Joins.names, name)


class Section(Entity, table=Joins):
    id: Attr[UUID] = attr(name="SectionId", default_factory=uuid4)
    name: Attr[str] = attr(name="SectionName")
    menu_id: Attr[UUID] = attr(name="ParentId")
    menu: Attr[str] = attr(name="ParentName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")

    primary = key("SECTION" / id, "SECTION" / name)
    by_menu = index(Joins.gsi1, "MENU" / menu_id / "MENU" / menu, "SECTION" / name)
    joined = index(Joins.gsi2, "SECTION" / id / "SECTION" / name, "SECTION" / name.again)


class Product(Entity, table=Joins):
    id: Attr[UUID] = attr(name="ProductId", default_factory=uuid4)
    name: Attr[str] = attr(name="ProductName")
    section_id: Attr[UUID] = attr(name="ParentId")
    section: Attr[str] = attr(name="ParentName")
    allergens: Attr[list[str]] = attr(default_factory=list)

    primary = key("PRODUCT" / id, "PRODUCT" / name)
    by_section = index(Joins.gsi2, "SECTION" / section_id / "SECTION" / section, "PRODUCT" / id)


class MenuWithSections(Aggregate):
    menu: Menu = one()
    sections: list[Section] = many()


@pattern
def menu_by_name(menu: str) -> First[Menu]:
    """Get Menu by Name"""
    return Menu.by_name(menu).first()


@pattern
def sections_by_menu(menu_id: UUID, menu: str) -> Many[Section]:
    """Get Sections by Menu"""
    return Section.by_menu(menu_id, menu)


@pattern
def section_by_name(menu_id: UUID, menu: str, section: str) -> First[Section]:
    """Get a specific section of a menu"""
    return Section.by_menu(menu_id, menu).at(section).first()


@pattern
def menu_with_sections(menu_id: UUID, menu: str) -> Load[MenuWithSections]:
    """The menu with its sections, from one query of the index"""
    return MenuWithSections.of(Menu.joined(menu_id, menu))


@pattern
def products_by_section(section_id: UUID, section: str) -> Many[Product]:
    """Get Products by Section"""
    return Product.by_section(section_id, section)


@pattern
def update_menu(menu_id: UUID, menu: str, status: str) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu_id, menu).update(Menu.status.set(status))


@pattern
def update_section(section_id: UUID, section: str, status: str) -> Update[Section]:
    """Update Section"""
    return Section.primary(section_id, section).update(Section.status.set(status))


@pattern
def update_product(product_id: UUID, product: str, allergens: list[str]) -> Update[Product]:
    """Update Product"""
    return Product.primary(product_id, product).update(Product.allergens.set(allergens))


@pattern
def rename_menu(menu: Menu, sections: Sequence[Section], name: str) -> Atomic:
    """Rename a menu: its row moves, and the index keys of its sections"""
    return atomic(
        update(menu, Menu.name.set(name)),
        *(update(section, Section.menu.set(name)) for section in sections),
    )


@pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Atomic:
    """Rename a section: its row moves, and the index keys of its products"""
    return atomic(
        update(section, Section.name.set(name)),
        *(update(product, Product.section.set(name)) for product in products),
    )


@pattern
def rename_product(product_id: UUID, product: str, name: str) -> Update[Product]:
    """Rename a product: its row moves"""
    return Product.primary(product_id, product).update(Product.name.set(name))
