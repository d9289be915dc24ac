"""Renames in each variant: the result equals a table that had the new name from the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.document.checks import sort_id_of
from tablewright.designs.menu.sample_menus import SAMPLE_MENUS, MenuTree, id_of
from tablewright.errors import AlreadyExists
from tablewright.verify import changed
from tests.designs.menu.support import LUNCH, LUNCH_SORT, SAMPLES, TABLES, VARIANTS, items


def everything(client: Any, variant: ModuleType) -> dict[str | None, list[dict[str, Any]]]:
    """Return the items of a variant's table and of each of its indexes."""
    names = [None, *TABLES[variant].__table__.indexes]
    return {index: items(client, variant, index) for index in names}


#: Replaces the table of a variant by a new one with these entities.
NewTable = Callable[[ModuleType, Sequence[Any]], Database]


@pytest.fixture
def new_table(engine: Engine) -> NewTable:
    def create(variant: ModuleType, entities: Sequence[Any]) -> Database:
        name = TABLES[variant].__table__.name
        if name in engine.call("ListTables", {})["TableNames"]:
            engine.call("DeleteTable", {"TableName": name})
        database = connect(engine, TABLES[variant])
        for entity in entities:
            database.run(put(entity))
        return database

    return create


def with_menu_renamed(variant: Any, entities: Sequence[Any], old: str, new: str) -> list[Any]:
    """Return the entities of a menu that had the new name from the start."""
    return [
        changed(entity, name=new)
        if isinstance(entity, variant.Menu) and entity.name == old
        else changed(entity, menu=new)
        if getattr(entity, "menu", None) == old
        else entity
        for entity in entities
    ]


def with_section_renamed(
    variant: Any, entities: Sequence[Any], menu_name: str, old: str, new: str
) -> list[Any]:
    section_id = id_of(menu_name, old)
    if variant is document:
        return [_with_section_name(entity, str(section_id), new) for entity in entities]
    renamed: list[Any] = []
    for entity in entities:
        if isinstance(entity, variant.Section) and (entity.menu, entity.name) == (menu_name, old):
            entity = changed(entity, name=new)
        elif isinstance(entity, variant.Product) and (
            entity.section_id == section_id
            if variant is joins
            else (entity.menu, entity.section) == (menu_name, old)
        ):
            entity = changed(entity, section=new)
        renamed.append(entity)
    return renamed


def _with_section_name(entity: document.Menu, section_id: str, name: str) -> document.Menu:
    if section_id not in entity.sections:
        return entity
    section = entity.sections[section_id].model_copy(update={"name": name})
    return changed(entity, sections=entity.sections | {section_id: section})


def with_product_renamed(
    variant: Any, entities: Sequence[Any], place: tuple[str, str, str], new: str
) -> list[Any]:
    menu_name, section, _ = place
    section_id, product_id = str(id_of(menu_name, section)), id_of(*place)
    renamed: list[Any] = []
    for entity in entities:
        if variant is document:
            if section_id in entity.sections:
                inner = entity.sections[section_id]
                product = inner.products[str(product_id)].model_copy(update={"name": new})
                products = inner.products | {str(product_id): product}
                inner = inner.model_copy(update={"products": products})
                entity = changed(entity, sections=entity.sections | {section_id: inner})
        elif isinstance(entity, variant.Product) and (
            entity.id == product_id
            if variant is joins
            else (entity.menu, entity.section, entity.name) == place
        ):
            entity = changed(entity, name=new)
        renamed.append(entity)
    return renamed


def rename_menu(db: Database, variant: Any, old: str, new: str) -> None:
    if variant is document:
        db.run(document.rename_menu(id_of(old), sort_id_of(old), new))
    elif variant is joins:
        found = db.run(joins.menu_by_name(old))
        assert found is not None
        sections = list(db.iterate(joins.sections_by_menu(found.id, old)))
        if len(sections) > 96:
            db.run(joins.create_menu(changed(found, name=new, section_count=0)))
            while sections:
                db.run(joins.move_sections(found, sections[:98], new))
                del sections[:98]
            db.run(joins.delete_menu(found.id, old))
        else:
            db.run(joins.rename_menu(found, sections, new))
    else:
        db.run(variant.rename_menu(old, new))


