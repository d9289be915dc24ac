"""The repr of a plan, which debuggers and error messages show, never raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tablewright.plans
from tablewright.designs.catalog import bundled
from tablewright.plans import Plan
from tests.plan.reads.store import Invoice


def _subclasses(kind: type[Plan[Any]]) -> Iterator[type[Plan[Any]]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def test_a_plan_with_a_value_that_its_key_does_not_take_has_a_repr() -> None:
    shown = repr(Invoice.primary.within(3))  # type: ignore[arg-type]
    assert shown.startswith("Range(<InvalidValue(")
    assert "customer is 3 of type int" in shown


@pytest.mark.parametrize(
    "kind", sorted(set(_subclasses(Plan)), key=str), ids=lambda kind: kind.__name__
)
def test_the_repr_of_a_plan_without_attributes_names_its_type(kind: type[Plan[Any]]) -> None:
    assert tablewright.plans.Plan in kind.__mro__
    assert repr(object.__new__(kind)).endswith(")")


@pytest.mark.parametrize("design", bundled(), ids=lambda design: design.name)
def test_the_plan_of_each_pattern_has_a_repr_with_symbols(design: Any) -> None:
    for pattern in design.patterns:
        assert "<" not in repr(pattern.plan)
