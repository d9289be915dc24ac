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
    ],
)
def test_other_writes_are_no_transactions_of_one_item(
    tmp_path: Path, plan: str, parameters: str
) -> None:
    assert find(tmp_path, ORDER + pattern(plan, parameters), "single-item-transaction") == []
