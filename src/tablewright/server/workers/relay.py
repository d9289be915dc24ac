"""The relay: messages between the main process of a server and its workers.

    worker ──Relayed──▶ main    a request that the worker does not answer itself
           ◀──Reply────         its response, when its writes are durable
           ──Released─▶         a connection has ended
           ──WorkerReport──▶    the metrics of the worker, about once a second; the first one: ready
           ◀─CloseIdle─         close an idle connection, to make room for another one
           ◀──Alone────         the worker has the only connection of the server, or no longer

A message is four bytes with its length, then MessagePack. The messages of one iteration of the
event loop are sent together. The order of messages is kept.

`RelayWriter` is the thread of the main process that runs the relayed requests. It takes the place
of `Writer`: requests that arrive during a commit wait in the sockets and share the next one.

    sockets of the workers ──all that arrived──▶ prepare ──▶ one commit ──▶ replies

One thread prepares, commits and replies: passing requests from an event loop to a writer and back
costs more.

Invariants:
- Every request has exactly one reply, unless its worker has ended.
- Large requests, exports and imports run in other threads.
- A worker that does not read its replies delays no other worker.

This module does not know what the messages mean for a server (`worker`, `main_process`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec

from tablewright import errors
from tablewright.engine import Engine, Step, WriteStep
from tablewright.errors import DynamoDBError
from tablewright.server.failures import Failures, FileWatch
from tablewright.server.limits import LARGE_BODY
from tablewright.server.writer import Results, commit
from tablewright.wire.values import collector_paused

log = logging.getLogger("tablewright.server")

RECEIVE_BYTES = 256 * 1024
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


class Peer:
    """The main process's end of the relay to one worker. Used by the thread only."""

    def __init__(self, number: int, relay: socket.socket) -> None:
        relay.setblocking(False)
        self.number = number
        self.socket = relay
        self.messages: Messages[FromWorker] = Messages(FromWorker)
        self.unsent = bytearray()
        self.is_open = True
        #: The worker has not read its replies: the selector waits until it does.
        self.is_blocked = False


