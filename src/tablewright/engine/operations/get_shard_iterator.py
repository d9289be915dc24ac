"""GetShardIterator: a position in a shard, from which GetRecords reads.

Checks: the ARN; that SequenceNumber and Timestamp are given if and only if the type needs them; the
stream; the shard; the position.
"""

from __future__ import annotations

from typing import Any

from tablewright.engine.changes import find_last_before, read_last_number, read_trim_points
from tablewright.engine.shard_iterators import ShardIterator
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.streams import find_shard, find_stream, parse_number, parse_stream_arn
from tablewright.errors import TrimmedDataAccessException, ValidationException
from tablewright.schema import Shard
from tablewright.storage import LogTree, Snapshot
from tablewright.wire.streams import GetShardIteratorInput

TRIMMED = "The data you are trying to access has been trimmed"

# AWS's own texts of the faults below are not known for certain.


def get_shard_iterator(request: GetShardIteratorInput) -> ReadStep:
    parse_stream_arn(request.stream_arn)
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
