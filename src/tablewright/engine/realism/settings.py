"""Settings of the realistic layer."""

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
