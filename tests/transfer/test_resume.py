"""A transfer that was stopped, however hard, goes on, and ends as if it had not been."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import TransferRefused
from tablewright.transfer import TransferState, copy, dump, load, state
from tablewright.transfer.dumpfile import find_dumps
from tablewright.transport.targets import Local
from tests.transfer.tables import PLAIN, compared, fill, held, things, things_in
from tests.transports import InterceptingTransport

TTL = {"AttributeName": "expires", "Enabled": True}
COUNT = 130  # six batches


class Stopped(Exception):
    pass


def stopping(engine: Engine, after: int) -> tuple[InterceptingTransport, list[int]]:
    """A transport that raises after so many requests; and how many items were written to it."""
    requests = 0
    written = [0]

    def look(operation: str, request: dict[str, Any]) -> None:
        nonlocal requests
        requests += 1
        if requests > after:
            raise Stopped
        if operation == "BatchWriteItem":
            written[0] += len(request["RequestItems"]["things"])

    return InterceptingTransport(engine, look), written


@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("after", range(14))
def test_a_copy_goes_on_after_every_request(tmp_path: Path, after: int, segments: int) -> None:
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        source.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": TTL})
        path = tmp_path / "state.json"
        cut, before = stopping(target, after)
        try:
            compared(copy(Local(source), cut, state=TransferState(path), segments=segments))
        except Stopped:
            pass
        else:
            assert not path.exists()
        whole, afterwards = stopping(target, 1000)
        found = compared(copy(Local(source), whole, state=TransferState(path), segments=segments))
        assert found["things"].is_equal
        assert held(target) == held(source)
        told = target.call("DescribeTimeToLive", {"TableName": "things"})
        assert told["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"
        assert not path.exists()
        if before[0] < COUNT:  # every thread may have had one batch that nobody was told of
            assert before[0] + afterwards[0] <= COUNT + segments * 25


def test_a_copy_goes_on_after_the_source_failed(tmp_path: Path) -> None:
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        for after in range(30):
            cut, _ = stopping(source, after)
            try:
                found = compared(
                    copy(cut, Local(target), state=TransferState(tmp_path / "s"), segments=2)
                )
            except Stopped:
                continue
            assert found["things"].is_equal
            break
        assert held(target) == held(source)


@pytest.mark.parametrize("after", range(14))
def test_a_load_goes_on_after_every_request(tmp_path: Path, after: int) -> None:
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        source.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": TTL})
        compared(dump(Local(source), tmp_path / "things.json"))
        dumps = find_dumps(tmp_path / "things.json", None)
        path = tmp_path / "state.json"
        cut, before = stopping(target, after)
        with suppress(Stopped):
            compared(load(dumps, cut, state=TransferState(path), writers=2))
        whole, afterwards = stopping(target, 1000)
        assert compared(load(dumps, whole, state=TransferState(path), writers=2))["things"].is_equal
        assert held(target) == held(source)
        told = target.call("DescribeTimeToLive", {"TableName": "things"})
        assert told["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"
        assert not path.exists()
        if before[0] < COUNT:
            assert before[0] + afterwards[0] <= COUNT + 3 * 25


def interrupted(source: Engine, target: Engine, path: Path) -> None:
    cut, _ = stopping(target, 8)
    with pytest.raises(Stopped):
        compared(copy(Local(source), cut, state=TransferState(path), segments=1))
    assert path.exists()


def test_a_target_that_is_another_one_now_is_copied_to_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with Engine(":memory:") as source:
        fill(source, PLAIN, things(COUNT))
        for prepared in (False, True):
            with Engine(":memory:") as target:
                interrupted(source, target, path)
            with Engine(":memory:") as target:
                if prepared:
                    target.call("CreateTable", PLAIN)
                found = compared(copy(Local(source), Local(target), state=TransferState(path)))
                assert found["things"].is_equal
                assert held(target) == held(source)


def test_a_source_that_is_another_one_now_is_copied_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with Engine(":memory:") as target:
        with Engine(":memory:") as source:
            fill(source, PLAIN, things(COUNT))
            interrupted(source, target, path)
        with Engine(":memory:") as source:
            fill(source, PLAIN, things(COUNT + 5))
            found = compared(copy(Local(source), Local(target), state=TransferState(path)))
            assert found["things"].is_equal


def test_a_file_that_is_another_one_now_is_loaded_from_the_start(tmp_path: Path) -> None:
    file, path = tmp_path / "things.json", tmp_path / "state.json"
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        compared(dump(Local(source), file, segments=1))
        cut, _ = stopping(target, 7)
        with pytest.raises(Stopped):
            compared(load(find_dumps(file, None), cut, state=TransferState(path), writers=1))
        source.call("PutItem", {"TableName": "things", "Item": {"k": {"S": "more"}}})
        for item in things(3):
            item["n"] = {"N": "0.5"}
            source.call("PutItem", {"TableName": "things", "Item": item})
        compared(dump(Local(source), file, segments=1))
        assert compared(load(find_dumps(file, None), Local(target), state=TransferState(path)))[
            "things"
        ].is_equal


def test_the_segments_of_the_first_run_stay(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        interrupted(source, target, path)
        found = compared(copy(Local(source), Local(target), state=TransferState(path), segments=7))
        assert found["things"].is_equal


def test_the_state_of_another_transfer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    TransferState(path, "a.db", "b.db", None).save()
    TransferState(path, "a.db", "b.db", None)
    for other in (("c.db", "b.db", None), ("a.db", "c.db", None), ("a.db", "b.db", "things")):
        with pytest.raises(TransferRefused, match=r"another transfer, from a\.db to b\.db"):
            TransferState(path, *other)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"source": 1}', "notes\n"])
def test_a_file_that_is_no_state_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(TransferRefused, match="not the state of a transfer"):
        TransferState(path)
    assert path.read_text() == text


KILLED = """
import os, signal, sys
from tablewright.cli import main
from tablewright.engine import bulk
from tablewright.transfer import rows

