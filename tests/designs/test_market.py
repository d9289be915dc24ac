"""The market: its patterns, its indexes, the expiry of carts, and the access of users."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tablewright import Engine, Page, connect, explain, put
from tablewright.database import Database
from tablewright.designs import market
from tablewright.designs.catalog import load
from tablewright.designs.market import (
    Account,
    Cart,
    InventoryItem,
    Market,
    MarketItem,
    Order,
    OrderItem,
    OrderWithItems,
    Reward,
    User,
)
from tablewright.designs.market.samples import (
    ACCOUNT,
    ANNA,
    BILL,
    CART,
    EXPIRY,
    FIRST_ORDER,
    GLASS,
    LAST_ORDER,
    PAYMENT,
    PRODUCT,
    RABIN,
    RABINOVICH,
    REWARD,
    SAMOVAR,
    TEAPOT,
    sample,
)
from tablewright.errors import (
    InvalidCursor,
    InvalidValue,
    NotFound,
    TenantViolation,
    UniqueViolation,
)
from tablewright.ids import ULID
from tablewright.plans import Plan, access_patterns
from tablewright.verify import verify
from tests.designs.stored import scan
from tests.prepared import Prepare

ULID_1 = "01JZ10H7X367VB2NF4YQ973DHW"
ULID_2 = "01JZ10H7X367VB2NF4YQ973DXZ"


def fill(engine: Engine) -> None:
    database = connect(engine, Market)
    for entity in sample():
        database.run(put(entity))


@pytest.fixture
def prepare() -> Prepare:
    return fill


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Market)


def items(client: Any, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of the table or of an index, as stored."""
    return scan(client, "Market", index)


def in_shard(client: Any, shard: str) -> list[str]:
    return [item["sk"]["S"] for item in items(client) if item["pk"]["S"] == shard]


def stored(client: Any, sk: str) -> dict[str, Any]:
    (found,) = (item for item in items(client) if item["sk"]["S"] == sk)
    return found


def test_every_check_passes() -> None:
    design = load("market")
    with connect(":memory:", *design.tables) as database:
        results = list(verify(design, database))
    assert [result for result in results if not result.ok] == []
    assert {result.pattern for result in results} == {
        found.name for found in access_patterns(Market)
    }


# -- the four access patterns --------------------------------------------------------------------


def test_get_user_profile(db: Database) -> None:
    assert db.run(market.user_profile(RABINOVICH)) == User(
        user_id="rabinovich",
        business_id="rabinovich",
        name="Moishe Rabinovich",
        email="rabinovich@example.com",
        phones=["+380 48 722 0001"],
        addresses=["12 Deribasivska Street, Odesa"],
        account_id=ACCOUNT,
    )
    assert db.run(market.user_profile("unknown")) is None
    shape = explain(market.user_profile)
    assert (shape.operation, shape.index) == ("GetItem", None)
    assert shape.condition == 'pk="U#{user_id}" AND sk="U#{user_id}"'


def test_get_the_list_of_last_n_orders_for_user(db: Database) -> None:
    both = db.run(market.last_orders(RABINOVICH, 10))
    assert [order.order_id for order in both] == [LAST_ORDER, FIRST_ORDER]
    assert list(db.run(market.last_orders(RABINOVICH, 1))) == [both[0]]
    shape = explain(market.last_orders)
    assert (shape.operation, shape.index) == ("Query", None)
    assert shape.condition == 'pk="U#{user_id}#O" AND begins_with(sk, "O#")'
    assert shape.order == "descending"


def test_a_page_of_orders_is_full_although_items_sort_between_them(db: Database) -> None:
    order_ids = [ULID.new() for _ in range(5)]
    for order_id in order_ids:
        lines = [
            OrderItem(
                user_id=RABIN, order_id=order_id, number=n, item_id=GLASS, price=Decimal("4.50")
            )
            for n in range(1, 61)
        ]
        db.run(market.place_order(Order(user_id=RABIN, order_id=order_id), lines))
    last = db.run(market.last_orders(RABIN, 3))
    assert [order.order_id for order in last] == order_ids[:1:-1]
    rest = db.run(market.last_orders(RABIN, 3).after(last.next_cursor))
    assert [order.order_id for order in rest][:2] == order_ids[1::-1]


