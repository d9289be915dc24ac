"""A database is opened with exactly the tables declared, and runs plans, in a loop or not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import boto3
import pytest

from tablewright import (
    GSI,
    LSI,
    Attr,
    Database,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    condition_check,
    connect,
    connect_async,
    create,
    delete,
    epoch_seconds,
    index,
    key,
    put,
    transact,
    ttl,
    unique,
    update,
    version,
)
from tablewright.engine import maintenance
from tablewright.errors import (
    AlreadyExists,
    DeclarationError,
    InvalidValue,
    ResourceInUseException,
    StoreClosed,
    TableMismatch,
    TableNotFound,
    TablewrightError,
)
from tablewright.model.provision import Provision
from tablewright.plan.plan import run
from tablewright.plans import Plan
from tablewright.transport import Local, Response, tables
from tests.transports import record_requests

ROOT = Path(__file__).parents[2]


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


def rows(engine: Engine, name: str = "ledger") -> list[str]:
    return sorted(item["PK"]["S"] for item in items(engine, name))


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Shop, Ledger) as db:
        yield db
        report = engine_of(db).check() if isinstance(db._transport, Local) else True
        assert report


# -- where to ------------------------------------------------------------------------------------


def test_a_database_in_memory_is_its_own() -> None:
    with connect(":memory:", Shop) as one, connect(":memory:", Shop) as other:
        one.run(create(product(1)))
        assert one.run(shelf("A")) == [product(1)]
        assert other.run(shelf("A")) == []


@pytest.mark.parametrize("spelling", [str, Path])
def test_a_database_in_a_file_is_there_the_next_time(
    tmp_path: Path, spelling: Callable[[Path], str | Path]
) -> None:
    with connect(spelling(tmp_path / "shop.db"), Shop) as db:
        db.run(create(product(1)))
    with connect(spelling(tmp_path / "shop.db"), Shop) as db:
        assert db.run(shelf("A")) == [product(1)]


def test_an_engine_that_is_open_stays_open_when_the_database_is_closed() -> None:
    with Engine() as engine:
        with connect(engine, Shop) as db:
            db.run(create(product(1)))
        assert len(items(engine)) == 1
        assert connect(engine, Shop).run(shelf("A")) == [product(1)]


def test_an_engine_stays_open_when_the_connection_fails() -> None:
    with Engine() as engine:
        with pytest.raises(TableNotFound):
            connect(engine, Shop, create=False)
        assert engine.call("ListTables") == {"TableNames": []}


def test_with_closes_the_database() -> None:
    with connect(":memory:", Shop) as db:
        pass
    with pytest.raises(StoreClosed):
        db.run(shelf("A"))


def test_with_closes_the_database_when_its_block_fails() -> None:
    with pytest.raises(ZeroDivisionError), connect(":memory:", Shop) as db:
        raise ZeroDivisionError
    with pytest.raises(StoreClosed):
        db.run(shelf("A"))


def test_closing_twice_is_no_error() -> None:
    db = connect(":memory:", Shop)
    db.close()
    db.close()


def test_what_is_neither_a_path_nor_an_engine_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"'ftp://host' is not a target"):
        connect("ftp://host", Shop)


def test_a_database_shows_the_names_of_its_tables() -> None:
    with connect(":memory:", Shop, Ledger) as db:
        assert repr(db) == "Database(shop, ledger)"


# -- which tables --------------------------------------------------------------------------------


def test_a_connection_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="at least one Table"):
        connect(":memory:")


@pytest.mark.parametrize("wrong", [int, Product, Table, "Shop", None])
def test_what_is_not_a_table_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match="takes Tables, not"):
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
    with pytest.raises(InvalidValue, match="table_name= is for one table"):
        connect(":memory:", Shop, Ledger, table_name="one")


# -- the table that is made ----------------------------------------------------------------------


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


def ttl_of(engine: Engine, name: str) -> dict[str, Any]:
    answer = engine.call("DescribeTimeToLive", {"TableName": name})
    description: dict[str, Any] = answer["TimeToLiveDescription"]
    return description


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


# -- the table that is there ---------------------------------------------------------------------


def test_a_missing_table_is_not_made_unless_wanted(tmp_path: Path) -> None:
    with pytest.raises(TableNotFound, match=r"no table 'shop' here; connect\(…, create=True\)"):
        connect(tmp_path / "shop.db", Shop, create=False)
    with Engine(tmp_path / "shop.db") as engine:
        assert engine.call("ListTables") == {"TableNames": []}


def test_a_table_that_is_there_is_opened_without_making_it(tmp_path: Path) -> None:
    connect(tmp_path / "shop.db", Shop, create=True).close()
    with connect(tmp_path / "shop.db", Shop, create=False) as db:
        assert db.run(shelf("A")) == []


KEY_SCHEMA = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]
TEXTS = ("pk", "sk", "nameKey", "GSI1PK", "GSI1SK", "kind")


def gsi(name: str, *names: str, project: Any = "ALL") -> dict[str, Any]:
    kinds = ("HASH", "RANGE")
    projection: dict[str, Any] = {"ProjectionType": project}
    if not isinstance(project, str):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(project)}
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": n, "KeyType": k} for n, k in zip(names, kinds, strict=False)
        ],
        "Projection": projection,
    }


def as_declared() -> dict[str, Any]:
    """The table as it should be."""
    types = dict.fromkeys(TEXTS, "S") | {"price": "N", "rank": "N", "mark": "B"}
    return {
        "TableName": "shop",
        "KeySchema": KEY_SCHEMA,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "LocalSecondaryIndexes": [
            gsi("by_name", "pk", "nameKey"),
            gsi("lsi-price", "pk", "price", project="KEYS_ONLY"),
        ],
        "GlobalSecondaryIndexes": [
            gsi("gsi_recent", "GSI1PK", "GSI1SK"),
            gsi("gsi_rank", "rank", project=("price", "title")),
            gsi("marked", "mark", "kind", project="KEYS_ONLY"),
        ],
    }


def expires_by(engine: Engine, attribute: str) -> None:
    specification = {"AttributeName": attribute, "Enabled": True}
    engine.call("UpdateTimeToLive", {"TableName": "shop", "TimeToLiveSpecification": specification})


def other_types(request: dict[str, Any], **types: str) -> None:
    for attribute in request["AttributeDefinitions"]:
        attribute["AttributeType"] = types.get(
            attribute["AttributeName"], attribute["AttributeType"]
        )


def drop(request: dict[str, Any], *names: str) -> None:
    request["AttributeDefinitions"] = [
        attribute
        for attribute in request["AttributeDefinitions"]
        if attribute["AttributeName"] not in names
    ]


def without_an_index(request: dict[str, Any]) -> None:
    del request["GlobalSecondaryIndexes"][1]
    drop(request, "rank")


def without_local_indexes(request: dict[str, Any]) -> None:
    del request["LocalSecondaryIndexes"]
    drop(request, "nameKey", "price")


def with_another_index(request: dict[str, Any]) -> None:
    request["GlobalSecondaryIndexes"].append(gsi("extra", "kind"))


def with_other_keys(request: dict[str, Any]) -> None:
    request["KeySchema"] = [{"AttributeName": "pk", "KeyType": "HASH"}]
    del request["LocalSecondaryIndexes"]
    drop(request, "sk", "nameKey", "price")


def with_other_index_keys(request: dict[str, Any]) -> None:
    request["GlobalSecondaryIndexes"][0] = gsi("gsi_recent", "GSI1PK", "kind")
    drop(request, "GSI1SK")


def with_an_index_key_less(request: dict[str, Any]) -> None:
    request["GlobalSecondaryIndexes"][2] = gsi("marked", "mark", project="KEYS_ONLY")
    drop(request, "kind")


def with_another_projection(request: dict[str, Any]) -> None:
    request["GlobalSecondaryIndexes"][0] = gsi("gsi_recent", "GSI1PK", "GSI1SK", project=["title"])


def with_other_projected_attributes(request: dict[str, Any]) -> None:
    request["GlobalSecondaryIndexes"][1] = gsi("gsi_rank", "rank", project=["price", "made"])


def with_another_key_type(request: dict[str, Any]) -> None:
    other_types(request, rank="S", sk="N")


DIFFERENCES: list[tuple[Callable[[dict[str, Any]], None], list[str]]] = [
    (without_an_index, ["index gsi_rank: declared, and not there"]),
    (
        without_local_indexes,
        [
            "index by_name: declared, and not there",
            "index lsi-price: declared, and not there",
        ],
    ),
    (with_another_index, ["index extra: there, and not declared"]),
    (
        with_other_keys,
        [
            "key: declared pk + sk, found pk",
            "index by_name: declared, and not there",
            "index lsi-price: declared, and not there",
        ],
    ),
    (
        with_other_index_keys,
        ["index gsi_recent: declared GSI1PK + GSI1SK, found GSI1PK + kind"],
    ),
    (with_an_index_key_less, ["index marked: declared mark + kind, found mark"]),
    (
        with_another_projection,
        ["index gsi_recent: projects ALL as declared, INCLUDE title as found"],
    ),
    (
        with_other_projected_attributes,
        ["index gsi_rank: projects INCLUDE price, title as declared, INCLUDE made, price as found"],
    ),
    (
        with_another_key_type,
        [
            "key attribute sk: declared S, found N",
            "key attribute rank: declared N, found S",
        ],
    ),
]


@pytest.mark.parametrize("create", [None, True, False])
@pytest.mark.parametrize(("change", "lines"), DIFFERENCES, ids=lambda c: getattr(c, "__name__", ""))
def test_a_table_that_differs_is_refused_with_every_difference_and_left_as_it_is(
    change: Callable[[dict[str, Any]], None], lines: list[str], create: bool | None
) -> None:
    request = as_declared()
    change(request)
    with Engine() as engine:
        engine.call("CreateTable", request)
        expires_by(engine, "expires")
        before = described(engine, "shop")
        with pytest.raises(TableMismatch) as refused:
            connect(engine, Shop, create=create)
        first, *listed = str(refused.value).splitlines()
        assert first == "the table 'shop' is not as Shop declares it:"
        assert [line.strip() for line in listed] == lines
        assert described(engine, "shop") == before


def test_a_table_that_somebody_else_made_as_declared_is_opened() -> None:
    with Engine() as engine:
        engine.call("CreateTable", as_declared())
        expires_by(engine, "expires")
        assert connect(engine, Shop).run(shelf("A")) == []


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine with the table as declared, but one of its indexes is not ready yet."""
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 1)
    monkeypatch.setattr(tables, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(tables, "MAX_POLLS", 5)
    request = as_declared()
    index = request["GlobalSecondaryIndexes"][1]
    without_an_index(request)
    creation = {
        "TableName": "shop",
        "AttributeDefinitions": [{"AttributeName": "rank", "AttributeType": "N"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
    with Engine(background=False) as engine:
        engine.call("CreateTable", request)
        expires_by(engine, "expires")
        for number in "123":
            item = {"pk": {"S": "a"}, "sk": {"S": number}}
            engine.call("PutItem", {"TableName": "shop", "Item": item})
        engine.call("UpdateTable", creation)
        yield engine


def test_an_index_that_is_being_built_is_waited_for(building: Engine) -> None:
    local = Local(building)

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "DescribeTable":
            building.maintain()
        return local.send(operation, request)

    with connect(":memory:", Shop) as some:
        run(Provision(Shop.__table__, create=False), some._context, send)
    assert not building.maintain()


def test_an_index_that_does_not_become_ready_is_named(building: Engine) -> None:
    with pytest.raises(TableNotFound, match="the index gsi_rank is CREATING"):
        connect(building, Shop)


def test_tags_billing_and_the_like_are_no_difference() -> None:
    request = as_declared()
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    request |= {"BillingMode": "PROVISIONED", "ProvisionedThroughput": throughput}
    for each in request["GlobalSecondaryIndexes"]:
        each["ProvisionedThroughput"] = throughput
    with Engine() as engine:
        engine.call("CreateTable", request)
        expires_by(engine, "expires")
        connect(engine, Shop)


@pytest.mark.parametrize("attribute", [None, "another"])
def test_a_table_that_expires_otherwise_differs(attribute: str | None) -> None:
    """What the model depends on is compared, the TTL attribute included."""
    with Engine() as engine:
        engine.call("CreateTable", as_declared())
        if attribute is not None:
            expires_by(engine, attribute)
        with pytest.raises(TableMismatch, match="expires"):
            connect(engine, Shop, create=False)


def test_the_second_of_two_tables_that_differs_is_told() -> None:
    with Engine() as engine:
        connect(engine, Ledger, table_name="shop")
        with pytest.raises(TableMismatch, match="'shop' is not as Shop declares it"):
            connect(engine, Ledger, Shop)


# -- several at once -----------------------------------------------------------------------------


def test_a_table_that_another_makes_at_the_same_moment_is_taken_as_it_is() -> None:
    """Between our look and our CreateTable, somebody else makes the table."""
    with Engine() as engine, connect(":memory:", Shop) as some:
        local = Local(engine)
        overtaken: list[Database] = []

        def send(operation: str, request: dict[str, Any]) -> Response:
            if operation == "CreateTable" and not overtaken:
                overtaken.append(connect(engine, Shop))
                with pytest.raises(ResourceInUseException):
                    local.send(operation, request)
            return local.send(operation, request)

        run(Provision(Shop.__table__, create=True), some._context, send)
        assert ttl_of(engine, "shop")["TimeToLiveStatus"] == "ENABLED"


@pytest.mark.parametrize("turn", range(12))
def test_threads_that_open_one_new_file_at_once_all_get_the_table(
    tmp_path: Path, turn: int
) -> None:
    """Several rounds: what can go wrong takes a moment to meet."""
    barrier = threading.Barrier(6)

    def open_and_write(number: int) -> None:
        barrier.wait(30)
        with connect(tmp_path / "ledger.db", Ledger) as db:
            db.run(create(Account(account_id=str(number), holder=f"h{number}")))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_and_write, range(6)))
    with connect(tmp_path / "ledger.db", Ledger, create=False) as db:
        assert db.run(Account.scan(reason="test").count()) == 6
        assert engine_of(db).check()


def test_threads_share_one_database_and_lose_no_update(tmp_path: Path) -> None:
    with connect(tmp_path / "ledger.db", Ledger) as db:
        db.run(create(Account(account_id="1", holder="ann")))

        def deposit(_: int) -> None:
            db.run(Account.primary("1").update(Account.balance.increment(1)))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(deposit, range(40)))
        found = db.run(Account.primary("1"))
        assert found is not None
        assert (found.balance, found.version) == (40, 41)


def test_of_threads_that_create_one_entity_exactly_one_succeeds(tmp_path: Path) -> None:
    barrier = threading.Barrier(4)
    with connect(tmp_path / "ledger.db", Ledger) as db:

        def attempt(number: int) -> str:
            barrier.wait(30)
            try:
                db.run(create(Account(account_id="1", holder=f"h{number}")))
            except AlreadyExists:
                return "refused"
            return "created"

        with ThreadPoolExecutor(4) as pool:
            outcomes = sorted(pool.map(attempt, range(4)))
        assert outcomes == ["created", "refused", "refused", "refused"]
        assert len(rows(engine_of(db))) == 2  # the account, and its sentinel


DEPOSIT = """
import sys
from tablewright import connect
from tests.model.test_database import Account, Ledger

with connect(sys.argv[1], Ledger) as db:
    for _ in range(10):
        db.run(Account.primary("1").update(Account.balance.increment(1)))
"""


def test_two_processes_write_one_file_and_lose_no_update(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with connect(file, Ledger) as db:
        db.run(create(Account(account_id="1", holder="ann")))
        command = [sys.executable, "-c", DEPOSIT, str(file)]
        others = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
        assert [other.wait(120) for other in others] == [0, 0]
        found = db.run(Account.primary("1"))
        assert found is not None
        assert (found.balance, found.version) == (20, 21)
        assert engine_of(db).check()


# -- transaction() -------------------------------------------------------------------------------


def test_a_transaction_writes_when_its_block_ends(db: Database) -> None:
    recording = record_requests(db)
    with db.transaction() as tx:
        tx.add(create(product(1)))
        tx.add(create(product(2)), create(Account(account_id="1", holder="ann")))
        assert recording.requests == []
    assert recording.operations == ["TransactWriteItems"]
    assert db.run(shelf("A")) == [product(1), product(2)]


def test_a_transaction_that_fails_writes_nothing_and_says_which_write(db: Database) -> None:
    db.run(create(product(2)))
    with (
        pytest.raises(AlreadyExists, match="write 2 of 2, create Product"),
        db.transaction() as tx,
    ):
        tx.add(create(product(1)), create(product(2)))
    assert db.run(shelf("A")) == [product(2)]


def test_an_exception_inside_a_transaction_comes_out_and_nothing_is_written(db: Database) -> None:
    recording = record_requests(db)

    def fail() -> None:
        with db.transaction() as tx:
            tx.add(create(product(1)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert recording.requests == []


def test_an_empty_transaction_does_nothing(db: Database) -> None:
    recording = record_requests(db)
    with db.transaction():
        pass
    assert recording.requests == []


def test_a_transaction_refuses_what_is_not_a_write(db: Database) -> None:
    with (
        pytest.raises(DeclarationError, match=r"transact\(\) takes writes"),
        db.transaction() as tx,
    ):
        tx.add(shelf("A"))  # type: ignore[arg-type]


def test_an_asynchronous_transaction_writes_when_its_block_ends() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            async with db.transaction() as tx:
                tx.add(create(product(1)), create(Account(account_id="1", holder="ann")))
                assert recording.requests == []
            assert recording.operations == ["TransactWriteItems"]
            assert await db.run(shelf("A")) == [product(1)]

    asyncio.run(main())


def test_an_exception_inside_an_asynchronous_transaction_writes_nothing() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Shop) as db:
            recording = record_requests(db)

            async def fail() -> None:
                async with db.transaction() as tx:
                    tx.add(create(product(1)))
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await fail()
            async with db.transaction():
                pass
            assert recording.requests == []

    asyncio.run(main())


# -- iterate() -----------------------------------------------------------------------------------


def test_iterate_gives_every_page_in_order(db: Database) -> None:
    for number in range(7):
        db.run(create(product(number)))
    assert list(db.iterate(shelf("A").page_size(3))) == [product(number) for number in range(7)]
    newest = db.iterate(shelf("A").desc().page_size(3))
    assert list(newest) == [product(number) for number in reversed(range(7))]


def test_iterate_asks_for_a_page_when_it_is_needed_and_not_before(db: Database) -> None:
    for number in range(7):
        db.run(create(product(number)))
    recording = record_requests(db)
    each = db.iterate(shelf("A").page_size(3))
    assert len(recording.requests) == 0
    assert [next(each) for _ in range(3)] == [product(0), product(1), product(2)]
    assert len(recording.requests) == 1
    next(each)
    assert len(recording.requests) == 2
    each.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(recording.requests) == 2


def test_iterate_goes_on_from_a_cursor(db: Database) -> None:
    for number in range(5):
        db.run(create(product(number)))
    page = db.run(shelf("A").page_size(2))
    assert list(db.iterate(shelf("A").page_size(2).after(page.next_cursor))) == [
        product(2),
        product(3),
        product(4),
    ]


def test_iterate_of_nothing_is_nothing(db: Database) -> None:
    assert list(db.iterate(shelf("A"))) == []
    assert list(db.iterate(Product.scan(reason="test"))) == []


# -- asynchronously ------------------------------------------------------------------------------


def test_an_asynchronous_database_makes_its_tables_and_closes() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Shop, Ledger) as db:
            assert engine_of(db).call("ListTables") == {"TableNames": ["ledger", "shop"]}
            assert ttl_of(engine_of(db), "shop")["AttributeName"] == "expires"
            assert repr(db) == "AsyncDatabase(shop, ledger)"
        with pytest.raises(StoreClosed):
            await db.run(shelf("A"))

    asyncio.run(main())


def test_an_asynchronous_connection_refuses_as_the_other_does(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(TableNotFound):
            await connect_async(tmp_path / "shop.db", Shop, create=False)
        with pytest.raises(InvalidValue):
            await connect_async(tmp_path / "shop.db")
        with pytest.raises(DeclarationError):
            await connect_async(tmp_path / "shop.db", Empty)
        with Engine() as engine:
            connect(engine, Ledger, table_name="shop")
            with pytest.raises(TableMismatch):
                await connect_async(engine, Shop)
            assert engine.call("ListTables") == {"TableNames": ["shop"]}

    asyncio.run(main())


def test_fifty_writes_at_once_are_all_done() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Shop) as db:
            written = await asyncio.gather(*(db.run(create(product(n))) for n in range(50)))
            assert written == [product(n) for n in range(50)]
            found = [found async for found in db.iterate(shelf("A").page_size(20))]
            assert sorted(found, key=lambda p: int(p.product_id[1:])) == written
            assert engine_of(db).check()

    asyncio.run(main())


def test_fifty_deposits_at_once_into_a_versioned_account_are_all_counted() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Ledger) as db:
            await db.run(create(Account(account_id="1", holder="ann")))
            deposit = Account.primary("1").update(Account.balance.increment(1))
            await asyncio.gather(*(db.run(deposit) for _ in range(50)))
            found = await db.run(Account.primary("1"))
            assert found is not None
            assert (found.balance, found.version) == (50, 51)

    asyncio.run(main())


def test_iterate_is_lazy_in_an_event_loop_too() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Shop) as db:
            for number in range(5):
                await db.run(create(product(number)))
            recording = record_requests(db)
            each = db.iterate(shelf("A").page_size(2))
            assert recording.requests == []
            assert await anext(each) == product(0)
            assert len(recording.requests) == 1
            assert [found async for found in each] == [product(n) for n in range(1, 5)]
            assert len(recording.requests) == 3

    asyncio.run(main())


