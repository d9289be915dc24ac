"""What is in a stream: one record for each real change of an item, in four views."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tablewright.engine.tables.describe import stream_label
from tests.engine.database import Database, Json, item, table_request, values
from tests.engine.streaming import describe_stream, enabled, read_stream, stream_arn

KEY = item(pk="a", sk="1")


@pytest.fixture
def watched(db: Database) -> str:
    """A table with a stream of both images."""
    return db.table(StreamSpecification=enabled())


def events(db: Database, table: str) -> list[tuple[str, Json | None, Json | None]]:
    """The name, the old and the new image of all records."""
    return [
        (record["eventName"], changed.get("OldImage"), changed.get("NewImage"))
        for record in read_stream(db.call, stream_arn(db.call, table))
        for changed in (record["dynamodb"],)
    ]


def write(db: Database, table: str, operation: str, **members: Any) -> None:
    db.call(operation, {"TableName": table} | members)


def update(db: Database, table: str, expression: str, **named: Any) -> None:
    request: Json = {"TableName": table, "Key": KEY, "UpdateExpression": expression}
    if named:
        request["ExpressionAttributeValues"] = values(**named)
    db.call("UpdateItem", request)


def test_a_record_has_the_members_of_aws(db: Database, watched: str) -> None:
    before = int(time.time())
    db.put(watched, KEY | item(n=1))
    arn = stream_arn(db.call, watched)
    (record,) = read_stream(db.call, arn)
    created = record["dynamodb"].pop("ApproximateCreationDateTime")
    assert before <= created <= time.time()
    assert created == int(created)
    assert len(bytes.fromhex(record.pop("eventID"))) == 16
    assert record == {
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "Keys": KEY,
            "NewImage": KEY | item(n=1),
            "SequenceNumber": "100000000000000000001",
            "SizeBytes": 6 + 9,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


def test_put_update_and_delete_are_recorded_once_each(db: Database, watched: str) -> None:
    update(db, watched, "SET n = :n", n=1)
    db.put(watched, KEY | item(n=2))
    update(db, watched, "SET n = :n", n=3)
    write(db, watched, "DeleteItem", Key=KEY)
    one, two, three = (KEY | item(n=n) for n in (1, 2, 3))
    assert events(db, watched) == [
        ("INSERT", None, one),
        ("MODIFY", one, two),
        ("MODIFY", two, three),
        ("REMOVE", three, None),
    ]


def test_writes_that_change_nothing_are_not_recorded(db: Database, watched: str) -> None:
    stored = KEY | item(m={"a": 1, "b": 2}, numbers={1, 2}, n=10)
    db.put(watched, stored)
    db.put(watched, stored)
    db.put(
        watched,
        {"n": {"N": "1e1"}, "numbers": {"NS": ["2.0", "1"]}, **item(m={"b": 2, "a": 1}), **KEY},
    )
    update(db, watched, "SET n = :n", n=10)
    update(db, watched, "REMOVE gone")
    update(db, watched, "ADD n :zero", zero=0)
    write(db, watched, "DeleteItem", Key=item(pk="a", sk="2"))
    batch = [{"PutRequest": {"Item": stored}}, {"DeleteRequest": {"Key": item(pk="b", sk="1")}}]
    db.call("BatchWriteItem", {"RequestItems": {watched: batch}})
    actions: list[Json] = [
        {"Put": {"TableName": watched, "Item": stored}},
        {"Delete": {"TableName": watched, "Key": item(pk="b", sk="1")}},
        {
            "ConditionCheck": {
                "TableName": watched,
                "Key": item(pk="c", sk="1"),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        },
    ]
    db.call("TransactWriteItems", {"TransactItems": actions})
    assert events(db, watched) == [("INSERT", None, stored)]


def test_a_list_in_another_order_is_a_change(db: Database, watched: str) -> None:
    db.put(watched, KEY | item(numbers=[1, 2]))
    db.put(watched, KEY | item(numbers=[2, 1]))
    assert [name for name, _, _ in events(db, watched)] == ["INSERT", "MODIFY"]


def test_a_refused_write_is_not_recorded(db: Database, watched: str) -> None:
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        write(db, watched, "PutItem", Item=KEY, ConditionExpression="attribute_exists(pk)")
    assert events(db, watched) == []


def test_batches_and_transactions_have_a_record_for_each_changed_item(
    db: Database, watched: str
) -> None:
    first, second = (item(pk="a", sk=str(n)) for n in (1, 2))
    batch = [{"PutRequest": {"Item": one}} for one in (first, second)]
    db.call("BatchWriteItem", {"RequestItems": {watched: batch}})
    actions: list[Json] = [
        {"Delete": {"TableName": watched, "Key": first}},
        {
            "Update": {
                "TableName": watched,
                "Key": second,
                "UpdateExpression": "SET n = :n",
                "ExpressionAttributeValues": values(n=1),
            }
        },
    ]
    db.call("TransactWriteItems", {"TransactItems": actions})
    assert events(db, watched) == [
        ("INSERT", None, first),
        ("INSERT", None, second),
        ("REMOVE", first, None),
        ("MODIFY", second, second | item(n=1)),
    ]


VIEWS: dict[str, list[tuple[str | None, str | None]]] = {
    # the old and the new image of INSERT, MODIFY, REMOVE
    "KEYS_ONLY": [(None, None), (None, None), (None, None)],
    "NEW_IMAGE": [(None, "1"), (None, "2"), (None, None)],
    "OLD_IMAGE": [(None, None), ("1", None), ("2", None)],
    "NEW_AND_OLD_IMAGES": [(None, "1"), ("1", "2"), ("2", None)],
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_view_type_decides_which_images_are_there(db: Database, view: str) -> None:
    table = db.table(StreamSpecification=enabled(view))
    db.put(table, KEY | item(n=1))
    db.put(table, KEY | item(n=2))
    write(db, table, "DeleteItem", Key=KEY)
    found = []
    for record in read_stream(db.call, stream_arn(db.call, table)):
        changed = record["dynamodb"]
        assert changed["Keys"] == KEY
        assert changed["StreamViewType"] == view
        images = [changed.get(name) for name in ("OldImage", "NewImage")]
        size = 6 + sum(9 for image in images if image)
        assert changed["SizeBytes"] == size
        assert all(image is None or KEY.items() <= image.items() for image in images)
        found.append(tuple(None if image is None else image["n"]["N"] for image in images))
        assert None not in changed.values()  # an absent image is absent, not null
    assert found == VIEWS[view]


def test_an_item_of_nothing_but_its_key_has_an_image(db: Database, watched: str) -> None:
    db.put(watched, KEY)
    assert events(db, watched) == [("INSERT", None, KEY)]


def test_items_deleted_by_time_to_live_name_the_service(db: Database) -> None:
    table = db.table(StreamSpecification=enabled())
    setting = {"AttributeName": "until", "Enabled": True}
    db.engine.call("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": setting})
    db.put(table, KEY | item(until=1000))
    db.put(table, item(pk="b", sk="1"))
    db.engine.expire(2000)
    write(db, table, "DeleteItem", Key=item(pk="b", sk="1"))
    *_, expired, deleted = read_stream(db.call, stream_arn(db.call, table))
    assert expired["eventName"] == deleted["eventName"] == "REMOVE"
    assert expired["dynamodb"]["OldImage"] == KEY | item(until=1000)
    assert expired["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert "userIdentity" not in deleted


def test_index_writes_have_no_records(db: Database) -> None:
    table = db.table(glob={"by_g": ("g:S", "ALL")}, StreamSpecification=enabled())
    db.put(table, KEY | item(g="x"))
    db.put(table, KEY | item(g="y"))
    assert [name for name, _, _ in events(db, table)] == ["INSERT", "MODIFY"]


def test_event_ids_and_sequence_numbers_are_unique_and_the_same_in_each_reading(
    db: Database, watched: str
) -> None:
    for number in range(20):
        db.put(watched, item(pk="a", sk=str(number)))
    arn = stream_arn(db.call, watched)
    first, second = ([record["eventID"] for record in read_stream(db.call, arn)] for _ in "12")
    assert first == second
    assert len(set(first)) == 20
    numbers = [r["dynamodb"]["SequenceNumber"] for r in read_stream(db.call, arn, Limit=3)]
    assert numbers == sorted(set(numbers))
    assert {len(number) for number in numbers} == {21}


def test_a_table_without_a_stream_logs_nothing(db: Database, table: str) -> None:
    db.put(table, KEY)
    assert "LatestStreamArn" not in db.call("DescribeTable", {"TableName": table})["Table"]
    assert db.call("ListStreams", {"TableName": table}) == {"Streams": []}


def test_records_of_numbers_and_binaries_are_as_items_are_returned(db: Database) -> None:
    table = db.table("pk:B / sk:N", StreamSpecification=enabled())
    db.put(table, {"pk": {"B": "AAE="}, "sk": {"N": "01.50"}})
    (record,) = read_stream(db.call, stream_arn(db.call, table))
    assert record["dynamodb"]["Keys"] == {"pk": {"B": "AAE="}, "sk": {"N": "1.5"}}


def test_create_table_describes_the_stream(db: Database) -> None:
    name = db.new_name()
    request = table_request(name, StreamSpecification=enabled("OLD_IMAGE"))
    created = db.call("CreateTable", request)["TableDescription"]
    described = db.call("DescribeTable", {"TableName": name})["Table"]
    for description in (created, described):
        label = description["LatestStreamLabel"]
        assert description["StreamSpecification"] == enabled("OLD_IMAGE")
        assert description["LatestStreamArn"] == f"{description['TableArn']}/stream/{label}"
        assert label == stream_label(description["CreationDateTime"])
    assert created["LatestStreamArn"] == described["LatestStreamArn"]
    stream = describe_stream(db.call, described["LatestStreamArn"])
    assert stream["CreationRequestDateTime"] == described["CreationDateTime"]
