"""Descriptions of tables: read, compared, written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tablewright.engine import Engine
from tablewright.errors import TableDifference, TableMismatch, TableReplacement
from tablewright.schema import KeyAttribute, KeySchema, OnDemand, ProjectedAttributes, Throughput
from tablewright.table_changes import Difference, Part, describe, differences, update_steps
from tablewright.table_description import (
    IndexDescription,
    TableDescription,
    TableState,
    read_table,
    read_ttl,
)

PK, SK, AT = KeyAttribute("PK", "S"), KeyAttribute("SK", "S"), KeyAttribute("at", "N")
KEYS = KeySchema((PK,), (SK,))
BY_TIME = IndexDescription("by_time", "local", KeySchema((PK,), (AT,)))
BY_STATUS = IndexDescription(
    "by_status",
    "global",
    KeySchema((KeyAttribute("status", "S"), KeyAttribute("day", "S")), (AT,)),
    ProjectedAttributes("INCLUDE", ("title", "size")),
)
SHOP = TableDescription("shop", KEYS, (BY_TIME, BY_STATUS), stream="NEW_IMAGE")


def described(table: TableDescription) -> dict[str, Any]:
    with Engine(":memory:") as engine:
        engine.call("CreateTable", table.to_create_table())
        found: dict[str, Any] = engine.call("DescribeTable", {"TableName": table.name})["Table"]
    return found


def test_a_request_and_the_answer_of_the_engine_describe_the_same_table() -> None:
    assert read_table(SHOP.to_create_table()) == SHOP
    found = read_table(described(SHOP))
    assert found.indexes[1].keys == BY_STATUS.keys
    assert differences(SHOP, found) == []
    assert found.state.status == "ACTIVE"
    assert found.state.items == 0
    assert found.state.arn.endswith(":table/shop")


def test_missing_members_have_defaults_and_unknown_ones_are_ignored() -> None:
    found = read_table(
        {
            "TableName": "shop",
            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH", "Colour": "red"}],
            "GlobalSecondaryIndexes": None,
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "by_time",
                    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
                    "ProvisionedThroughput": None,
                }
            ],
            "StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
            "Replicas": [1],
            "CreationDateTime": 1.5,
        }
    )
    keys = KeySchema((KeyAttribute("PK", ""),))
    index = IndexDescription("by_time", "local", keys)
    state = TableState(id="1.5", created=1.5)
    assert found == TableDescription("shop", keys, (index,), state=state)
    assert describe(found.keys) == "PK:? HASH"


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"TableName": 1},
        {"TableName": "shop", "KeySchema": {}},
        {"TableName": "shop", "KeySchema": [{"AttributeName": "PK", "KeyType": "OTHER"}]},
        {"TableName": "shop", "GlobalSecondaryIndexes": [{"IndexName": "x"}]},
        {"TableName": "shop", "ItemCount": "many"},
    ],
)
def test_members_of_wrong_types_are_refused(members: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_table(members)


def test_billing_is_read_from_requests_and_from_descriptions() -> None:
    provisioned = TableDescription("shop", KEYS, throughput=Throughput(5, 2))
    assert read_table(provisioned.to_create_table()) == provisioned
    assert read_table(described(provisioned)).throughput == Throughput(5, 2)
    limited = TableDescription("shop", KEYS, on_demand=OnDemand(10, 20))
    assert limited.to_create_table()["OnDemandThroughput"]["MaxReadRequestUnits"] == 10
    assert read_table(described(limited)).on_demand == OnDemand(10, 20)
    # An endpoint without BillingModeSummary reports 0 units of a table on demand.
    units = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    found = read_table({"TableName": "shop", "ProvisionedThroughput": units})
    assert found.billing == "PAY_PER_REQUEST"


def test_ttl_is_read_while_it_is_enabled() -> None:
    def answer(status: str) -> dict[str, Any]:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": status, "AttributeName": "expires"}}

    assert read_ttl(answer("ENABLED")) == read_ttl(answer("ENABLING")) == "expires"
    assert read_ttl(answer("DISABLING")) is None
    with pytest.raises(msgspec.ValidationError):
        read_ttl({"TimeToLiveDescription": 5})


def test_differences_are_values_in_the_order_of_their_names() -> None:
    other = TableDescription(
        "shop",
        KeySchema((PK,)),
        (IndexDescription("by_status", "global", BY_STATUS.keys, throughput=Throughput(1, 1)),),
        throughput=Throughput(3, 4),
        ttl="expires",
        is_protected=True,
        table_class="STANDARD_INFREQUENT_ACCESS",
    )
    found = differences(SHOP, other)
    assert [f"{each.name}: {describe(each.wanted)}; {describe(each.found)}" for each in found] == [
        "BillingMode: PAY_PER_REQUEST; PROVISIONED",
        "DeletionProtectionEnabled: false; true",
        "StreamSpecification: NEW_IMAGE; none",
        "TTL: none; expires",
        "TableClass: STANDARD; STANDARD_INFREQUENT_ACCESS",
        "global index by_status: status:S HASH, day:S HASH, at:N RANGE, projection INCLUDE "
        "(size, title); status:S HASH, day:S HASH, at:N RANGE, projection ALL",
        "keys: PK:S HASH, SK:S RANGE; PK:S HASH",
        "local index by_time: PK:S HASH, at:N RANGE, projection ALL; none",
        "throughput: none; 3 reads, 4 writes",
        "throughput of by_status: none; 1 reads, 1 writes",
    ]
    assert Difference(Part.TTL, None, "expires") in found


def test_the_order_of_projected_attributes_is_no_difference() -> None:
    turned = msgspec.structs.replace(
        BY_STATUS, projection=ProjectedAttributes("INCLUDE", ("size", "title"))
    )
    assert differences(SHOP, msgspec.structs.replace(SHOP, indexes=(BY_TIME, turned))) == []


def test_keys_and_local_indexes_cannot_be_updated() -> None:
    with pytest.raises(TableReplacement, match="shop: DynamoDB cannot change keys, local index by"):
        update_steps(SHOP, TableDescription("shop", KeySchema((PK,))))


def test_a_changed_index_is_deleted_and_created() -> None:
    before = msgspec.structs.replace(SHOP, indexes=(BY_TIME, IndexDescription(
        "by_status", "global", KeySchema((SK,)))))  # fmt: skip
    steps = [each.request for each in update_steps(SHOP, before)]
    assert steps == [
        {
            "TableName": "shop",
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_status"}}],
        },
        {
            "TableName": "shop",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind}
                for name, kind in (("PK", "S"), ("SK", "S"), ("at", "N"), ("status", "S"))
            ]
            + [{"AttributeName": "day", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {"Create": SHOP.to_create_table()["GlobalSecondaryIndexes"][0]}
            ],
        },
    ]


def test_a_mismatch_has_its_differences_as_values() -> None:
    found = [TableDifference("key", "declared PK, found id"), TableDifference("TTL", "none")]
    error = TableMismatch("the table differs:", found)
    assert error.differences == tuple(found)
    assert str(error) == "the table differs:\n  key: declared PK, found id\n  TTL: none"
