"""The keys and items of each variant have the form of the source document."""

from __future__ import annotations

from typing import Any

from tablewright.database import Database
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.document.checks import sort_id_of
from tablewright.designs.menu.sample_menus import id_of
from tests.designs.menu.support import DESSERTS, LUNCH, PIE, items, keys


def test_an_item_collection_has_the_keys_of_the_document(db: Database, client: Any) -> None:
    assert keys(client, collection, "MENU#Breakfast") == [
        "METADATA#Breakfast",
        "PRODUCT#Desserts#Bread",
        "PRODUCT#Desserts#Bread Pudding",
        "PRODUCT#Hot Drinks#Coffee",
        "PRODUCT#Hot Drinks#Green Tea",
        "PRODUCT#Hot Drinks#Hot Chocolate",
        "SECTION#Desserts",
        "SECTION#Hot Drinks",
    ]
    assert items(client, collection)[0] == {
        "pk": {"S": "MENU#Breakfast"},
        "sk": {"S": "METADATA#Breakfast"},
        "MenuName": {"S": "Breakfast"},
        "Status": {"S": "ACTIVE"},
        "SectionCount": {"N": "2"},
    }


def test_joins_have_the_keys_of_the_document(db: Database, client: Any) -> None:
    found = {item["sk"]["S"]: item for item in items(client, joins)}
    lunch_key = f"MENU#{LUNCH}#MENU#Lunch"
    assert found["MENU#Lunch"] == {
        "pk": {"S": f"MENU#{LUNCH}"},
        "sk": {"S": "MENU#Lunch"},
        "MenuId": {"S": str(LUNCH)},
        "MenuName": {"S": "Lunch"},
        "Status": {"S": "ACTIVE"},
        "SectionCount": {"N": "4"},
        "GSI1PK": {"S": lunch_key},
        "GSI1SK": {"S": "MENU#Lunch"},
    }
    shared = id_of("Lunch", "Desserts to Share")
    assert found["SECTION#Desserts to Share"] == {
        "pk": {"S": f"SECTION#{shared}"},
        "sk": {"S": "SECTION#Desserts to Share"},
        "SectionId": {"S": str(shared)},
        "SectionName": {"S": "Desserts to Share"},
        "ParentId": {"S": str(LUNCH)},
        "ParentName": {"S": "Lunch"},
        "Status": {"S": "ACTIVE"},
        "ProductCount": {"N": "2"},
        "GSI1PK": {"S": lunch_key},
        "GSI1SK": {"S": "SECTION#Desserts to Share"},
        "GSI2PK": {"S": f"SECTION#{shared}#SECTION#Desserts to Share"},
        "GSI2SK": {"S": "SECTION#Desserts to Share"},
    }
    assert found["PRODUCT#Apple Pie"] == {
        "pk": {"S": f"PRODUCT#{PIE}"},
        "sk": {"S": "PRODUCT#Apple Pie"},
        "ProductId": {"S": str(PIE)},
        "ProductName": {"S": "Apple Pie"},
        "ParentId": {"S": str(DESSERTS)},
        "ParentName": {"S": "Desserts"},
        "allergens": {"L": [{"S": "Egg"}, {"S": "Gluten"}]},
        "GSI2PK": {"S": f"SECTION#{DESSERTS}#SECTION#Desserts"},
        "GSI2SK": {"S": f"PRODUCT#{PIE}"},
    }


def test_each_composite_sort_key_begins_with_the_key_of_its_parent(
    db: Database, client: Any
) -> None:
    assert keys(client, composite, "MENU#Breakfast") == [
        "MENU#Breakfast",
        "MENU#Breakfast#SECTION#Desserts",
        "MENU#Breakfast#SECTION#Desserts#PRODUCT#Bread",
        "MENU#Breakfast#SECTION#Desserts#PRODUCT#Bread Pudding",
        "MENU#Breakfast#SECTION#Hot Drinks",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Coffee",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Green Tea",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Hot Chocolate",
    ]


def test_a_nested_document_is_stored_as_in_the_source_document(db: Database, client: Any) -> None:
    menu_id, section, product = (
        str(id_of(*names))
        for names in (
            ("Lunch Deluxe",),
            ("Lunch Deluxe", "Soups"),
            ("Lunch Deluxe", "Soups", "Bouillabaisse"),
        )
    )
    (item,) = (i for i in items(client, document) if i["MenuName"]["S"] == "Lunch Deluxe")
    assert item.keys() == {"pk", "sk", "MenuId", "MenuName", "IsActive", "Sections"}
    assert (item["pk"], item["sk"]) == (
        {"S": f"MENU#{menu_id}"},
        {"S": f"MENU#{sort_id_of('Lunch Deluxe')}"},
    )
    assert item["IsActive"] == {"BOOL": True}
    assert item["Sections"]["M"][section] == {
        "M": {
            "SectionName": {"S": "Soups"},
            "SectionId": {"S": section},
            "IsActive": {"BOOL": True},
            "Products": {
                "M": {
                    product: {
                        "M": {
                            "ProductName": {"S": "Bouillabaisse"},
                            "allergens": {"L": [{"S": "Fish"}, {"S": "Shellfish"}]},
                            "ProductId": {"S": product},
                        }
                    }
                }
            },
        }
    }
