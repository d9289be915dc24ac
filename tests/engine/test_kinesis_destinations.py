from __future__ import annotations

from typing import Any

from tests.engine.database import Database

STREAM = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
OTHER = STREAM + "-2"
STATE = "Table is not in a valid state to enable Kinesis Streaming Destination: "


def call(db: Database, verb: str, table: str, **members: Any) -> Any:
    request = {"TableName": table, "StreamArn": STREAM, **members}
    return db.call(f"{verb}KinesisStreamingDestination", request)


def describe(db: Database, table: str) -> Any:
    answer = db.call("DescribeKinesisStreamingDestination", {"TableName": table})
    assert answer["TableName"] == table
    return answer["KinesisDataStreamDestinations"]


def test_a_destination_is_enabled_changed_and_disabled(db: Database, table: str) -> None:
    assert describe(db, table) == []
    assert call(db, "Enable", table) == {
        "TableName": table,
        "StreamArn": STREAM,
        "DestinationStatus": "ENABLING",
        "EnableKinesisStreamingConfiguration": {},
    }
    assert describe(db, table) == [{"StreamArn": STREAM, "DestinationStatus": "ACTIVE"}]
    micro = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    answer = call(db, "Update", table, UpdateKinesisStreamingConfiguration=micro)
    assert answer["DestinationStatus"] == "UPDATING"
    assert describe(db, table) == [{"StreamArn": STREAM, "DestinationStatus": "ACTIVE", **micro}]
    assert call(db, "Disable", table)["DestinationStatus"] == "DISABLING"
    assert describe(db, table)[0]["DestinationStatus"] == "DISABLED"


def test_a_table_has_one_active_destination(db: Database, table: str) -> None:
    call(db, "Enable", table)
    db.refuses(
        "EnableKinesisStreamingDestination",
        {"TableName": table, "StreamArn": OTHER},
        STATE + "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform "
        "ENABLE operation.",
    )
    call(db, "Disable", table)
    call(db, "Enable", table, StreamArn=OTHER)
    assert [one["StreamArn"] for one in describe(db, table)] == [OTHER, STREAM]


def test_only_an_active_destination_can_be_changed(db: Database, table: str) -> None:
    named = {"TableName": table, "StreamArn": STREAM}
    db.refuses(
        "DisableKinesisStreamingDestination",
        named,
        STATE + "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.",
    )
    micro = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    db.refuses(
        "UpdateKinesisStreamingDestination",
        named | {"UpdateKinesisStreamingConfiguration": micro},
        STATE + "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE "
        f"state. TableName: {table}, kdsArn: {STREAM}",
    )


def test_an_update_must_change_the_precision(db: Database, table: str) -> None:
    call(db, "Enable", table)
    id_ = db.call("DescribeTable", {"TableName": table})["Table"]["TableId"]
    milli = {"ApproximateCreationDateTimePrecision": "MILLISECOND"}
    named = {"TableName": table, "StreamArn": STREAM}
    db.refuses(
        "UpdateKinesisStreamingDestination",
        named | {"UpdateKinesisStreamingConfiguration": milli},
        "Invalid Request: Precision is already set to the desired value of MILLISECOND for "
        f"tableId: {id_}, kdsArn: {STREAM}",
    )
    db.refuses(
        "UpdateKinesisStreamingDestination",
        named,
        "Streaming destination cannot be updated with given parameters: "
        "UpdateKinesisStreamingConfiguration cannot be null or contain only null values",
    )
