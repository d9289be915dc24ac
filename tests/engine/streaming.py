"""Reading streams in tests: every shard to its end, parents before their children."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Call = Callable[[str, Json], Json]


def enabled(view: str = "NEW_AND_OLD_IMAGES") -> Json:
    """A StreamSpecification."""
    return {"StreamEnabled": True, "StreamViewType": view}


def stream_arn(call: Call, table: str) -> str:
    return str(call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"])


def describe_stream(call: Call, arn: str, **members: Any) -> Json:
    description: Json = call("DescribeStream", {"StreamArn": arn} | members)["StreamDescription"]
    return description


def shards(call: Call, arn: str) -> list[Json]:
    """All shards, page by page."""
    found: list[Json] = []
    page: Json = {}
    while True:
        description = describe_stream(call, arn, **page)
        found += description["Shards"]
        if "LastEvaluatedShardId" not in description:
            return found
        page = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}


def iterator(
    call: Call, arn: str, shard: str | None = None, kind: str = "TRIM_HORIZON", **members: Any
) -> str:
    """An iterator of a shard, or of the first one."""
    request = {
        "StreamArn": arn,
        "ShardId": shard or shards(call, arn)[0]["ShardId"],
        "ShardIteratorType": kind,
    }
    return str(call("GetShardIterator", request | members)["ShardIterator"])


def read_pages(call: Call, start: str, **members: Any) -> Iterator[list[Json]]:
    """The records of a shard in pages, until the shard ends or a page is empty."""
    following: str | None = start
    while following is not None:
        page = call("GetRecords", {"ShardIterator": following} | members)
        yield page["Records"]
        following = page.get("NextShardIterator") if page["Records"] else None


def read_shard(call: Call, start: str, **members: Any) -> list[Json]:
    return [record for page in read_pages(call, start, **members) for record in page]


def read_stream(call: Call, arn: str, **members: Any) -> list[Json]:
    """All records of a stream; DescribeStream lists parents before their children."""
    return [
        record
        for shard in shards(call, arn)
        for record in read_shard(call, iterator(call, arn, shard["ShardId"]), **members)
    ]


def fold(records: list[Json]) -> dict[str, Json]:
    """The items of a table whose changes these records are, by their keys as text.

    Each record must be a real change of the item that the records before it have made.
    """
    items: dict[str, Json] = {}
    for record in records:
        changed = record["dynamodb"]
        key = json.dumps(changed["Keys"], sort_keys=True)
        old, new = changed.get("OldImage"), changed.get("NewImage")
        assert old == items.get(key)
        assert new != old
        expected = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        assert record["eventName"] == expected
        if new is None:
            del items[key]
        else:
            assert changed["Keys"].items() <= new.items()
            items[key] = new
    return items
