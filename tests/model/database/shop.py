"""Two tables, their entities, and what an engine holds of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    index,
    key,
    ttl,
    unique,
    version,
)
from tablewright.formats import epoch_seconds
from tablewright.transport.targets import Local


class Shop(Table, name="shop", pk="pk", sk="sk", type_attribute="kind"):
    by_name = LSI("nameKey")
    by_price = LSI("price", name="lsi-price", project="KEYS_ONLY")
    recent = GSI("GSI1PK", "GSI1SK", name="gsi_recent")
    ranked = GSI("rank", name="gsi_rank", project=("title", "price"))
    marked = GSI("mark", "kind", project="KEYS_ONLY")


class Product(Entity, table=Shop):
    shelf: Attr[str] = attr()
    product_id: Attr[str] = attr()
    title: Attr[str] = attr()
    price: Attr[int | None] = attr(default=None)
    rank: Attr[int | None] = attr(default=None)
    mark: Attr[bytes | None] = attr(default=None)
    made: Attr[datetime] = attr(default=datetime(2026, 1, 15, tzinfo=UTC))
    gone: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("SHELF" / shelf, "PRODUCT" / product_id)
    named = primary.local(Shop.by_name, "NAME" / title)
    priced = primary.local(Shop.by_price, price)
    newest = index(Shop.recent, "PRODUCTS", "AT" / epoch_seconds(made))
    by_rank = index(Shop.ranked, rank)
    by_mark = index(Shop.marked, mark)


class Ledger(Table, name="ledger", sk=None):
    pass


class Account(Entity, table=Ledger):
    account_id: Attr[str] = attr()
    holder: Attr[str] = attr()
    balance: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    primary = key("ACCOUNT" / account_id)
    by_holder = unique("HOLDER" / holder)


class Empty(Table):
    pass


@access_pattern
def shelf(name: str) -> Query[Product]:
    """The products of a shelf."""
    return Product.primary.within(name)


def product(number: int, **more: Any) -> Product:
    return Product(shelf="A", product_id=f"P{number}", title=f"Title {number}", **more)


def engine_of(db: Any) -> Engine:
    assert isinstance(db._transport, Local)
    return db._transport.engine


def described(engine: Engine, name: str) -> dict[str, Any]:
    table: dict[str, Any] = engine.call("DescribeTable", {"TableName": name})["Table"]
    return table


def items(engine: Engine, name: str = "shop") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": name})["Items"]
    return found


def ttl_of(engine: Engine, name: str) -> dict[str, Any]:
    answer = engine.call("DescribeTimeToLive", {"TableName": name})
    description: dict[str, Any] = answer["TimeToLiveDescription"]
    return description
