"""A clock that tests move, and engines that use it."""

from __future__ import annotations

from typing import Any

from tablewright.engine import Engine
from tablewright.engine.realism import Realism


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


def realistic(clock: Clock, **settings: Any) -> Engine:
    """An engine in memory. Tables take 10 seconds to change, and reads lag 1 second by default."""
    defaults = {"control_seconds": 10.0, "lag_seconds": 1.0, "throttles": False}
    engine = Engine()
    engine.make_realistic(Realism(**{**defaults, **settings}, clock=clock))
    return engine
