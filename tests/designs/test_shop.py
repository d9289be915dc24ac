from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tablewright import Engine, connect, create, explain, put
from tablewright.database import Database
from tablewright.designs import shop
from tablewright.designs.shop import (
    Brand,
    Category,
    Order,
    OrderItem,
    OrderStatus,
    Product,
    Shop,
    User,
)
from tablewright.designs.shop.samples import START, id_at, sample
from tablewright.errors import AlreadyExists, ConditionFailed, InvalidValue, NotFound
from tablewright.ids import KSUID
from tests.designs.stored import query, scan
from tests.prepared import Prepare


def fill(engine: Engine) -> None:
    """Write each entity at its update time."""
    db = connect(engine, Shop)
    for entity in sample():
        at(db, vars(entity)["updated_at"]).run(put(entity))


@pytest.fixture
def prepare() -> Prepare:
    return fill


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Shop)


def at(db: Database, moment: datetime) -> Database:
    """Return the same database with a fixed clock."""
    return db.through(db.transport, clock=lambda: moment)


@pytest.fixture
def items(client: Any) -> Callable[[], list[dict[str, Any]]]:
    return partial(scan, client, "shop")


def request_shape(pattern: Callable[..., Any]) -> tuple[str, str | None, str]:
    """Return the operation, the index (None for the table) and the key condition."""
    shape = explain(pattern)
    return shape.operation, shape.index, shape.condition


