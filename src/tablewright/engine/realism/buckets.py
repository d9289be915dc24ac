"""Token buckets: units per second, of which unused ones are saved up to a limit.

A new table has the units of one second; a table that existed before has saved up all it can. A
request is admitted if the bucket holds the smallest number of units that it can cost; when it has
run, its real cost is taken, which can leave the bucket in debt. So the long-term rate is the
declared one, as in DynamoDB.
"""

from __future__ import annotations

from collections.abc import Hashable


class Bucket:
    """The units of one table, index or partition key."""

    __slots__ = ("_capacity", "_rate", "_tokens", "_updated")

    def __init__(self, rate: float, capacity: float, now: float, *, is_full: bool = True) -> None:
        self._rate = rate
        self._capacity = max(capacity, rate)
        self._tokens = self._capacity if is_full else rate
        self._updated = now

    def change_rate(self, rate: float, capacity: float) -> None:
        if rate != self._rate:
            self._rate, self._capacity = rate, max(capacity, rate)
            self._tokens = min(max(self._tokens, rate), self._capacity)

    def available(self, now: float) -> float:
        """Return the units that the bucket holds; negative if it is in debt."""
        elapsed = max(0.0, now - self._updated)
        self._tokens = min(self._capacity, self._tokens + elapsed * self._rate)
        self._updated = now
        return self._tokens

    def take(self, units: float, now: float) -> None:
        self._tokens = self.available(now) - units

    def holds(self, units: float, now: float) -> bool:
        """Return whether a request of at least these units is admitted.

        A request that is larger than the bucket is admitted if the bucket is full.
        """
        return self.available(now) >= min(units, self._capacity)

    def is_full(self, now: float) -> bool:
        return self.available(now) >= self._capacity


class Buckets:
    """Buckets by name. Full ones are forgotten when there are many."""

    MAX = 10_000

    def __init__(self) -> None:
        self._buckets: dict[Hashable, Bucket] = {}

    def find(self, name: Hashable, rate: float, capacity: float, now: float) -> Bucket:
        """Return a bucket; an unknown one is full."""
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= self.MAX:
                self._forget_full(now)
            bucket = self._buckets[name] = Bucket(rate, capacity, now)
        else:
            bucket.change_rate(rate, capacity)
        return bucket

    def start(self, name: Hashable, rate: float, capacity: float, now: float) -> None:
        """Add a bucket without saved units."""
        self._buckets[name] = Bucket(rate, capacity, now, is_full=False)

    def _forget_full(self, now: float) -> None:
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if not bucket.is_full(now)
        }
