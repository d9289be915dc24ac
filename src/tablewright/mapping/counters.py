"""Counters: attributes of an entity, the parent, that count or sum the items of another, the child.

    class Repo    owner, name     stars = count_of("Star")           key  REPO#{owner}#{name}
    class Star    owner, name, user                                  which the child's values make

A child belongs to the parent whose key its own attributes make. It adds an amount to each counter:
1, or the value of the summed attribute; nothing while `when` is false or an attribute of the key is
None. So what a write changes follows from the child before and after it.

Invariant: a counter is the sum of the amounts of all children. A parent that does not exist has no
counted children: a child needs its parent, and a parent is deleted only with the last of them.

This module must not know how items are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.attributes import AttributeMap
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.mapping.entity import EntityMap

Amount: TypeAlias = int | Decimal


class CounterMap(Struct, frozen=True, eq=False, dict=True):
    """A counter: the attribute of the parent, and what it counts."""

    parent: EntityMap
    attribute: AttributeMap
    child: EntityMap
    #: The attributes of the parent's key, each with the attribute of the child that has its value.
    by: Mapping[str, str]
    #: The attribute of the child that is summed; None for a count.
    summed: AttributeMap | None = None
    #: The condition for a child to be counted.
    when: Any = None

    @property
    def name(self) -> str:
        return f"{self.parent.name}.{self.attribute.name}"

    @cached_property
    def sources(self) -> frozenset[str]:
        """The attributes of the child that decide what it adds, and to which parent."""
        summed = () if self.summed is None else (self.summed.name,)
        return frozenset((*self.by.values(), *summed)).union(
            () if self.when is None else self.when.attributes
        )

    @cached_property
    def varying(self) -> frozenset[str]:
        """Those that can differ between items with the same key."""
        parts = self.child.primary.parameters
        return self.sources - {each.attribute for each in parts if each.notation.derive is None}

    def amount(self, values: Mapping[str, Any]) -> tuple[Item, Amount] | None:
        """Return the key of the parent of a child, and what the child adds; None for nothing."""
        if self.when is not None and not self.when.holds(values):
            return None
        key = {theirs: values[ours] for theirs, ours in self.by.items()}
        if any(value is None for value in key.values()):
            return None
        amount = 1 if self.summed is None else values[self.summed.name]
        return (self.parent.key_of(key), amount) if amount else None


class CounterChange(Struct, frozen=True):
    """What a write of a child adds to a counter of one parent."""

    counter: CounterMap
    #: The key of the parent.
    key: Item
    amount: Amount
    #: Whether the parent gets another child, for which it must exist.
    needs_parent: bool


def counter_changes(
    counters: Iterable[CounterMap],
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
) -> list[CounterChange]:
    """Return what changes in counters when a child changes; None is no child."""
    changes = []
    for counter in counters:
        before = None if old is None else counter.amount(old)
        after = None if new is None else counter.amount(new)
        if before is not None and after is not None and before[0] == after[0]:
            if before[1] != after[1]:
                amount = after[1] - before[1]
                changes.append(CounterChange(counter, after[0], amount, needs_parent=False))
            continue
        if before is not None:
            changes.append(CounterChange(counter, before[0], -before[1], needs_parent=False))
        if after is not None:
            changes.append(CounterChange(counter, after[0], after[1], needs_parent=True))
    return changes


class AwaitedCounter(Protocol):
    """A counter of an entity whose child is not declared yet."""

    @property
    def entity(self) -> EntityMap: ...

    @property
    def problem(self) -> str:
        """Why it cannot be used."""
        ...


def counters_of(entity: EntityMap) -> tuple[CounterMap, ...]:
    """Return the counters of a parent; raise DeclarationError if a child is not declared."""
    for awaited in entity.table.awaited_counters:
        if awaited.entity in (entity, entity.base):
            raise DeclarationError(awaited.problem)
    return entity.counters
