"""ListStreams, DescribeStream, GetShardIterator and GetRecords.

ListStreams lists the streams of a table, or of all tables, in the order of their ARNs; streams of
deleted tables are listed until they are trimmed. DescribeStream lists shards, parents before their
children.

Checks of GetShardIterator: the ARN; that SequenceNumber and Timestamp are given if and only if the
type needs them; the stream; the shard; the position. Checks of GetRecords: the iterator; its age;
the stream; the shard; that no record after the position is trimmed.

A page of GetRecords ends after `Limit` records or 1 MB. If it has a record, it also ends after
`MAX_SCANNED` changes of the log, most of which may belong to other shards. So a page is empty only
if there is nothing more to read: a consumer that stops at an empty page misses no record. At the
end of a closed shard there is no NextShardIterator.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from msgspec import Raw

from tablewright.encoding.items import item_size, load
from tablewright.engine.change_log.changes import (
    LoggedChange,
    find_last_before,
    read_last_number,
    read_selected_changes,
    read_trim_points,
)
from tablewright.engine.change_log.streams import (
    ShardIterator,
    check_stream_arn,
    contains,
    find_shard,
    find_stream,
    format_number,
    parse_iterator,
    parse_number,
    parse_stream_arn,
    streams_of,
)
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.tables.describe import REGION, present, stream_arn, take_page
from tablewright.errors import TrimmedDataAccessException, ValidationException
from tablewright.schema import ChangeLogSchema, Shard
from tablewright.storage import LogTree, Snapshot
from tablewright.table_description import write_keys
from tablewright.wire.streams import (
    MAX_LISTED,
    MAX_RECORDS,
    DescribeStreamInput,
    GetRecordsInput,
    GetRecordsOutput,
    GetShardIteratorInput,
    Identity,
    ListStreamsInput,
    Record,
    StreamRecord,
)

TRIMMED = "The data you are trying to access has been trimmed"
MAX_PAGE_BYTES = 1024 * 1024
MAX_SCANNED = 10_000
_EXPIRY = Identity("dynamodb.amazonaws.com", "Service")


def list_streams(request: ListStreamsInput) -> ReadStep:
    if request.start_arn is not None:
        check_stream_arn(request.start_arn)

    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        streams = [
            {
                "StreamArn": stream_arn(log.table, stream.label),
                "TableName": log.table,
                "StreamLabel": stream.label,
            }
            for log, stream in streams_of(context.catalog, request.table_name)
        ]
        if not streams and request.table_name is not None:
            context.find_table_for_control_plane(request.table_name)
        if request.start_arn is not None:
            arns = [stream["StreamArn"] for stream in streams]
            if request.start_arn not in arns:
                # AWS's own text is not known.
                raise ValidationException(f"Invalid ExclusiveStartStreamArn: {request.start_arn}")
            streams = streams[arns.index(request.start_arn) + 1 :]
        page, following = take_page(
            streams, request.limit or MAX_LISTED, LastEvaluatedStreamArn=itemgetter("StreamArn")
        )
        return {"Streams": page, **following}

    return ReadStep(run)


def describe_stream(request: DescribeStreamInput) -> ReadStep:
    check_stream_arn(request.stream_arn)
    filtered = request.shard_filter
    if filtered is not None and (filtered.type is None or filtered.shard_id is None):
        # AWS's own text is not known.
        raise ValidationException("ShardFilter: both Type and ShardId are required")

    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        log, stream = find_stream(context.catalog, request.stream_arn)
        shards = stream.shards
        if filtered is not None:
            shards = tuple(shard for shard in shards if shard.parent == filtered.shard_id)
        if request.start_shard_id is not None:
            # An unknown id is no fault: the list is empty.
            ids = [shard.id for shard in shards]
            known = request.start_shard_id in ids
            shards = shards[ids.index(request.start_shard_id) + 1 :] if known else ()
        limit = request.limit or MAX_LISTED
        description: dict[str, Any] = {
            "StreamArn": request.stream_arn,
            "StreamLabel": stream.label,
            "StreamStatus": "DISABLED" if stream.closed else "ENABLED",
            "StreamViewType": stream.view,
            "CreationRequestDateTime": round(stream.created, 3),
            "TableName": log.table,
            "KeySchema": write_keys(log.keys),
            "Shards": [_describe_shard(shard) for shard in shards[:limit]],
        }
        if len(shards) > limit:
            description["LastEvaluatedShardId"] = shards[limit - 1].id
        return {"StreamDescription": description}

    return ReadStep(run)


def _describe_shard(shard: Shard) -> dict[str, Any]:
    first, last = shard.after + 1, shard.last
    numbers = present(
        StartingSequenceNumber=format_number(first),
        # A shard without records ends where it starts.
        EndingSequenceNumber=None if last is None else format_number(max(last, first)),
    )
    return present(ShardId=shard.id, SequenceNumberRange=numbers, ParentShardId=shard.parent)


def get_shard_iterator(request: GetShardIteratorInput) -> ReadStep:
    check_stream_arn(request.stream_arn)
    _check_arguments(request)

    def run(context: ReadContext) -> dict[str, Any]:
        now = context.streams.now()
        if request.timestamp is not None and request.timestamp > now:
            raise ValidationException(f"Timestamp {request.timestamp} is in the future")
        with context.snapshot.read_transaction():
            catalog = context.catalog.as_of(context.snapshot)
            log, stream = find_stream(catalog, request.stream_arn)
            shard = find_shard(stream, request.shard_id)
            position = _find_position(request, shard, context.snapshot, LogTree(log.tree))
        issued = ShardIterator(request.stream_arn, shard.id, position, now)
        return {"ShardIterator": issued.encode()}

    return ReadStep(run)


def _check_arguments(request: GetShardIteratorInput) -> None:
    """Check the arguments; here and below, AWS's own texts are not known for certain."""
    for member, value, needed in (
        ("SequenceNumber", request.sequence_number, request.type.endswith("SEQUENCE_NUMBER")),
        ("Timestamp", request.timestamp, request.type == "AT_TIMESTAMP"),
    ):
        if needed and value is None:
            raise ValidationException(f"{member} is required for the type {request.type}")
        if not needed and value is not None:
            raise ValidationException(f"{member} must not be given for the type {request.type}")


