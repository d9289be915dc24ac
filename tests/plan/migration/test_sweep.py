"""A sweep beside other programs: nothing is lost, overwritten or resurrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import Engine
from tablewright.errors import (
    Contention,
    MigrationRefused,
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
)
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import (
    PAIRS,
    RECORDS,
    Send,
    drive,
    in_pages,
    items,
    migration,
    sending,
    stored,
)

PAIR = PAIRS["index key changed"]
KEY = {"PK": {"S": "THING#t1"}, "SK": {"S": "THING"}}


def change(engine: Engine, expression: str, **values: str) -> None:
    body = {"TableName": "things", "Key": KEY, "UpdateExpression": expression}
    texts = {f":{name}": {"S": value} for name, value in values.items()}
    engine.call("UpdateItem", body | {"ExpressionAttributeValues": texts})


def before_write(engine: Engine, act: Callable[[], object], times: int = 1) -> Send:
    """Return a function that acts before the first transactions are sent."""
    left = times

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal left
        if operation == "TransactWriteItems" and left:
            left -= 1
            act()
        return sending(engine)(operation, body)

    return send


def stored_thing(engine: Engine) -> dict[str, Any]:
    found: dict[str, Any] = engine.call("GetItem", {"TableName": "things", "Key": KEY})
    item: dict[str, Any] = found.get("Item", {})
    return item


def test_an_item_that_was_changed_since_it_was_read_is_computed_again() -> None:
    engine = stored(PAIR)
    send = before_write(engine, lambda: change(engine, "SET email = :e", e="new@x"))
    report = drive(migration("apply", PAIR.new), send)
    assert stored_thing(engine)["G1SK"] == {"S": "new@x"}
    assert report.changed == len(RECORDS)


def test_an_item_that_was_deleted_since_it_was_read_stays_deleted() -> None:
    engine = stored(PAIR)

    def delete() -> None:
        engine.call("DeleteItem", {"TableName": "things", "Key": KEY})

    drive(migration("apply", PAIR.new), before_write(engine, delete))
    assert stored_thing(engine) == {}
    assert len(items(engine)) == len(RECORDS) - 1


def test_an_attribute_that_the_sweep_does_not_need_may_change() -> None:
    engine = stored(PAIR)
    sent = list[str]()
    inner = before_write(engine, lambda: change(engine, "SET mine = :o", o="mine"))

    def send(operation: str, body: dict[str, Any]) -> bytes:
        sent.append(operation)
        return inner(operation, body)

    drive(migration("apply", PAIR.new), send)
    assert stored_thing(engine)["mine"] == {"S": "mine"}
    assert sent.count("TransactWriteItems") == 1


def test_a_fill_function_sees_the_item_as_it_is() -> None:
    pair = PAIRS["attribute retyped"]
    engine = stored(pair)

    def set_number() -> None:
        values = {":n": {"N": "77"}}
        body = {"TableName": "things", "Key": KEY, "UpdateExpression": "SET n = :n"}
        engine.call("UpdateItem", body | {"ExpressionAttributeValues": values})

    drive(migration("apply", pair.new), before_write(engine, set_number))
    assert stored_thing(engine)["n"] == {"S": "77"}


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError"])
def test_a_cancelled_transaction_is_sent_again(code: str) -> None:
    engine = stored(PAIR)

    def cancel() -> None:
        raise TransactionCanceledException(
            [{"Code": "None"}, {"Code": code}, *[{"Code": "None"}] * 4]
        )

    report = drive(migration("apply", PAIR.new), before_write(engine, cancel, times=3))
    assert report.changed == len(RECORDS)


def test_endless_conflicts_are_reported() -> None:
    engine = stored(PAIR)
    number = iter(range(100))
    send = before_write(
        engine, lambda: change(engine, "SET email = :e", e=f"{next(number)}"), times=100
    )
    with pytest.raises(Contention, match="20 times in a row"):
        drive(migration("apply", PAIR.new), send)
    drive(migration("apply", PAIR.new), engine)


def test_throttled_requests_are_sent_again() -> None:
    engine = stored(PAIR)
    number = 0

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal number
        number += 1
        if number % 3:
            raise ProvisionedThroughputExceededException("too fast")
        return sending(engine)(operation, body)

    waits = list[float]()
    assert drive(migration("apply", PAIR.new), send, waits).changed == len(RECORDS)
    assert waits


def test_items_that_old_programs_write_behind_the_sweep_are_found() -> None:
    engine = stored(PAIR)
    scans = 0

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal scans
        answer = in_pages(sending(engine))(operation, body)
        if operation == "Scan":
            scans += 1
            if scans == 7:  # in the last page of the rewrite
                change(engine, "SET G1SK = :k, email = :e", k="001", e="late@x")
        return answer

    drive(migration("apply", PAIR.new), send)
    assert stored_thing(engine)["G1SK"] == {"S": "late@x"}


def test_old_programs_that_do_not_stop_are_reported() -> None:
    engine = stored(PAIR)

    def send(operation: str, body: dict[str, Any]) -> bytes:
        if operation == "Scan":
            change(engine, "SET G1SK = :k", k="001")
        return sending(engine)(operation, body)

    with pytest.raises(MigrationRefused, match="programs of the old version still write"):
        drive(migration("apply", PAIR.new), send)
    drive(migration("apply", PAIR.new), engine)
    assert stored_thing(engine)["G1SK"] == {"S": "T1@x"}


def test_a_repeated_apply_finds_what_old_programs_have_written_since() -> None:
    engine = stored(PAIR)
    drive(migration("apply", PAIR.new), engine)
    change(engine, "SET G1SK = :k", k="001")
    report = drive(migration("apply", PAIR.new), engine)
    assert (report.changed, [each.name for each in report.steps]) == (1, ["verify", "switch"])
    assert stored_thing(engine)["G1SK"] == {"S": "T1@x"}


def test_a_table_is_read_page_by_page() -> None:
    engine = stored(PAIR)
    seen = list[MigrationProgress]()
    send = in_pages(sending(engine))
    report = drive(migration("apply", PAIR.new, progress=seen.append), send)
    rewrite = [each.changed for each in seen if each.step.name == "rewrite"]
    assert rewrite == sorted(rewrite)
    assert (len(rewrite), rewrite[-1], report.changed) == (5, 5, 5)


def test_more_items_than_fit_into_a_transaction() -> None:
    many = [RECORDS[0] | {"tid": f"t{n}", "email": f"e{n}"} for n in range(120)]
    engine = stored(PAIR, many)
    sent = list[int]()

    def send(operation: str, body: dict[str, Any]) -> bytes:
        if operation == "TransactWriteItems":
            sent.append(len(body["TransactItems"]))
        return sending(engine)(operation, body)

    assert drive(migration("apply", PAIR.new), send).changed == 120
    assert sent == [100, 22]


def test_a_rate_limit_waits_and_keeps_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = stored(PAIR)
    monkeypatch.setattr("tablewright.plan.migration.sweep.time.monotonic", lambda: 0.0)
    beats = 0

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal beats
        names = body.get("ExpressionAttributeNames", {}).values()
        beats += operation == "UpdateItem" and "$lease" in names and "$steps" not in names
        return sending(engine)(operation, body)

    waits = list[float]()
    drive(migration("apply", PAIR.new, units_per_second=0.1), send, waits)
    assert sum(waits) == pytest.approx(100)  # two units for each of five items
    assert max(waits) <= 8
    assert beats == len(waits)  # all but the last, and the acquisition of the lease


def test_a_sentinel_that_an_old_program_has_orphaned_is_deleted() -> None:
    """It changes a value that the sweep has reserved already, and does not know sentinels."""
    pair = PAIRS["unique added"]
    engine = stored(pair)
    scans = 0

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal scans
        scans += operation == "Scan"
        if operation == "Scan" and scans == 3:  # the first one of `verify`
            change(engine, "SET email = :e", e="late@x")
        return sending(engine)(operation, body)

    drive(migration("apply", pair.new), send)
    keys = [item["PK"]["S"] for item in items(engine)]
    assert ("MAIL#late@x" in keys, "MAIL#T1@x" in keys) == (True, False)


def test_an_orphaned_sentinel_is_deleted_after_conflicts() -> None:
    """Another transaction concerns it, or its item, just when `verify` deletes it."""
    pair = PAIRS["unique added"]
    engine = stored(pair)
    scans = conflicts = 0

    def send(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal scans, conflicts
        scans += operation == "Scan"
        if operation == "Scan" and scans == 3:  # the first one of `verify`
            change(engine, "SET email = :e", e="late@x")
        deletes = operation == "TransactWriteItems" and "Delete" in body["TransactItems"][0]
        if deletes and conflicts < 3:
            conflicts += 1
            codes = ("None", "TransactionConflict", "None")
            raise TransactionCanceledException([{"Code": code} for code in codes])
        return sending(engine)(operation, body)

    drive(migration("apply", pair.new), send)
    assert conflicts == 3
    assert "MAIL#T1@x" not in [item["PK"]["S"] for item in items(engine)]


def test_an_item_that_an_old_program_replaces_while_its_value_is_reserved_is_rewritten() -> None:
    pair = PAIRS["attributes renamed"]
    engine = stored(pair)
    old = stored_thing(engine)

    def send(operation: str, body: dict[str, Any]) -> bytes:
        if operation == "TransactWriteItems" and "Put" in body["TransactItems"][0]:
            engine.call("PutItem", {"TableName": "things", "Item": old})
        return sending(engine)(operation, body)

    with pytest.raises(MigrationRefused, match="still write"):
        drive(migration("apply", pair.new), send)
    drive(migration("apply", pair.new), engine)
    assert stored_thing(engine)["status"] == old["state"]