def test_a_write_does_not_block_the_event_loop(tmp_path: Path) -> None:
    """The file is locked for as long as the loop needs to say so."""

    async def main() -> None:
        async with await connect_async(tmp_path / "shop.db", Shop) as db:
            other = apsw.Connection(str(tmp_path / "shop.db"))
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(db.run(create(product(1))))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not writing.done()
            assert await db.run(shelf("A")) == []
            other.execute("ROLLBACK")
            other.close()
            assert await writing == product(1)
            assert await db.run(shelf("A")) == [product(1)]

    asyncio.run(main())


# -- both ----------------------------------------------------------------------------------------

ANN, BOB = "ann", "bob"


def account(number: int, holder: str, **more: Any) -> Account:
    return Account(account_id=str(number), holder=holder, **more)


#: Plans, run one after the other; a plan is made when its turn comes.
PLANS: dict[str, list[Callable[[], Plan[Any]]]] = {
    "get": [
        lambda: create(product(1)),
        lambda: Product.primary("A", "P1"),
        lambda: Product.primary("A", "P1").consistent(),
        lambda: Product.primary("A", "none"),
    ],
    "batch": [
        lambda: batch_write(put(product(n)) for n in range(60)),
        lambda: batch_get(Product.primary("A", f"P{n}") for n in (7, 99, 3, 7)),
        lambda: batch_write([*(delete(product(n)) for n in range(30)), put(product(99))]),
        lambda: shelf("A").count(),
        lambda: batch_write([put(product(1)), delete(product(1))]),
    ],
    "query": [
        lambda: batch_write(put(product(n, rank=n % 2)) for n in range(9)),
        lambda: shelf("A"),
        lambda: shelf("A").page_size(2),
        lambda: shelf("A").desc().first(),
        lambda: shelf("A").filter(Product.rank == 1),
        lambda: shelf("A").select(Product.product_id, Product.rank),
        lambda: Product.named("A").begins_with("Title 3"),
        lambda: Product.newest().gte(datetime(2026, 1, 1, tzinfo=UTC)).count(),
        lambda: Product.where(Product.shelf == "A", Product.product_id == "P3"),
        lambda: Product.scan(reason="test").filter(Product.rank == 0),
        lambda: shelf("A").after("no cursor at all"),
        lambda: Product.by_rank(1),  # its index holds not enough of it
    ],
    "write": [
        lambda: create(account(1, ANN)),
        lambda: create(account(1, BOB)),
        lambda: create(account(2, ANN)),
        lambda: put(account(1, ANN)),
        lambda: Account.by_holder(ANN),
        lambda: Account.primary("1").update(Account.holder.set(BOB), Account.balance.increment(5)),
        lambda: Account.by_holder(ANN),
        lambda: Account.by_holder(BOB),
        lambda: Account.primary("1").update(Account.account_id.set("9")),
        lambda: Account.primary("9").update(Account.balance.set(1)).condition(Account.version == 1),
        lambda: (
            Account.primary("9").update(Account.balance.set(1)).condition(Account.balance > 100)
        ),
        lambda: Account.primary("1").update(Account.balance.set(1)),
        lambda: Account.primary("9").delete(),
        lambda: Account.primary("9").delete(),
        lambda: Account.scan(reason="test"),
    ],
    "transaction": [
        lambda: create(product(1)),
        lambda: transact(create(account(1, ANN)), condition_check(Product.primary("A", "P1"))),
        lambda: transact(create(account(2, BOB)), condition_check(Product.primary("A", "P2"))),
        lambda: transact(create(account(3, ANN)), create(product(3))),
        lambda: transact(create(product(4)), create(product(4))),
        lambda: Account.scan(reason="test"),
        lambda: shelf("A"),
    ],
}

