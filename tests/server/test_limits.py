"""Hostile clients: what they send is refused, how long they take and how much they hold is limited.

Timeouts are small here; a test waits for the server to close the connection, not for the clock.
"""

from __future__ import annotations

import asyncio
import json
import select
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.server import Limits, Server, Settings, listener, serving
from tablewright.server.limits import MAX_BODY
from tests.server.conftest import TABLE
from tests.server.http import AUTHORIZATION, Client, message
from tests.server.test_requests import get, put
from tests.server.test_stopping import served
from tests.server.test_storage import locked_by_another_process, unlock
from tests.server.waiting import wait_until

MB = 1024 * 1024


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for room often."""
    monkeypatch.setattr(listener, "RETRY_SECONDS", 0.02)


@contextmanager
def limited(engine: Engine, **limits: float) -> Iterator[str]:
    with serving(engine, settings=Settings(limits=Limits(**limits))) as url:  # type: ignore[arg-type]
        yield url


def head(*lines: str) -> bytes:
    return "\r\n".join(("POST / HTTP/1.1", "host: 127.0.0.1", *lines)).encode() + b"\r\n\r\n"


CHUNKED = message("PutItem", raw=b"", content_length=None, transfer_encoding="chunked")

REFUSED: dict[str, tuple[bytes, int]] = {
    "two content-lengths": (head("content-length: 2", "Content-Length: 2") + b"{}", 400),
    "length and chunked": (head("content-length: 2", "transfer-encoding: chunked"), 400),
    "two encodings": (head("transfer-encoding: chunked", "Transfer-Encoding: identity"), 400),
    "two hosts": (head("Host: 127.0.0.1", "content-length: 2") + b"{}", 400),
    "two authorizations": (head("authorization: a", "AUTHORIZATION: b", "content-length: 0"), 400),
    "two targets": (head("x-amz-target: a", "X-Amz-Target: b", "content-length: 0"), 400),
    "two dates": (head("x-amz-date: a", "X-Amz-Date: b", "content-length: 0"), 400),
    "folded header": (head("x-amz-target: a", " b", "content-length: 0"), 400),
    "space before the colon": (head("host : a"), 400),
    "many headers": (head(*(f"x-{n}: 1" for n in range(101))), 400),
    "one header many times": (head(*("accept: a" for _ in range(101))), 400),
    "a large header": (head("x: " + "y" * 16_500), 400),
    "a large header in two pieces": (head("x: " + "y" * 300_000), 400),
    "a large trailer": (CHUNKED + b"0\r\nx: " + b"y" * 500_000, 400),
    "many trailers": (CHUNKED + b"0\r\n" + b"x: y\r\n" * 100_000, 400),
    "a chunk of 16 MB and more": (CHUNKED + b"1000001\r\n" + b" " * (MAX_BODY + 1), 413),
    "a chunk size that is no number": (CHUNKED + b"zz\r\n", 400),
    "a chunk size that overflows": (CHUNKED + b"fffffffffffffffff\r\n", 400),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_requests_are_refused_and_the_connection_closed(url: str, name: str) -> None:
    request, status = REFUSED[name]
    with Client(url) as client, Client(url) as other:
        with suppress(ConnectionError):  # it may be refused before everything is sent
            client.send(request)
        assert client.answer().status == status
        assert client.is_closed()
        assert other.call().status == 200


def test_headers_of_almost_16_kb_are_accepted(client: Client) -> None:
    assert client.call(x_long="y" * 15_500).status == 200


def test_a_repeated_header_that_decides_nothing_is_accepted(client: Client) -> None:
    request = message("ListTables").replace(b"\r\n\r\n", b"\r\naccept: a\r\nAccept: b\r\n\r\n", 1)
    client.send(request)
    assert client.answer().status == 200


def test_trailers_never_override_headers(client: Client) -> None:
    body = json.dumps(put("a")).encode()
    chunks = b"%x\r\n%b\r\n0\r\n" % (len(body), body)
    for trailer in (b"x-amz-target: DynamoDB_20120810.ListTables", b"authorization: nonsense"):
        client.send(CHUNKED + chunks + trailer + b"\r\n\r\n")
        assert client.answer().json == {}


def test_a_trailer_is_no_substitute_for_a_header(client: Client) -> None:
    request = message("PutItem", raw=b"", content_length=None, transfer_encoding="chunked")
    request = request.replace(b"authorization: " + AUTHORIZATION.encode() + b"\r\n", b"")
    body = json.dumps(put("a")).encode()
    trailer = b"authorization: " + AUTHORIZATION.encode()
    client.send(request + b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(body), body, trailer))
    assert client.answer().type == "MissingAuthenticationTokenException"


def test_thousands_of_pipelined_upgrade_requests_are_answered(client: Client) -> None:
    """Each of them once took a level of recursion."""
    offer = message("ListTables", connection="Upgrade", upgrade="h2c")
    count = 3000

    def send() -> None:
        client.send(offer * count)

    sender = threading.Thread(target=send)
    sender.start()
    for _ in range(count):
        assert client.answer().status == 200
    sender.join()


def test_an_upgrade_request_may_close_the_connection(client: Client) -> None:
    answer = client.call("ListTables", connection="Upgrade, close", upgrade="h2c")
    assert answer.headers["connection"] == "close"
    assert client.is_closed()


SLOW: dict[str, tuple[bytes, int | None]] = {
    "nothing at all": (b"", None),
    "half a request line": (b"POST / HT", 408),
    "half a header": (b"POST / HTTP/1.1\r\nhost: 127", 408),
    "no end of the head": (b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n", 408),
    "no body": (message("PutItem", raw=b"", length=10), 408),
    "half a body": (message("PutItem", raw=b"{", length=100), 408),
    "half a large body": (message("PutItem", raw=b" " * 200_000, length=MAX_BODY), 408),
    "no chunk": (CHUNKED, 408),
    "no end of the trailers": (CHUNKED + b"0\r\nx: y\r\n", 408),
    "a second request that is not finished": (message() + b"POST / HTTP/1.1\r\nx: y", 408),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_client_that_stops_sending_is_disconnected(engine: Engine, name: str) -> None:
    sent, status = SLOW[name]
    with (
        limited(engine, head_seconds=0.04, body_seconds=0.04, idle_seconds=0.04) as url,
        Client(url) as client,
    ):
        client.send(sent)
        if sent.startswith(message()):
            assert client.answer().status == 200
        if status is not None:
            assert client.answer().status == status
        assert client.is_closed()


def test_a_client_that_sends_byte_by_byte_is_disconnected(engine: Engine) -> None:
    with limited(engine, head_seconds=0.05) as url, Client(url) as client:
        client.send(b"POST / HTTP/1.1\r\nx: ")
        # Slowly: a fast machine would reach the limit of the size of headers first.
        while not select.select([client.socket], [], [], 0.001)[0]:
            client.send(b"y")
        assert client.answer().status == 408


def test_a_body_that_makes_progress_is_received(engine: Engine) -> None:
    """The time is for a part of the body, not for the whole."""
    body = json.dumps(put("a", text="x" * 300_000)).encode()
    with limited(engine, body_seconds=0.05, body_progress=1) as url, Client(url) as client:
        request = message("PutItem", raw=body)
        with Client(url) as clock:  # its slow header is what the time is measured with
            for at in range(0, len(request), 100_000):
                client.send(request[at : at + 100_000])
                clock.call()
        assert client.answer().status == 200


def test_a_client_that_does_not_take_its_response_is_disconnected(engine: Engine) -> None:
    engine.call("PutItem", put("a", text="x" * 390_000))

    async def scenario() -> None:
        server = Server(engine, Settings(limits=Limits(send_seconds=0.05)))
        with Client(await server.start(), receive_buffer=4096) as client:
            client.send(message("GetItem", get("a")) * 30)
            # A part of the responses waits to be taken, and later does not.
            while not server.budget.used:  # noqa: ASYNC110
                await asyncio.sleep(0)
            while server.budget.used:  # noqa: ASYNC110
                await asyncio.sleep(0)
            with pytest.raises((ConnectionError, EOFError)):  # after what the kernel has
                take_answers(client, 30)
        await server.stop()

    asyncio.run(scenario())


def take_answers(client: Client, count: int) -> None:
    for _ in range(count):
        client.answer()


def test_at_the_limit_of_connections_an_idle_one_makes_room(engine: Engine) -> None:
    with limited(engine, connections=3) as url, ExitStack() as stack:
        clients = [stack.enter_context(Client(url)) for _ in range(3)]
        for client in clients:
            assert client.call().status == 200
        late = stack.enter_context(Client(url))
        assert late.call().status == 200
        closed, _, _ = select.select([client.socket for client in clients], [], [], 60)
        assert [client.is_closed() for client in clients if client.socket in closed] == [True]


def is_readable(connection: socket.socket) -> bool:
    return bool(select.select([connection], [], [], 0)[0])


def test_clients_that_connect_at_the_same_time_up_to_the_limit_all_stay(engine: Engine) -> None:
    with limited(engine, connections=8) as url:
        for _ in range(20):
            with ExitStack() as stack:
                clients = [stack.enter_context(Client(url)) for _ in range(8)]
                assert [client.call().status for client in clients] == [200] * 8


UNFINISHED = {
    "headers": (b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", b"y"),
    "body": (message("PutItem", raw=b"", length=100_000), b"{"),
    "chunked body": (CHUNKED, b"1\r\n \r\n"),
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_clients_that_do_not_finish_their_requests_make_room(engine: Engine, name: str) -> None:
    """The oldest one first; all of them send a byte now and then, and more clients wait."""
    start, more = UNFINISHED[name]
    with limited(engine, connections=4, scarce_seconds=0.2) as url, ExitStack() as stack:
        slow = []
        for _ in range(4):  # one after the other: one without a request would be idle
            slow.append(stack.enter_context(Client(url)))
            assert slow[-1].call().status == 200
            slow[-1].send(start)
        for client in slow[1:]:
            client.send(more)
        late = [stack.enter_context(Client(url)) for _ in range(2)]
        assert [client.call().status for client in late] == [200, 200]
        assert slow[0].answer().status == 408
        assert slow[0].is_closed()


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is what the test says, so that no pause of the machine counts."""

    now = 0.0

    def time(self) -> float:
        return self.now