def test_display_bonuses_for_user(db: Database) -> None:
    found = db.run(market.bonuses(RABINOVICH))
    assert [(reward.points, reward.reason) for reward in found] == [
        (4, "order"),
        (208, "first order"),
    ]
    assert list(db.run(market.bonuses(RABIN))) == []
    shape = explain(market.bonuses)
    assert (shape.operation, shape.index, shape.order) == ("Query", None, "descending")
    assert shape.condition == 'pk="U#{user_id}#R" AND begins_with(sk, "R#")'


def test_get_a_single_order_with_all_its_items_by_id(db: Database) -> None:
    found = db.run(market.order_with_items("2025-0001"))
    assert found is not None
    assert found.order.order_id == FIRST_ORDER
    assert found.order.total == Decimal("208.50")
    assert [(item.number, item.item_id) for item in found.items] == [
        (1, TEAPOT),
        (2, SAMOVAR),
        (3, GLASS),
    ]
    assert db.run(market.order_with_items("2025-9999")) is None
    lookup, query = explain(market.order_with_items).steps
    assert (lookup.operation, lookup.index) == ("Query", "IdLookupIndex")
    assert lookup.condition == 'id="{business_id}" AND tp="order"'
    assert (query.operation, query.index) == ("Query", None)
    assert query.condition == (
        'pk="U#{order.user_id}#O" AND sk BETWEEN "O#{order.order_id}" AND "O#{order.order_id}$"'
    )


# -- keys ----------------------------------------------------------------------------------------


def test_the_order_shard_is_laid_out_as_in_the_document(db: Database, client: Any) -> None:
    orders = [sk for sk in in_shard(client, "U#rabinovich#O") if sk.startswith("O#")]
    assert orders == [
        "O#01JZ10H7X367VB2NF4YQ973DHW",
        "O#01JZ10H7X367VB2NF4YQ973DHW#001",
        "O#01JZ10H7X367VB2NF4YQ973DHW#002",
        "O#01JZ10H7X367VB2NF4YQ973DHW#003",
        "O#01JZ10H7X367VB2NF4YQ973DXZ",
        "O#01JZ10H7X367VB2NF4YQ973DXZ#001",
    ]


def test_a_user_has_the_shards_of_the_document(db: Database, client: Any) -> None:
    own = [item for item in items(client) if item["pk"]["S"].startswith("U#rabinovich")]
    kinds: dict[str, set[str]] = {}
    for item in own:
        kinds.setdefault(item["pk"]["S"], set()).add(item["tp"]["S"])
    assert kinds == {
        "U#rabinovich": {"user", "cart"},
        "U#rabinovich#O": {"order", "order_item", "bill", "payment", "Order.by_own_id"},
        "U#rabinovich#P": {"product"},
        "U#rabinovich#R": {"reward"},
    }


@pytest.mark.parametrize(
    ("tp", "keys"),
    [
        ("account", ("A#01JZ10H7X367VB2NF4YQ973DHW", "A#01JZ10H7X367VB2NF4YQ973DHW")),
        ("bill", ("U#rabinovich#O", "B#01JZ10H7X367VB2NF4YQ973DJ0")),
        ("cart", ("U#rabinovich", "C#01JZ10H7X367VB2NF4YQ973DM0")),
        ("inventory_item", ("I#01JZ0ZZZZZ0000000000000001", "I#01JZ0ZZZZZ0000000000000001")),
        ("order", (f"U#{ANNA}#O", "O#01JZ10H7X367VB2NF4YQ973DHX")),
        ("order_item", (f"U#{ANNA}#O", "O#01JZ10H7X367VB2NF4YQ973DHX#001")),
        ("payment", ("U#rabinovich#O", "P#01JZ10H7X367VB2NF4YQ973DK0")),
        ("product", ("U#rabinovich#P", "I#01JZ10H7X367VB2NF4YQ973DP0")),
        ("reward", ("U#rabinovich#R", "R#01JZ10H7X367VB2NF4YQ973DHY")),
        (
            "user",
            (
                "U#550e8400-e29b-41d4-a716-446655440000",
                "U#550e8400-e29b-41d4-a716-446655440000",
            ),
        ),
    ],
)
def test_a_system_key_is_a_letter_and_an_id(
    db: Database, tp: str, keys: tuple[str, str], client: Any
) -> None:
    assert keys in [
        (item["pk"]["S"], item["sk"]["S"]) for item in items(client) if item["tp"]["S"] == tp
    ]


