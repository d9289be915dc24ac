"""A stop loses nothing that was acknowledged, and waits for nothing that may never come."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.errors import TrimmedDataAccessException
from tablewright.server import Server, Settings, serving
from tests.engine.streaming import enabled, read_stream, stream_arn
from tests.server.conftest import TABLE
from tests.server.http import Client, message
from tests.server.test_requests import get, put
from tests.server.waiting import wait_until


@contextmanager
def served(*options: str | Path, before: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its URL. It is killed at the end if it still runs.

    `before` is code that the process runs first.
    """
    code = f"{before}\nfrom tablewright.cli import main\nmain()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", *map(str, options)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


class WriteLoad:
    """Clients that put items until the server stops, and the keys that were acknowledged."""

    def __init__(self) -> None:
        self._acknowledged: list[str] = []
        self.is_enough = threading.Event()

    def write(self, url: str, name: str) -> None:
        try:
            with Client(url) as client:
                for turn in range(1_000_000):
                    key = f"{name}-{turn}"
                    if client.call("PutItem", put(key)).status == 200:
                        self._acknowledged.append(key)
                    if len(self._acknowledged) > 300:
                        self.is_enough.set()
        except (OSError, EOFError):
            pass  # the server has stopped

    def check(self, file: Path) -> None:
        """Check that the file is intact and has all acknowledged items."""
        with Engine(file) as engine:
            for key in self._acknowledged:
                assert engine.run(engine.prepare("GetItem", get(key))) != b"{}", key
            assert engine.check()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_load_loses_no_acknowledged_write(tmp_path: Path, number: int) -> None:
    file = tmp_path / "load.db"
    load = WriteLoad()
    with served(file) as (process, url):
        with Client(url) as client:
            client.call("CreateTable", TABLE)
        writers = [threading.Thread(target=load.write, args=(url, f"writer-{n}")) for n in range(6)]
        for writer in writers:
            writer.start()
        assert load.is_enough.wait(30)
        process.send_signal(number)
        output, errors = process.communicate(timeout=30)
        for writer in writers:
            writer.join(30)

    assert (process.returncode, output) == (0, "")
    assert "Traceback" not in errors
    load.check(file)


def test_a_stop_answers_what_was_received_and_closes_what_is_idle(engine: Engine) -> None:
    with serving(engine) as url:
        idle = Client(url)
        assert idle.call().status == 200
    assert idle.is_closed()
    idle.socket.close()


def test_a_stop_waits_for_a_request_that_is_being_sent(engine: Engine) -> None:
    async def scenario() -> None:
        server = Server(engine)
        reader, writer = await asyncio.open_connection(*address_of(await server.start()))
        request = message("PutItem", put("a"))
        writer.write(request[:-5])
        await writer.drain()
        await received_a_header(server)
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0)
        writer.write(request[-5:])
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"Connection: close" in answer
        await stopping
        writer.close()

    asyncio.run(scenario())


def test_a_stop_cuts_off_a_client_that_never_finishes(engine: Engine) -> None:
    async def scenario() -> None:
        server = Server(engine)
        reader, writer = await asyncio.open_connection(*address_of(await server.start()))
        writer.write(b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n")
        await received_a_header(server)
        async with asyncio.timeout(60):
            await server.stop(grace_seconds=0.1)
            assert await reader.read() == b""
        writer.close()

    asyncio.run(scenario())


def test_the_sweep_deletes_expired_items(engine: Engine) -> None:
    specification = {"AttributeName": "until", "Enabled": True}
    request = {"TableName": "things", "TimeToLiveSpecification": specification}
    engine.call("UpdateTimeToLive", request)
    expired = str(int(time.time()) - 10)
    item = {"k": {"S": "a"}, "until": {"N": expired}}
    with serving(engine, settings=Settings(sweep_seconds=0.01)) as url, Client(url) as client:
        client.call("PutItem", {"TableName": "things", "Item": item})
        wait_until(lambda: client.call("GetItem", get("a")).json == {})
    assert engine.call("Scan", {"TableName": "things"})["Items"] == []


def test_the_sweep_deletes_old_records_of_streams(engine: Engine) -> None:
    update = {"StreamSpecification": enabled(), "TableName": "things"}
    engine.call("UpdateTable", update)
    engine.trim(time.time() + 2 * 86_400)  # from now on, every record is too old
    arn = stream_arn(engine.call, "things")

    def is_trimmed() -> bool:
        try:
            return read_stream(engine.call, arn) == []
        except TrimmedDataAccessException:  # since the iterator was issued
            return True

    with serving(engine, settings=Settings(sweep_seconds=0.01)) as url, Client(url) as client:
        client.call("PutItem", put("a"))
        wait_until(is_trimmed)


@pytest.mark.slow
def test_the_shards_of_new_streams_can_be_chosen() -> None:
    with served("--stream-shards", "3") as (_, url), Client(url) as client:
        described = client.call("CreateTable", TABLE | {"StreamSpecification": enabled()}).json
        arn = described["TableDescription"]["LatestStreamArn"]
        target = "DynamoDBStreams_20120810.DescribeStream"
        stream = client.call("DescribeStream", {"StreamArn": arn}, x_amz_target=target).json
        assert len(stream["StreamDescription"]["Shards"]) == 3


async def received_a_header(server: Server) -> None:
    # Nothing tells a test of this, so it looks again and again.
    while not any(c._parser.phase for c in server._connections):  # noqa: ASYNC110
        await asyncio.sleep(0)


def address_of(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


class SlowToSweep(Engine):
    """An engine whose first sweep does not end before it may."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.call("CreateTable", TABLE)
        self.sweeping, self.go_on = threading.Event(), threading.Event()
        self.sweeps = 0

    def expire(self, now: float | None = None) -> int:
        self.sweeping.set()
        assert self.go_on.wait(60)
        deleted = super().expire(now)
        self.sweeps += 1
        return deleted


def test_requests_are_answered_during_a_sweep() -> None:
    with SlowToSweep() as engine, serving(engine, settings=Settings(sweep_seconds=0.01)) as url:
        try:
            assert engine.sweeping.wait(30)
            with Client(url) as client:
                assert client.call("PutItem", put("a")).status == 200
                assert client.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}}}
            assert engine.sweeps == 0
        finally:
            engine.go_on.set()


def test_there_is_a_sweep_after_a_sweep() -> None:
    with SlowToSweep() as engine, serving(engine, settings=Settings(sweep_seconds=0.01)):
        engine.go_on.set()
        wait_until(lambda: engine.sweeps >= 3)
        assert engine.sweeping.is_set()


def test_a_stop_waits_for_the_sweep(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(engine: SlowToSweep) -> None:
        server = Server(engine, settings=Settings(sweep_seconds=0.01))
        url = await server.start()
        assert await asyncio.to_thread(engine.sweeping.wait, 30)
        with Client(url) as client:
            stopping = asyncio.create_task(server.stop())
            assert await asyncio.to_thread(client.is_closed)
        assert not stopping.done()
        engine.go_on.set()
        await stopping
        assert engine.sweeps == 1

    with SlowToSweep() as engine:
        try:
            asyncio.run(scenario(engine))
        finally:
            engine.go_on.set()
        assert engine.sweeps == 1
        assert engine.check()
    assert caplog.records == []
