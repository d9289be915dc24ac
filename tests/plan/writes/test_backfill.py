from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, explain, index, key, put
from tablewright.backoff import Backoff
from tablewright.errors import (
    Contention,
    DeclarationError,
    InvalidValue,
    ProvisionedThroughputExceededException,
    UnreadableItem,
)
from tablewright.mapping.item_kind import record_key
from tablewright.plan.backfill import throttling
from tablewright.plan.plan import run
from tablewright.plans import Backfill, BackfillProgress, backfill
from tablewright.transport import Response
from tablewright.transport.targets import Local


class Early(Table, name="things"):
    by_kind = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class ThingFields(Entity):
    thing_id: Attr[str] = attr()
    kind: Attr[str | None] = attr(default=None)
    owner: Attr[str] = attr(default="ann")
    primary = key("THING" / thing_id, "THING")


class EarlyThing(ThingFields, table=Early, type_name="Thing"): ...


class Other(Entity, table=Early):
    other_id: Attr[str] = attr()
    primary = key("OTHER" / other_id, "OTHER")


class Late(Table, name="things"):
    by_kind = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class Thing(ThingFields, table=Late, type_name="Thing"):
    by_kind = index(Late.by_kind, "KIND" / ThingFields.kind, "THING" / ThingFields.thing_id)
    by_owner = index(Late.by_owner, "OWNER" / ThingFields.owner, "THING" / ThingFields.thing_id)


@pytest.fixture
def engine() -> Engine:
    return fill(Engine(":memory:"))


def fill(engine: Engine) -> Engine:
    early = connect(engine, Early)
    for number in range(30):
        kind = "tool" if number % 2 else None
        early.run(put(EarlyThing(thing_id=f"{number:02}", kind=kind)))
    early.run(put(Other(other_id="1")))
    return engine


def test_items_from_before_an_index_get_its_keys(engine: Engine) -> None:
    db = connect(engine, Late)
    assert list(db.run(Thing.by_owner("ann"))) == []
    assert db.run(backfill(Thing)) == 30
    assert len(db.run(Thing.by_owner("ann"))) == 30
    assert len(db.run(Thing.by_kind("tool"))) == 15
    assert db.run(backfill(Thing)) == 0
    assert not engine.check().problems


def test_what_is_in_order_is_left_alone(engine: Engine) -> None:
    db = connect(engine, Late)
    db.run(backfill(Thing))
    before = engine.call("Scan", {"TableName": "things"})["Items"]
    db.run(put(Thing(thing_id="new")))
    assert db.run(backfill(Thing)) == 0
    after = engine.call("Scan", {"TableName": "things"})["Items"]
    assert [item for item in after if item["PK"]["S"] != "THING#new"] == before


def test_a_key_that_should_not_be_there_is_taken_away(engine: Engine) -> None:
    db = connect(engine, Late)
    item: dict[str, Any] = Thing.__entity__.encode(vars(Thing(thing_id="x", kind=None)))
    stale = {**item, "GSI1PK": {"S": "KIND#old"}, "GSI1SK": {"S": "THING#x"}}
    engine.call("PutItem", {"TableName": "things", "Item": stale})
    assert db.run(backfill(Thing)) == 31
    assert (
        engine.call("GetItem", {"TableName": "things", "Key": Thing.primary("x")._key})["Item"]
        == item
    )


def test_it_reads_the_whole_table_and_says_so() -> None:
    shape = explain(backfill(Thing))
    assert shape.operation == "Scan + UpdateItem"
    assert shape.read_range.most("read") == "1 read and 100 for each item"


def test_what_is_no_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"takes an entity, .* not <class 'int'>"):
        backfill(int)
    with pytest.raises(DeclarationError, match=r"no index 'by_knd'; did you mean 'by_kind'\?"):
        backfill(Thing, indexes=["by_knd"])


# -- what happens at the same time -----------------------------------------------------------------

Send = Callable[[str, dict[str, Any]], Response]
PAGE = 7


def in_pages(engine: Engine) -> Send:
    """Send requests to an engine; a Scan returns a few items."""
    local = Local(engine)

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "Scan":
            request = request | {"Limit": PAGE}
        return local.send(operation, request)

    return send


def run_with(send: Send, engine: Engine, plan: Backfill) -> int:
    return run(plan, connect(engine, Late)._context, send)


def item(engine: Engine, thing_id: str) -> dict[str, Any]:
    found: dict[str, Any] = engine.call(
        "GetItem", {"TableName": "things", "Key": Thing.primary(thing_id)._key}
    )["Item"]
    return found


