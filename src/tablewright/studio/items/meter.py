"""A meter: counts the requests of a page and the units that they consume."""

from __future__ import annotations

from typing import Any

from tablewright.studio.items.item_page import Send


class RequestMeter:
    """Sends requests that read, and counts them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.requests = 0
        self.units = 0.0

    def __call__(self, operation: str, **request: Any) -> dict[str, Any]:
        answer = self._send(operation, **request, ReturnConsumedCapacity="TOTAL")
        self.requests += 1
        self.units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
        return answer

    def show(self) -> str:
        """Return what was counted: `9 requests, 5.5 read units`."""
        requests = f"{self.requests} request{'s' * (self.requests != 1)}"
        return f"{requests}, {self.units:g} read unit{'s' * (self.units != 1)}"
