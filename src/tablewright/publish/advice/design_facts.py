"""Design facts: what rules know about a design.

    patterns      their plans, with all nested plans, and their calls per second
    reads         which patterns read an index
    updates       which patterns change an attribute, and how
    items         the sample data of the design, as it is stored
    measured      the items that the checks of the design read, and return

Everything is derived from the declarations, the sample data and the checks; nothing is measured on
a target. This module must not know rules or findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from tablewright.capacity import write_units
from tablewright.cost import Rates
from tablewright.encoding.items import item_size
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.table import TableMap
from tablewright.model.pattern import AccessPattern, explain
from tablewright.model.table import Table
from tablewright.plan.inspection import (
    FollowUp,
    SelectedRange,
    entity_of,
    follow_up_of,
    plans_in,
    ranges_in,
)
from tablewright.plan.plan import Plan
from tablewright.plan.reads.single import Then
from tablewright.plan.shape import Shape, typical_size
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import Write
from tablewright.publish.advice.source import SourceLine, place_of_class
from tablewright.values import Item
from tablewright.verify.design import Design
from tablewright.verify.trace import Trace
from tablewright.wire.operations import READS


class Measured(Struct, frozen=True):
    """What the checks of a pattern read and return, all together."""

    checks: int
    read: int
    returned: int

    @property
    def mean_returned(self) -> float:
        return self.returned / self.checks if self.checks else 0.0


class PatternUse(Struct, frozen=True):
    """A pattern of a table, with all its plans and requests."""

    pattern: AccessPattern
    plans: tuple[Plan[Any], ...]
    #: What its queries and aggregates select.
    ranges: tuple[SelectedRange, ...]
    #: What it makes from the items that it reads.
    follow_ups: tuple[FollowUp, ...]
    requests: tuple[Shape, ...]
    #: Calls per second; None if it is not known.
    rate: float | None

    def reads(self, table: TableMap, index: IndexMap | None) -> list[Shape]:
        """Return the requests that read a table, or one of its indexes."""
        read = () if index is None else (index,)
        return [
            request
            for request in self.requests
            if request.operation in READS and table in request.tables and request.indexes == read
        ]

    def writes(self, entity: EntityMap) -> list[Write[Any]]:
        """Return the writes of an entity."""
        writes = [plan for plan in self.plans if isinstance(plan, Write)]
        return [plan for plan in writes if entity_of(plan).includes(entity)]


class TableFacts:
    """What is known about one table of a design."""

    def __init__(
        self,
        declared: type[Table],
        uses: Iterable[PatternUse],
        items: Iterable[Item],
        measured: Callable[[str], Measured],
        counts: Mapping[str, float],
    ) -> None:
        self.declared = declared
        #: The number of stored items by entity, where it is known.
        self.counts = counts
        #: Returns how many items the checks of a pattern read and return, by its label.
        self.measured = measured
        self.table = declared.__table__
        self.uses = tuple(uses)
        self._items: dict[EntityMap, list[Item]] = {}
        for item in items:
            entity = self.table.entity_of(item)
            if entity is not None:
                self._items.setdefault(entity, []).append(item)

    def items(self, entity: EntityMap) -> list[Item]:
        """Return the items of an entity, or of its variants, in the sample data."""
        groups = [found for kind, found in self._items.items() if entity.includes(kind)]
        return [item for found in groups for item in found]

    def size(self, entity: EntityMap) -> int | None:
        """Return the average size of the items of an entity in bytes; None without sample data."""
        sizes = [item_size(item) for item in self.items(entity)]
        return round(sum(sizes) / len(sizes)) if sizes else None

    def write_units(self, entity: EntityMap) -> int:
        """Return the units of a write of one item: of those in the sample data, or typical ones."""
        return int(write_units(self.size(entity) or typical_size(entity)))

    def readers(self, index: IndexMap | None) -> list[PatternUse]:
        """Return the patterns that read the table, or one of its indexes."""
        return [use for use in self.uses if use.reads(self.table, index)]

    def updates(self, entity: EntityMap) -> list[tuple[PatternUse, Shape]]:
        """Return the updates of an entity, each with its pattern."""
        return [
            (use, explain(plan))
            for use in self.uses
            for plan in use.writes(entity)
            if isinstance(plan, Update)
        ]

    def keys_in(self, index: IndexMap) -> list[tuple[EntityMap, KeyMap]]:
        """Return the entities that declare a key of an index, with the key."""
        return [
            (entity, key)
            for entity in self.table.entities
            for key in entity.indexes
            if key.index is not None and key.index.name == index.name
        ]

    def place_of_index(self, index: IndexMap) -> SourceLine:
        """Return the place of the declaration of an index."""
        return place_of_class(self.declared, self.index_attribute(index))

    def index_name(self, index: IndexMap) -> str:
        """Return how code names an index: `Shop.gsi1`."""
        return f"{self.declared.__name__}.{self.index_attribute(index)}"

    def index_code(self, index: IndexMap, arguments: str = "…") -> str:
        """Return the declaration of an index: `gsi1 = GSI(…)`."""
        kind = "GSI" if index.kind == "global" else "LSI"
        return f"{self.index_attribute(index)} = {kind}({arguments})"

    def index_attribute(self, index: IndexMap) -> str:
        """Return the name that an index has in the class of its table."""
        members = vars(self.declared).items()
        return next(name for name, value in members if getattr(value, "name", None) == index.name)


def table_facts(design: Design, rates: Rates, traced: Trace) -> list[TableFacts]:
    """Return what is known about each table of a design."""

    def measured(label: str) -> Measured:
        checks = [check for check in traced.checks if check.label == label]
        read, returned = sum(c.read for c in checks), sum(c.returned for c in checks)
        return Measured(len(checks), read, returned)

    def use(pattern: AccessPattern) -> PatternUse:
        plans = tuple(plans_in(pattern.plan))
        return PatternUse(
            pattern,
            plans,
            tuple(ranges_in(pattern.plan)),
            tuple(follow_up_of(plan) for plan in plans if isinstance(plan, Then)),
            pattern.shape.requests,
            rates.calls.get(pattern.label),
        )

    return [
        TableFacts(
            declared,
            map(use, declared.__table__.patterns.values()),
            traced.sample[declared.__table__],
            measured,
            rates.items,
        )
        for declared in design.tables
    ]