def test_a_write_between_read_and_write_is_kept(engine: Engine) -> None:
    """The other writer gives an attribute that the item did not have, and its key."""
    other, local = connect(engine, Late), Local(engine)
    written: list[Thing] = []

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateItem" and request["Key"] == Thing.primary("00")._key and not written:
            written.append(other.run(Thing.primary("00").update(Thing.kind.set("book"))))
        return local.send(operation, request)

    assert (
        run_with(send, engine, backfill(Thing)) == 30
    )  # an update writes the keys that it changes
    assert item(engine, "00") == Thing.__entity__.encode(vars(written[0]))
    assert [thing.thing_id for thing in other.run(Thing.by_kind("book"))] == ["00"]


def test_a_write_of_the_older_version_in_between_gets_its_keys(engine: Engine) -> None:
    early, local = connect(engine, Early), Local(engine)
    written: list[EarlyThing] = []

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateItem" and request["Key"] == Thing.primary("00")._key and not written:
            written.append(early.run(put(EarlyThing(thing_id="00", kind="book", owner="bob"))))
        return local.send(operation, request)

    assert run_with(send, engine, backfill(Thing)) == 30
    assert item(engine, "00")["GSI2PK"] == {"S": "OWNER#bob"}


def test_an_item_that_is_deleted_in_between_stays_deleted(engine: Engine) -> None:
    other, local = connect(engine, Late), Local(engine)

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateItem" and request["Key"] == Thing.primary("00")._key:
            other.run(Thing.primary("00").delete())
        return local.send(operation, request)

    assert run_with(send, engine, backfill(Thing)) == 29
    assert connect(engine, Late).run(Thing.primary("00")) is None


