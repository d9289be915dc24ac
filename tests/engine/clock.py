"""A clock that tests set: `time.time` of the whole process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


class Clock:
    """The time, in seconds since 1970, until a test changes it."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@contextmanager
def stopped_clock(now: float = 1_800_000_000.0) -> Iterator[Clock]:
    """Stop `time.time` at a time; the clock that is yielded moves it."""
    clock = Clock(now)
    with patch.object(time, "time", clock):
        yield clock
