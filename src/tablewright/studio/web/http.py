"""Requests and responses of the studio, and the connection that reads and writes them.

A connection handles one request after another. A request is answered by a function that may block:
it runs in a thread. A response is a whole body, or a stream of server-sent events.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.server.limits import Limits
from tablewright.server.request_parser import Refusal, RequestParser

log = logging.getLogger("tablewright.studio")

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
EVENTS = "text/event-stream"
#: The fields of a form or of a query string; more are refused.
MAX_FIELDS = 2000
#: The size of a form. An item is in it twice, as indented JSON: up to 40 times its size.
MAX_FORM_BYTES = 12 * 1024 * 1024
#: Requests of one connection that wait; a client that sends more is not read until they are fewer.
MAX_WAITING = 8


class FormRefused(TablewrightError):
    """A form that is not read; `status` is that of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Fields:
    """The fields of a query string or of a form, in their order; a name may occur several times."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs

    @classmethod
    def parse(cls, text: str) -> Fields:
        """Parse `a=1&b=2`. Raises ValueError if it has too many fields."""
        return cls(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a field."""
        return next((value for found, value in self.pairs if found == name), default)

    def all(self, name: str) -> list[str]:
        return [value for found, value in self.pairs if found == name]

    def without(self, *names: str) -> Fields:
        """Return the other fields."""
        return Fields([pair for pair in self.pairs if pair[0] not in names])

    def __contains__(self, name: str) -> bool:
        return any(found == name for found, _ in self.pairs)


class WebRequest(Struct, frozen=True, kw_only=True):
    """A request. The path has no query string; its escapes are not decoded."""

    method: str
    path: str
    query: Fields
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def form(self) -> Fields:
        """The fields of a submitted form. Raises FormRefused if it is too large, or is none."""
        if len(self.body) > MAX_FORM_BYTES:
            raise FormRefused(
                413, f"The form is larger than {MAX_FORM_BYTES:,} bytes. Send less data."
            )
        try:
            text = self.body.decode()
        except UnicodeDecodeError:
            raise FormRefused(400, "The form is not UTF-8 text.") from None
        try:
            return Fields.parse(text)
        except ValueError:
            raise FormRefused(413, f"The form has more than {MAX_FIELDS:,} fields.") from None

    def cookie(self, name: str) -> str:
        try:
            found = SimpleCookie(self.headers.get("cookie", "")).get(name)
        except CookieError:
            return ""
        return found.value if found is not None else ""


class WebResponse(Struct, frozen=True, kw_only=True):
    """A response: a body, or a stream of events.

    The iterator of `stream` yields pieces of the body. It must yield at least once a second, b"" if
    there is nothing: so it ends soon after the client disconnected.
    """

    body: bytes = b""
    status: int = 200
    type: str = HTML
    headers: Mapping[str, str] = {}
    stream: Callable[[], Iterator[bytes]] | None = None


def redirect(target: str) -> WebResponse:
    """Return a response that sends the browser to another page after a form was submitted."""
    return WebResponse(status=303, headers={"Location": target}, type=TEXT)


def url(route: str, *parts: str, **query: str | int | Sequence[str] | None) -> str:
    """Return the URL of a route: its `{}` are the parts, and the query leaves out what is None.

    A name of the query may have several values.

    >>> url("/items/{}", "a/b", pk="USER#1", cursor=None)
    '/items/a%2Fb?pk=USER%231'
    """
    path = route.format(*(quote(part, safe="") for part in parts))
    given = {
        name: [str(value)] if isinstance(value, (str, int)) else value
        for name, value in query.items()
        if value is not None
    }
    encoded = urlencode(given, doseq=True)
    return f"{path}?{encoded}" if encoded else path


#: Answers a request; it may block.
Application = Callable[[WebRequest], WebResponse]


