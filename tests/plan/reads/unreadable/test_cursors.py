"""Behind an item that cannot be decoded, a read continues: every other item is read once."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright import Engine, connect
from tablewright.database import Database
from tablewright.errors import UnreadableItem
from tests.plan.reads.unreadable.version2 import Comment, Entry, Helpdesk, Ticket

COUNT = 9
ENTRIES = Entry.primary.all_shards()
PLANS: list[Any] = [
    Ticket.primary.within("d"),
    Ticket.primary.within("d").gt(2),
    Ticket.primary.within("d").select(Ticket.number, Ticket.owner),
    Ticket.by_status("open"),
    Ticket.by_status("open").filter(Ticket.desk == "d"),
    Ticket.by_status("open").union(Comment.by_status("open")),
    Ticket.scan(reason="test"),
    Ticket.scan(reason="test").segments(3),
    ENTRIES,
    ENTRIES.select(Entry.number, Entry.owner),
]
SCANS = PLANS[6:8]

kinds = st.lists(
    st.sampled_from(["readable", "old", "unknown", "of another type"]),
    min_size=COUNT,
    max_size=COUNT,
)
sizes = st.sampled_from([None, 1, 2, 3, 5])


def stored(entity: Any, kind: str) -> dict[str, Any]:
    """Return the item of an entity; or one without its owner; or one with a key of no entity."""
    item: dict[str, Any] = type(entity).__entity__.encode(vars(entity))
    if kind == "readable":
        return item
    del item["owner"]
    if kind == "old":
        return item
    del item["type"]
    for name in {"SK", "GSI1SK"} & item.keys():
        item[name] = {"S": item[name]["S"] + "#x"}
    return item | ({"type": {"S": "Later"}} if kind == "of another type" else {})


def database(engine: Engine, chosen: list[str], only: str = "") -> Database:
    """Store a ticket, an entry and a comment for each kind, or for one kind only."""
    db = connect(engine, Helpdesk)
    for number, kind in enumerate(chosen):
        for entity in (Ticket(desk="d", number=number, owner="o"), Entry(number=number, owner="o")):
            if only in ("", kind):
                engine.call("PutItem", {"TableName": "helpdesk", "Item": stored(entity, kind)})
        comment = stored(Comment(number=number), "readable")
        engine.call("PutItem", {"TableName": "helpdesk", "Item": comment})
    return db


def read_all(db: Database, plan: Any) -> tuple[list[Any], list[UnreadableItem]]:
    """Return all results, and all items that cannot be decoded, raised or reported."""
    results: list[Any] = []
    unreadable: list[UnreadableItem] = []
    for _ in range(10 * COUNT):
        try:
            page = db.run(plan)
        except UnreadableItem as error:
            results += error.results
            unreadable.append(error)
            cursor = error.cursor
        else:
            results += page
            unreadable += page.unreadable
            cursor = page.next_cursor
        if cursor is None:
            return results, unreadable
        plan = plan.after(cursor)
    raise AssertionError("the cursors do not end")


def iterate_all(db: Database, plan: Any) -> list[Any]:
    """Return the results of `iterate`, started again behind each item that cannot be decoded."""
    results: list[Any] = []
    while True:
        try:
            for each in db.iterate(plan):
                results.append(each)  # noqa: PERF402  # those before an error count
        except UnreadableItem as error:
            plan = plan.after(error.cursor)
        else:
            return results


def own_keys(errors: list[UnreadableItem]) -> list[Any]:
    """Return the keys of the items, without those of another type, which are only reported."""
    return [error.key for error in errors if (error.item or {}).get("type") != {"S": "Later"}]


def ordered(plan: Any, results: list[Any]) -> list[Any]:
    return sorted(results, key=repr) if plan in SCANS else results


@settings(max_examples=20)
@given(
    chosen=kinds,
    plan=st.sampled_from(PLANS),
    size=sizes,
    limit=st.sampled_from([None, None, 1, 4]),
    is_descending=st.booleans(),
)
def test_every_other_item_is_read_once(
    chosen: list[str], plan: Any, size: int | None, limit: int | None, is_descending: bool
) -> None:
    query = plan if size is None else plan.page_size(size)
    if plan in SCANS:
        limit = None
    elif is_descending:
        query = query.desc()
    query = query if limit is None else query.limit(limit)
    with Engine(":memory:") as engine:
        db = database(engine, chosen)
        results, raised = read_all(db, query)
        again = iterate_all(db, query)
        skipped, reported = read_all(db, query.skip_unreadable())
        count = db.run(query.skip_unreadable().count())
    keys, all_keys = own_keys(raised), own_keys(reported)
    assert all(keys.count(key) == 1 for key in keys)
    assert ordered(plan, keys) == ordered(plan, all_keys)
    assert ordered(plan, results) == ordered(plan, again) == ordered(plan, skipped)
    assert count == len(results)
    with Engine(":memory:") as engine:
        expected, _ = read_all(database(engine, chosen, only="readable"), query)
    assert ordered(plan, results) == ordered(plan, expected)
    if limit is None and plan is not PLANS[1]:
        assert len(keys) == chosen.count("old") + chosen.count("unknown")
        assert len(reported) == COUNT - chosen.count("readable")
