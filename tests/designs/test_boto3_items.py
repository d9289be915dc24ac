"""Items that boto3 writes as the source documents have them, read and changed by the patterns."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

from tablewright import Engine, connect
from tablewright.database import Database
from tablewright.designs import commerce, market, recipes, shop
from tablewright.designs.catalog import load
from tablewright.designs.menu import collection, document, joins
from tablewright.designs.recipes import option2
from tablewright.errors import UniqueViolation
from tablewright.ids import ULID
from tablewright.plans import Plan, backfill
from tablewright.verify import changed


class Case(NamedTuple):
    """What a program with boto3 stores, and what the pattern returns."""

    table: str
    items: list[dict[str, Any]]
    plan: Plan[Any]
    expected: Any


AT = "2024-06-27T07:39:22Z"
TIME = datetime(2024, 6, 27, 7, 39, 22, tzinfo=UTC)
SECONDS = 1719473962
STAMPS = {"created_at": AT, "updated_at": AT}
TIMES = {"created_at": TIME, "updated_at": TIME}

USER = {
    "PK": "USER",
    "SK": "USER#001",
    "SKU": "EMAIL#test01@gmail.com",
    "GSI1PK": "USER",
    "GSI1SK": "EMAIL#test01@gmail.com",
    "id": "001",
    "name": "Tim",
    "email": "test01@gmail.com",
    "password": "x",
    **STAMPS,
}
TIM = shop.User(id="001", name="Tim", email="test01@gmail.com", password="x")
PRODUCT = {
    "PK": "PROD",
    "SK": "PRO#222",
    "GSI1PK": "BRAND#123",
    "GSI1SK": f"CAT#456#AT#{SECONDS}",
    "GSI2PK": "CAT#456",
    "GSI2SK": f"BRAND#123#AT#{SECONDS}",
    "id": "222",
    "name": "Pot",
    "price": Decimal("9.9"),
    "stock": 3,
    "category_id": "456",
    "brand_id": "123",
    **STAMPS,
}
POT = shop.Product(
    id="222", name="Pot", price=Decimal("9.9"), stock=3, category_id="456", brand_id="123"
)
ORDER = {
    "PK": "USER#001",
    "SK": "ORDER#333",
    "GSI1PK": "ORDER#STATUS#ON_HOLD",
    "GSI1SK": f"AT#{SECONDS}",
    "id": "333",
    "user_id": "001",
    "status": "ON_HOLD",
    "total_price": Decimal("19.8"),
    "items": [
        {"id": "1", "order_id": "333", "product_id": "222", "quantity": 2, "price": Decimal("9.9")}
    ],
    **STAMPS,
}
HELD = shop.Order(
    id="333",
    user_id="001",
    status="ON_HOLD",
    total_price=Decimal("19.8"),
    items=[shop.OrderItem("1", "222", 2, Decimal("9.9"))],
)
for entity in (TIM, POT, HELD):
    entity.created_at = entity.updated_at = TIME

ULID_1 = ULID("01JZ10H7X367VB2NF4YQ973DHW")
#: Without the ids that the keys contain.
MARKET_ORDER = {
    "pk": "U#rabinovich#O",
    "sk": f"O#{ULID_1}",
    "tp": "order",
    "id": "A-1",
    "status": "lost",
}
MARKET_LINE = {
    "pk": "U#rabinovich#O",
    "sk": f"O#{ULID_1}#001",
    "tp": "order_item",
    "item_id": ULID_1,
    "price": 3,
}
PLACED = market.Order(user_id="rabinovich", order_id=ULID_1, business_id="A-1", status="lost")
LINE = market.OrderItem(
    user_id="rabinovich", order_id=ULID_1, number=1, item_id=ULID_1, price=Decimal(3)
)

CATEGORY = {"PK": "CATEGORY#1", "SK": "CATEGORY#1", "id": "1", "name": "vegetables", "shopOrder": 1}
CATEGORY_NAME = {
    "PK": "CATEGORYNAME#vegetables",
    "SK": "CATEGORYNAME#vegetables",
    "id": "1",
    "name": "vegetables",
}
VEGETABLES = recipes.Category(id="1", name="vegetables", shop_order=1)
INGREDIENT = {
    "PK": "CATEGORY#1",
    "SK": "INGREDIENT#1",
    "id": "1",
    "name": "tomatoes",
    "categoryId": "1",
    "GSI1PK": "INGREDIENT#1",
    "GSI1SK": "INGREDIENT#1",
    "GSI2PK": "INGREDIENTNAME#tomatoes",
    "GSI2SK": "INGREDIENTNAME#tomatoes",
}
INGREDIENT_NAME = {
    "PK": "INGREDIENTNAME#tomatoes",
    "SK": "INGREDIENTNAME#tomatoes",
    "id": "1",
    "name": "tomatoes",
}
TOMATOES = recipes.Ingredient(id="1", name="tomatoes", category_id="1")
OPTION_2 = [
    {"PK": "Category#1", "SK": "Category#1", "id": "1", "name": "vegetables"},
    {
        "PK": "Category#1",
        "SK": "#Ingredient#1",
        "id": "1",
        "name": "tomatoes",
        "categoryId": "1",
    },
]

COLLECTION = [
    {"pk": "MENU#Lunch", "sk": "METADATA#Lunch", "MenuName": "Lunch", "Status": "OFF"},
    {"pk": "MENU#Lunch", "sk": "SECTION#Soups", "SectionName": "Soups", "Status": "ON"},
    {"pk": "MENU#Lunch", "sk": "SECTION#Teas", "SectionName": "Teas", "Status": "ON"},
]
SECTIONS = [collection.Section(menu="Lunch", name=name, status="ON") for name in ("Soups", "Teas")]
M, S, P = (UUID(int=number) for number in (1, 2, 3))
JOINS = [
    {
        "pk": f"MENU#{M}",
        "sk": "MENU#Lunch",
        "MenuName": "Lunch",
        "Status": "ON",
        "GSI1PK": f"MENU#{M}#MENU#Lunch",
        "GSI1SK": "MENU#Lunch",
    },
    {
        "pk": f"SECTION#{S}",
        "sk": "SECTION#Soups",
        "SectionName": "Soups",
        "ParentId": str(M),
        "ParentName": "Lunch",
        "GSI1PK": f"MENU#{M}#MENU#Lunch",
        "GSI1SK": "SECTION#Soups",
        "GSI2PK": f"SECTION#{S}#SECTION#Soups",
        "GSI2SK": "SECTION#Soups",
    },
    {
        "pk": f"PRODUCT#{P}",
        "sk": "PRODUCT#Leek",
        "ProductName": "Leek",
        "ParentId": str(S),
        "ParentName": "Soups",
        "GSI2PK": f"SECTION#{S}#SECTION#Soups",
        "GSI2SK": f"PRODUCT#{P}",
    },
]
DOCUMENT = {
    "pk": f"MENU#{M}",
    "sk": f"MENU#{P}",
    "MenuName": "Breakfast",
    "IsActive": False,
    "Sections": {
        str(S): {
            "SectionName": "Desserts",
            "SectionId": str(S),
            "IsActive": False,
            "Products": {
                str(P): {
                    "ProductName": "Bread",
                    "allergens": ["Fish", "Veggie"],
                    "ProductId": str(P),
                }
            },
        }
    },
}
BREAD = document.Product(ProductId=str(P), ProductName="Bread", allergens=["Fish", "Veggie"])
BREAKFAST = document.Menu(
    id=M,
    sort_id=P,
    name="Breakfast",
    is_active=False,
    sections={
        str(S): document.Section(
            SectionId=str(S),
            SectionName="Desserts",
            IsActive=False,
            Products={str(P): BREAD},
        )
    },
)

COMMERCE_ORDER = {
    "PK": "CUST#C1",
    "SK": "ORDER#O100",
    "GSI1PK": "CUST#C1",
    "GSI1SK": f"ORDER#{AT}#O100",
    "GSI2PK": "STATUS#PAID",
    "GSI2SK": f"ORDER#{AT}#CUST#C1#O100",
    "GSI3PK": "CUST#C1#STATUS#PAID",
    "GSI3SK": f"ORDER#{AT}#O100",
    "customerId": "C1",
    "orderId": "O100",
    "createdAt": AT,
    "status": "PAID",
    "version": 1,
}
COMMERCE_ITEM = {
    "PK": "CUST#C1",
    "SK": "ORDER#O100#ITEM#I1",
    "customerId": "C1",
    "orderId": "O100",
    "itemId": "I1",
    "sku": "S-1",
    "itemStatus": "LOST",
}
PROFILE = {
    "PK": "CUST#C1",
    "SK": "PROFILE#C1",
    "customerId": "C1",
    "name": "Ann",
    "email": "ann@example.com",
}
EVENT = {
    "PK": "CUST#C1",
    "SK": "ORDER_STATUS_EVT#O100#V#0000000001",
    "customerId": "C1",
    "orderId": "O100",
    "version": 1,
    "fromStatus": "CREATED",
    "toStatus": "PAID",
    "changedAt": AT,
}
PAID = changed(
    commerce.CustomerOrder(customer_id="C1", order_id="O100", created_at=TIME, status="PAID"),
    version=1,
)
LOST = commerce.OrderLineItem(
    customer_id="C1", order_id="O100", item_id="I1", sku="S-1", item_status="LOST"
)

CASES = {
    "shop: a user": Case("shop", [USER], shop.user_by_id("001"), TIM),
    "shop: a user by email": Case("shop", [USER], shop.user_by_email("test01@gmail.com"), TIM),
    "shop: users by a prefix": Case("shop", [USER], shop.users_by_email_prefix("test"), [TIM]),
    "shop: a product by brand": Case(
        "shop", [PRODUCT], shop.products_by_brand_and_category("123", "456"), [POT]
    ),
    "shop: a product by category": Case(
        "shop", [PRODUCT], shop.products_by_category_and_brand("456", "123"), [POT]
    ),
    "shop: orders of a user": Case("shop", [USER, ORDER], shop.orders_of_user("001"), [HELD]),
    "shop: orders by status": Case("shop", [ORDER], shop.orders_by_status("ON_HOLD"), [HELD]),
    "market: last orders": Case(
        "Market", [MARKET_ORDER, MARKET_LINE], market.last_orders("rabinovich", 9), [PLACED]
    ),
    "market: an order with its items": Case(
        "Market",
        [MARKET_ORDER, MARKET_LINE],
        market.order_with_items("A-1"),
        market.OrderWithItems(order=PLACED, items=[LINE]),
    ),
    "market: by system key": Case(
        "Market", [MARKET_ORDER, MARKET_LINE], market.order_by_system_key(ULID_1), PLACED
    ),
    "recipes: a category": Case("recipes", [CATEGORY], recipes.get_category("1"), VEGETABLES),
    "recipes: a category by name": Case(
        "recipes", [CATEGORY, CATEGORY_NAME], recipes.category_by_name("vegetables"), VEGETABLES
    ),
    "recipes: an ingredient by id": Case(
        "recipes", [INGREDIENT, INGREDIENT_NAME], recipes.ingredient_by_id("1"), TOMATOES
    ),
    "recipes: an ingredient by name": Case(
        "recipes", [INGREDIENT, INGREDIENT_NAME], recipes.ingredient_by_name("tomatoes"), TOMATOES
    ),
    "recipes: an ingredient with its category": Case(
        "recipes",
        [INGREDIENT, CATEGORY],
        recipes.ingredient_with_category("1"),
        (TOMATOES, VEGETABLES),
    ),
    "recipes: option 2": Case(
        "recipes_option2",
        OPTION_2,
        option2.category_with_first_ingredients("1", 10),
        option2.CategoryWithIngredients(
            category=option2.Category(id="1", name="vegetables"),
            ingredients=[option2.Ingredient(id="1", name="tomatoes", category_id="1")],
        ),
    ),
    "menu: a menu of a collection": Case(
        "menu_collection",
        COLLECTION,
        collection.menu_by_name("Lunch"),
        collection.Menu(name="Lunch", status="OFF"),
    ),
    "menu: the sections of a collection": Case(
        "menu_collection", COLLECTION, collection.sections_by_menu("Lunch"), SECTIONS
    ),
    "menu: a section of a collection": Case(
        "menu_collection", COLLECTION, collection.section_by_name("Lunch", "Teas"), SECTIONS[1]
    ),
    "menu: sections with joins": Case(
        "menu_joins",
        JOINS,
        joins.sections_by_menu(M, "Lunch"),
        [joins.Section(id=S, name="Soups", menu_id=M, menu="Lunch")],
    ),
    "menu: products with joins": Case(
        "menu_joins",
        JOINS,
        joins.products_by_section(S, "Soups"),
        [joins.Product(id=P, name="Leek", section_id=S, section="Soups")],
    ),
    "menu: a document": Case(
        "menu_document",
        [DOCUMENT],
        document.menu_by_name("Breakfast"),
        BREAKFAST,
    ),
    "menu: a whole document": Case(
        "menu_document", [DOCUMENT], document.whole_menu(M, P), BREAKFAST
    ),
    "menu: a product of a document": Case(
        "menu_document", [DOCUMENT], document.product_by_id(M, str(S), str(P)), (BREAD,)
    ),
    "commerce: a profile": Case(
        "commerce_single_table",
        [PROFILE],
        commerce.customer_profile("C1"),
        commerce.CustomerProfile(customer_id="C1", name="Ann", email="ann@example.com"),
    ),
    "commerce: an order with its items": Case(
        "commerce_single_table",
        [COMMERCE_ORDER, COMMERCE_ITEM],
        commerce.order_with_items("C1", "O100"),
        commerce.OrderWithItems(order=PAID, items=[LOST]),
    ),
    "commerce: the timeline": Case(
        "commerce_single_table", [COMMERCE_ORDER], commerce.customer_timeline("C1", 9), [PAID]
    ),
    "commerce: by status": Case(
        "commerce_single_table", [COMMERCE_ORDER], commerce.orders_by_status("PAID", 9), [PAID]
    ),
    "commerce: of a customer by status": Case(
        "commerce_single_table",
        [COMMERCE_ORDER],
        commerce.customer_orders_by_status("C1", "PAID", 9),
        [PAID],
    ),
    "commerce: the history": Case(
        "commerce_single_table",
        [EVENT, COMMERCE_ORDER],
        commerce.status_history("C1", "O100", 9),
        [
            commerce.OrderStatusEvent(
                customer_id="C1",
                order_id="O100",
                version=1,
                from_status="CREATED",
                to_status="PAID",
                changed_at=TIME,
            )
        ],
    ),
}


def write(client: Any, table: str, *items: dict[str, Any]) -> None:
    for item in items:
        client.put_item(TableName=table, Item=TypeSerializer().serialize(item)["M"])


def read(client: Any, table: str, **key: str) -> dict[str, Any]:
    found = client.get_item(TableName=table, Key={name: {"S": key[name]} for name in key})
    item: dict[str, Any] = TypeDeserializer().deserialize({"M": found["Item"]})
    return item


def connected(engine: Engine, design: str) -> Database:
    return connect(engine, *load(design).tables)


@pytest.mark.parametrize("name", CASES)
def test_a_pattern_reads_items_of_the_document(engine: Engine, client: Any, name: str) -> None:
    case = CASES[name]
    db = connected(engine, name.partition(":")[0])
    write(client, case.table, *case.items)
    assert db.run(case.plan) == case.expected


def test_a_pattern_changes_the_keys_of_an_order_of_the_document(
    engine: Engine, client: Any
) -> None:
    db = connected(engine, "commerce")
    write(client, "commerce_single_table", COMMERCE_ORDER)
    db.run(commerce.update_order_status_with_history("C1", "O100", "FULFILLED", 1, "ann", "sent"))
    stored = read(client, "commerce_single_table", PK="CUST#C1", SK="ORDER#O100")
    assert stored["GSI2PK"] == "STATUS#FULFILLED"
    assert stored["GSI3PK"] == "CUST#C1#STATUS#FULFILLED"
    assert stored["version"] == 2
    key = {"PK": "CUST#C1", "SK": "ORDER_STATUS_EVT#O100#V#0000000002"}
    assert read(client, "commerce_single_table", **key)["reason"] == "sent"


def test_a_backfill_gives_a_category_of_the_document_its_place_in_the_shop(
    engine: Engine, client: Any
) -> None:
    db = connected(engine, "recipes")
    write(client, "recipes", CATEGORY, CATEGORY_NAME)
    assert list(db.run(recipes.categories_in_shop_order())) == []
    db.run(backfill(recipes.Recipes))
    assert list(db.run(recipes.categories_in_shop_order())) == [VEGETABLES]
    stored = read(client, "recipes", PK="CATEGORY#1", SK="CATEGORY#1")
    assert (stored["GSI1PK"], stored["GSI1SK"]) == ("CATEGORIES", "000001#1")


def test_names_are_unique_for_the_model_and_for_the_transactions_of_the_document(
    engine: Engine, client: Any
) -> None:
    """Both put the same item for a name, on the condition that it does not exist."""

    def put_if_absent(item: dict[str, Any]) -> dict[str, Any]:
        return {
            "Put": {
                "TableName": "recipes",
                "Item": TypeSerializer().serialize(item)["M"],
                "ConditionExpression": "attribute_not_exists(PK)",
            }
        }

    db = connected(engine, "recipes")
    client.transact_write_items(
        TransactItems=[put_if_absent(INGREDIENT), put_if_absent(INGREDIENT_NAME)]
    )
    with pytest.raises(UniqueViolation, match="'tomatoes'"):
        db.run(
            recipes.create_ingredient(recipes.Ingredient(id="2", name="tomatoes", category_id="2"))
        )
    db.run(recipes.create_ingredient(recipes.Ingredient(id="3", name="leek", category_id="1")))
    leek = {"PK": "INGREDIENTNAME#leek", "SK": "INGREDIENTNAME#leek", "id": "4", "name": "leek"}
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        client.transact_write_items(
            TransactItems=[
                put_if_absent(INGREDIENT | {"SK": "INGREDIENT#4", "id": "4", "name": "leek"}),
                put_if_absent(leek),
            ]
        )
    assert read(client, "recipes", PK="INGREDIENTNAME#leek", SK="INGREDIENTNAME#leek")["id"] == "3"
