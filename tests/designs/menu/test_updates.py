"""Each update of the source document, in each variant."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import explain
from tablewright.database import Database
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.errors import ConditionFailed, NotFound
from tests.designs.menu.support import DESSERTS, LUNCH, LUNCH_SORT, PIE, VARIANTS, items


def changed_items(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    assert [(i["pk"], i["sk"]) for i in before] == [(i["pk"], i["sk"]) for i in after]
    return [item for item in after if item not in before]


@pytest.mark.parametrize(
    ("variant", "plan", "shown"),
    [
        (collection, collection.update_menu("Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (joins, joins.update_menu(LUNCH, "Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (composite, composite.update_menu("Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (document, document.update_menu(LUNCH, LUNCH_SORT, False), ("IsActive", {"BOOL": False})),
    ],
)
def test_update_menu(
    db: Database, variant: Any, plan: Any, shown: tuple[str, Any], client: Any
) -> None:
    before = items(client, variant)
    assert db.run(plan) == db.run(variant.menu_by_name("Lunch"))
    (item,) = changed_items(before, items(client, variant))
    assert item["MenuName"] == {"S": "Lunch"}
    assert item[shown[0]] == shown[1]
    assert explain(variant.update_menu).operation == "UpdateItem"


@pytest.mark.parametrize(
    ("variant", "plan"),
    [
        (collection, collection.update_section("Lunch", "Desserts", "INACTIVE")),
        (joins, joins.update_section(DESSERTS, "Desserts", "INACTIVE")),
        (composite, composite.update_section("Lunch", "Desserts", "INACTIVE")),
    ],
)
def test_update_section(db: Database, variant: Any, plan: Any, client: Any) -> None:
    before = items(client, variant)
    assert db.run(plan).status == "INACTIVE"
    (item,) = changed_items(before, items(client, variant))
    assert item["SectionName"] == {"S": "Desserts"}
    assert item["Status"] == {"S": "INACTIVE"}
    assert explain(variant.update_section).operation == "UpdateItem"


def test_update_section_in_a_document(db: Database) -> None:
    before = db.run(document.whole_menu(LUNCH, LUNCH_SORT))
    after = db.run(document.update_section(LUNCH, LUNCH_SORT, str(DESSERTS), False))
    assert before is not None
    assert not after.sections[str(DESSERTS)].is_active
    after.sections[str(DESSERTS)].is_active = True
    assert after == before
    assert explain(document.update_section).operation == "UpdateItem"


def test_an_update_of_a_missing_section_changes_nothing(db: Database, client: Any) -> None:
    before = [items(client, variant) for variant in VARIANTS]
    with pytest.raises(NotFound):
        db.run(collection.update_section("Lunch", "Dess", "INACTIVE"))
    with pytest.raises(NotFound):
        db.run(joins.update_section(LUNCH, "Dess", "INACTIVE"))
    with pytest.raises(NotFound):
        db.run(composite.update_section("Lunch", "Dess", "INACTIVE"))
    with pytest.raises(ConditionFailed, match="the parent path does not exist"):
        db.run(document.update_section(LUNCH, LUNCH_SORT, "nothing", False))
    assert [items(client, variant) for variant in VARIANTS] == before


@pytest.mark.parametrize(
    ("variant", "plan"),
    [
        (collection, collection.update_product("Lunch", "Desserts", "Apple Pie", ["Nuts"])),
        (joins, joins.update_product(PIE, "Apple Pie", ["Nuts"])),
        (composite, composite.update_product("Lunch", "Desserts", "Apple Pie", ["Nuts"])),
    ],
)
def test_update_product(db: Database, variant: Any, plan: Any, client: Any) -> None:
    before = items(client, variant)
    assert db.run(plan).allergens == ["Nuts"]
    (item,) = changed_items(before, items(client, variant))
    assert item["ProductName"] == {"S": "Apple Pie"}
    assert item["allergens"] == {"L": [{"S": "Nuts"}]}
    assert explain(variant.update_product).operation == "UpdateItem"


def test_update_product_in_a_document(db: Database) -> None:
    before = db.run(document.whole_menu(LUNCH, LUNCH_SORT))
    after = db.run(document.update_product(LUNCH, LUNCH_SORT, str(DESSERTS), str(PIE), ["Nuts"]))
    assert before is not None
    product = after.sections[str(DESSERTS)].products[str(PIE)]
    assert product.allergens == ["Nuts"]
    product.allergens = ["Egg", "Gluten"]
    assert after == before
    assert explain(document.update_product).operation == "UpdateItem"


@pytest.mark.parametrize(
    ("variant", "arguments"),
    [
        (collection, ("Lunch", "Desserts", "Apple Pie")),
        (joins, (PIE, "Apple Pie")),
        (composite, ("Lunch", "Desserts", "Apple Pie")),
        (document, (LUNCH, LUNCH_SORT, str(DESSERTS), str(PIE))),
    ],
)
def test_an_allergen_is_added_once(db: Database, variant: Any, arguments: tuple[Any, ...]) -> None:
    def allergens(entity: Any) -> Any:
        if variant is document:
            return entity.sections[str(DESSERTS)].products[str(PIE)].allergens
        return entity.allergens

    for _ in range(2):
        answer = db.run(variant.add_allergen(*arguments, "Nuts"))
        assert allergens(answer) == ["Egg", "Gluten", "Nuts"]
