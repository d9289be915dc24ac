"""A root and its children from one query."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from tablewright import Aggregate, Engine, child, children, explain, root
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.observe import RequestEvent
from tablewright.plan.query_requests import QueryRequest
from tablewright.plans import Plan
from tests.costs import run_within_range
from tests.plan.reads.aggregates.sales import (
    Complaint,
    Delivery,
    Order,
    OrderItem,
    OrderWithItems,
    Payment,
    Profile,
    WholeOrder,
    body_of,
    item,
    order,
    store,
)

T = TypeVar("T")

# -- orders and what belongs to them ---------------------------------------------------------------


class PaidOrder(Aggregate):
    order: Order = root()
    payment: Payment = child()


class Account(Aggregate):
    """Everything of a customer; its children do not go on from the root's key."""

    profile: Profile = root()
    orders: list[Order] = children()
    complaints: list[Complaint] = children()


class OrderTree(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


class AccountTree(Aggregate):
    """Several levels below a root that is not above them in the sort key."""

    profile: Profile = root()
    orders: list[OrderTree] = children()


def test_a_root_and_its_children(db: Database) -> None:
    store(db, order("1"), item("1", "a"), item("1", "b"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.order == order("1")
    assert found.items == [item("1", "a"), item("1", "b")]


def test_an_aggregate_is_one_query(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    steps = OrderWithItems.of(Order.primary("C1", "1"))._steps(db._context)
    request = next(steps)
    assert isinstance(request, QueryRequest)
    assert request.operation == "Query"
    with pytest.raises(StopIteration):
        steps.send(db._transport.send(request.operation, request.body).body)


def test_a_root_without_children_has_empty_lists(db: Database) -> None:
    store(db, order("1"))
    found = db.run(WholeOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.items == []
    assert found.parcels == []
    assert found.payment is None


def test_without_its_root_there_is_no_aggregate(db: Database) -> None:
    assert db.run(OrderWithItems.of(Order.primary("C1", "1"))) is None
    store(db, item("1", "a"))
    assert db.run(OrderWithItems.of(Order.primary("C1", "1"))) is None


def test_children_of_several_types_come_from_one_query(db: Database) -> None:
    payment = Payment(customer_id="C1", order_id="1", amount=5)
    parcels = [Delivery(customer_id="C1", order_id="1", parcel=n) for n in (1, 2, 10)]
    store(db, order("1"), item("1", "a"), payment, *parcels)
    found = db.run(WholeOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.items == [item("1", "a")]
    assert found.payment == payment
    assert found.parcels == parcels


def test_a_single_member_that_is_not_optional_is_needed(db: Database) -> None:
    store(db, order("1"))
    assert db.run(PaidOrder.of(Order.primary("C1", "1"))) is None
    payment = Payment(customer_id="C1", order_id="1")
    store(db, payment)
    found = db.run(PaidOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.payment == payment


def test_rows_of_other_entities_are_passed_over(db: Database, engine: Engine) -> None:
    store(
        db,
        order("1"),
        item("1", "a"),
        Payment(customer_id="C1", order_id="1"),
        Delivery(customer_id="C1", order_id="1", parcel=1),
    )
    strange = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#1#X#1"}, "entityType": {"S": "Strange"}}
    engine.call("PutItem", {"TableName": "aggregate_sales", "Item": strange})
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert vars(found) == {"order": order("1"), "items": [item("1", "a")]}


AWKWARD = ["1", "10", "1 x", "1!", '1"', "1#", "1#ITEM", "1$", "1$!", "1\x00", "11", "1é", "!", "#"]


@pytest.mark.parametrize("asked", AWKWARD, ids=ascii)
def test_an_order_never_holds_items_of_another(asked: str, db: Database) -> None:
    for order_id in AWKWARD:
        store(db, order(order_id), *(item(order_id, item_id) for item_id in ("a", "b c", "#")))
        store(db, Payment(customer_id="C1", order_id=order_id))
    found = db.run(WholeOrder.of(Order.primary("C1", asked)))
    assert found is not None
    assert found.order.order_id == asked
    assert [one.order_id for one in found.items] == [asked] * 3
    assert sorted(one.item_id for one in found.items) == ["#", "a", "b c"]
    assert found.payment is not None
    assert found.payment.order_id == asked


@pytest.mark.parametrize("asked", AWKWARD, ids=ascii)
def test_a_limit_reads_past_what_sorts_between_root_and_children(asked: str, db: Database) -> None:
    for order_id in AWKWARD:
        store(db, order(order_id), *(item(order_id, f"{n:02d}") for n in range(4)))
    found = db.run(OrderWithItems.of(Order.primary("C1", asked)).limit(3))
    assert found is not None
    assert found.order.order_id == asked
    assert [(one.order_id, one.item_id) for one in found.items] == [
        (asked, "00"),
        (asked, "01"),
        (asked, "02"),
    ]


def test_more_than_a_megabyte_is_one_aggregate(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}", note="x" * 100_000) for n in range(25)))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert [one.item_id for one in found.items] == [f"{n:03d}" for n in range(25)]


def test_a_limit_above_a_megabyte_is_filled(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}", note="x" * 100_000) for n in range(25)))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")).limit(20))
    assert found is not None
    assert len(found.items) == 20


def test_a_limit_is_the_root_and_the_first_children(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}") for n in range(9)))
    for size in (1, 3, 9, 20):
        found = db.run(OrderWithItems.of(Order.primary("C1", "1")).limit(size))
        assert found is not None
        assert [one.item_id for one in found.items] == [f"{n:03d}" for n in range(9)][:size]


def test_a_limit_with_rows_of_other_entities_before_the_members_is_refused() -> None:
    class OrderWithParcels(Aggregate):
        order: Order = root()
        parcels: list[Delivery] = children()

    plan = OrderWithParcels.of(Order.primary("C1", "1")).limit(3)
    with pytest.raises(DeclarationError, match=r"limit\(3\) cannot be kept: rows of OrderItem"):
        explain(plan)


def test_a_limit_does_not_read_rows_of_other_entities_after_the_members(db: Database) -> None:
    parcels = [Delivery(customer_id="C1", order_id="1", parcel=n) for n in range(50)]
    store(db, order("1"), *(item("1", f"{n}") for n in range(3)), *parcels)
    plan = OrderWithItems.of(Order.primary("C1", "1")).limit(9)
    assert explain(plan).condition.endswith('SK BETWEEN "ORDER#1" AND "ORDER#1#ITEM$"')
    found, requests = run_counted(db, plan)
    assert found is not None
    assert len(found.items) == 3
    assert requests == 1


@pytest.mark.parametrize("descending", [False, True])
def test_rows_between_a_root_and_its_children_take_one_more_request(
    descending: bool, db: Database
) -> None:
    store(db, order("1"), *(item("1", f"{n}", note="x") for n in range(5)))
    for number in range(9):
        store(db, item(f"1 {number}", "a", note="x" * 390_000))
    plan = OrderWithItems.of(Order.primary("C1", "1"))
    found, requests = run_counted(db, plan.desc() if descending else plan)
    assert found is not None
    assert [one.item_id for one in found.items] == sorted("01234", reverse=descending)
    assert requests == 2
    found, requests = run_counted(db, plan.limit(4))
    assert found is not None
    assert [one.item_id for one in found.items] == list("0123")
    assert requests == 2


def test_a_missing_root_is_noticed_by_the_first_request(db: Database) -> None:
    store(db, *(order(f"1 {number:03d}") for number in range(200)), item("1", "a"))
    store(db, *(item("2", "a" * number, note="x" * 390_000) for number in range(1, 7)))
    for order_id in "12":
        plan = OrderWithItems.of(Order.primary("C1", order_id))
        for each in (plan, plan.limit(2), plan.limit(5)):
            found, requests = run_counted(db, each)
            assert found is None
            assert requests == 1


def run_counted(db: Database, plan: Plan[T]) -> tuple[T, int]:
    """Return the result of a plan, and how many requests it took."""
    events: list[RequestEvent] = []
    result = run_within_range(db, plan, events=events)
    return result, len(events)


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_limit_that_is_no_count_is_refused(size: Any) -> None:
    with pytest.raises(InvalidValue, match="the number must be an int, at least 1"):
        OrderWithItems.of(Order.primary("C1", "1")).limit(size)


def test_desc_reverses_the_children(db: Database) -> None:
    store(db, order("1"), *(item("1", name) for name in "abc"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")).desc())
    assert found is not None
    assert found.order == order("1")
    assert [one.item_id for one in found.items] == ["c", "b", "a"]


def test_a_limit_is_refused_when_the_root_comes_last(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1")).desc().limit(2)
    with pytest.raises(DeclarationError, match=r"limit\(\) needs the root first.*without desc"):
        db.run(plan)


def test_a_consistent_aggregate_says_so(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1"))
    assert "ConsistentRead" not in body_of(plan, db)
    assert body_of(plan.consistent(), db)["ConsistentRead"] is True


def test_a_consistent_root_makes_a_consistent_aggregate(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1").consistent())
    assert body_of(plan, db).get("ConsistentRead") is True


# -- children beside their root --------------------------------------------------------------------


def test_children_that_are_beside_their_root_come_from_the_whole_partition(db: Database) -> None:
    complaint = Complaint(customer_id="C1", order_id="2")
    store(db, Profile(customer_id="C1"), order("1"), order("2"), item("1", "a"), complaint)
    store(db, Profile(customer_id="C10"), order("9", customer_id="C10"))
    found = db.run(Account.of(Profile.primary("C1")))
    assert found is not None
    assert found.profile == Profile(customer_id="C1")
    assert found.orders == [order("1"), order("2")]
    assert found.complaints == [complaint]


def test_levels_below_a_root_that_is_beside_them(db: Database) -> None:
    store(db, Profile(customer_id="C1"))
    for order_id in ("1", "10", "1 x"):
        store(db, order(order_id), item(order_id, "a"))
    found = db.run(AccountTree.of(Profile.primary("C1")))
    assert found is not None
    held = {tree.order.order_id: [one.order_id for one in tree.items] for tree in found.orders}
    assert held == {"1": ["1"], "10": ["10"], "1 x": ["1 x"]}


class Dispute(Aggregate):
    order: Order = root()
    complaints: list[Complaint] = children()


def test_children_beside_a_root_that_is_one_of_many_are_refused() -> None:
    """Nothing says whose they are; so the aggregate of one would hold those of the others."""
    with pytest.raises(
        DeclarationError,
        match=r"Dispute: Complaint\.primary is beside Order\.primary, not below it",
    ):
        Dispute.of(Order.primary("C1", "2"))


def test_children_beside_a_root_that_is_found_first_are_refused_as_well() -> None:
    with pytest.raises(DeclarationError, match=r"Complaint\.primary is beside Order\.primary"):
        Dispute.of(Order.by_state("open").first())


class Disputes(Aggregate):
    profile: Profile = root()
    disputes: list[Dispute] = children()


def test_children_beside_the_root_of_a_member_are_refused_as_well() -> None:
    """The profile is one; the orders below it are many, and the complaints lie beside them."""
    with pytest.raises(DeclarationError, match=r"Complaint\.primary is beside Order\.primary"):
        Disputes.of(Profile.primary("C1"))


def test_the_root_is_the_one_that_was_asked_for(db: Database) -> None:
    """A partition may hold several roots."""
    store(db, order("1"), item("1", "a"), order("2"), item("2", "a"), item("3", "a"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "2")))
    assert found is not None
    assert found.order == order("2")
    assert found.items == [item("2", "a")]


def test_without_the_root_that_was_asked_for_there_is_no_aggregate(db: Database) -> None:
    store(db, order("1"), item("1", "a"), item("2", "a"))
    assert db.run(OrderWithItems.of(Order.primary("C1", "2"))) is None