def minutes(entities: Any) -> list[int]:
    """Return the creation times in minutes after START."""
    return [int((KSUID(entity.id).time - START).total_seconds()) // 60 for entity in entities]


# -- the rows of the source document's pattern table ---------------------------------------------


def test_get_a_user_by_id(db: Database) -> None:
    user = db.run(shop.user_by_id(id_at(1)))
    assert user is not None
    assert (user.id, user.email) == (id_at(1), "test1@gmail.com")
    assert db.run(shop.user_by_id(id_at(9))) is None
    assert request_shape(shop.user_by_id) == ("GetItem", None, 'PK="USER" AND SK="USER#{user_id}"')


def test_get_a_user_by_email(db: Database) -> None:
    user = db.run(shop.user_by_email("test01@gmail.com"))
    assert user is not None
    assert (user.id, user.email) == (id_at(3), "test01@gmail.com")
    assert request_shape(shop.user_by_email) == (
        "Query",
        "LSI",
        'PK="USER" AND SKU="EMAIL#{email}"',
    )


@pytest.mark.parametrize("email", ["test01@gmail.co", "test0", "Test01@gmail.com", "EMAIL#"])
def test_get_a_user_by_an_unknown_email(db: Database, email: str) -> None:
    assert db.run(shop.user_by_email(email)) is None


def test_list_users(db: Database) -> None:
    assert minutes(db.run(shop.users())) == [0, 1, 2, 3, 4, 5]
    assert request_shape(shop.users) == ("Query", None, 'PK="USER"')
    assert explain(shop.users).order == "ascending"


def test_list_users_filter_by_created_at(db: Database) -> None:
    moment = START + timedelta(minutes=2)
    assert minutes(db.run(shop.users_created_since(moment))) == [2, 3, 4, 5]
    assert request_shape(shop.users_created_since) == (
        "Query",
        None,
        'PK="USER" AND SK>="USER#{KSUID.floor(moment)}"',
    )


@pytest.mark.parametrize(
    ("offset", "found"),
    [
        (timedelta(seconds=-1), True),
        (timedelta(microseconds=-1), True),
        (timedelta(0), True),
        (timedelta(milliseconds=999), True),
        (timedelta(seconds=1), False),
    ],
)
def test_created_since_includes_the_second_of_the_moment(
    db: Database, items: Callable[[], list[dict[str, Any]]], offset: timedelta, found: bool
) -> None:
    moment = START + timedelta(days=1)
    for n in range(5):
        new = User(id=KSUID.new(at=moment), name="N", email=f"new{n}@example.com", password="x")
        db.run(shop.register(new))
    stored = sorted(item["SK"]["S"] for item in items() if item["PK"]["S"] == "USER")
    users = db.run(shop.users_created_since(moment + offset))
    assert [f"USER#{user.id}" for user in users] == (stored[-5:] if found else [])


def test_users_created_in_one_second_are_listed_in_order_of_creation(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    before = datetime.now(UTC)
    for n in range(40):
        db.run(shop.register(User(name=f"{n}", email=f"new{n}@example.com", password="x")))
    created = db.run(shop.users_created_since(before))
    assert [user.name for user in created] == [f"{n}" for n in range(40)]
    assert created == sorted(created, key=lambda user: user.created_at)
    stored = [item["name"]["S"] for item in items() if item["PK"]["S"] == "USER"]
    assert stored[-40:] == [f"{n}" for n in range(40)]


def test_list_users_filter_by_email_prefix(db: Database) -> None:
    emails = [user.email for user in db.run(shop.users_by_email_prefix("test"))]
    assert emails == ["test01@gmail.com", "test1@gmail.com", "tester@example.com"]
    assert request_shape(shop.users_by_email_prefix) == (
        "Query",
        "GSI1",
        'GSI1PK="USER" AND begins_with(GSI1SK, "EMAIL#{prefix}")',
    )


def test_get_a_category_by_id(db: Database) -> None:
    category = db.run(shop.category_by_id(id_at(12)))
    assert category is not None
    assert (category.id, category.name) == (id_at(12), "CatX")
    assert request_shape(shop.category_by_id) == (
        "GetItem",
        None,
        'PK="CAT" AND SK="CAT#{category_id}"',
    )


def test_list_categories(db: Database) -> None:
    names = [category.name for category in db.run(shop.categories())]
    assert names == ["CatXY", "Phones", "CatX", "Cat"]
    assert request_shape(shop.categories) == ("Query", None, 'PK="CAT"')
    assert explain(shop.categories).order == "ascending"


def test_list_categories_filter_by_name_prefix(db: Database) -> None:
    found = db.run(shop.categories_by_name_prefix("CatX"))
    assert [category.name for category in found] == ["CatX", "CatXY"]
    assert request_shape(shop.categories_by_name_prefix) == (
        "Query",
        "LSI",
        'PK="CAT" AND begins_with(SKU, "CAT#NAME#{prefix}")',
    )


def test_get_a_brand_by_id(db: Database) -> None:
    brand = db.run(shop.brand_by_id(id_at(22)))
    assert brand is not None
    assert (brand.id, brand.name) == (id_at(22), "BrY")
    assert request_shape(shop.brand_by_id) == (
        "GetItem",
        None,
        'PK="BRAND" AND SK="BRAND#{brand_id}"',
    )


def test_list_brands(db: Database) -> None:
    names = [brand.name for brand in db.run(shop.brands())]
    assert names == ["BrYZ", "Acme", "BrY", "Br"]
    assert request_shape(shop.brands) == ("Query", None, 'PK="BRAND"')
    assert explain(shop.brands).order == "ascending"


def test_list_brands_filter_by_name_prefix(db: Database) -> None:
    found = db.run(shop.brands_by_name_prefix("BrY"))
    assert [brand.name for brand in found] == ["BrY", "BrYZ"]
    assert request_shape(shop.brands_by_name_prefix) == (
        "Query",
        "LSI",
        'PK="BRAND" AND begins_with(SKU, "BRAND#NAME#{prefix}")',
    )


def test_get_a_product_by_id(db: Database) -> None:
    product = db.run(shop.product_by_id(id_at(32)))
    assert product is not None
    assert (product.id, product.name, product.price) == (id_at(32), "Product 2", Decimal("29.70"))
    assert request_shape(shop.product_by_id) == (
        "GetItem",
        None,
        'PK="PROD" AND SK="PRO#{product_id}"',
    )


def test_list_products(db: Database) -> None:
    assert minutes(db.run(shop.products())) == list(range(30, 46))
    assert request_shape(shop.products) == ("Query", None, 'PK="PROD"')


def test_list_products_by_brand(db: Database) -> None:
    """The products are sorted by the creation of the category, then of the product."""
    found = db.run(shop.products_by_brand(id_at(21)))
    assert {product.brand_id for product in found} == {id_at(21)}
    assert minutes(found) == [34, 37, 40, 31, 43]
    categories = [product.category_id for product in found]
    assert categories == [id_at(10), id_at(11), id_at(12), id_at(13), id_at(13)]
    assert request_shape(shop.products_by_brand) == ("Query", "GSI1", 'GSI1PK="BRAND#{brand_id}"')


def test_list_products_by_brand_and_category(db: Database) -> None:
    found = db.run(shop.products_by_brand_and_category(id_at(21), id_at(13)))
    assert minutes(found) == [31, 43]
    assert request_shape(shop.products_by_brand_and_category) == (
        "Query",
        "GSI1",
        'GSI1PK="BRAND#{brand_id}" AND begins_with(GSI1SK, "CAT#{category_id}#AT#")',
    )


def test_list_products_by_category(db: Database) -> None:
    """The products are sorted by the creation of the brand, then of the product."""
    found = db.run(shop.products_by_category(id_at(13)))
    assert {product.category_id for product in found} == {id_at(13)}
    assert minutes(found) == [39, 31, 43, 35]
    brands = [product.brand_id for product in found]
    assert brands == [id_at(20), id_at(21), id_at(21), id_at(22)]
    assert request_shape(shop.products_by_category) == (
        "Query",
        "GSI2",
        'GSI2PK="CAT#{category_id}"',
    )


def test_list_products_by_category_and_brand(db: Database) -> None:
    found = db.run(shop.products_by_category_and_brand(id_at(13), id_at(21)))
    assert minutes(found) == [31, 43]
    assert request_shape(shop.products_by_category_and_brand) == (
        "Query",
        "GSI2",
        'GSI2PK="CAT#{category_id}" AND begins_with(GSI2SK, "BRAND#{brand_id}#AT#")',
    )


def test_get_users_order_by_id(db: Database) -> None:
    order = db.run(shop.order_by_id(id_at(0), id_at(50)))
    assert order is not None
    assert (order.id, order.status) == (id_at(50), OrderStatus.DELIVERED)
    assert [(item.product_id, item.quantity) for item in order.items] == [
        (id_at(31), 1),
        (id_at(39), 2),
    ]
    assert db.run(shop.order_by_id(id_at(1), id_at(50))) is None
    assert request_shape(shop.order_by_id) == (
        "GetItem",
        None,
        'PK="USER#{user_id}" AND SK="ORDER#{order_id}"',
    )


def test_list_users_orders(db: Database) -> None:
    assert minutes(db.run(shop.orders_of_user(id_at(0)))) == [50, 53, 56]
    assert minutes(db.run(shop.orders_of_user(id_at(5)))) == []
    assert request_shape(shop.orders_of_user) == (
        "Query",
        None,
        'PK="USER#{user_id}" AND begins_with(SK, "ORDER#")',
    )
    assert explain(shop.orders_of_user).order == "ascending"


def test_list_orders_by_status(db: Database, client: Any) -> None:
    """The sample updates the orders in reverse order of creation, one second apart."""
    found = db.run(shop.orders_by_status("DELIVERED"))
    assert minutes(found) == [57, 54, 52, 50]
    stored = query(client, "shop", 'GSI1PK="ORDER#STATUS#DELIVERED"', "GSI1")
    assert [item["SK"]["S"] for item in stored] == [f"ORDER#{order.id}" for order in found]
    assert request_shape(shop.orders_by_status) == (
        "Query",
        "GSI1",
        'GSI1PK="ORDER#STATUS#{status}"',
    )


def test_list_orders_by_status_since_a_moment(db: Database) -> None:
    since = START + timedelta(hours=2, seconds=-4)
    found = db.run(shop.orders_by_status_since(OrderStatus.DELIVERED, since))
    assert minutes(found) == [54, 52, 50]
    assert request_shape(shop.orders_by_status_since) == (
        "Query",
        "GSI1",
        'GSI1PK="ORDER#STATUS#{status}" AND GSI1SK>="AT#{epoch_seconds(since)}"',
    )


def test_the_key_of_orders_by_status_contains_seconds(db: Database) -> None:
    moment = datetime.fromtimestamp(1719473962, UTC)
    shape = shop.orders_by_status_since(OrderStatus.DELIVERED, moment)._shape()
    assert shape.condition == 'GSI1PK="ORDER#STATUS#DELIVERED" AND GSI1SK>="AT#1719473962"'


# -- ids and statuses of the caller's choice -----------------------------------------------------


def test_ids_as_in_the_source_document(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    """Its pattern table has USER#001, CAT#456, BRAND#123, PRO#222 and ORDER#333."""
    db.run(shop.register(User(id="001", name="N", email="n@example.com", password="x")))
    db.run(create(Category(id="456", name="C")))
    db.run(create(Brand(id="123", name="B")))
    product = Product(
        id="222", name="P", price=Decimal(1), stock=9, category_id="456", brand_id="123"
    )
    db.run(create(product))
    line = OrderItem(id="1", product_id="222", quantity=2, price=Decimal(1))
    order = Order(id="333", user_id="001", total_price=Decimal(2), items=[line])
    db.run(shop.place_order(order))
    stored = {(item["PK"]["S"], item["SK"]["S"]): item for item in items()}
    for key in (
        ("USER", "USER#001"),
        ("CAT", "CAT#456"),
        ("BRAND", "BRAND#123"),
        ("PROD", "PRO#222"),
        ("USER#001", "ORDER#333"),
    ):
        assert key in stored
    assert stored["PROD", "PRO#222"]["GSI1PK"] == {"S": "BRAND#123"}
    assert stored["PROD", "PRO#222"]["GSI1SK"]["S"].startswith("CAT#456#AT#")
    for plan in (
        shop.products_by_brand("123"),
        shop.products_by_brand_and_category("123", "456"),
        shop.products_by_category_and_brand("456", "123"),
    ):
        assert [(found.id, found.stock) for found in db.run(plan)] == [("222", 7)]
    assert db.run(shop.order_by_id("001", "333")) == order
    assert db.run(shop.orders_of_user("001")) == [order]


def test_the_id_of_an_entity_is_a_new_ksuid_by_default(db: Database, client: Any) -> None:
    first, second = Category(name="A"), Category(name="B")
    assert isinstance(first.id, KSUID)
    assert isinstance(second.id, KSUID)
    assert first.id < second.id
    db.run(create(first))
    key = {"PK": {"S": "CAT"}, "SK": {"S": f"CAT#{first.id}"}}
    assert client.get_item(TableName="shop", Key=key)["Item"]["id"] == {"S": str(first.id)}


def test_an_id_that_is_not_a_text_is_rejected() -> None:
    with pytest.raises(InvalidValue, match=r"^User\.id\.KSUID: 5: .*; User\.id\.str: 5: "):
        User(id=5, name="N", email="n@example.com", password="x")  # type: ignore[arg-type]


def test_an_id_is_read_with_its_type(db: Database, client: Any) -> None:
    db.run(shop.register(User(id="001", name="N", email="n@example.com", password="x")))
    stored = query(client, "shop", 'PK="USER"')
    found = db.run(shop.users())
    assert [user.id for user in found] == [item["id"]["S"] for item in stored]
    assert [type(user.id) for user in found] == [str, *[KSUID] * 6]
    order = db.run(shop.order_by_id(id_at(0), id_at(50)))
    assert order is not None
    ids = [order.id, order.user_id, *(each.product_id for each in order.items)]
    assert {type(each) for each in ids} == {KSUID}


def test_an_order_with_an_unknown_status_is_listed_with_the_others(
    db: Database, items: Callable[[], list[dict[str, Any]]], client: Any
) -> None:
    (item,) = [i for i in items() if i["SK"]["S"] == f"ORDER#{id_at(53)}"]
    held = item | {"status": {"S": "ON_HOLD"}, "GSI1PK": {"S": "ORDER#STATUS#ON_HOLD"}}
    client.put_item(TableName="shop", Item=held)
    assert minutes(db.run(shop.orders_of_user(id_at(0)))) == [50, 53, 56]
    (order,) = db.run(shop.orders_by_status("ON_HOLD"))
    assert (order.id, order.status) == (id_at(53), "ON_HOLD")


# -- the tables of keys --------------------------------------------------------------------------

KEYS = ("PK", "SK", "SKU", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")


def keys(item: dict[str, Any]) -> dict[str, str]:
    return {name: item[name]["S"] for name in KEYS if name in item}


def seconds(minutes: int) -> int:
    return int((START + timedelta(minutes=minutes)).timestamp())


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        (
            ("User", id_at(3)),
            {
                "PK": "USER",
                "SK": f"USER#{id_at(3)}",
                "SKU": "EMAIL#test01@gmail.com",
                "GSI1PK": "USER",
                "GSI1SK": "EMAIL#test01@gmail.com",
            },
        ),
        (
            ("Category", id_at(12)),
            {"PK": "CAT", "SK": f"CAT#{id_at(12)}", "SKU": "CAT#NAME#CatX"},
        ),
        (
            ("Brand", id_at(22)),
            {"PK": "BRAND", "SK": f"BRAND#{id_at(22)}", "SKU": "BRAND#NAME#BrY"},
        ),
        (
            ("Product", id_at(31)),
            {
                "PK": "PROD",
                "SK": f"PRO#{id_at(31)}",
                "GSI1PK": f"BRAND#{id_at(21)}",
                "GSI1SK": f"CAT#{id_at(13)}#AT#{seconds(31)}",
                "GSI2PK": f"CAT#{id_at(13)}",
                "GSI2SK": f"BRAND#{id_at(21)}#AT#{seconds(31)}",
            },
        ),
        (
            ("Order", id_at(50)),
            {
                "PK": f"USER#{id_at(0)}",
                "SK": f"ORDER#{id_at(50)}",
                "GSI1PK": "ORDER#STATUS#DELIVERED",
                "GSI1SK": f"AT#{seconds(120)}",
            },
        ),
    ],
)
def test_items_have_the_documents_keys(
    db: Database,
    items: Callable[[], list[dict[str, Any]]],
    entity: tuple[str, str],
    expected: dict[str, str],
) -> None:
    kind, entity_id = entity
    (item,) = [i for i in items() if i["type"]["S"] == kind and i["id"]["S"] == entity_id]
    assert keys(item) == expected


def test_the_table_has_the_documents_indexes(engine: Engine, client: Any) -> None:
    connect(engine, Shop)
    table = client.describe_table(TableName="shop")["Table"]
    found = {
        index["IndexName"]: [part["AttributeName"] for part in index["KeySchema"]]
        for index in (*table["LocalSecondaryIndexes"], *table["GlobalSecondaryIndexes"])
    }
    assert found == {
        "LSI": ["PK", "SKU"],
        "GSI1": ["GSI1PK", "GSI1SK"],
        "GSI2": ["GSI2PK", "GSI2SK"],
    }
    assert [part["AttributeName"] for part in table["KeySchema"]] == ["PK", "SK"]


def test_an_order_holds_its_items(db: Database, items: Callable[[], list[dict[str, Any]]]) -> None:
    (item,) = [i for i in items() if i["SK"]["S"] == f"ORDER#{id_at(50)}"]
    assert [line["M"] for line in item["items"]["L"]] == [
        {
            "id": {"S": KSUID.floor(id_at(50).time + timedelta(seconds=quantity))},
            "product_id": {"S": id_at(product)},
            "quantity": {"N": str(quantity)},
            "price": {"N": price},
        }
        for quantity, product, price in ((1, 31, "19.8"), (2, 39, "99"))
    ]


def test_the_sample_is_the_same_every_time() -> None:
    assert sample() == sample()


# -- writes move entities in the indexes ---------------------------------------------------------

LATER = START + timedelta(days=3)


def test_a_user_cannot_be_registered_twice(db: Database) -> None:
    user = User(name="Eve", email="eve@example.com", password="x")
    assert db.run(shop.register(user)) == user
    with pytest.raises(AlreadyExists):
        db.run(shop.register(User(id=user.id, name="Eva", email="eva@example.com", password="y")))
    assert db.run(shop.user_by_id(user.id)) == user
    assert db.run(shop.user_by_email("eva@example.com")) is None


def test_an_update_of_an_email_moves_it_in_both_indexes(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    user = at(db, LATER).run(shop.change_email(id_at(3), "zero@gmail.com"))
    assert (user.email, user.updated_at, user.created_at) == (
        "zero@gmail.com",
        LATER,
        id_at(3).time,
    )
    assert db.run(shop.user_by_email("zero@gmail.com")) == user
    assert db.run(shop.user_by_email("test01@gmail.com")) is None
    assert minutes(db.run(shop.users_by_email_prefix("test"))) == [1, 0]
    assert minutes(db.run(shop.users_by_email_prefix("zero"))) == [3]
    (item,) = [i for i in items() if i["SK"]["S"] == f"USER#{id_at(3)}"]
    assert keys(item) == {
        "PK": "USER",
        "SK": f"USER#{id_at(3)}",
        "SKU": "EMAIL#zero@gmail.com",
        "GSI1PK": "USER",
        "GSI1SK": "EMAIL#zero@gmail.com",
    }


def test_an_update_of_a_price_changes_no_key_and_is_visible_in_every_index(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    before = {item["SK"]["S"]: keys(item) for item in items()}
    product = at(db, LATER).run(shop.change_price(id_at(31), Decimal("1.25")))
    assert (product.price, product.updated_at) == (Decimal("1.25"), LATER)
    assert {item["SK"]["S"]: keys(item) for item in items()} == before
    for found in (
        shop.products(),
        shop.products_by_brand(id_at(21)),
        shop.products_by_category(id_at(13)),
        shop.products_by_brand_and_category(id_at(21), id_at(13)),
        shop.products_by_category_and_brand(id_at(13), id_at(21)),
    ):
        assert [p.price for p in db.run(found) if p.id == id_at(31)] == [Decimal("1.25")]


def test_an_update_of_a_brand_moves_the_product_in_both_indexes(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    product = at(db, LATER).run(shop.change_brand(id_at(31), id_at(22)))
    assert (product.brand_id, product.updated_at) == (id_at(22), LATER)
    assert 31 not in minutes(db.run(shop.products_by_brand(id_at(21))))
    assert 31 in minutes(db.run(shop.products_by_brand(id_at(22))))
    assert minutes(db.run(shop.products_by_category(id_at(13)))) == [39, 43, 31, 35]
    assert minutes(db.run(shop.products_by_category_and_brand(id_at(13), id_at(22)))) == [31, 35]
    (item,) = [i for i in items() if i["SK"]["S"] == f"PRO#{id_at(31)}"]
    assert keys(item) == {
        "PK": "PROD",
        "SK": f"PRO#{id_at(31)}",
        "GSI1PK": f"BRAND#{id_at(22)}",
        "GSI1SK": f"CAT#{id_at(13)}#AT#{seconds(31)}",
        "GSI2PK": f"CAT#{id_at(13)}",
        "GSI2SK": f"BRAND#{id_at(22)}#AT#{seconds(31)}",
    }


def test_an_update_of_a_category_moves_the_product_in_both_indexes(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    product = at(db, LATER).run(shop.change_category(id_at(31), id_at(10)))
    assert (product.category_id, product.updated_at) == (id_at(10), LATER)
    assert 31 not in minutes(db.run(shop.products_by_category(id_at(13))))
    assert 31 in minutes(db.run(shop.products_by_category(id_at(10))))
    assert minutes(db.run(shop.products_by_brand(id_at(21)))) == [31, 34, 37, 40, 43]
    (item,) = [i for i in items() if i["SK"]["S"] == f"PRO#{id_at(31)}"]
    assert keys(item) == {
        "PK": "PROD",
        "SK": f"PRO#{id_at(31)}",
        "GSI1PK": f"BRAND#{id_at(21)}",
        "GSI1SK": f"CAT#{id_at(10)}#AT#{seconds(31)}",
        "GSI2PK": f"CAT#{id_at(10)}",
        "GSI2SK": f"BRAND#{id_at(21)}#AT#{seconds(31)}",
    }


def test_an_update_of_a_status_moves_the_order_to_the_end_of_the_other_list(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    order = at(db, LATER).run(shop.change_status(id_at(0), id_at(53), OrderStatus.DELIVERED))
    assert (order.status, order.updated_at, order.created_at) == (
        OrderStatus.DELIVERED,
        LATER,
        id_at(53).time,
    )
    assert db.run(shop.orders_by_status(OrderStatus.SHIPPED)) == []
    found = db.run(shop.orders_by_status(OrderStatus.DELIVERED))
    assert minutes(found) == [57, 54, 52, 50, 53]
    assert minutes(db.run(shop.orders_by_status_since(OrderStatus.DELIVERED, LATER))) == [53]
    assert minutes(db.run(shop.orders_of_user(id_at(0)))) == [50, 53, 56]
    (item,) = [i for i in items() if i["SK"]["S"] == f"ORDER#{id_at(53)}"]
    assert keys(item) == {
        "PK": f"USER#{id_at(0)}",
        "SK": f"ORDER#{id_at(53)}",
        "GSI1PK": "ORDER#STATUS#DELIVERED",
        "GSI1SK": f"AT#{int(LATER.timestamp())}",
    }


@pytest.mark.parametrize(
    "plan",
    [
        shop.change_email(id_at(9), "x@example.com"),
        shop.change_price(id_at(9), Decimal(1)),
        shop.change_brand(id_at(9), id_at(20)),
        shop.change_category(id_at(9), id_at(10)),
        shop.change_status(id_at(9), id_at(50), OrderStatus.PAID),
    ],
    ids=["email", "price", "brand", "category", "status"],
)
def test_an_update_of_a_missing_entity_raises_not_found(
    db: Database, items: Callable[[], list[dict[str, Any]]], plan: Any
) -> None:
    before = items()
    with pytest.raises(NotFound):
        db.run(plan)
    assert items() == before


# -- placing an order ----------------------------------------------------------------------------


def order_of(*lines: tuple[int, int]) -> Order:
    """Return an order; a line is a product, given by its minute, and a quantity."""
    return Order(
        user_id=id_at(4),
        total_price=Decimal(10),
        items=[
            OrderItem(
                id=KSUID.new(), product_id=id_at(product), quantity=quantity, price=Decimal(1)
            )
            for product, quantity in lines
        ],
    )


def stock(db: Database) -> dict[int, int]:
    found = db.run(shop.products())
    return dict(zip(minutes(found), [product.stock for product in found], strict=True))


def test_placing_an_order_takes_its_products_from_the_stock(db: Database) -> None:
    before = stock(db)
    order = order_of((31, 1), (32, 10), (35, 3))
    db.run(shop.place_order(order))
    assert stock(db) == before | {31: before[31] - 1, 32: 0, 35: before[35] - 3}
    assert db.run(shop.order_by_id(id_at(4), order.id)) == order
    found = db.run(shop.orders_by_status_since(OrderStatus.PENDING, order.created_at))
    assert found == [order]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        pytest.param([(31, 1), (32, 11), (35, 1)], ConditionFailed, id="too many of the second"),
        pytest.param([(31, 1), (35, 1), (30, 1)], ConditionFailed, id="none of the last"),
        pytest.param([(31, 1), (29, 1)], NotFound, id="no such product"),
    ],
)
def test_an_order_that_cannot_be_placed_changes_nothing(
    db: Database,
    items: Callable[[], list[dict[str, Any]]],
    lines: list[tuple[int, int]],
    error: type[Exception],
) -> None:
    before = items()
    with pytest.raises(error, match="Product"):
        db.run(shop.place_order(order_of(*lines)))
    assert items() == before


def test_an_order_cannot_be_placed_twice(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    order = order_of((35, 1))
    db.run(shop.place_order(order))
    before = items()
    with pytest.raises(AlreadyExists):
        db.run(shop.place_order(order))
    assert items() == before


def test_an_order_may_hold_one_product_in_two_lines(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    before = stock(db)
    order = order_of((35, 1), (36, 4), (35, 2))
    db.run(shop.place_order(order))
    assert stock(db) == before | {35: before[35] - 3, 36: before[36] - 4}
    (item,) = [i for i in items() if i["SK"]["S"] == f"ORDER#{order.id}"]
    lines = [line["M"] for line in item["items"]["L"]]
    assert [(line["product_id"]["S"], line["quantity"]["N"]) for line in lines] == [
        (id_at(35), "1"),
        (id_at(36), "4"),
        (id_at(35), "2"),
    ]


def test_the_stock_must_cover_all_lines_of_a_product(
    db: Database, items: Callable[[], list[dict[str, Any]]]
) -> None:
    before = items()
    with pytest.raises(ConditionFailed):
        db.run(shop.place_order(order_of((31, 3), (31, 3))))  # 5 are in stock
    assert items() == before


@pytest.mark.parametrize("quantity", [0, -1])
def test_an_order_with_a_quantity_below_one_is_rejected(quantity: int) -> None:
    with pytest.raises(InvalidValue, match=r"OrderItem\.quantity"):
        order_of((35, quantity))


def test_an_order_is_placed_in_one_transaction() -> None:
    shape = explain(shop.place_order)
    assert shape.operation == "TransactWriteItems"
    assert [(step.operation, step.entity, step.condition) for step in shape.steps] == [
        ("PutItem", "Order", 'PK="USER#{user_id}" AND SK="ORDER#{id}"'),
        ("UpdateItem", "Product", 'PK="PROD" AND SK="PRO#{order.items.product_id}"'),
    ]
    assert shape.steps[1].filter == "stock >= {order.items.quantity}"


# -- names that are prefixes of others, or contain delimiters ------------------------------------


def test_names_with_delimiters_are_found_by_prefix(db: Database) -> None:
    for name in ("A#B", "A", "A#C", "AB", "%23"):
        db.run(create(Category(name=name)))
        db.run(create(Brand(name=name)))
    assert [c.name for c in db.run(shop.categories_by_name_prefix("A#"))] == ["A#B", "A#C"]
    assert {c.name for c in db.run(shop.categories_by_name_prefix("A"))} == {
        "A",
        "A#B",
        "A#C",
        "AB",
    }
    assert {b.name for b in db.run(shop.brands_by_name_prefix("A"))} == {
        "A",
        "A#B",
        "A#C",
        "AB",
        "Acme",
    }
    assert [c.name for c in db.run(shop.categories_by_name_prefix("%"))] == ["%23"]


def test_lists_of_products_come_in_pages(db: Database) -> None:
    whole = minutes(db.run(shop.products_by_brand(id_at(20))))
    assert minutes(db.iterate(shop.products_by_brand(id_at(20)).page_size(2))) == whole
    newest = shop.products_by_brand(id_at(20)).desc().page_size(4)
    assert minutes(db.iterate(newest)) == whole[::-1]


def test_two_products_created_in_one_second_are_both_listed(db: Database) -> None:
    moment = START + timedelta(days=1)
    products = [
        Product(name=f"P{n}", price=Decimal(1), category_id=id_at(10), brand_id=id_at(23))
        for n in range(3)
    ]
    for product in products:
        product.created_at = moment
        db.run(create(product))
    found = db.run(shop.products_by_brand(id_at(23)))
    assert sorted(product.name for product in found) == ["P0", "P1", "P2"]
