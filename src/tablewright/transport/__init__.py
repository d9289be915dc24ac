"""Transport: sends requests to the engine in this process, or to an endpoint over HTTP.

`targets` opens the transport to a target. It is no name of this package, since it imports the
engine and HTTP, which a program that only declares a design does not need.
"""

from __future__ import annotations

from tablewright.transport.transport import AsyncTransport, Response, Transport

__all__ = ["AsyncTransport", "Response", "Transport"]
