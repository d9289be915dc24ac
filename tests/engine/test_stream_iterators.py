"""Where an iterator begins, how long it is valid, and what is refused."""

from __future__ import annotations

import base64
import time
from importlib import import_module
from typing import Any

import pytest
from msgspec.structs import replace

from tablewright.engine.change_log.streams import parse_iterator
from tests.engine.database import Database, item
from tests.engine.streaming import (
    describe_stream,
    enabled,
    iterator,
    read_pages,
    read_shard,
    shards,
    stream_arn,
)

DAY = 24 * 60 * 60
GET_RECORDS = import_module("tablewright.engine.operations.streams")
MISSING = "arn:aws:dynamodb:us-east-1:123456789012:table/missing/stream/2026-01-15T10:00:00.000"
UNKNOWN_SHARD = "shardId-00000000000000000000-00000000"


@pytest.fixture
def arn(db: Database) -> str:
    """The stream of a table with the items 0 to 4."""
    table = db.table("pk:S", StreamSpecification=enabled())
    for number in range(5):
        db.put(table, item(pk=str(number)))
    return stream_arn(db.call, table)


def table_of(arn: str) -> str:
    return arn.split("/")[1]


def keys(records: list[dict[str, Any]]) -> str:
    return "".join(record["dynamodb"]["Keys"]["pk"]["S"] for record in records)


def number(index: int) -> str:
    return str(10**20 + 1 + index)


@pytest.mark.parametrize(
    ("kind", "members", "expected"),
    [
        ("TRIM_HORIZON", {}, "01234"),
        ("LATEST", {}, ""),
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": number(0)}, "01234"),
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": number(3)}, "34"),
        ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": number(0)}, "1234"),
        ("AFTER_SEQUENCE_NUMBER", {"SequenceNumber": number(4)}, ""),
        ("AT_TIMESTAMP", {"Timestamp": 0}, "01234"),
    ],
)
def test_an_iterator_begins_where_its_type_says(
    db: Database, arn: str, kind: str, members: dict[str, Any], expected: str
) -> None:
    start = iterator(db.call, arn, kind=kind, **members)
    assert keys(read_shard(db.call, start)) == expected


