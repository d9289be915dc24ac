"""Retries: which requests are sent again, when, and what a lost response means.

The rules are those of the standard mode of the AWS SDKs for DynamoDB:

what is retried     throttling, 5xx responses, failed connections, damaged responses, and
                    signatures refused because of a wrong clock
how often           4 attempts
delay               exponential with full jitter: up to 25 ms, then 50 ms, …; when throttled up to
                    1 s, then 2 s, …; 20 s at most. The endpoint may ask for up to 5 s more
retry quota         each retry costs 14 of 500 tokens (5 when throttled); a success refunds the
                    cost of its last retry, or 1. Without tokens there is no retry, so that clients
                    do not overload an endpoint that is failing

A write that was sent and got no response may have been applied. When it is sent again, it may find
its own effect:

TransactWriteItems  has a token, the same in every attempt, so that it is applied once; the last
                    response is the result of the transaction. So do other operations whose
                    requests have a token
PutItem             with a condition: the condition fails and the fault contains the stored item. If
                    that is exactly the item of the request, the put was applied
UpdateItem, DeleteItem
                    with a condition that the write itself makes false, such as a version: applied
                    once. It is unknown whether by this request or by another client, so the
                    fault's `maybe_applied` is set
other writes        PutItem, DeleteItem and BatchWriteItem may be applied twice with the same
                    effect; an UpdateItem that adds or appends takes effect twice
"""

from __future__ import annotations

import threading
import uuid
from typing import Any

from tablewright.backoff import Backoff
from tablewright.encoding.items import normalise_item
from tablewright.errors import ConditionalCheckFailedException, DynamoDBError
from tablewright.wire.operations import OPERATIONS, may_change

MAX_ATTEMPTS = 4
LONGEST_DELAY = 20.0
AFTER_FAILURE = Backoff(MAX_ATTEMPTS, first=0.025, longest=LONGEST_DELAY)
AFTER_THROTTLING = Backoff(MAX_ATTEMPTS, first=1.0, longest=LONGEST_DELAY)
#: How much longer than the backoff an endpoint can make us wait.
MAX_EXTRA_DELAY = 5.0

QUOTA_TOKENS = 500
RETRY_COST = 14
THROTTLED_RETRY_COST = 5
SUCCESS_REFUND = 1

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
#: The endpoint refuses the signature because of the time in it.
SKEWED = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})


def is_throttled(code: str, status: int) -> bool:
    """Whether the endpoint asks for fewer requests."""
    return code in THROTTLING or status == 429


def is_transient(code: str, status: int) -> bool:
    """Whether the same request may succeed if it is sent again."""
    return status >= 500 or status == 408 or code in TRANSIENT


def is_skewed(fault: DynamoDBError) -> bool:
    """Whether the endpoint's clock differs from ours by too much."""
    if fault.code in SKEWED:
        return True
    return (
        fault.code == "InvalidSignatureException"
        and "Signature" in fault.message
        and ("expired" in fault.message or "not yet current" in fault.message)
    )


def extend_delay(delay: float, retry_after: float) -> float:
    """Return the delay, extended to what the endpoint asks for, by 5 s at most."""
    return max(delay, min(retry_after, delay + MAX_EXTRA_DELAY))


class RetryQuota:
    """The tokens that all requests of one transport share for their retries."""

    def __init__(self) -> None:
        self._tokens = QUOTA_TOKENS
        self._lock = threading.Lock()

    def spend(self, cost: int) -> bool:
        """Take tokens for a retry; return False, and take none, if there are too few."""
        with self._lock:
            if self._tokens < cost:
                return False
            self._tokens -= cost
            return True

    def refund(self, tokens: int) -> None:
        """Add tokens after a success."""
        if self._tokens == QUOTA_TOKENS:  # nearly always; then no thread waits for the lock
            return
        with self._lock:
            self._tokens = min(QUOTA_TOKENS, self._tokens + tokens)


def add_token(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the request; a transaction gets a token, so that it is applied only once."""
    token = _token(operation)
    return {**request, token: str(uuid.uuid4())} if token and token not in request else request


def is_settled_by_retry(operation: str) -> bool:
    """Whether a later response also shows the outcome of an attempt without a response."""
    return bool(_token(operation)) or not may_change(operation)


def is_applied(operation: str, request: dict[str, Any], fault: DynamoDBError) -> bool:
    """Whether a fault, after a response was lost, proves that the request was applied."""
    return (
        operation == "PutItem"
        and isinstance(fault, ConditionalCheckFailedException)
        and fault.item is not None
        and request.get("ReturnValues", "NONE") == "NONE"  # else the old item is needed, and lost
        and normalise_item(fault.item) == normalise_item(request["Item"])
    )


def _token(operation: str) -> str:
    row = OPERATIONS.get(operation)
    return "" if row is None else row.token