Outcome = tuple[str, Any]


def told(error: TablewrightError) -> Outcome:
    return type(error).__name__, (str(error), getattr(error, "current", None))


def in_turn(plans: list[Callable[[], Plan[Any]]]) -> tuple[list[Outcome], list[Any]]:
    outcomes: list[Outcome] = []
    with connect(":memory:", Shop, Ledger, cursor_secret="secret") as db:
        for make in plans:
            try:
                outcomes.append(("result", db.run(make())))
            except TablewrightError as error:
                outcomes.append(told(error))
        return outcomes, [items(engine_of(db), name) for name in ("shop", "ledger")]


async def in_a_loop(plans: list[Callable[[], Plan[Any]]]) -> tuple[list[Outcome], list[Any]]:
    outcomes: list[Outcome] = []
    async with await connect_async(":memory:", Shop, Ledger, cursor_secret="secret") as db:
        for make in plans:
            try:
                outcomes.append(("result", await db.run(make())))
            except TablewrightError as error:
                outcomes.append(told(error))
        return outcomes, [items(engine_of(db), name) for name in ("shop", "ledger")]


@pytest.mark.parametrize("plans", PLANS.values(), ids=PLANS)
def test_both_drivers_give_the_same_results_errors_and_items(
    plans: list[Callable[[], Plan[Any]]],
) -> None:
    assert in_turn(plans) == asyncio.run(in_a_loop(plans))


