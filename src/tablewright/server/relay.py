"""The relay: messages between the main process of a server and its workers.

    worker ──Relayed──▶ main    a request that the worker does not answer itself
           ◀──Reply────         its response, when its writes are durable
           ──Released─▶         a connection has ended
           ──WorkerReport──▶    the metrics of the worker, about once a second; the first one: ready
           ◀─CloseIdle─         close an idle connection, to make room for another one
           ◀──Alone────         the worker has the only connection of the server, or no longer

A message is four bytes with its length, then MessagePack. The messages of one iteration of the
event loop are sent together. The order of messages is kept.

This module does not know what the messages mean for a server (`worker`, `main_process`).
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec

from tablewright import errors
from tablewright.errors import DynamoDBError

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode

T = TypeVar("T")


class Relayed(msgspec.Struct, tag="q", array_like=True, frozen=True):
    """A request. `user` has the policies that it must be allowed by; None: it may do everything."""

    number: int
    operation: str
    user: str | None
    body: bytes


class Reply(msgspec.Struct, tag="a", array_like=True, frozen=True):
    """The response to a request: `body`, or else the name and the content of an error."""

    number: int
    body: bytes
    fault: str | None = None

    @classmethod
    def of(cls, number: int, result: bytes | DynamoDBError) -> Reply:
        if isinstance(result, DynamoDBError):
            return cls(number, msgspec.json.encode(vars(result)), result.code)
        return cls(number, result)

    @property
    def result(self) -> bytes | DynamoDBError:
        """The response, or the error as it was raised."""
        if self.fault is None:
            return self.body
        kind: type[DynamoDBError] = getattr(errors, self.fault)
        fault = kind.__new__(kind)  # not __init__: its parameters differ
        vars(fault).update(msgspec.json.decode(self.body))
        fault.args = (fault.message,)
        return fault


class Released(msgspec.Struct, tag="r", array_like=True, frozen=True):
    """A connection of the worker has ended."""


class CloseIdle(msgspec.Struct, tag="c", array_like=True, frozen=True):
    """Close the connection that has been idle longest."""


class Alone(msgspec.Struct, tag="o", array_like=True, frozen=True):
    """Whether the worker has the only connection of the server."""

    is_alone: bool


class WorkerReport(msgspec.Struct, tag="m", array_like=True, frozen=True, kw_only=True):
    """The metrics of a worker since its start: gauges by their names, and those of requests."""

    connections: int = 0
    buffered_bytes: int = 0
    waiting_bodies: int = 0
    commits_total: int = 0
    committed_writes_total: int = 0
    #: Responses: operation, status, number.
    requests: list[tuple[str, int, int]] = []
    #: Latency histograms: operation, counts, sum.
    latencies: list[tuple[str, list[int], float]] = []
    #: The most used keys: labels and number.
    keys: list[tuple[dict[str, str], int]] = []


FromWorker: TypeAlias = Relayed | Released | WorkerReport
ToWorker: TypeAlias = Reply | CloseIdle | Alone


class Messages(Generic[T]):
    """Takes the received bytes of a socket, and yields the messages in them."""

    def __init__(self, kinds: Any) -> None:
        self._decode: Callable[[memoryview], T] = msgspec.msgpack.Decoder(kinds).decode
        self._received = bytearray()

    def feed(self, data: bytes) -> list[T]:
        """Return the messages that are complete now."""
        received = self._received
        received += data
        start, size = 0, len(received)
        messages = []
        with memoryview(received) as view:
            while size - start >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(view, start)
                end = start + _LENGTH.size + length
                if end > size:
                    break
                with view[start + _LENGTH.size : end] as content:
                    messages.append(self._decode(content))
                start = end
        del received[:start]
        return messages


def encode(message: msgspec.Struct) -> bytes:
    """Return the bytes of a message."""
    data = _encode(message)
    return _LENGTH.pack(len(data)) + data


class WorkerChannel(asyncio.Protocol):
    """The end of the relay in a worker.

    `receive` is called with each message, `on_lost` when the main process has ended.
    """

    def __init__(self, receive: Callable[[ToWorker], None], on_lost: Callable[[], None]) -> None:
        self._messages: Messages[ToWorker] = Messages(ToWorker)
        self._receive = receive
        self._on_lost = on_lost
        self._transport: asyncio.Transport
        self._unsent: list[bytes] = []

    def send(self, message: FromWorker) -> None:
        """Send a message, with the others of this iteration of the event loop."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(encode(message))

    def close(self) -> None:
        """Close the socket after all messages have been sent."""
        self._flush()
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for message in self._messages.feed(data):
            self._receive(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost()

    def _flush(self) -> None:
        if self._unsent:
            data, self._unsent = b"".join(self._unsent), []
            self._transport.write(data)
