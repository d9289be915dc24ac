"""Indexes are built, and deleted rows removed, in steps that leave room for other requests."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablewright.engine import Engine, maintenance
from tablewright.errors import (
    LimitExceededException,
    ResourceInUseException,
    ResourceNotFoundException,
    ValidationException,
)
from tests.engine.database import Json, definitions, index_request, item, table_request, values
from tests.storage.forks import in_child, name_of_error

ROWS = 10
STEPS = 4  # of three rows each


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, path: Path) -> Iterator[Engine]:
    """An engine that does background work when it is called, with a table of ten items."""
    where = path if request.param == "file" else ":memory:"
    with Engine(where, durability="normal", background=False) as engine:
        fill(engine)
        yield engine
        assert engine.check().problems == []


def fill(engine: Engine, name: str = "things", **more: Any) -> None:
    engine.call("CreateTable", table_request(name, "pk:S", **more))
    for number in range(ROWS):
        put(engine, number, name, g="red", n=number)


def put(engine: Engine, number: int, name: str = "things", **attributes: Any) -> None:
    thing = item(pk=f"k{number}", **attributes)
    engine.call("PutItem", {"TableName": name, "Item": thing})


def create(engine: Engine, index: str = "glob", keys: str = "g:S") -> Json:
    changes = [{"Create": index_request(index, keys)}]
    return update(
        engine, AttributeDefinitions=definitions(keys), GlobalSecondaryIndexUpdates=changes
    )


def delete(engine: Engine, index: str = "glob") -> Json:
    return update(engine, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": index}}])


def update(engine: Engine, **changes: Any) -> Json:
    answer = engine.call("UpdateTable", {"TableName": "things", **changes})
    description: Json = answer["TableDescription"]
    return description


def described(engine: Engine) -> Json:
    description: Json = engine.call("DescribeTable", {"TableName": "things"})["Table"]
    return description


def states(description: Json) -> dict[str, tuple[str, bool | None]]:
    return {
        index["IndexName"]: (index["IndexStatus"], index.get("Backfilling"))
        for index in description.get("GlobalSecondaryIndexes", ())
    }


def found(engine: Engine, index: str | None = "glob", name: str = "things") -> dict[str, Json]:
    """The items of a table or an index, by key."""
    where = {} if index is None else {"IndexName": index}
    items = engine.call("Scan", {"TableName": name, **where})["Items"]
    assert len({one["pk"]["S"] for one in items}) == len(items)
    return {one["pk"]["S"]: one for one in items}


def trees(path: Path) -> set[str]:
    with closing(apsw.Connection(str(path))) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}


def background_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "tablewright-maintenance"]


# -- building an index


def test_an_index_of_a_small_table_is_ready_with_the_call(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", ROWS + 1)
    create(engine)
    assert states(described(engine)) == {"glob": ("ACTIVE", None)}
    assert not engine.maintain()


@pytest.mark.parametrize("step_rows", [3, ROWS + 1])
def test_the_answer_says_that_the_index_is_being_created(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, step_rows: int
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", step_rows)
    answer = create(engine)
    assert answer["TableStatus"] == "UPDATING"
    assert states(answer) == {"glob": ("CREATING", False)}
    assert answer["ItemCount"] == ROWS


def test_an_index_that_is_being_built_is_described_as_such(engine: Engine) -> None:
    create(engine)
    assert described(engine)["TableStatus"] == "ACTIVE"
    assert states(described(engine)) == {"glob": ("CREATING", True)}


def test_an_index_becomes_active_with_its_last_step(engine: Engine) -> None:
    create(engine)
    seen = []
    while engine.maintain():
        seen.append(states(described(engine))["glob"])
    assert seen == [("CREATING", True)] * (STEPS - 1) + [("ACTIVE", None)]
    assert found(engine) == found(engine, None)


def test_a_step_is_bounded_in_bytes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 1000)
    monkeypatch.setattr(maintenance, "MAX_STEP_BYTES", 1)
    create(engine)
    steps = 0
    while engine.maintain():
        steps += 1
    assert steps == ROWS + 1  # a row each, and one that finds no more
    assert found(engine) == found(engine, None)


@pytest.mark.parametrize("chunk_bytes", [1, 1000])
def test_an_index_is_built_from_many_chunks(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(maintenance, "MAX_CHUNK_BYTES", chunk_bytes)
    for number in range(50):
        put(engine, number, g=f"g{number % 7}")
    create(engine)
    while engine.maintain():
        assert engine.check().problems == []
    assert states(described(engine)) == {"glob": ("ACTIVE", None)}
    assert found(engine) == found(engine, None)


def test_an_index_without_any_of_the_items_becomes_active(engine: Engine) -> None:
    create(engine, keys="missing:S")
    engine.finish_maintenance()
    assert states(described(engine)) == {"glob": ("ACTIVE", None)}
    assert found(engine) == {}


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_an_index_that_is_being_built_cannot_be_read(engine: Engine, operation: str) -> None:
    create(engine)
    request: Json = {"TableName": "things", "IndexName": "glob"}
    if operation == "Query":
        request["KeyConditionExpression"] = "g = :g"
        request["ExpressionAttributeValues"] = values(g="red")
    message = "^Cannot read from backfilling global secondary index: glob$"
    with pytest.raises(ValidationException, match=message):
        engine.call(operation, request)
    engine.finish_maintenance()
    assert engine.call(operation, request)["Count"] == ROWS


def test_reads_and_writes_between_the_steps_are_served_and_reach_the_index(engine: Engine) -> None:
    create(engine)
    turn = 0
    while True:
        put(engine, turn, g="blue", n=turn)  # items before and after the position
        put(engine, 100 + turn, g="new")
        engine.call("DeleteItem", {"TableName": "things", "Key": item(pk=f"k{ROWS - 1 - turn}")})
        assert len(found(engine, None)) == ROWS
        assert engine.check().problems == []
        turn += 1
        if not engine.maintain():
            break
    assert turn == STEPS + 1
    assert found(engine) == found(engine, None)


def test_a_write_must_fit_an_index_that_is_being_built(engine: Engine) -> None:
    create(engine)
    with pytest.raises(ValidationException, match="Type mismatch for Index Key g"):
        put(engine, 1, g=1)


UNFIT = [item(g=1), item(g=""), item(g="x" * 2049, h=1), item(g="x", h="1"), item(g="x")]


@pytest.mark.parametrize("unfit", UNFIT, ids=["type", "empty", "long", "sort key's type", "none"])
def test_items_that_do_not_fit_are_left_out(engine: Engine, unfit: Json) -> None:
    for number in (0, 4, 9):
        engine.call("PutItem", {"TableName": "things", "Item": item(pk=f"k{number}") | unfit})
    for number in (1, 5):
        put(engine, number, g="red", h=number)
    create(engine, keys="g:S / h:N")
    engine.finish_maintenance()
    assert found(engine).keys() == {"k1", "k5"}


def test_an_item_left_out_can_be_updated_and_comes_in_once_it_fits(engine: Engine) -> None:
    put(engine, 0, g="x" * 2049)
    create(engine)
    engine.finish_maintenance()
    change: Json = {"TableName": "things", "Key": item(pk="k0")}
    request = change | {
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": values(v=1),
    }
    engine.call("UpdateItem", request)
    assert "k0" not in found(engine)
    request = change | {
        "UpdateExpression": "SET g = :v",
        "ExpressionAttributeValues": values(v="red"),
    }
    engine.call("UpdateItem", request)
    assert found(engine)["k0"] == item(pk="k0", g="red", v=1)


def test_a_start_key_that_is_too_long_for_the_index_is_refused(engine: Engine) -> None:
    create(engine)
    engine.finish_maintenance()
    start = item(pk="a", g="x" * 2049)
    with pytest.raises(ValidationException, match="Size of hashkey has exceeded"):
        engine.call(
            "Scan", {"TableName": "things", "IndexName": "glob", "ExclusiveStartKey": start}
        )


# -- what may be changed meanwhile


def test_no_other_index_is_created_meanwhile(engine: Engine) -> None:
    create(engine)
    with pytest.raises(LimitExceededException, match="Only 1 online index can be created"):
        create(engine, "more", "n:N")
    engine.finish_maintenance()
    create(engine, "more", "n:N")
    engine.finish_maintenance()
    assert states(described(engine)).keys() == {"glob", "more"}


def test_no_other_index_is_deleted_meanwhile(engine: Engine) -> None:
    create(engine)
    engine.finish_maintenance()
    create(engine, "more", "n:N")
    with pytest.raises(LimitExceededException, match="Only 1 online index can be created"):
        delete(engine)


def test_the_index_itself_can_be_deleted(engine: Engine) -> None:
    create(engine)
    assert states(delete(engine)) == {"glob": ("DELETING", True)}
    assert "GlobalSecondaryIndexes" not in described(engine)
    put(engine, 1, g=1)
    engine.finish_maintenance()
    create(engine, keys="n:N")
    engine.finish_maintenance()
    assert len(found(engine)) == ROWS - 1


def test_the_table_cannot_be_deleted(engine: Engine) -> None:
    create(engine)
    with pytest.raises(ResourceInUseException) as refused:
        engine.call("DeleteTable", {"TableName": "things"})
    assert refused.value.message == (
        "Attempt to change a resource which is still in use: "
        "Cannot delete table while indexes are being created, updated, or deleted."
    )
    engine.finish_maintenance()
    engine.call("DeleteTable", {"TableName": "things"})


def test_settings_changed_meanwhile_are_kept(engine: Engine) -> None:
    create(engine)
    update(engine, DeletionProtectionEnabled=True)
    limits = {"MaxReadRequestUnits": 3, "MaxWriteRequestUnits": 4}
    change = {"Update": {"IndexName": "glob", "OnDemandThroughput": limits}}
    update(engine, GlobalSecondaryIndexUpdates=[change])
    assert states(described(engine)) == {"glob": ("CREATING", True)}
    engine.finish_maintenance()
    description = described(engine)
    assert description["DeletionProtectionEnabled"]
    assert description["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] == limits


# -- deleting


def test_a_deleted_table_is_gone_before_its_rows_are(engine: Engine) -> None:
    answer = engine.call("DeleteTable", {"TableName": "things"})["TableDescription"]
    assert (answer["TableStatus"], answer["ItemCount"]) == ("DELETING", ROWS)
    with pytest.raises(ResourceNotFoundException):
        found(engine, None)
    steps = 0
    while engine.maintain():
        assert engine.check().problems == []
        steps += 1
    assert steps == STEPS


def test_a_table_of_the_same_name_is_a_new_one(engine: Engine) -> None:
    create(engine)
    engine.finish_maintenance()
    engine.call("DeleteTable", {"TableName": "things"})
    engine.call("CreateTable", table_request("things", "pk:S", glob={"glob": ("n:N", "ALL")}))
    put(engine, 7, n=1)
    assert engine.maintain()
    put(engine, 8, n=1)
    engine.finish_maintenance()
    assert found(engine).keys() == found(engine, None).keys() == {"k7", "k8"}


def test_deleted_rows_leave_nothing_in_the_file(path: Path) -> None:
    with Engine(path, background=False) as engine:
        before = trees(path)
        fill(engine, glob={"glob": ("g:S", "ALL")})
        engine.call("DeleteTable", {"TableName": "things"})
        assert {name for name in trees(path) if name.startswith("retired")}
        engine.finish_maintenance()
        assert trees(path) == before


def test_the_space_of_a_deleted_table_is_used_again(path: Path) -> None:
    def pages() -> int:
        with closing(apsw.Connection(str(path))) as connection:
            return int(connection.pragma("page_count"))

    with Engine(path, durability="normal", background=False) as engine:
        sizes = []
        for _ in range(3):
            engine.call("CreateTable", table_request("things", "pk:S"))
            for number in range(30):
                put(engine, number, text="x" * 20_000)
            sizes.append(pages())
            engine.call("DeleteTable", {"TableName": "things"})
            engine.finish_maintenance()
    assert sizes[0] == sizes[1] == sizes[2]


def test_a_reader_that_knew_the_table_never_sees_it_half_empty(path: Path) -> None:
    with Engine(path, background=False) as engine, Engine(path, background=False) as reader:
        fill(engine)
        assert len(found(reader, None)) == ROWS
        engine.call("DeleteTable", {"TableName": "things"})
        assert engine.maintain()
        with pytest.raises(ResourceNotFoundException):
            found(reader, None)


def test_a_table_is_deleted_from_a_file_in_which_another_is_damaged(path: Path) -> None:
    with Engine(path, background=False) as engine:
        fill(engine, "damaged")
        fill(engine)
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("DROP TABLE tree$2")  # its view stays, and shows nothing
        engine.call("DeleteTable", {"TableName": "things"})
        engine.finish_maintenance()
        assert engine.call("ListTables")["TableNames"] == ["damaged"]


# -- the check


def test_rows_that_are_missing_before_the_position_are_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_CHUNK_BYTES", 1)
    with Engine(path, background=False) as engine:
        fill(engine)
        create(engine)
        assert engine.maintain()  # three rows are entered
        assert engine.maintain()  # the chunk is done
        assert engine.check()
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("DELETE FROM tree$3")
        problems = [str(problem) for problem in engine.check().problems]
        assert len(problems) == 3
        assert all("things/glob" in problem and "is missing" in problem for problem in problems)


def test_rows_of_an_unfinished_index_that_differ_are_reported(path: Path) -> None:
    with Engine(path, background=False) as engine:
        fill(engine)
        create(engine)
        assert engine.maintain()
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("UPDATE tree$3 SET size = size + 1")
        assert len(engine.check().problems) == 3


# -- the thread


def test_the_thread_ends_with_the_work(path: Path) -> None:
    with Engine(path, durability="normal") as engine:
        fill(engine)
        assert background_threads() == []
        create(engine)
        for thread in background_threads():
            thread.join(30)
        assert background_threads() == []
        assert states(described(engine)) == {"glob": ("ACTIVE", None)}
        engine.call("DeleteTable", {"TableName": "things"})
        for thread in background_threads():
            thread.join(30)
        assert not engine.maintain()


def test_an_engine_that_opens_a_file_continues_what_another_left(path: Path) -> None:
    with Engine(path, background=False) as engine:
        fill(engine)
        create(engine)
    with Engine(path) as engine:
        for thread in background_threads():
            thread.join(30)
        assert states(described(engine)) == {"glob": ("ACTIVE", None)}
        assert found(engine) == found(engine, None)
        assert engine.check()


def test_closing_stops_the_thread_and_leaves_the_rest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MIN_PAUSE", 60.0)  # which closing does not wait for
    monkeypatch.setattr(maintenance, "MAX_PAUSE", 60.0)
    with Engine(path) as engine:
        fill(engine)
        create(engine)
        assert len(background_threads()) == 1
    assert background_threads() == []
    with Engine(path, background=False) as engine:
        assert states(described(engine)) == {"glob": ("CREATING", True)}
        assert engine.check()
        engine.finish_maintenance()
        assert found(engine) == found(engine, None)


@pytest.mark.parametrize("chunk_bytes", [1_000_000, 1], ids=["at once", "after steps that succeed"])
def test_a_failure_is_logged_once_and_raised_to_a_caller(
    path: Path, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(maintenance, "MAX_CHUNK_BYTES", chunk_bytes)
    with Engine(path, background=False) as engine:
        fill(engine)
        create(engine)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE tree$2 SET body = 'x' WHERE key = (SELECT max(key) FROM tree$2)")
    logged = threading.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.set()

    handler = Handler()
    logging.getLogger("tablewright.engine").addHandler(handler)
    try:
        with Engine(path) as engine:
            assert logged.wait(30)
            with pytest.raises(Exception, match=r"malformed|damaged"):
                engine.finish_maintenance()
            put(engine, 100, g="red")  # the rest of the database is in use
            assert states(described(engine)) == {"glob": ("CREATING", True)}
    finally:
        logging.getLogger("tablewright.engine").removeHandler(handler)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{path}: building an index or deleting a table failed")


def test_a_write_succeeds_though_no_thread_can_be_started(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Engine(path) as engine:
        fill(engine)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        create(engine)
        monkeypatch.undo()
        assert "indexes are not built" in caplog.records[0].getMessage()
        engine.finish_maintenance()
        assert engine.check()


def test_a_forked_child_closes_the_engine_while_the_parent_works(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MIN_PAUSE", 60.0)
    monkeypatch.setattr(maintenance, "MAX_PAUSE", 60.0)
    with Engine(path) as engine:
        fill(engine)
        create(engine)
        told = in_child(
            lambda: [
                name_of_error(lambda: put(engine, 1)),
                name_of_error(engine.maintain),
                name_of_error(engine.close),
            ]
        )
        assert told == ["StoreForked", "StoreForked", "nothing"]
        engine.finish_maintenance()
        assert engine.check()


# -- the sweep


def test_a_sweep_goes_through_many_steps(engine: Engine) -> None:
    specification = {"AttributeName": "until", "Enabled": True}
    request = {"TableName": "things", "TimeToLiveSpecification": specification}
    engine.call("UpdateTimeToLive", request)
    create(engine)
    for number in range(0, 40, 2):
        put(engine, number, g="red", until=1000)
    assert engine.expire(now=1001) == 20
    engine.finish_maintenance()
    assert found(engine) == found(engine, None)
    assert found(engine).keys() == {"k1", "k3", "k5", "k7", "k9"}


def test_a_sweep_forgets_every_token_that_has_ended(engine: Engine) -> None:
    add = {
        "TableName": "things",
        "Key": item(pk="counter"),
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": values(one=1),
    }
    requests = [
        {"TransactItems": [{"Update": add}], "ClientRequestToken": token} for token in "abcdefg"
    ]

    def send_all() -> str:
        for request in requests:
            engine.call("TransactWriteItems", request)
        count: str = found(engine, None)["counter"]["n"]["N"]
        return count

    assert send_all() == "7"
    engine.expire(now=0)
    assert send_all() == "7"  # they are known
    engine.expire(now=10**10)
    assert send_all() == "14"
