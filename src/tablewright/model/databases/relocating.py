"""Relocating: move the table of a design to another name, file, endpoint or region, in Python.

    move = Relocation("shop.db", "dynamodb://eu-west-1", Shop)
    move.plan()          what would be done; nothing is written
    move.apply()         copy, compare, and switch the programs; run it again to continue
    move.rollback()      the same way back, with what was written meanwhile
    move.complete()      forget the way back

Programs that connect with `moves_to=` run meanwhile: `plan/relocation` describes how.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from tablewright.errors import (
    InvalidValue,
    MigrationRefused,
    ResourceNotFoundException,
    TableNotFound,
)
from tablewright.model.databases import connecting
from tablewright.model.databases.database import Database
from tablewright.model.table import Table
from tablewright.plan.migration.write_rate import ResolveRate, read_rate
from tablewright.plan.plan import Context
from tablewright.plan.relocation import relocate
from tablewright.plan.relocation.between import run_between
from tablewright.plan.relocation.checking import (
    Places,
    PlanRelocation,
    ReadRelocation,
    RelocationCommand,
    RelocationPlan,
    RelocationStatus,
)
from tablewright.plan.relocation.relocate import RelocationReport
from tablewright.plan.relocation.state import Report
from tablewright.transport import Transport
from tablewright.transport.transport import Response

T = TypeVar("T")
Target = connecting.Target


class RelocationOptions(TypedDict, total=False):
    """The options of the commands that write.

    `units_per_second` limits the write units: a number, or a share of the write capacity of the
    first table, such as "25%". If another executor is at work, a command waits `lease_seconds` to
    see whether it makes progress, and raises MigrationBusy if it does. `program_seconds` (by
    default 15) is how long connected programs have to notice; 0 is for tables that no program is
    connected to. Writes of programs wait at most about `pause_seconds` (by default 1) while they
    are switched; if that is not enough, the cut-over is tried again.
    """

    progress: Report | None
    units_per_second: float | str | None
    lease_seconds: float
    program_seconds: float | None
    pause_seconds: float


class Relocation:
    """The table of a design at two places: where it is, and where it is moved to."""

    def __init__(
        self,
        source: Target,
        destination: Target,
        table: type[Table],
        *,
        table_name: str | None = None,
        new_name: str | None = None,
    ) -> None:
        compiled = table.__table__
        name = table_name or compiled.name
        self._targets = source, destination
        self._table = table
        self._is_same = _absolute(source) == _absolute(destination)
        names = name, new_name or name
        if self._is_same and names[0] == names[1]:
            raise InvalidValue(
                f"{source} is both source and destination; give the table another name: new_name="
            )
        secret = secrets.token_bytes(32)
        #: The table at both places.
        self.places = Places(
            compiled,
            names,
            (_text(source), _text(destination)),
            (Context({compiled: names[0]}, secret), Context({compiled: names[1]}, secret)),
        )

    def plan(self) -> RelocationPlan:
        """Return what `apply` would do; nothing is written."""
        return self._run(PlanRelocation(self.places), creates=False)

    def status(self) -> RelocationStatus:
        """Return how far it is; nothing is written."""
        return self._run(ReadRelocation(self.places), creates=False)

    def apply(self, **options: Unpack[RelocationOptions]) -> RelocationReport:
        """Copy the table, compare it, and switch the programs; run it again to continue."""
        return self._execute(relocate.ApplyRelocation, options)

    def rollback(self, **options: Unpack[RelocationOptions]) -> RelocationReport:
        """Move the table back, with what was written meanwhile; possible until `complete`."""
        return self._execute(relocate.UndoRelocation, options)

    def complete(self, **options: Unpack[RelocationOptions]) -> RelocationReport:
        """Forget the way back. The first table stays as it was: delete it when you want to."""
        return self._execute(relocate.CompleteRelocation, options)

    def write_units(self, rate: float | str) -> float:
        """Return how many write units per second a rate is, for the table as it is now.

        Raises InvalidValue for an invalid rate, or a share of a table without a limited capacity.
        """
        plan = ResolveRate(self.places.table, read_rate(rate))
        with self._opened(creates=False) as (first, _):
            return Database(first, self.places.contexts[0], (self._table,)).run(plan)

    def _execute(
        self, command: type[relocate.RelocationExecutor], options: RelocationOptions
    ) -> RelocationReport:
        rate = options.get("units_per_second")
        units = None if rate is None else self.write_units(rate)
        others: Any = {name: each for name, each in options.items() if name != "units_per_second"}
        return self._run(command(self.places, units_per_second=units, **others), creates=True)

    def _run(self, command: RelocationCommand[T], *, creates: bool) -> T:
        with self._opened(creates=creates) as transports:
            return run_between(command.steps(), lambda side: transports[side].send)

    @contextmanager
    def _opened(self, *, creates: bool) -> Iterator[tuple[Transport, Transport]]:
        """Open both targets; a destination that is a file is created if it is to be written."""
        source, destination = self._targets
        for target in self._targets:
            if str(target) == ":memory:":
                raise MigrationRefused(
                    "':memory:' does not keep its tables; pass a file, an Engine or an endpoint"
                )
        if is_missing_file(source):
            raise TableNotFound(f"{source}: no such file")
        with ExitStack() as stack:
            first = _open(source, stack)
            if self._is_same:
                yield first, first
            elif not creates and is_missing_file(destination):
                yield first, NoTables()
            else:
                yield first, _open(destination, stack)


class NoTables:
    """The transport to a file that does not exist yet."""

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        raise ResourceNotFoundException(f"{operation}: there is no such file")

    def close(self) -> None: ...


def _open(target: Target, stack: ExitStack) -> Transport:
    transport, owned = connecting.open_transport(target)
    if owned:
        stack.callback(transport.close)
    return transport


def is_missing_file(target: Target) -> bool:
    is_file = isinstance(target, (str, Path)) and "://" not in str(target)
    return is_file and not Path(str(target)).is_file()


def _absolute(target: Target) -> object:
    """Return what is equal for the same target."""
    if isinstance(target, (str, Path)) and "://" not in str(target):
        return Path(target).resolve()
    return target


def _text(target: Target) -> str:
    """Return a target as text, for people and for records."""
    if isinstance(target, (str, Path)):
        return str(target)
    return type(target).__name__
