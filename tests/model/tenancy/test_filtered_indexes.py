"""An index that several tenants share returns the tenant's items only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Engine,
    Query,
    Table,
    Tenancy,
    batch_write,
    connect,
    explain,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, TenantViolation
from tablewright.ids import ULID
from tests.costs import run_within_range
from tests.model.tenancy.market import (
    Bazaar,
    Market,
    Order,
    Profile,
    Stall,
    cursor_of,
    order,
    order_id,
    s,
)
from tests.prepared import checked
from tests.transports import record_requests

# -- filtered indexes ------------------------------------------------------------------------------


def mingle(engine: Engine) -> None:
    db = connect(engine, Market)
    rows = []
    for number in range(5):
        rows.append(put(order("a", number, total=number)))
        rows += [
            put(
                Order(
                    user_id=f"x{stranger}",
                    order_id=ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}{stranger:02d}"),
                    total=number,
                )
            )
            for stranger in range(10, 70)
        ]
    db.run(batch_write(rows))


@pytest.fixture
def mingled() -> Iterator[Database]:
    """Five orders of the user a, each between sixty of others in every index."""
    with checked(mingle) as engine:
        yield connect(engine, Market)


def numbers(orders: Any) -> list[int]:
    assert {found.user_id for found in orders} <= {"a"}
    return [found.total for found in orders]


def test_a_filtered_index_gives_own_rows_only(mingled: Database) -> None:
    assert numbers(mingled.for_tenant(user_id="a").run(Order.by_total())) == [0, 1, 2, 3, 4]
    assert len(mingled.run(Order.by_total())) == 305


def test_a_filtered_index_is_filtered_in_the_request_that_leaves(mingled: Database) -> None:
    recording = record_requests(mingled)
    mingled.for_tenant(user_id="a").run(Order.by_total().filter(Order.status == "OPEN"))
    ((operation, request),) = recording.requests
    assert operation == "Query"
    assert request["FilterExpression"] == "#1 = :1 AND #2 IN (:2, :3, :4, :5)"
    assert request["ExpressionAttributeNames"] == {"#0": "GSI2PK", "#1": "status", "#2": "pk"}
    assert [request["ExpressionAttributeValues"][f":{n}"] for n in (2, 3, 4, 5)] == [
        s("U#a"),
        s("U#a#O"),
        s("U#a#P"),
        s("U#a#R"),
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_a_filtered_index_gives_full_pages(mingled: Database, limit: int) -> None:
    own = mingled.for_tenant(user_id="a")
    page = own.run(Order.by_total().page_size(limit))
    assert numbers(page) == [0, 1, 2, 3, 4][:limit]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_a_filtered_index_gives_every_own_row_once_page_by_page(
    mingled: Database, limit: int
) -> None:
    own = mingled.for_tenant(user_id="a")
    assert numbers(list(own.iterate(Order.by_total().page_size(limit)))) == [0, 1, 2, 3, 4]
    newest = own.iterate(Order.by_total().desc().page_size(limit))
    assert numbers(list(newest)) == [4, 3, 2, 1, 0]


def test_a_filtered_index_gives_the_first_own_row(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    first = own.run(Order.by_total().desc().first())
    assert first is not None
    assert numbers([first]) == [4]


def test_a_filtered_index_counts_own_rows_only(mingled: Database) -> None:
    assert mingled.for_tenant(user_id="a").run(Order.by_total().count()) == 5
    assert mingled.for_tenant(user_id="nobody").run(Order.by_total().count()) == 0


def test_a_filtered_index_without_own_rows_gives_none(mingled: Database) -> None:
    nobody = mingled.for_tenant(user_id="nobody")
    assert list(nobody.run(Order.by_total())) == []
    assert list(nobody.run(Order.by_total().page_size(2))) == []


def test_a_filter_of_the_callers_and_the_tenants_hold_both(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    either = (Order.status == "OPEN") | (Order.status == "PAID")
    assert numbers(own.run(Order.by_total().filter(either))) == [0, 1, 2, 3, 4]
    assert numbers(own.run(Order.by_total().gte(2).filter(either).page_size(2))) == [2, 3]
    assert numbers(own.run(Order.by_total().filter(Order.status == "PAID"))) == []


def test_a_filtered_index_that_holds_little_gives_own_rows_only(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    rows = own.run(Order.by_day("OPEN").select(Order.order_id))
    assert [found for (found,) in rows] == [order_id("a", number) for number in range(5)]


def test_an_aggregate_from_a_filtered_index_is_the_tenants(mingled: Database) -> None:
    class Alone(Aggregate):
        order: Order = root()

    found = mingled.for_tenant(user_id="a").run(Alone.of(Order.by_total().eq(0, order_id("a", 0))))
    assert found is not None
    assert numbers([found.order]) == [0]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["entities", "select", "filter"])
def test_a_cursor_of_a_filtered_index_holds_nothing_of_others(
    mingled: Database, limit: int, kind: str
) -> None:
    plans: dict[str, Query[Any]] = {
        "entities": Order.by_total(),
        "select": Order.by_total().select(Order.total),
        "filter": Order.by_total().filter(Order.status == "OPEN"),
    }
    own = mingled.for_tenant(user_id="a")
    plan = plans[kind].page_size(limit)
    cursor = cursor_of(own.run(plan))
    recording = record_requests(own)
    own.run(plan.after(cursor))
    start = recording.requests[0][1]["ExclusiveStartKey"]
    assert start["pk"] == s("U#a#O")


def test_a_filtered_index_with_a_megabyte_of_others_gives_own_rows() -> None:
    """DynamoDB ends a page at 1 MB of what it reads, not of what it gives."""
    with connect(":memory:", Market) as db:
        for number in range(3):
            db.run(put(order("a", number, total=number)))
            for stranger in range(10, 14):
                theirs = ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}{stranger:02d}")
                db.run(
                    put(
                        Order(
                            user_id=f"x{stranger}",
                            order_id=theirs,
                            total=number,
                            memo="m" * 300_000,
                        )
                    )
                )
        own = db.for_tenant(user_id="a")
        assert own.run(Order.by_total().count()) == 3
        assert numbers(list(own.iterate(Order.by_total()))) == [0, 1, 2]


@pytest.mark.parametrize("keys", [("sk", "pk"), ("pk", "note")], ids=str)
def test_an_index_with_the_tables_partition_key_cannot_be_filtered(keys: tuple[str, str]) -> None:
    """DynamoDB filters by no key of the index."""

    def declare() -> None:
        class Wrong(Table, pk="pk", sk="sk"):
            turned = GSI(*keys)
            tenancy = Tenancy("user_id", write=("U#{user_id}",), filtered=(turned,))

    with pytest.raises(
        DeclarationError,
        match=r"cannot include turned: the table's partition key is a key of turned.*\.eq\(…\)",
    ):
        declare()


def test_a_reverse_index_is_queried_with_the_partition() -> None:
    with connect(":memory:", Bazaar) as db:
        for user in ("a", "b", "ab", "a#b"):
            db.run(put(Stall(user_id=user, street="main")))
        own = db.for_tenant(user_id="a")
        mine = Stall(user_id="a", street="main")
        assert own.run(Stall.reverse("main").eq("a")) == [mine]
        assert own.run(Stall.reverse("main").eq("a").count()) == 1
        for plan in (
            Stall.reverse("main"),
            Stall.reverse("main").count(),
            Stall.reverse("main").page_size(1),
            Stall.reverse("main").eq("b"),
            Stall.reverse("main").gte("a"),
            Stall.reverse("main").begins_with("a"),
        ):
            with pytest.raises(TenantViolation):
                own.run(plan)


# -- an index whose key happens to be the name of a shard ------------------------------------------


def test_a_row_of_anothers_is_not_read_because_its_id_is_the_name_of_a_shard(
    db: Database, own: Database
) -> None:
    """Only the table's own partition key says whose a row is."""
    db.for_tenant(user_id="b").run(put(Profile(user_id="b", business_id="U#a", nick="secret")))
    assert list(own.run(Profile.by_id("U#a"))) == []


