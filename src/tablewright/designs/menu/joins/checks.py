"""Sample data and checks of the menu, for joins by index."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright import Entity
from tablewright.designs.menu.joins import (
    Menu,
    MenuWithSections,
    Product,
    Section,
    add_allergen,
    add_product,
    add_section,
    create_menu,
    delete_menu,
    delete_product,
    delete_section,
    menu_by_name,
    menu_with_sections,
    move_products,
    move_sections,
    product_by_id,
    products_by_names,
    products_by_section,
    rename_menu,
    rename_product,
    rename_section,
    section_by_name,
    sections_by_menu,
    sections_by_name,
    update_menu,
    update_product,
    update_section,
)
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree, id_of
from tablewright.errors import ConditionFailed, NotFound, UniqueViolation
from tablewright.verify.checks import Check, Raises, Stored, changed


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    found: list[Entity] = []
    for menu, sections in menus.items():
        menu_id = id_of(menu)
        found.append(Menu(id=menu_id, name=menu, section_count=len(sections)))
        for section, products in sections.items():
            section_id = id_of(menu, section)
            found.append(
                Section(
                    id=section_id,
                    name=section,
                    menu_id=menu_id,
                    menu=menu,
                    product_count=len(products),
                )
            )
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


def checks(stored: Stored) -> Iterator[Check]:
    """Check the patterns of the source document, then renames and deletes."""
    yield from _reads(stored)
    yield from _updates(stored)
    yield from _renames(stored)
    yield from _deletes(stored)


def _menu(stored: Stored, name: str) -> Menu:
    return next(menu for menu in stored(Menu) if menu.name == name)


def _sections(stored: Stored, menu: Menu) -> list[Section]:
    """Return the sections in the order of GSI1: by name."""
    found = [section for section in stored(Section) if section.menu_id == menu.id]
    return sorted(found, key=lambda section: section.name)


def _section(stored: Stored, menu: Menu, name: str) -> Section:
    return next(section for section in _sections(stored, menu) if section.name == name)


def _products(stored: Stored, section: Section) -> list[Product]:
    """Return the products in the order of GSI2: by id."""
    found = [product for product in stored(Product) if product.section_id == section.id]
    return sorted(found, key=lambda product: str(product.id))


def _reads(stored: Stored) -> Iterator[Check]:
    lunch = _menu(stored, "Lunch")
    sections = _sections(stored, lunch)
    desserts = _section(stored, lunch, "Desserts")
    products = _products(stored, desserts)
    yield Check("Get Menu by Name", menu_by_name("Lunch"), lunch)
    yield Check("Get Sections by Menu", sections_by_menu(lunch.id, "Lunch"), sections)
    yield Check("Get Products by Section", products_by_section(desserts.id, "Desserts"), products)
    yield Check(
        "Get the menu with its sections",
        menu_with_sections(lunch.id, "Lunch"),
        MenuWithSections(menu=lunch, sections=sections),
    )
    yield Check(
        "Get one section of a menu", section_by_name(lunch.id, "Lunch", "Desserts"), desserts
    )
    yield Check(
        "Get one product of a section",
        product_by_id(products[0].id, products[0].name),
        products[0],
    )
    yield Check("Get Sections by Menu, from its name", sections_by_name("Lunch"), (lunch, sections))
    yield Check(
        "Get Products by Section, from the names",
        products_by_names("Lunch", "Desserts"),
        (lunch, (desserts, products)),
    )


def _updates(stored: Stored) -> Iterator[Check]:
    lunch = _menu(stored, "Lunch")
    soups = _section(stored, lunch, "Soups")
    borscht = next(p for p in _products(stored, soups) if p.name == "Borscht")
    yield Check(
        "Update Menu", update_menu(lunch.id, "Lunch", "INACTIVE"), changed(lunch, status="INACTIVE")
    )
    yield Check(
        "Update Section",
        update_section(soups.id, "Soups", "INACTIVE"),
        changed(soups, status="INACTIVE"),
    )
    yield Check(
        "Update Product",
        update_product(borscht.id, "Borscht", ["Celery", "Beetroot"]),
        changed(borscht, allergens=["Celery", "Beetroot"]),
    )
    yield Check(
        "Add an allergen, if it is missing",
        add_allergen(borscht.id, "Borscht", "Milk"),
        changed(borscht, allergens=["Celery", "Beetroot", "Milk"]),
    )
    salads = Section(id=id_of("Lunch", "Salads"), name="Salads", menu_id=lunch.id, menu="Lunch")
    yield Check("Add a section", add_section(salads), None)
    greek = Product(name="Greek", section_id=salads.id, section="Salads")
    yield Check("Add a product", add_product(greek), None)
    yield Check(
        "Add a product to a section that does not exist",
        add_product(Product(name="Ribs", section_id=lunch.id, section="Grill")),
        Raises(NotFound),
    )


def _renames(stored: Stored) -> Iterator[Check]:
    breakfast = _menu(stored, "Breakfast")
    drinks = _section(stored, breakfast, "Hot Drinks")
    coffee = next(p for p in _products(stored, drinks) if p.name == "Coffee")
    yield Check(
        "Rename a product",
        rename_product(coffee.id, "Coffee", "Filter Coffee"),
        changed(coffee, name="Filter Coffee"),
    )
    teas = _products(stored, drinks)
    yield Check("Rename a section", rename_section(drinks, teas, "Teas and Coffees"), None)
    yield Check(
        "Get Products by Section, after the rename",
        products_by_section(drinks.id, "Teas and Coffees"),
        [changed(tea, section="Teas and Coffees") for tea in teas],
    )
    sections = _sections(stored, breakfast)
    yield Check("Rename a menu", rename_menu(breakfast, sections, "Brunch"), None)
    yield Check(
        "Get the menu with its sections, after the rename",
        menu_with_sections(breakfast.id, "Brunch"),
        MenuWithSections(
            menu=changed(breakfast, name="Brunch"),
            sections=[changed(section, menu="Brunch") for section in sections],
        ),
    )
    yield Check("Get Menu by Name, old name", menu_by_name("Breakfast"), None)
    yield from _renames_in_steps(stored)


def _renames_in_steps(stored: Stored) -> Iterator[Check]:
    """For a parent with too many children for one transaction: a new parent gets them."""
    lunch = _menu(stored, "Lunch")
    desserts = _section(stored, lunch, "Desserts")
    sweets = _products(stored, desserts)
    yield Check(
        "Rename a section without its products",
        rename_section(desserts, [], "Sweets"),
        Raises(ConditionFailed),
    )
    new = changed(desserts, name="Sweets", product_count=0)
    yield Check("Rename a section in steps: the new section", add_section(new), None)
    yield Check(
        "Rename a section in steps: its products", move_products(desserts, sweets, "Sweets"), None
    )
    yield Check("Rename a section in steps: the old section", delete_section(desserts), None)
    yield Check(
        "Get Products by Section, after the rename in steps",
        products_by_section(desserts.id, "Sweets"),
        [changed(sweet, section="Sweets") for sweet in sweets],
    )
    sections = _sections(stored, lunch)
    yield Check(
        "Rename a menu without its sections",
        rename_menu(lunch, [], "Midday"),
        Raises(ConditionFailed),
    )
    midday = changed(lunch, name="Midday", section_count=0)
    yield Check("Rename a menu in steps: the new menu", create_menu(midday), midday)
    yield Check(
        "Rename a menu in steps: its sections", move_sections(lunch, sections, "Midday"), None
    )
    yield Check(
        "Rename a menu in steps: the old menu",
        delete_menu(lunch.id, "Lunch"),
        lambda: changed(lunch, section_count=0),
    )
    yield Check(
        "Get Sections by Menu, after the rename in steps",
        sections_by_menu(lunch.id, "Midday"),
        [changed(section, menu="Midday") for section in sections],
    )


def _deletes(stored: Stored) -> Iterator[Check]:
    new = Menu(id=id_of("New"), name="New")
    yield Check("Create a menu", create_menu(new), new)
    yield Check(
        "Create a menu whose name is taken", create_menu(Menu(name="New")), Raises(UniqueViolation)
    )
    deluxe = _menu(stored, "Lunch Deluxe")
    soups = _section(stored, deluxe, "Soups")
    (soup,) = _products(stored, soups)
    yield Check("Delete a section with products", delete_section(soups), Raises(ConditionFailed))
    yield Check("Delete a product", delete_product(soup), None)
    yield Check("Delete a section", delete_section(soups), None)
    yield Check(
        "Delete a menu with sections",
        delete_menu(deluxe.id, deluxe.name),
        Raises(ConditionFailed),
    )
    yield Check("Delete a menu", delete_menu(new.id, "New"), new)
    yield Check("Get Menu by Name, after the delete", menu_by_name("New"), None)
