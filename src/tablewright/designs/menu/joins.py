"""Joins by index: every row has a partition of its own, and two indexes lead to its children.

    entity    pk               sk                GSI1PK | GSI1SK               GSI2PK | GSI2SK
    Menu      MENU#{id}        MENU#{name}       {pk}#{sk} | {sk}
    Section   SECTION#{id}     SECTION#{name}    {menu pk}#{menu sk} | {sk}    {pk}#{sk} | {sk}
    Product   PRODUCT#{id}     PRODUCT#{name}                                  {section pk}#… | {pk}

Chosen: a third index, by the menu's name, without which "Get Menu by Name" would be a scan. A
child holds the id and the name of its parent, as its index key is made of both; so a rename of a
parent updates its children too, in one transaction. That has room for 98 children; more of them
are updated before, 100 at a time.

The joins are keyed by id and name. Who knows names only begins at the menu's: `sections_by_name`
is two queries, `products_by_names` three. The whole menu is `menu_with_sections` and one query for
each section.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID, uuid4

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Entity,
    First,
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
    update,
)
from tablewright.designs.menu.carte import CARTE, Carte, id_of
from tablewright.plans import Then
from tablewright.verify.rows import Row, Stored, changed


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
    """The menu with its sections, from one query of the index"""
    return MenuWithSections.of(Menu.joined(menu_id, menu))


@access_pattern
def products_by_section(section_id: UUID, section: str) -> Query[Product]:
    """Get Products by Section"""
    return Product.by_section(section_id, section)


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
    """Append to a product's list, if it is not there"""
    return Product.primary(product_id, product).update(Product.allergens.append_if_absent(allergen))


@access_pattern
def add_section(section: Section) -> Create[Section]:
    """Add a section"""
    return create(section)


@access_pattern
def rename_menu(menu: Menu, sections: Sequence[Section], name: str) -> Transaction:
    """Rename a menu: its row moves, and the index keys of its sections"""
    return transact(
        update(menu, Menu.name.set(name)),
        *(update(section, Section.menu.set(name)) for section in sections),
    )


@access_pattern
def move_sections(sections: Sequence[Section], name: str) -> Transaction:
    """Give sections the new name of their menu, up to 100: those that do not fit into its rename"""
    return transact(*(update(section, Section.menu.set(name)) for section in sections))


@access_pattern
def rename_section(section: Section, products: Sequence[Product], name: str) -> Transaction:
    """Rename a section: its row moves, and the index keys of its products"""
    return transact(
        update(section, Section.name.set(name)),
        *(update(product, Product.section.set(name)) for product in products),
    )


@access_pattern
def move_products(products: Sequence[Product], name: str) -> Transaction:
    """Give products the new name of their section, up to 100"""
    return transact(*(update(product, Product.section.set(name)) for product in products))


@access_pattern
def rename_product(product_id: UUID, product: str, name: str) -> Update[Product]:
    """Rename a product: its row moves"""
    return Product.primary(product_id, product).update(Product.name.set(name))


# -- sample data, and what each row of the document must give ------------------------------------