def test_an_item_contains_its_keys_its_type_and_its_attributes_only(
    db: Database, client: Any
) -> None:
    assert stored(client, f"O#{ULID_1}") == {
        "pk": {"S": "U#rabinovich#O"},
        "sk": {"S": f"O#{ULID_1}"},
        "tp": {"S": "order"},
        "id": {"S": "2025-0001"},
        "user_id": {"S": "rabinovich"},
        "order_id": {"S": ULID_1},
        "status": {"S": "placed"},
        "total": {"N": "208.5"},
    }


# -- lookup by system key ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "own", "anothers", "key", "condition"),
    [
        (
            market.account_by_system_key,
            (ACCOUNT,),
            (TEAPOT,),
            f"A#{ACCOUNT}",
            'sk="A#{system_id}" AND pk="A#{system_id}"',
        ),
        (market.bill_by_system_key, (BILL,), (CART,), f"B#{BILL}", 'sk="B#{system_id}"'),
        (market.cart_by_system_key, (CART,), (BILL,), f"C#{CART}", 'sk="C#{system_id}"'),
        (
            market.inventory_item_by_system_key,
            (SAMOVAR,),
            (ACCOUNT,),
            f"I#{SAMOVAR}",
            'sk="I#{system_id}" AND pk="I#{system_id}"',
        ),
        (
            market.order_by_system_key,
            (LAST_ORDER,),
            (BILL,),
            f"O#{LAST_ORDER}",
            'sk="O#{system_id}"',
        ),
        (
            market.order_item_by_system_key,
            (LAST_ORDER, 1),
            (LAST_ORDER, 2),
            f"O#{LAST_ORDER}#001",
            'sk="O#{order_id}#{number}"',
        ),
        (
            market.payment_by_system_key,
            (PAYMENT,),
            (BILL,),
            f"P#{PAYMENT}",
            'sk="P#{system_id}"',
        ),
        (
            market.product_by_system_key,
            (PRODUCT,),
            (TEAPOT,),
            f"I#{PRODUCT}",
            'sk="I#{system_id}" AND begins_with(pk, "U#")',
        ),
        (market.reward_by_system_key, (REWARD,), (BILL,), f"R#{REWARD}", 'sk="R#{system_id}"'),
        (
            market.user_by_system_key,
            (ANNA,),
            ("anna",),
            f"U#{ANNA}",
            'sk="U#{system_id}" AND pk="U#{system_id}"',
        ),
    ],
)
def test_lookup_by_system_key(
    db: Database,
    pattern: Callable[..., Plan[Any]],
    own: tuple[Any, ...],
    anothers: tuple[Any, ...],
    key: str,
    condition: str,
    client: Any,
) -> None:
    found = db.run(pattern(*own))
    assert found in sample()
    assert stored(client, key)["tp"] == {"S": type(found).__entity__.type_name}
    assert db.run(pattern(*anothers)) is None
    shape = explain(pattern)
    assert (shape.operation, shape.index) == ("Query + GetItem", "ReverseIndex")
    assert shape.steps[0].condition == condition


def test_the_reverse_index_contains_the_keys_of_every_item(db: Database, client: Any) -> None:
    assert items(client, "ReverseIndex") == keys(client)


def keys(client: Any) -> list[dict[str, Any]]:
    return [{"pk": item["pk"], "sk": item["sk"]} for item in items(client)]


