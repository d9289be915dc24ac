"""Shapes: what a plan will ask of DynamoDB, without running it.

A shape consists of values: entities, indexes, key conditions, conditions. A read has the shape of
the request that its plan makes (see `read_shape`), with expressions where a value is not known yet.
`explain(pattern)` shows it as text: `PK="USER" AND SK="USER#{id}"` (see `explanation.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.table import TableMap
from tablewright.plan import explanation, facts
from tablewright.plan.change import Change
from tablewright.plan.query_requests import QueryRequest
from tablewright.symbol import Expression, expressions_in, member_of_list
from tablewright.transport.transport import Request
from tablewright.wire.operations import READS

#: The assumed size of a value of each type in bytes, for estimates.
TYPICAL = {"S": 24, "N": 5, "BOOL": 1, "B": 64, "L": 120, "M": 120, "SS": 60, "NS": 20, "BS": 120}
#: The assumed number of items on a page without a limit; DynamoDB ends it at 1 MB.
TYPICAL_PAGE = 20
T = TypeVar("T")
Order = Literal["", "ascending", "descending"]


class Shape(Struct, frozen=True):
    """What a plan asks of DynamoDB."""

    operation: str
    tables: tuple[TableMap, ...]
    #: The entities, and the unique values whose sentinels are read or written.
    targets: tuple[facts.Target, ...]
    #: The indexes that a read uses, and those whose keys a write sets; none for the table itself.
    indexes: tuple[IndexMap, ...] = ()
    #: The condition on the key; several, if there are several requests or keys.
    keys: tuple[facts.ShapeKey, ...] = ()
    order: Order = ""
    #: How much a read returns, or how many actions a write has.
    extent: facts.Extent | None = None
    #: The parts in which a range is read at the same time, as steps.
    parts: facts.Parts | None = None
    #: The filters of a read; of a write, the conditions of the caller.
    filters: tuple[facts.ShapeFilter, ...] = ()
    #: The attributes that a read with a projection names; empty if it reads whole items.
    attributes: tuple[str, ...] = ()
    #: The units for items of typical size, and the lowest and highest possible.
    read_units: float = 0
    write_units: float = 0
    read_range: facts.UnitRange = facts.NOTHING
    write_range: facts.UnitRange = facts.NOTHING
    #: The requests of a plan with several, and the actions of a transaction.
    steps: tuple[Shape, ...] = ()
    #: What is sent instead, where that depends on what is stored or has changed.
    branches: tuple[Shape, ...] = ()
    #: What a write sets, with the index keys that follow.
    assignments: tuple[facts.Assignment, ...] = ()
    #: What must hold for a write to be applied.
    requirements: tuple[facts.Requirement, ...] = ()

    # -- as text -----------------------------------------------------------------------------

    @property
    def table(self) -> str:
        """The names of the tables."""
        return ", ".join(table.name for table in self.tables)

    @property
    def entity(self) -> str:
        """The names of the entities; of sentinels, their type."""
        return ", ".join(map(explanation.target, self.targets))

    @property
    def index(self) -> str | None:
        """The names of the indexes; None for the table itself."""
        return ", ".join(index.name for index in self.indexes) or None

    @property
    def condition(self) -> str:
        """The condition on the key: `PK="USER" AND SK="USER#{id}"`."""
        text = "; ".join(map(explanation.key_text, self.keys))
        return text if self.parts is None else f"{text}, {explanation.parts_text(self)}"

    @property
    def page(self) -> str:
        """How much a read returns, or how many actions a write has, as text."""
        text = "" if self.extent is None else explanation.extent_text(self.extent)
        return text if self.parts is None else f"{text} of each {self.parts.name}"

    @property
    def filter(self) -> str:
        """The filters of a read, or the conditions of the caller of a write, as text."""
        return " AND ".join(map(explanation.filter_text, self.filters))

    @property
    def sets(self) -> tuple[str, ...]:
        """What a write sets, with the index keys that follow: `status = {status}`."""
        return tuple(map(explanation.assignment, self.assignments))

    @property
    def requires(self) -> tuple[str, ...]:
        """What must hold for a write to be applied: `the item exists`."""
        return tuple(map(explanation.requirement, self.requirements))

    @property
    def units(self) -> str:
        """The units: an estimate for items of a typical size, and the maximum."""
        return self.show_units("estimate", self.read_units, self.write_units)

    def show_units(self, label: str, reads: float, writes: float) -> str:
        """Return units as text: `1 read, 7 write (LABEL); at most 100 read, 6,400 write`."""
        both = ((reads, "read", self.read_range), (writes, "write", self.write_range))
        amounts = [f"{round(amount, 2):g} {kind}" for amount, kind, _ in both if amount]
        most = [whole.most(kind) for _, kind, whole in both if whole != facts.NOTHING]
        return f"{', '.join(amounts) or 'none'} ({label}); at most {', '.join(most)}"

    def __str__(self) -> str:
        return "\n".join(explanation.lines(self))

    # -- requests ----------------------------------------------------------------------------

    @property
    def requests(self) -> tuple[Shape, ...]:
        """Return every request of the plan, in order; a transaction's steps are its actions."""
        if not self.steps:
            return (self,)
        writes = [step.requests for step in self.steps]
        if self.operation != "TransactWriteItems":
            return tuple(chain.from_iterable(writes))
        if not any(step.steps for step in self.steps):  # the requests and actions of one write
            writes = [self.steps]
        before: list[Shape] = []
        after: list[Shape] = []
        for requests in writes:
            is_read = [request.operation in READS for request in requests]
            first = is_read.index(False) if False in is_read else len(is_read)
            before += requests[:first]
            after += compress(requests[first:], is_read[first:])
        actions = [action for step in self.steps for action in step._actions()]
        own = replace(self, steps=tuple(actions), read_units=0, read_range=facts.NOTHING)
        return (*before, own, *after)

    def _actions(self) -> list[Shape]:
        """Return the actions of a write inside of a transaction."""
        if self.operation in READS:
            return []
        if not self.operation.endswith(("Item", "Items")):
            return [self]
        if self.operation == "TransactWriteItems":
            return [action for step in self.steps for action in step._actions()] or [self]
        return [
            replace(
                self,
                operation=action_name(self.operation),
                branches=tuple(
                    replace(e, operation=action_name(e.operation)) for e in self.branches
                ),
                read_units=0,
                read_range=facts.NOTHING,
                write_units=self.write_units * TRANSACTION_FACTOR,
                write_range=self.write_range * TRANSACTION_FACTOR,
                steps=(),
            )
        ]

    @property
    def is_write(self) -> bool:
        """Whether the plan writes anything."""
        return self.write_range != facts.NOTHING

    @property
    def changes(self) -> tuple[Change[Any], ...]:
        """The changes of an update."""
        return tuple(each for each in self.assignments if isinstance(each, Change))

    @property
    def changed_names(self) -> frozenset[str]:
        """The attributes that an update changes, with those that the library sets."""
        return frozenset(
            each.name for each in self.assignments if isinstance(each, Change | facts.Stamped)
        )

    @property
    def transaction_factor(self) -> int:
        """How many times its units a write consumes in a transaction, where items count double."""
        # These are in one anyway, so their units are those of one already.
        is_in_one = self.operation in ("TransactWriteItems", "ConditionCheck")
        return 1 if is_in_one else TRANSACTION_FACTOR

    @property
    def in_transaction(self) -> facts.UnitRange:
        """The units of a write in a transaction."""
        return self.write_range * self.transaction_factor

    def expressions(self) -> Iterator[Expression]:
        """Yield the expressions that stand for values that are not known yet, and their parts."""
        yield from expressions_in([*self.key_values])
        for fact in (self.extent, *self.filters, *self.assignments, *self.requirements):
            yield from expressions_in(facts.values_of(fact))
        for step in (*self.steps, *self.branches):
            yield from step.expressions()

    @property
    def is_for_each(self) -> bool:
        """Whether it stands for any number of requests, one for each member of a list argument."""
        return member_of_list(self.key_values) is not None

    @property
    def key_values(self) -> Iterator[Mapping[str, Any]]:
        """The values that key attributes are compared with."""
        for key in self.keys:
            if isinstance(key, KeyCondition):
                yield from key.equal.values()
                yield from () if key.sort is None else key.sort.values