def test_a_row_of_anothers_is_not_read_because_an_index_files_it_under_the_tenant(
    db: Database, own: Database
) -> None:
    """The user a sold it; the order is in the shard of the user b."""
    db.run(put(order("b", 1, seller="a")))
    assert list(own.run(Order.sold("a"))) == []


def test_an_index_that_reads_like_a_shard_gives_own_rows_by_a_filter(db: Database) -> None:
    mine = order("a", 1, seller="a")
    db.run(put(order("b", 1, seller="a")))
    db.run(put(mine))
    recording = record_requests(db)
    assert list(db.for_tenant(user_id="a").run(Order.sold("a"))) == [mine]
    ((operation, request),) = recording.requests
    assert operation == "Query"
    assert request["FilterExpression"] == "#1 IN (:1, :2, :3, :4)"
    assert request["ExpressionAttributeNames"]["#1"] == "pk"


def test_an_index_that_reads_like_anothers_shard_is_refused(db: Database) -> None:
    recording = record_requests(db)
    with pytest.raises(TenantViolation, match="SellerIndex"):
        db.for_tenant(user_id="a").run(Order.sold("b"))
    assert recording.requests == []


# -- what explain states ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        Order.by_total().page_size(2),
        Order.by_total().desc().page_size(1),
        Order.by_total(),
    ],
    ids=["two", "one", "all"],
)
def test_explain_states_what_a_tenant_reads_of_others(mingled: Database, plan: Any) -> None:
    """An item of 200 KB of another tenant is read between any two of its own."""
    rows = [
        Order(
            user_id="z",
            order_id=ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}99"),
            total=number,
            memo="x" * 200_000,
        )
        for number in range(5)
    ]
    for row in rows:
        mingled.run(put(row))
    found = run_within_range(mingled.for_tenant(user_id="a"), plan)
    assert numbers(found) == sorted(numbers(found), reverse=plan._descending)
    assert "pk in the tenant's shards" in explain(plan).filter


def test_explain_states_no_filter_where_a_tenant_has_none() -> None:
    assert explain(Order.reverse(order_id("a", 1)).eq("a")).filter == ""
    assert "tenant" not in explain(Order.primary.within("a")).filter
    assert "tenant" not in explain(Order.by_status("OPEN")).filter
