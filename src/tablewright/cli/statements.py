"""Statements of PartiQL for people: run them at a target, explain them, print their items.

`sql` and `shell` share it. A `StatementSession` sends ExecuteStatement to any target; it plans a
statement with the description of its table, so that it can warn before a scan, wherever the table
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from tablewright.cli.commands import describe_error, fail

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.engine.statements.explain import Explanation
    from tablewright.transport import Transport
    from tablewright.values import Item, Value

#: The widest column of a table.
MAX_COLUMN = 40
GAP = 2


class ScanRefused(Exception):
    """The statement would read a whole table or index."""


class StatementSession:
    """Runs statements at a target; keeps the descriptions of the tables."""

    def __init__(self, transport: Transport, *, allow_scans: bool = True) -> None:
        self._transport = transport
        self._allow_scans = allow_scans
        self._descriptions: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, dict[str, None]] = {}  # attributes of items, by table
        #: The capacity units of the last statement, and the key attributes of its table.
        self.units = 0.0
        self.key_names: list[str] = []

    def list_tables(self) -> list[str]:
        from tablewright.transfer.definition import list_tables

        return list_tables(self._transport)

    def describe(self, table: str) -> dict[str, Any]:
        """Return the description of a table; raise ResourceNotFoundException if it is missing."""
        if table not in self._descriptions:
            self._descriptions[table] = self._send("DescribeTable", {"TableName": table})["Table"]
        return self._descriptions[table]

    def attributes(self, table: str) -> list[str]:
        """Return the known attributes of a table: of its keys, and of items that were read."""
        keys = [one["AttributeName"] for one in self.describe(table)["AttributeDefinitions"]]
        return list(dict.fromkeys([*keys, *self._seen.get(table, ())]))

    def explain(self, text: str, parameters: Sequence[Value] | None = None) -> Explanation:
        """Explain a statement with the current description of its table."""
        from tablewright.engine.statements.explain import (
            explain_statement,
            table_from_description,
        )

        self._descriptions.clear()  # indexes may have changed
        return explain_statement(
            text, parameters, lambda name: table_from_description(self.describe(name))
        )

    def run(self, text: str, parameters: Sequence[Value] | None = None) -> Iterator[list[Item]]:
        """Run a statement and yield its items, page by page.

        Print a warning before a scan, or raise ScanRefused if scans are not allowed.
        """
        from tablewright.engine.statements.prepared import prepare_statement
        from tablewright.errors import AccessDeniedException

        self.units = 0.0
        self.key_names = []
        table = prepare_statement(text).table_name
        if prepare_statement(text).is_read:
            try:
                self._check_scan(self.explain(text, parameters))
            except AccessDeniedException:  # a user who may not describe tables may still read
                if not self._allow_scans:
                    raise
        request: dict[str, Any] = {"Statement": text, "ReturnConsumedCapacity": "TOTAL"}
        if parameters:
            request["Parameters"] = list(parameters)
        while True:
            page = self._send("ExecuteStatement", request)
            self.units += page.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
            seen = self._seen.setdefault(table, {})
            for item in page["Items"]:
                seen |= dict.fromkeys(item)
            yield page["Items"]
            if "NextToken" not in page:
                return
            request["NextToken"] = page["NextToken"]

    def _check_scan(self, plan: Explanation) -> None:
        description = self.describe(plan.table)
        self.key_names = [key["AttributeName"] for key in description["KeySchema"]]
        if not plan.is_scan:
            return
        source, keys = plan.table, description["KeySchema"]
        if plan.index is not None:
            source = f"{plan.table}, index {plan.index}"
            (keys,) = (
                index["KeySchema"]
                for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
                for index in description.get(kind, ())
                if index["IndexName"] == plan.index
            )
        partition = " and ".join(key["AttributeName"] for key in keys if key["KeyType"] == "HASH")
        size = description.get("TableSizeBytes", 0)
        message = (
            f"this statement reads all of {source} ({description.get('ItemCount', 0):,} items, "
            f"{size:,} bytes); a condition on {partition} with = or IN avoids it"
        )
        if not self._allow_scans:
            raise ScanRefused(f"{message}; --no-scan refuses it")
        typer.echo(f"tablewright: warning: {message}", err=True)

    def _send(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        from tablewright.errors import DynamoDBError, ResourceNotFoundException
        from tablewright.transfer.sending import send_request

        try:
            return send_request(self._transport, operation, request)
        except ResourceNotFoundException as error:
            try:
                names = ", ".join(self.list_tables()) or "none"
            except DynamoDBError:  # a user who may not list tables
                raise error from None
            raise ResourceNotFoundException(f"{error}; the tables are: {names}") from None


@contextmanager
def open_session(target: str, *, allow_scans: bool) -> Iterator[StatementSession]:
    """Open a target; if that fails, or a statement does, print why and exit with code 2."""
    from tablewright.errors import TablewrightError
    from tablewright.transfer.endpoints import open_source

    try:
        with open_source(target) as transport:
            yield StatementSession(transport, allow_scans=allow_scans)
    except (TablewrightError, ScanRefused) as error:
        fail(describe_failure(error))
    except BrokenPipeError:
        raise  # typer ends the command quietly
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{describe_error(error)}")


def describe_failure(error: Exception) -> str:
    """Return the reason of a failed statement in one line."""
    from tablewright.errors import DynamoDBError

    text = f"{error.code}: {error.message}" if isinstance(error, DynamoDBError) else str(error)
    return " ".join(text.split())


def print_json(items: Sequence[Item]) -> None:
    """Print one item in DynamoDB's JSON on each line."""
    import msgspec

    for item in items:
        typer.echo(msgspec.json.encode(item).decode())


def print_table(console: Console, items: Sequence[Item], first: Sequence[str] = ()) -> None:
    """Print items as a table with the width of the console; some columns come first.

    Columns that do not fit are named below the table.
    """
    from rich.table import Table
    from rich.text import Text

    found = dict.fromkeys(name for item in items for name in item)
    names = [*(name for name in first if name in found), *(n for n in found if n not in first)]
    cells = {name: [format_cell(item.get(name)) for item in items] for name in names}
    shown = choose_columns(console.width, cells)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name, width in shown.items():
        is_number = all("N" in item[name] for item in items if name in item)
        table.add_column(
            Text(escape_controls(name)),
            width=width,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if is_number else "left",
        )
    for row in zip(*(cells[name] for name in shown), strict=True):
        table.add_row(*map(Text, row))
    if items:
        console.print(table)
    hidden = [name for name in names if name not in shown]
    if hidden:
        text = f"not shown: {', '.join(map(escape_controls, hidden))} (select them, or use --json)"
        console.print(text, markup=False, highlight=False, style="dim")


def choose_columns(width: int, cells: dict[str, list[str]]) -> dict[str, int]:
    """Return the columns that fit into a width, in order, each with its own width."""
    from rich.cells import cell_len

    shown: dict[str, int] = {}
    left = width
    for name, column in cells.items():
        wanted = min(max(map(cell_len, [escape_controls(name), *column])), MAX_COLUMN)
        if shown and wanted > left:
            continue
        shown[name] = min(wanted, max(left, 1))
        left -= shown[name] + GAP
    return shown


def format_cell(value: Value | None) -> str:
    """Return a value for a cell: text as it is, without control characters; empty if missing."""
    from tablewright.partiql.printing import format_value

    if value is None:
        return ""
    return escape_controls(value["S"] if "S" in value else format_value(value))


def escape_controls(text: str) -> str:
    """Return a text without characters that a terminal would not print, but obey.

    >>> escape_controls("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
