"""What is written in a sandbox is undone when it ends, for all threads and for the catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine, maintenance
from tablewright.engine.realism import Realism
from tablewright.errors import (
    ConditionalCheckFailedException,
    ResourceNotFoundException,
    StoreBusy,
    StoreFailed,
)
from tablewright.server import serving
from tests.engine.database import Json, definitions, index_request, item, table_request
from tests.server.http import sdk_client
from tests.storage.forks import in_child


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, path: Path) -> Iterator[Engine]:
    """An engine with the table `things` and the item `kept`."""
    where = path if request.param == "file" else ":memory:"
    with Engine(where, durability="normal", background=False) as engine:
        create(engine, "things")
        put(engine, "kept", n=1)
        yield engine
        assert keys_of(engine) == ["kept"]
        assert engine.call("ListTables")["TableNames"] == ["things"]
        assert engine.check().problems == []


def create(engine: Engine, name: str, **more: Any) -> None:
    engine.call("CreateTable", table_request(name, "pk:S", **more))


def put(engine: Engine, key: str, table: str = "things", **attributes: Any) -> None:
    engine.call("PutItem", {"TableName": table, "Item": item(pk=key, **attributes)})


def get(engine: Engine, key: str, table: str = "things") -> Json | None:
    answer = engine.call("GetItem", {"TableName": table, "Key": item(pk=key)})
    return answer.get("Item")


def keys_of(engine: Engine, table: str = "things") -> list[str]:
    return sorted(one["pk"]["S"] for one in engine.call("Scan", {"TableName": table})["Items"])


def add_index(engine: Engine) -> None:
    engine.call(
        "UpdateTable",
        {
            "TableName": "things",
            "AttributeDefinitions": definitions("n:N"),
            "GlobalSecondaryIndexUpdates": [{"Create": index_request("by_n", "n:N")}],
        },
    )


def test_writes_are_seen_inside_and_undone_at_the_end(engine: Engine) -> None:
    with engine.sandbox():
        put(engine, "new")
        put(engine, "kept", n=2)
        assert keys_of(engine) == ["kept", "new"]
        engine.call("DeleteItem", {"TableName": "things", "Key": item(pk="kept")})
        assert keys_of(engine) == ["new"]
    assert get(engine, "kept") == item(pk="kept", n=1)


def test_an_exception_undoes_the_writes_and_is_raised(engine: Engine) -> None:
    def fail() -> None:
        with engine.sandbox():
            put(engine, "new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_a_refused_write_leaves_the_others_of_the_sandbox(engine: Engine) -> None:
    with engine.sandbox():
        put(engine, "new")
        with pytest.raises(ConditionalCheckFailedException):
            engine.call(
                "PutItem",
                {
                    "TableName": "things",
                    "Item": item(pk="kept"),
                    "ConditionExpression": "attribute_not_exists(pk)",
                },
            )
        assert keys_of(engine) == ["kept", "new"]


def test_tables_created_deleted_and_changed_are_as_before(engine: Engine) -> None:
    with engine.sandbox():
        create(engine, "more")
        put(engine, "x", "more")
        add_index(engine)
        assert len(engine.call("Scan", {"TableName": "things", "IndexName": "by_n"})["Items"]) == 1
        engine.call("DeleteTable", {"TableName": "things"})
        with pytest.raises(ResourceNotFoundException):
            get(engine, "kept")
    with pytest.raises(ResourceNotFoundException):
        get(engine, "x", "more")
    described = engine.call("DescribeTable", {"TableName": "things"})["Table"]
    assert "GlobalSecondaryIndexes" not in described
    # The next table gets the tree of the undone one; no cached catalog may still know that.
    create(engine, "other")
    with pytest.raises(ResourceNotFoundException):
        get(engine, "x", "more")
    engine.call("DeleteTable", {"TableName": "other"})


def test_writes_after_a_sandbox_stay(engine: Engine) -> None:
    with engine.sandbox():
        put(engine, "new")
    put(engine, "later")
    assert keys_of(engine) == ["kept", "later"]
    engine.call("DeleteItem", {"TableName": "things", "Key": item(pk="later")})


def test_nested_sandboxes_end_one_by_one(engine: Engine) -> None:
    with engine.sandbox():
        put(engine, "outer")
        with engine.sandbox():
            put(engine, "inner")
            create(engine, "more")
            assert keys_of(engine) == ["inner", "kept", "outer"]
        assert keys_of(engine) == ["kept", "outer"]
        with pytest.raises(ResourceNotFoundException):
            get(engine, "x", "more")
        create(engine, "more", glob={"by_n": ("n:N", "ALL")})
        assert keys_of(engine, "more") == []


def test_a_sandbox_that_ends_ends_those_inside_it(engine: Engine) -> None:
    outer, inner = engine.sandbox(), engine.sandbox()
    outer.__enter__()
    inner.__enter__()
    put(engine, "new")
    outer.__exit__(None, None, None)
    assert keys_of(engine) == ["kept"]
    inner.__exit__(None, None, None)


def test_all_threads_see_and_share_the_sandbox(engine: Engine) -> None:
    with ThreadPoolExecutor(1) as other:
        assert other.submit(get, engine, "new").result() is None
        with engine.sandbox():
            put(engine, "new")
            assert other.submit(get, engine, "new").result() == item(pk="new")
            other.submit(put, engine, "newer").result()
            assert keys_of(engine) == ["kept", "new", "newer"]
        assert other.submit(get, engine, "new").result() is None


def test_a_served_engine_has_sandboxes(engine: Engine) -> None:
    with serving(engine) as url:
        client = sdk_client(url)
        with engine.sandbox():
            client.put_item(TableName="things", Item=item(pk="new"))
            client.create_table(**table_request("more", "pk:S"))
            client.get_waiter("table_exists").wait(TableName="more")
            assert client.get_item(TableName="things", Key=item(pk="new"))["Item"]
            assert client.scan(TableName="more")["Items"] == []
        assert "Item" not in client.get_item(TableName="things", Key=item(pk="new"))
        with pytest.raises(client.exceptions.ResourceNotFoundException):
            client.scan(TableName="more")
        client.close()


def test_background_work_in_a_sandbox_is_undone_and_done_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 3)
    with engine.sandbox():
        for number in range(10):
            put(engine, f"k{number}", n=number)
        add_index(engine)
        engine.maintain()
        with engine.sandbox():
            engine.finish_maintenance()
            by_n = {"TableName": "things", "IndexName": "by_n"}
            assert len(engine.call("Scan", by_n)["Items"]) == 11
        engine.finish_maintenance()
        assert len(engine.call("Scan", by_n)["Items"]) == 11
        assert engine.check().problems == []


def test_a_large_table_deleted_in_a_sandbox_is_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 3)
    with engine.sandbox():
        for number in range(10):
            put(engine, f"k{number}")
        with engine.sandbox():
            engine.call("DeleteTable", {"TableName": "things"})
            engine.finish_maintenance()
        assert len(keys_of(engine)) == 11


def test_expiry_in_a_sandbox_is_undone(engine: Engine) -> None:
    with engine.sandbox():
        ttl = {"AttributeName": "until", "Enabled": True}
        engine.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": ttl})
        put(engine, "old", until=1000)
        with engine.sandbox():
            assert engine.expire(now=2000) == 1
            assert get(engine, "old") is None
        assert get(engine, "old") is not None


def test_the_delays_of_undone_changes_are_forgotten() -> None:
    with Engine(":memory:") as engine:
        create(engine, "things")
        engine.make_realistic(Realism(control_seconds=60))
        with engine.sandbox():
            engine.call("DeleteTable", {"TableName": "things"})
        described = engine.call("DescribeTable", {"TableName": "things"})["Table"]
        assert described["TableStatus"] == "ACTIVE"
        put(engine, "new")


def test_other_engines_wait_and_read_the_state_before(path: Path) -> None:
    with Engine(path) as engine, Engine(path, busy_seconds=0.01) as other:
        create(engine, "things")
        put(engine, "kept")
        with engine.sandbox():
            put(engine, "new")
            assert keys_of(other) == ["kept"]
            with pytest.raises(StoreBusy):
                put(other, "theirs")
            with pytest.raises(StoreBusy), other.sandbox():
                pass
        put(other, "theirs")
        assert keys_of(engine) == ["kept", "theirs"]
        with engine.sandbox():
            assert keys_of(engine) == ["kept", "theirs"]


def test_a_catalog_changed_elsewhere_before_the_sandbox_is_known_in_it(path: Path) -> None:
    with Engine(path) as engine, Engine(path) as other:
        create(other, "things")
        with engine.sandbox():
            put(engine, "new")
        assert keys_of(other) == []


def test_copies_of_the_file_are_refused_in_a_sandbox(engine: Engine, tmp_path: Path) -> None:
    with engine.sandbox():
        with pytest.raises(StoreFailed, match="cannot back up the file in a sandbox"):
            engine.back_up(tmp_path / "copy.db")
        with pytest.raises(StoreFailed, match="cannot compact the file in a sandbox"):
            engine.compact()
    engine.back_up(tmp_path / "copy.db")


def test_an_engine_closed_in_a_sandbox_keeps_nothing(path: Path) -> None:
    with Engine(path) as engine:
        create(engine, "things")
        with engine.sandbox():
            put(engine, "new")
            engine.close()
    with Engine(path) as engine:
        assert keys_of(engine) == []


def test_a_forked_process_does_not_end_the_sandbox(engine: Engine) -> None:
    sandbox = engine.sandbox()

    def leave() -> list[str]:
        sandbox.__exit__(None, None, None)
        return ["left"]

    sandbox.__enter__()
    put(engine, "new")
    assert in_child(leave) == ["left"]
    assert keys_of(engine) == ["kept", "new"]
    sandbox.__exit__(None, None, None)


def test_a_write_after_the_transaction_was_lost_is_refused(engine: Engine) -> None:
    """SQLite ends a transaction itself when, for example, the disk is full."""
    with engine.sandbox():
        put(engine, "new")
        engine._store._writer.execute("ROLLBACK")
        with pytest.raises(StoreFailed, match="the sandbox was lost"):
            put(engine, "newer")


def test_unchanged_tables_are_not_made_again(engine: Engine) -> None:
    """A catalog that is read again, after a new table or a sandbox, keeps the tables it knows."""
    keys_of(engine)
    known = engine._catalog.tables["things"]
    with engine.sandbox():
        create(engine, "more")
        engine.call("Scan", {"TableName": "more"})
        assert engine._catalog.tables["things"] is known
    keys_of(engine)
    assert engine._catalog.tables["things"] is known


def test_a_changed_table_is_as_before_after_the_sandbox(engine: Engine) -> None:
    def is_protected() -> bool:
        table = engine.call("DescribeTable", {"TableName": "things"})["Table"]
        return bool(table["DeletionProtectionEnabled"])

    with engine.sandbox():
        engine.call("UpdateTable", {"TableName": "things", "DeletionProtectionEnabled": True})
        assert is_protected()
    assert not is_protected()
