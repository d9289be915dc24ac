"""The document of a design shows every kind of declaration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tablewright import GSI, Attr, Entity, Table, Tenancy, attr, connect, create, index, key
from tablewright.cost import measure_units
from tablewright.designs import menu
from tablewright.designs.catalog import BUNDLED, load
from tablewright.designs.commerce import Commerce, CustomerProfile
from tablewright.designs.market import Market, Order
from tablewright.designs.recipes import option2
from tablewright.engine import Engine
from tablewright.publish import document
from tablewright.publish.charts import entity_notes
from tablewright.verify import Design
from tests.commands import run
from tests.designs.stored import query
from tests.plan.writes.counted import Hub
from tests.test_docs import blocks


class Loans(Table, name="documented_loans", pk="copy", sk=None):
    due = GSI("GSI1PK", "due_day")
    borrowers = GSI("borrower")


class Copy(Entity, table=Loans):
    copy_id: Attr[str] = attr(name="copy")
    library: Attr[str] = attr()
    state: Attr[str] = attr(default="lent")
    due_day: Attr[str | None] = attr(default=None)
    borrower: Attr[str | None] = attr(default=None)
    primary = key(copy_id)
    overdue = index(Loans.due, "LIBRARY" / library, due_day, when=state == "lent")
    by_borrower = index(Loans.borrowers, borrower)


def sample() -> list[Copy]:
    due = "2026-01-05"
    return [
        Copy(copy_id="c1", library="L1", due_day=due, borrower="ann"),
        Copy(copy_id="c2", library="L" * 200, due_day=due, borrower="bob"),
    ]


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Area:
    corners: list[Point]
    around: Area | None


@cache
def document_of(name: str) -> str:
    """Return the document of a bundled design."""
    return document(load(name))


SHOP = document_of("shop")
DOCUMENT = document(Design("loans", "Loans.", (Loans,), sample, None))


def section(title: str) -> str:
    return DOCUMENT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_an_index_with_a_condition_shows_it() -> None:
    assert "| condition" in section("Indexes")
    assert "state = 'lent'" in section("Indexes")


@pytest.mark.parametrize(("copy", "borrower"), [("c1", "ann"), ("c2", "bob")])
def test_sample_items_show_attributes_that_are_index_keys_by_themselves(
    copy: str, borrower: str
) -> None:
    """Also of an item with long attributes, of which some are cut."""
    (row,) = [line for line in section("Sample item collections").splitlines() if copy in line]
    assert "due_day=2026-01-05" in row
    assert f"borrower={borrower}" in row
    assert "GSI1PK" not in row


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("market", "index `IdLookupIndex` (sparse, only items with `id`):"),
        ("market", "index `ReverseIndex`:"),
        ("commerce", "index `gsi_customer_orders` (sparse, only items of CustomerOrder):"),
    ],
)
def test_the_document_names_the_sparse_indexes(name: str, text: str) -> None:
    assert text in document_of(name)


def test_a_table_without_a_sort_key_has_no_column_for_it() -> None:
    header = section("Sample item collections").strip().splitlines()[0]
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["copy", "attributes"]


def test_a_design_without_patterns_has_no_empty_chart_of_them() -> None:
    assert "Access patterns" not in DOCUMENT


def test_the_partitions_of_a_tenant_show_who_may_access_them() -> None:
    class Desks(Table, name="documented_desks"):
        tenancy = Tenancy(
            "org", write=("ORG#{org}#*",), read=("BILL#{org}",), shared=("PLANS", "PLANS#*")
        )

    class Desk(Entity, table=Desks):
        org: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("ORG" / org / "DESK", name)

    text = document(Design("desks", "Desks.", (Desks,), list, None))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    for row in (
        ["`ORG#{org}#*`", "read, write"],
        ["`BILL#{org}`", "read"],
        ["`PLANS`", "read, as all tenants"],
        ["`PLANS#*`", "read, as all tenants"],
    ):
        assert row in rows


@pytest.mark.slow
def test_the_tutorial_can_be_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lending.py").write_text("\n\n".join(blocks("docs/tutorial.md", "python")))
    assert run("publish", "docs", "lending.py", "-o", "lending.md").returncode == 0
    assert "| condition" in (tmp_path / "lending.md").read_text()


def rows_of(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


def test_the_patterns_of_the_shop_show_their_order() -> None:
    rows = [row for row in rows_of(SHOP) if len(row) > 6]
    column = rows[0].index("Notes")
    notes = {row[2].strip("`"): row[column] for row in rows}
    assert notes["users"] == "order by id (creation time)"
    assert notes["users_by_email_prefix"] == "order by email"
    assert notes["products_by_brand"] == "order by category_id, created_at"
    assert notes["products_by_brand_and_category"] == "order by created_at"
    assert notes["orders_by_status"] == "order by updated_at"
    assert notes["user_by_id"] == notes["user_by_email"] == ""


@pytest.mark.parametrize("name", BUNDLED)
def test_each_pattern_shows_its_cost_as_explain_does(name: str) -> None:
    design = load(name)
    rows = [row for row in rows_of(document_of(name)) if len(row) > 6]
    column = rows[0].index("Cost")
    costs = {(row[2].strip("`"), row[column]) for row in rows}
    units = measure_units(design)
    for pattern in design.patterns:
        assert (pattern.name, units[pattern.label].show(pattern.shape)) in costs


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("update_profile", "one write by the exact key; changes keys of no index"),
        ("put_into_cart", "a query first; one write by the exact key; changes keys of no index"),
        ("bonuses", "one partition, by a prefix of the sort key"),
    ],
)
def test_a_reason_says_what_a_pattern_reads_and_changes(pattern: str, reason: str) -> None:
    rows = [row for row in rows_of(document_of("market")) if len(row) > 6]
    column = rows[0].index("Why efficient")
    assert [row[column] for row in rows if row[2] == f"`{pattern}`"] == [reason]


@pytest.mark.parametrize(
    ("design", "pattern", "column", "expected"),
    [
        ("market", "place_order", "Table/Index", "IdLookupIndex, ReverseIndex"),
        ("market", "update_profile", "Table/Index", "table"),
        ("market", "last_orders", "Notes", 'only tp="order"'),
        (
            "commerce",
            "update_order_status_with_history",
            "Notes",
            "if version = {expected_version}",
        ),
        ("recipes", "category_by_name", "Operation", "GetItem + GetItem"),
        ("shop", "products_by_brand", "Why efficient", "with items of Product only"),
        ("market", "product_by_system_key", "Why efficient", "InventoryItem and Product only"),
    ],
)
def test_a_pattern_shows_its_indexes_filter_operations_and_neighbours(
    design: str, pattern: str, column: str, expected: str
) -> None:
    rows = [row for row in rows_of(document_of(design)) if len(row) > 6]
    (row,) = (row for row in rows if row[2] == f"`{pattern}`")
    assert expected in row[rows[0].index(column)]


def test_entities_that_expire_are_listed_in_one_line() -> None:
    lines = [line for line in document_of("market").splitlines() if "expires at" in line]
    assert lines == [
        "- An item of Account, User, Cart, InventoryItem, Order, OrderItem, Bill, Payment, Product "
        "or Reward expires at the time in `ttl`, if it has one."
    ]


@pytest.mark.parametrize("name", BUNDLED)
def test_each_document_says_how_a_delimiter_inside_a_text_is_stored(name: str) -> None:
    assert "`#` is stored as `$!` and `$` as `$$`" in document_of(name)


def test_boto3_finds_a_key_that_is_written_as_the_document_says(
    engine: Engine, client: Any
) -> None:
    text = document_of("commerce")
    assert "with `a#b` for `{customerId}`, `CUST#{customerId}` is `CUST#a$!b`" in text
    written = customer_id = "a#b$c"
    for old, new in re.findall(r"\.replace\('(.)', '(..)'\)", text):
        written = written.replace(old, new)
    with connect(engine, Commerce) as db:
        db.run(
            create(CustomerProfile(customer_id=customer_id, name="Ann", email="ann@example.com"))
        )
    item = client.get_item(
        TableName="commerce_single_table",
        Key={"PK": {"S": f"CUST#{written}"}, "SK": {"S": f"PROFILE#{written}"}},
    )["Item"]
    assert item["customerId"] == {"S": customer_id}


def test_boto3_writes_an_attribute_that_is_a_whole_key_unchanged(
    engine: Engine, client: Any
) -> None:
    assert "unchanged in other attributes, also where one is a whole key: `id`." in document_of(
        "market"
    )
    with connect(engine, Market) as db:
        db.run(create(Order(user_id="a#b", business_id="A#1")))
    (item,) = query(client, "Market", 'id="A#1" AND tp="order"', "IdLookupIndex")
    assert (item["pk"]["S"], item["id"]["S"]) == ("U#a$!b#O", "A#1")


@pytest.mark.parametrize("name", ["menu", "recipes"])
def test_the_document_has_the_docstring_of_each_variant(name: str) -> None:
    text = document_of(name)
    for variant in (
        (menu.collection, menu.composite, menu.document, menu.joins)
        if name == "menu"
        else (option2,)
    ):
        (table,) = (each for each in vars(variant).values() if each in Table.__subclasses__())
        title = (variant.__doc__ or "").partition("\n")[0]
        assert f"## Table `{table.__table__.name}`\n\n{title}\n" in text


def test_a_delimiter_that_is_not_escaped_is_said_to_be_refused() -> None:
    class Seats(Table, name="documented_seats", delimiter="::", escape=False):
        pass

    class Seat(Entity, table=Seats):
        hall: Attr[str] = attr()
        number: Attr[int] = attr(pad=3)
        primary = key("HALL" / hall, "SEAT" / number)

    text = document(Design("seats", "Seats.", (Seats,), None, None))
    assert "`::` separates the parts of a key; a text in a key cannot contain it." in text


def test_keys_without_texts_have_no_note_on_delimiters() -> None:
    class Rows(Table, name="documented_rows"):
        pass

    class Row(Entity, table=Rows):
        number: Attr[int] = attr(pad=3)
        primary = key("ROW", number)

    text = document(Design("rows", "Rows.", (Rows,), None, None))
    assert "separates the parts" not in text


def test_the_diagram_shows_embedded_models_with_their_relations() -> None:
    diagram = SHOP.partition("erDiagram\n")[2].partition("```")[0]
    lines = [line.strip() for line in diagram.splitlines()]
    start = lines.index("ORDER_ITEM {")
    assert lines[start + 1 : start + 6] == [
        "KSUID_or_str id",
        "KSUID_or_str product_id FK",
        "int quantity",
        "Decimal price",
        "}",
    ]
    assert [line for line in lines if "ORDER_ITEM :" in line] == [
        "ORDER ||--o{ ORDER_ITEM : items",
        "PRODUCT ||--o{ ORDER_ITEM : product_id",
    ]


def test_an_attribute_refers_to_the_entity_whose_key_ends_with_it() -> None:
    """`order_id` is of a CustomerOrder, `item_id` of an InventoryItem."""
    commerce, market = document_of("commerce"), document_of("market")
    assert "    CUSTOMER_ORDER ||--o{ ORDER_STATUS_EVENT : orderId\n" in commerce
    assert "        str orderId PK, FK\n" in commerce
    assert "    INVENTORY_ITEM ||--o{ ORDER_ITEM : item_id\n" in market


def test_a_name_in_a_key_refers_to_the_entity_of_that_name() -> None:
    """The products of the item collection are not below the key of their section."""
    diagram = document_of("menu").partition("erDiagram\n")[2].partition("```")[0]
    lines = [line.strip() for line in diagram.splitlines()]
    assert lines[-3:] == [
        "MENU ||--o{ SECTION : MenuName",
        "MENU ||--o{ PRODUCT : MenuName",
        "SECTION ||--o{ PRODUCT : SectionName",
    ]
    assert "str SectionName PK, FK" in lines


def test_models_inside_of_models_are_in_the_diagram() -> None:
    class Maps(Table, name="documented_maps"):
        pass

    class Map(Entity, table=Maps):
        map_id: Attr[str] = attr()
        center: Attr[Point | None] = attr(default=None)
        areas: Attr[dict[str, Area]] = attr()
        primary = key("MAP", map_id)

    lines = document(Design("maps", "Maps.", (Maps,), None, None)).splitlines()
    relations = [line.strip() for line in lines if "||--" in line]
    assert relations == [
        "MAP ||--o| POINT : center",
        "MAP ||--o{ AREA : areas",
        "AREA ||--o{ POINT : corners",
        "AREA ||--o| AREA : around",
    ]


def test_a_document_says_what_is_counted() -> None:
    assert entity_notes(Hub.__table__).splitlines() == [
        "- Each write of Owner increments `version`.",
        "- Owner.forks counts Repo: each write of Repo maintains it.",
        "- Repo.stars counts Star: each write of Star maintains it.",
        "- Repo.loud counts Star, where `is_loud = True`: each write of Star maintains it.",
        "- Repo.weight sums Star.weight: each write of Star maintains it.",
    ]
