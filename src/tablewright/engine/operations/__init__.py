"""The operations: each converts a request into a step, in a module of its own.

The table of operations (`tablewright.wire.operations`) says in which one. `find_operation` imports
an operation with its first request: most programs use few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from tablewright.engine.step import Step
from tablewright.errors import UnknownOperationException
from tablewright.hints import did_you_mean
from tablewright.wire.members import Structure
from tablewright.wire.operations import OPERATIONS

#: The shape of a request, and the function that converts it into a step.
Prepared: TypeAlias = tuple[type[Structure], Callable[[Any], Step]]

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
