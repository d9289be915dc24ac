"""A table that exists is opened if it is as declared; otherwise every difference is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine, connect
from tablewright.engine import maintenance
from tablewright.errors import TableMismatch, TableNotFound
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import run
from tablewright.transport import Response, tables
from tablewright.transport.targets import Local
from tests.model.database.shop import Ledger, Shop, described, shelf


def test_a_missing_table_is_not_made_unless_wanted(tmp_path: Path) -> None:
    with pytest.raises(
        TableNotFound, match=r"the table 'shop' does not exist; connect\(…, create=True\)"
    ):
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


def with_another_local_index(request: dict[str, Any]) -> None:
    request["LocalSecondaryIndexes"].append(gsi("extra", "pk", "kind"))


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


LOCAL = "declared but missing; a local index is created with its table"
DIFFERENCES: list[tuple[Callable[[dict[str, Any]], None], list[str]]] = [
    (
        without_an_index,
        ["index gsi_rank: declared but missing; connect(…, update=True) adds it"],
    ),
    (
        without_local_indexes,
        [
            f"index by_name: {LOCAL}",
            f"index lsi-price: {LOCAL}",
        ],
    ),
    (with_another_local_index, ["index extra: present but not declared"]),
    (
        with_other_keys,
        [
            "key: declared pk + sk, found pk",
            f"index by_name: {LOCAL}",
            f"index lsi-price: {LOCAL}",
        ],
    ),
    (
        with_other_index_keys,
        ["index gsi_recent: declared GSI1PK + GSI1SK, found GSI1PK + kind"],
    ),
    (with_an_index_key_less, ["index marked: declared mark + kind, found mark"]),
    (
        with_another_projection,
        ["index gsi_recent: declared projection ALL, found INCLUDE title"],
    ),
    (
        with_other_projected_attributes,
        ["index gsi_rank: declared projection INCLUDE price, title, found INCLUDE made, price"],
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
        assert first == "the table 'shop' differs from its declaration, Shop:"
        assert [line.strip() for line in listed] == lines
        assert described(engine, "shop") == before


def test_a_table_that_somebody_else_made_as_declared_is_opened() -> None:
    with Engine() as engine:
        engine.call("CreateTable", as_declared())
        expires_by(engine, "expires")
        assert connect(engine, Shop).run(shelf("A")) == []


def test_a_global_index_that_is_not_declared_is_no_difference() -> None:
    """A newer version of the program may have added it, while this one still runs."""
    request = as_declared()
    request["GlobalSecondaryIndexes"].append(gsi("extra", "kind"))
    with Engine() as engine:
        engine.call("CreateTable", request)
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
        assert connect(engine, Shop).run(shelf("A")) == []


@pytest.mark.parametrize("attribute", [None, "another"])
def test_a_table_that_expires_otherwise_differs(attribute: str | None) -> None:
    """What the model depends on is compared, the TTL attribute included."""
    with Engine() as engine:
        engine.call("CreateTable", as_declared())
        if attribute is not None:
            expires_by(engine, attribute)
        hint = "; connect(…, update=True) adds it" if attribute is None else ""
        with pytest.raises(TableMismatch) as refused:
            connect(engine, Shop, create=False)
        line = f"TTL: declared expires, found {attribute or 'none'}{hint}"
        assert str(refused.value).splitlines()[1:] == [f"  {line}"]


def test_the_second_of_two_tables_that_differs_is_told() -> None:
    with Engine() as engine:
        connect(engine, Ledger, table_name="shop")
        with pytest.raises(TableMismatch, match="'shop' differs from its declaration"):
            connect(engine, Ledger, Shop)