def _find_position(
    request: GetShardIteratorInput, shard: Shard, snapshot: Snapshot, tree: LogTree
) -> int:
    """Return the number of the change before the first one to read."""
    horizon = read_trim_points(snapshot, tree).horizon
    oldest = max(shard.after, horizon)
    last = read_last_number(snapshot, tree) if shard.last is None else shard.last
    if request.type == "LATEST":
        return last
    if request.timestamp is not None:
        return min(max(oldest, find_last_before(snapshot, tree, request.timestamp)), last)
    if request.sequence_number is None:
        return oldest
    number = parse_number(request.sequence_number)
    if shard.after < number <= horizon:
        raise TrimmedDataAccessException(TRIMMED)
    # A shard without records has the number with which it would start.
    if not shard.after < number <= max(last, shard.after + 1):
        raise ValidationException(
            f"Invalid SequenceNumber: {request.sequence_number} is not in the shard {shard.id}"
        )
    return number if request.type == "AFTER_SEQUENCE_NUMBER" else number - 1


def get_records(request: GetRecordsInput) -> ReadStep:
    iterator = parse_iterator(request.shard_iterator)
    parse_stream_arn(iterator.arn)
    limit = request.limit or MAX_RECORDS

    def run(context: ReadContext) -> GetRecordsOutput:
        now = context.streams.now()
        iterator.require_valid_at(now)
        with context.snapshot.read_transaction():
            catalog = context.catalog.as_of(context.snapshot)
            log, stream = find_stream(catalog, iterator.arn)
            shard = find_shard(stream, iterator.shard)
            if iterator.position < read_trim_points(context.snapshot, LogTree(log.tree)).horizon:
                raise TrimmedDataAccessException(TRIMMED)
            page = _Page(log, stream.view, shard, iterator.position)
            page.read(context.snapshot, limit)
        following = None
        if shard.last is None or page.position < shard.last:
            following = ShardIterator(iterator.arn, shard.id, page.position, now).encode()
        return GetRecordsOutput(records=page.records, next_shard_iterator=following)

    # With several shards, a page may have to skip many changes of the others.
    return ReadStep(run, is_costly=True)


class _Page:
    """The records of one response; `position` is the number of the last change that was read."""

    def __init__(self, log: ChangeLogSchema, view: str, shard: Shard, position: int) -> None:
        self._log = log
        self._view = view
        self._shard = shard
        self.position = position
        self.records: list[Record] = []

    def read(self, snapshot: Snapshot, limit: int) -> None:
        shard, start, size = self._shard, self.position, 0
        tree, selects = LogTree(self._log.tree), partial(contains, shard)
        with closing(read_selected_changes(snapshot, tree, start, selects)) as changes:
            for number, change in changes:
                if shard.last is not None and number > shard.last:
                    break
                if change is not None:
                    record = self._build_record(change)
                    size += record.dynamodb.size_bytes
                    if self.records and size > MAX_PAGE_BYTES:
                        break
                    self.records.append(record)
                self.position = number
                if self.records and (len(self.records) == limit or number - start >= MAX_SCANNED):
                    break

    def _build_record(self, change: LoggedChange) -> Record:
        some = change.new or change.old
        assert some is not None
        item = load(some)
        keys = {name: item[name] for name in self._log.keys.names}
        size = item_size(keys)
        new = change.new if self._view.startswith("NEW") else None
        old = change.old if self._view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") else None
        for image in (new, old):
            if image is not None:
                size += item_size(item if image is some else load(image))
        name = "MODIFY" if change.old and change.new else "INSERT" if change.new else "REMOVE"
        identity = f"{self._log.table_id} {change.number}".encode()
        return Record(
            event_id=blake2b(identity, digest_size=16).hexdigest(),
            event_name=name,
            event_version="1.1",
            event_source="aws:dynamodb",
            aws_region=REGION,
            dynamodb=StreamRecord(
                approximate_creation_date_time=int(change.time),
                keys=keys,
                new_image=None if new is None else Raw(new),
                old_image=None if old is None else Raw(old),
                sequence_number=format_number(change.number),
                size_bytes=size,
                stream_view_type=self._view,
            ),
            user_identity=_EXPIRY if change.expired else None,
        )
