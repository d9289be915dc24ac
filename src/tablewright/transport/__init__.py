"""Transport: sends requests to the engine in this process, or to an endpoint over HTTP."""

from __future__ import annotations

from tablewright.transport.remote import Remote
from tablewright.transport.targets import Local, open_target
from tablewright.transport.transport import AsyncTransport, Response, Transport

__all__ = ["AsyncTransport", "Local", "Remote", "Response", "Transport", "open_target"]
