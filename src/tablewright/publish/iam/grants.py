"""Grants: what the access patterns of a design may do, derived from their shapes.

A shape knows every request of its pattern. A transaction needs the action of each of its members;
there are no actions for transactions themselves. A query of an index needs the index, and not the
table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import Shape
from tablewright.wire.operations import READS

#: The operations whose resource is the index that they read.
_INDEX_READS = frozenset({"Query", "Scan"})


class Grant(Struct, frozen=True, order=True):
    """An action on a table, or on one of its indexes."""

    table: str
    index: str
    action: str


class Access(Struct, frozen=True):
    """One grant that a request needs."""

    grant: Grant
    #: The request, or the action of a transaction.
    request: Shape

    @property
    def is_read(self) -> bool:
        return self.request.operation in READS


def accesses(shape: Shape) -> Iterator[Access]:
    """Yield what each request of a pattern needs."""
    for request in shape.requests:
        yield from _accesses(request)


def grants(patterns: Iterable[AccessPattern]) -> dict[Grant, frozenset[str]]:
    """Return everything that the patterns need, each with the attributes that it names.

    There are none if a pattern may name any attribute.
    """
    found: dict[Grant, list[tuple[str, ...]]] = {}
    for pattern in patterns:
        for access in accesses(pattern.shape):
            found.setdefault(access.grant, []).append(access.request.attributes)
    return {
        grant: frozenset().union(*named) if all(named) else frozenset()
        for grant, named in found.items()
    }


def _accesses(request: Shape) -> Iterator[Access]:
    for branch in request.branches:
        yield from accesses(branch)
    if request.operation in READS:
        index = request.index if request.operation in _INDEX_READS else None
        action = request.operation.replace("TransactGetItems", "GetItem")
        yield from _access(request, action, index or "")
    elif request.operation == "TransactWriteItems":
        for member in request.steps:
            yield from _accesses(member)
    else:
        for kind in request.operation.split(" + "):
            yield from _access(request, f"{kind.removesuffix('Item')}Item")


def _access(request: Shape, action: str, index: str = "") -> Iterator[Access]:
    for table in request.tables:
        yield Access(Grant(table.name, index, action), request)
