"""A nested document: the whole menu is one item, with its sections and products inside.

    pk=MENU#{id}   sk=MENU#{id}   MenuName, IsActive,
                                  Sections: {id: {SectionName, IsActive, Products: {id: {…}}}}

Decisions where the source document is unclear:

- Both keys contain the same id. The source document has two ids, but the second is not needed.
- An index by the name of the menu. Without it, "Get Menu by Name" would be a scan.
- Names are values, not keys: a rename updates one path.

A pattern that reads sections or products queries the one item and returns only the requested part.
The response is small, but DynamoDB reads, and charges for, the whole menu. Sections and products
are found by id; to find one by name, search the result of `sections_by_menu`.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field

from tablewright import (
    GSI,
    Attr,
    Entity,
    First,
    Get,
    Table,
    Update,
    access_pattern,
    attr,
    index,
    key,
)


class Document(Table, name="menu_document", pk="pk", sk="sk", type_attribute=None):
    names = GSI("MenuName", name="MenuNames")


class Product(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    id: str = Field(alias="ProductId")
    name: str = Field(alias="ProductName")
    allergens: list[str] = []


class Section(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    id: str = Field(alias="SectionId")
    name: str = Field(alias="SectionName")
    is_active: bool = Field(alias="IsActive", default=True)
    products: dict[str, Product] = Field(alias="Products", default_factory=dict)


class Menu(Entity, table=Document):
    id: Attr[UUID] = attr(name="MenuId", default_factory=uuid4)
    name: Attr[str] = attr(name="MenuName")
    is_active: Attr[bool] = attr(name="IsActive", default=True)
    sections: Attr[dict[str, Section]] = attr(name="Sections", default_factory=dict)

    primary = key("MENU" / id, "MENU" / id.again)
    by_name = index(Document.names, name)


@access_pattern
def menu_by_name(menu: str) -> First[Menu]:
    """Get Menu by Name"""
    return Menu.by_name(menu).first()


@access_pattern
def sections_by_menu(menu_id: UUID) -> First[tuple[dict[str, Section]]]:
    """Get Sections by Menu"""
    return Menu.primary.within(menu_id).select(Menu.sections).first()


@access_pattern
def products_by_section(menu_id: UUID, section_id: str) -> First[tuple[dict[str, Product]]]:
    """Get Products by Section"""
    return (
        Menu.primary.within(menu_id)
        .select(Menu.sections.path(lambda sections: sections[section_id].products))
        .first()
    )


@access_pattern
def sections_by_name(menu: str) -> First[tuple[dict[str, Section]]]:
    """Get Sections by Menu, from its name"""
    return Menu.by_name(menu).select(Menu.sections).first()


@access_pattern
def whole_menu(menu_id: UUID) -> Get[Menu]:
    """Get a menu with its sections and their products: one item"""
    return Menu.primary(menu_id)


@access_pattern
def update_menu(menu_id: UUID, is_active: bool) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu_id).update(Menu.is_active.set(is_active))


@access_pattern
def update_section(menu_id: UUID, section_id: str, is_active: bool) -> Update[Menu]:
    """Update Section"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda sections: sections[section_id].is_active).set(is_active)
    )


@access_pattern
def update_product(
    menu_id: UUID, section_id: str, product_id: str, allergens: list[str]
) -> Update[Menu]:
    """Update Product"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].allergens).set(allergens)
    )


@access_pattern
def add_allergen(menu_id: UUID, section_id: str, product_id: str, allergen: str) -> Update[Menu]:
    """Add an allergen to a product, if it is missing"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].allergens).append_if_absent(
            allergen
        )
    )


@access_pattern
def add_section(menu_id: UUID, section_id: str, section: Section) -> Update[Menu]:
    """Add a section"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda sections: sections[section_id]).set(section)
    )


@access_pattern
def rename_menu(menu_id: UUID, name: str) -> Update[Menu]:
    """Rename a menu"""
    return Menu.primary(menu_id).update(Menu.name.set(name))


@access_pattern
def rename_section(menu_id: UUID, section_id: str, name: str) -> Update[Menu]:
    """Rename a section"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda sections: sections[section_id].name).set(name)
    )


@access_pattern
def rename_product(menu_id: UUID, section_id: str, product_id: str, name: str) -> Update[Menu]:
    """Rename a product"""
    return Menu.primary(menu_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].name).set(name)
    )
