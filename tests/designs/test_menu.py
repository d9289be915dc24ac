"""The menu, four ways: each row of the document in each way, renames, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from tablewright import Database, Table, access_patterns, connect, explain, put
from tablewright.designs import menu
from tablewright.designs.menu import collection, compare, composite, document, joins
from tablewright.designs.menu.carte import CARTE, Carte, id_of
from tablewright.errors import AlreadyExists, ConditionFailed, NotFound
from tablewright.transport import Local
from tablewright.verify import Result, changed, load, verify

WAYS = (collection, joins, composite, document)
TABLES: dict[ModuleType, type[Table]] = {
    collection: collection.Collection,
    joins: joins.Joins,
    composite: composite.Composite,
    document: document.Document,
}

LUNCH = id_of("Lunch")
DESSERTS = id_of("Lunch", "Desserts")
PIE = id_of("Lunch", "Desserts", "Apple Pie")


@pytest.fixture
def db() -> Iterator[Database]:
    """All four ways, with their samples."""
    with connect(":memory:", *TABLES.values()) as database:
        for entity in menu.sample():
            database.run(put(entity))
        yield database
        assert engine(database).check()


def engine(db: Database) -> Any:
    assert isinstance(db._transport, Local)
    return db._transport.engine


def holding(way: ModuleType, entities: Sequence[Any]) -> Database:
    """A database of one way that holds these."""
    database = connect(":memory:", TABLES[way])
    for entity in entities:
        database.run(put(entity))
    return database


def items(db: Database, way: ModuleType, index: str | None = None) -> list[dict[str, Any]]:
    """Every item of a way's table or index, as it is stored."""
    body: dict[str, Any] = {"TableName": TABLES[way].__table__.name}
    if index is not None:
        body["IndexName"] = index
    found: list[dict[str, Any]] = []
    while True:
        answer = engine(db).call("Scan", body)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return sorted(found, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
        body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def everything(db: Database, way: ModuleType) -> dict[str | None, list[dict[str, Any]]]:
    """What a way's table holds, and each of its indexes."""
    places = [None, *TABLES[way].__table__.indexes]
    return {index: items(db, way, index) for index in places}


def keys(db: Database, way: ModuleType, partition: str) -> list[str]:
    return [item["sk"]["S"] for item in items(db, way) if item["pk"]["S"] == partition]


def served(pattern: Any) -> tuple[str, str | None, str]:
    shape = explain(pattern)
    return shape.operation, shape.index, shape.condition


@pytest.fixture(scope="module")
def results() -> list[Result]:
    design = load("menu")
    with connect(":memory:", *design.tables) as database:
        return list(verify(design, database))


def test_every_row_gives_what_a_scan_gives_and_none_scans(results: list[Result]) -> None:
    assert [(result.row, result.problem) for result in results if not result.ok] == []


@pytest.mark.parametrize("way", menu.WAYS)
@pytest.mark.parametrize(
    "row",
    [
        "Get Menu by Name",
        "Get Sections by Menu",
        "Get Products by Section",
        "Update Menu",
        "Update Section",
        "Update Product",
        "Rename a menu",
        "Rename a section",
        "Rename a product",
    ],
)
def test_each_row_is_verified_in_each_way(results: list[Result], way: str, row: str) -> None:
    assert [result.row for result in results].count(f"{way}: {row}") == 1


def test_every_pattern_has_a_row(results: list[Result]) -> None:
    declared = {found.name for table in TABLES.values() for found in access_patterns(table)}
    assert declared == {result.pattern for result in results}


# -- the document's key tables -------------------------------------------------------------------


def test_an_item_collection_has_the_keys_of_the_document(db: Database) -> None:
    assert keys(db, collection, "MENU#Breakfast") == [
        "METADATA#Breakfast",
        "PRODUCT#Desserts#Bread",
        "PRODUCT#Desserts#Bread Pudding",
        "PRODUCT#Hot Drinks#Coffee",
        "PRODUCT#Hot Drinks#Green Tea",
        "PRODUCT#Hot Drinks#Hot Chocolate",
        "SECTION#Desserts",
        "SECTION#Hot Drinks",
    ]
    assert items(db, collection)[0] == {
        "pk": {"S": "MENU#Breakfast"},
        "sk": {"S": "METADATA#Breakfast"},
        "MenuName": {"S": "Breakfast"},
        "Status": {"S": "ACTIVE"},
    }


def test_joins_have_the_keys_of_the_document(db: Database) -> None:
    found = {item["sk"]["S"]: item for item in items(db, joins)}
    lunch_key = f"MENU#{LUNCH}#MENU#Lunch"
    assert found["MENU#Lunch"] == {
        "pk": {"S": f"MENU#{LUNCH}"},
        "sk": {"S": "MENU#Lunch"},
        "MenuId": {"S": str(LUNCH)},
        "MenuName": {"S": "Lunch"},
        "Status": {"S": "ACTIVE"},
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


def test_composite_sort_keys_go_on_from_level_to_level(db: Database) -> None:
    assert keys(db, composite, "MENU#Breakfast") == [
        "MENU#Breakfast",
        "MENU#Breakfast#SECTION#Desserts",
        "MENU#Breakfast#SECTION#Desserts#PRODUCT#Bread",
        "MENU#Breakfast#SECTION#Desserts#PRODUCT#Bread Pudding",
        "MENU#Breakfast#SECTION#Hot Drinks",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Coffee",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Green Tea",
        "MENU#Breakfast#SECTION#Hot Drinks#PRODUCT#Hot Chocolate",
    ]


def test_a_nested_document_is_the_item_of_the_document(db: Database) -> None:
    menu_id, section, product = (
        str(id_of(*names))
        for names in (
            ("Lunch Deluxe",),
            ("Lunch Deluxe", "Soups"),
            ("Lunch Deluxe", "Soups", "Bouillabaisse"),
        )
    )
    (item,) = (i for i in items(db, document) if i["MenuName"]["S"] == "Lunch Deluxe")
    assert item.keys() == {"pk", "sk", "MenuId", "MenuName", "IsActive", "Sections"}
    assert (item["pk"], item["sk"]) == ({"S": f"MENU#{menu_id}"}, {"S": f"MENU#{menu_id}"})
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


# -- Get Menu by Name ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "shape"),
    [
        (collection, ("GetItem", None, 'pk="MENU#{menu}" AND sk="METADATA#{menu}"')),
        (joins, ("Query", "MenuNames", 'MenuName="{menu}"')),
        (composite, ("GetItem", None, 'pk="MENU#{menu}" AND sk="MENU#{menu}"')),
        (document, ("Query", "MenuNames", 'MenuName="{menu}"')),
    ],
)
def test_get_menu_by_name(db: Database, way: Any, shape: tuple[str, str | None, str]) -> None:
    for name in CARTE:
        found = db.run(way.menu_by_name(name))
        assert found.name == name
    assert db.run(way.menu_by_name("Lun")) is None
    assert served(way.menu_by_name) == shape


# -- Get Sections by Menu ------------------------------------------------------------------------

LUNCH_SECTIONS = ["Desserts", "Desserts to Share", "Hot Drinks", "Soups"]


def test_get_sections_by_menu_in_an_item_collection(db: Database) -> None:
    found = db.run(collection.sections_by_menu("Lunch"))
    assert [section.name for section in found] == LUNCH_SECTIONS
    assert {section.menu for section in found} == {"Lunch"}
    assert served(collection.sections_by_menu) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "SECTION#")',
    )


