"""Settings of streams that are not stored: the shards of a new stream, and the time of readers."""

from __future__ import annotations

import time

MAX_SHARDS = 1000


class StreamSettings:
    """The settings of one engine. Its time is the system's, until a test moves it forward."""

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
