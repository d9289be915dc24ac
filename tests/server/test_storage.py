"""A server and its file: locks of other processes, a full disk, a deleted or damaged file."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from botocore.config import Config

from tablewright.engine import Engine
from tablewright.server import Server, serving
from tests.server.conftest import TABLE
from tests.server.http import Client, message, sdk_client
from tests.server.test_requests import get, put
from tests.server.test_stopping import served
from tests.storage.wal import commits

LOCK = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("unlocked", flush=True)
"""


@contextmanager
def locked_by_another_process(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Hold the write lock of a file; a line on the process's standard input ends it."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCK, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            yield process
        finally:
            process.kill()


def unlock(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "unlocked\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with the table `things` and the item `a`."""
    file = tmp_path / "served.db"
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
        engine.call("PutItem", put("a"))
    return file


def test_reads_are_answered_while_another_process_holds_the_lock(file: Path) -> None:
    """The write waits until the lock is released; a hundred reads are answered before that."""
    with (
        Engine(file) as engine,
        serving(engine) as url,
        Client(url) as writer,
        Client(url) as reader,
        locked_by_another_process(file) as other,
    ):
        writer.send(message("PutItem", put("b")))
        for _ in range(100):
            assert reader.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}}}
        assert reader.call("GetItem", get("b")).json == {}
        unlock(other)
        assert writer.answer().json == {}
        assert reader.call("GetItem", get("b")).json == {"Item": {"k": {"S": "b"}}}


def test_the_write_of_the_only_client_waits_for_another_process_in_a_thread(file: Path) -> None:
    with Engine(file) as engine, serving(engine) as url, Client(url) as writer:
        assert writer.call("PutItem", put("b")).json == {}
        with locked_by_another_process(file) as other:
            writer.send(message("PutItem", put("c")))
            with Client(url) as reader:
                assert reader.call("GetItem", get("b")).json == {"Item": {"k": {"S": "b"}}}
                assert reader.call("GetItem", get("c")).json == {}
            unlock(other)
            assert writer.answer().json == {}


def test_the_write_of_the_only_client_waits_for_another_thread_in_a_thread(file: Path) -> None:
    is_writing, go_on = threading.Event(), threading.Event()

    def hold_the_lock(_: object) -> None:
        is_writing.set()
        assert go_on.wait(20)

    with Engine(file) as engine, serving(engine) as url, Client(url) as writer:
        other = threading.Thread(target=engine._store.write, args=(hold_the_lock,))
        other.start()
        assert is_writing.wait(20)
        writer.send(message("PutItem", put("b")))
        with Client(url) as reader:
            assert reader.call("GetItem", get("b")).json == {}
        go_on.set()
        assert writer.answer().json == {}
        other.join()


def test_a_thread_can_wait_again_after_it_was_a_server(file: Path) -> None:
    with Engine(file) as engine:

        async def start_and_stop() -> None:
            server = Server(engine)
            await server.start()
            await server.stop()

        asyncio.run(start_and_stop())
        with locked_by_another_process(file) as other:
            threading.Timer(0.05, unlock, (other,)).start()
            engine.call("PutItem", put("b"))


def test_reads_do_not_wait_for_a_costly_filter(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A costly filter looks at the clock and waits there; meanwhile others are answered."""
    costly = {
        "TableName": "things",
        "FilterExpression": " OR ".join(["contains(l, :v)"] * 150),
        "ExpressionAttributeValues": {":v": {"N": "2"}},
    }
    is_reading, go_on = threading.Event(), threading.Event()

    def clock() -> float:
        is_reading.set()
        assert go_on.wait(20)
        return 0.0

    monkeypatch.setattr("tablewright.engine.paging.thread_time", clock)
    with (
        Engine(file) as engine,
        serving(engine) as url,
        Client(url) as scanner,
        Client(url) as reader,
    ):
        scanner.send(message("Scan", costly))
        assert is_reading.wait(20)
        for _ in range(3):
            assert reader.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}}}
        go_on.set()
        assert scanner.answer().json == {"Items": [], "Count": 0, "ScannedCount": 1}


def test_a_lock_that_stays_is_a_fault_that_sdks_retry(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Engine(file, busy_seconds=0.05) as engine, serving(engine) as url, Client(url) as client:
        with locked_by_another_process(file):
            for _ in range(3):
                answer = client.call("PutItem", put("b"))
                assert (answer.status, answer.type) == (400, "ThrottlingException")
            assert client.call("GetItem", get("b")).json == {}
        assert client.call("PutItem", put("b")).status == 200
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is None


def test_boto3_retries_until_the_lock_is_released(file: Path) -> None:
    with Engine(file, busy_seconds=0.02) as engine, serving(engine) as url:
        client = sdk_client(url, config=Config(retries={"mode": "standard", "max_attempts": 5}))
        with locked_by_another_process(file) as other:
            attempts: list[int] = []

            def release_after_two(**_: object) -> None:
                attempts.append(1)
                if len(attempts) == 2:
                    unlock(other)

            client.meta.events.register("before-send.dynamodb.PutItem", release_after_two)
            client.put_item(TableName="things", Item={"k": {"S": "b"}})
        assert len(attempts) >= 2


def test_writes_that_gather_behind_a_lock_share_one_commit(file: Path) -> None:
    with Engine(file) as engine, serving(engine) as url:
        engine.call("PutItem", put("a"))
        clients = [Client(url) for _ in range(8)]
        before = commits(file)
        with locked_by_another_process(file) as other:
            for number, client in enumerate(clients):
                client.send(message("PutItem", put(f"key-{number}")))
            with Client(url) as other_client:
                assert other_client.call().status == 200  # all of them have been received
            unlock(other)
            for client in clients:
                assert client.answer().json == {}
                client.socket.close()
        assert commits(file) - before <= 2


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
"""


def test_on_a_full_disk_writes_fail_in_one_line_and_reads_are_answered(file: Path) -> None:
    full = FULL_DISK.format(room=file.stat().st_size + 400_000)
    with served(file, before=full) as (process, url):
        with Client(url) as client:
            large = put("b", text="x" * 300_000)
            answers = [client.call("PutItem", large).status for _ in range(8)]
            assert 500 in answers
            assert answers == sorted(answers)  # from the first failure on, all fail
            assert client.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}}}
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert errors.count("FullError") + errors.count("IOError") == 1, errors
    assert len(errors.splitlines()) == 2  # the other one says what is served


def test_after_the_file_was_deleted_writes_are_refused_and_reads_answered(file: Path) -> None:
    with served(file) as (process, url):
        with Client(url) as client:
            file.unlink()
            for _ in range(3):
                answer = client.call("PutItem", put("b"))
                assert (answer.status, answer.type) == (500, "InternalServerError")
            assert client.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}}}
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.count("the file was deleted while it was in use") == 1
    assert "Traceback" not in errors


def test_when_the_file_cannot_be_read_the_server_ends_with_a_message(file: Path) -> None:
    with served(file) as (process, url):
        with Client(url) as client:
            # Without its log and the log's index, what SQLite has in memory is out of date.
            for name in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
                with name.open("r+b") as damaged:
                    damaged.write(b"\0" * name.stat().st_size)
            assert client.call("GetItem", get("a")).status == 500
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "it cannot read its file" in errors
    assert "Traceback" not in errors
