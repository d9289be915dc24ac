"""Streams begin, end and are read again: enabling, disabling, deleting, listing, describing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.engine.database import Database, item, table_request
from tests.engine.streaming import (
    describe_stream,
    enabled,
    iterator,
    read_stream,
    shards,
    stream_arn,
)

DAY = 24 * 60 * 60
DISABLED = {"StreamEnabled": False}
KEY = item(pk="a", sk="1")


@pytest.fixture
def watched(db: Database) -> str:
    return db.table(StreamSpecification=enabled())


def set_stream(db: Database, table: str, specification: dict[str, Any]) -> dict[str, Any]:
    request = {"TableName": table, "StreamSpecification": specification}
    description: dict[str, Any] = db.call("UpdateTable", request)["TableDescription"]
    return description


def test_update_table_enables_a_stream_of_later_changes(db: Database, table: str) -> None:
    db.put(table, KEY)
    described = set_stream(db, table, enabled("NEW_IMAGE"))
    assert described["StreamSpecification"] == enabled("NEW_IMAGE")
    assert described["LatestStreamArn"] == stream_arn(db.call, table)
    db.put(table, KEY | item(n=1))
    (record,) = read_stream(db.call, described["LatestStreamArn"])
    assert record["eventName"] == "MODIFY"


def test_a_disabled_stream_is_closed_and_can_be_read(db: Database, watched: str) -> None:
    db.put(watched, KEY)
    arn = stream_arn(db.call, watched)
    described = set_stream(db, watched, DISABLED)
    db.put(watched, item(pk="b", sk="1"))
    assert "StreamSpecification" not in described
    assert described["LatestStreamArn"] == arn  # as on AWS
    description = describe_stream(db.call, arn)
    assert description["StreamStatus"] == "DISABLED"
    assert description["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    (shard,) = description["Shards"]
    assert shard["SequenceNumberRange"] == {
        "StartingSequenceNumber": "100000000000000000001",
        "EndingSequenceNumber": "100000000000000000001",
    }
    page = db.call("GetRecords", {"ShardIterator": iterator(db.call, arn)})
    assert [record["dynamodb"]["Keys"] for record in page["Records"]] == [KEY]
    assert "NextShardIterator" not in page


def test_enabling_again_begins_a_new_stream(db: Database, watched: str) -> None:
    db.put(watched, KEY)
    old = stream_arn(db.call, watched)
    set_stream(db, watched, DISABLED)
    db.put(watched, KEY | item(n=1))  # in no stream
    set_stream(db, watched, enabled("KEYS_ONLY"))
    new = stream_arn(db.call, watched)
    db.put(watched, KEY | item(n=2))
    assert new != old
    assert [record["eventName"] for record in read_stream(db.call, old)] == ["INSERT"]
    assert [record["eventName"] for record in read_stream(db.call, new)] == ["MODIFY"]
    listed = db.call("ListStreams", {"TableName": watched})["Streams"]
    assert [stream["StreamArn"] for stream in listed] == [old, new]
    assert describe_stream(db.call, new)["StreamViewType"] == "KEYS_ONLY"


def test_a_deleted_tables_stream_is_closed_and_can_be_read(db: Database, watched: str) -> None:
    db.put(watched, KEY)
    arn = stream_arn(db.call, watched)
    db.call("DeleteTable", {"TableName": watched})
    assert describe_stream(db.call, arn)["StreamStatus"] == "DISABLED"
    assert [record["dynamodb"]["Keys"] for record in read_stream(db.call, arn)] == [KEY]
    db.call("CreateTable", table_request(watched, StreamSpecification=enabled()))
    new = stream_arn(db.call, watched)
    assert new != arn
    assert read_stream(db.call, new) == []
    assert len(db.call("ListStreams", {"TableName": watched})["Streams"]) == 2


def test_a_setting_that_is_there_already_is_refused(db: Database, watched: str, table: str) -> None:
    for view in ("NEW_AND_OLD_IMAGES", "KEYS_ONLY"):
        db.refuses(
            "UpdateTable",
            {"TableName": watched, "StreamSpecification": enabled(view)},
            f"Table already has an enabled stream: TableName: {watched}",
        )
    request = {"TableName": table, "StreamSpecification": DISABLED}
    db.refuses("UpdateTable", request, "Table has no stream to disable")
    set_stream(db, watched, DISABLED)
    request = {"TableName": watched, "StreamSpecification": DISABLED}
    db.refuses("UpdateTable", request, "Table has no stream to disable")


def test_a_setting_that_contradicts_itself_is_refused(db: Database, watched: str) -> None:
    for setting, message in (
        (
            {"StreamEnabled": True},
            "Invalid StreamViewType: Stream ViewType must not be null or empty when enabling "
            "streams.",
        ),
        (
            {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
            "Invalid StreamViewType: Stream StreamEnabled was false but a StreamViewType was "
            "present.",
        ),
    ):
        request = {"TableName": watched, "StreamSpecification": setting}
        db.refuses("UpdateTable", request, message)
    assert describe_stream(db.call, stream_arn(db.call, watched))["StreamStatus"] == "ENABLED"


def test_a_refused_update_leaves_the_stream_as_it_was(db: Database, watched: str) -> None:
    arn = stream_arn(db.call, watched)
    updates = [{"Delete": {"IndexName": "missing"}}]
    request = {
        "TableName": watched,
        "StreamSpecification": DISABLED,
        "GlobalSecondaryIndexUpdates": updates,
    }
    db.fails("UpdateTable", request, "ResourceNotFoundException", "Requested resource not found")
    assert describe_stream(db.call, arn)["StreamStatus"] == "ENABLED"
    db.put(watched, KEY)
    assert len(read_stream(db.call, arn)) == 1


def test_list_streams_has_pages(db: Database) -> None:
    tables = [db.table(StreamSpecification=enabled()) for _ in range(3)]
    arns = [stream_arn(db.call, table) for table in tables]
    found: list[str] = []
    page: dict[str, Any] = {}
    while True:
        answer = db.call("ListStreams", {"Limit": 2} | page)
        assert len(answer["Streams"]) <= 2
        found += [stream["StreamArn"] for stream in answer["Streams"]]
        if "LastEvaluatedStreamArn" not in answer:
            break
        page = {"ExclusiveStartStreamArn": answer["LastEvaluatedStreamArn"]}
    assert set(arns) <= set(found)
    assert len(found) == len(set(found))
    (only,) = db.call("ListStreams", {"TableName": tables[0]})["Streams"]
    label = arns[0].rpartition("/")[2]
    assert only == {"StreamArn": arns[0], "TableName": tables[0], "StreamLabel": label}


def test_list_streams_refuses_unknown_tables_and_places(db: Database, table: str) -> None:
    db.fails(
        "ListStreams",
        {"TableName": "missing"},
        "ResourceNotFoundException",
        "Requested resource not found: Table: missing not found",
    )
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}/stream/2026-01-15T10:00:00.000"
    db.refuses(
        "ListStreams", {"ExclusiveStartStreamArn": arn}, f"Invalid ExclusiveStartStreamArn: {arn}"
    )


def test_describe_stream_has_the_members_of_aws(db: Database) -> None:
    before = time.time()
    table = db.table("pk:S / sk:N", StreamSpecification=enabled("KEYS_ONLY"))
    arn = stream_arn(db.call, table)
    description = describe_stream(db.call, arn)
    created = description.pop("CreationRequestDateTime")
    assert before - 0.001 <= created <= time.time()
    (shard,) = description.pop("Shards")
    assert description == {
        "StreamArn": arn,
        "StreamLabel": arn.rpartition("/")[2],
        "StreamStatus": "ENABLED",
        "StreamViewType": "KEYS_ONLY",
        "TableName": table,
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    }
    assert 28 <= len(shard["ShardId"]) <= 65
    numbers = {"StartingSequenceNumber": "100000000000000000001"}
    assert shard == {"ShardId": shard["ShardId"], "SequenceNumberRange": numbers}


def test_rotation_closes_shards_and_opens_their_children(db: Database, watched: str) -> None:
    arn = stream_arn(db.call, watched)
    db.put(watched, KEY)
    (parent,) = shards(db.call, arn)
    start = iterator(db.call, arn)
    db.engine.rotate_shards(watched)
    db.put(watched, KEY | item(n=1))
    db.engine.rotate_shards(watched, children=2)
    db.put(watched, KEY | item(n=2))
    first, second, *third = shards(db.call, arn)
    assert first["ShardId"] == parent["ShardId"]
    assert first["SequenceNumberRange"]["EndingSequenceNumber"] == "100000000000000000001"
    assert second["ParentShardId"] == first["ShardId"]
    assert [shard["ParentShardId"] for shard in third] == [second["ShardId"]] * 2
    ids = [shard["ShardId"] for shard in (first, second, *third)]
    assert ids == sorted(ids)
    page = db.call("GetRecords", {"ShardIterator": start})
    assert len(page["Records"]) == 1
    assert "NextShardIterator" not in page
    images = [record["dynamodb"]["NewImage"] for record in read_stream(db.call, arn)]
    assert images == [KEY, KEY | item(n=1), KEY | item(n=2)]


def test_an_iterator_at_the_end_ends_when_its_shard_is_closed(db: Database, watched: str) -> None:
    arn = stream_arn(db.call, watched)
    latest = iterator(db.call, arn, kind="LATEST")
    page = db.call("GetRecords", {"ShardIterator": latest})
    assert page["Records"] == []
    db.engine.rotate_shards(watched)
    page = db.call("GetRecords", {"ShardIterator": page["NextShardIterator"]})
    assert page == {"Records": []}


def test_a_shard_filter_finds_the_children(db: Database, watched: str) -> None:
    arn = stream_arn(db.call, watched)
    db.engine.rotate_shards(watched, children=3)
    parent, *children = shards(db.call, arn)
    chosen = {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}
    assert describe_stream(db.call, arn, ShardFilter=chosen)["Shards"] == children
    chosen["ShardId"] = children[0]["ShardId"]
    assert describe_stream(db.call, arn, ShardFilter=chosen)["Shards"] == []


def test_describe_stream_has_pages_of_shards(db: Database, watched: str) -> None:
    arn = stream_arn(db.call, watched)
    db.engine.rotate_shards(watched, children=4)
    everything = shards(db.call, arn)
    assert len(everything) == 5
    page = describe_stream(db.call, arn, Limit=3)
    assert page["Shards"] == everything[:3]
    rest = describe_stream(
        db.call, arn, Limit=3, ExclusiveStartShardId=page["LastEvaluatedShardId"]
    )
    assert rest["Shards"] == everything[3:]
    assert "LastEvaluatedShardId" not in rest
    unknown = "shardId-" + "9" * 20
    assert describe_stream(db.call, arn, ExclusiveStartShardId=unknown)["Shards"] == []


@pytest.mark.parametrize("children", [0, -1, 1001])
def test_a_wrong_number_of_children_is_refused(db: Database, watched: str, children: int) -> None:
    with pytest.raises(ValueError, match=f"children={children}: .* it can have 1 to 1000"):
        db.engine.rotate_shards(watched, children=children)
    assert len(shards(db.call, stream_arn(db.call, watched))) == 1


def test_only_an_enabled_stream_can_be_rotated(db: Database, table: str) -> None:
    with pytest.raises(ValueError, match=f"the table {table} has no enabled stream; enable it"):
        db.engine.rotate_shards(table)
    with pytest.raises(Exception, match="Table: missing not found"):
        db.engine.rotate_shards("missing")
    set_stream(db, table, enabled())
    set_stream(db, table, DISABLED)
    with pytest.raises(ValueError, match="no enabled stream"):
        db.engine.rotate_shards(table)
