"""The table at the target: create it if it is missing, and resume an earlier run."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from msgspec import Struct

from tablewright.transfer.checksum import Checksum
from tablewright.transfer.definition import (
    TableDefinition,
    create_table,
    describe,
    enable_stream,
    enable_ttl,
    require_same_keys,
    table_identity,
)
from tablewright.transfer.progress import Progress
from tablewright.transfer.rows import checksum_pages
from tablewright.transfer.state import PartProgress, TableProgress, TransferState
from tablewright.transport import Transport


class TargetTable(Struct):
    """A table that items are written to."""

    transport: Transport
    name: str
    #: If it is None, the table must exist.
    definition: TableDefinition | None
    #: Of the existing table; None if the table is missing.
    description: dict[str, Any] | None

    @classmethod
    def check(
        cls, transport: Transport, where: str, name: str, definition: TableDefinition | None
    ) -> TargetTable:
        """Check an existing table, if there is one. Writes nothing."""
        description = describe(transport, name)
        if description is not None and definition is not None:
            require_same_keys(where, definition.request, description)
        return cls(transport, name, definition, description)

    def prepare(self, state: TransferState, source_id: str, parts: int) -> TableProgress:
        """Create the table if it is missing, and return the progress of an earlier run.

        The progress is discarded if the source or the target is not the table of the earlier run.
        """
        progress = state.tables.get(self.name)
        if progress is not None and progress.source_id != source_id:
            progress = None
        if self.description is None:
            assert self.definition is not None
            progress = state.tables[self.name] = TableProgress(source_id, "", True)
            state.save()
            self.description = create_table(self.transport, self.definition)
        target_id = table_identity(self.description)
        if progress is None or (progress.target_id and progress.target_id != target_id):
            progress = state.tables[self.name] = TableProgress(source_id)
        progress.target_id = target_id
        progress.parts = progress.parts or [PartProgress() for _ in range(parts)]
        state.save()
        return progress

    def finish(self, progress: TableProgress) -> None:
        """Enable TTL and the stream of a table that the transfer created, after the comparison."""
        if progress.created and self.definition is not None:
            enable_ttl(self.transport, self.definition)
            enable_stream(self.transport, self.definition)


def checksum_table(
    transport: Transport, table: str, segments: int, phase: str
) -> Generator[Progress, None, Checksum]:
    """Return the checksum of a whole table; yield the progress."""
    found = describe(transport, table)
    expected = None if found is None else found.get("ItemCount")
    total = Checksum()
    for part in checksum_pages(transport, table, segments):
        total += part
        yield Progress(table, phase, total.count, expected)
    return total
