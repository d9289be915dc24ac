"""A nested document: the whole menu is one item, with its sections and products inside.

    pk=MENU#{id}   sk=MENU#{id}   MenuName, IsActive,
                                  Sections: {id: {SectionName, IsActive, Products: {id: {…}}}}

Chosen: one id for both keys, where the document has two of which the second adds nothing; and an
index by the menu's name, without which "Get Menu by Name" would be a scan. Names are values, not
keys: a rename is an update of one path.

Sections and products are places inside of the menu: a query of the one item gives that place alone.
What travels is less; what is read, and paid for, is the whole menu. A section or product is found
by its id; by its name, in what `sections_by_menu` gives.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from tablewright.designs.menu.carte import CARTE, Carte, id_of
from tablewright.verify.rows import Row, Stored, changed


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
    """The menu with its sections and their products, one item"""
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
    """Append to a product's list, if it is not there"""
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


# -- sample data, and what each row of the document must give ------------------------------------


def sample(carte: Carte = CARTE) -> list[Entity]:
    """The menus of a carte."""
    return [
        Menu(
            id=id_of(menu),
            name=menu,
            sections={
                str(id_of(menu, section)): _section(menu, section, products)
                for section, products in sections.items()
            },
        )
        for menu, sections in carte.items()
    ]


def _section(menu: str, section: str, products: dict[str, list[str]]) -> Section:
    made = {
        str(id_of(menu, section, name)): Product(
            ProductId=str(id_of(menu, section, name)), ProductName=name, allergens=allergens
        )
        for name, allergens in products.items()
    }
    return Section(SectionId=str(id_of(menu, section)), SectionName=section, Products=made)


def rows(stored: Stored) -> Iterator[Row]:
    """The document's patterns, then renames."""
    yield from _reads(stored)
    yield from _updates(stored)
    yield from _renames(stored)


def _menu(stored: Stored, name: str) -> Menu:
    return next(menu for menu in stored(Menu) if menu.name == name)


def _but_section(menu: Menu, section_id: str, **values: object) -> Menu:
    """The menu, with one section changed."""
    section = menu.sections[section_id].model_copy(update=values)
    return changed(menu, sections=menu.sections | {section_id: section})


def _but_product(menu: Menu, section_id: str, product_id: str, **values: object) -> Menu:
    """The menu, with one product changed."""
    products = menu.sections[section_id].products
    product = products[product_id].model_copy(update=values)
    return _but_section(menu, section_id, products=products | {product_id: product})


def _reads(stored: Stored) -> Iterator[Row]:
    lunch = _menu(stored, "Lunch")
    desserts = str(id_of("Lunch", "Desserts"))
    yield Row("Get Menu by Name", menu_by_name("Lunch"), lunch)
    yield Row("Get Sections by Menu", sections_by_menu(lunch.id), (lunch.sections,))
    yield Row(
        "Get Products by Section",
        products_by_section(lunch.id, desserts),
        (lunch.sections[desserts].products,),
    )
    yield Row("Get the whole menu", whole_menu(lunch.id), lunch)
    yield Row("Get Sections by Menu, from its name", sections_by_name("Lunch"), (lunch.sections,))


def _updates(stored: Stored) -> Iterator[Row]:
    lunch = _menu(stored, "Lunch")
    soups, borscht = str(id_of("Lunch", "Soups")), str(id_of("Lunch", "Soups", "Borscht"))
    lunch = changed(lunch, is_active=False)
    yield Row("Update Menu", update_menu(lunch.id, False), lunch)
    lunch = _but_section(lunch, soups, is_active=False)
    yield Row("Update Section", update_section(lunch.id, soups, False), lunch)
    lunch = _but_product(lunch, soups, borscht, allergens=["Celery", "Beetroot"])
    yield Row(
        "Update Product", update_product(lunch.id, soups, borscht, ["Celery", "Beetroot"]), lunch
    )
    lunch = _but_product(lunch, soups, borscht, allergens=["Celery", "Beetroot", "Milk"])
    yield Row(
        "Add an allergen, if it is not there", add_allergen(lunch.id, soups, borscht, "Milk"), lunch
    )
    salads = Section(SectionId=str(id_of("Lunch", "Salads")), SectionName="Salads")
    yield Row(
        "Add a section",
        add_section(lunch.id, salads.id, salads),
        changed(lunch, sections=lunch.sections | {salads.id: salads}),
    )


def _renames(stored: Stored) -> Iterator[Row]:
    menu = _menu(stored, "Breakfast")
    drinks = str(id_of("Breakfast", "Hot Drinks"))
    coffee = str(id_of("Breakfast", "Hot Drinks", "Coffee"))
    menu = _but_product(menu, drinks, coffee, name="Filter Coffee")
    yield Row("Rename a product", rename_product(menu.id, drinks, coffee, "Filter Coffee"), menu)
    menu = _but_section(menu, drinks, name="Teas and Coffees")
    yield Row("Rename a section", rename_section(menu.id, drinks, "Teas and Coffees"), menu)
    yield Row(
        "Get Products by Section, renamed",
        products_by_section(menu.id, drinks),
        (menu.sections[drinks].products,),
    )
    menu = changed(menu, name="Brunch")
    yield Row("Rename a menu", rename_menu(menu.id, "Brunch"), menu)
    yield Row("Get the whole menu, renamed", whole_menu(menu.id), menu)
    yield Row("Get Menu by its old name", menu_by_name("Breakfast"), None)