class BrowserConnection(asyncio.Protocol):
    """One connection of a browser."""

    def __init__(self, application: Application, threads: Executor, limits: Limits) -> None:
        self._application = application
        self._threads = threads
        self._limits = limits
        self._parser = RequestParser(limits, self._enqueue)
        self._waiting: deque[tuple[WebRequest | None, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_ended = False  # the client sends nothing more

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._loop = asyncio.get_running_loop()
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        self._can_write.set()
        self._parser.close()

    def data_received(self, data: bytes) -> None:
        self._restart_timer()
        try:
            self._parser.feed(data)
        except Refusal as refusal:
            refused = WebResponse(body=refusal.body, status=refusal.status, type=TEXT)
            self._transport.write(head(refused, keep_alive=False) + refusal.body)
            self._transport.close()

    def eof_received(self) -> bool:
        self._is_ended = True
        return self._task is not None  # it closes the connection after the last response

    def close(self) -> None:
        """Close the connection after what has been written was sent."""
        self._transport.close()

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    def _restart_timer(self) -> None:
        """Close the connection if nothing happens for `Limits.idle_seconds`."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.idle_seconds, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self._task is None:
            self._transport.close()
        else:
            self._restart_timer()

    def _enqueue(
        self,
        method: bytes,
        url: bytearray,
        headers: dict[bytes, bytes],
        body: bytearray,
        keep_alive: bool,
    ) -> None:
        self._waiting.append((read_request(method, url, headers, body), keep_alive))
        if len(self._waiting) >= MAX_WAITING:
            self._transport.pause_reading()
        if self._task is None:
            self._task = self._loop.create_task(self._answer_all())

    async def _answer_all(self) -> None:
        while self._waiting and not self._transport.is_closing():
            request, keep_alive = self._waiting.popleft()
            self._transport.resume_reading()
            if request is None:
                response = WebResponse(status=400, type=TEXT, body=b"Bad Request\n")
            else:
                answering = self._loop.run_in_executor(self._threads, self._application, request)
                response = await answering
            self._transport.write(head(response, keep_alive))
            if response.stream is not None:
                await self._send_stream(response.stream())
                self._transport.close()
            elif request is None or request.method != "HEAD":
                self._transport.write(response.body)
            await self._can_write.wait()
            if not keep_alive:
                self._transport.close()
        self._task = None
        if self._is_ended:
            self._transport.close()

    async def _send_stream(self, pieces: Iterator[bytes]) -> None:
        reading: Future[bytes | None] | None = None
        try:
            while not self._transport.is_closing():
                reading = self._threads.submit(next, pieces, None)
                piece = await asyncio.wrap_future(reading)
                if piece is None:
                    self._transport.write(b"0\r\n\r\n")
                    return
                if piece:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await self._can_write.wait()
        except Exception:
            # Without the last chunk, the browser does not take a part for the whole.
            log.exception("a response ended early")
        finally:
            close = getattr(pieces, "close", None)
            if close is not None and reading is not None:
                # A generator that is running cannot be closed.
                reading.add_done_callback(lambda _: close())


def read_request(
    method: bytes, url: bytes | bytearray, headers: Mapping[bytes, bytes], body: bytes | bytearray
) -> WebRequest | None:
    """Return a parsed request, or None if its URL is malformed."""
    try:
        parts = urlsplit(bytes(url).decode("ascii"))
        return WebRequest(
            method=method.decode("ascii"),
            path=parts.path,
            query=Fields.parse(parts.query),
            headers={
                name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()
            },
            body=bytes(body),
        )
    except ValueError:
        return None


def head(response: WebResponse, keep_alive: bool) -> bytes:
    """Return the status line and the headers of a response."""
    lines = [
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
        f"Content-Type: {response.type}",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    if response.stream is None:
        lines.append(f"Content-Length: {len(response.body)}")
    else:
        lines.append("Transfer-Encoding: chunked")
    if response.stream is not None or not keep_alive:
        lines.append("Connection: close")
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError(f"a header contains a line break: {lines}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
