"""Limits: how much a client may send, how long it may take, and how many may be connected.

Every buffer that a client can fill has a limit here, so the memory of a server is bounded:

    buffered_bytes      bodies above 64 KiB, queued requests and responses that clients do not take
    + connections x (head_bytes + 64 KiB for a small body + one read of at most 256 KiB)

A body is admitted as a whole: its declared length is reserved before more of it is read, so bodies
that were admitted can always be completed. A body that does not fit waits (nothing is read from its
connection), and is refused with 503 when it has waited for too long.
"""

from __future__ import annotations

import msgspec

from tablewright.limits import MAX_REQUEST_SIZE

MIB = 1024 * 1024
#: DynamoDB's limit for one request.
MAX_BODY = MAX_REQUEST_SIZE
#: Bodies up to this size need no reservation, so small requests never wait for large ones.
SMALL_BODY = 64 * 1024
#: Bodies above this size are parsed in a thread: parsing 16 MB takes half a second.
LARGE_BODY = 256 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one server. Seconds are checked by a timer, so they are lower bounds."""

    #: Open connections. At the limit an idle connection is closed for each new one; if none is
    #: idle, new ones wait in the listening socket's queue.
    connections: int = 1000
    #: Bytes that the server holds for all of its clients together.
    buffered_bytes: int = 256 * MIB
    #: The request line and the header fields; also the trailers of a chunked body.
    head_bytes: int = 64 * 1024
    #: Header fields of a request.
    header_count: int = 100
    #: Receiving the whole head, from its first byte.
    head_seconds: float = 20.0
    #: In every period of this length a body must grow by `body_progress` bytes, or be complete.
    body_seconds: float = 20.0
    body_progress: int = 16 * 1024
    #: A large body waits this long for memory before it is refused.
    admission_seconds: float = 10.0
    #: Between two requests.
    idle_seconds: float = 180.0
    #: A client that takes nothing of its response for this long is disconnected.
    send_seconds: float = 30.0
    #: After a refusal that ends the connection, the client may continue sending for this long.
    #: Closing at once would reset the connection, and the client might never see the response.
    linger_seconds: float = 2.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) <= 0:
                raise ValueError(f"Limits: {name} is {getattr(self, name)}; it must be above 0")
        if self.buffered_bytes < MAX_BODY:
            raise ValueError(
                f"Limits: buffered_bytes is {self.buffered_bytes}; it must be at least {MAX_BODY}, "
                "the size of one request"
            )

    @property
    def tick_seconds(self) -> float:
        """How often the timer checks: often enough for the shortest of the times."""
        times = (
            self.head_seconds,
            self.body_seconds,
            self.admission_seconds,
            self.idle_seconds,
            self.send_seconds,
            self.linger_seconds,
        )
        return min(1.0, *(seconds / 4 for seconds in times))
