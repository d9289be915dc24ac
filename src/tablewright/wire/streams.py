"""The requests and responses of DynamoDB Streams, with the constraints of its service model.

Like `requests` and `responses`; the names of a stream record's members begin with a small letter.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from tablewright.values import Item
from tablewright.wire.constraints import (
    EnumValues,
    Length,
    Name,
    NumberRange,
    RegularExpression,
    Structure,
    Timestamp,
    optional,
)
from tablewright.wire.responses import ItemOut, Output

MAX_LISTED = 100
MAX_RECORDS = 1000

StreamArn = Annotated[str, Length(37, 1024)]
ShardId = Annotated[str, Length(28, 65)]
ListLimit = Annotated[int, NumberRange(1, MAX_LISTED)]
IteratorType = Annotated[
    str,
    EnumValues(
        ("TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP")
    ),
]


class ListStreamsInput(Structure):
    table_name: Name | None = None
    limit: ListLimit | None = None
    start_arn: StreamArn | None = optional("ExclusiveStartStreamArn")


class ShardFilter(Structure):
    type: Annotated[str, EnumValues(("CHILD_SHARDS",))] | None = None
    shard_id: ShardId | None = None


class DescribeStreamInput(Structure, kw_only=True):
    stream_arn: StreamArn
    limit: ListLimit | None = None
    start_shard_id: ShardId | None = optional("ExclusiveStartShardId")
    shard_filter: ShardFilter | None = None


class GetShardIteratorInput(Structure, kw_only=True):
    stream_arn: StreamArn
    shard_id: ShardId
    type: IteratorType = field(name="ShardIteratorType")
    sequence_number: Annotated[str, Length(21, 40), RegularExpression("[0-9]+")] | None = None
    timestamp: Timestamp | None = None


class GetRecordsInput(Structure, kw_only=True):
    shard_iterator: Annotated[str, Length(1, 2048)]
    limit: Annotated[int, NumberRange(1, MAX_RECORDS)] | None = None


class StreamRecord(Output, kw_only=True):
    """The change of an item, with the images that the view type of the stream includes."""

    approximate_creation_date_time: int
    keys: Item
    new_image: ItemOut | None = None
    old_image: ItemOut | None = None
    sequence_number: str
    size_bytes: int
    stream_view_type: str


class Identity(Output):
    """The service that deleted an item: the time to live of DynamoDB."""

    principal_id: str
    type: str


class Record(Struct, omit_defaults=True, gc=False, kw_only=True):
    """One record of a stream."""

    event_id: str = field(name="eventID")
    event_name: str = field(name="eventName")
    event_version: str = field(name="eventVersion")
    event_source: str = field(name="eventSource")
    aws_region: str = field(name="awsRegion")
    dynamodb: StreamRecord
    user_identity: Identity | None = optional("userIdentity")


class GetRecordsOutput(Output, kw_only=True):
    records: list[Record]
    next_shard_iterator: str | None = None
