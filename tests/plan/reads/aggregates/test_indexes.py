"""Aggregates that an index joins."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Aggregate, children, root
from tablewright.database import Database
from tablewright.errors import DeclarationError, TablewrightError
from tests.plan.reads.aggregates.sales import (
    Captain,
    JoinedMenu,
    JoinedProduct,
    JoinedSection,
    Order,
    OrderWithItems,
    Player,
    body_of,
    item,
    order,
    store,
)

# -- joins by an index: the second way of the menu -------------------------------------------------


class MenuWithSections(Aggregate):
    menu: JoinedMenu = root()
    sections: list[JoinedSection] = children()


class SectionWithProducts(Aggregate):
    section: JoinedSection = root()
    products: list[JoinedProduct] = children()


@pytest.fixture
def joined(db: Database) -> Database:
    store(db, JoinedMenu(uid="m1", name="Lunch"), JoinedMenu(uid="m10", name="Lunch"))
    for uid, name in (("s1", "Soups"), ("s2", "Fish")):
        store(db, JoinedSection(uid=uid, name=name, menu_uid="m1", menu_name="Lunch"))
    store(db, JoinedSection(uid="s3", name="Other", menu_uid="m10", menu_name="Lunch"))
    for uid in ("p1", "p2", "p3"):
        store(db, JoinedProduct(uid=uid, name=uid, section_uid="s1", section_name="Soups"))
    return db


def test_an_aggregate_by_an_index(joined: Database) -> None:
    found = joined.run(MenuWithSections.of(JoinedMenu.join("m1", "Lunch")))
    assert found is not None
    assert found.menu.uid == "m1"
    assert [section.name for section in found.sections] == ["Fish", "Soups"]


def test_each_join_has_its_own_index(joined: Database) -> None:
    found = joined.run(SectionWithProducts.of(JoinedSection.join("s1", "Soups")))
    assert found is not None
    assert [product.uid for product in found.products] == ["p1", "p2", "p3"]


def test_a_limit_by_an_index(joined: Database) -> None:
    plan = MenuWithSections.of(JoinedMenu.join("m1", "Lunch")).limit(1)
    found = joined.run(plan)
    assert found is not None
    assert [section.name for section in found.sections] == ["Fish"]


def test_a_limit_is_refused_where_the_root_of_an_index_is_not_first(joined: Database) -> None:
    plan = SectionWithProducts.of(JoinedSection.join("s1", "Soups"))
    with pytest.raises(DeclarationError, match=r"read it with desc\(\)"):
        joined.run(plan.limit(1))
    found = joined.run(plan.desc().limit(1))
    assert found is not None
    assert [product.uid for product in found.products] == ["p3"]


def test_an_aggregate_by_a_global_index_cannot_be_read_consistently() -> None:
    with pytest.raises(DeclarationError, match="cannot be read consistently"):
        MenuWithSections.of(JoinedMenu.join("m1", "Lunch")).consistent()


def test_children_below_their_root_in_an_index_are_read_by_its_key(db: Database) -> None:
    store(db, order("1", state="open"), item("1", "a", state="open"))
    store(db, order("10", state="open"), item("10", "a", state="open"))
    plan = OrderWithItems.of(Order.by_state("open").eq("1"))
    found = db.run(plan)
    assert found is not None
    assert found.order.order_id == "1"
    assert [one.order_id for one in found.items] == ["1"]
    assert body_of(plan, db)["IndexName"] == "by_state"


@pytest.mark.parametrize(
    "change",
    [
        lambda root: root.desc(),
        lambda root: root.page_size(1),
        lambda root: root.filter(JoinedMenu.uid == "other"),
        lambda root: root.after("cursor"),
        lambda root: root.select(JoinedMenu.uid),
    ],
    ids=["desc", "limit", "filter", "resume", "select"],
)
def test_what_was_asked_of_the_root_is_not_dropped_silently(change: Any, joined: Database) -> None:
    """It means what it means on the aggregate, or it is refused."""
    root = JoinedMenu.join("m1", "Lunch")
    plain = joined.run(MenuWithSections.of(root))
    try:
        changed = joined.run(MenuWithSections.of(change(root)))
    except TablewrightError:
        return
    assert changed != plain


def test_a_range_of_roots_is_refused_or_read_as_a_range(joined: Database) -> None:
    root: Any = Order.by_state("open").gte("5")
    store(joined, order("1", state="open"), order("7", state="open"))
    try:
        found: Any = joined.run(OrderWithItems.of(root))
    except TablewrightError:
        return
    assert found.order.order_id == "7"


# -- natural keys ----------------------------------------------------------------------------------


class Team(Aggregate):
    captain: Captain = root()
    players: list[Player] = children()


def test_an_aggregate_by_natural_keys(db: Database) -> None:
    players = [Player(name=f"p{place}", team="reds", place=place) for place in (2, 9, 10)]
    store(db, Captain(name="ann", team="reds"), *players, Captain(name="bob", team="blues"))
    found = db.run(Team.of(Captain.by_place("reds")))
    assert found is not None
    assert found.captain.name == "ann"
    assert found.players == players
