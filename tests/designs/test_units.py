"""What `explain` states of a pattern, and what the engine consumes for it."""

from __future__ import annotations

import math

import pytest

from tablewright import connect
from tablewright.designs.catalog import bundled, load
from tablewright.plan.units import UnitRange
from tablewright.plans import Shape
from tablewright.verify.run import Result, verify

NAMES = [design.name for design in bundled()]


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_consumes_what_explain_states(name: str) -> None:
    design = load(name)
    shapes: dict[str, list[Shape]] = {}
    for pattern in design.patterns:  # the four ways of the menu have patterns of one name
        shapes.setdefault(pattern.name, []).append(pattern.shape)
    with connect(":memory:", *design.tables) as db:
        results = list(verify(design, db))
    assert results
    for result in results:
        assert any(_states(shape, result) for shape in shapes[result.pattern]), result


def _states(shape: Shape, result: Result) -> bool:
    pages = result.requests if shape.operation == "Query" else 1
    reads = UnitRange(shape.read_range.low, shape.read_range.high * pages)
    if not result.requests:
        return True  # refused before anything was sent
    return result.read_units in reads and result.write_units <= shape.write_range.high


@pytest.mark.parametrize("name", NAMES)
def test_the_range_of_a_pattern_is_finite_unless_it_changes_a_whole_collection(name: str) -> None:
    unbounded = {
        pattern.name
        for pattern in load(name).patterns
        if math.isinf(pattern.shape.read_range.high) or math.isinf(pattern.shape.write_range.high)
    }
    changed = {"rename_menu", "rename_section", "delete_menu", "delete_section"}
    assert unbounded == (changed if name == "menu" else set())


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_of_a_pattern_and_of_each_request_is_in_its_range(name: str) -> None:
    for pattern in load(name).patterns:
        for shape in (pattern.shape, *pattern.shape.requests):
            assert shape.read_units in shape.read_range, (pattern.name, str(shape))
            assert shape.write_units in shape.write_range, (pattern.name, str(shape))
