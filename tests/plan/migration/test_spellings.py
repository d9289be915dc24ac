"""While a migration changes index keys in place, queries read both spellings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import settings

from tablewright import Engine, attr, connect, index
from tablewright.database import Database
from tablewright.errors import IndexNotReady, InvalidCursor
from tablewright.formats import lower
from tablewright.plan.migration.executing import MigrationProgress
from tests.examples import FULL
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    in_pages,
    migration,
    sending,
    stop_before,
    stored,
)
from torture.migration_designs import STATE, Pair, Record, Side, base, by_state, side

RECORDS: list[Record] = [
    {"tid": f"t{n}", "state": "abc"[n % 3], "n": n * 37 % 40 // 2, "email": f"T{n}@x", "note": "y"}
    for n in range(24)
]
#: How many more requests an attempt sends than the one before; with all examples a page.
STRIDE = 3 if settings().max_examples >= FULL else 8
NAMES = [
    *("index key changed", "index literal changed", "pad changed", "when added"),
    *("delimiter changed", "attributes renamed", "entity split", "entities merged"),
]


def expected(side: Side, state: str) -> list[str]:
    """Return what a query by state must find, in no order."""
    holds = side.lookups[0].holds
    return sorted(each["tid"] for each in RECORDS if each["state"] == state and holds(each))


def begin(engine: Engine, side: Side) -> None:
    """Migrate until no program of the old version runs; no item is rewritten."""
    before: list[str] = []

    def stop(progress: MigrationProgress) -> None:
        if "await-programs" in before and progress.step.name != "await-programs":
            raise Stopped
        before.append(progress.step.name)

    with pytest.raises(Stopped):
        drive(migration("apply", side, progress=stop), engine)


def results(db: Database, query: Any) -> Iterator[Any]:
    """Yield the results of all pages; no page may be larger than it was asked for."""
    while True:
        page = db.run(query)
        yield from page
        if page.next_cursor is None:
            return
        query = query.after(page.next_cursor)


@pytest.mark.parametrize("name", NAMES)
def test_every_query_finds_each_item_once_in_the_new_order(name: str) -> None:
    pair = PAIRS[name]
    engine = stored(pair, RECORDS)
    begin(engine, pair.new)
    # Each attempt begins where the one before was stopped, and is stopped some pages later.
    for attempt in range(40):
        db = connect(engine, pair.new.table)
        for state in "abc":
            query = pair.new.entity.by_state(state)
            whole = list(results(db, query))
            assert sorted(each.tid for each in whole) == expected(pair.new, state)
            for size in (1, 3):
                assert list(results(db, query.page_size(size))) == whole
            assert [each.n for each in results(db, query.desc())] == [
                each.n for each in reversed(whole)
            ]
            if name != "index key changed":  # that one is sorted by the email
                assert [each.n for each in whole] == sorted(each.n for each in whole)
            assert db.run(query.limit(2)) == whole[:2]
            assert db.run(query.count()) == len(whole)
        with suppress(Stopped):
            send = stop_before(5 + STRIDE * attempt, in_pages(sending(engine)))
            drive(migration("apply", pair.new), send)
            return
    raise AssertionError("the migration does not end")


@pytest.mark.parametrize("is_descending", [False, True])
def test_items_that_are_rewritten_between_two_pages_are_found_once(is_descending: bool) -> None:
    pair = PAIRS["pad changed"]
    wanted = expected(pair.new, "a")
    for size in (1, 2, 3, 5):
        engine = stored(pair, RECORDS)
        begin(engine, pair.new)
        db = connect(engine, pair.new.table)
        query = pair.new.entity.by_state("a").page_size(size)
        query = query.desc() if is_descending else query
        first = db.run(query)
        drive(migration("apply", pair.new), engine)
        rest = list(results(db, query.after(first.next_cursor)))
        assert sorted(each.tid for each in (*first, *rest)) == wanted


def test_a_value_that_is_escaped_in_another_way_is_refused() -> None:
    pair = PAIRS["delimiter changed"]
    engine = stored(pair, [RECORDS[0] | {"state": "a|b"}, RECORDS[1]])
    begin(engine, pair.new)
    db = connect(engine, pair.new.table)
    assert len(db.run(pair.new.entity.by_state("b"))) == 1
    with pytest.raises(IndexNotReady, match=r"'S\|a}!b' contains one of the characters"):
        db.run(pair.new.entity.by_state("a|b"))
    drive(migration("apply", pair.new), engine)
    assert len(connect(engine, pair.new.table).run(pair.new.entity.by_state("a|b"))) == 1


def by_note(table: Any, a: Any) -> dict[str, Any]:
    return {"by_state": index(table.gsi1, "S" / a.state, a.note)}


def lower_state(table: Any, a: Any) -> dict[str, Any]:
    return {"by_state": index(table.gsi1, "S" / lower(a.state), a.n)}


def by_email(table: Any, a: Any) -> dict[str, Any]:
    return {"by_state": index(table.gsi1, "S" / a.email, a.n)}


FILLED = side(base(note=(str, attr(fill="none"))), by_note, lookups=STATE)
REFUSED = {
    "items lack a part": Pair("", side(base(), by_state, lookups=STATE), FILLED),
    "the condition is removed": PAIRS["when removed"],
    "another format of the partition": Pair(
        "", PAIRS["index added"].old, side(base(), lower_state, lookups=STATE)
    ),
    "another partition": Pair("", PAIRS["index added"].old, side(base(), by_email, lookups=STATE)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_is_not_ready_where_the_former_key_does_not_follow(name: str) -> None:
    pair = REFUSED[name]
    engine = stored(pair, RECORDS)
    begin(engine, pair.new)
    with pytest.raises(IndexNotReady, match="may lack items of"):
        connect(engine, pair.new.table).run(pair.new.entity.by_state("a"))
    drive(migration("apply", pair.new), engine)
    connect(engine, pair.new.table).run(pair.new.entity.by_state("a"))


def test_an_index_whose_keys_are_changed_is_not_scanned() -> None:
    pair = PAIRS["pad changed"]
    engine = stored(pair, RECORDS)
    begin(engine, pair.new)
    db = connect(engine, pair.new.table)
    with pytest.raises(IndexNotReady, match="a scan would miss items that move"):
        db.run(pair.new.entity.by_state.scan(reason="a test"))


def test_a_cursor_of_the_former_order_is_refused() -> None:
    """It would continue anywhere in the new order."""
    pair = PAIRS["index key changed"]
    engine = stored(pair, [{**RECORDS[0], "tid": f"t{n}", "n": n, "state": "a"} for n in range(6)])
    page = connect(engine, pair.old.table).run(pair.old.entity.by_state("a").page_size(2))
    drive(migration("apply", pair.new), engine)
    query = pair.new.entity.by_state("a").page_size(2)
    new = connect(engine, pair.new.table)
    with pytest.raises(InvalidCursor, match="start again without one"):
        new.run(query.after(page.next_cursor))
    assert [each.tid for each in new.run(query.after(new.run(query).next_cursor))] == ["t2", "t3"]
