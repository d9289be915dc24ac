"""What `explain` states of a pattern, and what the engine consumes for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tablewright import connect
from tablewright.database import Database
from tablewright.designs.catalog import BUNDLED, load
from tablewright.designs.menu import collection, composite
from tablewright.engine import Engine
from tablewright.observe import PatternUsage, Usage
from tablewright.verify.checks import Check, Raises
from tablewright.verify.design import Design
from tablewright.verify.run import verify
from tests.costs import run_within_range

NAMES = list(BUNDLED)

#: The patterns whose cost depends on a number of items: those of whole collections and of lists;
#: and look-ups by an id in an index that a tenant's database filters.
DEPENDENT = {
    "commerce.create_order_with_items",
    "market.patterns.account_by_id",
    "market.patterns.bill_by_id",
    "market.patterns.cart_by_id",
    "market.patterns.inventory_item_by_id",
    "market.patterns.order_by_id",
    "market.patterns.order_item_by_id",
    "market.patterns.order_with_items",
    "market.patterns.payment_by_id",
    "market.patterns.place_order",
    "market.patterns.product_by_id",
    "market.patterns.put_into_cart",
    "market.patterns.reward_by_id",
    "market.patterns.user_by_id",
    "menu.collection.delete_menu",
    "menu.collection.delete_section",
    "menu.collection.move_products",
    "menu.collection.rename_menu",
    "menu.collection.rename_section",
    "menu.composite.delete_menu",
    "menu.composite.delete_section",
    "menu.composite.rename_menu",
    "menu.composite.rename_section",
    "menu.joins.move_products",
    "menu.joins.move_sections",
    "menu.joins.rename_menu",
    "menu.joins.rename_section",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_consumes_what_explain_states(name: str) -> None:
    design, usage = load(name), Usage()
    started: list[Check] = []
    shapes = {pattern.label: pattern.shape for pattern in design.patterns}

    def checks(stored: Any) -> Iterator[Check]:
        assert design.checks is not None
        for check in design.checks(stored):
            started.append(check)
            yield check

    with Engine(":memory:") as engine, connect(engine, *design.tables, observe=usage) as db:
        count, measured = 0, set()
        for result in verify(replace(design, checks=checks), db):
            count = max(count, stored_items(engine, design))
            shape, used = shapes[result.label], usage.by_pattern.pop(result.pattern, PatternUsage())
            assert (used.requests, used.units) == (result.requests, result.units)
            if used.requests == 0:
                continue  # it was refused before anything was sent
            reads = shape.read_range.for_items(count) * started[-1].pages
            writes = shape.write_range.for_items(count)
            assert reads.low <= result.read_units <= reads.high, (result, str(shape))
            low = 0 if isinstance(started[-1].expect, Raises) else writes.low
            assert low <= result.write_units <= writes.high, (result, str(shape))
            measured.add(result.label)
    assert measured == shapes.keys()


def stored_items(engine: Engine, design: Design) -> int:
    names = [table.__table__.name for table in design.tables]
    return sum(
        int(engine.call("Scan", {"TableName": name, "Select": "COUNT"})["Count"]) for name in names
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_range_of_a_pattern_is_finite(name: str) -> None:
    for pattern in load(name).patterns:
        for units in (pattern.shape.read_range, pattern.shape.write_range):
            assert math.isfinite(units.high), pattern.name
            assert math.isfinite(units.per_item), pattern.name


@pytest.mark.parametrize("name", NAMES)
def test_the_cost_of_some_patterns_depends_on_a_number_of_items(name: str) -> None:
    found = {
        pattern.label.removeprefix("tablewright.designs.")
        for pattern in load(name).patterns
        if pattern.shape.read_range.per_item or pattern.shape.write_range.per_item
    }
    assert found == {each for each in DEPENDENT if each.startswith(f"{name}.")}


@pytest.mark.parametrize("count", [0, 1, 40, 130])
@pytest.mark.parametrize("way", [collection, composite], ids=["collection", "composite"])
def test_a_move_or_a_delete_of_a_collection_consumes_what_its_size_allows(
    way: Any, count: int
) -> None:
    """Also where it takes several transactions."""
    with connect(":memory:", *way_tables(way)) as db:
        fill(db, way, count)
        items = count + 2  # the menu and its section
        run_within_range(db, way.rename_menu("Lunch", "Dinner"), items)
        assert len(db.run(way.Product.primary.within("Dinner"))) == count
        if way is composite:
            run_within_range(db, way.rename_section("Dinner", "Soups", "Stews"), count + 1)
            run_within_range(db, way.delete_section("Dinner", "Stews"), count + 1)
            items = 1
        run_within_range(db, way.delete_menu("Dinner"), items)
        assert db.run(way.menu_by_name("Dinner")) is None


@pytest.mark.parametrize("count", [0, 1, 40])
def test_a_transaction_of_a_list_consumes_what_its_length_allows(count: int) -> None:
    with connect(":memory:", *way_tables(collection)) as db:
        fill(db, collection, count)
        section = db.run(collection.section_by_name("Lunch", "Soups"))
        assert section is not None
        products = list(db.run(collection.products_by_section("Lunch", "Soups")))
        run_within_range(db, collection.rename_section(section, products, "Stews"), count)
        section = db.run(collection.section_by_name("Lunch", "Stews"))
        assert section is not None
        products = list(db.run(collection.products_by_section("Lunch", "Stews")))
        run_within_range(db, collection.delete_section(section, products), count)
        assert db.run(collection.section_by_name("Lunch", "Stews")) is None


def way_tables(way: Any) -> list[Any]:
    return [collection.Collection if way is collection else composite.Composite]


def fill(db: Database, way: Any, count: int) -> None:
    """Add a menu with one section and so many products."""
    db.run(way.create_menu(way.Menu(name="Lunch")))
    db.run(way.add_section(way.Section(menu="Lunch", name="Soups")))
    for number in range(count):
        db.run(way.add_product(way.Product(menu="Lunch", section="Soups", name=f"{number:03d}")))


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_of_a_pattern_and_of_each_request_is_in_its_range(name: str) -> None:
    for pattern in load(name).patterns:
        for shape in (pattern.shape, *pattern.shape.requests):
            assert shape.read_units in shape.read_range, (pattern.name, str(shape))
            assert shape.write_units in shape.write_range, (pattern.name, str(shape))