def test_an_update_that_changes_no_key_does_not_write_to_an_index(
    db: Database, client: Any
) -> None:
    answer = client.update_item(
        TableName="Market",
        Key={"pk": {"S": "U#rabin"}, "sk": {"S": "U#rabin"}},
        UpdateExpression="SET email = :email",
        ExpressionAttributeValues={":email": {"S": "rabin@example.com"}},
        ReturnConsumedCapacity="INDEXES",
    )
    consumed = answer["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 1
    assert not consumed.get("GlobalSecondaryIndexes")
    assert stored(client, "U#rabin")["email"] == {"S": "rabin@example.com"}


# -- lookup by business id -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "business_id", "tp", "key"),
    [
        (market.account_by_id, "tea-circle", "account", f"A#{ACCOUNT}"),
        (market.bill_by_id, "B-0001", "bill", f"B#{BILL}"),
        (market.cart_by_id, "C-0001", "cart", f"C#{CART}"),
        (market.product_by_id, "JAM-01", "product", f"I#{PRODUCT}"),
        (market.inventory_item_by_id, "TEA-02", "inventory_item", f"I#{SAMOVAR}"),
        (market.order_by_id, "2025-0003", "order", f"O#{LAST_ORDER}"),
        (market.payment_by_id, "P-0001", "payment", f"P#{PAYMENT}"),
        (market.user_by_id, "anna", "user", f"U#{ANNA}"),
    ],
)
def test_lookup_by_business_id(
    db: Database,
    pattern: Callable[[str], Plan[Any]],
    business_id: str,
    tp: str,
    key: str,
    client: Any,
) -> None:
    found = db.run(pattern(business_id))
    assert found is not None
    assert found.business_id == business_id
    assert stored(client, key)["id"] == {"S": business_id}
    assert db.run(pattern("nothing")) is None
    shape = explain(pattern)
    assert (shape.operation, shape.index) == ("Query", "IdLookupIndex")
    assert shape.condition == f'id="{{business_id}}" AND tp="{tp}"'


def test_two_types_may_use_the_same_business_id(db: Database) -> None:
    db.run(put(Account(business_id="2025-0001", name="Borrowed")))
    account = db.run(market.account_by_id("2025-0001"))
    order = db.run(market.order_by_id("2025-0001"))
    assert account is not None
    assert account.name == "Borrowed"
    assert order is not None
    assert order.order_id == FIRST_ORDER


def test_an_item_without_a_business_id_is_not_in_the_id_lookup_index(
    db: Database, client: Any
) -> None:
    found = items(client, "IdLookupIndex")
    assert found == [item for item in items(client) if "id" in item]
    assert 0 < len(found) < len(items(client))
    assert {item["tp"]["S"] for item in found} == {
        "account",
        "bill",
        "cart",
        "inventory_item",
        "order",
        "payment",
        "product",
        "user",
    }


def test_every_item_may_have_a_business_id_and_an_expiry(db: Database, client: Any) -> None:
    in_a_day = datetime.now(UTC) + timedelta(days=1)
    for number, entity in enumerate({type(entity): entity for entity in sample()}.values()):
        assert isinstance(entity, MarketItem)
        entity.business_id, entity.expires = f"own-{number}", in_a_day
        db.run(put(entity))
    written = [item for item in items(client) if item.get("id", {}).get("S", "").startswith("own-")]
    assert len({item["tp"]["S"] for item in written}) == 10
    # In whole seconds: never before the moment.
    assert {item["ttl"]["N"] for item in written} == {str(math.ceil(in_a_day.timestamp()))}
    reward = next(item for item in written if item["tp"]["S"] == "reward")
    found = db.run(market.reward_by_id(reward["id"]["S"]))
    assert found is not None
    assert found.reward_id == reward["reward_id"]["S"]


@pytest.mark.parametrize(
    "run",
    [
        lambda db: db.run(put(Order(user_id=RABIN, business_id=""))),
        lambda db: db.run(market.set_order_id(RABINOVICH, FIRST_ORDER, "")),
        lambda db: db.run(market.order_by_id("")),
        lambda db: db.run(market.order_with_items("")),
    ],
    ids=["put", "update", "look up", "load"],
)
def test_an_empty_business_id_is_rejected(
    db: Database, run: Callable[[Database], Any], client: Any
) -> None:
    before = items(client)
    with pytest.raises(InvalidValue, match="business_id"):
        run(db)
    assert items(client) == before


def test_removing_a_business_id_removes_the_item_from_the_index(db: Database, client: Any) -> None:
    db.run(market.set_order_id(RABINOVICH, LAST_ORDER, None))
    assert db.run(market.order_by_id("2025-0003")) is None
    assert "id" not in stored(client, f"O#{ULID_2}")
    db.run(market.set_order_id(RABINOVICH, LAST_ORDER, "2025-0033"))
    assert db.run(market.order_by_id("2025-0003")) is None
    found = db.run(market.order_by_id("2025-0033"))
    assert found is not None
    assert found.order_id == LAST_ORDER


