"""Backoff: how long to wait between attempts, and when to stop.

Owns the one formula for delays, used by the transport's retries, by plans that retry on contention
or wait for unprocessed items, and by transfers. The delay is exponential with full jitter:

    delay after attempt n  =  random(0, 1) * min(longest, first * 2 ** (n - 1))

Full jitter separates writers that collided: with fixed delays they collide again.

Invariants: `delay` is at least 0 and below `longest`; it is None from attempt `attempts` on. This
module does not sleep and does not know what is retried.
"""

from __future__ import annotations

import random

from msgspec import Struct


class Backoff(Struct, frozen=True):
    """The number of attempts, and the upper bounds of the first and of the longest delay.

    >>> policy = Backoff(attempts=3, first=0.0, longest=0.0)
    >>> [policy.delay(attempt) for attempt in (1, 2, 3)]
    [0.0, 0.0, None]
    """

    attempts: int
    first: float
    longest: float

    def delay(self, attempt: int) -> float | None:
        """Return the seconds to wait after a failed attempt; None if it was the last one.

        The first attempt is 1.
        """
        if attempt >= self.attempts:
            return None
        # The exponent is bounded, because 2.0 ** 1024 overflows.
        return random.random() * min(self.longest, self.first * 2.0 ** min(attempt - 1, 64))
