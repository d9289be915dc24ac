"""Streams: the changes of entities as typed events.

    from tablewright.streams import Created, Deleted, Updated, parse_stream

    for event in db.stream_events(Order, Item): ...      # of a database
    for event in parse_stream(event, Shop): ...          # of a Lambda function

This module defines nothing. It must not be imported by the modules that it lists.
"""

from __future__ import annotations

from tablewright.model.databases.stream_events import (
    AsyncStreamEvents,
    StreamEvents,
    parse_stream,
    stream_handler,
)
from tablewright.plan.streams.events import (
    Created,
    Deleted,
    Expired,
    Moved,
    StreamEvent,
    Updated,
)

__all__ = [
    "AsyncStreamEvents",
    "Created",
    "Deleted",
    "Expired",
    "Moved",
    "StreamEvent",
    "StreamEvents",
    "Updated",
    "parse_stream",
    "stream_handler",
]