def test_get_sections_by_menu_with_joins(db: Database) -> None:
    found = db.run(joins.sections_by_menu(LUNCH, "Lunch"))
    assert [section.name for section in found] == LUNCH_SECTIONS
    assert served(joins.sections_by_menu) == (
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
    assert served(composite.sections_by_menu) == (
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
    assert served(document.sections_by_menu) == (
        "Query",
        None,
        'pk="MENU#{menu_id}" AND sk="MENU#{menu_id}"',
    )
    assert served(document.sections_by_name) == ("Query", "MenuNames", 'MenuName="{menu}"')


def test_get_a_specific_section_with_joins(db: Database) -> None:
    found = db.run(joins.section_by_name(LUNCH, "Lunch", "Desserts"))
    assert found is not None
    assert found.id == DESSERTS
    assert db.run(joins.section_by_name(LUNCH, "Lunch", "Dess")) is None
    assert served(joins.section_by_name) == (
        "Query",
        "GSI1",
        'GSI1PK="MENU#{menu_id}#MENU#{menu}" AND GSI1SK="SECTION#{section}"',
    )


# -- Get Products by Section ---------------------------------------------------------------------


def test_get_products_by_section_in_an_item_collection(db: Database) -> None:
    """Not those of the section whose name goes on from this one's."""
    found = db.run(collection.products_by_section("Lunch", "Desserts"))
    assert [product.name for product in found] == ["Apple Pie"]
    assert served(collection.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "PRODUCT#{section}#")',
    )


def test_get_products_by_section_with_joins(db: Database) -> None:
    found = db.run(joins.products_by_section(DESSERTS, "Desserts"))
    assert [product.name for product in found] == ["Apple Pie"]
    assert served(joins.products_by_section) == (
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
    assert served(composite.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND begins_with(sk, "MENU#{menu}#SECTION#{section}#PRODUCT#")',
    )


def test_get_products_by_section_in_a_document(db: Database) -> None:
    found = db.run(document.products_by_section(LUNCH, str(DESSERTS)))
    assert found is not None
    (products,) = found
    assert {key: product.name for key, product in products.items()} == {str(PIE): "Apple Pie"}
    assert served(document.products_by_section) == (
        "Query",
        None,
        'pk="MENU#{menu_id}" AND sk="MENU#{menu_id}"',
    )


def test_a_section_that_a_document_does_not_have_has_no_products(db: Database) -> None:
    found = db.run(document.products_by_section(LUNCH, "nothing"))
    assert found is not None
    assert not found[0]


# -- the whole menu ------------------------------------------------------------------------------


def test_the_whole_menu_in_an_item_collection(db: Database) -> None:
    whole = db.run(collection.whole_menu("Lunch"))
    assert whole is not None
    assert whole.menu.name == "Lunch"
    assert [section.name for section in whole.sections] == LUNCH_SECTIONS
    assert sorted((p.section, p.name) for p in whole.products) == [
        (section, product) for section, products in CARTE["Lunch"].items() for product in products
    ]
    assert served(collection.whole_menu) == ("Query", None, 'pk="MENU#{menu}"')


def test_the_menu_with_its_sections_with_joins(db: Database) -> None:
    whole = db.run(joins.menu_with_sections(LUNCH, "Lunch"))
    assert whole is not None
    assert whole.menu.id == LUNCH
    assert [section.name for section in whole.sections] == LUNCH_SECTIONS
    assert served(joins.menu_with_sections) == (
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
    } == CARTE["Lunch"]
    assert [inner.section.name for inner in whole.sections] == LUNCH_SECTIONS
    assert served(composite.whole_menu) == (
        "Query",
        None,
        'pk="MENU#{menu}" AND sk BETWEEN "MENU#{menu}" AND "MENU#{menu}$"',
    )


def test_the_whole_menu_in_a_document(db: Database) -> None:
    whole = db.run(document.whole_menu(LUNCH))
    assert whole is not None
    assert {
        section.name: {product.name: product.allergens for product in section.products.values()}
        for section in whole.sections.values()
    } == CARTE["Lunch"]
    assert served(document.whole_menu) == (
        "GetItem",
        None,
        'pk="MENU#{menu_id}" AND sk="MENU#{menu_id}"',
    )


# -- Update Menu, Update Section, Update Product -------------------------------------------------


def differing(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert [(i["pk"], i["sk"]) for i in before] == [(i["pk"], i["sk"]) for i in after]
    return [item for item in after if item not in before]


@pytest.mark.parametrize(
    ("way", "plan", "shown"),
    [
        (collection, collection.update_menu("Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (joins, joins.update_menu(LUNCH, "Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (composite, composite.update_menu("Lunch", "INACTIVE"), ("Status", {"S": "INACTIVE"})),
        (document, document.update_menu(LUNCH, False), ("IsActive", {"BOOL": False})),
    ],
)
def test_update_menu(db: Database, way: Any, plan: Any, shown: tuple[str, Any]) -> None:
    before = items(db, way)
    assert db.run(plan) == db.run(way.menu_by_name("Lunch"))
    (item,) = differing(before, items(db, way))
    assert item["MenuName"] == {"S": "Lunch"}
    assert item[shown[0]] == shown[1]
    assert explain(way.update_menu).operation == "UpdateItem"


@pytest.mark.parametrize(
    ("way", "plan"),
    [
        (collection, collection.update_section("Lunch", "Desserts", "INACTIVE")),
        (joins, joins.update_section(DESSERTS, "Desserts", "INACTIVE")),
        (composite, composite.update_section("Lunch", "Desserts", "INACTIVE")),
    ],
)
def test_update_section(db: Database, way: Any, plan: Any) -> None:
    before = items(db, way)
    assert db.run(plan).status == "INACTIVE"
    (item,) = differing(before, items(db, way))
    assert item["SectionName"] == {"S": "Desserts"}
    assert item["Status"] == {"S": "INACTIVE"}
    assert explain(way.update_section).operation == "UpdateItem"


def test_update_section_in_a_document(db: Database) -> None:
    before = db.run(document.whole_menu(LUNCH))
    after = db.run(document.update_section(LUNCH, str(DESSERTS), False))
    assert before is not None
    assert not after.sections[str(DESSERTS)].is_active
    after.sections[str(DESSERTS)].is_active = True
    assert after == before
    assert explain(document.update_section).operation == "UpdateItem"


def test_update_of_a_section_that_is_not_there_adds_none(db: Database) -> None:
    before = [items(db, way) for way in WAYS]
    with pytest.raises(NotFound):
        db.run(collection.update_section("Lunch", "Dess", "INACTIVE"))
    with pytest.raises(NotFound):
        db.run(joins.update_section(LUNCH, "Dess", "INACTIVE"))
    with pytest.raises(NotFound):
        db.run(composite.update_section("Lunch", "Dess", "INACTIVE"))
    with pytest.raises(ConditionFailed, match="in something that is not there"):
        db.run(document.update_section(LUNCH, "nothing", False))
    assert [items(db, way) for way in WAYS] == before


@pytest.mark.parametrize(
    ("way", "plan"),
    [
        (collection, collection.update_product("Lunch", "Desserts", "Apple Pie", ["Nuts"])),
        (joins, joins.update_product(PIE, "Apple Pie", ["Nuts"])),
        (composite, composite.update_product("Lunch", "Desserts", "Apple Pie", ["Nuts"])),
    ],
)
def test_update_product(db: Database, way: Any, plan: Any) -> None:
    before = items(db, way)
    assert db.run(plan).allergens == ["Nuts"]
    (item,) = differing(before, items(db, way))
    assert item["ProductName"] == {"S": "Apple Pie"}
    assert item["allergens"] == {"L": [{"S": "Nuts"}]}
    assert explain(way.update_product).operation == "UpdateItem"


def test_update_product_in_a_document(db: Database) -> None:
    before = db.run(document.whole_menu(LUNCH))
    after = db.run(document.update_product(LUNCH, str(DESSERTS), str(PIE), ["Nuts"]))
    assert before is not None
    product = after.sections[str(DESSERTS)].products[str(PIE)]
    assert product.allergens == ["Nuts"]
    product.allergens = ["Egg", "Gluten"]
    assert after == before
    assert explain(document.update_product).operation == "UpdateItem"


@pytest.mark.parametrize(
    ("way", "arguments"),
    [
        (collection, ("Lunch", "Desserts", "Apple Pie")),
        (joins, (PIE, "Apple Pie")),
        (composite, ("Lunch", "Desserts", "Apple Pie")),
        (document, (LUNCH, str(DESSERTS), str(PIE))),
    ],
)
def test_an_allergen_is_added_once(db: Database, way: Any, arguments: tuple[Any, ...]) -> None:
    def allergens(entity: Any) -> Any:
        if way is document:
            return entity.sections[str(DESSERTS)].products[str(PIE)].allergens
        return entity.allergens

    for _ in range(2):
        answer = db.run(way.add_allergen(*arguments, "Nuts"))
        assert allergens(answer) == ["Egg", "Gluten", "Nuts"]


# -- renames -------------------------------------------------------------------------------------


def with_menu_renamed(way: Any, entities: Sequence[Any], old: str, new: str) -> list[Any]:
    """The entities, as they are when the menu has had its new name from the beginning."""
    return [
        changed(entity, name=new)
        if isinstance(entity, way.Menu) and entity.name == old
        else changed(entity, menu=new)
        if getattr(entity, "menu", None) == old
        else entity
        for entity in entities
    ]


def with_section_renamed(
    way: Any, entities: Sequence[Any], menu_name: str, old: str, new: str
) -> list[Any]:
    section_id = id_of(menu_name, old)
    if way is document:
        return [_document_but_section(entity, str(section_id), new) for entity in entities]
    made = []
    for entity in entities:
        if isinstance(entity, way.Section) and (entity.menu, entity.name) == (menu_name, old):
            entity = changed(entity, name=new)
        elif isinstance(entity, way.Product) and (
            entity.section_id == section_id
            if way is joins
            else (entity.menu, entity.section) == (menu_name, old)
        ):
            entity = changed(entity, section=new)
        made.append(entity)
    return made


def _document_but_section(entity: document.Menu, section_id: str, name: str) -> document.Menu:
    if section_id not in entity.sections:
        return entity
    section = entity.sections[section_id].model_copy(update={"name": name})
    return changed(entity, sections=entity.sections | {section_id: section})


def with_product_renamed(
    way: Any, entities: Sequence[Any], place: tuple[str, str, str], new: str
) -> list[Any]:
    menu_name, section, _ = place
    section_id, product_id = str(id_of(menu_name, section)), id_of(*place)
    made = []
    for entity in entities:
        if way is document:
            if section_id in entity.sections:
                inner = entity.sections[section_id]
                product = inner.products[str(product_id)].model_copy(update={"name": new})
                products = inner.products | {str(product_id): product}
                inner = inner.model_copy(update={"products": products})
                entity = changed(entity, sections=entity.sections | {section_id: inner})
        elif isinstance(entity, way.Product) and (
            entity.id == product_id
            if way is joins
            else (entity.menu, entity.section, entity.name) == place
        ):
            entity = changed(entity, name=new)
        made.append(entity)
    return made


def rename_menu(db: Database, way: Any, old: str, new: str) -> None:
    if way is document:
        db.run(document.rename_menu(id_of(old), new))
    elif way is joins:
        found = db.run(joins.menu_by_name(old))
        assert found is not None
        sections = list(db.iterate(joins.sections_by_menu(found.id, old)))
        while len(sections) > 98:
            db.run(joins.move_sections(sections[:100], new))
            del sections[:100]
        db.run(joins.rename_menu(found, sections, new))
    else:
        db.run(way.rename_menu(old, new))


def rename_section(db: Database, way: Any, menu_name: str, old: str, new: str) -> None:
    section_id = id_of(menu_name, old)
    if way is document:
        db.run(document.rename_section(id_of(menu_name), str(section_id), new))
    elif way is composite:
        db.run(composite.rename_section(menu_name, old, new))
    elif way is collection:
        section = db.run(collection.Section.primary(menu_name, old))
        assert section is not None
        products = list(db.iterate(collection.products_by_section(menu_name, old)))
        while len(products) > 49:
            db.run(collection.move_products(products[:50], new))
            del products[:50]
        db.run(collection.rename_section(section, products, new))
    else:
        joined = db.run(joins.section_by_name(id_of(menu_name), menu_name, old))
        assert joined is not None
        children = list(db.iterate(joins.products_by_section(section_id, old)))
        while len(children) > 98:
            db.run(joins.move_products(children[:100], new))
            del children[:100]
        db.run(joins.rename_section(joined, children, new))


def rename_product(db: Database, way: Any, place: tuple[str, str, str], new: str) -> None:
    menu_name, section, old = place
    if way is document:
        db.run(
            document.rename_product(
                id_of(menu_name), str(id_of(menu_name, section)), str(id_of(*place)), new
            )
        )
    elif way is joins:
        db.run(joins.rename_product(id_of(*place), old, new))
    else:
        db.run(way.rename_product(*place, new))


#: 144 rows below one menu, beside a menu whose name goes on from its name.
LARGE: Carte = {
    "Lunch": {
        f"Section {s:02}": {f"Product {p:02}": ["Egg"] for p in range(11)} for s in range(12)
    },
    "Lunch Deluxe": CARTE["Lunch Deluxe"],
}
#: More children than a transaction has room for, one level below a menu, and below a section.
WIDE: Carte = {
    "Lunch": {f"Section {s:03}": {"Bread": ["Egg"]} for s in range(120)},
    "Lunch Deluxe": {
        "Soups": {f"Soup {p:03}": ["Celery"] for p in range(120)},
        "Soups of the Day": {"Tomato": []},
    },
}
CARTES = {"sample": CARTE, "large": LARGE, "wide": WIDE}


def assert_same_as_built_anew(db: Database, way: ModuleType, entities: Sequence[Any]) -> None:
    """The table and its indexes are what they are where these were put into an empty one."""
    with holding(way, entities) as anew:
        assert everything(db, way) == everything(anew, way)
    assert engine(db).check()


@pytest.mark.parametrize("carte", CARTES)
@pytest.mark.parametrize("way", WAYS)
def test_rename_a_menu(way: Any, carte: str) -> None:
    entities = way.sample(CARTES[carte])
    with holding(way, entities) as db:
        rename_menu(db, way, "Lunch", "Lunch Menu")
        renamed = with_menu_renamed(way, entities, "Lunch", "Lunch Menu")
        assert renamed != entities
        assert_same_as_built_anew(db, way, renamed)
        assert db.run(way.menu_by_name("Lunch")) is None
        assert db.run(way.menu_by_name("Lunch Menu")) is not None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("carte", "menu_name", "old"),
    [
        ("sample", "Lunch", "Desserts"),
        ("large", "Lunch", "Section 07"),
        ("wide", "Lunch Deluxe", "Soups"),
    ],
)
def test_rename_a_section(way: Any, carte: str, menu_name: str, old: str) -> None:
    entities = way.sample(CARTES[carte])
    with holding(way, entities) as db:
        rename_section(db, way, menu_name, old, "Sweets")
        renamed = with_section_renamed(way, entities, menu_name, old, "Sweets")
        assert renamed != entities
        assert_same_as_built_anew(db, way, renamed)


@pytest.mark.parametrize("way", WAYS)
def test_rename_a_product(way: Any) -> None:
    entities = way.sample()
    place = ("Breakfast", "Desserts", "Bread")
    with holding(way, entities) as db:
        rename_product(db, way, place, "Toast")
        renamed = with_product_renamed(way, entities, place, "Toast")
        assert renamed != entities
        assert_same_as_built_anew(db, way, renamed)


@pytest.mark.parametrize("way", WAYS)
def test_a_rename_there_and_back_leaves_everything_as_it_was(way: Any) -> None:
    entities = way.sample()
    with holding(way, entities) as db:
        for old, new in (("Lunch", "Dinner"), ("Dinner", "Lunch")):
            if way is document:
                db.run(document.rename_menu(LUNCH, new))
            else:
                rename_menu(db, way, old, new)
        assert_same_as_built_anew(db, way, entities)


@pytest.mark.parametrize("way", [collection, composite])
def test_a_menu_is_not_renamed_to_a_name_that_is_taken(way: Any) -> None:
    entities = way.sample()
    with holding(way, entities) as db:
        with pytest.raises(AlreadyExists):
            db.run(way.rename_menu("Lunch", "Lunch Deluxe"))
        assert_same_as_built_anew(db, way, entities)


# -- the comparison ------------------------------------------------------------------------------


def test_the_comparison_has_every_way_for_every_row_of_the_document(results: list[Result]) -> None:
    compared = compare.compare(results)
    for pattern in (
        "Get Menu by Name",
        "Get Sections by Menu",
        "Get Products by Section",
        "Update Menu",
        "Update Section",
        "Update Product",
        "Rename a menu",
        "Rename a section",
        "Rename a product",
    ):
        assert list(compared[pattern]) == list(menu.WAYS)


def test_reads_have_read_units_and_writes_have_write_units(results: list[Result]) -> None:
    for pattern, ways in compare.compare(results).items():
        for cost in ways.values():
            if pattern.startswith("Get"):
                assert cost.read_units > 0
                assert cost.write_units == 0
            else:  # a rename reads what it moves
                assert cost.write_units > 0
            assert cost.requests >= 1


def test_the_comparison_shows_what_its_words_say(results: list[Result]) -> None:
    compared = compare.compare(results)
    sections, whole = compared["Get Sections by Menu"], compared["Get the whole menu"]
    assert sections["collection"].items == sections["joins"].items == 4
    assert sections["composite"].items == 4 + 7  # with the products between them
    assert {way: cost.items for way, cost in whole.items()} == {
        "collection": 12,
        "composite": 12,
        "document": 1,
    }
    assert compared["Get Sections by Menu, from its name"]["joins"].requests == 2
    for pattern in ("Update Menu", "Update Section", "Update Product"):
        costs = {way: cost.write_units for way, cost in compared[pattern].items()}
        assert costs["collection"] == costs["composite"] == 1
        assert 1 < costs["joins"] < costs["document"]
    for pattern in ("Rename a menu", "Rename a section", "Rename a product"):
        costs = {way: cost.write_units for way, cost in compared[pattern].items()}
        assert costs["document"] <= min(costs.values())
        assert compared[pattern]["document"].requests == 1


COMPARED = {
    "Get Menu by Name": {
        "collection": compare.Cost(requests=1, items=1, read_units=0.5, write_units=0),
        "joins": compare.Cost(requests=2, items=5, read_units=1.0, write_units=0),
    },
    "Rename a menu": {
        "collection": compare.Cost(requests=3, items=9, read_units=0, write_units=34.0),
    },
}


def test_the_comparison_as_markdown() -> None:
    assert compare.as_markdown(COMPARED) == (
        "| pattern | way | requests | items read | read units | write units |\n"
        "| --- | --- | ---: | ---: | ---: | ---: |\n"
        "| Get Menu by Name | collection | 1 | 1 | 0.5 | 0 |\n"
        "|  | joins | 2 | 5 | 1 | 0 |\n"
        "| Rename a menu | collection | 3 | 9 | 0 | 34 |\n"
    )


def test_the_comparison_as_a_table() -> None:
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as captured:
        console.print(compare.as_table(COMPARED))
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in captured.get().splitlines()
        if line.startswith("│")
    ]
    assert lines == [
        ["Get Menu by Name", "collection", "1", "1", "0.5", "0"],
        ["", "joins", "2", "5", "1", "0"],
        ["Rename a menu", "collection", "3", "9", "0", "34"],
    ]
