"""Call limits: how long a call of a database may take, and how often it sends a request.

    connect(target, Shop, timeout=5, max_attempts=3)        for every call
    db.run(plan, timeout=1)                                  for this one

A call is what its caller waits for: `db.run` of a plan, with all its requests, retries and delays.
The attempts are those of one request, with the first. Without limits, an attempt ends after the
timeouts of the transport, and a request after its number of attempts.

Invariants: a call never waits for longer than the time that is left; what ends it is a
RetriesExhausted, which says whether a write may have been applied.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.transport.transport import RetriesExhausted


class CallLimits(Struct, frozen=True):
    """The limits of calls, or of one call that has started."""

    #: Seconds for the whole call; None: no limit.
    timeout: float | None = None
    #: How often a request is sent, with the first time; None: as the transport does.
    max_attempts: int | None = None
    #: When the call ends, by `time.monotonic`.
    ends: float = math.inf

    @classmethod
    def of(cls, timeout: Any, max_attempts: Any) -> CallLimits | None:
        """Return the limits that a caller gives; None for none. Raise InvalidValue."""
        if timeout is not None and not (
            isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout > 0
        ):
            raise InvalidValue(f"timeout={timeout!r}: the seconds of a call, a number above 0")
        if max_attempts is not None and (type(max_attempts) is not int or max_attempts < 1):
            raise InvalidValue(
                f"max_attempts={max_attempts!r}: how often a request is sent, an int from 1; 1 is "
                "without retries"
            )
        if timeout is None and max_attempts is None:
            return None
        return cls(timeout, max_attempts)

    def started(self, given: CallLimits | None) -> CallLimits:
        """Return the limits of a call that starts now; those in `given` replace these."""
        timeout, attempts = self.timeout, self.max_attempts
        if given is not None:
            timeout = timeout if given.timeout is None else given.timeout
            attempts = attempts if given.max_attempts is None else given.max_attempts
        ends = math.inf if timeout is None else time.monotonic() + timeout
        return CallLimits(timeout, attempts, ends)

    def within(self, seconds: float) -> float:
        """Return at most these seconds: not more than are left, and never 0."""
        if self.ends == math.inf:
            return seconds
        return max(min(seconds, self.ends - time.monotonic()), 0.001)

    def allows(self, seconds: float) -> bool:
        """Whether more than these seconds are left."""
        return self.ends == math.inf or self.ends - time.monotonic() > seconds

    def require(self, seconds: float, what: str) -> None:
        """Raise RetriesExhausted unless more than these seconds are left, before a request."""
        if not self.allows(seconds):
            raise RetriesExhausted(
                f"{what}: {self.no_time}; what it has written so far is not undone",
                attempts=0,
                code="",
                maybe_applied=False,
            )

    @property
    def no_time(self) -> str:
        """Why no further attempt is made."""
        return f"the call has no time left (timeout={self.timeout:g})"


UNLIMITED = CallLimits()


def limited(transport: Any, send: Any, limits: CallLimits | None) -> Any:
    """Return a function of a transport that sends within these limits, if it takes any."""
    if limits in (None, UNLIMITED) or not getattr(transport, "takes_limits", False):
        return send
    return partial(send, limits=limits)
