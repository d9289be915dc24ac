"""The table at the target: create it if it is missing, and resume an earlier run."""

from __future__ import annotations

from msgspec import Struct

from tablewright.errors import TransferRefused
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import (
    create_table,
    describe,
    enable_last,
    read_definition,
    require_same_definition,
)
from tablewright.transfer.segments import scan_pages
from tablewright.transfer.state import PartProgress, TableProgress, TransferState
from tablewright.transport import Transport


class TargetHasItems(TransferRefused):
    """Tables of the target have items, which may be replaced."""

    def __init__(self, where: str, names: list[str]) -> None:
        have = "the table" if len(names) == 1 else "the tables"
        self.consequence = (
            f"{where} has items in {have} {', '.join(names)}; "
            "those with the same keys will be replaced"
        )
        super().__init__(f"{self.consequence}; add --overwrite, or choose another target")


class TargetTable(Struct):
    """A table that items are written to."""

    transport: Transport
    name: str
    #: If it is None, the table must exist.
    definition: TableDescription | None
    #: Of the existing table; None if the table is missing.
    description: TableDescription | None

    @classmethod
    def check(
        cls,
        transport: Transport,
        where: str,
        name: str,
        definition: TableDescription | None,
        state: TransferState,
    ) -> TargetTable:
        """Check the definition of an existing table, if there is one. Writes nothing."""
        description = describe(transport, name)
        table = cls(transport, name, definition, description)
        if description is not None and definition is not None:
            found = read_definition(transport, description)
            progress = table._progress(state)
            created = progress is not None and progress.created
            require_same_definition(where, definition, found, created=created)
        return table

    def has_foreign_items(self, state: TransferState) -> bool:
        """Return whether the table has items that an earlier run of the transfer has not met."""
        progress = self._progress(state)
        if self.description is None or (progress is not None and progress.target_id):
            return False
        return any(scan_pages(self.transport, self.name, 0, 1, limit=1))

    def _progress(self, state: TransferState) -> TableProgress | None:
        """Return the progress of an earlier run with this table at the target."""
        progress = state.tables.get(self.name)
        if self.description is None or progress is None:
            return None
        is_same = progress.target_id in ("", self.description.state.id)
        return progress if is_same else None

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
        target_id = self.description.state.id
        if progress is None or (progress.target_id and progress.target_id != target_id):
            progress = state.tables[self.name] = TableProgress(source_id)
        progress.target_id = target_id
        progress.parts = progress.parts or [PartProgress() for _ in range(parts)]
        state.save()
        return progress

    def finish(self, progress: TableProgress) -> None:
        """Enable TTL and the stream of a table that the transfer created, after the comparison."""
        if progress.created and self.definition is not None:
            enable_last(self.transport, self.definition)


def refuse_items(where: str, tables: list[TargetTable], state: TransferState) -> None:
    """Raise `TargetHasItems` if tables have items that the transfer may replace."""
    names = [table.name for table in tables if table.has_foreign_items(state)]
    if names:
        raise TargetHasItems(where, names)
