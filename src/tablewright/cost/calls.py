"""Calls: what each call of an access pattern consumes, from the trace of a design's checks.

A call that is expected to fail is one that is refused, if it sends a request: DynamoDB charges a
write whose condition fails. This module must not know rates or prices, and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tablewright.capacity import CHARGED_FAULTS
from tablewright.cost.units import Consumption, item_write, page_read, unchanged_item
from tablewright.errors import (
    InvalidValue,
)
from tablewright.verify.design import Design
from tablewright.verify.trace import Trace, TracedRequest
from tablewright.wire.operations import OPERATIONS

#: The reason of the units of a write whose condition fails.
REFUSED = "refused: a condition fails"


class PatternCall(Struct, frozen=True):
    """What a check called, and what that consumed."""

    #: The pattern with its module, as in `AccessPattern.label`.
    pattern: str
    consumed: tuple[Consumption, ...]
    #: How many calls it stands for: the pages of a query, each of which is a call.
    count: int = 1
    #: Whether it was refused, as the check expects.
    is_refused: bool = False


def pattern_calls(design: Design, trace: Trace) -> list[PatternCall]:
    """Return the calls of the patterns of a design; raise InvalidValue if a check cannot run."""
    if trace.failed:
        raise InvalidValue(
            f"{design.name}: the check {trace.failed[0]!r} fails, so the cost of the design is not "
            f"known; `tablewright verify {design.name}` shows why"
        )
    return [
        PatternCall(
            found.label,
            tuple(each for request in found.requests for each in consumption(request)),
            found.check.pages,
            found.is_refused,
        )
        for found in trace.checks
        if found.label and (found.requests or not found.is_refused)
    ]


def consumption(request: TracedRequest) -> Iterator[Consumption]:
    """Yield what a request consumes; one that fails is charged if its conditions are refused."""
    in_transaction = OPERATIONS[request.operation].is_transaction
    is_refused = isinstance(request.error, CHARGED_FAULTS)
    if request.error is not None and not is_refused:
        return
    for read in request.reads:
        yield page_read(
            read.table, read.index, read.items, factor=read.factor, reason=request.operation
        )
    for write in request.writes:
        if is_refused or write.is_check:
            reason = REFUSED if is_refused else "condition check"
            yield unchanged_item(
                write.table, write.key, write.before, transaction=in_transaction, reason=reason
            )
        else:
            yield from item_write(
                write.table, write.key, write.before, write.after, transaction=in_transaction
            )
