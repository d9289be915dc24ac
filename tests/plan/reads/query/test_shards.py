"""All shards of a partition key: one query of each, merged in order, with one cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    First,
    Projection,
    Query,
    Table,
    Tenancy,
    access_pattern,
    attr,
    children,
    connect,
    connect_async,
    create,
    explain,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, TenantViolation
from tablewright.formats import shard
from tablewright.observe import Usage
from tests.costs import run_within_range
from tests.things import Thing
from tests.transports import RecordingLocal, record_requests


class Log(Table, name="sharded"):
    by_level = GSI("gsi1pk", "gsi1sk", name="by_level")
    tenancy = Tenancy("org", write=("ORG#{org}#*",))


class Entry(Entity, table=Log):
    org: Attr[str] = attr()
    month: Attr[str] = attr()
    at: Attr[int] = attr(pad=6)
    door: Attr[str] = attr()
    primary = key("ORG" / org / month / shard(door, of=4), "AT" / at / door)
    by_level = index(Log.by_level, "ALL" / shard(door, of=3), "AT" / at / door)


class Note(Entity, table=Log):
    org: Attr[str] = attr()
    month: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("ORG" / org / month / shard(month, of=4), "NOTE" / number)


class Plain(Table, name="plain_shards", pk="pk", sk="at"): ...


class Number(Entity, table=Plain):
    name: Attr[str] = attr()
    at: Attr[int] = attr()
    primary = key("N" / shard(name, of=3), at)


def entry(at: int, org: str = "o") -> Entry:
    return Entry(org=org, month="2026-01", at=at, door=f"door {at * 7 % 11}")


ALL = [entry(at) for at in range(1, 31)]


@pytest.fixture(scope="module")
def db() -> Database:
    db = connect(":memory:", Log)
    for each in reversed(ALL):
        db.run(create(each))
    db.run(create(entry(5, "other")))
    for number in range(6):
        db.run(create(Note(org="o", month="2026-01", number=number)))
    return db


#: For calls that a type checker refuses.
BOUND: Any = Entry.primary


def entries() -> Any:
    return Entry.primary.all_shards("o", "2026-01")


RANGES: dict[str, tuple[Callable[[Any], Query[Entry]], list[Entry]]] = {
    "all": (lambda r: r, ALL),
    "descending": (lambda r: r.desc(), ALL[::-1]),
    "gte": (lambda r: r.gte(11), ALL[10:]),
    "gt": (lambda r: r.gt(11), ALL[11:]),
    "lt": (lambda r: r.lt(11), ALL[:10]),
    "between": (lambda r: r.between(3, 5).desc(), ALL[4:1:-1]),
    "eq": (lambda r: r.eq(9), [ALL[8]]),
    "filter": (lambda r: r.filter(Entry.door == "door 7"), [e for e in ALL if e.door == "door 7"]),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_shards_are_merged_in_order(db: Database, name: str) -> None:
    make, expected = RANGES[name]
    assert db.run(make(entries())) == expected
    assert db.run(make(entries()).count()) == len(expected)
    assert db.run(make(entries()).first()) == expected[0]
    for size in (1, 2, 7, 40):
        assert list(db.iterate(make(entries()).page_size(size))) == expected
        assert list(db.iterate(make(entries()).page_size(size).limit(5))) == expected[:5]
        assert run_within_range(db, make(entries()).page_size(size)) == expected[:size]


def test_a_page_is_one_request_of_each_shard_as_explain_states(db: Database) -> None:
    plan = entries().page_size(3)
    assert len({each.door for each in ALL}) > 4
    recording = record_requests(db)
    page = db.run(plan)
    db._transport = recording.inner
    assert recording.operations == ["Query"] * 4
    assert len(explain(plan).requests) == 4
    assert {body["Limit"] for _, body in recording.requests} == {3}
    assert page == ALL[:3]
    assert page.next_cursor is not None


def test_an_index_with_shards_is_read(db: Database) -> None:
    found = db.run(Entry.by_level.all_shards().gte(29))
    assert found == ALL[28:]


def test_items_of_other_entities_in_the_shards_are_left_out(db: Database) -> None:
    assert len(db.run(Note.primary.all_shards("o", "2026-01"))) == 6
    assert db.run(Note.primary.all_shards("o", "2026-01").count()) == 6


def test_a_projection_of_all_shards(db: Database) -> None:
    class At(Projection[Entry]):
        at: int

    found = db.run(entries().select(At).desc().page_size(4))
    assert [each.at for each in found] == [30, 29, 28, 27]
    assert db.run(entries().select(Entry.at).first()) == (1,)


def test_a_cursor_is_for_the_same_query(db: Database) -> None:
    cursor = db.run(entries().gte(3).page_size(3)).next_cursor
    assert cursor is not None
    assert db.run(entries().gte(3).page_size(3).after(cursor)) == ALL[5:8]
    others = [
        entries().gt(3),
        entries().gte(4),
        entries().gte(3).desc(),
        entries().gte(3).limit(9),
        Entry.primary.all_shards("other", "2026-01").gte(3),
        Entry.primary.within("o", "2026-01", 0).gte(3),
    ]
    for other in others:
        with pytest.raises(InvalidCursor):
            db.run(other.page_size(3).after(cursor))
    with pytest.raises(InvalidCursor):
        db.run(entries().gte(3).page_size(3).after(cursor[:-3] + "abc"))


def test_numbers_are_merged_as_numbers() -> None:
    with connect(":memory:", Plain) as db:
        for at in (9, 10, 100, -3, 2):
            db.run(put(Number(name=f"n{at}", at=at)))
        found = db.run(Number.primary.all_shards())
        assert [each.at for each in found] == [-3, 2, 9, 10, 100]
        falling = db.iterate(Number.primary.all_shards().desc().page_size(2))
        assert [each.at for each in falling] == [100, 10, 9, 2, -3]


def test_a_tenant_reads_its_own_shards_only(db: Database) -> None:
    scoped = db.for_tenant(org="o")
    assert list(scoped.iterate(entries().page_size(4))) == ALL
    with pytest.raises(TenantViolation):
        scoped.run(Entry.primary.all_shards("other", "2026-01"))
    with pytest.raises(TenantViolation):
        scoped.run(Entry.by_level.all_shards())


def test_a_pattern_is_explained_with_every_shard() -> None:
    @access_pattern
    def log(org: str, month: str, since: int) -> Query[Entry]:
        return Entry.primary.all_shards(org, month).gte(since).page_size(20)

    shape = explain(log)
    assert len(shape.requests) == 4
    for number, each in enumerate(shape.requests):
        assert f'PK="ORG#{{org}}#{{month}}#{number}"' in each.condition
    assert "the first of 4 shards" in shape.condition
    assert shape.page == "20 of each shard"
    assert shape.read_units == 4 * shape.requests[0].read_units


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BOUND.all_shards("o"), "takes org, month"),
        (lambda: BOUND.all_shards("o", "2026-01", 1), "3 values were given"),
        (lambda: entries().union(Note.primary.within("o", "2026-01", 0)), "joins ranges"),
    ],
)
def test_mistakes_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        make()


def test_a_key_without_shards_is_refused() -> None:
    bound: Any = Thing.primary
    with pytest.raises(DeclarationError, match=r"ends in shard\(…, of=…\)"):
        bound.all_shards()


def test_an_aggregate_does_not_take_all_shards() -> None:
    class Month(Aggregate):
        note: Note = root()
        entries: list[Entry] = children()

    with pytest.raises(DeclarationError, match=r"a range with all_shards\(\)"):
        Month.of(Note.primary.all_shards("o", "2026-01"))


def test_the_shards_are_read_at_the_same_time_in_an_event_loop() -> None:
    class Waiting(RecordingLocal):
        """Answers no query before all four have been sent."""

        def __init__(self, inner: Any) -> None:
            super().__init__(inner)
            self.all_sent = asyncio.Event()

        async def send_async(self, operation: str, request: dict[str, Any]) -> Any:
            answer = await super().send_async(operation, request)
            if operation == "Query":
                if self.operations.count("Query") == 4:
                    self.all_sent.set()
                await self.all_sent.wait()
            return answer

    async def read() -> list[Entry]:
        async with connect_async(":memory:", Log) as db:
            for each in ALL:
                await db.run(create(each))
            waiting = db.through(Waiting(db.transport))
            return list(await asyncio.wait_for(waiting.run(entries()), 10))

    assert asyncio.run(read()) == ALL


@given(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from("abcdefgh")), unique=True, max_size=25),
    st.integers(1, 9),
    st.booleans(),
)
def test_any_items_are_returned_once_in_order(
    made: list[tuple[int, str]], size: int, descending: bool
) -> None:
    with connect(":memory:", Log) as db:
        for at, door in made:
            db.run(put(Entry(org="o", month="2026-01", at=at, door=door)))
        plan = entries().page_size(size)
        plan = plan.desc() if descending else plan
        found = [(each.at, each.door) for each in db.iterate(plan)]
        assert found == sorted(made, reverse=descending)
        page = run_within_range(db, plan)
        while page.next_cursor is not None:  # later pages read only the shards that have more
            page = run_within_range(db, plan.after(page.next_cursor))


@access_pattern
def newest_entry(org: str) -> First[Entry]:
    return Entry.primary.all_shards(org, "2026-01").desc().first()


def test_the_requests_of_shards_are_observed_as_those_of_the_whole_query() -> None:
    usage = Usage()
    with connect(":memory:", Log, observe=usage) as observed:
        observed.run(Entry.primary.all_shards("o", "2026-01"))
        observed.run(Entry.primary.all_shards("o", "2026-01").count())
        observed.run(newest_entry("o"))
        list(observed.iterate(Entry.scan(reason="a test").segments(2)))
    found = {name: each.requests for name, each in usage.by_pattern.items() if name != "Provision"}
    assert found == {"ShardedRange": 4, "Count": 4, "newest_entry": 4, "SegmentedScan": 2}