def rename_section(db: Database, variant: Any, menu_name: str, old: str, new: str) -> None:
    section_id = id_of(menu_name, old)
    if variant is document:
        db.run(
            document.rename_section(id_of(menu_name), sort_id_of(menu_name), str(section_id), new)
        )
    elif variant is composite:
        db.run(composite.rename_section(menu_name, old, new))
    elif variant is collection:
        section = db.run(collection.Section.primary(menu_name, old))
        assert section is not None
        products = list(db.iterate(collection.products_by_section(menu_name, old)))
        if len(products) > 49:
            db.run(collection.add_section(collection.Section(menu=menu_name, name=new)))
            while products:
                db.run(collection.move_products(section, products[:49], new))
                del products[:49]
            db.run(collection.delete_section(section, []))
        else:
            db.run(collection.rename_section(section, products, new))
    else:
        joined = db.run(joins.section_by_name(id_of(menu_name), menu_name, old))
        assert joined is not None
        children = list(db.iterate(joins.products_by_section(section_id, old)))
        if len(children) > 98:
            db.run(joins.add_section(changed(joined, name=new, product_count=0)))
            while children:
                db.run(joins.move_products(joined, children[:98], new))
                del children[:98]
            db.run(joins.delete_section(joined))
        else:
            db.run(joins.rename_section(joined, children, new))


def rename_product(db: Database, variant: Any, place: tuple[str, str, str], new: str) -> None:
    menu_name, section, old = place
    if variant is document:
        db.run(
            document.rename_product(
                id_of(menu_name),
                sort_id_of(menu_name),
                str(id_of(menu_name, section)),
                str(id_of(*place)),
                new,
            )
        )
    elif variant is joins:
        db.run(joins.rename_product(id_of(*place), old, new))
    else:
        db.run(variant.rename_product(*place, new))


#: 144 items below one menu, beside a menu with the same prefix in its name.
LARGE: MenuTree = {
    "Lunch": {
        f"Section {s:02}": {f"Product {p:02}": ["Egg"] for p in range(11)} for s in range(12)
    },
    "Lunch Deluxe": SAMPLE_MENUS["Lunch Deluxe"],
}
#: More children than one transaction can contain, one level below a menu and below a section.
WIDE: MenuTree = {
    "Lunch": {f"Section {s:03}": {"Bread": ["Egg"]} for s in range(120)},
    "Lunch Deluxe": {
        "Soups": {f"Soup {p:03}": ["Celery"] for p in range(120)},
        "Soups of the Day": {"Tomato": []},
    },
}
MENUS = {"sample": SAMPLE_MENUS, "large": LARGE, "wide": WIDE}


@pytest.mark.parametrize("menus", MENUS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_rename_a_menu(new_table: NewTable, client: Any, variant: Any, menus: str) -> None:
    entities = SAMPLES[variant](MENUS[menus])
    db = new_table(variant, entities)
    rename_menu(db, variant, "Lunch", "Lunch Menu")
    assert db.run(variant.menu_by_name("Lunch")) is None
    assert db.run(variant.menu_by_name("Lunch Menu")) is not None
    found = everything(client, variant)
    renamed = with_menu_renamed(variant, entities, "Lunch", "Lunch Menu")
    assert renamed != entities
    new_table(variant, renamed)
    assert everything(client, variant) == found


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("menus", "menu_name", "old"),
    [
        ("sample", "Lunch", "Desserts"),
        ("large", "Lunch", "Section 07"),
        ("wide", "Lunch Deluxe", "Soups"),
    ],
)
def test_rename_a_section(
    new_table: NewTable, client: Any, variant: Any, menus: str, menu_name: str, old: str
) -> None:
    entities = SAMPLES[variant](MENUS[menus])
    rename_section(new_table(variant, entities), variant, menu_name, old, "Sweets")
    found = everything(client, variant)
    renamed = with_section_renamed(variant, entities, menu_name, old, "Sweets")
    assert renamed != entities
    new_table(variant, renamed)
    assert everything(client, variant) == found


@pytest.mark.parametrize("variant", VARIANTS)
def test_rename_a_product(new_table: NewTable, client: Any, variant: Any) -> None:
    entities = SAMPLES[variant]()
    place = ("Breakfast", "Desserts", "Bread")
    rename_product(new_table(variant, entities), variant, place, "Toast")
    found = everything(client, variant)
    renamed = with_product_renamed(variant, entities, place, "Toast")
    assert renamed != entities
    new_table(variant, renamed)
    assert everything(client, variant) == found


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rename_and_its_reversal_change_nothing(
    new_table: NewTable, client: Any, variant: Any
) -> None:
    db = new_table(variant, SAMPLES[variant]())
    before = everything(client, variant)
    for old, new in (("Lunch", "Dinner"), ("Dinner", "Lunch")):
        if variant is document:
            db.run(document.rename_menu(LUNCH, LUNCH_SORT, new))
        else:
            rename_menu(db, variant, old, new)
    assert everything(client, variant) == before


@pytest.mark.parametrize("variant", [collection, composite])
def test_a_menu_is_not_renamed_to_a_name_that_is_taken(
    db: Database, client: Any, variant: Any
) -> None:
    before = everything(client, variant)
    with pytest.raises(AlreadyExists):
        db.run(variant.rename_menu("Lunch", "Lunch Deluxe"))
    assert everything(client, variant) == before