def test_at_timestamp_begins_with_the_first_later_record(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = db.table("pk:S", StreamSpecification=enabled())
    now = time.time()
    with monkeypatch.context() as patch:
        for index, moment in enumerate((now - 30, now - 20, now - 20, now - 10)):
            patch.setattr("tablewright.engine.change_log.changes.time.time", lambda at=moment: at)
            db.put(table, item(pk=str(index)))
    arn = stream_arn(db.call, table)
    for moment, expected in (
        (now - 40, "0123"),
        (now - 30.5, "0123"),
        (now - 25, "123"),
        (now - 20.5, "123"),
        (now - 15, "3"),
        (now - 1, ""),
    ):
        start = iterator(db.call, arn, kind="AT_TIMESTAMP", Timestamp=moment)
        assert keys(read_shard(db.call, start)) == expected


def test_at_timestamp_stays_in_its_shard(db: Database, arn: str) -> None:
    db.engine.rotate_shards(table_of(arn))
    db.put(table_of(arn), item(pk="5"))
    first, second = (shard["ShardId"] for shard in shards(db.call, arn))
    now = time.time()
    start = iterator(db.call, arn, second, "AT_TIMESTAMP", Timestamp=0)
    assert keys(read_shard(db.call, start)) == "5"
    start = iterator(db.call, arn, first, "AT_TIMESTAMP", Timestamp=now)
    assert db.call("GetRecords", {"ShardIterator": start}) == {"Records": []}


def test_times_of_records_do_not_go_back_with_the_clock(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = db.table("pk:S", StreamSpecification=enabled())
    with monkeypatch.context() as patch:
        for index, moment in enumerate((5000.7, 4000.0)):
            patch.setattr("tablewright.engine.change_log.changes.time.time", lambda at=moment: at)
            db.put(table, item(pk=str(index)))
    records = read_shard(db.call, iterator(db.call, stream_arn(db.call, table)))
    times = [record["dynamodb"]["ApproximateCreationDateTime"] for record in records]
    assert times == [5000, 5000]


def test_a_page_has_at_most_limit_records(db: Database, arn: str) -> None:
    pages = read_pages(db.call, iterator(db.call, arn), Limit=2)
    assert [keys(page) for page in pages] == ["01", "23", "4", ""]


def test_a_page_has_at_most_1_mb(db: Database) -> None:
    table = db.table("pk:S", StreamSpecification=enabled("NEW_IMAGE"))
    for index in range(4):
        db.put(table, item(pk=str(index), text="x" * 390_000))
    pages = read_pages(db.call, iterator(db.call, stream_arn(db.call, table)))
    assert [keys(page) for page in pages] == ["01", "23", ""]


def test_a_record_larger_than_a_page_is_returned(
    db: Database, arn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GET_RECORDS, "MAX_PAGE_BYTES", 1)
    pages = read_pages(db.call, iterator(db.call, arn))
    assert [keys(page) for page in pages] == ["0", "1", "2", "3", "4", ""]


def test_a_page_is_empty_only_if_there_is_nothing_to_read(
    db: Database, arn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several shards, most changes may belong to others."""
    db.engine.rotate_shards(table_of(arn), children=8)
    for index in range(20):
        db.put(table_of(arn), item(pk="same", n=index))
    for key in range(40):
        db.put(table_of(arn), item(pk=f"other{key}"))
    monkeypatch.setattr(GET_RECORDS, "MAX_SCANNED", 6)
    found = []
    for shard in shards(db.call, arn)[1:]:
        pages = read_pages(db.call, iterator(db.call, arn, shard["ShardId"]))
        found += [record for page in pages for record in page]
    assert len(found) == 60
    numbers = [record["dynamodb"]["NewImage"].get("n") for record in found]
    assert [int(number["N"]) for number in numbers if number] == list(range(20))


def test_an_empty_shard_is_read_again_and_again(db: Database) -> None:
    table = db.table("pk:S", StreamSpecification=enabled())
    page = db.call("GetRecords", {"ShardIterator": iterator(db.call, stream_arn(db.call, table))})
    for _ in range(3):
        assert page["Records"] == []
        page = db.call("GetRecords", {"ShardIterator": page["NextShardIterator"]})
    db.put(table, item(pk="a"))
    page = db.call("GetRecords", {"ShardIterator": page["NextShardIterator"]})
    assert keys(page["Records"]) == "a"


def test_the_start_of_an_empty_shard_is_a_valid_sequence_number(db: Database) -> None:
    table = db.table("pk:S", StreamSpecification=enabled())
    arn = stream_arn(db.call, table)
    (shard,) = shards(db.call, arn)
    begin = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    start = iterator(db.call, arn, kind="AT_SEQUENCE_NUMBER", SequenceNumber=begin)
    db.put(table, item(pk="a"))
    assert keys(read_shard(db.call, start)) == "a"


def test_an_iterator_expires_after_15_minutes(db: Database, arn: str) -> None:
    start = iterator(db.call, arn)
    now = time.time()
    db.engine.trim(now + 14 * 60)
    db.call("GetRecords", {"ShardIterator": start})
    db.engine.trim(now + 16 * 60)
    db.fails(
        "GetRecords",
        {"ShardIterator": start},
        "ExpiredIteratorException",
        "The shard iterator is valid for 15 minutes and has expired; "
        "get a new one with GetShardIterator",
    )
    assert keys(read_shard(db.call, iterator(db.call, arn))) == "01234"


TRIMMED = ("TrimmedDataAccessException", "The data you are trying to access has been trimmed")


def test_trimmed_records_cannot_be_read(db: Database, arn: str) -> None:
    now = time.time()
    db.engine.trim(now + DAY - 60)
    start = iterator(db.call, arn)
    assert db.engine.trim(now + DAY + 60) >= 5
    db.fails("GetRecords", {"ShardIterator": start}, *TRIMMED)
    request = {"StreamArn": arn, "ShardId": shards(db.call, arn)[0]["ShardId"]}
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        members = {"ShardIteratorType": kind, "SequenceNumber": number(0)}
        db.fails("GetShardIterator", request | members, *TRIMMED)
    db.put(table_of(arn), item(pk="5"))
    oldest: list[tuple[str, dict[str, Any]]] = [
        ("TRIM_HORIZON", {}),
        ("AT_TIMESTAMP", {"Timestamp": 1}),
    ]
    for kind, members in oldest:
        assert keys(read_shard(db.call, iterator(db.call, arn, kind=kind, **members))) == "5"


#: A value that violates a constraint, and the constraint.
CONSTRAINTS: list[tuple[str, str, Any, str]] = [
    ("ListStreams", "Limit", 0, "have value greater than or equal to 1"),
    ("ListStreams", "Limit", 101, "have value less than or equal to 100"),
    ("DescribeStream", "Limit", 0, "have value greater than or equal to 1"),
    ("DescribeStream", "Limit", 101, "have value less than or equal to 100"),
    ("DescribeStream", "StreamArn", "arn:short", "have length greater than or equal to 37"),
    ("GetRecords", "Limit", 0, "have value greater than or equal to 1"),
    ("GetRecords", "Limit", 1001, "have value less than or equal to 1000"),
    ("GetRecords", "ShardIterator", "", "have length greater than or equal to 1"),
    ("GetShardIterator", "ShardId", "shard", "have length greater than or equal to 28"),
    (
        "GetShardIterator",
        "ShardIteratorType",
        "FIRST",
        "satisfy enum value set: [TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, "
        "AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP]",
    ),
    ("GetShardIterator", "SequenceNumber", "12", "have length greater than or equal to 21"),
    ("GetShardIterator", "SequenceNumber", "1" * 41, "have length less than or equal to 40"),
    ("GetShardIterator", "SequenceNumber", "x" * 21, "satisfy regular expression pattern: [0-9]+"),
]


def valid_request(db: Database, arn: str, operation: str) -> dict[str, Any]:
    if operation == "ListStreams":
        return {}
    if operation == "GetRecords":
        return {"ShardIterator": iterator(db.call, arn)}
    if operation == "DescribeStream":
        return {"StreamArn": arn}
    shard = shards(db.call, arn)[0]["ShardId"]
    return {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}


@pytest.mark.parametrize(("operation", "member", "value", "problem"), CONSTRAINTS)
def test_a_member_must_satisfy_its_constraint(
    db: Database, arn: str, operation: str, member: str, value: Any, problem: str
) -> None:
    path = member[0].lower() + member[1:]
    db.refuses(
        operation,
        valid_request(db, arn, operation) | {member: value},
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: "
        f"Member must {problem}",
    )


@pytest.mark.parametrize(
    ("kind", "members", "problem"),
    [
        ("AT_SEQUENCE_NUMBER", {}, "SequenceNumber is required"),
        ("AFTER_SEQUENCE_NUMBER", {}, "SequenceNumber is required"),
        ("AT_TIMESTAMP", {}, "Timestamp is required"),
        ("TRIM_HORIZON", {"SequenceNumber": number(0)}, "SequenceNumber must not be given"),
        ("LATEST", {"SequenceNumber": number(0)}, "SequenceNumber must not be given"),
        ("LATEST", {"Timestamp": 1}, "Timestamp must not be given"),
    ],
)
def test_the_type_of_an_iterator_decides_what_it_needs(
    db: Database, arn: str, kind: str, members: dict[str, Any], problem: str
) -> None:
    request = valid_request(db, arn, "GetShardIterator") | {"ShardIteratorType": kind} | members
    db.refuses("GetShardIterator", request, f"{problem} for the type {kind}")


def test_a_timestamp_in_the_future_is_refused(db: Database, arn: str) -> None:
    members = {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 99999999999}
    request = valid_request(db, arn, "GetShardIterator") | members
    db.refuses("GetShardIterator", request, "Timestamp 99999999999.0 is in the future")


@pytest.mark.parametrize("missing", ["Type", "ShardId"])
def test_a_shard_filter_needs_both_members(db: Database, arn: str, missing: str) -> None:
    chosen = {"Type": "CHILD_SHARDS", "ShardId": UNKNOWN_SHARD}
    del chosen[missing]
    db.refuses(
        "DescribeStream",
        {"StreamArn": arn, "ShardFilter": chosen},
        "ShardFilter: both Type and ShardId are required",
    )


@pytest.mark.parametrize("sequence", [number(-1), number(6), "0" * 21, "9" * 40])
def test_a_sequence_number_outside_of_the_shard_is_refused(
    db: Database, arn: str, sequence: str
) -> None:
    (shard,) = shards(db.call, arn)
    request = {
        "StreamArn": arn,
        "ShardId": shard["ShardId"],
        "ShardIteratorType": "AT_SEQUENCE_NUMBER",
        "SequenceNumber": sequence,
    }
    message = f"Invalid SequenceNumber: {sequence} is not in the shard {shard['ShardId']}"
    db.refuses("GetShardIterator", request, message)


def test_unknown_streams_and_shards_are_not_found(db: Database, arn: str) -> None:
    not_found = f"Requested resource not found: Stream: {MISSING} not found"
    request = {"ShardId": UNKNOWN_SHARD, "ShardIteratorType": "LATEST"}
    for operation, members in (("DescribeStream", {}), ("GetShardIterator", request)):
        db.fails(
            operation, {"StreamArn": MISSING} | members, "ResourceNotFoundException", not_found
        )
    db.fails(
        "GetShardIterator",
        {"StreamArn": arn} | request,
        "ResourceNotFoundException",
        f"Requested resource not found: Shard: {UNKNOWN_SHARD} not found",
    )


@pytest.mark.parametrize(
    "malformed",
    [
        "arn:aws:dynamodb:us-east-1:123456789012:table/things",
        "arn:aws:s3:us-east-1:123456789012:table/things/stream/2026",
        "this-is-not-an-arn-but-it-is-long-enough",
    ],
)
def test_a_malformed_arn_is_refused(db: Database, malformed: str) -> None:
    db.refuses("DescribeStream", {"StreamArn": malformed}, f"Invalid StreamArn: {malformed}")


def test_a_malformed_iterator_is_refused(db: Database, arn: str) -> None:
    valid = iterator(db.call, arn)
    begin, version, encoded = valid.split("|")
    content = base64.b64decode(encoded)
    damaged = base64.b64encode(content[:-1] + b"x").decode()
    for wrong in (
        "x",
        "|1|",
        valid[:-4],
        f"{begin}|2|{encoded}",
        f"{begin}|{version}|{damaged}",
        f"{begin}x|{version}|{encoded}",
        f"{begin}|{version}|é",
        replace(parse_iterator(valid), position=2**63).encode(),
    ):
        db.refuses("GetRecords", {"ShardIterator": wrong}, "Invalid ShardIterator")


def test_an_iterator_of_a_forgotten_stream_is_not_found(db: Database, arn: str) -> None:
    now = time.time()
    db.engine.trim(now + DAY - 60)
    db.call("DeleteTable", {"TableName": table_of(arn)})
    start = iterator(db.call, arn)
    assert describe_stream(db.call, arn)["StreamStatus"] == "DISABLED"
    db.engine.trim(now + DAY + 120)
    db.fails(
        "GetRecords",
        {"ShardIterator": start},
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {arn} not found",
    )
