"""DescribeStream: a stream and its shards, parents before their children."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import present
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.streams import find_stream, format_number, parse_stream_arn
from tablewright.errors import ValidationException
from tablewright.schema import Shard
from tablewright.table_description import write_keys
from tablewright.wire.streams import MAX_LISTED, DescribeStreamInput


def describe_stream(request: DescribeStreamInput) -> ReadStep:
    parse_stream_arn(request.stream_arn)
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
