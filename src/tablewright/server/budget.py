"""The budget: bytes that a server holds for all of its clients together.

Invariants:
- `used` never exceeds `total`.
- Reservations are granted in the order in which they were asked for, so no large body starves.

A budget knows nothing of connections: a reservation is answered through a callback.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class Reservation:
    """Some bytes of a budget: granted, waiting, or released. Release it exactly once."""

    __slots__ = ("_budget", "_on_granted", "size")

    def __init__(self, budget: Budget, size: int, on_granted: Callable[[], None]) -> None:
        self._budget = budget
        self._on_granted = on_granted
        self.size = size

    def grant(self) -> None:
        self._on_granted()

    def release(self) -> None:
        """Return the bytes, or stop waiting for them. May grant reservations of others."""
        self._budget.release(self)


class Budget:
    """A number of bytes, and the reservations that share it."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._waiting: deque[Reservation] = deque()

    @property
    def waiting(self) -> int:
        """How many reservations are not granted yet."""
        return len(self._waiting)

    def take(self, size: int) -> bool:
        """Take bytes at once, or return False. Give them back with `give_back`."""
        if self.used + size > self.total:
            return False
        self.used += size
        return True

    def give_back(self, size: int) -> None:
        self.used -= size
        while self._waiting and self.take(self._waiting[0].size):
            self._waiting.popleft().grant()

    def reserve(self, size: int, on_granted: Callable[[], None]) -> tuple[Reservation, bool]:
        """Reserve bytes; the second value is whether they were granted at once.

        If they were not, `on_granted` is called when they are.
        """
        reservation = Reservation(self, size, on_granted)
        granted = not self._waiting and self.take(size)
        if not granted:
            self._waiting.append(reservation)
        return reservation, granted

    def release(self, reservation: Reservation) -> None:
        if reservation in self._waiting:
            self._waiting.remove(reservation)
            self.give_back(0)  # the next one may fit
        else:
            self.give_back(reservation.size)
