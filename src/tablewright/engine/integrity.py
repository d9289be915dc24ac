"""Integrity: proof that a file's tables and indexes agree.

Every row of a table is stored under the key its item has, with the size it has, in normal form;
every index has exactly the rows that the table's items give; every checksum is right. Problems are
reported, not fixed: `repair` does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tablewright.encoding.items import dump, item_size, load, normalise_item
from tablewright.engine.catalog import TOKENS, Catalog, read_jobs
from tablewright.engine.damage import format_key
from tablewright.engine.rows import ItemRow, project_row
from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.storage import DamagedRow, MissingTree, Snapshot

_DAMAGED = "is damaged: its checksum is wrong"
_UNREADABLE = (DynamoDBError, ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    table: str
    index: str | None
    #: The row's key, for people.
    key: str
    what: str

    def __str__(self) -> str:
        place = f"{self.table}/{self.index}" if self.index else self.table
        return f"{place}: the row of {self.key} {self.what}"


@dataclass(frozen=True)
class FileProblem:
    """Something wrong with the file itself, in SQLite's words."""

    what: str

    def __str__(self) -> str:
        return self.what


@dataclass
class Report:
    """What was walked, and what is wrong. True if nothing is."""

    #: Rows walked, by table and index (None: the table itself).
    rows: dict[tuple[str, str | None], int] = field(default_factory=dict)
    problems: list[Problem | FileProblem] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems


def check_file(snapshot: Snapshot) -> Report:
    report = Report()
    report.problems += (FileProblem(message) for message in snapshot.file_problems())
    if report.problems:  # rows of a damaged file cannot be walked
        return report
    with snapshot.read_transaction():
        catalog = Catalog()
        built: dict[int, bytes] = {}
        try:
            catalog.refresh(snapshot)
            built = {job.tree: job.position for job in read_jobs(snapshot) if job.table is not None}
            snapshot.get(TOKENS, b"")
        except (MissingTree, StoreFailed) as error:
            report.problems.append(FileProblem(str(error)))
        for table in catalog.tables.values():
            try:
                _check_table(snapshot, table, report, built)
            except (MissingTree, StoreFailed) as error:
                report.problems.append(FileProblem(f"{table.name}: {error}"))
    return report


def _check_table(
    snapshot: Snapshot, table: StoredTable, report: Report, built: Mapping[int, bytes]
) -> None:
    """Check a table and its indexes; `built` has the positions of those under construction."""
    expected: dict[str, set[bytes]] = {name: set() for name in table.indexes_by_name}
    rows = 0
    for key, size, body, intact in snapshot.inspect(table.tree, b"", None):
        rows += 1
        if intact:
            report.problems += _check_row(snapshot, table, key, size, body, expected, built)
        else:
            report.problems.append(_problem(table, table, key, _DAMAGED))
    report.rows[table.name, None] = rows
    for index in table.indexes:
        report.problems += _check_index(snapshot, table, index, expected[index.name], report)


def _check_row(
    snapshot: Snapshot,
    table: StoredTable,
    key: bytes,
    size: int,
    body: bytes,
    expected: dict[str, set[bytes]],
    built: Mapping[int, bytes],
) -> Iterator[Problem]:
    """A table's row, and the index rows it gives: those are noted in `expected`."""
    try:
        item = load(body)
        if table.keys.encode(item) != key:
            yield _problem(table, table, key, "is not where its key belongs")
        if dump(normalise_item(item)) != body:
            yield _problem(table, table, key, "is not in normal form")
        if item_size(item) != size:
            yield _problem(table, table, key, f"has size {size}, not {item_size(item)}")
    except _UNREADABLE as error:
        yield _problem(table, table, key, f"cannot be read: {error}")
        return
    for index in table.indexes:
        entry = index.encode_entry(item, key)
        if entry is None:
            continue
        expected[index.name].add(entry)
        held = project_row(index, ItemRow(item, size, body))
        try:
            found = snapshot.get(index.tree, entry)
        except DamagedRow:
            continue  # the walk over the index reports it
        if found is None:
            if not index.schema.building or key <= built.get(index.schema.tree, key):
                yield _problem(table, index, entry, "is missing")
        elif found != (held.size, held.body) and not _is_same_row(found, held):
            yield _problem(table, index, entry, "differs from the table's item")


def _problem(
    table: StoredTable, source: StoredTable | StoredIndex, key: bytes, what: str
) -> Problem:
    index = None if source is table else source.name
    return Problem(table.name, index, format_key(table, source, key), what)


def _is_same_row(found: tuple[int, bytes], held: ItemRow) -> bool:
    """Whether an index row says what it should, if perhaps in another order."""
    try:
        return found[0] == held.size and load(found[1]) == held.item
    except _UNREADABLE:
        return False


def _check_index(
    snapshot: Snapshot, table: StoredTable, index: StoredIndex, expected: set[bytes], report: Report
) -> Iterator[Problem]:
    """The rows that belong have been looked at; here are those that do not."""
    rows = 0
    for entry, _, _, intact in snapshot.inspect(index.tree, b"", None):
        rows += 1
        if not intact:
            yield _problem(table, index, entry, _DAMAGED)
        elif entry not in expected:
            yield _problem(table, index, entry, "belongs to no item")
    report.rows[table.name, index.name] = rows