left, put = int(sys.argv.pop(1)), bulk._put_keyed

def killing(schema, keyed, context):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    put(schema, keyed, context)

bulk._put_keyed, bulk.MAX_STEP_ROWS, rows.MAX_SORTED_BYTES = killing, 25, 8500
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "batches"), [("copy", 0), ("copy", 1), ("copy", 30), ("load", 1), ("load", 20)]
)
def test_a_killed_process_goes_on(tmp_path: Path, command: str, batches: int) -> None:
    """As often as it is killed, after so many transactions each time."""
    count = 25 * max(3 * batches, 3)
    source = things_in(tmp_path / "a.db", count)
    target = tmp_path / "b.db"
    first: list[str | Path] = [command, source, target]
    if command == "load":
        with Engine(source) as engine:
            compared(dump(Local(engine), tmp_path / "a.json.gz"))
        first = [command, tmp_path / "a.json.gz", target]
    program = [sys.executable, "-c", KILLED]
    for _ in range(2):
        killed = subprocess.run([*program, str(batches), *map(str, first)], timeout=60, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert (tmp_path / f"b.db.{command}.json").exists()
    subprocess.run(
        [*program, "1000000", *map(str, first)], timeout=60, check=True, capture_output=True
    )
    assert not list(tmp_path.glob("*.json"))
    with Engine(source) as one, Engine(target) as other:
        assert held(one) == held(other)
        assert not other.check().problems


def test_the_state_is_never_ahead_of_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every save, what it says to be written can be read at the target."""
    monkeypatch.setattr(state, "SAVE_SECONDS", 0.0)
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, things(COUNT))
        path = tmp_path / "state.json"
        seen = 0
        for _ in copy(Local(source), Local(target), state=TransferState(path), segments=3):
            if path.exists():
                known = TransferState(path).tables["things"].items
                assert known <= len(held(target))
                seen = max(seen, known)
        assert seen == COUNT
