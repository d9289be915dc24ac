"""Asking an endpoint, with the patience that a long transfer needs.

A transport tries a request a few times within a second. A table with too little capacity refuses
for longer than that; so what is throttled is asked again here, for minutes.
"""

from __future__ import annotations

import random
import time
from typing import Any

import msgspec

from tablewright.errors import Contention, TablewrightError
from tablewright.transport import Transport
from tablewright.transport.retry import THROTTLING

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
#: Pauses in a row, in which nothing at all goes on, before giving up: about three minutes.
PAUSES = 40


class Patience:
    """Pauses that grow while nothing goes on."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self.pauses = 0

    def reward(self) -> None:
        """Something went on."""
        self.pauses = 0

    def pause(self) -> None:
        if self.pauses == PAUSES:
            raise Contention(f"{self.operation}: still throttled after {PAUSES} pauses; giving up")
        longest = min(FIRST_PAUSE * 2.0**self.pauses, LONGEST_PAUSE)
        time.sleep(longest * random.uniform(0.5, 1))
        self.pauses += 1


def ask(transport: Transport, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, however long the endpoint throttles it."""
    patience = Patience(operation)
    while True:
        try:
            answer = transport.send(operation, request)
        except TablewrightError as error:
            if getattr(error, "code", "") not in THROTTLING:  # a fault, or a transport that gave up
                raise
            patience.pause()
        else:
            decoded: dict[str, Any] = msgspec.json.decode(answer)
            return decoded
