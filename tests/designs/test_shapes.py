"""Every request that the checks of a design send is one that the shape of its pattern states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tablewright import connect
from tablewright.designs.catalog import BUNDLED, load
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.table import TableMap
from tablewright.plan.facts import WholeScan, WrittenEvent
from tablewright.plan.plan import AnyRequest
from tablewright.plan.query_requests import QueryRequest
from tablewright.plan.shape import Shape
from tablewright.symbol import Expression, parts_of
from tablewright.verify.checks import Check
from tablewright.verify.run import verify
from tests.sent import Access, accesses_of

NAMES = list(BUNDLED)


def stated(shape: Shape) -> Iterator[Access]:
    """Yield what a shape says that its plan reads and writes."""
    for request in shape.requests:
        for part in request.steps or (request,):
            yield from _stated(part)
            for branch in part.branches:
                yield from stated(branch)


def _stated(part: Shape) -> Iterator[Access]:
    index = part.index if part.operation in ("Query", "Scan") else None
    for key in part.keys:
        yield Access(kind_of(part.operation), part.table, index, key)
    for fact in part.assignments:
        if isinstance(fact, WrittenEvent):
            yield Access("Put", part.table, None, fact.history.event.primary.symbolic())


def kind_of(operation: str) -> str:
    """Return what an operation does with one item: `Get`, `Put`, `Query`."""
    names = {"BatchGetItem": "Get", "TransactGetItems": "Get"}
    return names.get(operation, operation.removesuffix("Item"))


def is_stated(sent: Access, shape: Access) -> bool:
    return (sent.kind, sent.table, sent.index) == (shape.kind, shape.table, shape.index) and (
        isinstance(shape.key, WholeScan)
        if sent.key is None
        else isinstance(sent.key, KeyCondition)
        and isinstance(shape.key, KeyCondition)
        and has_form(sent.key, shape.key)
    )


def has_form(sent: KeyCondition, shape: KeyCondition) -> bool:
    """Return whether a key condition is one with values for what is not known.

    Of an item that is written for each row of a range, the range is stated.
    """
    if sent.sort is None and shape.equal.keys() < sent.equal.keys():
        shape = KeyCondition(shape.equal)
        sent = KeyCondition({name: sent.equal[name] for name in shape.equal})
    if sent.equal.keys() != shape.equal.keys() or (sent.sort is None) != (shape.sort is None):
        return False
    pairs = [(value, shape.equal[name]) for name, value in sent.equal.items()]
    if sent.sort is not None and shape.sort is not None:
        if (sent.sort.attribute, sent.sort.comparison) != (
            shape.sort.attribute,
            shape.sort.comparison,
        ):
            return False
        pairs += zip(sent.sort.values, shape.sort.values, strict=True)
    return all(
        one.keys() == other.keys() and fits(one[tag], parts_of(other[tag]))
        for one, other in pairs
        for tag in one
    )


def fits(text: str, parts: tuple[str | Expression, ...]) -> bool:
    """Return whether a text consists of these literals, with any text for an expression."""
    if not parts:
        return not text
    first, rest = parts[0], parts[1:]
    if isinstance(first, str):
        return text.startswith(first) and fits(text[len(first) :], rest)
    return any(fits(text[end:], rest) for end in range(1, len(text) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_sends_what_its_shape_states(name: str) -> None:
    design = load(name)
    tables: dict[str, TableMap] = {each.__table__.name: each.__table__ for each in design.tables}
    shapes = {pattern.label: pattern.shape for pattern in design.patterns}
    sent: list[AnyRequest] = []
    started: list[Check] = []

    def checks(stored: Any) -> Iterator[Check]:
        assert design.checks is not None
        for check in design.checks(stored):
            sent.clear()
            started.append(check)
            yield check

    def record(request: AnyRequest) -> AnyRequest:
        sent.append(request)
        return request

    with connect(":memory:", *design.tables) as db:
        db._context = replace(db._context, tenant_check=record)
        covered = set()
        for result in verify(replace(design, checks=checks), db):
            assert result.ok, result
            known, traced = started[-1].plan._shape(), shapes[result.label]
            for request in sent:
                for access in accesses_of(request, tables):
                    is_listed = request.operation.startswith("Batch")  # of which one key is stated
                    for shape in (traced,) if is_listed else (traced, known):
                        assert any(is_stated(access, each) for each in stated(shape)), (
                            result.label,
                            access,
                            str(shape),
                        )
                    if isinstance(request, QueryRequest) and request.operation == "Query":
                        ordered = [each for each in traced.requests if each.operation == "Query"]
                        forward = request.members.get("ScanIndexForward", True)
                        orders = {each.order for each in ordered}
                        assert orders & {"", "ascending" if forward else "descending"}
                covered.add(result.label)
        assert covered == shapes.keys()
