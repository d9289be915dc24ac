"""A read of a random design returns what is stored, in the units that `explain` states.

The oracle sorts the stored items in Python. Where a limit is accepted, its requests are bounded.
"""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from tablewright import connect
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.observe import RequestEvent
from tests.costs import run_within_range
from tests.examples import examples
from tests.properties.layouts import (
    NUMBERS,
    PARTITIONS,
    Design,
    aggregate_of,
    designs,
    fill,
    items_of,
)

LARGE = 390_000
COMPARISONS: dict[str, Any] = {
    "gt": lambda number, value: number > value,
    "gte": lambda number, value: number >= value,
    "lt": lambda number, value: number < value,
    "lte": lambda number, value: number <= value,
}


def keys(found: list[Any]) -> list[Any]:
    """Return what identifies entities."""
    return [type(each).__entity__.key_of(vars(each)) for each in found]


def run(db: Database, plan: Any, items: int) -> tuple[Any, list[RequestEvent]]:
    events: list[RequestEvent] = []
    return run_within_range(db, plan, items, events=events), events


def run_pages(db: Database, plan: Any, items: int) -> list[Any]:
    """Return the results of all pages; each page is in the range."""
    found: list[Any] = []
    while True:
        page, _ = run(db, plan, items)
        found += page
        if page.next_cursor is None:
            return found
        plan = plan.after(page.next_cursor)


@examples(30)
@given(data=st.data(), design=designs(), large=st.booleans())
def test_a_query(data: st.DataObject, design: Design, large: bool) -> None:
    position = data.draw(st.integers(0, len(design.entities) - 1))
    kind, sort = design.entities[position], design.sorts[position]
    with connect(":memory:", design.table) as db:
        fill(db, design, data, LARGE if large else 9)
        items, partition = len(items_of(db)), data.draw(st.sampled_from(PARTITIONS))
        expected = [each for _, each in design.stored(db, kind) if each.partition == partition]
        plan = kind.primary.within(partition)
        is_whole_number = sort.ending == "number" and (
            position == 0 or not sort.is_below or design.sorts[0].ending == "literal"
        )
        if is_whole_number and data.draw(st.booleans()):
            name, value = (
                data.draw(st.sampled_from(sorted(COMPARISONS))),
                data.draw(st.sampled_from(NUMBERS)),
            )
            plan = getattr(plan, name)(value)
            expected = [each for each in expected if COMPARISONS[name](each.number, value)]
        if data.draw(st.booleans()):
            plan, expected = plan.desc(), expected[::-1]
        if data.draw(st.booleans()):
            plan = plan.filter(kind.note == "x")
            expected = [each for each in expected if each.note == "x"]
        if data.draw(st.booleans()):
            plan = plan.consistent()
        size = data.draw(st.none() | st.integers(1, 5))
        paged = plan if size is None else plan.page_size(size)
        assert keys(run_pages(db, paged, items)) == keys(expected)
        limit = data.draw(st.integers(1, 5))
        assert keys(run_pages(db, paged.limit(limit), items)) == keys(expected[:limit])
        first, _ = run(db, plan.first(), items)
        assert keys([first] if first else []) == keys(expected[:1])
        assert run(db, plan.count(), items)[0] == len(expected)
        rows = run_pages(db, paged.select(kind.partition, kind.note), items)
        assert rows == [(each.partition, each.note) for each in expected]


@examples(20)
@given(data=st.data(), design=designs(), large=st.booleans())
def test_a_union(data: st.DataObject, design: Design, large: bool) -> None:
    assume(len(design.entities) > 1)
    first, *others = data.draw(
        st.lists(st.sampled_from(design.entities), min_size=2, max_size=4, unique=True)
    )
    partition = data.draw(st.sampled_from(PARTITIONS))
    plan = first.primary.within(partition)
    for other in others:
        plan = plan.union(other.primary.within(partition))
    with connect(":memory:", design.table) as db:
        fill(db, design, data, LARGE if large else 9)
        items = len(items_of(db))
        rows = [
            (item["SK"]["S"].encode(), each)
            for kind in (first, *others)
            for item, each in design.stored(db, kind)
            if each.partition == partition
        ]
        descending = data.draw(st.booleans())
        rows.sort(key=lambda row: row[0], reverse=descending)
        expected = keys([each for _, each in rows])
        plan = plan.desc() if descending else plan
        size = data.draw(st.none() | st.integers(1, 5))
        assert (
            keys(run_pages(db, plan if size is None else plan.page_size(size), items)) == expected
        )
        assert run(db, plan.count(), items)[0] == len(expected)
        found, _ = run(db, plan.first(), items)
        assert keys([found] if found else []) == expected[:1]


