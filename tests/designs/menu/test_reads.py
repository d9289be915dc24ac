"""Each read of the source document, in each variant."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import explain
from tablewright.database import Database
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS
from tests.designs.menu.support import DESSERTS, LUNCH, LUNCH_SORT, PIE, TABLES, request_shape
from tests.designs.stored import query


@pytest.mark.parametrize(
    ("variant", "shape"),
    [
        (collection, ("GetItem", None, 'pk="MENU#{menu}" AND sk="METADATA#{menu}"')),
        (joins, ("Query", "MenuNames", 'MenuName="{menu}"')),
        (composite, ("GetItem", None, 'pk="MENU#{menu}" AND sk="MENU#{menu}"')),
        (document, ("Query", "MenuNames", 'MenuName="{menu}"')),
    ],
)
def test_get_menu_by_name(db: Database, variant: Any, shape: tuple[str, str | None, str]) -> None:
    for name in SAMPLE_MENUS:
        found = db.run(variant.menu_by_name(name))
        assert found.name == name
    assert db.run(variant.menu_by_name("Lun")) is None
    assert request_shape(variant.menu_by_name) == shape


LUNCH_SECTIONS = ["Desserts", "Desserts to Share", "Hot Drinks", "Soups"]


def test_get_sections_by_menu_in_an_item_collection(db: Database) -> None:
    found = db.run(collection.sections_by_menu("Lunch"))
    assert [section.name for section in found] == LUNCH_SECTIONS
    assert {section.menu for section in found} == {"Lunch"}
    assert request_shape(collection.sections_by_menu) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "SECTION#")',
    )


def test_get_sections_by_menu_with_joins(db: Database) -> None:
    found = db.run(joins.sections_by_menu(LUNCH, "Lunch"))
    assert [section.name for section in found] == LUNCH_SECTIONS
    assert request_shape(joins.sections_by_menu) == (
        "Query",
        "GSI1",
        'GSI1PK="MENU#{menu_id}#MENU#{menu}" AND begins_with(GSI1SK, "SECTION#")',
    )


def test_get_sections_by_menu_with_joins_from_its_name(db: Database) -> None:
    found = db.run(joins.sections_by_name("Lunch"))
    assert found is not None
    lunch, sections = found
    assert lunch.id == LUNCH
    assert [section.name for section in sections] == LUNCH_SECTIONS
    assert db.run(joins.sections_by_name("Lun")) is None
    assert [step.index for step in explain(joins.sections_by_name).steps] == ["MenuNames", "GSI1"]


def test_get_sections_by_menu_with_composite_sort_keys(db: Database) -> None:
    found = db.run(composite.sections_by_menu("Lunch"))
    assert [section.name for section in found] == LUNCH_SECTIONS
    assert request_shape(composite.sections_by_menu) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "MENU#{menu}#SECTION#")',
    )


def test_get_sections_by_menu_in_a_document(db: Database) -> None:
    found = db.run(document.sections_by_menu(LUNCH))
    assert found is not None
    (sections,) = found
    assert sorted(section.name for section in sections.values()) == LUNCH_SECTIONS
    assert all(key == section.id for key, section in sections.items())
    assert db.run(document.sections_by_name("Lunch")) == (sections,)
    assert db.run(document.sections_by_menu(DESSERTS)) is None
    assert request_shape(document.sections_by_menu) == (
        "Query",
        None,
        'pk="MENU#{menu_id}" AND begins_with(sk, "MENU#")',
    )
    assert request_shape(document.sections_by_name) == ("Query", "MenuNames", 'MenuName="{menu}"')


@pytest.mark.parametrize(
    ("variant", "sort_key"),
    [(collection, "SECTION#Desserts"), (composite, "MENU#Lunch#SECTION#Desserts")],
)
def test_get_a_specific_section_by_its_key(
    db: Database, client: Any, variant: Any, sort_key: str
) -> None:
    found = db.run(variant.section_by_name("Lunch", "Desserts"))
    assert (found.menu, found.name) == ("Lunch", "Desserts")
    assert request_shape(variant.section_by_name)[0] == "GetItem"
    key = {"pk": {"S": "MENU#Lunch"}, "sk": {"S": sort_key}}
    answer = client.get_item(TableName=TABLES[variant].__table__.name, Key=key)
    assert answer["Item"]["SectionName"] == {"S": "Desserts"}


def test_a_menu_with_its_sections_is_not_a_get_item(db: Database, client: Any) -> None:
    """The source document reads both by a GetItem with the partition key alone."""
    key = {"pk": {"S": "MENU#Lunch"}}
    with pytest.raises(client.exceptions.ClientError, match="does not match the schema"):
        client.get_item(TableName="menu_collection", Key=key)
    stored = query(client, "menu_collection", 'pk="MENU#Lunch"')
    sections = [item for item in stored if item["sk"]["S"].startswith("SECTION#")]
    found = db.run(collection.whole_menu("Lunch"))
    assert found is not None
    assert [section.name for section in found.sections] == [
        item["SectionName"]["S"] for item in sections
    ]
    assert stored[0]["sk"] == {"S": "METADATA#Lunch"}


def test_get_a_specific_section_with_joins(db: Database) -> None:
    found = db.run(joins.section_by_name(LUNCH, "Lunch", "Desserts"))
    assert found is not None
    assert found.id == DESSERTS
    assert db.run(joins.section_by_name(LUNCH, "Lunch", "Dess")) is None
    assert request_shape(joins.section_by_name) == (
        "Query",
        "GSI1",
        'GSI1PK="MENU#{menu_id}#MENU#{menu}" AND GSI1SK="SECTION#{section}"',
    )


def test_get_products_by_section_in_an_item_collection(db: Database) -> None:
    """The section "Desserts to Share" has the same prefix, but its products are not returned."""
    found = db.run(collection.products_by_section("Lunch", "Desserts"))
    assert [product.name for product in found] == ["Apple Pie"]
    assert request_shape(collection.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "PRODUCT#{section}#")',
    )


def test_get_products_by_section_with_joins(db: Database) -> None:
    found = db.run(joins.products_by_section(DESSERTS, "Desserts"))
    assert [product.name for product in found] == ["Apple Pie"]
    assert request_shape(joins.products_by_section) == (
        "Query",
        "GSI2",
        'GSI2PK="SECTION#{section_id}#SECTION#{section}" AND begins_with(GSI2SK, "PRODUCT#")',
    )


def test_get_products_by_section_with_joins_from_the_names(db: Database) -> None:
    found = db.run(joins.products_by_names("Lunch", "Soups"))
    assert found is not None
    lunch, inner = found
    assert inner is not None
    section, products = inner
    assert (lunch.name, section.name) == ("Lunch", "Soups")
    assert {product.name for product in products} == {"Borscht", "Tomato"}
    no_section = db.run(joins.products_by_names("Lunch", "Sou"))
    assert no_section is not None
    assert no_section[1] is None


def test_get_products_by_section_with_composite_sort_keys(db: Database) -> None:
    found = db.run(composite.products_by_section("Lunch", "Desserts"))
    assert [product.name for product in found] == ["Apple Pie"]
    assert request_shape(composite.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "MENU#{menu}#SECTION#{section}#PRODUCT#")',
    )


def test_get_products_by_section_in_a_document(db: Database) -> None:
    found = db.run(document.products_by_section(LUNCH, str(DESSERTS)))
    assert found is not None
    (products,) = found
    assert {key: product.name for key, product in products.items()} == {str(PIE): "Apple Pie"}
    assert request_shape(document.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu_id}" AND begins_with(sk, "MENU#")',
    )


def test_an_unknown_section_of_a_document_has_no_products(db: Database) -> None:
    found = db.run(document.products_by_section(LUNCH, "nothing"))
    assert found is not None
    assert not found[0]


def test_the_whole_menu_in_an_item_collection(db: Database) -> None:
    whole = db.run(collection.whole_menu("Lunch"))
    assert whole is not None
    assert whole.menu.name == "Lunch"
    assert [section.name for section in whole.sections] == LUNCH_SECTIONS
    assert sorted((p.section, p.name) for p in whole.products) == [
        (section, product)
        for section, products in SAMPLE_MENUS["Lunch"].items()
        for product in products
    ]
    assert request_shape(collection.whole_menu) == ("Query", None, 'pk="MENU#{menu}"')


def test_the_menu_with_its_sections_with_joins(db: Database) -> None:
    whole = db.run(joins.menu_with_sections(LUNCH, "Lunch"))
    assert whole is not None
    assert whole.menu.id == LUNCH
    assert [section.name for section in whole.sections] == LUNCH_SECTIONS
    assert request_shape(joins.menu_with_sections) == (
        "Query",
        "GSI1",
        'GSI1PK="MENU#{menu_id}#MENU#{menu}"',
    )


def test_the_whole_menu_with_composite_sort_keys(db: Database) -> None:
    whole = db.run(composite.whole_menu("Lunch"))
    assert whole is not None
    assert whole.menu.name == "Lunch"
    assert {
        inner.section.name: {product.name: product.allergens for product in inner.products}
        for inner in whole.sections
    } == SAMPLE_MENUS["Lunch"]
    assert [inner.section.name for inner in whole.sections] == LUNCH_SECTIONS
    assert request_shape(composite.whole_menu) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND sk BETWEEN "MENU#{menu}" AND "MENU#{menu}$"',
    )


def test_the_whole_menu_in_a_document(db: Database) -> None:
    whole = db.run(document.whole_menu(LUNCH, LUNCH_SORT))
    assert whole is not None
    assert {
        section.name: {product.name: product.allergens for product in section.products.values()}
        for section in whole.sections.values()
    } == SAMPLE_MENUS["Lunch"]
    assert request_shape(document.whole_menu) == (
        "GetItem",
        None,
        'pk="MENU#{menu_id}" AND sk="MENU#{sort_id}"',
    )
