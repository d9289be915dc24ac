"""A child that is added while its parent is renamed or deleted keeps a parent, or goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tablewright import Engine, connect
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.designs.menu import collection, composite, joins
from tablewright.errors import ConditionFailed, NotFound, WriteRejected
from tablewright.verify import changed
from tests.designs.menu.support import DESSERTS, LUNCH, TABLES, items, keys
from tests.designs.stored import query
from tests.transports import InterferingTransport


@pytest.fixture
def other(engine: Engine, monkeypatch: pytest.MonkeyPatch, db: Database) -> Database:
    """Return the database of another client."""
    monkeypatch.setattr("tablewright.plan.writes.write.CONTENTION", Backoff(6, 0.0, 0.0))
    return connect(engine, *TABLES.values())


def names(client: Any, variant: Any) -> set[tuple[str, ...]]:
    """Return the names of each item, from the menu down, as stored; the sentinels have none."""
    attributes = ("MenuName", "SectionName", "ProductName")
    return {
        tuple(item[name]["S"] for name in attributes if name in item)
        for item in items(client, variant)
    }


def orphans(client: Any, variant: Any) -> set[tuple[str, ...]]:
    """Return the items whose parent does not exist."""
    found = names(client, variant)
    return {place for place in found if len(place) > 1 and place[:-1] not in found}


# -- names as keys: a rename or a delete reads again ---------------------------------------------


class Race(NamedTuple):
    """A rename or a delete, and what another client adds meanwhile."""

    plan: Any
    add: Any
    #: Where the added item is afterwards; None if it is deleted with its parent.
    place: tuple[str, ...] | None


SALADS = {
    variant: variant.Section(menu="Lunch", name="Salads") for variant in (collection, composite)
}
LEEK = {
    variant: variant.Product(menu="Lunch", section="Soups", name="Leek")
    for variant in (collection, composite)
}
RACES: dict[str, Callable[[Any], Race]] = {
    "rename a menu, add a section": lambda variant: Race(
        variant.rename_menu("Lunch", "Dinner"),
        variant.add_section(SALADS[variant]),
        ("Dinner", "Salads"),
    ),
    "rename a menu, add a product": lambda variant: Race(
        variant.rename_menu("Lunch", "Dinner"),
        variant.add_product(LEEK[variant]),
        ("Dinner", "Soups", "Leek"),
    ),
    "delete a menu, add a section": lambda variant: Race(
        variant.delete_menu("Lunch"), variant.add_section(SALADS[variant]), None
    ),
    "delete a menu, add a product": lambda variant: Race(
        variant.delete_menu("Lunch"), variant.add_product(LEEK[variant]), None
    ),
}
SECTION_RACES = {
    "rename a section, add a product": Race(
        composite.rename_section("Lunch", "Soups", "Broths"),
        composite.add_product(LEEK[composite]),
        ("Lunch", "Broths", "Leek"),
    ),
    "delete a section, add a product": Race(
        composite.delete_section("Lunch", "Soups"), composite.add_product(LEEK[composite]), None
    ),
}


def run_race(db: Database, other: Database, race: Race) -> None:
    """Run the plan; the other client adds its item after the reads, before the first write."""
    db._transport = InterferingTransport(db._transport, lambda _: other.run(race.add))
    db.run(race.plan)


def check_race(client: Any, variant: Any, race: Race) -> None:
    assert orphans(client, variant) == set()
    late = {place for place in names(client, variant) if place[-1] in ("Salads", "Leek")}
    assert late == ({race.place} if race.place else set())


@pytest.mark.parametrize("variant", [collection, composite])
@pytest.mark.parametrize("name", RACES)
def test_an_item_that_is_added_below_a_menu_meanwhile(
    db: Database, other: Database, client: Any, variant: Any, name: str
) -> None:
    race = RACES[name](variant)
    run_race(db, other, race)
    check_race(client, variant, race)
    with pytest.raises(NotFound):  # afterwards there is no menu of this name
        other.run(variant.add_section(variant.Section(menu="Lunch", name="Late")))


@pytest.mark.parametrize("name", SECTION_RACES)
def test_a_product_that_is_added_below_a_section_meanwhile(
    db: Database, other: Database, client: Any, name: str
) -> None:
    run_race(db, other, SECTION_RACES[name])
    check_race(client, composite, SECTION_RACES[name])


# -- joins: the caller reads the children, so the caller reads again ------------------------------


def parent_key(client: Any, name: str) -> str:
    """Return the index key that joins a section or a product to its parent, as stored."""
    ((kind, item),) = (
        (kind, item)
        for item in items(client, joins)
        for kind in ("SectionName", "ProductName")
        if item.get(kind) == {"S": name}
    )
    key: str = item["GSI1PK" if kind == "SectionName" else "GSI2PK"]["S"]
    return key


def menu_and_sections(db: Database) -> tuple[joins.Menu, list[joins.Section]]:
    menu = db.run(joins.menu_by_name("Lunch"))
    assert menu is not None
    return menu, list(db.run(joins.sections_by_menu(LUNCH, "Lunch")))


def section_and_products(db: Database) -> tuple[joins.Section, list[joins.Product]]:
    section = db.run(joins.section_by_name(LUNCH, "Lunch", "Desserts"))
    assert section is not None
    return section, list(db.run(joins.products_by_section(DESSERTS, "Desserts")))


GRILL = joins.Section(name="Grill", menu_id=LUNCH, menu="Lunch")
SORBET = joins.Product(name="Sorbet", section_id=DESSERTS, section="Desserts")


@pytest.mark.parametrize(
    ("read", "rename", "add", "parent"),
    [
        (
            menu_and_sections,
            joins.rename_menu,
            joins.add_section(GRILL),
            f"MENU#{LUNCH}#MENU#Dinner",
        ),
        (
            section_and_products,
            joins.rename_section,
            joins.add_product(SORBET),
            f"SECTION#{DESSERTS}#SECTION#Dinner",
        ),
    ],
    ids=["a section", "a product"],
)
def test_with_joins_a_child_that_is_added_before_a_rename_of_its_parent(
    db: Database,
    other: Database,
    client: Any,
    read: Callable[[Database], tuple[Any, list[Any]]],
    rename: Callable[..., Any],
    add: Any,
    parent: str,
) -> None:
    found = read(db)
    other.run(add)
    before = items(client, joins)
    with pytest.raises(ConditionFailed):
        db.run(rename(*found, "Dinner"))
    assert items(client, joins) == before
    db.run(rename(*read(db), "Dinner"))
    assert parent_key(client, "Grill" if rename is joins.rename_menu else "Sorbet") == parent


def test_with_joins_a_child_that_is_added_between_the_reads_and_the_write_of_a_rename(
    db: Database, other: Database, client: Any
) -> None:
    """The plan has read all items and has not yet sent its transaction."""
    rename = joins.rename_menu(*menu_and_sections(db), "Dinner")
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(joins.add_section(GRILL))
    )
    with pytest.raises(ConditionFailed):
        db.run(rename)
    assert keys(client, joins, f"MENU#{LUNCH}") == ["MENU#Lunch"]
    assert parent_key(client, "Grill") == f"MENU#{LUNCH}#MENU#Lunch"


def test_with_joins_a_rename_in_steps_leaves_no_child_that_is_added_between_the_steps(
    db: Database, other: Database, client: Any
) -> None:
    menu, sections = menu_and_sections(db)
    db.run(joins.create_menu(changed(menu, name="Dinner", section_count=0)))
    db.run(joins.move_sections(menu, sections[:2], "Dinner"))
    other.run(joins.add_section(GRILL))
    db.run(joins.move_sections(menu, sections[2:], "Dinner"))
    with pytest.raises(ConditionFailed):  # the old menu has the new section
        db.run(joins.delete_menu(LUNCH, "Lunch"))
    db.run(joins.move_sections(*menu_and_sections(db), "Dinner"))
    db.run(joins.delete_menu(LUNCH, "Lunch"))
    with pytest.raises(NotFound):
        other.run(joins.add_section(joins.Section(name="Late", menu_id=LUNCH, menu="Lunch")))
    moved = query(client, "menu_joins", f'GSI1PK="MENU#{LUNCH}#MENU#Dinner"', "GSI1")
    assert [item["GSI1SK"]["S"].partition("#")[2] for item in moved] == [
        *("Dinner", "Desserts", "Desserts to Share", "Grill", "Hot Drinks", "Soups")
    ]
    (dinner,) = query(client, "menu_joins", f'pk="MENU#{LUNCH}"')
    assert (dinner["sk"]["S"], dinner["SectionCount"]["N"]) == ("MENU#Dinner", "5")


def test_with_joins_a_section_that_was_moved_meanwhile_is_not_moved_or_deleted_again(
    db: Database, other: Database, client: Any
) -> None:
    """Otherwise the old menu would count too few sections, and could be deleted with one."""
    menu, sections = menu_and_sections(db)
    (product,) = db.run(joins.products_by_section(DESSERTS, "Desserts"))
    db.run(joins.delete_product(product))
    other.run(joins.create_menu(changed(menu, name="Dinner", section_count=0)))
    other.run(joins.move_sections(menu, menu_and_sections(other)[1][:1], "Dinner"))
    before = items(client, joins)
    for plan in (
        joins.move_sections(menu, sections[:1], "Dinner"),
        joins.delete_section(sections[0]),
        joins.delete_product(product),
    ):
        with pytest.raises(WriteRejected):
            db.run(plan)
    assert items(client, joins) == before