def test_a_write_of_a_business_id_names_the_index_whose_key_it_changes() -> None:
    """The attribute is itself the key of the index; an update of others changes no index key."""
    assert explain(market.set_order_id).index == "IdLookupIndex"
    assert explain(market.update_profile).index is None


# -- writes --------------------------------------------------------------------------------------


def test_update_user_profile(db: Database) -> None:
    changed = db.run(market.update_profile(RABIN, ["+972 3 555 0001"], ["Tel Aviv"]))
    assert changed == db.run(market.user_profile(RABIN))
    assert (changed.phones, changed.addresses) == (["+972 3 555 0001"], ["Tel Aviv"])
    assert changed.name == "Leah Rabin"
    with pytest.raises(NotFound):
        db.run(market.update_profile("unknown", [], []))


def test_place_an_order_with_all_its_items(db: Database, client: Any) -> None:
    order = Order(user_id=RABIN, order_id=ULID.new(), business_id="2025-0004")
    lines = [
        OrderItem(
            user_id=RABIN, order_id=order.order_id, number=n, item_id=GLASS, price=Decimal("4.50")
        )
        for n in range(1, 12)
    ]
    db.run(market.place_order(order, lines))
    assert db.run(market.order_with_items("2025-0004")) == OrderWithItems(order=order, items=lines)
    assert in_shard(client, "U#rabin#O")[-1] == f"O#{order.order_id}#011"


@pytest.mark.parametrize(
    ("user_id", "order_id"), [(ANNA, None), (RABIN, FIRST_ORDER)], ids=["user", "order"]
)
def test_an_order_is_not_placed_with_items_of_another(
    db: Database, user_id: str, order_id: ULID | None, client: Any
) -> None:
    before = items(client)
    order = Order(user_id=RABIN)
    line = OrderItem(
        user_id=user_id,
        order_id=order_id or order.order_id,
        number=1,
        item_id=GLASS,
        price=Decimal("4.50"),
    )
    with pytest.raises(InvalidValue, match="with its own items only"):
        db.run(market.place_order(order, [line]))
    assert items(client) == before


def test_grant_a_reward(db: Database) -> None:
    reward = Reward(user_id=RABIN, points=33)
    assert db.run(market.grant_reward(reward)) == reward
    assert list(db.run(market.bonuses(RABIN))) == [reward]


# -- carts that expire ---------------------------------------------------------------------------


def test_a_cart_stores_its_expiry_in_seconds(db: Database, client: Any) -> None:
    cart = Cart(user_id=RABIN, business_id="C-0002", lines={"TEA-03": 2}, expires=EXPIRY)
    assert db.run(market.put_cart(cart)) == cart
    assert list(db.run(market.carts(RABIN))) == [cart]
    assert stored(client, f"C#{cart.cart_id}") == {
        "pk": {"S": "U#rabin"},
        "sk": {"S": f"C#{cart.cart_id}"},
        "tp": {"S": "cart"},
        "id": {"S": "C-0002"},
        "user_id": {"S": "rabin"},
        "cart_id": {"S": cart.cart_id},
        "lines": {"M": {"TEA-03": {"N": "2"}}},
        "ttl": {"N": str(int(EXPIRY.timestamp()))},
    }


def test_put_an_inventory_item_into_a_cart(db: Database, client: Any) -> None:
    for quantity in (6, 4):
        found = db.run(market.put_into_cart("C-0001", "TEA-03", quantity))
        assert found is not None
        assert found[1].lines == {"TEA-01": 1, "TEA-03": quantity}
    assert stored(client, f"C#{CART}")["lines"] == {
        "M": {"TEA-01": {"N": "1"}, "TEA-03": {"N": "4"}}
    }
    assert db.run(market.put_into_cart("C-9999", "TEA-03", 1)) is None


def test_a_user_does_not_put_a_cart_without_a_business_id(db: Database, client: Any) -> None:
    """The user could not refer to it: its other id is a system key."""
    before = items(client)
    with pytest.raises(InvalidValue, match="the cart has no business id"):
        db.for_tenant(user_id=RABIN).run(market.put_cart(Cart(user_id=RABIN, expires=EXPIRY)))
    assert items(client) == before