def test_an_item_that_always_changes_is_reported(engine: Engine) -> None:
    early, local, owners = connect(engine, Early), Local(engine), list(range(100))

    def send(operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateItem" and request["Key"] == Thing.primary("00")._key:
            early.run(put(EarlyThing(thing_id="00", owner=f"o{owners.pop()}")))
        return local.send(operation, request)

    with pytest.raises(Contention, match=r"THING#00.* 20 times in a row; run it again"):
        run_with(send, engine, backfill(Thing))


# -- a run that stops ------------------------------------------------------------------------------


class Stopped(Exception):
    pass


def stop_after(pages: int) -> Callable[[BackfillProgress], None]:
    def report(progress: BackfillProgress) -> None:
        if progress.items >= pages * PAGE:
            raise Stopped

    return report


def scans_of(engine: Engine, plan: Backfill) -> tuple[int, int]:
    """Return the result of a backfill, and how many pages it has read."""
    send, pages = in_pages(engine), []

    def counting(operation: str, request: dict[str, Any]) -> Response:
        pages.append(operation)
        return send(operation, request)

    return run_with(counting, engine, plan), pages.count("Scan")


def test_a_run_that_was_stopped_is_continued(engine: Engine) -> None:
    with pytest.raises(Stopped):
        run_with(in_pages(engine), engine, backfill(Late, progress=stop_after(3)))
    changed, pages = scans_of(engine, backfill(Late))
    assert (0 < changed < 30, pages) == (True, 3)  # of 5 pages; the third is read again
    assert len(connect(engine, Late).run(Thing.by_owner("ann"))) == 30
    assert scans_of(engine, backfill(Late)) == (0, 5)


def test_a_run_for_other_keys_starts_from_the_beginning(engine: Engine) -> None:
    for plan in (backfill(Late, indexes=["by_kind"]), backfill(Late, restart=True)):
        with pytest.raises(Stopped):
            run_with(in_pages(engine), engine, backfill(Late, progress=stop_after(2)))
        assert scans_of(engine, plan)[1] == 5


@pytest.mark.parametrize("other", [{"restart": True}, {"indexes": ["by_kind"]}])
def test_a_run_that_starts_from_the_beginning_ends_the_one_before(
    engine: Engine, other: dict[str, Any]
) -> None:
    with pytest.raises(Stopped):
        run_with(in_pages(engine), engine, backfill(Late, progress=stop_after(3)))
    with pytest.raises(Stopped):
        run_with(in_pages(engine), engine, backfill(Late, progress=stop_after(1), **other))

    assert scans_of(engine, backfill(Late))[1] == 5


def test_a_run_is_not_continued_after_another_design_has_changed_its_keys(engine: Engine) -> None:
    """The backfill of the other design was killed before it read a page."""
    context, seen = connect(engine, Late)._context, list[BackfillProgress]()
    with pytest.raises(Stopped):
        run(backfill(Late, progress=stop_after(3)), context, in_pages(engine))
    change = {
        "UpdateExpression": "SET #key = :changed",
        "ExpressionAttributeNames": {"#key": "$index by_kind Thing"},
        "ExpressionAttributeValues": {":changed": {"S": "GSI1PK=SORT#{kind}"}},
    }
    engine.call("UpdateItem", {"TableName": "things", "Key": record_key(Late.__table__)} | change)

    run(backfill(Late, progress=seen.append), context, in_pages(engine))

    assert len(seen) == 5


KILLED = """
import os, signal, sys
from tests.plan.writes.test_backfill import Late, in_pages, run_with
from tablewright import Engine
from tablewright.plans import backfill

def die(progress):
    if progress.items > 14:
        os.kill(os.getpid(), signal.SIGKILL)

engine = Engine(sys.argv[1])
run_with(in_pages(engine), engine, backfill(Late, progress=die))
"""


@pytest.mark.slow
def test_a_run_that_was_killed_is_continued(tmp_path: Path) -> None:
    file = tmp_path / "things.db"
    fill(Engine(file)).close()
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", KILLED, str(file)], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    with Engine(file) as survivor:
        db = connect(survivor, Late)
        changed, pages = scans_of(survivor, backfill(Late))
        assert (0 < changed < 30, pages) == (True, 3)
        assert len(db.run(Thing.by_owner("ann"))) == 30
        assert scans_of(survivor, backfill(Late)) == (0, 5)
        assert survivor.check()


def test_a_dry_run_writes_nothing_and_says_how_many(engine: Engine) -> None:
    before = engine.call("Scan", {"TableName": "things"})["Items"]
    told: list[BackfillProgress] = []
    db = connect(engine, Late)
    assert db.run(backfill(Late, dry_run=True, progress=told.append)) == 30
    assert told == [BackfillProgress("things", 31, 30, 31)]
    assert engine.call("Scan", {"TableName": "things"})["Items"] == before


def test_one_index_gets_its_keys_and_no_other(engine: Engine) -> None:
    db = connect(engine, Late)
    assert db.run(backfill(Late, indexes=["by_kind"])) == 15
    assert "GSI2PK" not in item(engine, "01")
    assert db.run(backfill(Late, indexes=["by_owner"])) == 30


def test_an_item_that_cannot_be_read_is_named(engine: Engine) -> None:
    broken = {"PK": {"S": "THING#x"}, "SK": {"S": "THING"}, "type": {"S": "Thing"}}
    broken |= {"thing_id": {"S": "x"}, "owner": {"N": "5"}}
    engine.call("PutItem", {"TableName": "things", "Item": broken})
    with pytest.raises(UnreadableItem, match=r'owner.*the item with PK="THING#x", SK="THING"'):
        connect(engine, Late).run(backfill(Thing))


def test_a_key_that_is_too_long_is_named(engine: Engine) -> None:
    early = connect(engine, Early)
    early.run(put(EarlyThing(thing_id="x", owner="o" * 3000)))
    with pytest.raises(InvalidValue, match=r'the item with PK="THING#x", SK="THING": '):
        connect(engine, Late).run(backfill(Thing))


def test_fewer_requests_are_sent_at_once_after_one_was_throttled() -> None:
    pace = throttling.Pace()
    threads = []
    for is_throttled in (False, True, True, False):
        if is_throttled:
            pace.slow_down()
        pace.adjust()
        threads.append(pace.threads)
    assert threads == [8, 4, 2, 3]


def test_throttled_requests_are_sent_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "THROTTLED", Backoff(attempts=5, first=0.0, longest=0.0))
    local = Local(engine)
    failures: dict[str, int] = dict.fromkeys(("Scan", "GetItem", "UpdateItem"), 4)

    def send(operation: str, request: dict[str, Any]) -> Response:
        if failures.get(operation, 0):
            failures[operation] -= 1
            raise ProvisionedThroughputExceededException("slow down")
        return local.send(operation, request)

    assert run_with(send, engine, backfill(Late)) == 30
    assert not any(failures.values())
    failures["Scan"] = 5
    with pytest.raises(ProvisionedThroughputExceededException):
        run_with(send, engine, backfill(Late))