class RelayWriter:
    """Runs the requests that workers relay, in a thread.

    `prepare` makes a step of a request; `record` gets the results of each commit. `notify` is
    called with the other messages of a worker, and with None when the worker has ended. All are
    called in the thread.
    """

    def __init__(
        self,
        engine: Engine,
        watch: FileWatch,
        failures: Failures,
        prepare: Callable[[Relayed], Step],
        record: Callable[[Results], None],
        notify: Callable[[int, Released | WorkerReport | None], None],
    ) -> None:
        self._engine = engine
        self._watch = watch
        self._failures = failures
        self._prepare = prepare
        self._record = record
        self._notify = notify
        self._peers: list[Peer] = []
        #: The relays to workers that replace others, which the thread does not wait for yet.
        self._new_peers: deque[Peer] = deque()
        self._is_ending = False
        #: Messages to workers from other threads.
        self._outgoing: deque[tuple[Peer, ToWorker]] = deque()
        self._selector = selectors.DefaultSelector()
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="tablewright-relay")
        self._thread = threading.Thread(target=self._run, name="tablewright-writer", daemon=True)

    def start(self, relays: Sequence[socket.socket]) -> None:
        """Start the thread, with the sockets of the workers."""
        self._selector.register(self._wake, selectors.EVENT_READ)
        for number, relay in enumerate(relays):
            peer = Peer(number, relay)
            self._peers.append(peer)
            self._new_peers.append(peer)
        self._thread.start()

    def replace(self, number: int, relay: socket.socket) -> None:
        """Use the socket of a worker that replaces one that has ended, from any thread."""
        peer = Peer(number, relay)
        self._new_peers.append(peer)
        self._peers[number] = peer
        self._wake_up()

    def send(self, number: int, message: ToWorker) -> None:
        """Send a message to a worker, from any thread."""
        self._send_later(self._peers[number], message)

    def join(self) -> None:
        """Wait until all workers have ended and all their requests are done."""
        self._is_ending = True
        self._wake_up()
        self._thread.join()
        self._pool.shutdown()
        for each in (self._wake, self._waker, self._selector):
            each.close()

    def _run(self) -> None:
        try:
            self._serve()
        except BaseException:
            log.exception("the server stopped because of a bug")
            os._exit(1)  # workers end, too; otherwise their requests would wait forever

    def _serve(self) -> None:
        while not self._is_ending or any(peer.is_open for peer in self._peers):
            self._register_new()
            writes: list[tuple[Peer, int, WriteStep]] = []
            for key, events in self._selector.select():
                if key.fileobj is self._wake:
                    self._wake.recv(4096)
                elif events & selectors.EVENT_READ:
                    self._receive(key.data, writes)
            if writes:
                self._commit(writes)
            while self._outgoing:
                self._register_new()  # a message is sent after its peer was added
                peer, message = self._outgoing.popleft()
                peer.unsent += encode(message)
            for peer in self._peers:
                if peer.unsent:
                    self._flush(peer)

    def _register_new(self) -> None:
        while self._new_peers:
            peer = self._new_peers.popleft()
            self._selector.register(peer.socket, selectors.EVENT_READ, peer)

    def _receive(self, peer: Peer, writes: list[tuple[Peer, int, WriteStep]]) -> None:
        """Run what a worker has sent, and collect the writes in it."""
        try:
            data = peer.socket.recv(RECEIVE_BYTES)
        except OSError:
            data = b""
        if not data:
            peer.is_open = False
            self._selector.unregister(peer.socket)
            self._notify(peer.number, None)
        for message in peer.messages.feed(data):
            if isinstance(message, Relayed):
                self._handle(peer, message, writes)
            else:
                self._notify(peer.number, message)

    def _handle(
        self, peer: Peer, message: Relayed, writes: list[tuple[Peer, int, WriteStep]]
    ) -> None:
        if len(message.body) > LARGE_BODY:
            self._pool.submit(self._prepare_and_run, peer, message)
            return
        try:
            step = self._prepare(message)
        except Exception as error:
            self._reply(peer, message.number, error)
            return
        if isinstance(step, WriteStep):
            writes.append((peer, message.number, step))
        else:
            self._pool.submit(self._run_apart, peer, message.number, step)

    def _commit(self, writes: list[tuple[Peer, int, WriteStep]]) -> None:
        results = commit(self._engine, self._watch, [step for _, _, step in writes])
        self._record(results)
        for (peer, number, _), result in zip(writes, results, strict=True):
            self._reply(peer, number, result)

    def _reply(self, peer: Peer, number: int, result: bytes | BaseException) -> None:
        peer.unsent += encode(self._make_reply(number, result))

    def _make_reply(self, number: int, result: bytes | BaseException) -> Reply:
        if isinstance(result, BaseException):
            return Reply.of(number, self._failures.to_fault(result))
        return Reply.of(number, result)

    def _flush(self, peer: Peer) -> None:
        """Send what a worker can receive now; keep the rest until it can receive more."""
        try:
            del peer.unsent[: peer.socket.send(peer.unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the worker has ended
            peer.unsent.clear()
        if peer.is_open and peer.is_blocked != bool(peer.unsent):
            peer.is_blocked = bool(peer.unsent)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.is_blocked else 0)
            self._selector.modify(peer.socket, events, peer)

    # --- in other threads ----------------------------------------------------------------------

    def _prepare_and_run(self, peer: Peer, message: Relayed) -> None:
        try:
            with collector_paused():
                step = self._prepare(message)
        except Exception as error:
            self._send_later(peer, self._make_reply(message.number, error))
        else:
            self._run_apart(peer, message.number, step)

    def _run_apart(self, peer: Peer, number: int, step: Step) -> None:
        result: bytes | BaseException
        try:
            if isinstance(step, WriteStep):
                self._watch.require_same_file()
            result = self._engine.run(step)
        except Exception as error:
            result = error
        if isinstance(step, WriteStep):
            self._record([result])
        self._send_later(peer, self._make_reply(number, result))

    def _send_later(self, peer: Peer, message: ToWorker) -> None:
        self._outgoing.append((peer, message))
        self._wake_up()

    def _wake_up(self) -> None:
        with suppress(BlockingIOError):  # the thread will look anyway
            self._waker.send(b"w")
