"""The work limit: the CPU time after which a page or a batch ends early, or a transaction fails.

A response of DynamoDB may have fewer items than its limits allow: the rest is behind its
LastEvaluatedKey, NextToken or UnprocessedKeys. So one request never computes for long, whatever its
filter and however many tiny items a page has, and the client continues as it does with any page.

The time is that of the thread, so a busy machine makes no page shorter.
"""

from __future__ import annotations

from time import thread_time
from typing import Final

MAX_SECONDS: Final = 0.4


class WorkLimit:
    """The CPU time that is left for a response, from its creation."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = thread_time() + MAX_SECONDS

    @property
    def is_reached(self) -> bool:
        return thread_time() > self._end
