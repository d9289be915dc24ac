"""The operations: each converts a request into a step.

The table of operations (`tablewright.wire.operations`) says which module has it. `find_operation`
imports an operation with its first request: most programs use few of them.

DynamoDB ignores unknown members, and so does the HTTP endpoint. In process, where no SDK checks
calls, this would make a write with a misspelled `ConditionExpresion` unconditional. So members
similar to known ones are rejected there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from tablewright.engine.step import Step
from tablewright.errors import UnknownOperationException
from tablewright.hints import did_you_mean
from tablewright.wire.constraints import Structure
from tablewright.wire.operations import OPERATIONS

#: The shape of a request, and the function that converts it into a step.
Prepared: TypeAlias = tuple[type[Structure], Callable[[Any], Step]]

#: An unknown member is rejected only if its similarity to a known one is at least this.
CUTOFF = 0.8
LIST_OF_OPERATIONS = "`tablewright help operations` lists the implemented operations"


class _Imported(dict[str, Prepared]):
    """The operations that have been used, so that each is imported once."""

    def __missing__(self, name: str) -> Prepared:
        row = OPERATIONS[name]
        module, function = row.handler_path
        handler: Callable[[Any], Step] = getattr(import_module(f"{__name__}.{module}"), function)
        found = self[name] = row.input_type, handler
        return found


#: Return an operation by its name; raise a KeyError if there is none.
find_operation: Callable[[str], Prepared] = _Imported().__getitem__


def unknown_operation(name: str) -> UnknownOperationException:
    """Return the error for an operation that does not exist or is not implemented."""
    hint = did_you_mean(name, OPERATIONS, cutoff=0.8) or "."
    return UnknownOperationException(f"unknown operation {name!r}{hint} {LIST_OF_OPERATIONS}")


@cache
def find_members(operation: str) -> frozenset[str]:
    """Return the members of the requests of an operation."""
    return frozenset(find_operation(operation)[0].__struct_encode_fields__)


def reject_misspelled_members(operation: str, request: Iterable[str]) -> None:
    """Raise a TypeError for an unknown member that is similar to a known one."""
    known = find_members(operation)
    for member in request:
        hint = did_you_mean(member, known, cutoff=CUTOFF)
        if hint and member not in known:
            raise TypeError(f"{operation} has no member {member!r}{hint}")
