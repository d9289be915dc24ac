"""A nested document: the whole menu is one item, with its sections and products inside.

    pk=MENU#{id}   sk=MENU#{sort id}   MenuName, IsActive,
                                       Sections: {id: {SectionName, IsActive, Products: {id: {…}}}}

Decisions where the source document is unclear:

- Each key contains an id of its own, as in the source document. A menu is read by the first alone,
  and written by both.
- An index finds a menu by its name. Without it, "Get Menu by Name" would be a scan.
- Names are values, not keys, so a rename updates one path. Two menus may have the same name;
  `menu_by_name` returns one of them.
- Sections and products are stored under their ids: `add_section` and `add_product` take the key
  from the section or the product, and a menu or a section in which a key differs from the id is
  refused. Adding a section or a product that exists is refused, too.
- Deleting a menu or a section deletes what is inside.

A pattern that reads sections or products queries the one item and returns only the requested part.
The response is small, but DynamoDB reads, and charges for, the whole menu. Sections and products
are found by id; to find one by name, search the result of `sections_by_menu`.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tablewright import (
    GSI,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    Table,
    Update,
    access_pattern,
    attr,
    create,
    index,
    key,
)
from tablewright.errors import InvalidValue
from tablewright.symbol import contains_symbol


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
    sort_id: Attr[UUID] = attr(key_only=True, default_factory=uuid4)
    name: Attr[str] = attr(name="MenuName")
    is_active: Attr[bool] = attr(name="IsActive", default=True)
    sections: Attr[dict[str, Section]] = attr(name="Sections", default_factory=dict)

    primary = key("MENU" / id, "MENU" / sort_id)
    by_name = index(Document.names, name)

    @field_validator("sections")
    @classmethod
    def _keys_are_ids(cls, sections: dict[str, Section]) -> dict[str, Section]:
        for section_id, section in sections.items():
            if section_id != section.id:
                raise ValueError(f"the key {section_id!r} is not the SectionId {section.id!r}")
            _require_product_ids(section)
        return sections


def _require_product_ids(section: Section) -> None:
    """Raise InvalidValue unless the key of each product is its id."""
    for product_id, product in section.products.items():
        if product_id != product.id:
            raise InvalidValue(f"the key {product_id!r} is not the ProductId {product.id!r}")


@access_pattern
def menu_by_name(menu: str) -> First[Menu]:
    """Get Menu by Name"""
    return Menu.by_name(menu).first()


@access_pattern
def sections_by_menu(menu_id: UUID) -> First[tuple[dict[str, Section]]]:
    """Get Sections by Menu"""
    return Menu.primary.within(menu_id).select(Menu.sections).first()


@access_pattern
def section_by_id(menu_id: UUID, section_id: str) -> First[tuple[Section]]:
    """Get a specific section of a menu"""
    return (
        Menu.primary.within(menu_id)
        .select(Menu.sections.path(lambda sections: sections[section_id]))
        .first()
    )


@access_pattern
def products_by_section(menu_id: UUID, section_id: str) -> First[tuple[dict[str, Product]]]:
    """Get Products by Section"""
    return (
        Menu.primary.within(menu_id)
        .select(Menu.sections.path(lambda sections: sections[section_id].products))
        .first()
    )


@access_pattern
def product_by_id(menu_id: UUID, section_id: str, product_id: str) -> First[tuple[Product]]:
    """Get a specific product of a section"""
    return (
        Menu.primary.within(menu_id)
        .select(Menu.sections.path(lambda s: s[section_id].products[product_id]))
        .first()
    )


@access_pattern
def sections_by_name(menu: str) -> First[tuple[dict[str, Section]]]:
    """Get Sections by Menu, from its name"""
    return Menu.by_name(menu).select(Menu.sections).first()


@access_pattern
def whole_menu(menu_id: UUID, sort_id: UUID) -> Get[Menu]:
    """Get a menu with its sections and their products: one item"""
    return Menu.primary(menu_id, sort_id)


@access_pattern
def update_menu(menu_id: UUID, sort_id: UUID, is_active: bool) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu_id, sort_id).update(Menu.is_active.set(is_active))


@access_pattern
def update_section(menu_id: UUID, sort_id: UUID, section_id: str, is_active: bool) -> Update[Menu]:
    """Update Section"""
    return Menu.primary(menu_id, sort_id).update(
        Menu.sections.path(lambda sections: sections[section_id].is_active).set(is_active)
    )


@access_pattern
def update_product(
    menu_id: UUID, sort_id: UUID, section_id: str, product_id: str, allergens: list[str]
) -> Update[Menu]:
    """Update Product"""
    return Menu.primary(menu_id, sort_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].allergens).set(allergens)
    )


@access_pattern
def add_allergen(
    menu_id: UUID, sort_id: UUID, section_id: str, product_id: str, allergen: str
) -> Update[Menu]:
    """Add an allergen to a product, if it is missing"""
    return Menu.primary(menu_id, sort_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].allergens).append_if_absent(
            allergen
        )
    )


@access_pattern
def create_menu(menu: Menu) -> Create[Menu]:
    """Create a menu"""
    return create(menu)


@access_pattern
def add_section(menu_id: UUID, sort_id: UUID, section: Section) -> Update[Menu]:
    """Add a section, if it does not exist"""
    if not contains_symbol(section):
        _require_product_ids(section)
    place = Menu.sections.path(lambda sections: sections[section.id])
    return Menu.primary(menu_id, sort_id).update(place.set(section)).condition(place.not_exists())


@access_pattern
def add_product(menu_id: UUID, sort_id: UUID, section_id: str, product: Product) -> Update[Menu]:
    """Add a product to a section, if it does not exist"""
    place = Menu.sections.path(lambda sections: sections[section_id].products[product.id])
    return Menu.primary(menu_id, sort_id).update(place.set(product)).condition(place.not_exists())


@access_pattern
def rename_menu(menu_id: UUID, sort_id: UUID, name: str) -> Update[Menu]:
    """Rename a menu"""
    return Menu.primary(menu_id, sort_id).update(Menu.name.set(name))


@access_pattern
def rename_section(menu_id: UUID, sort_id: UUID, section_id: str, name: str) -> Update[Menu]:
    """Rename a section"""
    return Menu.primary(menu_id, sort_id).update(
        Menu.sections.path(lambda sections: sections[section_id].name).set(name)
    )


@access_pattern
def rename_product(
    menu_id: UUID, sort_id: UUID, section_id: str, product_id: str, name: str
) -> Update[Menu]:
    """Rename a product"""
    return Menu.primary(menu_id, sort_id).update(
        Menu.sections.path(lambda s: s[section_id].products[product_id].name).set(name)
    )


@access_pattern
def delete_menu(menu_id: UUID, sort_id: UUID) -> Delete[Menu]:
    """Delete a menu, with its sections and products"""
    return Menu.primary(menu_id, sort_id).delete()


@access_pattern
def delete_section(menu_id: UUID, sort_id: UUID, section_id: str) -> Update[Menu]:
    """Delete a section, with its products"""
    place = Menu.sections.path(lambda sections: sections[section_id])
    return Menu.primary(menu_id, sort_id).update(place.remove()).condition(place.exists())


@access_pattern
def delete_product(menu_id: UUID, sort_id: UUID, section_id: str, product_id: str) -> Update[Menu]:
    """Delete a product"""
    place = Menu.sections.path(lambda sections: sections[section_id].products[product_id])
    return Menu.primary(menu_id, sort_id).update(place.remove()).condition(place.exists())
