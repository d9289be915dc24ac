"""Rows: what a design says of itself, in a form that can be checked.

A design's module may have two functions:

    def sample() -> list[Entity]                       realistic data
    def rows(stored: Stored) -> Iterator[Row]          each row of its document

A row has the plan that serves it and what the answer must be, computed in plain Python from what
is stored; `stored(Order)` are all orders, from a scan. For a write, it is what the write must make
of what was stored before; or `Refused(VersionConflict)`, which also means that nothing has changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from tablewright.plan.plan import Plan

E = TypeVar("E")


class Stored(Protocol):
    """All entities of a kind, as a plain scan finds them, in the order of their keys."""

    def __call__(self, kind: type[E], /) -> list[E]: ...


class Refused(Struct, frozen=True):
    """The write is refused with this error, and nothing has changed."""

    error: type[Exception]


class Row(Struct, frozen=True):
    """A row of a design's document: its name, the plan that serves it, and what it must give."""

    name: str
    plan: Plan[Any]
    #: The answer, or a function that computes it once the plan has run.
    expect: Any | Callable[[], Any]
    #: How many pages of a query are read, one after the other.
    pages: int = 1


def changed(entity: E, **values: Any) -> E:
    """A copy of an entity with some values changed, without validation or counting."""
    other = copy.copy(entity)
    vars(other).update(values)
    return other
