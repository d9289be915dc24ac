"""Retries, as the AWS SDKs do them in standard mode.

what is retried     throttling, 5xx answers, connections that fail, answers that are damaged,
                    a clock that is wrong
how often           3 attempts in all
how long between    a random part of 50 ms, then of 100 ms, … of 20 s at most
and not at all      when the quota is used up: each retry takes 5 of 500 tokens (10 after a
                    timeout), each success gives some back; so an endpoint that is down is not
                    hammered by everyone at once
"""

from __future__ import annotations

import random
import threading

from tablewright.errors import Fault

ATTEMPTS = 3
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 20.0

QUOTA = 500
COST = 5
TIMEOUT_COST = 10

THROTTLING = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottledException",
        "Throttling",
        "TooManyRequestsException",
    }
)
TRANSIENT = frozenset(
    {"InternalServerError", "ServiceUnavailable", "TransactionInProgressException"}
)
#: The signature is refused because of the time in it.
SKEWED = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})


def is_retryable(fault: Fault, status: int) -> bool:
    """Whether the same request may succeed if it is sent again."""
    return status >= 500 or fault.code in THROTTLING or fault.code in TRANSIENT


def is_skewed(fault: Fault) -> bool:
    """Whether the endpoint's clock and ours disagree."""
    if fault.code in SKEWED:
        return True
    return (
        fault.code == "InvalidSignatureException"
        and "Signature" in fault.message
        and ("expired" in fault.message or "not yet current" in fault.message)
    )


def pause(attempt: int) -> float:
    """Seconds to wait before the attempt that follows; the first one is 1."""
    longest = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE)
    return random.random() * longest


class Quota:
    """What all requests of one transport may spend on retries."""

    def __init__(self) -> None:
        self._tokens = QUOTA
        self._lock = threading.Lock()

    def take(self, cost: int) -> bool:
        """Whether there is enough for a retry; it is spent then."""
        with self._lock:
            if self._tokens < cost:
                return False
            self._tokens -= cost
            return True

    def give(self, tokens: int) -> None:
        with self._lock:
            self._tokens = min(QUOTA, self._tokens + tokens)