def test_a_user_puts_an_item_into_a_cart_without_a_business_id(db: Database, client: Any) -> None:
    own = db.for_tenant(user_id=ANNA)
    (cart,) = own.run(market.carts(ANNA))
    assert cart.business_id is None
    own.run(market.put_into_newest_cart(ANNA, "TEA-01", 2))
    assert stored(client, f"C#{cart.cart_id}")["lines"] == {
        "M": {"TEA-01": {"N": "2"}, "TEA-02": {"N": "1"}, "TEA-03": {"N": "6"}}
    }
    newer = Cart(user_id=ANNA, business_id="C-0002")
    own.run(market.put_cart(newer))
    own.run(market.put_into_newest_cart(ANNA, "TEA-01", 3))
    assert stored(client, f"C#{newer.cart_id}")["lines"] == {"M": {"TEA-01": {"N": "3"}}}
    assert own.run(market.put_into_cart("C-0002", "TEA-01", 4)) is not None
    assert db.run(market.put_into_newest_cart(RABIN, "TEA-01", 1)) is None  # has no cart


def test_the_ttl_attribute_of_the_table_is_that_of_carts(db: Database, client: Any) -> None:
    described = client.describe_time_to_live(TableName="Market")
    assert described["TimeToLiveDescription"] == {
        "AttributeName": "ttl",
        "TimeToLiveStatus": "ENABLED",
    }


def test_only_items_with_an_expiry_expire(db: Database, engine: Engine, client: Any) -> None:
    before = items(client)
    assert engine.expire(EXPIRY.timestamp() - 1) == 0
    assert items(client) == before
    assert engine.expire(EXPIRY.timestamp() + 1) == 1
    assert db.run(market.cart_by_id("C-0001")) is None
    assert db.run(market.cart_by_system_key(CART)) is None
    assert list(db.run(market.carts(RABINOVICH))) == []
    assert len(db.run(market.carts(ANNA))) == 1  # a month later
    assert engine.expire(EXPIRY.replace(month=3).timestamp()) == 1
    assert items(client) == [item for item in before if item["tp"]["S"] != "cart"]
    assert items(client, "ReverseIndex") == keys(client)


# -- tenancy -------------------------------------------------------------------------------------

NEW = ULID("01JZ10H7X367VB2NF4YQ973DZX")
NEW_ORDER = Order(user_id=RABINOVICH, order_id=NEW)
NEW_LINE = OrderItem(
    user_id=RABINOVICH, order_id=NEW, number=1, item_id=GLASS, price=Decimal("4.50")
)

#: For each pattern, a call that accesses data of Rabinovich.
CALLS: dict[str, Plan[Any]] = {
    "user_profile": market.user_profile(RABINOVICH),
    "last_orders": market.last_orders(RABINOVICH, 5),
    "bonuses": market.bonuses(RABINOVICH),
    "order_with_items": market.order_with_items("2025-0001"),
    "own_order_with_items": market.own_order_with_items(RABINOVICH, "2025-0001"),
    "products": market.products(RABINOVICH),
    "carts": market.carts(RABINOVICH),
    "bills": market.bills(RABINOVICH),
    "payments": market.payments(RABINOVICH),
    "account_by_system_key": market.account_by_system_key(ACCOUNT),
    "bill_by_system_key": market.bill_by_system_key(BILL),
    "cart_by_system_key": market.cart_by_system_key(CART),
    "inventory_item_by_system_key": market.inventory_item_by_system_key(GLASS),
    "order_by_system_key": market.order_by_system_key(FIRST_ORDER),
    "product_by_system_key": market.product_by_system_key(PRODUCT),
    "order_item_by_system_key": market.order_item_by_system_key(FIRST_ORDER, 1),
    "payment_by_system_key": market.payment_by_system_key(PAYMENT),
    "reward_by_system_key": market.reward_by_system_key(REWARD),
    "user_by_system_key": market.user_by_system_key(RABINOVICH),
    "account_by_id": market.account_by_id("tea-circle"),
    "bill_by_id": market.bill_by_id("B-0001"),
    "cart_by_id": market.cart_by_id("C-0001"),
    "product_by_id": market.product_by_id("JAM-01"),
    "reward_by_id": market.reward_by_id("R-0001"),
    "order_item_by_id": market.order_item_by_id("L-0001"),
    "inventory_item_by_id": market.inventory_item_by_id("TEA-01"),
    "order_by_id": market.order_by_id("2025-0001"),
    "payment_by_id": market.payment_by_id("P-0001"),
    "user_by_id": market.user_by_id("rabinovich"),
    "update_profile": market.update_profile(RABINOVICH, ["1"], ["2"]),
    "put_cart": market.put_cart(
        Cart(user_id=RABINOVICH, cart_id=NEW, business_id="C-0002", expires=EXPIRY)
    ),
    "put_into_cart": market.put_into_cart("C-0001", "TEA-03", 3),
    "put_into_newest_cart": market.put_into_newest_cart(RABINOVICH, "TEA-03", 3),
    "place_order": market.place_order(NEW_ORDER, [NEW_LINE]),
    "grant_reward": market.grant_reward(
        Reward(user_id=RABINOVICH, reward_id=NEW, points=1_000_000)
    ),
    "set_order_id": market.set_order_id(RABINOVICH, FIRST_ORDER, "changed"),
}

