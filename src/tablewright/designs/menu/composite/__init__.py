"""Composite sort keys: each sort key begins with the sort key of the parent.

    pk=MENU#{menu}    sk=MENU#{menu}                                          Menu
                      sk=MENU#{menu}#SECTION#{section}                        Section
                      sk=MENU#{menu}#SECTION#{section}#PRODUCT#{product}      Product

Decisions where the source document is unclear:

- It has no keys for this variant, and rejects it because a section could not be renamed. Here a
  rename moves the item and all items below it, and a delete deletes them.
- A section or a product is added only below a parent that exists, and the same transaction
  increments the revision of the parent. So a rename or a delete finds out that an item was added
  meanwhile, and reads the items again.
"""

from __future__ import annotations

from tablewright import (
    Aggregate,
    Attr,
    Create,
    Delete,
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
    delete_all,
    key,
    root,
    transact,
)
from tablewright.plans import DeleteAggregate


class Composite(Table, name="menu_composite", pk="pk", sk="sk", type_attribute=None):
    pass


class Menu(Entity, table=Composite):
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    revision: Attr[int] = attr(name="Revision", default=0)

    primary = key("MENU" / name, "MENU" / name.again)


class Section(Entity, table=Composite):
    menu: Attr[str] = attr(name="MenuName")
    name: Attr[str] = attr(name="SectionName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    revision: Attr[int] = attr(name="Revision", default=0)

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
def section_by_name(menu: str, section: str) -> Get[Section]:
    """Get a specific section of a menu"""
    return Section.primary(menu, section)


@access_pattern
def products_by_section(menu: str, section: str) -> Query[Product]:
    """Get Products by Section"""
    return Product.primary.within(menu).eq(section)


@access_pattern
def product_by_name(menu: str, section: str, product: str) -> Get[Product]:
    """Get a specific product of a section"""
    return Product.primary(menu, section, product)


@access_pattern
def whole_menu(menu: str) -> Load[WholeMenu]:
    """Get a menu with its sections and their products: three levels in one query"""
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
    """Add an allergen to a product, if it is missing"""
    return Product.primary(menu, section, product).update(
        Product.allergens.append_if_absent(allergen)
    )


@access_pattern
def create_menu(menu: Menu) -> Create[Menu]:
    """Create a menu"""
    return create(menu)


@access_pattern
def add_section(section: Section) -> Transaction:
    """Add a section to a menu that exists"""
    return transact(create(section), Menu.primary(section.menu).update(Menu.revision.increment(1)))


@access_pattern
def add_product(product: Product) -> Transaction:
    """Add a product to a section that exists"""
    return transact(
        create(product),
        Section.primary(product.menu, product.section).update(Section.revision.increment(1)),
    )


@access_pattern
def rename_menu(menu: str, name: str) -> Update[Menu]:
    """Rename a menu: moves the menu and all items below it"""
    return Menu.primary(menu).update(Menu.name.set(name))


@access_pattern
def rename_section(menu: str, section: str, name: str) -> Update[Section]:
    """Rename a section: moves the section and its products"""
    return Section.primary(menu, section).update(Section.name.set(name))


@access_pattern
def rename_product(menu: str, section: str, product: str, name: str) -> Update[Product]:
    """Rename a product: moves the product"""
    return Product.primary(menu, section, product).update(Product.name.set(name))


@access_pattern
def delete_menu(menu: str) -> DeleteAggregate:
    """Delete a menu, with its sections and products"""
    return delete_all(WholeMenu.of(Menu.primary(menu)))


@access_pattern
def delete_section(menu: str, section: str) -> DeleteAggregate:
    """Delete a section, with its products"""
    return delete_all(SectionWithProducts.of(Section.primary(menu, section)))


@access_pattern
def delete_product(menu: str, section: str, product: str) -> Delete[Product]:
    """Delete a product"""
    return Product.primary(menu, section, product).delete()
