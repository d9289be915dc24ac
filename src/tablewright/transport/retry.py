"""Retries, as the AWS SDKs do them for DynamoDB in standard mode.

what is retried     throttling, 5xx answers, connections that fail, answers that are damaged,
                    a clock that is wrong
how often           4 attempts in all
how long between    a random part of 25 ms, then of 50 ms, …; when throttled of 1 s, then of 2 s, …;
                    of 20 s at most. The endpoint may wish for up to 5 s more
and not at all      when the quota is used up: each retry takes 14 of 500 tokens (5 when throttled),
                    a success gives back what its last retry took, or 1; so an endpoint that is
                    down is not hammered by everyone at once
"""

from __future__ import annotations

import random
import threading

from tablewright.errors import DynamoDBError

ATTEMPTS = 4
FIRST_PAUSE = 0.025
FIRST_PAUSE_THROTTLED = 1.0
LONGEST_PAUSE = 20.0
LONGEST_WISHED = 5.0

QUOTA = 500
COST = 14
COST_THROTTLED = 5
REWARD = 1

THROTTLING = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
TRANSIENT = frozenset(
    {"InternalServerError", "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable"}
)
#: The signature is refused because of the time in it.
SKEWED = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})


def is_throttled(code: str, status: int) -> bool:
    """Whether the endpoint asks for less."""
    return code in THROTTLING or status == 429


def is_transient(code: str, status: int) -> bool:
    """Whether the same request may succeed if it is sent again."""
    return status >= 500 or status == 408 or code in TRANSIENT


def is_skewed(fault: DynamoDBError) -> bool:
    """Whether the endpoint's clock and ours disagree."""
    if fault.code in SKEWED:
        return True
    return (
        fault.code == "InvalidSignatureException"
        and "Signature" in fault.message
        and ("expired" in fault.message or "not yet current" in fault.message)
    )


def pause(attempt: int, *, throttled: bool = False, wished: float = 0.0) -> float:
    """Seconds to wait after an attempt; the first one is 1. `wished`: by the endpoint."""
    first = FIRST_PAUSE_THROTTLED if throttled else FIRST_PAUSE
    seconds = random.random() * min(first * 2.0 ** (attempt - 1), LONGEST_PAUSE)
    return max(seconds, min(wished, seconds + LONGEST_WISHED))


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
        if self._tokens == QUOTA:  # as nearly always; so nobody waits for the lock
            return
        with self._lock:
            self._tokens = min(QUOTA, self._tokens + tokens)
