"""One item collection: a menu, its sections and its products are in one partition.

    pk=MENU#{menu}    sk=METADATA#{menu}                  Menu
                      sk=SECTION#{section}                Section
                      sk=PRODUCT#{section}#{product}      Product

Decisions where the source document is unclear:

- It has no key for products in this variant. Here they are in the partition of their menu, with the
  name of their section in the sort key.
- All keys contain names, so a rename moves items. Renaming a menu moves its whole partition.
  Renaming a section moves the section and its products in one transaction, which has space for 49
  products. If there are more, add a section with the new name, move the products to it, 49 at a
  time, and delete the old section.
- A section counts its products. Renaming and deleting a section take the products that the caller
  has read. If these are not all, for example because one was added meanwhile, the transaction fails
  with `ConditionFailed`: read them again. Products of another section are refused. A delete has
  space for 98 products.
- A menu counts its sections. Renaming and deleting a menu read its sections and products
  themselves, and read them again if one was added meanwhile.
- The source document has no counts. Another program that adds or deletes a section or a product
  must change `SectionCount` or `ProductCount` in the same transaction. A section without
  `ProductCount` can be read and updated, but not renamed or deleted alone.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    delete,
    delete_all,
    key,
    root,
    transact,
    update,
)
from tablewright.errors import InvalidValue
from tablewright.plans import DeleteAggregate
from tablewright.symbol import contains_symbol


class Collection(Table, name="menu_collection", pk="pk", sk="sk", type_attribute=None):
    pass


class Menu(Entity, table=Collection):
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    section_count: Attr[int] = attr(name="SectionCount", default=0)

    primary = key("MENU" / name, "METADATA" / name.again)


class Section(Entity, table=Collection):
    menu: Attr[str] = attr(name="MenuName")
    name: Attr[str] = attr(name="SectionName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    product_count: Attr[int] = attr(name="ProductCount", default=0)

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
    """Get a menu with all its sections and products"""
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
    return transact(
        create(section), Menu.primary(section.menu).update(Menu.section_count.increment(1))
    )


@access_pattern
def add_product(product: Product) -> Transaction:
    """Add a product to a section that exists"""
    return transact(
        create(product),
        Section.primary(product.menu, product.section).update(Section.product_count.increment(1)),
    )


@access_pattern
def rename_menu(menu: str, name: str) -> Update[Menu]:
    """Rename a menu: moves its whole partition"""
    return Menu.primary(menu).update(Menu.name.set(name))


def _of_section(section: Section, product: Product) -> Product:
    """Return the product; raise InvalidValue if it is not in this section."""
    theirs, own = (product.menu, product.section), (section.menu, section.name)
    if not contains_symbol(theirs) and theirs != own:
        raise InvalidValue(
            f"the product {product.name!r} is in the section {theirs}, not in {own}; pass products "
            "of one section only"
        )
    return product


def _move(section: Section, product: Product, target: str) -> Update[Product]:
    """Return the move of a product of this section to another one."""
    return update(_of_section(section, product), Product.section.set(target))


@access_pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Transaction:
    """Rename a section: moves the section and its products"""
    return transact(
        update(section, Section.name.set(name)).condition(Section.product_count == len(products)),
        *(_move(section, product, name) for product in products),
    )


@access_pattern
def move_products(section: Section, products: Sequence[Product], target: str) -> Transaction:
    """Move up to 49 products of a section to another section of the menu"""
    count = Section.product_count
    return transact(
        Section.primary(section.menu, section.name).update(count.increment(-len(products))),
        Section.primary(section.menu, target).update(count.increment(len(products))),
        *(_move(section, product, target) for product in products),
    )


@access_pattern
def rename_product(menu: str, section: str, product: str, name: str) -> Update[Product]:
    """Rename a product: moves the product"""
    return Product.primary(menu, section, product).update(Product.name.set(name))


@access_pattern
def delete_menu(menu: str) -> DeleteAggregate:
    """Delete a menu, with its sections and products"""
    return delete_all(WholeMenu.of(Menu.primary(menu)))


@access_pattern
def delete_section(section: Section, products: Sequence[Product]) -> Transaction:
    """Delete a section, with its products"""
    return transact(
        Section.primary(section.menu, section.name)
        .delete()
        .condition(Section.product_count == len(products)),
        Menu.primary(section.menu).update(Menu.section_count.increment(-1)),
        *(
            delete(_of_section(section, product)).condition(Product.name.exists())
            for product in products
        ),
    )


@access_pattern
def delete_product(menu: str, section: str, product: str) -> Transaction:
    """Delete a product"""
    return transact(
        Product.primary(menu, section, product).delete().condition(Product.name.exists()),
        Section.primary(menu, section).update(Section.product_count.increment(-1)),
    )
