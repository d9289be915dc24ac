"""Transport: where a request goes. Local: the engine in this process."""

from __future__ import annotations

from tablewright.transport.local import Local
from tablewright.transport.transport import AsyncTransport, Transport

__all__ = ["AsyncTransport", "Local", "Transport"]
