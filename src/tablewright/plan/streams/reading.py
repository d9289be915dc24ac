"""Reading: a plan that reads the next records of the streams of a database.

    ListStreams ──▶ DescribeStream ──▶ GetShardIterator ──▶ GetRecords ──▶ events
    of each table   shards, parents    for each shard        a page

One run is a round: it reads one page of every shard that is ready, and converts what it has read. A
shard is ready if its parent, where it is still known, has been read to its end: so the changes of
one item come in their order. When all shards of a stream are finished, the next stream of the table
is read, for example after the stream was disabled and enabled. The checkpoint forgets finished
shards and streams that no longer exist. One that was not finished has lost records: InvalidCursor.

`StreamReader` keeps what one round leaves for the next one: iterators, shards, and the checkpoint.

A checkpoint is a text that a program stores, to continue from there later. For each shard it has
the sequence number of the last record whose event was delivered, nothing if there was none, or that
the shard is finished. Events after it are delivered again: every event at least once.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from tablewright.errors import (
    ExpiredIteratorException,
    InvalidCursor,
    InvalidValue,
    TrimmedDataAccessException,
)
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.shape import Shape
from tablewright.plan.streams.events import Converted, Record, RecordReader, StreamEvent

StreamStart: TypeAlias = Literal["TRIM_HORIZON", "LATEST"]
#: How many more pages of a shard are read if its last record may be the first half of a move, or if
#: there were none: on AWS, it may take several calls to get to a part of the shard that has some.
MAX_MORE_PAGES = 3
#: By how much a time in milliseconds can differ from the same time in another form.
ROUNDING = timedelta(milliseconds=2)
_decode = msgspec.json.Decoder().decode
#: Of a shard that is closed and read to its end.
FINISHED = "finished"
#: Before the time, in seconds since 1970, at which the reading of a shard began, if it began at its
#: end and nothing has been delivered yet.
SINCE = "@"


class StreamPosition(Struct):
    """How far the shards of one stream have been read: by shard id, the last sequence number."""

    shards: dict[str, str] = field(default_factory=dict)


class Checkpoint(Struct):
    """How far the streams of each table have been read, by table and by stream ARN."""

    tables: dict[str, dict[str, StreamPosition]] = field(default_factory=dict)

    def position(self, table: str, arn: str) -> StreamPosition:
        """Return the position in a stream, which is its start if it has not been read."""
        return self.tables.setdefault(table, {}).setdefault(arn, StreamPosition())

    def keep_stream(self, table: str, arn: str) -> None:
        """Forget the other streams of a table, which have been read to their end."""
        self.tables[table] = {arn: self.position(table, arn)}

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode()

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read the text of a checkpoint; raise InvalidCursor if it is not one."""
        try:
            return msgspec.json.decode(base64.urlsafe_b64decode(text), type=cls)
        except (TypeError, ValueError) as error:
            raise InvalidCursor(f"not a checkpoint of a stream: {text!r:.100}") from error


class StreamShard(Struct):
    """A shard of a stream, while it is read."""

    id: str
    parent: str | None
    #: Whether nothing is added to it any more.
    is_closed: bool
    iterator: str | None = None
    #: The sequence number of the last record that was read.
    last: str = ""
    #: Records before this time, in seconds since 1970, are left out.
    since: int = 0
    #: How many pages without records were read in succession.
    empty_pages: int = 0


