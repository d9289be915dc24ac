"""Transport: where a request goes: the engine in this process, or an endpoint over HTTP."""

from __future__ import annotations

from tablewright.transport.local import Local
from tablewright.transport.remote import Remote
from tablewright.transport.targets import open_target
from tablewright.transport.transport import AsyncTransport, Transport

__all__ = ["AsyncTransport", "Local", "Remote", "Transport", "open_target"]
