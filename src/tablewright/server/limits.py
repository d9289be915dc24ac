"""Limits: how much clients may send, how long they may take, and how many may connect.

Every buffer that a client can fill has a limit here, so the memory of a server is bounded:

    buffered_bytes      bodies above 64 KiB, queued requests, and unread responses
    + connections x (head_bytes + 64 KiB for a small body + one read of at most 256 KiB)

The declared length of a large body is reserved before more of it is read, so an admitted body can
always be completed. A body that does not fit waits, while nothing is read from its connection; it
is refused with 503 after `admission_seconds`.

`Budget` is the memory for all clients together. Invariants:
- `used` never exceeds `total`.
- Reservations are granted in the order in which they were made, so a large body never starves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

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
    """The limits of one server. A timer checks the times, so they may be exceeded by a little."""

    #: Open connections. At the limit, an idle connection is closed for each new one, or else the
    #: oldest one whose request is unfinished after `scarce_seconds`. If there is none, new clients
    #: wait in the queue of the listening socket.
    connections: int = 1000
    #: The time to receive headers, `body_progress` bytes of a body, or a TLS handshake, while
    #: clients wait for a connection.
    scarce_seconds: float = 3.0
    #: The memory for all clients together, in bytes.
    buffered_bytes: int = 256 * MIB
    #: The size of the request line and the headers; also of the trailers of a chunked body.
    head_bytes: int = 16 * 1024
    #: The number of headers of a request.
    header_count: int = 100
    #: The time to receive all headers, from the first byte.
    head_seconds: float = 20.0
    #: In every period of this length a body must grow by `body_progress` bytes, or be complete.
    body_seconds: float = 20.0
    body_progress: int = 16 * 1024
    #: The time that a large body waits for memory before it is refused.
    admission_seconds: float = 10.0
    #: The time between two requests.
    idle_seconds: float = 180.0
    #: A client that reads nothing of its response for this time is disconnected.
    send_seconds: float = 30.0
    #: After a refusal that ends the connection, received data is discarded for this time. Closing
    #: at once would reset the connection, and the client might never see the response.
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
        """The period of the timer: at most a quarter of the shortest time."""
        times = (
            self.scarce_seconds,
            self.head_seconds,
            self.body_seconds,
            self.admission_seconds,
            self.idle_seconds,
            self.send_seconds,
            self.linger_seconds,
        )
        return min(1.0, *(seconds / 4 for seconds in times))


class Reservation:
    """A number of bytes, granted or waiting. Release it exactly once."""

    __slots__ = ("_budget", "_on_granted", "size")

    def __init__(self, budget: Budget, size: int, on_granted: Callable[[], None]) -> None:
        self._budget = budget
        self._on_granted = on_granted
        self.size = size

    def grant(self) -> None:
        self._on_granted()

    def release(self) -> None:
        """Give the bytes back, or stop waiting for them. May grant waiting reservations."""
        self._budget.release(self)


class Budget:
    """A number of bytes that reservations share. It grants a reservation through a callback."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._waiting: deque[Reservation] = deque()

    @property
    def waiting(self) -> int:
        """The number of reservations that wait."""
        return len(self._waiting)

    def try_take(self, size: int) -> bool:
        """Take bytes without waiting; return False if there are too few. See `give_back`."""
        if self.used + size > self.total:
            return False
        self.used += size
        return True

    def give_back(self, size: int) -> None:
        """Return bytes to the budget, and grant the reservations that fit now."""
        self.used -= size
        while self._waiting and self.try_take(self._waiting[0].size):
            self._waiting.popleft().grant()

    def reserve(self, size: int, on_granted: Callable[[], None]) -> tuple[Reservation, bool]:
        """Reserve bytes. Return the reservation, and whether it was granted at once.

        Otherwise `on_granted` is called when it is granted.
        """
        reservation = Reservation(self, size, on_granted)
        granted = not self._waiting and self.try_take(size)
        if not granted:
            self._waiting.append(reservation)
        return reservation, granted

    def release(self, reservation: Reservation) -> None:
        if reservation in self._waiting:
            self._waiting.remove(reservation)
            self.give_back(0)  # the next one may fit
        else:
            self.give_back(reservation.size)
