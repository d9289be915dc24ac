"""Settings of tables: connect applies them, mistakes are errors at import.

The tests of `publish` show that every template has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Provisioned,
    Table,
    attr,
    connect,
    index,
    key,
)
from tablewright.errors import DeclarationError, TableMismatch
from tablewright.verify import seeding


class Guarded(
    Table,
    name="guarded",
    stream="NEW_AND_OLD_IMAGES",
    point_in_time_recovery=7,
    deletion_protection=True,
    tags={"team": "orders", "cost center": "A+B"},
    billing=Provisioned(read=20, write=5),
):
    by_status = GSI("status", billing=Provisioned(read=7, write=3))
    by_total = GSI("total")
    by_note = LSI("note")


class Order(Entity, table=Guarded):
    order_id: Attr[str] = attr()
    status: Attr[str] = attr()
    total: Attr[int] = attr()
    note: Attr[str] = attr()
    primary = key("ORDER" / order_id, "ORDER")
    by_status = index(Guarded.by_status, status)
    by_total = index(Guarded.by_total, total)
    by_note = primary.local(Guarded.by_note, note)


def test_connect_applies_the_settings() -> None:
    with Engine() as engine, connect(engine, Guarded):
        table = engine.call("DescribeTable", {"TableName": "guarded"})["Table"]
        assert table["StreamSpecification"] == {
            "StreamEnabled": True,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        }
        assert table["DeletionProtectionEnabled"] is True
        tags = engine.call("ListTagsOfResource", {"ResourceArn": table["TableArn"]})["Tags"]
        assert {tag["Key"]: tag["Value"] for tag in tags}["team"] == "orders"
        backups = engine.call("DescribeContinuousBackups", {"TableName": "guarded"})
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
        assert recovery["RecoveryPeriodInDays"] == 7
        assert units(table) == (20, 5)
        capacities = {each["IndexName"]: units(each) for each in table["GlobalSecondaryIndexes"]}
        assert capacities == {"by_status": (7, 3), "by_total": (20, 5)}
        connect(engine, Guarded)  # it is as declared


def units(described: dict[str, Any]) -> tuple[int, int]:
    throughput = described["ProvisionedThroughput"]
    return throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]


def test_a_table_without_the_stream_differs() -> None:
    with Engine() as engine, connect(engine, Guarded):
        off = {"TableName": "guarded", "StreamSpecification": {"StreamEnabled": False}}
        engine.call("UpdateTable", off)
        with pytest.raises(TableMismatch, match="stream: declared NEW_AND_OLD_IMAGES, found none"):
            connect(engine, Guarded)


def test_temporary_tables_are_removed_although_they_are_protected(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    Engine(file).close()
    with seeding.temporary_tables(str(file), Guarded):
        pass
    with Engine(file) as engine:
        assert engine.call("ListTables") == {"TableNames": []}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stream": "NEW_IMAGES"}, "stream='NEW_IMAGES' is not one of .*did you mean 'NEW_IMAGE'"),
        ({"point_in_time_recovery": 36}, "=36 is not a number of days from 1 to 35, or True"),
        ({"point_in_time_recovery": 0}, "=0 is not a number of days"),
        ({"tags": {"team": 1}}, "is not a pair of texts"),
        (
            {"billing": "PROVISIONED"},
            r"billing='PROVISIONED' is not Provisioned\(read=…, write=…\)",
        ),
    ],
)
def test_a_mistake_is_an_error_at_import(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        type("Bad", (Table,), {}, **settings)


@pytest.mark.parametrize("units", [0, -1, 2.5, True, "5", None, 10**13])
def test_capacity_is_a_positive_integer(units: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"Provisioned\(read=.*: the units per second must be"
    ):
        Provisioned(read=units, write=1)


def test_an_index_of_a_table_on_demand_has_no_capacity() -> None:
    with pytest.raises(DeclarationError, match=r"Bad\.by_day: the index has provisioned capacity"):
        type("Bad", (Table,), {"by_day": GSI("day", billing=Provisioned(read=1, write=1))})
    wrong: Any = 5
    with pytest.raises(DeclarationError, match=r"Bad\.by_day: billing=5 is not Provisioned"):
        type("Bad", (Table,), {"by_day": GSI("day", billing=wrong)})
