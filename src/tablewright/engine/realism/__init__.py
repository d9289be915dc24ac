"""Realism: AWS's delays and limits in front of an engine, to test deployment and retry code.

    Realism      how long delays are, and the clock
    layer        applies all of them to a request
    throttling   refuses requests above the declared throughput, and of hot partition keys
    statuses     tables that are CREATING, UPDATING or DELETING for a while
    lag          eventually consistent reads see the rows of an earlier moment

An engine without `Realism` does none of this. The layer wraps steps (`engine.step`); operations do
not know it. All times come from one clock, so tests need not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec


class Realism(msgspec.Struct, frozen=True, kw_only=True):
    """Which of AWS's delays and limits an engine has. On AWS, delays are longer and vary."""

    #: How long tables, indexes and settings stay CREATING, UPDATING, DELETING or ENABLING.
    control_seconds: float = 1.0
    #: By how much eventually consistent reads, and all reads of global indexes, lag.
    lag_seconds: float = 0.1
    #: Whether requests above the throughput are throttled.
    throttles: bool = True
    #: Unused provisioned throughput is saved for this many seconds, as in DynamoDB.
    burst_seconds: float = 300.0
    #: Returns the current time in seconds; only differences count.
    clock: Callable[[], float] = time.monotonic
