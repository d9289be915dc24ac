"""Which tables a database opens, and how it creates them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    Engine,
    Table,
    batch_get,
    batch_write,
    connect,
    create,
    put,
    transact,
    update,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.plans import Plan
from tests.model.database.shop import (
    Account,
    Empty,
    Ledger,
    Product,
    Shop,
    described,
    engine_of,
    items,
    product,
    shelf,
    ttl_of,
)
from tests.transports import record_requests

# -- which tables ----------------------------------------------------------------------------------


def test_a_connection_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="at least one Table"):
        connect(":memory:")


@pytest.mark.parametrize("wrong", [int, Product, Table, "Shop", None])
def test_what_is_not_a_table_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match="takes subclasses of Table, not"):
        connect(":memory:", wrong)


def test_a_table_without_entities_is_refused_with_the_likely_cause() -> None:
    with pytest.raises(DeclarationError, match="Empty has no entities; import the module"):
        connect(":memory:", Empty)


def test_a_refused_connection_leaves_no_file_behind(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError):
        connect(tmp_path / "shop.db", Empty)
    assert list(tmp_path.iterdir()) == []


def test_several_tables_are_made_and_used_together(db: Database) -> None:
    assert engine_of(db).call("ListTables") == {"TableNames": ["ledger", "shop"]}
    account = Account(account_id="1", holder="ann")
    db.run(transact(create(product(1)), create(account)))
    both = batch_get([Product.primary("A", "P1")]), batch_get([Account.primary("1")])
    assert [db.run(plan) for plan in both] == [[product(1)], [account]]


def test_one_batch_reads_and_writes_two_tables(db: Database) -> None:
    db.run(create(Account(account_id="1", holder="ann")))
    db.run(create(product(1)))
    fetches: list[Any] = [Account.primary("1"), Product.primary("A", "P1")]
    recording = record_requests(db)
    account, found = db.run(batch_get(fetches))
    assert isinstance(account, Account)
    assert isinstance(found, Product)
    assert recording.operations == ["BatchGetItem"]


def test_a_plan_of_a_table_that_is_not_connected_is_refused_before_any_request() -> None:
    with connect(":memory:", Shop) as db:
        recording = record_requests(db)
        plans: list[Plan[Any]] = [
            Account.primary("1"),
            create(Account(account_id="1", holder="ann")),
            transact(create(product(1)), create(Account(account_id="1", holder="ann"))),
            batch_get([Account.primary("1")]),
            Account.scan(reason="test"),
            Account.by_holder("ann"),
        ]
        for plan in plans:
            with pytest.raises(DeclarationError, match="connected to shop, not to ledger"):
                db.run(plan)
        assert recording.requests == []


def test_a_table_may_have_another_name_there() -> None:
    with Engine() as engine:
        test = connect(engine, Shop, table_name="shop-test")
        real = connect(engine, Shop)
        test.run(create(product(1)))
        real.run(create(product(2)))
        assert engine.call("ListTables") == {"TableNames": ["shop", "shop-test"]}
        assert test.run(shelf("A")) == [product(1)]
        assert real.run(shelf("A")) == [product(2)]
        assert repr(test) == "Database(shop-test)"


def test_every_kind_of_plan_uses_the_name_that_the_table_has_there() -> None:
    with Engine() as engine:
        db = connect(engine, Ledger, table_name="other")
        ann = Account(account_id="1", holder="ann")
        db.run(create(ann))
        db.run(update(ann, Account.holder.set("bob")))
        db.run(Account.primary("1").update(Account.account_id.set("2")))
        assert db.run(Account.by_holder("bob")) == db.run(Account.primary("2"))
        assert [a.holder for a in db.iterate(Account.scan(reason="test"))] == ["bob"]
        assert db.run(batch_get([Account.primary("2")]))[0] is not None
        db.run(Account.primary("2").delete())
        assert items(engine, "other") == []


def test_a_name_for_several_tables_is_refused() -> None:
    with pytest.raises(InvalidValue, match="table_name= takes one table"):
        connect(":memory:", Shop, Ledger, table_name="one")


# -- the table that is made ------------------------------------------------------------------------


def keys_of(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(part["AttributeName"], part["KeyType"]) for part in schema]


def test_a_table_is_made_with_exactly_the_declared_keys_and_types(db: Database) -> None:
    table = described(engine_of(db), "shop")
    assert keys_of(table["KeySchema"]) == [("pk", "HASH"), ("sk", "RANGE")]
    assert {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]} == {
        "pk": "S",
        "sk": "S",
        "nameKey": "S",
        "price": "N",
        "GSI1PK": "S",
        "GSI1SK": "S",
        "rank": "N",
        "mark": "B",
        "kind": "S",
    }
    assert table["TableStatus"] == "ACTIVE"
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_a_table_is_made_with_exactly_the_declared_indexes(db: Database) -> None:
    table = described(engine_of(db), "shop")
    found = {
        index["IndexName"]: (keys_of(index["KeySchema"]), index["Projection"])
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in table[member]
    }
    some = found["gsi_rank"][1].pop("NonKeyAttributes")
    assert set(some) == {"title", "price"}
    assert found == {
        "by_name": ([("pk", "HASH"), ("nameKey", "RANGE")], {"ProjectionType": "ALL"}),
        "lsi-price": ([("pk", "HASH"), ("price", "RANGE")], {"ProjectionType": "KEYS_ONLY"}),
        "gsi_recent": ([("GSI1PK", "HASH"), ("GSI1SK", "RANGE")], {"ProjectionType": "ALL"}),
        "gsi_rank": ([("rank", "HASH")], {"ProjectionType": "INCLUDE"}),
        "marked": ([("mark", "HASH"), ("kind", "RANGE")], {"ProjectionType": "KEYS_ONLY"}),
    }


def test_a_table_without_a_sort_key_or_indexes_is_made_so(db: Database) -> None:
    table = described(engine_of(db), "ledger")
    assert keys_of(table["KeySchema"]) == [("PK", "HASH")]
    assert [a["AttributeName"] for a in table["AttributeDefinitions"]] == ["PK"]
    assert "GlobalSecondaryIndexes" not in table
    assert "LocalSecondaryIndexes" not in table


def test_the_declared_attribute_makes_items_expire(db: Database) -> None:
    assert ttl_of(engine_of(db), "shop") == {
        "AttributeName": "expires",
        "TimeToLiveStatus": "ENABLED",
    }


def test_a_table_without_a_ttl_attribute_expires_nothing(db: Database) -> None:
    assert ttl_of(engine_of(db), "ledger") == {"TimeToLiveStatus": "DISABLED"}


def test_an_item_past_its_time_is_expired(db: Database) -> None:
    gone = datetime(2026, 1, 1, tzinfo=UTC)
    db.run(batch_write([put(product(1, gone=gone)), put(product(2))]))
    assert engine_of(db).expire(gone.timestamp() + 1) == 1
    assert db.run(shelf("A")) == [product(2)]