@examples(20)
@given(data=st.data(), design=designs(), large=st.booleans())
def test_a_query_of_an_index_with_other_entities_and_tenants(
    data: st.DataObject, design: Design, large: bool
) -> None:
    position = data.draw(st.integers(0, len(design.entities) - 1))
    kind = design.entities[position]
    with connect(":memory:", design.table) as whole:
        fill(whole, design, data, LARGE if large else 9)
        items = len(items_of(whole))
        tenant = data.draw(st.none() | st.sampled_from(PARTITIONS))
        db: Any = whole if tenant is None else whole.for_tenant(partition=tenant)
        stored = [each for _, each in design.stored(whole, kind)]
        expected = [each for each in stored if tenant in (None, each.partition)]
        plan = kind.by_group()
        plan = plan.desc() if data.draw(st.booleans()) else plan
        size = data.draw(st.none() | st.integers(1, 5))
        found = run_pages(db, plan if size is None else plan.page_size(size), items)
        assert sorted(map(str, keys(found))) == sorted(map(str, keys(expected)))
        assert run(db, plan.count(), items)[0] == len(expected)
        first, _ = run(db, plan.first(), items)
        assert (first is None) == (not expected)


@examples(40)
@given(data=st.data(), design=designs(), large=st.booleans())
def test_an_aggregate(data: st.DataObject, design: Design, large: bool) -> None:
    positions = data.draw(st.sets(st.integers(1, len(design.entities)), max_size=3))
    forms = {
        position: data.draw(st.sampled_from(["list", "list", "page", "child", "projection"]))
        for position in sorted(positions)
        if position < len(design.entities)
    }
    above = data.draw(st.sampled_from(design.above(0)))
    partition = data.draw(st.sampled_from(PARTITIONS))
    descending, limit = data.draw(st.booleans()), data.draw(st.none() | st.integers(1, 6))
    try:
        kind = aggregate_of(design, forms)
        whole_key = (partition,) if above is None else (partition, above)
        by_index = data.draw(st.booleans())  # of a tenant, whose items are in one partition
        is_within = above is not None and data.draw(st.booleans())
        place = design.root.by_group() if by_index else design.root.primary.within(partition)
        if not is_within:
            place = place.eq(above) if above is not None else place
            place = place if by_index else design.root.primary(*whole_key)
        plan = kind.of(place)
        plan = plan.desc() if descending else plan
        page = next((position for position, form in forms.items() if form == "page"), None)
        if limit is not None:
            plan = plan.limit(limit) if page is None else plan.page_size(limit)
        plan._shape()
    except DeclarationError:
        assume(False)
    with connect(":memory:", design.table) as whole:
        fill(whole, design, data, LARGE if large else 9)
        items = len(items_of(whole))
        expected = expected_rows(whole, design, forms, partition, None if is_within else above)
        db: Any = whole.for_tenant(partition=partition) if by_index else whole
        if is_within and len(expected["root"]) > 1 and limit is None:
            try:
                run(db, plan, items)
            except InvalidValue:
                return
            raise AssertionError("several roots were not reported")
        if is_within and len(expected["root"]) > 1:
            return  # those after the limit are not seen
        found, events = run(db, plan, items)
        if not expected["root"]:
            assert found is None
            return
        assert keys([found.root]) == keys(expected["root"])
        if limit is not None and not large and not by_index:
            assert len(events) <= 2
        check_members(db, design, forms, plan, found, expected, limit, descending, items)


def expected_rows(
    db: Database, design: Design, forms: dict[int, str], partition: str, above: Any
) -> dict[Any, list[Any]]:
    """Return the roots and, for each position, the members, in the order of their sort keys."""
    ending = design.sorts[0].ending
    root_name, member_name = ending, f"above_{ending}"

    def belongs(each: Any, name: str) -> bool:
        return each.partition == partition and (above is None or getattr(each, name) == above)

    roots = [each for _, each in design.stored(db, design.root) if belongs(each, root_name)]
    rows: dict[Any, list[Any]] = {"root": roots}
    for position in forms:
        stored = design.stored(db, design.entities[position])
        rows[position] = [item for item in stored if belongs(item[1], member_name)]
    return rows


def check_members(
    db: Database,
    design: Design,
    forms: dict[int, str],
    plan: Any,
    found: Any,
    expected: dict[Any, list[Any]],
    limit: int | None,
    descending: bool,
    items: int,
) -> None:
    rows = sorted(
        (
            (item["SK"]["S"].encode(), position, each)
            for position in forms
            for item, each in expected[position]
        ),
        key=lambda row: row[0],
        reverse=descending,
    )
    is_paged = "page" in forms.values()
    if limit is not None and not is_paged:
        rows = rows[:limit]
    for position, form in forms.items():
        wanted = [each for _, at, each in rows if at == position]
        given: Any = getattr(found, f"m{position}")
        if form == "child":
            assert keys([given] if given else []) == keys(wanted[:1])
        elif form == "projection":
            assert [line.note for line in given] == [each.note for each in wanted]
        elif form == "list":
            assert keys(given) == keys(wanted)
        else:
            results, cursor = list(given), given.next_cursor
            while cursor is not None:
                later, _ = run(db, plan.after(cursor), items)
                results += getattr(later, f"m{position}")
                cursor = getattr(later, f"m{position}").next_cursor
            assert keys(results) == keys(wanted)
