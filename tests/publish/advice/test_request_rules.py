"""Rules of requests: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.publish.advice.designs import ORDER, find

PATTERN = """
@access_pattern
def pattern({parameters}) -> {kind}:
    return {plan}
"""


def pattern(plan: str, parameters: str = "order: Order", kind: str = "Transaction") -> str:
    return PATTERN.format(plan=plan, parameters=parameters, kind=kind)


def test_a_transaction_with_one_write(tmp_path: Path) -> None:
    source = ORDER + pattern("transact(create(order))")
    (finding,) = find(tmp_path, source, "single-item-transaction")
    assert finding.subject == "pattern()"
    assert finding.reason.endswith("about 2 write units instead of 1")


def test_a_transaction_with_one_read(tmp_path: Path) -> None:
    source = ORDER + pattern(
        "transact_get(Order.primary(id))", "id: str", "TransactGet[tuple[Order | None]]"
    )
    source = "from tablewright.plans import TransactGet\n" + source
    (finding,) = find(tmp_path, source, "single-item-transaction")
    assert "reads one item" in finding.reason


@pytest.mark.parametrize(
    ("plan", "parameters"),
    [
        ("transact(create(order), Order.primary('O').delete())", "order: Order"),
        ("transact(*(create(order) for order in orders))", "orders: list[Order]"),
        ("create(order)", "order: Order"),
        (
            "require(transact(create(order)), Order.primary('O'), Order.status == 'paid')",
            "order: Order",
        ),
    ],
)
def test_other_writes_are_no_transactions_of_one_item(
    tmp_path: Path, plan: str, parameters: str
) -> None:
    source = "from tablewright.plan.writes.several import require\n" + ORDER
    assert find(tmp_path, source + pattern(plan, parameters), "single-item-transaction") == []


SAMPLE = """
def sample() -> list[Order]:
    statuses = {statuses!r}
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [Order(id=f"O{{n:02}}", status=status, at=at) for n, status in enumerate(statuses)]
"""
#: All orders are in one partition.
LISTED = ORDER.replace('"ORDER" / id, "ORDER" / id.again', '"ORDERS", "ORDER" / id')
FIXED = pattern('Order.primary.within().filter(Order.status == "late")', "", "Query[Order]")
GIVEN = pattern(
    "Order.primary.within().filter(Order.status == status)", "status: str", "Query[Order]"
)
CHECKS = """
def checks(stored):
    from tablewright.verify import Check
    expect = [order for order in stored(Order) if order.status == "late"]
    yield Check("late orders", pattern("late"), expect)
"""


def of_filters(folder: Path, source: str, late: int) -> list[tuple[str, str]]:
    statuses = ["late"] * late + ["new"] * (20 - late)
    found = find(folder, LISTED + source + SAMPLE.format(statuses=statuses))
    return [(each.rule, f"{each.reason}; {each.fix}") for each in found if "filter" in each.reason]


def test_a_filter_that_discards_most_of_the_sample_data(tmp_path: Path) -> None:
    ((rule, reason),) = of_filters(tmp_path, FIXED, 6)
    assert rule == "discarding-filter"
    assert "keeps 6 of 20 items in the sample data" in reason
    assert of_filters(tmp_path, FIXED, 12) == []


def test_a_filter_that_a_sparse_index_could_replace(tmp_path: Path) -> None:
    ((rule, reason),) = of_filters(tmp_path, FIXED, 2)
    assert rule == "sparse-index"
    assert "keeps 2 of 20 items" in reason
    assert reason.endswith("index(…, when=status == 'late')")


def test_a_filter_that_discards_most_of_what_the_checks_read(tmp_path: Path) -> None:
    ((rule, reason),) = of_filters(tmp_path, GIVEN + CHECKS, 2)
    assert rule == "discarding-filter"
    assert "keeps 2 of 20 items in the checks" in reason
    assert of_filters(tmp_path, GIVEN + CHECKS, 12) == []


def test_sample_data_do_not_tell_what_a_range_reads(tmp_path: Path) -> None:
    assert of_filters(tmp_path, FIXED.replace("within()", 'within().gte("O10")'), 2) == []


def test_without_sample_data_a_filter_is_not_judged(tmp_path: Path) -> None:
    assert [each.rule for each in find(tmp_path, LISTED + FIXED)] == ["hot-partition"]


LINES = """
class Line(Entity, table=Shop):
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("ORDER" / order_id, "ORDER" / order_id.again / "LINE" / number)

class Whole(Aggregate):
    order: Order = root()
    lines: {kind} = children()
"""


def aggregate(plan: str, kind: str = "list[Line]") -> str:
    return ORDER + LINES.format(kind=kind) + pattern(plan, "id: str", "Load[Whole]")


def test_an_aggregate_without_a_limit(tmp_path: Path) -> None:
    source = aggregate("Whole.of(Order.primary(id))")
    source += """
def sample():
    order = Order(id="O", status="new", at=datetime(2026, 1, 1, tzinfo=UTC))
    return [order, *(Line(order_id="O", number=n) for n in range(4))]
"""
    (finding,) = find(tmp_path, source, "unbounded-aggregate")
    assert finding.severity == "note"
    assert "it reads all of lines, however many there are (up to 4 with" in finding.reason


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        ("Whole.of(Order.primary(id)).limit(10)", "list[Line]"),
        ("Whole.of(Order.primary(id))", "Page[Line]"),
    ],
)
def test_aggregates_with_a_limit(tmp_path: Path, plan: str, kind: str) -> None:
    assert find(tmp_path, aggregate(plan, kind), "unbounded-aggregate") == []


BEFORE_ITS_ROOT = """
class Order(Entity, table=Shop):
    id: Attr[str] = attr()
    primary = key("ORDER" / id, "{root}")

class Line(Entity, table=Shop):
    id: Attr[str] = attr()
    number: Attr[str] = attr()
    primary = key("ORDER" / id, "LINE" / number)

class Note(Entity, table=Shop):
    id: Attr[str] = attr()
    number: Attr[str] = attr()
    primary = key("ORDER" / id, "NOTE" / number)

class Whole(Aggregate):
    order: Order = root()
    lines: list[Line] = children()
    notes: list[Note] = children()

@access_pattern
def whole(id: str) -> Load[Whole]:
    return Whole.of(Order.primary(id))
"""


@pytest.mark.parametrize(
    ("root", "fix"),
    [
        ("HEAD", "….limit(n), or a member that is a page: notes: Page[Note] = children()"),
        (
            "ORDER",
            "….desc().limit(n), or a member that is a page, read with ….desc(): "
            "lines: Page[Line] = children()",
        ),
        ("MIDDLE", "a member that is a page: notes: Page[Note] = children()"),
    ],
)
def test_an_aggregate_is_limited_as_its_keys_allow(tmp_path: Path, root: str, fix: str) -> None:
    source = BEFORE_ITS_ROOT.format(root=root)
    (finding,) = find(tmp_path, source, "unbounded-aggregate")
    assert finding.fix == fix
