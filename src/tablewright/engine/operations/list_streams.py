"""ListStreams: the streams of a table, or of all tables, in the order of their ARNs.

Streams of deleted tables are listed until they are trimmed.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from tablewright.engine.describe import stream_arn, take_page
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.streams import parse_stream_arn, streams_of
from tablewright.errors import ValidationException
from tablewright.wire.streams import MAX_LISTED, ListStreamsInput


def list_streams(request: ListStreamsInput) -> ReadStep:
    if request.start_arn is not None:
        parse_stream_arn(request.start_arn)

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
