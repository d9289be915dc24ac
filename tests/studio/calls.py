"""The calls of patterns that the checks of a design make, with their arguments."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec import Struct

from tablewright import Engine
from tablewright.designs.catalog import BUNDLED, load
from tablewright.model.databases.database import Database
from tablewright.model.pattern import AccessPattern
from tablewright.plan.plan import Plan
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design, seed
from tablewright.verify.checks import Check
from tablewright.verify.contents import Scanner
from tablewright.wire.operations import READS

DESIGNS = tuple(BUNDLED)
#: For tests that are quick for all designs but the largest one.
EACH_DESIGN = [
    pytest.param(name, marks=pytest.mark.slow if name == "menu" else ()) for name in DESIGNS
]


class Call(Struct, frozen=True):
    """A call of a pattern, and the check that makes it."""

    check: Check
    pattern: AccessPattern
    arguments: dict[str, Any]

    def plan(self) -> Plan[Any]:
        """Make the plan again; a plan that has been run may have changed its entities."""
        plan: Plan[Any] = self.pattern.function(**copy.deepcopy(self.arguments))
        return plan

    @property
    def is_write(self) -> bool:
        return is_write(self.pattern)


def is_write(pattern: AccessPattern) -> bool:
    return any(part not in READS for part in pattern.shape.operation.split(" + "))


def bundled(name: str) -> Design:
    return load(name)


def sample_workspace(name: str) -> Workspace:
    """Return a workspace on the sample data of a design, in memory."""
    design = bundled(name)
    engine = Engine(":memory:")
    seed(design, engine)
    return Workspace(design, engine)


def checked_calls(design: Design, database: Database) -> Iterator[Call]:
    """Yield the calls of the checks, one after the other: the caller runs each before the next."""
    assert design.checks is not None
    recorded: dict[str, tuple[AccessPattern, dict[str, Any]]] = {}
    checks = design.checks(Scanner(database))
    named = list(_named_patterns())
    recorders = [_recorder(function, recorded) for _, _, function in named]
    while True:
        with _recording(named, recorders):
            check = next(checks, None)
        if check is None:
            return
        if check.plan._pattern in recorded:
            pattern, arguments = recorded[check.plan._pattern]
            yield Call(check, pattern, copy.deepcopy(arguments))


def _named_patterns() -> Iterator[tuple[dict[str, Any], str, Callable[..., Any]]]:
    """Yield the names, the name and the function of each pattern in the modules of the designs."""
    for module_name, module in sys.modules.items():
        if module_name.startswith("tablewright.designs."):
            for name, value in vars(module).items():
                if isinstance(getattr(value, "__pattern__", None), AccessPattern):
                    yield vars(module), name, value


@contextmanager
def _recording(
    named: list[tuple[dict[str, Any], str, Callable[..., Any]]],
    recorders: list[Callable[..., Any]],
) -> Iterator[None]:
    """Record the last call of each pattern, as the modules of the designs name it."""
    try:
        for (names, name, _), recorder in zip(named, recorders, strict=True):
            names[name] = recorder
        yield
    finally:
        for names, name, function in named:
            names[name] = function


def _recorder(function: Callable[..., Any], recorded: dict[str, Any]) -> Callable[..., Any]:
    pattern: AccessPattern = function.__pattern__  # type: ignore[attr-defined]

    def call(*positional: Any, **named: Any) -> Any:
        arguments = dict(zip(pattern.parameters, positional, strict=False)) | named
        recorded[pattern.label] = (pattern, copy.deepcopy(arguments))
        return function(*positional, **named)

    return call
