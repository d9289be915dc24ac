"""Hosts and origins: which Host and Origin headers a server accepts.

A server without credentials trusts every client that can connect to it, so web pages in a browser
on the same machine must not be able to use it:

- DNS rebinding: the owner of `evil.example` lets this name point to 127.0.0.1, and the browser
  takes this server for that of the page. The browser still sends `Host: evil.example`, which is
  refused with 421.
- Cross-origin requests: a browser sends `Origin` with every request to another origin. It is
  refused with 403, unless the origin is allowed; then the response has the headers that let the
  page read it.

Nothing here knows of connections.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping

from tablewright.errors import CORAL_SERVICE, DynamoDBError

#: The response headers that a page may read, as in DynamoDB.
EXPOSED = b"x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,x-amz-crc32,Date"
#: Browsers may cache a preflight for two days, as with DynamoDB.
PREFLIGHT_SECONDS = 172800
#: A Host header (RFC 9110, 7.2): no user, no path, and nothing after the port.
_HOST = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(:[0-9]{0,5})?")
_TOKENS = re.compile(rb"[A-Za-z0-9_, -]*")


class MisdirectedRequest(DynamoDBError):
    """The Host header names another server."""

    namespace = CORAL_SERVICE
    status = 421


class CrossOriginRequest(DynamoDBError):
    """A web page of an origin that is not allowed sent the request."""

    namespace = CORAL_SERVICE
    status = 403


class Hosts:
    """The host names and origins that a server accepts. Loopback names are always accepted."""

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        origins: Iterable[str] = (),
        check_names: bool = True,
    ) -> None:
        self._allowed = {name.lower().removesuffix(".") for name in allowed}
        self._origins = {origin.encode() for origin in origins}
        self._check_names = check_names

    def check_host(self, host: bytes | None, own_address: str) -> None:
        """Raise unless the Host header names this server. Browsers always send the header."""
        if host is None or not self._check_names:
            return
        given = host.decode("latin-1")
        name = host_name(given)
        if name not in self._allowed and name != own_address and not is_loopback(name):
            raise MisdirectedRequest(
                f"The Host header {given[:253]!r} is not a name of this server. "
                "Start it with --allow-host NAME to allow a name."
            )

    def check_origin(self, origin: bytes) -> bytes:
        """Raise unless the origin is allowed. Return header lines for the response."""
        if b"*" in self._origins:
            allowed = b"*"
        elif origin in self._origins:
            allowed = origin
        else:
            raise CrossOriginRequest(
                f"Requests from web pages at {origin.decode('latin-1')[:253]!r} are not allowed. "
                "Start the server with --cors ORIGIN to allow them."
            )
        return (
            b"Access-Control-Allow-Origin: %b\r\n"
            b"Access-Control-Expose-Headers: %b\r\n"
            b"Vary: Origin\r\n" % (allowed, EXPOSED)
        )


def preflight_headers(headers: Mapping[bytes, bytes]) -> bytes:
    """Return header lines that allow what a preflight asks for, as DynamoDB does."""
    lines = [b"Access-Control-Max-Age: %d\r\n" % PREFLIGHT_SECONDS]
    for what in (b"Methods", b"Headers"):
        wanted = headers.get(b"access-control-request-" + what.lower().removesuffix(b"s"))
        if wanted is None:
            wanted = headers.get(b"access-control-request-" + what.lower())
        if wanted and _TOKENS.fullmatch(wanted):
            lines.append(b"Access-Control-Allow-%b: %b\r\n" % (what, wanted))
    if headers.get(b"access-control-request-private-network") == b"true":
        lines.append(b"Access-Control-Allow-Private-Network: true\r\n")
    return b"".join(lines)


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port; "" if the header is malformed.

    >>> host_name("[::1]:8000"), host_name("LOCALHOST.:80"), host_name("[::1].evil.example")
    ('::1', 'localhost', '')
    """
    found = _HOST.fullmatch(host)
    return "" if found is None else (found["address"] or found["name"]).lower().removesuffix(".")


def is_loopback(name: str) -> bool:
    """Return whether a name or an address is a loopback one.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("127.0.0.1.example.com")
    (True, True, False)
    """
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
