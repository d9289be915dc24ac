"""Streams: parts of the change log of a table, divided into shards, and positions in them.

A stream begins when it is enabled and ends when it is disabled or its table is deleted. It is a
range of the change log (`changes`); a table's streams share the log and do not overlap. A shard is
a range of sequence numbers and of hashes of partition keys. So all changes of an item are in one
shard at a time, and in the child after that shard was closed. One shard is the default;
`Engine(stream_shards=…)` divides the hashes evenly.

AWS closes a shard after about four hours and continues in its children. Here shards are rotated on
demand, so that the code of consumers can be tested (`rotate_shards`).

A shard iterator is a position in a shard, as an opaque string:

    <ARN of the stream>|1|<base64 of a checksum and of [shard, position, issued]>

It begins with the ARN of its stream, as on AWS, so that access to the stream can be checked without
looking it up. The checksum detects damage; it is no signature, because an iterator grants no
access that the caller does not already have.

Invariant: `position` is the number of the last change that was read, whether it belongs to the
shard or not. So the iterators of a shard without changes advance, too, and do not fall behind the
trim point.

This module changes the schemas of streams. Operations read them with `find_stream`.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, TypeAlias
from zlib import crc32

import msgspec
from msgspec.structs import replace

from tablewright.engine.change_log.changes import read_last_number
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.describe import reject_other_account, stream_arn, stream_label
from tablewright.errors import (
    ExpiredIteratorException,
    ValidationException,
    not_found,
)
from tablewright.schema import ChangeLogSchema, Shard, Stream, StreamSetting, TableSchema
from tablewright.storage import LogTree, WriteTransaction

#: Sequence numbers have at least 21 digits. An offset is safer than leading zeros: clients that
#: convert a number to an integer and back would drop those.
SEQUENCE_OFFSET = 10**20
HASHES = 2**32
MAX_SHARDS = 1000
#: An odd number, about 2**32 divided by the golden ratio.
_SPREAD = 2654435761

_ARN = re.compile(
    r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]*:table/([a-zA-Z0-9_.-]+)/stream/([^/|]+)"
)
EXPIRY_SECONDS = 15 * 60
_VERSION = "1"


class StreamSettings:
    """The settings of one engine that are not stored: the shards of a new stream, and the time.

    The time of readers is the system's, until a test moves it forward.
    """

    __slots__ = ("latest", "shards")

    def __init__(self, shards: int) -> None:
        if not 1 <= shards <= MAX_SHARDS:
            raise ValueError(f"stream_shards must be from 1 to {MAX_SHARDS}, not {shards}")
        self.shards = shards
        #: The latest time that a test has moved to. Only the end of a sandbox sets it back.
        self.latest = 0.0

    def now(self) -> float:
        """Return the time at which iterators are issued and expire."""
        return max(time.time(), self.latest)

    def move_to(self, now: float) -> None:
        """Move the time forward to `now`; keep it if it is later already."""
        self.latest = max(self.latest, now)


def format_number(number: int) -> str:
    """Return a sequence number as clients see it.

    >>> format_number(7)
    '100000000000000000007'
    """
    return str(SEQUENCE_OFFSET + number)


def parse_number(text: str) -> int:
    return int(text) - SEQUENCE_OFFSET


def check_stream_arn(arn: str) -> None:
    """Refuse an ARN that is malformed, or that of another account."""
    parse_stream_arn(arn)
    reject_other_account(arn)


def parse_stream_arn(arn: str) -> tuple[str, str]:
    """Return the table and the label of a stream; raise ValidationException if it is malformed."""
    found = _ARN.fullmatch(arn)
    if found is None:
        raise ValidationException(f"Invalid StreamArn: {arn}")  # AWS's own text is not known
    return found[1], found[2]


def find_stream(catalog: Catalog, arn: str) -> tuple[ChangeLogSchema, Stream]:
    """Return a stream with its log; raise ResourceNotFoundException if it is missing."""
    table, label = parse_stream_arn(arn)
    for log, stream in streams_of(catalog, table):
        if stream.label == label:
            return log, stream
    raise not_found(f"Stream: {arn}")


def find_shard(stream: Stream, shard_id: str) -> Shard:
    """Return a shard; raise ResourceNotFoundException if it is missing."""
    for shard in stream.shards:
        if shard.id == shard_id:
            return shard
    raise not_found(f"Shard: {shard_id}")


def contains(shard: Shard, partition_hash: int) -> bool:
    """Return whether a shard has the changes of a partition key with this hash.

    The hash is a checksum, and those of similar keys are close. The multiplication spreads them:
    otherwise, of four shards, one had none of the keys k0 to k39.
    """
    return shard.first_hash <= partition_hash * _SPREAD % HASHES < shard.end_hash


def streams_of(catalog: Catalog, table: str | None = None) -> list[tuple[ChangeLogSchema, Stream]]:
    """Return the streams of a table, also of deleted tables of this name; None: of all tables.

    They are in the order of their ARNs.
    """
    found = [
        (log, stream)
        for log in catalog.logs.values()
        if table is None or log.table == table
        for stream in log.streams
    ]
    return sorted(found, key=lambda pair: stream_arn(pair[0].table, pair[1].label))


def apply_stream_setting(
    catalog: Catalog, tx: WriteTransaction, schema: TableSchema, now: float, shards: int
) -> TableSchema:
    """Open and close streams of a stored table as its setting says; store and return its schema.

    A setting without a label means a new stream.
    """
    setting = schema.stream
    assert setting is not None
    if not setting.label:
        setting = replace(setting, label=_choose_label(catalog, schema.name, now))
        schema = replace(schema, stream=setting)
    log = catalog.open_log(tx, schema)
    last = read_last_number(tx, LogTree(log.tree))
    kept = setting.label if setting.enabled else None
    streams = [
        stream if stream.label == kept else _close_stream(stream, last, now)
        for stream in log.streams
    ]
    if setting.enabled and all(stream.label != kept for stream in streams):
        streams.append(_open_stream(setting, last, now, shards))
    return catalog.attach_log(tx, schema, replace(log, streams=tuple(streams)))


def add_missing_logs(catalog: Catalog, tx: WriteTransaction, now: float) -> None:
    """Begin the streams of tables from a file of format 2, which stored only their settings."""
    for table in catalog.tables.values():
        setting = table.schema.stream
        if setting is not None and setting.enabled and not table.schema.log:
            apply_stream_setting(catalog, tx, table.schema, now, shards=1)


def close_streams(catalog: Catalog, tx: WriteTransaction, schema: TableSchema, now: float) -> None:
    """Close the streams of a table that is being deleted; they can be read until trimmed."""
    log = catalog.find_log(schema)
    if log is not None:
        last = read_last_number(tx, LogTree(log.tree))
        streams = tuple(_close_stream(stream, last, now) for stream in log.streams)
        catalog.save_log(tx, replace(log, streams=streams, recovery_seconds=0))


def rotate_shards(
    catalog: Catalog, tx: WriteTransaction, schema: TableSchema, now: float, children: int
) -> None:
    """Close the open shards of the enabled stream and divide each into `children` shards.

    Raise ValueError if there is no enabled stream, or if it would have too many open shards.
    """
    log = catalog.find_log(schema)
    stream = next((s for s in log.streams if not s.closed), None) if log else None
    if log is None or stream is None:
        raise ValueError(f"the table {schema.name} has no enabled stream; enable it first")
    parents = [shard for shard in stream.shards if not shard.closed]
    if not 1 <= len(parents) * children <= MAX_SHARDS:
        raise ValueError(
            f"children={children}: the stream would have {len(parents) * children} open shards; "
            f"it can have 1 to {MAX_SHARDS}"
        )
    last = read_last_number(tx, LogTree(log.tree))
    stamp = _next_stamp(stream.shards, now)
    new = [
        shard
        for parent in parents
        for shard in _divide(parent.id, parent.first_hash, parent.end_hash, children, last, stamp)
    ]
    closed = _close_shards(stream.shards, last, now)
    rotated = replace(stream, shards=(*closed, *sorted(new, key=lambda shard: shard.id)))
    streams = tuple(rotated if s is stream else s for s in log.streams)
    catalog.save_log(tx, replace(log, streams=streams))


def _choose_label(catalog: Catalog, table: str, now: float) -> str:
    """Return the time as a label, a little later if a stream of this table name has it already."""
    used = {stream.label for _, stream in streams_of(catalog, table)}
    while stream_label(now) in used:
        now += 0.001
    return stream_label(now)


def _open_stream(setting: StreamSetting, last: int, now: float, shards: int) -> Stream:
    new = _divide(None, 0, HASHES, shards, last, int(now * 1000))
    return Stream(setting.label, setting.view, now, new)


def _close_stream(stream: Stream, last: int, now: float) -> Stream:
    if stream.closed:
        return stream
    return replace(stream, shards=_close_shards(stream.shards, last, now), closed=now)


def _close_shards(shards: Iterable[Shard], last: int, now: float) -> tuple[Shard, ...]:
    return tuple(
        shard if shard.closed else replace(shard, last=last, closed=now) for shard in shards
    )


def _divide(
    parent: str | None, first: int, end: int, count: int, after: int, stamp: int
) -> tuple[Shard, ...]:
    """Divide a range of hashes evenly into shards.

    The id of a shard has the form of AWS's: milliseconds, then 8 hexadecimal digits, here its first
    hash. So ids of later shards are greater.
    """
    bounds = [first + (end - first) * number // count for number in range(count + 1)]
    return tuple(
        Shard(f"shardId-{stamp:020d}-{start:08x}", parent, after, start, stop)
        for start, stop in pairwise(bounds)
    )


def _next_stamp(shards: Iterable[Shard], now: float) -> int:
    latest = max(int(shard.id.split("-")[1]) for shard in shards)
    return max(int(now * 1000), latest + 1)


# -- shard iterators


class ShardIterator(msgspec.Struct, frozen=True):
    """A position in a shard, and when the iterator was issued (in seconds since 1970)."""

    arn: str
    shard: str
    position: int
    issued: float

    def encode(self) -> str:
        content = msgspec.json.encode((self.shard, self.position, self.issued))
        text = base64.b64encode(_checksum(self.arn, content) + content).decode()
        return f"{self.arn}|{_VERSION}|{text}"

    def require_valid_at(self, now: float) -> None:
        """Raise ExpiredIteratorException if the iterator is too old."""
        if now - self.issued > EXPIRY_SECONDS:
            # AWS's own text is not known for certain.
            raise ExpiredIteratorException(
                f"The shard iterator is valid for {EXPIRY_SECONDS // 60} minutes and has expired; "
                "get a new one with GetShardIterator"
            )


_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_decode = msgspec.json.Decoder(tuple[str, _Position, float]).decode


def parse_iterator(text: str) -> ShardIterator:
    """Decode an iterator; raise ValidationException if it is malformed."""
    arn, _, rest = text.partition("|")
    version, _, encoded = rest.partition("|")
    try:
        content = base64.b64decode(encoded, validate=True)
        if version == _VERSION and _checksum(arn, content[4:]) == content[:4]:
            return ShardIterator(arn, *_decode(content[4:]))
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        pass
    raise ValidationException("Invalid ShardIterator")  # AWS's own text is not known


def _checksum(arn: str, content: bytes) -> bytes:
    return crc32(arn.encode() + content).to_bytes(4, "big")
