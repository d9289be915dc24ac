"""Checkpoints: how far each shard of each stream has been read.

A checkpoint is a text that a program stores, to go on from there later. It has the sequence number
of the last record of each shard whose events have been delivered, nothing if there was none, or
that the shard is finished.
Events behind it are delivered again: at least once, never not at all.
"""

from __future__ import annotations

import base64

import msgspec
from msgspec import Struct, field

from tablewright.errors import InvalidCursor

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
