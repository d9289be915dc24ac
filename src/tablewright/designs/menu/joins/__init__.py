"""Joins by index: each item has its own partition, and two indexes find its children.

    entity    pk               sk                GSI1PK | GSI1SK               GSI2PK | GSI2SK
    Menu      MENU#{id}        MENU#{name}       {pk}#{sk} | {sk}
    Section   SECTION#{id}     SECTION#{name}    {menu pk}#{menu sk} | {sk}    {pk}#{sk} | {sk}
    Product   PRODUCT#{id}     PRODUCT#{name}                                  {section pk}#… | {pk}

Decisions where the source document is unclear:

- A third index finds a menu by its name. Without it, "Get Menu by Name" would be a scan.
- The name of a menu is unique, as in the variants where it is a key: creating a second menu with
  the same name, or renaming one to it, raises `UniqueViolation`. Otherwise "Get Menu by Name" would
  return either of the two. Names of sections and products need not be unique.
- A child stores the id and the name of its parent, because its index key contains both: the source
  document has no attributes for them, here they are `ParentId` and `ParentName`. Renaming a parent
  also updates its children, in one transaction, which has space for 96 sections or 98 products. If
  there are more, create the parent again, with the same id and its new name, move the children to
  it, 98 at a time, and delete the old parent.
- The children of an item are in other partitions, so an item counts them. A child is added only if
  its parent exists under the name that the child contains, and the same transaction increments the
  count. Renaming takes the children that the caller has read. If these are not all, for example
  because one was added meanwhile, it fails with `ConditionFailed`: read them again. A delete of an
  item that has children fails, too. The source document has no counts. Another program that adds or
  deletes a child must change `SectionCount` or `ProductCount` in the same transaction; a parent
  without a count is neither renamed nor deleted.

The keys of the joins contain ids and names. A caller that knows only the names starts with the name
of the menu: `sections_by_name` makes two queries, `products_by_names` three. To read the whole
menu, run `menu_with_sections`, then one query for each section.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    Load,
    Page,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    children,
    create,
    index,
    key,
    root,
    transact,
    unique,
    update,
)
from tablewright.plans import Then


class Joins(Table, name="menu_joins", pk="pk", sk="sk", type_attribute=None):
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="GSI2")
    names = GSI("MenuName", name="MenuNames")


class Menu(Entity, table=Joins):
    id: Attr[UUID] = attr(name="MenuId", default_factory=uuid4)
    name: Attr[str] = attr(name="MenuName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    section_count: Attr[int] = attr(name="SectionCount", default=0)

    primary = key("MENU" / id, "MENU" / name)
    joined = index(Joins.gsi1, "MENU" / id / "MENU" / name, "MENU" / name.again)
    by_name = index(Joins.names, name)
    # The sentinel does not keep the name, which would put it into the index of names.
    unique_name = unique("MENU_NAME" / name, keep=(id,))


class Section(Entity, table=Joins):
    id: Attr[UUID] = attr(name="SectionId", default_factory=uuid4)
    name: Attr[str] = attr(name="SectionName")
    menu_id: Attr[UUID] = attr(name="ParentId")
    menu: Attr[str] = attr(name="ParentName")
    status: Attr[str] = attr(name="Status", default="ACTIVE")
    product_count: Attr[int] = attr(name="ProductCount", default=0)

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
    menu: Menu = root()
    sections: list[Section] = children()


@access_pattern
def menu_by_name(menu: str) -> First[Menu]:
    """Get Menu by Name"""
    return Menu.by_name(menu).first()


@access_pattern
def sections_by_menu(menu_id: UUID, menu: str) -> Query[Section]:
    """Get Sections by Menu"""
    return Section.by_menu(menu_id, menu)


@access_pattern
def section_by_name(menu_id: UUID, menu: str, section: str) -> First[Section]:
    """Get a specific section of a menu"""
    return Section.by_menu(menu_id, menu).eq(section).first()


@access_pattern
def menu_with_sections(menu_id: UUID, menu: str) -> Load[MenuWithSections]:
    """Get a menu with its sections, in one query of the index"""
    return MenuWithSections.of(Menu.joined(menu_id, menu))


@access_pattern
def products_by_section(section_id: UUID, section: str) -> Query[Product]:
    """Get Products by Section"""
    return Product.by_section(section_id, section)


@access_pattern
def product_by_id(product_id: UUID, product: str) -> Get[Product]:
    """Get a specific product"""
    return Product.primary(product_id, product)


@access_pattern
def sections_by_name(menu: str) -> Then[Menu, Page[Section]]:
    """Get Sections by Menu, from its name"""
    return Menu.by_name(menu).first().then(lambda found: Section.by_menu(found.id, found.name))


@access_pattern
def products_by_names(menu: str, section: str) -> Then[Menu, tuple[Section, Page[Product]] | None]:
    """Get Products by Section, from the names of the menu and the section"""
    return (
        Menu.by_name(menu)
        .first()
        .then(
            lambda found: (
                Section.by_menu(found.id, found.name)
                .eq(section)
                .first()
                .then(lambda inner: Product.by_section(inner.id, inner.name))
            )
        )
    )


@access_pattern
def update_menu(menu_id: UUID, menu: str, status: str) -> Update[Menu]:
    """Update Menu"""
    return Menu.primary(menu_id, menu).update(Menu.status.set(status))


@access_pattern
def update_section(section_id: UUID, section: str, status: str) -> Update[Section]:
    """Update Section"""
    return Section.primary(section_id, section).update(Section.status.set(status))


@access_pattern
def update_product(product_id: UUID, product: str, allergens: list[str]) -> Update[Product]:
    """Update Product"""
    return Product.primary(product_id, product).update(Product.allergens.set(allergens))


@access_pattern
def add_allergen(product_id: UUID, product: str, allergen: str) -> Update[Product]:
    """Add an allergen to a product, if it is missing"""
    return Product.primary(product_id, product).update(Product.allergens.append_if_absent(allergen))


@access_pattern
def create_menu(menu: Menu) -> Create[Menu]:
    """Create a menu; its name must be unique"""
    return create(menu)


@access_pattern
def add_section(section: Section) -> Transaction:
    """Add a section to a menu that exists"""
    return transact(
        create(section),
        Menu.primary(section.menu_id, section.menu).update(Menu.section_count.increment(1)),
    )


@access_pattern
def add_product(product: Product) -> Transaction:
    """Add a product to a section that exists"""
    return transact(
        create(product),
        Section.primary(product.section_id, product.section).update(
            Section.product_count.increment(1)
        ),
    )


def _move_section(section: Section, menu: Menu, name: str) -> Update[Section]:
    """Return the update of the menu name, if the section is still in this menu."""
    is_in_menu = (Section.menu_id == menu.id) & (Section.menu == menu.name)
    return update(section, Section.menu.set(name)).condition(is_in_menu)


@access_pattern
def rename_menu(menu: Menu, sections: Sequence[Section], name: str) -> Transaction:
    """Rename a menu: moves the menu, changes the index keys of its sections"""
    return transact(
        update(menu, Menu.name.set(name)).condition(Menu.section_count == len(sections)),
        *(_move_section(section, menu, name) for section in sections),
    )


@access_pattern
def move_sections(menu: Menu, sections: Sequence[Section], name: str) -> Transaction:
    """Move up to 98 sections to the same menu under another name"""
    count = Menu.section_count
    return transact(
        Menu.primary(menu.id, menu.name).update(count.increment(-len(sections))),
        Menu.primary(menu.id, name).update(count.increment(len(sections))),
        *(_move_section(section, menu, name) for section in sections),
    )


def _move_product(product: Product, section: Section, name: str) -> Update[Product]:
    """Return the update of the section name, if the product is still in this section."""
    is_in_section = (Product.section_id == section.id) & (Product.section == section.name)
    return update(product, Product.section.set(name)).condition(is_in_section)


@access_pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Transaction:
    """Rename a section: moves the section, changes the index keys of its products"""
    return transact(
        update(section, Section.name.set(name)).condition(Section.product_count == len(products)),
        *(_move_product(product, section, name) for product in products),
    )


@access_pattern
def move_products(section: Section, products: Sequence[Product], name: str) -> Transaction:
    """Move up to 98 products to the same section under another name"""
    count = Section.product_count
    return transact(
        Section.primary(section.id, section.name).update(count.increment(-len(products))),
        Section.primary(section.id, name).update(count.increment(len(products))),
        *(_move_product(product, section, name) for product in products),
    )


@access_pattern
def rename_product(product_id: UUID, product: str, name: str) -> Update[Product]:
    """Rename a product: moves the product"""
    return Product.primary(product_id, product).update(Product.name.set(name))


@access_pattern
def delete_menu(menu_id: UUID, menu: str) -> Delete[Menu]:
    """Delete a menu that has no sections"""
    return Menu.primary(menu_id, menu).delete().condition(Menu.section_count == 0)


@access_pattern
def delete_section(section: Section) -> Transaction:
    """Delete a section that has no products"""
    return transact(
        Section.primary(section.id, section.name)
        .delete()
        .condition((Section.product_count == 0) & (Section.menu == section.menu)),
        Menu.primary(section.menu_id, section.menu).update(Menu.section_count.increment(-1)),
    )


@access_pattern
def delete_product(product: Product) -> Transaction:
    """Delete a product"""
    return transact(
        Product.primary(product.id, product.name)
        .delete()
        .condition(Product.section == product.section),
        Section.primary(product.section_id, product.section).update(
            Section.product_count.increment(-1)
        ),
    )