def read_shape(
    request: Request | QueryRequest, targets: Iterable[facts.Target], tables: Iterable[TableMap]
) -> Shape:
    """Return the shape of a request that reads; the units are those of no items."""
    members = request.members if isinstance(request, QueryRequest) else request.body
    order: Order = ""
    names: tuple[str, ...] = ()
    keys: tuple[facts.ShapeKey, ...] = ()
    if isinstance(request, QueryRequest):
        condition, names = request.selection.condition, request.selection.named_attributes()
        keys = () if condition is None else (condition,)
        if request.operation == "Query":
            order = "ascending" if members.get("ScanIndexForward", True) else "descending"
    else:
        keys = (KeyCondition(members["Key"]),)
    tables = distinct(tables)
    index = members.get("IndexName")
    return Shape(
        request.operation,
        tables,
        distinct(targets),
        () if index is None else (tables[0].indexes[index],),
        keys,
        order,
        attributes=names,
    )


def shape_of(steps: Sequence[Shape], **members: Any) -> Shape:
    """Return the shape of several steps: the sum of theirs, with these members."""
    found: dict[str, Any] = {
        "operation": " + ".join(step.operation for step in steps),
        "tables": distinct(table for step in steps for table in step.tables),
        "targets": distinct(target for step in steps for target in step.targets),
        "read_units": sum(step.read_units for step in steps),
        "write_units": sum(step.write_units for step in steps),
        "read_range": facts.total(step.read_range for step in steps),
        "write_range": facts.total(step.write_range for step in steps),
        "steps": tuple(steps),
    }
    return Shape(**(found | members))


def in_turn(first: Shape, *following: Shape) -> Shape:
    """Return the shape of requests that are made one after the other."""
    steps = (first, *following)
    whole = shape_of(
        steps,
        indexes=tuple(index for step in steps for index in step.indexes),
        keys=tuple(key for step in steps for key in step.keys),
    )
    # The first request may find nothing.
    return replace(
        whole,
        read_range=replace(whole.read_range, low=first.read_range.low),
        write_range=replace(whole.write_range, low=first.write_range.low),
    )


def action_name(operation: str) -> str:
    """Return what an operation on an item is called in a transaction: `Put`."""
    return operation.removesuffix("Item")


def distinct(values: Iterable[T]) -> tuple[T, ...]:
    """Return each object once."""
    return tuple({id(each): each for each in values}.values())


def typical_size(entity: EntityMap) -> int:
    """Estimate the size of an item of the entity, in bytes."""
    size = 60  # its key and its type
    for attribute in entity.attributes.values():
        size += len(attribute.stored) + TYPICAL.get(attribute.converter.tag or "S", 24)
    return size + 50 * len(entity.indexes)
