"""Models of NoSQL Workbench have the tables, indexes and sample data of a design."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright import GSI, Attr, Entity, Provisioned, Table, attr, connect, index, key, ttl
from tablewright.designs.catalog import BUNDLED, load
from tablewright.errors import DesignLoadError
from tablewright.model.databases.provision import definition
from tablewright.publish.workbench import nosql_workbench
from tablewright.values import Item
from tablewright.verify import Design
from tablewright.verify.contents import Scanner
from tablewright.verify.seeding import load_sample
from tests import commands


class Everything(
    Table,
    name="everything",
    stream="KEYS_ONLY",
    point_in_time_recovery=True,
    deletion_protection=True,
    tags={"team": "a"},
    billing=Provisioned(read=4, write=2),
):
    by_region = GSI(("tenant", "region"), ("status",))
    by_status = GSI("status", project=("total",), billing=Provisioned(read=1, write=1))


class Thing(Entity, table=Everything):
    thing_id: Attr[str] = attr()
    tenant: Attr[str] = attr()
    region: Attr[str] = attr()
    status: Attr[str] = attr()
    total: Attr[Decimal] = attr()
    note: Attr[Any] = attr(default=None)
    expires: Attr[datetime | None] = ttl(default=None)

    primary = key("THING" / thing_id, "THING")
    by_region = index(Everything.by_region, (tenant, region), (status,))
    by_status = index(Everything.by_status, status)


def sample() -> list[Entity]:
    return [
        Thing(
            thing_id=str(3 - number),
            tenant="t",
            region="eu",
            status="new",
            total=Decimal("1.5"),
            note=note,
        )
        for number, note in enumerate(["first", 2, "third"])
    ]


EVERYTHING = Design("everything", "Every setting.", (Everything,), sample, None)


def rows(table: dict[str, Any]) -> list[Item]:
    return [row for facet in table["TableFacets"] for row in facet["TableData"]]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_model_has_the_tables_indexes_and_rows_of_a_design(name: str) -> None:
    design = load(name)
    model = nosql_workbench(design).model
    assert model["ModelMetadata"]["Version"] == "3.0"
    assert model["ModelMetadata"]["AWSService"] == "Amazon DynamoDB"
    with connect(":memory:", *design.tables) as database:
        load_sample(design, database)
        for declared, table in zip(design.tables, model["DataModel"], strict=True):
            described = declared.__table__
            assert table["TableName"] == described.name
            found = Scanner(database).items(described)
            assert sorted(map(str, rows(table))) == sorted(map(str, found))
            declared_indexes = definition(described, described.name).global_indexes
            indexes = [each.name for each in declared_indexes]
            written = table.get("GlobalSecondaryIndexes", ())
            assert [each["IndexName"] for each in written] == indexes


@pytest.mark.parametrize("name", BUNDLED)
def test_every_attribute_is_declared_with_its_type(name: str) -> None:
    for table in nosql_workbench(load(name)).model["DataModel"]:
        declared = [*table["KeyAttributes"].values(), *table["NonKeyAttributes"]]
        types = {each["AttributeName"]: each["AttributeType"] for each in declared}
        assert len(types) == len(declared)
        for each in table.get("GlobalSecondaryIndexes", ()):
            for attribute in each["KeyAttributes"].values():
                assert types[attribute["AttributeName"]] == attribute["AttributeType"]
        for facet in table["TableFacets"]:
            keys = {each["AttributeName"] for each in table["KeyAttributes"].values()}
            for row in facet["TableData"]:
                assert {name: next(iter(value)) for name, value in row.items()}.items() <= (
                    types.items()
                )
                assert row.keys() <= {*facet["NonKeyAttributes"], *keys}


def test_a_facet_has_the_keys_of_an_entity_in_words() -> None:
    (table,) = nosql_workbench(load("commerce")).model["DataModel"]
    aliases = {facet["FacetName"]: facet["KeyAttributeAlias"] for facet in table["TableFacets"]}
    assert aliases["OrderLineItem"] == {
        "PartitionKeyAlias": "CUST#customer_id",
        "SortKeyAlias": "ORDER#order_id#ITEM#item_id",
    }


def test_sentinels_of_unique_values_have_a_facet() -> None:
    table = nosql_workbench(load("menu")).model["DataModel"][-1]
    facets = {facet["FacetName"]: facet for facet in table["TableFacets"]}
    assert len(facets["Menu.unique_name"]["TableData"]) == 3
    assert facets["Menu.unique_name"]["NonKeyAttributes"] == ["MenuId"]


def test_what_the_format_cannot_hold_is_listed() -> None:
    made = nosql_workbench(EVERYTHING)
    assert made.left_out == (
        "everything: the index by_region, which has several attributes in a key",
        "everything: the capacity of the index by_status",
        "everything: TTL, on the attribute expires",
        "everything: the stream, KEYS_ONLY",
        "everything: point-in-time recovery",
        "everything: deletion protection",
        "everything: the tags team",
        "everything: 1 value of note of type N; the attribute has type S",
    )
    (table,) = made.model["DataModel"]
    assert table["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "by_status",
            "KeyAttributes": {"PartitionKey": {"AttributeName": "status", "AttributeType": "S"}},
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
        }
    ]
    assert table["BillingMode"] == "PROVISIONED"
    capacity = table["ProvisionedCapacitySettings"]
    assert capacity["ProvisionedThroughput"] == {"ReadCapacityUnits": 4, "WriteCapacityUnits": 2}
    assert capacity["AutoScalingWrite"]["ScalableTargetRequest"]["MaxCapacity"] == 2
    assert [row.get("note") for row in rows(table)] == [{"S": "first"}, None, {"S": "third"}]


def test_rows_are_in_the_order_of_the_sample() -> None:
    (table,) = nosql_workbench(EVERYTHING).model["DataModel"]
    assert [row["thing_id"]["S"] for row in rows(table)] == ["3", "2", "1"]


def test_a_design_without_sample_data_has_attributes_and_no_rows() -> None:
    bare = Design("bare", "", (Everything,), None, None)
    (table,) = nosql_workbench(bare).model["DataModel"]
    assert rows(table) == []
    types = {each["AttributeName"]: each["AttributeType"] for each in table["NonKeyAttributes"]}
    assert types["total"] == "N"


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"DataModel": 1},
        {"DataModel": [{"TableName": "everything", "TableFacets": [{}]}]},
        {"DataModel": [{"TableName": "everything", "NonKeyAttributes": ["x"]}]},
    ],
)
def test_a_damaged_frame_is_one_line(frame: dict[str, Any]) -> None:
    damaged = msgspec.structs.replace(EVERYTHING, workbench=frame)
    with pytest.raises(DesignLoadError, match="everything: WORKBENCH is not what"):
        nosql_workbench(damaged)


def test_the_command_writes_the_same_file_each_time(tmp_path: Path) -> None:
    first = commands.run("publish", "nosql-workbench", "shop")
    assert first.stderr == "left out: shop: the local index LSI\n"
    assert json.loads(first.stdout) == nosql_workbench(load("shop")).model
    file = tmp_path / "shop.json"
    again = commands.run("publish", "nosql-workbench", "shop", "-o", str(file))
    assert (again.returncode, file.read_text()) == (0, first.stdout)


def test_sample_data_that_cannot_be_stored_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(
        "from tablewright.designs.shop.entities import Shop\n\n\n"
        "def sample():\n    raise ValueError('no data')\n"
    )
    result = commands.run("publish", "nosql-workbench", str(file))
    assert (result.returncode, result.stdout) == (2, "")
    assert "the sample data cannot be stored" in result.stderr