class Round(Struct):
    """What one round has read."""

    #: In the order of delivery, with the table, the stream and the shard of each.
    records: list[tuple[Converted, tuple[str, str, str]]] = field(default_factory=list)
    finished: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing to read."""
        return not self.records and not self.finished


class _TableStreams(Struct, eq=False):
    """The streams of one table: the one that is being read, and its shards."""

    name: str
    records: RecordReader
    arn: str = ""
    shards: dict[str, StreamShard] = field(default_factory=dict)
    is_described: bool = False


class StreamReader:
    """Reads the streams of some entities, round by round, and delivers their events."""

    def __init__(
        self,
        entities: Mapping[TableMap, Sequence[EntityMap]],
        checkpoint: Checkpoint,
        *,
        start: StreamStart,
        poll_seconds: float,
    ) -> None:
        self.checkpoint = checkpoint
        self._entities = entities
        self._start = start
        self._poll_seconds = poll_seconds
        self._tables: list[_TableStreams] = []
        self._was_idle = False

    def deliver(self, found: Round) -> Iterator[StreamEvent[Any]]:
        """Yield the events of a round; the checkpoint is behind each event that was yielded."""
        waiting: dict[tuple[str, str, str], deque[Converted]] = {}
        delivered: set[int] = set()
        for converted, place in found.records:
            delivered.add(id(converted))
            waiting.setdefault(place, deque()).append(converted)
            for shard, queue in waiting.items():
                # The first record of a move is delivered with the second one.
                while queue and (not queue[0].partner or id(queue[0].partner) in delivered):
                    self._set(shard, queue.popleft().record["dynamodb"]["SequenceNumber"])
            if converted.event is not None:
                yield converted.event
        for shard in found.finished:
            self._set(shard, FINISHED)

    def open_shards(self) -> set[str]:
        """Return the shards that are known and not read to their end."""
        return {
            shard
            for table in self._tables
            for shard in table.shards
            if self.checkpoint.position(table.name, table.arn).shards.get(shard) != FINISHED
        }

    def _set(self, place: tuple[str, str, str], number: str) -> None:
        table, arn, shard = place
        self.checkpoint.position(table, arn).shards[shard] = number

    def steps(self, context: Context) -> Steps[Round]:
        """Read one round of all tables."""
        if self._was_idle:
            yield Wait(self._poll_seconds)
        if not self._tables:
            self._tables = [
                _TableStreams(context.name_of(table), RecordReader(table, entities))
                for table, entities in self._entities.items()
            ]
        found = Round()
        for table in self._tables:
            yield from self._read_table(table, found, context)
        self._was_idle = found.is_idle
        return found

    def _read_table(self, table: _TableStreams, found: Round, context: Context) -> Steps[None]:
        if not table.is_described:
            yield from self._find_stream(table, context)
        records: list[tuple[Record, str]] = []
        for shard in list(table.shards.values()):
            if not self._is_ready(table, shard):
                continue
            page, is_finished = yield from self._read_shard(table, shard)
            records += [(record, shard.id) for record in page]
            if is_finished:
                found.finished.append((table.name, table.arn, shard.id))
                table.is_described = False  # it may have children now
        records.sort(key=lambda pair: int(pair[0]["dynamodb"]["SequenceNumber"]))
        converted = table.records.convert(record for record, _ in records)
        found.records += [
            (each, (table.name, table.arn, shard))
            for each, (_, shard) in zip(converted, records, strict=True)
        ]

    def _is_ready(self, table: _TableStreams, shard: StreamShard) -> bool:
        positions = self.checkpoint.position(table.name, table.arn).shards
        if positions.get(shard.id) == FINISHED:
            return False
        return shard.parent not in table.shards or positions.get(shard.parent) == FINISHED

    # -- streams and shards ------------------------------------------------------------------

    def _find_stream(self, table: _TableStreams, context: Context) -> Steps[None]:
        """Find the stream to read, and its shards."""
        streams = yield from _list_streams(table.name)
        if not streams:
            raise InvalidValue(
                f"the table {table.name!r} has no stream; declare it with "
                "Table(stream='NEW_AND_OLD_IMAGES'), or enable it with UpdateTable"
            )
        known = self.checkpoint.tables.get(table.name, {})
        for arn, gone in known.items():
            if arn not in streams:
                _forget_shards(table.name, gone.shards, ())
        starts_at_end = self._start == "LATEST" and not known
        for arn in streams[-1:] if starts_at_end else streams:
            if arn < max(known, default=""):
                continue  # read before, or older than the first one that was read
            shards = yield from _describe_shards(arn)
            if starts_at_end:
                self._start_at_end(table.name, arn, shards, context.clock().timestamp())
            position = self.checkpoint.position(table.name, arn).shards
            _forget_shards(table.name, position, [each.id for each in shards])
            if arn == streams[-1] or any(position.get(each.id) != FINISHED for each in shards):
                old = table.shards if arn == table.arn else {}
                table.arn, table.is_described = arn, True
                table.shards = {each.id: old.get(each.id, each) for each in shards}
                self.checkpoint.keep_stream(table.name, arn)
                for each in shards:
                    position.setdefault(each.id, "")
                return

    def _start_at_end(self, table: str, arn: str, shards: list[StreamShard], now: float) -> None:
        since = f"{SINCE}{int(now) // 60 * 60}"  # some implementations have times in minutes
        for shard in shards:
            self._set((table, arn, shard.id), FINISHED if shard.is_closed else since)
            shard.last = "" if shard.is_closed else "LATEST"

    # -- records -----------------------------------------------------------------------------

    def _read_shard(
        self, table: _TableStreams, shard: StreamShard
    ) -> Steps[tuple[list[Record], bool]]:
        """Return a page of records, and whether the shard is finished."""
        records: list[Record] = []
        for _ in range(1 + MAX_MORE_PAGES):
            if shard.iterator is None:
                yield from self._open(table, shard)
            try:
                answer = _decode((yield Request("GetRecords", {"ShardIterator": shard.iterator})))
            except ExpiredIteratorException:
                shard.iterator = None
                continue
            except TrimmedDataAccessException as error:
                raise _trimmed(table.name, shard.id) from error
            page: list[Record] = answer["Records"]
            shard.iterator = answer.get("NextShardIterator")
            records += [
                record
                for record in page
                if record["dynamodb"]["ApproximateCreationDateTime"] >= shard.since
            ]
            if page:
                shard.last = page[-1]["dynamodb"]["SequenceNumber"]
            shard.empty_pages = 0 if page else shard.empty_pages + 1
            if shard.iterator is None:
                return records, True
            if page and page[-1]["eventName"] != "REMOVE":
                break
            if shard.empty_pages > MAX_MORE_PAGES:
                break
        return records, False

    def _open(self, table: _TableStreams, shard: StreamShard) -> Steps[None]:
        """Get an iterator behind the last record that was read or delivered."""
        position = self.checkpoint.position(table.name, table.arn).shards
        last = shard.last or position.get(shard.id, "")
        start: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if last == "LATEST":
            start = {"ShardIteratorType": last}
        elif last.startswith(SINCE):
            shard.since = int(last.removeprefix(SINCE))
        elif last:
            start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": last}
        request = {"StreamArn": table.arn, "ShardId": shard.id, **start}
        try:
            answer = yield Request("GetShardIterator", request)
        except TrimmedDataAccessException as error:
            raise _trimmed(table.name, shard.id) from error
        shard.iterator = _decode(answer)["ShardIterator"]


class ReadStream(Plan[Round]):
    """Read one round of the streams of a database."""

    def __init__(self, reader: StreamReader, entity: EntityMap) -> None:
        self._reader = reader
        self._entity = entity

    def _steps(self, context: Context) -> Steps[Round]:
        return (yield from self._reader.steps(context))

    def _shape(self) -> Shape:
        return Shape("GetRecords", (self._entity.table,), (self._entity,))


def _forget_shards(table: str, positions: dict[str, str], listed: Collection[str]) -> None:
    """Remove the finished shards that are no longer listed; raise InvalidCursor for others."""
    for shard in [each for each in positions if each not in listed]:
        if positions[shard] != FINISHED:
            raise _trimmed(table, shard)
        del positions[shard]


def _trimmed(table: str, shard: str) -> InvalidCursor:
    return InvalidCursor(
        f"the stream of {table!r} no longer has the records behind the checkpoint in {shard}: "
        "DynamoDB keeps them for 24 hours. Read the table again, and start without a checkpoint"
    )


def _list_streams(table: str) -> Steps[list[str]]:
    """Return the ARNs of all streams of a table, the oldest first.

    Streams of a deleted table of the same name are listed, too: they are older than the table.
    """
    described = _decode((yield Request("DescribeTable", {"TableName": table})))["Table"]
    created = datetime.fromtimestamp(described["CreationDateTime"], UTC) - ROUNDING
    oldest = created.replace(tzinfo=None).isoformat(timespec="milliseconds")
    found: list[str] = []
    request: dict[str, Any] = {"TableName": table}
    while True:
        answer = _decode((yield Request("ListStreams", request)))
        found += [each["StreamArn"] for each in answer["Streams"] if each["StreamLabel"] >= oldest]
        last = answer.get("LastEvaluatedStreamArn")
        if last is None:
            return sorted(found)  # an ARN ends in the time of its creation
        request = {**request, "ExclusiveStartStreamArn": last}


def _describe_shards(arn: str) -> Steps[list[StreamShard]]:
    """Return the shards of a stream."""
    found: list[StreamShard] = []
    request = {"StreamArn": arn}
    while True:
        described = _decode((yield Request("DescribeStream", request)))["StreamDescription"]
        found += [
            StreamShard(
                shard["ShardId"],
                shard.get("ParentShardId"),
                is_closed="EndingSequenceNumber" in shard["SequenceNumberRange"],
            )
            for shard in described["Shards"]
        ]
        last = described.get("LastEvaluatedShardId")
        if last is None:
            return found
        request = {**request, "ExclusiveStartShardId": last}
