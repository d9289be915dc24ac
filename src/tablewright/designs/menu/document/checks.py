"""Sample data and checks of the menu, for the nested document."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from tablewright import Entity
from tablewright.designs.menu.document import (
    Menu,
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
    product_by_id,
    products_by_section,
    rename_menu,
    rename_product,
    rename_section,
    section_by_id,
    sections_by_menu,
    sections_by_name,
    update_menu,
    update_product,
    update_section,
    whole_menu,
)
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree, id_of
from tablewright.errors import ConditionFailed
from tablewright.verify.checks import Check, Raises, Stored, changed


def sort_id_of(menu: str) -> UUID:
    """Return the id in the sort key of a menu."""
    return id_of(menu, "sort key")


def sample(menus: MenuTree = SAMPLE_MENUS) -> list[Entity]:
    """Return the entities of these menus."""
    return [
        Menu(
            id=id_of(menu),
            sort_id=sort_id_of(menu),
            name=menu,
            sections={
                str(id_of(menu, section)): _make_section(menu, section, products)
                for section, products in sections.items()
            },
        )
        for menu, sections in menus.items()
    ]


def _make_section(menu: str, section: str, products: dict[str, list[str]]) -> Section:
    products_by_id = {
        str(id_of(menu, section, name)): Product(
            ProductId=str(id_of(menu, section, name)), ProductName=name, allergens=allergens
        )
        for name, allergens in products.items()
    }
    return Section(
        SectionId=str(id_of(menu, section)), SectionName=section, Products=products_by_id
    )


def checks(stored: Stored) -> Iterator[Check]:
    """Check the patterns of the source document, then renames and deletes."""
    yield from _reads(stored)
    yield from _updates(stored)
    yield from _renames(stored)
    yield from _deletes(stored)


def _menu(stored: Stored, name: str) -> Menu:
    return next(menu for menu in stored(Menu) if menu.name == name)


def _replace_section(menu: Menu, section_id: str, **values: object) -> Menu:
    """Return the menu with one section changed."""
    section = menu.sections[section_id].model_copy(update=values)
    return changed(menu, sections=menu.sections | {section_id: section})


def _replace_product(menu: Menu, section_id: str, product_id: str, **values: object) -> Menu:
    """Return the menu with one product changed."""
    products = menu.sections[section_id].products
    product = products[product_id].model_copy(update=values)
    return _replace_section(menu, section_id, products=products | {product_id: product})


def _reads(stored: Stored) -> Iterator[Check]:
    lunch = _menu(stored, "Lunch")
    desserts = str(id_of("Lunch", "Desserts"))
    yield Check("Get Menu by Name", menu_by_name("Lunch"), lunch)
    yield Check("Get Sections by Menu", sections_by_menu(lunch.id), (lunch.sections,))
    yield Check(
        "Get one section of a menu",
        section_by_id(lunch.id, desserts),
        (lunch.sections[desserts],),
    )
    pie = str(id_of("Lunch", "Desserts", "Apple Pie"))
    yield Check(
        "Get one product of a section",
        product_by_id(lunch.id, desserts, pie),
        (lunch.sections[desserts].products[pie],),
    )
    yield Check(
        "Get Products by Section",
        products_by_section(lunch.id, desserts),
        (lunch.sections[desserts].products,),
    )
    yield Check("Get the whole menu", whole_menu(lunch.id, lunch.sort_id), lunch)
    yield Check("Get Sections by Menu, from its name", sections_by_name("Lunch"), (lunch.sections,))


def _updates(stored: Stored) -> Iterator[Check]:
    lunch = _menu(stored, "Lunch")
    soups, borscht = str(id_of("Lunch", "Soups")), str(id_of("Lunch", "Soups", "Borscht"))
    lunch = changed(lunch, is_active=False)
    yield Check("Update Menu", update_menu(lunch.id, lunch.sort_id, False), lunch)
    lunch = _replace_section(lunch, soups, is_active=False)
    yield Check("Update Section", update_section(lunch.id, lunch.sort_id, soups, False), lunch)
    lunch = _replace_product(lunch, soups, borscht, allergens=["Celery", "Beetroot"])
    yield Check(
        "Update Product",
        update_product(lunch.id, lunch.sort_id, soups, borscht, ["Celery", "Beetroot"]),
        lunch,
    )
    lunch = _replace_product(lunch, soups, borscht, allergens=["Celery", "Beetroot", "Milk"])
    yield Check(
        "Add an allergen, if it is missing",
        add_allergen(lunch.id, lunch.sort_id, soups, borscht, "Milk"),
        lunch,
    )
    salads = Section(SectionId=str(id_of("Lunch", "Salads")), SectionName="Salads")
    lunch = changed(lunch, sections=lunch.sections | {salads.id: salads})
    yield Check("Add a section", add_section(lunch.id, lunch.sort_id, salads), lunch)
    yield Check(
        "Add a section that exists",
        add_section(lunch.id, lunch.sort_id, salads),
        Raises(ConditionFailed),
    )
    greek = Product(ProductId=str(id_of("Lunch", "Salads", "Greek")), ProductName="Greek")
    lunch = _replace_section(lunch, salads.id, products={greek.id: greek})
    yield Check("Add a product", add_product(lunch.id, lunch.sort_id, salads.id, greek), lunch)


def _renames(stored: Stored) -> Iterator[Check]:
    menu = _menu(stored, "Breakfast")
    drinks = str(id_of("Breakfast", "Hot Drinks"))
    coffee = str(id_of("Breakfast", "Hot Drinks", "Coffee"))
    menu = _replace_product(menu, drinks, coffee, name="Filter Coffee")
    yield Check(
        "Rename a product",
        rename_product(menu.id, menu.sort_id, drinks, coffee, "Filter Coffee"),
        menu,
    )
    menu = _replace_section(menu, drinks, name="Teas and Coffees")
    yield Check(
        "Rename a section", rename_section(menu.id, menu.sort_id, drinks, "Teas and Coffees"), menu
    )
    yield Check(
        "Get Products by Section, after the rename",
        products_by_section(menu.id, drinks),
        (menu.sections[drinks].products,),
    )
    menu = changed(menu, name="Brunch")
    yield Check("Rename a menu", rename_menu(menu.id, menu.sort_id, "Brunch"), menu)
    yield Check("Get the whole menu, after the rename", whole_menu(menu.id, menu.sort_id), menu)
    yield Check("Get Menu by Name, old name", menu_by_name("Breakfast"), None)


def _deletes(stored: Stored) -> Iterator[Check]:
    brunch = Menu(id=id_of("New"), sort_id=sort_id_of("New"), name="New")
    yield Check("Create a menu", create_menu(brunch), brunch)
    lunch = _menu(stored, "Lunch")
    soups, borscht = str(id_of("Lunch", "Soups")), str(id_of("Lunch", "Soups", "Borscht"))
    products = lunch.sections[soups].products
    lunch = _replace_section(
        lunch, soups, products={key: each for key, each in products.items() if key != borscht}
    )
    yield Check("Delete a product", delete_product(lunch.id, lunch.sort_id, soups, borscht), lunch)
    rest = {key: each for key, each in lunch.sections.items() if key != soups}
    lunch = changed(lunch, sections=rest)
    yield Check("Delete a section", delete_section(lunch.id, lunch.sort_id, soups), lunch)
    yield Check("Delete a menu", delete_menu(lunch.id, lunch.sort_id), lunch)
    yield Check("Get the whole menu, after the delete", whole_menu(lunch.id, lunch.sort_id), None)
