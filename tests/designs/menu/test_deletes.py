"""Creates and deletes in each variant: nothing is replaced, and no child loses its parent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright.database import Database
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.sample_menus import id_of
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    InvalidValue,
    NotFound,
    UniqueViolation,
)
from tablewright.plans import Plan
from tests.designs.menu.support import DESSERTS, LUNCH, LUNCH_SORT, PIE, items, keys


def stored_menu(client: Any) -> dict[str, Any] | None:
    """Return the stored document of the menu Lunch."""
    found = [item for item in items(client, document) if item["pk"]["S"] == f"MENU#{LUNCH}"]
    return found[0] if found else None


def test_a_section_of_a_document_is_not_replaced(db: Database, client: Any) -> None:
    before = items(client, document)
    again = document.Section(SectionId=str(DESSERTS), SectionName="Desserts")
    with pytest.raises(ConditionFailed):
        db.run(document.add_section(LUNCH, LUNCH_SORT, again))
    pie = document.Product(ProductId=str(PIE), ProductName="Pie")
    with pytest.raises(ConditionFailed):
        db.run(document.add_product(LUNCH, LUNCH_SORT, str(DESSERTS), pie))
    assert items(client, document) == before


def test_a_section_of_a_document_is_stored_under_its_id(db: Database, client: Any) -> None:
    db.run(
        document.add_section(
            LUNCH, LUNCH_SORT, document.Section(SectionId="s1", SectionName="Salads")
        )
    )
    db.run(
        document.add_product(
            LUNCH, LUNCH_SORT, "s1", document.Product(ProductId="p1", ProductName="Greek")
        )
    )
    stored = stored_menu(client)
    assert stored is not None
    section = stored["Sections"]["M"]["s1"]["M"]
    assert section["SectionId"] == {"S": "s1"}
    assert section["Products"]["M"]["p1"]["M"]["ProductId"] == {"S": "p1"}


def test_a_key_that_differs_from_the_id_is_refused() -> None:
    salads = document.Section(SectionId="s1", SectionName="Salads")
    with pytest.raises(InvalidValue, match="'other' is not the SectionId 's1'"):
        document.Menu(name="Dinner", sections={"other": salads})
    greek = document.Product(ProductId="p1", ProductName="Greek")
    salads.products["other"] = greek
    with pytest.raises(InvalidValue, match="'other' is not the ProductId 'p1'"):
        document.Menu(name="Dinner", sections={"s1": salads})


def test_a_section_with_a_product_under_another_key_is_not_added(db: Database, client: Any) -> None:
    before = items(client, document)
    salads = document.Section(SectionId="s1", SectionName="Salads")
    salads.products["other"] = document.Product(ProductId="p1", ProductName="Greek")
    with pytest.raises(InvalidValue, match="'other' is not the ProductId 'p1'"):
        db.run(document.add_section(LUNCH, LUNCH_SORT, salads))
    assert items(client, document) == before


def test_a_delete_in_a_document_takes_along_what_is_inside(db: Database, client: Any) -> None:
    others = [item for item in items(client, document) if item["pk"]["S"] != f"MENU#{LUNCH}"]
    soups = str(id_of("Lunch", "Soups"))
    db.run(document.delete_product(LUNCH, LUNCH_SORT, str(DESSERTS), str(PIE)))
    db.run(document.delete_section(LUNCH, LUNCH_SORT, soups))
    stored = stored_menu(client)
    assert stored is not None
    assert stored["Sections"]["M"][str(DESSERTS)]["M"]["Products"] == {"M": {}}
    assert soups not in stored["Sections"]["M"]
    with pytest.raises(ConditionFailed):
        db.run(document.delete_section(LUNCH, LUNCH_SORT, soups))
    db.run(document.delete_menu(LUNCH, LUNCH_SORT))
    assert items(client, document) == others


def test_a_delete_with_composite_sort_keys_takes_along_the_items_below(
    db: Database, client: Any
) -> None:
    others = [item for item in items(client, composite) if item["pk"]["S"] != "MENU#Lunch"]
    assert db.run(composite.delete_section("Lunch", "Desserts")) == 2
    found = keys(client, composite, "MENU#Lunch")
    assert not any(key.endswith("Apple Pie") for key in found)
    assert "MENU#Lunch#SECTION#Desserts to Share#PRODUCT#Trifle" in found
    db.run(composite.delete_menu("Lunch"))
    assert items(client, composite) == others


def test_with_composite_sort_keys_a_child_needs_its_parent(db: Database, client: Any) -> None:
    before = items(client, composite)
    with pytest.raises(NotFound):
        db.run(composite.add_product(composite.Product(menu="Lunch", section="Grill", name="Ribs")))
    with pytest.raises(NotFound):
        db.run(composite.add_section(composite.Section(menu="Dinner", name="Grill")))
    assert items(client, composite) == before


@pytest.mark.parametrize("variant", [collection, composite])
def test_a_menu_whose_name_is_a_key_is_not_created_twice(
    db: Database, variant: Any, client: Any
) -> None:
    before = items(client, variant)
    with pytest.raises(AlreadyExists):
        db.run(variant.create_menu(variant.Menu(name="Lunch")))
    assert items(client, variant) == before


def section_with_products(db: Database) -> tuple[collection.Section, list[collection.Product]]:
    section = db.run(collection.section_by_name("Lunch", "Soups"))
    assert section is not None
    return section, list(db.run(collection.products_by_section("Lunch", "Soups")))


def test_a_rename_of_a_section_leaves_no_product_that_was_added_meanwhile(
    db: Database, client: Any
) -> None:
    section, products = section_with_products(db)
    new = collection.Product(menu="Lunch", section="Soups", name="Leek")
    db.run(collection.add_product(new))
    before = items(client, collection)
    with pytest.raises(ConditionFailed):
        db.run(collection.rename_section(section, products, "Broths"))
    with pytest.raises(ConditionFailed):
        db.run(collection.delete_section(section, products))
    assert items(client, collection) == before
    db.run(collection.rename_section(*section_with_products(db), "Broths"))
    with pytest.raises(NotFound):  # after the rename the section is gone
        db.run(collection.add_product(new))
    found = keys(client, collection, "MENU#Lunch")
    assert "PRODUCT#Broths#Leek" in found
    assert not any(key.startswith(("PRODUCT#Soups#", "SECTION#Soups")) for key in found)


def test_a_rename_fails_if_another_product_took_the_place_of_one(db: Database, client: Any) -> None:
    section, products = section_with_products(db)
    db.run(collection.delete_product("Lunch", "Soups", "Borscht"))
    db.run(collection.add_product(collection.Product(menu="Lunch", section="Soups", name="Leek")))
    before = items(client, collection)
    with pytest.raises(NotFound):
        db.run(collection.rename_section(section, products, "Broths"))
    with pytest.raises(ConditionFailed):
        db.run(collection.delete_section(section, products))
    assert items(client, collection) == before


def test_products_of_another_section_are_refused(db: Database, client: Any) -> None:
    """Otherwise the products of the section would stay behind without it."""
    section, products = section_with_products(db)
    before = items(client, collection)
    others = list(db.run(collection.products_by_section("Lunch", "Hot Drinks")))
    assert len(others) == len(products)
    refused: list[Callable[[], Plan[Any]]] = [
        lambda: collection.rename_section(section, others, "Broths"),
        lambda: collection.move_products(section, others, "Desserts"),
        lambda: collection.delete_section(section, others),
    ]
    for plan in refused:
        with pytest.raises(InvalidValue, match=r"'Espresso' is in the section .*Hot Drinks"):
            db.run(plan())
    assert items(client, collection) == before


def test_a_delete_in_an_item_collection_takes_along_the_children(db: Database, client: Any) -> None:
    others = [item for item in items(client, collection) if item["pk"]["S"] != "MENU#Lunch"]
    db.run(collection.delete_section(*section_with_products(db)))
    found = keys(client, collection, "MENU#Lunch")
    assert not any("Soups" in key for key in found)
    with pytest.raises(ConditionFailed):
        db.run(collection.delete_product("Lunch", "Desserts", "Nothing"))
    db.run(collection.delete_menu("Lunch"))
    assert items(client, collection) == others


def test_with_joins_the_name_of_a_menu_is_unique(db: Database, client: Any) -> None:
    before = items(client, joins)
    with pytest.raises(UniqueViolation):
        db.run(joins.create_menu(joins.Menu(name="Lunch")))
    breakfast = db.run(joins.menu_by_name("Breakfast"))
    assert breakfast is not None
    sections = list(db.run(joins.sections_by_menu(breakfast.id, "Breakfast")))
    with pytest.raises(UniqueViolation):
        db.run(joins.rename_menu(breakfast, sections, "Lunch"))
    assert items(client, joins) == before


def test_with_joins_the_name_of_a_deleted_menu_is_free(db: Database, client: Any) -> None:
    before = items(client, joins)
    for _ in range(2):
        menu = db.run(joins.create_menu(joins.Menu(name="Dinner")))
        (sentinel,) = (
            item for item in items(client, joins) if item["pk"]["S"] == "MENU_NAME#Dinner"
        )
        assert sentinel.keys() == {"pk", "sk", "MenuId"}  # in none of the indexes
        db.run(joins.delete_menu(menu.id, "Dinner"))
    assert items(client, joins) == before


def test_with_joins_an_item_with_children_is_not_deleted(db: Database, client: Any) -> None:
    before = items(client, joins)
    section = db.run(joins.section_by_name(LUNCH, "Lunch", "Desserts"))
    assert section is not None
    with pytest.raises(ConditionFailed):
        db.run(joins.delete_menu(LUNCH, "Lunch"))
    with pytest.raises(ConditionFailed):
        db.run(joins.delete_section(section))
    assert items(client, joins) == before

    (pie,) = db.run(joins.products_by_section(DESSERTS, "Desserts"))
    db.run(joins.delete_product(pie))
    with pytest.raises(ConditionFailed):  # it counts the product once
        db.run(joins.delete_product(pie))
    db.run(joins.delete_section(section))
    after = items(client, joins)
    assert len(after) == len(before) - 2
    (menu,) = (item for item in after if item["pk"]["S"] == f"MENU#{LUNCH}")
    assert menu["SectionCount"] == {"N": "3"}


def test_with_joins_a_child_is_added_to_a_parent_that_exists(db: Database, client: Any) -> None:
    before = items(client, joins)
    with pytest.raises(NotFound):  # the menu has another name
        db.run(joins.add_section(joins.Section(name="Grill", menu_id=LUNCH, menu="Dinner")))
    with pytest.raises(NotFound):
        db.run(joins.add_product(joins.Product(name="Ribs", section_id=LUNCH, section="Grill")))
    assert items(client, joins) == before
