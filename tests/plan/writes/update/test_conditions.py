"""Updates under conditions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright import Engine, put, update
from tablewright.database import Database
from tablewright.errors import ConditionFailed
from tablewright.plans import Condition
from tests.plan.writes.update.orders import AT, Order, Status, item

FULL = Order(
    customer="C1",
    number=7,
    at=AT,
    status=Status.PAID,
    city="Bern",
    rank=5,
    total=Decimal(20),
    tags={"a", "b"},
    lines=["x", "y"],
)


HOLD: list[Condition[Order]] = [
    Order.total == Decimal(20),
    Order.total != Decimal(21),
    Order.total < Decimal(21),
    Order.total <= Decimal(20),
    Order.total > Decimal(19),
    Order.total >= Decimal(20),
    Order.total.between(Decimal(20), Decimal(20)),
    Order.status.in_([Status.NEW, Status.PAID]),
    Order.city.exists(),
    Order.city != None,  # noqa: E711  # a condition, not a question
    Order.note.not_exists(),
    Order.note == None,  # noqa: E711
    Order.note != "x",
    Order.customer.begins_with("C"),
    Order.customer.contains("1"),
    Order.tags.contains("a"),
    Order.lines.contains("y"),
    Order.at <= AT,
    (Order.total > Decimal(19)) & (Order.rank == 5),
    (Order.total > Decimal(20)) | (Order.rank == 5),
    ~(Order.total > Decimal(20)),
    ~((Order.total > Decimal(19)) & (Order.rank == 6)),
    ((Order.rank == 1) | (Order.rank == 5)) & ~(Order.city == "Chur"),
]


FAIL: list[tuple[Condition[Order], str]] = [
    (Order.total == Decimal(21), "total = Decimal('21')"),
    (Order.total != Decimal(20), "total <> Decimal('20')"),
    (Order.total < Decimal(20), "total < Decimal('20')"),
    (Order.total <= Decimal(19), "total <= Decimal('19')"),
    (Order.total > Decimal(20), "total > Decimal('20')"),
    (Order.total >= Decimal(21), "total >= Decimal('21')"),
    (Order.total.between(Decimal(1), Decimal(2)), "total BETWEEN Decimal('1') AND Decimal('2')"),
    (Order.rank.in_([1, 2]), "rank IN (1, 2)"),
    (Order.note.exists(), "attribute_exists(note)"),
    (Order.city.not_exists(), "attribute_not_exists(city)"),
    (Order.note == "x", "note = 'x'"),
    (Order.note < "x", "note < 'x'"),
    (Order.customer.begins_with("D"), "begins_with(customer, 'D')"),
    (Order.customer.contains("2"), "contains(customer, '2')"),
    (Order.tags.contains("c"), "contains(tags, 'c')"),
    (Order.lines.contains("z"), "contains(lines, 'z')"),
    ((Order.total == Decimal(20)) & (Order.rank == 6), "rank = 6"),
    ((Order.rank == 1) | (Order.rank == 2), "(rank = 1 OR rank = 2)"),
    (~(Order.rank == 5), "NOT (rank = 5)"),
]


@pytest.mark.parametrize("condition", HOLD, ids=repr)
def test_a_write_under_a_condition_that_holds_is_done(
    db: Database, condition: Condition[Order]
) -> None:
    db.run(put(FULL))

    updated = db.run(Order.primary("C1", 7).update(Order.street.set("x")).condition(condition))
    assert updated.street == "x"
    db.run(put(FULL).condition(condition))
    assert db.run(Order.primary("C1", 7).delete().condition(condition)) == FULL


@pytest.mark.parametrize(("condition", "told"), FAIL, ids=[told for _, told in FAIL])
def test_a_write_under_a_condition_that_does_not_hold_is_refused_and_says_which(
    db: Database, engine: Engine, condition: Condition[Order], told: str
) -> None:
    db.run(put(FULL))
    before = item(engine)

    for write in (
        Order.primary("C1", 7).update(Order.note.set("x")).condition(condition),
        Order.primary("C1", 7).update(Order.city.set("x")).condition(condition),
        put(FULL).condition(condition),
        Order.primary("C1", 7).delete().condition(condition),
    ):
        with pytest.raises(ConditionFailed) as refused:
            db.run(write)
        assert f"the condition {told} is false" in str(refused.value)
        assert refused.value.entity == "Order"
        assert refused.value.current == FULL
    assert item(engine) == before


def test_a_refused_update_leaves_the_instance_as_it_was(db: Database, order: Order) -> None:
    before = dict(vars(order))

    with pytest.raises(ConditionFailed):
        db.run(update(order, Order.note.set("x")).condition(Order.total > Decimal(100)))

    assert vars(order) == before


def test_a_condition_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"combine conditions with & \| ~"):
        bool(Order.rank == 5)
