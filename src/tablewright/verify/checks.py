"""Checks: what each pattern of a design must return, in a form that `verify` can run.

A design has two functions. A design in one file has both in that file; a package has `sample` in
its module `samples` or `checks`, and `checks` in its module `checks`:

    def sample() -> list[Entity]                         realistic data
    def checks(stored: Stored) -> Iterator[Check]        one check for each row of its document

A check has a plan and the expected result, computed in plain Python from the stored entities:
`stored(Order)` scans the table and returns all orders. The expected result of a write is the entity
after the write, that of a transaction a tuple, or None if only what it stores is to be checked.
`Raises(VersionConflict)` expects this error and an unchanged table.

An exception in a plan, or in a function that computes an expected result, fails this check only. An
exception in the body of `checks` ends it, as it ends any generator.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from tablewright.plan.plan import Plan

E = TypeVar("E")


class Stored(Protocol):
    """A function that returns all stored entities of a class, found by a scan, in key order."""

    def __call__(self, kind: type[E], /) -> list[E]: ...


class Raises(Struct, frozen=True):
    """The expected error of a plan, which must change nothing."""

    error: type[Exception]


class Check(Struct, frozen=True):
    """A plan and its expected result."""

    #: The name in the report: a row of the design's document.
    name: str
    plan: Plan[Any]
    #: The expected result, `Raises`, or a function that is called after the plan has run.
    expect: Any | Callable[[], Any]
    #: The number of pages to read; more than one requires a query.
    pages: int = 1
    #: Whether the order of lists does not matter, also in aggregates.
    unordered: bool = False


def changed(entity: E, **values: Any) -> E:
    """Return a copy of an entity with some values replaced; nothing is validated."""
    other = copy.copy(entity)
    vars(other).update(values)
    return other
