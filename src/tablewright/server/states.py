"""The states of a connection, and the transitions between them.

    READY       reading; no request is in work
    WORKING     a request is with the server
    ADMITTING   a large body waits for memory; nothing is read
    BLOCKED     the client does not read its responses; nothing is read
    LINGERING   the last response is being sent; received data is discarded
    CLOSED      nothing is sent or read

Invariant: a state changes only as `NEXT` allows.
"""

from __future__ import annotations

import enum


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
