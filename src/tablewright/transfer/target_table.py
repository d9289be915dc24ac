"""The table at the target: created if it is missing, else compared with its definition.

A transfer resumes an earlier run with the same table. TTL and the stream are enabled after all
items are written and compared: the sides would differ if items expired before that, and consumers
of the stream must not see copied items as changes.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import TableDifference, TableMismatch, TransferRefused
from tablewright.table_changes import (
    STRUCTURE,
    Difference,
    Part,
    describe,
    differences,
    update_steps,
)
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import (
    check_description,
    find_description,
    read_definition,
    read_ttl_attribute,
    require_description,
)
from tablewright.transfer.rows import scan_pages
from tablewright.transfer.sending import run_steps, send_request
from tablewright.transfer.state import PartProgress, TableProgress, TransferState
from tablewright.transport import Transport
from tablewright.transport.tables import wait_until_active


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
        description = find_description(transport, name)
        table = cls(transport, name, definition, description)
        if description is not None and definition is not None:
            found = read_definition(transport, description)
            progress = table._progress(state)
            created = progress is not None and progress.created
            require_same_definition(where, definition, found, created=created)
        return table

    def has_foreign_items(self, state: TransferState) -> bool:
        """Return whether the table has items that this transfer has not written."""
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


_ENABLED_LAST = (Part.STREAM, Part.TTL)


def require_same_definition(
    where: str, wanted: TableDescription, found: TableDescription, *, created: bool
) -> None:
    """Raise TableMismatch if an existing table has other keys, indexes, TTL or stream.

    TTL and the stream may be missing if an interrupted transfer has `created` the table.
    """
    problems = [
        TableDifference(
            each.name,
            f"{describe(each.wanted)} in the source, {describe(each.found)} in the "
            f"target; {_suggest_fix(each)}",
        )
        for each in differences(wanted, found)
        if each.part in STRUCTURE
        and not (created and each.found is None and each.part in _ENABLED_LAST)
    ]
    if problems:
        raise TableMismatch(
            f"{where} has a table {found.name!r} with another definition; nothing was written:",
            problems,
        )


def _suggest_fix(each: Difference) -> str:
    if each.part is Part.GLOBAL_INDEX:
        if each.found is None:
            return "add it to the target with UpdateTable, or use --without-indexes"
        again = " and add it again" if each.wanted else ""
        return f"delete it in the target{again} with UpdateTable"
    if each.part in _ENABLED_LAST:
        operation = "UpdateTimeToLive" if each.part is Part.TTL else "UpdateTable"
        enables = "enable it" if each.found is None else "change it"
        does = "disable it" if each.wanted is None else enables
        return f"{does} in the target with {operation}"
    return "delete the table of the target, or choose another target"


def create_table(transport: Transport, definition: TableDescription) -> TableDescription:
    """Create a table without its stream, wait until it is ACTIVE, and return its description."""
    send_request(transport, "CreateTable", replace(definition, stream=None).to_create_table())
    found = run_steps(transport, wait_until_active(definition.name))
    if definition.ttl is not None:
        # An endpoint without TTL fails here, before any write.
        read_ttl_attribute(transport, definition.name)
    return check_description(definition.name, found)


def enable_last(transport: Transport, definition: TableDescription) -> None:
    """Enable TTL and the stream as in the definition, unless they are already enabled."""
    name = definition.name
    if definition.ttl is None and definition.stream is None:
        return
    ttl = None if definition.ttl is None else read_ttl_attribute(transport, name)
    found = replace(require_description(transport, name), ttl=ttl)
    stream = definition.stream or found.stream
    for step in update_steps(replace(found, ttl=definition.ttl, stream=stream), found):
        send_request(transport, step.operation, step.request)
        if step.operation == "UpdateTable":
            run_steps(transport, wait_until_active(name))


def refuse_items(where: str, tables: list[TargetTable], state: TransferState) -> None:
    """Raise `TargetHasItems` if tables have items that the transfer may replace."""
    names = [table.name for table in tables if table.has_foreign_items(state)]
    if names:
        raise TargetHasItems(where, names)