def test_a_body_that_makes_progress_makes_no_room(engine: Engine) -> None:
    """It is older than the headers that make none."""
    request = message("PutItem", raw=json.dumps(put("a", value="x" * 60_000)).encode())
    limits = Limits(connections=2, scarce_seconds=1.0, body_progress=1)

    async def answer(client: Client) -> int:
        while not is_readable(client.socket):  # noqa: ASYNC110
            await asyncio.sleep(0)
        return client.answer().status

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SteppedLoop)
        server = Server(engine, Settings(limits=limits))
        url = await server.start()
        with ExitStack() as stack:
            steady, stuck = (stack.enter_context(Client(url)) for _ in range(2))
            sent = 1000
            steady.send(request[:sent])
            stuck.send(b"POST / HTTP/1.1\r\n")
            other = stack.enter_context(Client(url))
            other.send(message())
            while not is_readable(stuck.socket):
                steady.send(request[sent : sent + 1])
                sent += 1
                for _ in range(10):  # each receives what has arrived, then runs what is due
                    await asyncio.sleep(0)
                loop.now += 0.02
            assert loop.now > limits.scarce_seconds
            assert await answer(stuck) == 408
            loop.now += 0.1  # when the server looks for room again
            assert await answer(other) == 200
            steady.send(request[sent:])
            assert await answer(steady) == 200
        stopped = loop.create_task(server.stop())
        while not stopped.done():
            await asyncio.sleep(0)
            loop.now += 0.1

    with asyncio.Runner(loop_factory=SteppedLoop) as runner:
        runner.run(scenario())