def sample(carte: Carte = CARTE) -> list[Entity]:
    """The menus of a carte."""
    found: list[Entity] = []
    for menu, sections in carte.items():
        menu_id = id_of(menu)
        found.append(Menu(id=menu_id, name=menu))
        for section, products in sections.items():
            section_id = id_of(menu, section)
            found.append(Section(id=section_id, name=section, menu_id=menu_id, menu=menu))
            found += [
                Product(
                    id=id_of(menu, section, product),
                    name=product,
                    section_id=section_id,
                    section=section,
                    allergens=allergens,
                )
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


def _sections(stored: Stored, menu: Menu) -> list[Section]:
    """In the order of GSI1: by name."""
    found = [section for section in stored(Section) if section.menu_id == menu.id]
    return sorted(found, key=lambda section: section.name)


def _section(stored: Stored, menu: Menu, name: str) -> Section:
    return next(section for section in _sections(stored, menu) if section.name == name)


def _products(stored: Stored, section: Section) -> list[Product]:
    """In the order of GSI2: by id."""
    found = [product for product in stored(Product) if product.section_id == section.id]
    return sorted(found, key=lambda product: str(product.id))


def _reads(stored: Stored) -> Iterator[Row]:
    lunch = _menu(stored, "Lunch")
    sections = _sections(stored, lunch)
    desserts = _section(stored, lunch, "Desserts")
    products = _products(stored, desserts)
    yield Row("Get Menu by Name", menu_by_name("Lunch"), lunch)
    yield Row("Get Sections by Menu", sections_by_menu(lunch.id, "Lunch"), sections)
    yield Row("Get Products by Section", products_by_section(desserts.id, "Desserts"), products)
    yield Row(
        "Get the menu with its sections",
        menu_with_sections(lunch.id, "Lunch"),
        MenuWithSections(menu=lunch, sections=sections),
    )
    yield Row("Get one section of a menu", section_by_name(lunch.id, "Lunch", "Desserts"), desserts)
    yield Row("Get Sections by Menu, from its name", sections_by_name("Lunch"), (lunch, sections))
    yield Row(
        "Get Products by Section, from the names",
        products_by_names("Lunch", "Desserts"),
        (lunch, (desserts, products)),
    )


def _updates(stored: Stored) -> Iterator[Row]:
    lunch = _menu(stored, "Lunch")
    soups = _section(stored, lunch, "Soups")
    borscht = next(p for p in _products(stored, soups) if p.name == "Borscht")
    yield Row(
        "Update Menu", update_menu(lunch.id, "Lunch", "INACTIVE"), changed(lunch, status="INACTIVE")
    )
    yield Row(
        "Update Section",
        update_section(soups.id, "Soups", "INACTIVE"),
        changed(soups, status="INACTIVE"),
    )
    yield Row(
        "Update Product",
        update_product(borscht.id, "Borscht", ["Celery", "Beetroot"]),
        changed(borscht, allergens=["Celery", "Beetroot"]),
    )
    yield Row(
        "Add an allergen, if it is not there",
        add_allergen(borscht.id, "Borscht", "Milk"),
        changed(borscht, allergens=["Celery", "Beetroot", "Milk"]),
    )
    salads = Section(id=id_of("Lunch", "Salads"), name="Salads", menu_id=lunch.id, menu="Lunch")
    yield Row("Add a section", add_section(salads), salads)


def _renames(stored: Stored) -> Iterator[Row]:
    breakfast = _menu(stored, "Breakfast")
    drinks = _section(stored, breakfast, "Hot Drinks")
    coffee = next(p for p in _products(stored, drinks) if p.name == "Coffee")
    yield Row(
        "Rename a product",
        rename_product(coffee.id, "Coffee", "Filter Coffee"),
        changed(coffee, name="Filter Coffee"),
    )
    teas = _products(stored, drinks)
    yield Row("Rename a section", rename_section(drinks, teas, "Teas and Coffees"), None)
    yield Row(
        "Get Products by Section, renamed",
        products_by_section(drinks.id, "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    sections = _sections(stored, breakfast)
    yield Row("Rename a menu", rename_menu(breakfast, sections, "Brunch"), None)
    yield Row(
        "Get the menu with its sections, renamed",
        menu_with_sections(breakfast.id, "Brunch"),
        MenuWithSections(
            menu=changed(breakfast, name="Brunch"),
            sections=[changed(section, menu="Brunch") for section in sections],
        ),
    )
    yield Row("Get Menu by its old name", menu_by_name("Breakfast"), None)
    yield from _renames_in_steps(stored)


def _renames_in_steps(stored: Stored) -> Iterator[Row]:
    """Where a parent has more children than one transaction takes: the children, then itself."""
    lunch = _menu(stored, "Lunch")
    desserts = _section(stored, lunch, "Desserts")
    sweets = _products(stored, desserts)
    yield Row("Rename a section in steps: its products", move_products(sweets, "Sweets"), None)
    yield Row("Rename a section in steps: itself", rename_section(desserts, [], "Sweets"), None)
    yield Row(
        "Get Products by Section, renamed in steps",
        products_by_section(desserts.id, "Sweets"),
        [changed(sweet, section="Sweets") for sweet in sweets],
    )
    sections = _sections(stored, lunch)
    yield Row("Rename a menu in steps: its sections", move_sections(sections, "Midday"), None)
    yield Row("Rename a menu in steps: itself", rename_menu(lunch, [], "Midday"), None)
    yield Row(
        "Get Sections by Menu, renamed in steps",
        sections_by_menu(lunch.id, "Midday"),
        [changed(section, menu="Midday") for section in sections],
    )
