"""Settings of streams that are not stored: the shards of a new stream, and the time of readers."""

from __future__ import annotations

import time

MAX_SHARDS = 1000


class StreamSettings:
    """The settings of one engine. Its time is the system's, until a test moves it forward."""

    __slots__ = ("_latest", "shards")

    def __init__(self, shards: int) -> None:
        if not 1 <= shards <= MAX_SHARDS:
            raise ValueError(f"stream_shards must be from 1 to {MAX_SHARDS}, not {shards}")
        self.shards = shards
        self._latest = 0.0

    def now(self) -> float:
        """Return the time at which iterators are issued and expire."""
        return max(time.time(), self._latest)

    def move_to(self, now: float) -> None:
        """Move the time forward to `now`; it never goes back."""
        self._latest = max(self._latest, now)