@pytest.mark.slow
def test_a_thousand_half_sent_headers_do_not_keep_others_out(engine: Engine) -> None:
    with limited(engine) as url, ExitStack() as stack:
        for _ in range(1400):
            client = stack.enter_context(Client(url))
            client.send(UNFINISHED["headers"][0])
        assert stack.enter_context(Client(url)).call().status == 200


def test_at_the_limit_of_connections_busy_ones_stay(engine: Engine) -> None:
    request = message("PutItem", put("a"))
    with limited(engine, connections=2) as url, ExitStack() as stack:
        busy = [stack.enter_context(Client(url)) for _ in range(2)]
        for client in busy:
            assert client.call().status == 200
            client.send(request[:-1])
        late = stack.enter_context(Client(url))
        late.send(message())
        for client in busy:
            client.send(request[-1:])
            assert client.answer().status == 200
        assert late.answer().status == 200  # one of the two is idle now, and was closed


def test_a_body_without_memory_waits_and_small_requests_do_not(engine: Engine) -> None:
    with limited(engine, buffered_bytes=MAX_BODY) as url, ExitStack() as stack:
        first, second, small = (stack.enter_context(Client(url)) for _ in range(3))
        body = (b'{"TableName": "things"' + b" " * MAX_BODY)[: MAX_BODY - 1] + b"}"
        whole = message("DescribeTable", raw=body)
        first.send(whole[:300_000])
        assert small.call().status == 200
        sender = threading.Thread(target=second.send, args=(whole,))
        sender.start()
        assert small.call("PutItem", put("a")).status == 200
        first.send(whole[300_000:])
        assert first.answer().status == 200
        assert second.answer().status == 200
        sender.join()