OWN_READS = (
    "user_profile",
    "last_orders",
    "bonuses",
    "order_with_items",
    "own_order_with_items",
    "carts",
    "bills",
    "payments",
    "products",
    "cart_by_id",
    "product_by_id",
    "bill_by_id",
    "order_by_id",
    "payment_by_id",
    "user_by_id",
)
OWN_WRITES = ("update_profile", "put_cart", "put_into_cart", "put_into_newest_cart")
READ_ONLY = ("place_order", "grant_reward", "set_order_id")
#: Lookups in the index are allowed; items of other users are filtered out.
FILTERED = (
    "account_by_id",
    "bill_by_id",
    "cart_by_id",
    "order_by_id",
    "order_with_items",
    "payment_by_id",
    "product_by_id",
    "put_into_cart",
    "user_by_id",
)
#: Patterns for items that no one has in the sample, or that every user may read.
UNSCOPED = (
    "reward_by_id",
    "order_item_by_id",
    "inventory_item_by_id",
    "inventory_item_by_system_key",
)
SYSTEM_KEYS = tuple(name for name in CALLS if name.endswith("_by_system_key"))


def test_tenancy_is_tested_for_every_pattern() -> None:
    assert set(CALLS) == {found.name for found in access_patterns(Market)}
    assert {*OWN_READS, *OWN_WRITES, *READ_ONLY, *SYSTEM_KEYS, *UNSCOPED, "account_by_id"} == set(
        CALLS
    )


@pytest.mark.parametrize("name", OWN_READS)
def test_a_user_can_read_all_own_shards(db: Database, name: str) -> None:
    plan = CALLS[name]
    found = db.for_tenant(user_id=RABINOVICH).run(plan)
    assert found
    assert _plain(found) == _plain(db.run(plan))


def _plain(found: Any) -> Any:
    return list(found) if isinstance(found, Page) else found


@pytest.mark.parametrize("name", OWN_WRITES)
def test_a_user_can_write_the_own_profile_shard(db: Database, name: str) -> None:
    written = db.for_tenant(user_id=RABINOVICH).run(CALLS[name])
    if isinstance(written, tuple):
        assert db.run(market.cart_by_id("C-0001")) == written[1]
    elif isinstance(written, Cart):
        assert written in db.run(market.carts(RABINOVICH))
    else:
        assert db.run(market.user_profile(RABINOVICH)) == written


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_user_cannot_write_orders_and_rewards(db: Database, name: str, client: Any) -> None:
    before = items(client)
    with pytest.raises(TenantViolation, match=r"may write U#rabinovich; pk='U#rabinovich#[OR]'"):
        db.for_tenant(user_id=RABINOVICH).run(CALLS[name])
    assert items(client) == before


def test_a_user_cannot_write_payments_and_products(db: Database) -> None:
    own = db.for_tenant(user_id=RABINOVICH)
    (payment,) = own.run(market.payments(RABINOVICH))
    with pytest.raises(TenantViolation, match=r"may write U#rabinovich; pk='U#rabinovich#O'"):
        own.run(put(payment))
    product = own.run(market.products(RABINOVICH))[0]
    with pytest.raises(TenantViolation, match=r"may write U#rabinovich; pk='U#rabinovich#P'"):
        own.run(put(product))