def test_the_plans_that_both_drivers_run_are_refused_where_they_should_be() -> None:
    """So that the comparison above compares something."""
    refused = {name: [kind for kind, _ in in_turn(plans)[0]] for name, plans in PLANS.items()}
    errors = {name: [kind for kind in kinds if kind != "result"] for name, kinds in refused.items()}
    assert errors == {
        "get": [],
        "batch": ["InvalidValue"],
        "query": ["InvalidCursor", "DeclarationError"],
        "write": [
            "AlreadyExists",
            "UniqueViolation",
            "VersionConflict",
            "VersionConflict",
            "ConditionFailed",
            "NotFound",
        ],
        "transaction": ["NotFound", "UniqueViolation", "InvalidValue"],
    }


def test_both_drivers_send_the_same_requests() -> None:
    def send() -> list[Any]:
        with connect(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            for make in PLANS["write"]:
                try:
                    db.run(make())
                except TablewrightError:
                    continue
            return recording.requests

    async def send_async() -> list[Any]:
        async with await connect_async(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            for make in PLANS["write"]:
                try:
                    await db.run(make())
                except TablewrightError:
                    continue
            return recording.requests

    assert send() == asyncio.run(send_async())


def test_a_synchronous_and_an_asynchronous_database_share_a_file_and_its_cursors(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        file = tmp_path / "shop.db"
        with connect(file, Shop, cursor_secret="secret") as db:
            async with await connect_async(file, Shop, cursor_secret="secret") as other:
                for number in range(4):
                    await other.run(create(product(number)))
                page = db.run(shelf("A").page_size(2))
                following = await other.run(shelf("A").page_size(2).after(page.next_cursor))
                assert [*page, *following] == [product(number) for number in range(4)]

    asyncio.run(main())


# -- what is no target, and no plan --------------------------------------------------------------


@pytest.mark.parametrize("target", [None, 5, object(), b":memory:", "", Shop, {"path": "x"}])
def test_an_object_that_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises(InvalidValue, match=r"is no target; give ':memory:', a file, an Engine"):
        connect(target, Shop)
    with pytest.raises(InvalidValue, match=r"is no target"):
        asyncio.run(connect_async(target, Shop))


def test_a_client_of_boto3_is_no_target() -> None:
    client: Any = boto3.client(
        "dynamodb", "eu-west-1", aws_access_key_id="any", aws_secret_access_key="any"
    )
    with pytest.raises(InvalidValue, match=r"is no target; .* dynamodb://region"):
        connect(client, Shop)


async def run_async(plan: Any) -> None:
    async with await connect_async(":memory:", Shop) as db:
        await db.run(plan)


async def each_async(plan: Any) -> None:
    async with await connect_async(":memory:", Shop) as db:
        async for _ in db.iterate(plan):
            pass


NO_PLANS = [None, Product, product(1), Product.primary, "shelf", [Product.primary("b", "1")]]


@pytest.mark.parametrize("wrong", NO_PLANS)
def test_what_is_no_plan_is_not_run(db: Database, wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=r"this takes a plan, such as"):
        db.run(wrong)
    with pytest.raises(InvalidValue, match=r"this takes a plan, such as"):
        asyncio.run(run_async(wrong))


@pytest.mark.parametrize("wrong", [*NO_PLANS, create(product(1))])
def test_what_is_no_query_has_no_pages(db: Database, wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=r"this takes a query, not"):
        next(db.iterate(wrong))
    with pytest.raises(InvalidValue, match=r"this takes a query, not"):
        asyncio.run(each_async(wrong))


def test_a_pattern_that_was_not_called_is_not_run(db: Database) -> None:
    uncalled: Any = shelf
    with pytest.raises(InvalidValue, match=r"shelf is a pattern; call it, .*: shelf\(…\)"):
        db.run(uncalled)
    with pytest.raises(InvalidValue, match=r"shelf is a pattern; call it"):
        next(db.iterate(uncalled))