def test_a_body_that_waits_too_long_for_memory_is_refused_as_unavailable(engine: Engine) -> None:
    with (
        limited(engine, buffered_bytes=MAX_BODY, admission_seconds=0.05) as url,
        Client(url) as first,
        Client(url) as second,
    ):
        first.send(message("PutItem", raw=b" " * 300_000, length=MAX_BODY))
        assert first.socket.getpeername()
        with Client(url) as other:
            assert other.call().status == 200  # so the first one's bytes have been read
        second.send(message("PutItem", raw=b" " * 100, length=MAX_BODY))
        answer = second.answer()
        assert (answer.status, answer.type) == (503, "ServiceUnavailable")
        assert second.is_closed()


def test_memory_of_a_client_that_leaves_is_given_to_the_next(engine: Engine) -> None:
    with limited(engine, buffered_bytes=MAX_BODY) as url, Client(url) as client:
        for _ in range(5):
            with Client(url) as leaver:
                leaver.send(message("PutItem", raw=b" " * 300_000, length=MAX_BODY))
        body = (b'{"TableName": "things"' + b" " * MAX_BODY)[: MAX_BODY - 1] + b"}"
        assert client.call("DescribeTable", raw=body).status == 200


def test_unfinished_bodies_leave_nothing_behind(engine: Engine) -> None:
    with serving(engine) as url:
        with Client(url) as client:
            client.call()
        tracemalloc.start()
        try:
            for _ in range(12):
                with Client(url) as leaver:
                    leaver.send(message("PutItem", raw=b" " * 4 * MB, length=MAX_BODY))
            with Client(url) as client:

                def is_freed() -> bool:
                    assert client.call().status == 200
                    return tracemalloc.get_traced_memory()[0] <= 4 * MB

                wait_until(is_freed)  # the server has seen the others leave
        finally:
            tracemalloc.stop()


def test_pipelined_requests_count_with_the_memory_they_take(tmp_path: Path) -> None:
    """As objects they take much more than their bytes: those of all clients would fit."""
    file = tmp_path / "locked.db"
    flood = b"GET / HTTP/1.1\r\n\r\n" * 13_000
    most = MAX_BODY // (len(flood) + 1000) - 1
    with Engine(file) as engine, limited(engine, buffered_bytes=MAX_BODY) as url:
        engine.call("CreateTable", TABLE)
        with locked_by_another_process(file), ExitStack() as stack:
            clients: list[socket.socket] = []
            closed: list[socket.socket] = []
            # How much of a flood the server reads at once, and holds, is up to the kernel.
            while not closed and len(clients) < most:
                client = stack.enter_context(Client(url))
                clients.append(client.socket)
                client.send(message("PutItem", put("a")))  # which keeps the others waiting
                with suppress(ConnectionError):
                    client.send(flood)
                closed, _, _ = select.select(clients, [], [], 0)
            closed, _, _ = select.select(clients, [], [], 20)
            assert 0 < len(closed) < len(clients)
            with Client(url) as polite:
                assert polite.call().status == 200


def test_requests_of_a_client_that_has_disconnected_are_not_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each answer would be a line in the log."""
    file = tmp_path / "locked.db"
    with Engine(file) as engine, limited(engine) as url:
        engine.call("CreateTable", TABLE)
        with locked_by_another_process(file) as other, Client(url) as polite:
            with Client(url) as client:
                client.send(message("PutItem", put("a")))
                client.send(b"GET / HTTP/1.1\r\n\r\n" * 1000)
                assert polite.call().status == 200  # the server has read them
            unlock(other)
            assert polite.call("PutItem", put("b")).status == 200
    assert caplog.messages == []


FEW_DESCRIPTORS = """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
"""


def test_without_file_descriptors_the_server_waits_and_says_so_once() -> None:
    with served(before=FEW_DESCRIPTORS) as (process, url), ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(Client(url))
        with Client(url) as late:  # idle connections are closed to make room for it
            assert late.call().status == 200
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert errors.count("cannot accept connections") == 1
    assert "Traceback" not in errors
