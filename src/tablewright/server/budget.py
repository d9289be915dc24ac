"""The budget: the memory that a server uses for all of its clients together.

Invariants:
- `used` never exceeds `total`.
- Reservations are granted in the order in which they were made, so a large body never starves.

A budget does not know connections: it grants a reservation through a callback.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


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
    """A number of bytes that reservations share."""

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
