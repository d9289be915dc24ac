"""GetRecords: the next records of a shard, in the order of the changes.

Checks: the iterator; its age; the stream; the shard; that no record after the position is trimmed.

A page ends after `Limit` records or 1 MB. With a record, it also ends after `MAX_SCANNED` changes
of the log, most of which may belong to other shards. So a page is empty only if there is nothing
more to read: a consumer that stops at an empty page misses no record. At the end of a closed shard
there is no NextShardIterator.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from hashlib import blake2b

from msgspec import Raw

from tablewright.encoding.items import item_size, load
from tablewright.engine.changes import Change, read_selected_changes, read_trim_points
from tablewright.engine.describe import REGION
from tablewright.engine.operations.get_shard_iterator import TRIMMED
from tablewright.engine.shard_iterators import ShardIterator, parse_iterator
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.streams import (
    contains,
    find_shard,
    find_stream,
    format_number,
    parse_stream_arn,
)
from tablewright.errors import TrimmedDataAccessException
from tablewright.schema import ChangeLogSchema, Shard
from tablewright.storage import LogTree, Snapshot
from tablewright.wire.streams import (
    MAX_RECORDS,
    GetRecordsInput,
    GetRecordsOutput,
    Identity,
    Record,
    StreamRecord,
)

MAX_PAGE_BYTES = 1024 * 1024
MAX_SCANNED = 10_000

_EXPIRY = Identity("dynamodb.amazonaws.com", "Service")


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

    def _build_record(self, change: Change) -> Record:
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
