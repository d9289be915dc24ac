"""Receiving: a table at the target, made if it is missing, with the state of an earlier run."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from msgspec import Struct

from tablewright.transfer.checksum import Sum
from tablewright.transfer.definition import (
    Definition,
    check_keys,
    describe,
    enable_ttl,
    identity,
    make,
)
from tablewright.transfer.progress import Progress
from tablewright.transfer.segments import sums
from tablewright.transfer.state import Part, State, TableState
from tablewright.transport import Transport


class Receiver(Struct):
    """A table that items are written to."""

    transport: Transport
    name: str
    #: Without one the table has to be there.
    definition: Definition | None
    found: dict[str, Any] | None

    @classmethod
    def check(
        cls, transport: Transport, where: str, name: str, definition: Definition | None
    ) -> Receiver:
        """A receiver, if the table that is there (or is not) can be one. Writes nothing."""
        found = describe(transport, name)
        if found is not None and definition is not None:
            check_keys(where, definition.request, found)
        return cls(transport, name, definition, found)

    def begin(self, state: State, source_id: str, parts: int) -> TableState:
        """See to it that the table is there, and say how far an earlier run has come with it.

        What is known of the run before counts only if both tables are still the same ones.
        """
        known = state.tables.get(self.name)
        if known is not None and known.source_id != source_id:
            known = None
        if self.found is None:
            assert self.definition is not None
            known = state.tables[self.name] = TableState(source_id, "", True)
            state.save()
            self.found = make(self.transport, self.definition)
        target_id = identity(self.found)
        if known is None or (known.target_id and known.target_id != target_id):
            known = state.tables[self.name] = TableState(source_id)
        known.target_id = target_id
        known.parts = known.parts or [Part() for _ in range(parts)]
        state.save()
        return known

    def end(self, progress: TableState) -> None:
        """Everything is written and compared."""
        if progress.made and self.definition is not None:
            enable_ttl(self.transport, self.definition)


def summed(
    transport: Transport, table: str, segments: int, doing: str
) -> Generator[Progress, None, Sum]:
    """The sum of a whole table; tells how far it is while it reads."""
    found = describe(transport, table)
    expected = None if found is None else found.get("ItemCount")
    total = Sum()
    for part in sums(transport, table, segments):
        total += part
        yield Progress(table, doing, total.count, expected)
    return total
