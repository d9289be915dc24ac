"""Each read of the source documents, written for boto3 as the document writes it.

boto3 sends the key condition of the document to the endpoint; the pattern must return the entities
of the same items, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from tablewright import Aggregate, Engine, Entity, connect, put
from tablewright.designs import commerce, market, recipes, shop
from tablewright.designs.catalog import load
from tablewright.designs.market.samples import (
    ACCOUNT,
    BILL,
    FIRST_ORDER,
    LAST_ORDER,
    PAYMENT,
    PRODUCT,
    RABINOVICH,
    SAMOVAR,
)
from tablewright.designs.menu import collection, document, joins
from tablewright.designs.menu.document.checks import sort_id_of
from tablewright.designs.menu.sample_menus import id_of
from tablewright.designs.recipes import option2
from tablewright.designs.shop.samples import START, id_at
from tablewright.plans import Plan
from tests.designs.stored import query
from tests.prepared import Prepare


@dataclass
class Row:
    """A read of a document: its table, index and key condition, and the pattern."""

    table: str
    index: str | None
    condition: str
    plan: Plan[Any]
    #: The rest of boto3's request.
    options: dict[str, Any] = field(default_factory=dict)


DESCENDING = {"ScanIndexForward": False}
NEWEST_2 = DESCENDING | {"Limit": 2}
#: The characters of a KSUID that have its time.
KSUID_PREFIX = id_at(2)[:6]

SHOP = {
    "Get a user by id": Row(
        "shop", None, f'PK="USER" AND SK="USER#{id_at(1)}"', shop.user_by_id(id_at(1))
    ),
    "Get a user by email": Row(
        "shop",
        "LSI",
        'PK="USER" AND SKU="EMAIL#test01@gmail.com"',
        shop.user_by_email("test01@gmail.com"),
    ),
    "List users": Row("shop", None, 'PK="USER"', shop.users()),
    "List users, descending": Row("shop", None, 'PK="USER"', shop.users().desc(), DESCENDING),
    "List users filter by created_at": Row(
        "shop",
        None,
        f'PK="USER" AND SK > "USER#{KSUID_PREFIX}"',
        shop.users_created_since(START + timedelta(minutes=2)),
    ),
    "List users filter by email-prefix": Row(
        "shop",
        "GSI1",
        'GSI1PK="USER" AND begins_with(GSI1SK, "EMAIL#test")',
        shop.users_by_email_prefix("test"),
    ),
    "Get a category by id": Row(
        "shop", None, f'PK="CAT" AND SK="CAT#{id_at(12)}"', shop.category_by_id(id_at(12))
    ),
    "List categories": Row("shop", None, 'PK="CAT"', shop.categories()),
    "List categories filter by name-prefix": Row(
        "shop",
        "LSI",
        'PK="CAT" AND begins_with(SKU, "CAT#NAME#CatX")',
        shop.categories_by_name_prefix("CatX"),
    ),
    "Get a brand by id": Row(
        "shop", None, f'PK="BRAND" AND SK="BRAND#{id_at(22)}"', shop.brand_by_id(id_at(22))
    ),
    "List brands": Row("shop", None, 'PK="BRAND"', shop.brands()),
    "List brands filter by name-prefix": Row(
        "shop",
        "LSI",
        'PK="BRAND" AND begins_with(SKU, "BRAND#NAME#BrY")',
        shop.brands_by_name_prefix("BrY"),
    ),
    "Get a product by id": Row(
        "shop", None, f'PK="PROD" AND SK="PRO#{id_at(32)}"', shop.product_by_id(id_at(32))
    ),
    "List products": Row("shop", None, 'PK="PROD"', shop.products()),
    "List products by brand": Row(
        "shop", "GSI1", f'GSI1PK="BRAND#{id_at(21)}"', shop.products_by_brand(id_at(21))
    ),
    "List products by brand + category": Row(
        "shop",
        "GSI1",
        f'GSI1PK="BRAND#{id_at(21)}" AND begins_with(GSI1SK, "CAT#{id_at(13)}")',
        shop.products_by_brand_and_category(id_at(21), id_at(13)),
    ),
    "List products by category": Row(
        "shop", "GSI2", f'GSI2PK="CAT#{id_at(13)}"', shop.products_by_category(id_at(13))
    ),
    "List products by category + brand": Row(
        "shop",
        "GSI2",
        f'GSI2PK="CAT#{id_at(13)}" AND begins_with(GSI2SK, "BRAND#{id_at(21)}")',
        shop.products_by_category_and_brand(id_at(13), id_at(21)),
    ),
    "Get user's order by id": Row(
        "shop",
        None,
        f'PK="USER#{id_at(0)}" AND SK="ORDER#{id_at(50)}"',
        shop.order_by_id(id_at(0), id_at(50)),
    ),
    "List user's orders": Row(
        "shop",
        None,
        f'PK="USER#{id_at(0)}" AND begins_with(SK, "ORDER")',
        shop.orders_of_user(id_at(0)),
    ),
    "List orders by status, since a time": Row(
        "shop",
        "GSI1",
        'GSI1PK="ORDER#STATUS#DELIVERED" AND GSI1SK >= "AT#1719478796"',
        shop.orders_by_status_since("DELIVERED", datetime.fromtimestamp(1719478796, UTC)),
    ),
    "List orders by status": Row(
        "shop",
        "GSI1",
        'GSI1PK="ORDER#STATUS#DELIVERED"',
        shop.orders_by_status("DELIVERED"),
    ),
}

MARKET = {
    "Get user profile": Row(
        "Market",
        None,
        'pk="U#rabinovich" AND sk="U#rabinovich"',
        market.user_profile(RABINOVICH),
    ),
    "Get the list of last N orders for user": Row(
        "Market",
        None,
        f'pk="U#rabinovich#O" AND sk="O#{LAST_ORDER}"',
        market.last_orders(RABINOVICH, 1),
    ),
    "Display bonuses for user": Row(
        "Market", None, 'pk="U#rabinovich#R"', market.bonuses(RABINOVICH), DESCENDING
    ),
    "Get a single order with all its items by id": Row(
        "Market",
        None,
        f'pk="U#rabinovich#O" AND begins_with(sk, "O#{FIRST_ORDER}")',
        market.order_with_items("2025-0001"),
    ),
    "User products by ULID": Row(
        "Market", None, 'pk="U#rabinovich#P"', market.products(RABINOVICH), DESCENDING
    ),
    "Look up by system key: account": Row(
        "Market", "ReverseIndex", f'sk="A#{ACCOUNT}"', market.account_by_system_key(ACCOUNT)
    ),
    "Look up by system key: bill": Row(
        "Market", "ReverseIndex", f'sk="B#{BILL}"', market.bill_by_system_key(BILL)
    ),
    "Look up by system key: inventory item": Row(
        "Market",
        "ReverseIndex",
        f'sk="I#{SAMOVAR}"',
        market.inventory_item_by_system_key(SAMOVAR),
    ),
    "Look up by system key: order": Row(
        "Market",
        "ReverseIndex",
        f'sk="O#{FIRST_ORDER}" AND pk="U#rabinovich#O"',
        market.order_by_system_key(FIRST_ORDER),
    ),
    "Look up by system key: order item": Row(
        "Market",
        "ReverseIndex",
        f'sk="O#{FIRST_ORDER}#002"',
        market.order_item_by_system_key(FIRST_ORDER, 2),
    ),
    "Look up by system key: payment": Row(
        "Market", "ReverseIndex", f'sk="P#{PAYMENT}"', market.payment_by_system_key(PAYMENT)
    ),
    "Look up by system key: product": Row(
        "Market", "ReverseIndex", f'sk="I#{PRODUCT}"', market.product_by_system_key(PRODUCT)
    ),
    "Look up by system key: user": Row(
        "Market", "ReverseIndex", 'sk="U#rabinovich"', market.user_by_system_key(RABINOVICH)
    ),
    "Look up by business id: order": Row(
        "Market", "IdLookupIndex", 'id="2025-0003" AND tp="order"', market.order_by_id("2025-0003")
    ),
    "Look up by business id: cart": Row(
        "Market", "IdLookupIndex", 'id="C-0001" AND tp="cart"', market.cart_by_id("C-0001")
    ),
}

RECIPES = {
    "Get a Menu and all its MenuItems": Row(
        "recipes", None, 'PK="MENU#10"', recipes.menu_with_items("10")
    ),
    "Get a Recipe and its list of Ingredients": Row(
        "recipes", None, 'PK="RECIPE#1"', recipes.recipe_with_ingredients("1")
    ),
    "Get a Category": Row(
        "recipes", None, 'PK="CATEGORY#1" AND SK="CATEGORY#1"', recipes.get_category("1")
    ),
    "Query by category id": Row(
        "recipes",
        None,
        'PK="CATEGORY#1" AND begins_with(SK, "INGREDIENT#")',
        recipes.ingredients_of_category("1"),
    ),
    "Query by ingredient id": Row(
        "recipes",
        "GSI1",
        'GSI1PK="INGREDIENT#1" AND GSI1SK="INGREDIENT#1"',
        recipes.ingredient_by_id("1"),
    ),
    "Query by ingredient name": Row(
        "recipes",
        "GSI2",
        'GSI2PK="INGREDIENTNAME#tomatoes" AND GSI2SK="INGREDIENTNAME#tomatoes"',
        recipes.ingredient_by_name("tomatoes"),
    ),
    "Option 2: read only the first batch": Row(
        "recipes_option2",
        None,
        'PK="Category#1"',
        option2.category_with_first_ingredients("1", 10),
        DESCENDING | {"Limit": 11},
    ),
}

LUNCH, SOUPS = id_of("Lunch"), id_of("Lunch", "Soups")
LUNCH_SORT = sort_id_of("Lunch")
MENU = {
    "Get Menu by Name, collection": Row(
        "menu_collection",
        None,
        'pk="MENU#Lunch" AND sk="METADATA#Lunch"',
        collection.menu_by_name("Lunch"),
    ),
    "Get a menu with its sections, collection": Row(
        "menu_collection", None, 'pk="MENU#Lunch"', collection.whole_menu("Lunch")
    ),
    "Get Sections by Menu, collection": Row(
        "menu_collection",
        None,
        'pk="MENU#Lunch" AND begins_with(sk, "SECTION")',
        collection.sections_by_menu("Lunch"),
    ),
    "Get a specific section, collection": Row(
        "menu_collection",
        None,
        'pk="MENU#Lunch" AND sk="SECTION#Soups"',
        collection.section_by_name("Lunch", "Soups"),
    ),
    "Get Sections by Menu, joins": Row(
        "menu_joins",
        "GSI1",
        f'GSI1PK="MENU#{LUNCH}#MENU#Lunch"',
        joins.menu_with_sections(LUNCH, "Lunch"),
    ),
    "Get a specific section, joins": Row(
        "menu_joins",
        "GSI1",
        f'GSI1PK="MENU#{LUNCH}#MENU#Lunch" AND GSI1SK="SECTION#Soups"',
        joins.section_by_name(LUNCH, "Lunch", "Soups"),
    ),
    "Get Products by Section, joins": Row(
        "menu_joins",
        "GSI2",
        f'GSI2PK="SECTION#{SOUPS}#SECTION#Soups" AND begins_with(GSI2SK, "PRODUCT#")',
        joins.products_by_section(SOUPS, "Soups"),
    ),
    "Get the whole menu, document": Row(
        "menu_document",
        None,
        f'pk="MENU#{LUNCH}" AND sk="MENU#{LUNCH_SORT}"',
        document.whole_menu(LUNCH, LUNCH_SORT),
    ),
}

NAME = "commerce_single_table"
COMMERCE = {
    "Get customer profile by customerId": Row(
        NAME, None, 'PK="CUST#C1" AND SK="PROFILE#C1"', commerce.customer_profile("C1")
    ),
    "Get one order header by customerId + orderId": Row(
        NAME, None, 'PK="CUST#C1" AND SK="ORDER#O100"', commerce.order_header("C1", "O100")
    ),
    "Get one specific order item": Row(
        NAME,
        None,
        'PK="CUST#C1" AND SK="ORDER#O100#ITEM#I2"',
        commerce.order_item("C1", "O100", "I2"),
    ),
    "List items for one order": Row(
        NAME,
        None,
        'PK="CUST#C1" AND begins_with(SK, "ORDER#O100#ITEM#")',
        commerce.order_items("C1", "O100"),
    ),
    "Load order aggregate": Row(
        NAME,
        None,
        'PK="CUST#C1" AND begins_with(SK, "ORDER#O100")',
        commerce.order_with_items("C1", "O100"),
    ),
    "List customer timeline": Row(
        NAME,
        "gsi_customer_orders",
        'GSI1PK="CUST#C1"',
        commerce.customer_timeline("C1", 2),
        NEWEST_2,
    ),
    "List global orders for one status": Row(
        NAME,
        "gsi_status_orders",
        'GSI2PK="STATUS#PAID"',
        commerce.orders_by_status("PAID", 2),
        NEWEST_2,
    ),
    "List customer orders for one status": Row(
        NAME,
        "gsi_customer_status_orders",
        'GSI3PK="CUST#C1#STATUS#PAID"',
        commerce.customer_orders_by_status("C1", "PAID", 2),
        NEWEST_2,
    ),
    "List status change history": Row(
        NAME,
        None,
        'PK="CUST#C1" AND begins_with(SK, "ORDER_STATUS_EVT#O101#")',
        commerce.status_history("C1", "O101", 2),
        NEWEST_2,
    ),
}

ROWS = {
    f"{design}: {name}": row
    for design, rows in (
        ("shop", SHOP),
        ("market", MARKET),
        ("recipes", RECIPES),
        ("menu", MENU),
        ("commerce", COMMERCE),
    )
    for name, row in rows.items()
}


def entities_in(found: Any) -> Iterator[Entity]:
    """Yield the entities of a result; those of an aggregate as its members list them."""
    if isinstance(found, Entity):
        yield found
    elif isinstance(found, Aggregate):
        yield from entities_in(list(vars(found).values()))
    else:
        for each in found:
            yield from entities_in(each)


@cache
def filled(name: str) -> Prepare:
    """Return a function that stores the sample data of a design."""

    def fill(engine: Engine) -> None:
        design = load(name)
        db = connect(engine, *design.tables)
        assert design.sample is not None
        for entity in design.sample():
            db.run(put(entity))
        if name == "commerce":
            for status in ("FULFILLED", "REFUNDED", "PAID"):
                db.run(commerce.update_order_status("C1", "O101", status))

    return fill


@pytest.fixture
def prepare(name: str) -> Prepare:
    return filled(name.partition(":")[0])


@pytest.mark.parametrize("name", ROWS)
def test_boto3_reads_the_items_of_the_pattern(engine: Engine, client: Any, name: str) -> None:
    row = ROWS[name]
    db = connect(engine, *load(name.partition(":")[0]).tables)
    items = query(client, row.table, row.condition, row.index, **row.options)
    names = ("pk", "sk") if "pk" in items[0] else ("PK", "SK")
    stored = [{name: item[name] for name in names} for item in items]
    result = db.run(row.plan)
    found = [type(entity).__entity__.stored_key(entity) for entity in entities_in(result)]
    if isinstance(result, Aggregate):  # its members are in the order of their declaration
        found.sort(key=stored.index)
    assert found == stored