def test_every_user_can_read_the_inventory_and_not_write_it(db: Database, client: Any) -> None:
    before = items(client)
    own = db.for_tenant(user_id=RABIN)
    samovar = own.run(market.inventory_item_by_id("TEA-02"))
    assert samovar is not None
    assert own.run(InventoryItem.primary(SAMOVAR)) == samovar
    with pytest.raises(TenantViolation, match=r"may write U#rabin; pk='I#"):
        own.run(put(samovar))
    assert items(client) == before


@pytest.mark.parametrize("name", [name for name in CALLS if name not in (*FILTERED, *UNSCOPED)])
@pytest.mark.parametrize("user", [RABIN, ANNA])
def test_a_user_cannot_access_data_of_another_user(
    db: Database, name: str, user: str, client: Any
) -> None:
    before = items(client)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id=user).run(CALLS[name])
    assert items(client) == before


@pytest.mark.parametrize("name", FILTERED)
@pytest.mark.parametrize("user", [RABIN, ANNA])
def test_a_lookup_by_business_id_does_not_find_items_of_another_user(
    db: Database, name: str, user: str
) -> None:
    plan = CALLS[name]
    assert db.run(plan) is not None
    assert db.for_tenant(user_id=user).run(plan) is None


@pytest.mark.parametrize("taken", [{"order_id": FIRST_ORDER}, {"business_id": "2025-0001"}])
def test_no_two_users_have_the_same_order_id(db: Database, client: Any, taken: Any) -> None:
    before = items(client)
    with pytest.raises(UniqueViolation):
        db.run(market.place_order(Order(user_id=ANNA, **taken), []))
    assert items(client) == before


def test_the_sentinels_of_an_order_are_not_in_the_lookup_index(db: Database, client: Any) -> None:
    assert {item["tp"]["S"] for item in items(client, "IdLookupIndex")} == {
        *("account", "user", "cart", "inventory_item", "order", "bill", "payment", "product")
    }


def test_a_lookup_by_business_id_finds_the_own_order(db: Database) -> None:
    own = db.for_tenant(user_id=ANNA)
    found = own.run(market.order_with_items("2025-0002"))
    assert found == db.run(market.order_with_items("2025-0002"))
    assert found is not None
    assert found.order.user_id == ANNA
    assert own.run(market.order_with_items("2025-0001")) is None


@pytest.mark.parametrize("name", SYSTEM_KEYS)
def test_a_user_cannot_look_up_by_system_key(db: Database, name: str) -> None:
    """The own profile and the inventory are exceptions: their partition keys are known."""
    own = db.for_tenant(user_id=RABINOVICH)
    if name in ("user_by_system_key", "inventory_item_by_system_key"):
        assert own.run(CALLS[name]) == db.run(CALLS[name])
    else:
        with pytest.raises(TenantViolation, match="of the index ReverseIndex"):
            own.run(CALLS[name])


@pytest.mark.parametrize("user", ["rabinovich#O", "rabinovic", "rabinovich#", "U#rabinovich"])
def test_a_user_id_that_looks_like_a_shard_is_another_user(db: Database, user: str) -> None:
    scoped = db.for_tenant(user_id=user)
    assert scoped.run(market.user_profile(user)) is None
    assert scoped.run(market.order_with_items("2025-0001")) is None
    assert list(scoped.run(market.last_orders(user, 5))) == []
    for name in ("user_profile", "last_orders", "bonuses", "payments", "update_profile"):
        with pytest.raises(TenantViolation):
            scoped.run(CALLS[name])


def test_a_cursor_of_one_user_is_rejected_for_another(db: Database) -> None:
    page = db.for_tenant(user_id=RABINOVICH).run(market.last_orders(RABINOVICH, 1))
    assert page.next_cursor is not None
    for user in (RABINOVICH, ANNA):
        with pytest.raises(InvalidCursor):
            db.for_tenant(user_id=ANNA).run(market.last_orders(user, 1).after(page.next_cursor))


def test_a_cursor_does_not_show_a_system_key(db: Database, client: Any) -> None:
    cursor = db.for_tenant(user_id=RABINOVICH).run(market.last_orders(RABINOVICH, 1)).next_cursor
    assert cursor is not None
    shown = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for system_key in {item["sk"]["S"] for item in items(client)}:
        rest = system_key.partition("#")[2]
        assert rest not in cursor
        assert rest.encode() not in shown
