"""Scans: refused unless declared with a reason."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    Attr,
    Query,
    access_pattern,
    attr,
    explain,
    index,
    put,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.plans import Scan
from tests.model.patterns.club import MONDAY, Number, User
from tests.model.patterns.found import ITEMS, Fuzzy, Item
from tests.new_table import new_indexed_table, new_table
from tests.things import NamedEntity


def test_an_undeclared_scan_is_refused_with_the_index_that_would_serve_it() -> None:
    with pytest.raises(DeclarationError) as refusal:

        @access_pattern
        def made_since(since: datetime) -> Query[Item]:
            return Item.where(Item.made >= since, Item.rank == 3)

    said = str(refusal.value)
    assert said.startswith(
        "pattern made_since: Item.where(made >= {since} and rank = 3) would be a scan: "
    )
    assert 'in Found: by_rank = GSI("rank", "GSI' in said
    assert 'in Item: by_rank = index(Found.by_rank, rank, "ITEM" / made / item_id)' in said
    assert 'Item.scan(reason="…").filter(…)' in said


def test_the_index_that_is_proposed_serves_the_pattern() -> None:
    class Row(NamedEntity, table=new_table("small")):
        sku: Attr[str] = attr()

    with pytest.raises(DeclarationError) as refusal:
        Row.where(Row.sku == "x")
    assert 'by_sku = index(Small.by_sku, "SKU" / sku, "ROW" / name)' in str(refusal.value)

    wide = new_indexed_table("pattern_wide")

    class Line(NamedEntity, table=wide):
        sku: Attr[str] = attr()
        by_sku = index(wide.gsi1, "SKU" / sku, "ROW" / NamedEntity.name)

    assert Line.where(Line.sku == "x")._shape().index == "gsi1"


def test_where_without_a_condition_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Item\.where\(\) needs a condition.*scan\(reason="):
        Item.where()


@pytest.mark.parametrize(
    "conditions",
    [
        (Item.color != "red",),
        (Item.owner > "a",),
        (Item.owner.begins_with("a"),),
        ((Item.owner == "ann") | (Item.owner == "bob"),),
        (~(Item.owner == "ann"),),
        (Item.rank == 7,),  # the index on it holds some of the items only
    ],
    ids=str,
)
def test_what_no_key_serves_is_refused(conditions: Any) -> None:
    with pytest.raises(DeclarationError, match="would be a scan"):
        Item.where(*conditions)


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_scan_needs_its_reason(reason: str) -> None:
    with pytest.raises(DeclarationError, match=r"Item\.scan\(\) needs its reason"):
        Item.scan(reason=reason)


def test_a_declared_scan_gives_the_items_of_the_entity(found: Database) -> None:
    found.run(put(Fuzzy(name="x", group="g", at=MONDAY)))
    everything = sorted(found.iterate(Item.scan(reason="a test")), key=lambda item: item.item_id)
    assert everything == ITEMS
    assert found.run(Item.scan(reason="a test").count()) == 12


def test_a_declared_scan_can_be_filtered_selected_and_cut_into_pages(found: Database) -> None:
    scan = Item.scan(reason="a test").filter(Item.owner == "ann")
    assert {item.item_id for item in found.iterate(scan.page_size(2))} == {
        item.item_id for item in ITEMS if item.owner == "ann"
    }
    assert len(found.run(scan.page_size(2))) == 2
    columns = sorted(found.iterate(scan.select(Item.item_id)))
    assert columns == [(item.item_id,) for item in ITEMS if item.owner == "ann"]


def test_a_scan_has_no_order() -> None:
    with pytest.raises(DeclarationError, match="a scan has no order"):
        Item.scan(reason="a test").desc()


def test_the_size_of_a_page_of_a_scan_can_be_an_argument() -> None:
    @access_pattern
    def some(size: int) -> Scan[User]:
        return User.scan(reason="a test").page_size(size)

    assert explain(some).page == "{size}, read until it is full, in up to 64 requests"


def test_a_scan_can_be_filtered_by_the_attributes_of_a_key(db: Database) -> None:
    """DynamoDB forbids that in a query, whose key condition is the place for it."""
    for number in (1, 2, 3):
        db.run(put(Number(series="s", number=number)))
    scan = Number.scan(reason="a test").filter(Number.number >= 2)
    assert sorted(one.number for one in db.iterate(scan)) == [2, 3]
