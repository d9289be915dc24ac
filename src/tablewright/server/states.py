"""The states of a connection, the transitions between them, and how long they may take.

    READY       reading; no request is in work
    WORKING     a request is with the server
    ADMITTING   a large body waits for memory; nothing is read
    BLOCKED     the client does not read its responses; nothing is read
    LINGERING   the last response is being sent; received data is discarded
    CLOSED      nothing is sent or read

Invariant: a state changes only as `NEXT` allows. `ClientPace` decides when a client is too slow; it
does not know sockets.
"""

from __future__ import annotations

import enum
from typing import Literal, TypeAlias

from tablewright.errors import ServiceUnavailable
from tablewright.server.limits import Limits
from tablewright.server.request_parser import BODY, HEAD, NOTHING, Refusal

OVERLOADED = "The server has no memory left for large requests. Try again."


class ConnectionState(enum.IntEnum):
    """What a connection does. The order matters: from LINGERING on, no request is accepted."""

    READY = 0
    WORKING = 1
    ADMITTING = 2
    BLOCKED = 3
    LINGERING = 4
    CLOSED = 5


READY, WORKING, ADMITTING, BLOCKED, LINGERING, CLOSED = ConnectionState

NEXT: dict[ConnectionState, frozenset[ConnectionState]] = {
    READY: frozenset({WORKING, ADMITTING, BLOCKED, LINGERING, CLOSED}),
    WORKING: frozenset({READY, CLOSED}),
    ADMITTING: frozenset({READY, CLOSED}),
    BLOCKED: frozenset({READY, LINGERING, CLOSED}),
    LINGERING: frozenset({CLOSED}),
    CLOSED: frozenset({CLOSED}),
}

#: What a connection does: its state, the phase of its parser, and the number of its requests.
Activity: TypeAlias = tuple[ConnectionState, int, int]
#: What becomes of a client that is too slow.
Verdict: TypeAlias = Refusal | Literal["close", "abort"]


class ClientPace:
    """How fast a client is: what it did when it was last checked, since when, how far it got.

    The progress of an activity is a number that grows: the received bytes of a body, or the bytes
    of responses that have not been sent, negated.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._activity: Activity = (READY, -1, -1)
        self._progress = 0
        self.since = 0.0

    def check(self, now: float, activity: Activity, progress: int) -> Verdict | None:
        """Return what becomes of a client that is too slow; None if it is not."""
        if activity != self._activity:
            self._activity, self.since, self._progress = activity, now, progress
            return None
        limits, elapsed = self._limits, now - self.since
        state, phase, _ = activity
        if state is READY:
            if phase is NOTHING:
                return "close" if elapsed > limits.idle_seconds else None
            if phase is HEAD:
                if elapsed <= limits.head_seconds:
                    return None
                return Refusal.with_text(408, "The headers took too long to arrive")
            if elapsed <= limits.body_seconds or self._grew(now, progress, limits.body_progress):
                return None
            return Refusal.with_text(408, "The body took too long to arrive")
        if state is ADMITTING:
            if elapsed <= limits.admission_seconds:
                return None
            return Refusal.with_fault(ServiceUnavailable(OVERLOADED))
        if state is BLOCKED or (state is LINGERING and progress):
            is_slow = elapsed > limits.send_seconds and not self._grew(now, progress, 1)
        else:
            is_slow = state is LINGERING and elapsed > limits.linger_seconds
        return "abort" if is_slow else None

    def _grew(self, now: float, progress: int, minimum: int) -> bool:
        """Return whether there was enough progress; if so, a new period begins."""
        if progress - self._progress < minimum:
            return False
        self.since, self._progress = now, progress
        return True

    def is_overdue(self, now: float, activity: Activity, progress: int) -> bool:
        """Whether a request is so slow to arrive that another client may have its connection."""
        state, phase, _ = activity
        if state is not READY or phase not in (HEAD, BODY):
            return False
        if activity != self._activity:
            return False  # it has just begun
        if now - self.since <= self._limits.scarce_seconds:
            return False
        return phase is HEAD or progress - self._progress < self._limits.body_progress
