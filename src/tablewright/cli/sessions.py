"""Sessions: send requests and statements of PartiQL to the tables of a target.

A session knows the descriptions of tables. The error for a missing table names the table that is
probably meant, or else all tables. A `StatementSession` plans a statement with the description of
its table, so that it can warn before a scan, wherever the table is. Errors are one line, as
everywhere: `open_session` and `open_statements` print them and exit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tablewright.cli.report import exit_on_error, say
from tablewright.errors import (
    AccessDeniedException,
    DynamoDBError,
    InvalidValue,
    ResourceNotFoundException,
)
from tablewright.hints import did_you_mean_or_list

if TYPE_CHECKING:
    from tablewright.engine.statements.explain import StatementPlan
    from tablewright.table_description import TableDescription
    from tablewright.transport import Transport
    from tablewright.values import Item, Value


#: The number of items whose attributes completion offers.
_SAMPLE = 20

#: A comparison with a name in double quotes, where a string in single quotes is probably meant.
_QUOTED_NAME = re.compile(r'=\s*"(?P<name>[^"]+)"')


class TableSession:
    """Sends requests to a target; keeps the descriptions of the tables."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        #: What DescribeTable returned of each table.
        self._described: dict[str, dict[str, Any]] = {}

    @property
    def is_local(self) -> bool:
        """Whether the target is an engine in this process."""
        from tablewright.transfer.rows import is_engine

        return is_engine(self._transport)

    def list_tables(self) -> list[str]:
        from tablewright.transfer.endpoints import list_tables

        return list_tables(self._transport)

    def describe(self, table: str) -> TableDescription:
        """Return the description of a table; raise ResourceNotFoundException if it is missing."""
        from tablewright.table_description import read_table

        return read_table(self.describe_as_json(table))

    def describe_as_json(self, table: str) -> dict[str, Any]:
        """Return what DescribeTable returns of a table."""
        if table not in self._described:
            self._described[table] = self.send("DescribeTable", {"TableName": table})["Table"]
        return self._described[table]

    def send(
        self, operation: str, request: dict[str, Any], table: str | None = None
    ) -> dict[str, Any]:
        """Send a request and return the response; the error for a missing table has a hint.

        `table` is the name of the table if the request has no `TableName`.
        """
        from tablewright.transfer.sending import send_request

        try:
            return send_request(self._transport, operation, request)
        except ResourceNotFoundException as error:
            try:
                names = self.list_tables()
            except DynamoDBError:  # a user who may not list tables
                raise error from None
            wanted = table or request["TableName"]
            if wanted in names:  # something else is missing
                raise
            hint = did_you_mean_or_list(wanted, names, "tables")
            raise ResourceNotFoundException(f"{error}{hint}") from None


@contextmanager
def open_session(target: str) -> Iterator[TableSession]:
    """Open a target; if that fails, or the block does, print why and exit with code 2."""
    from tablewright.transfer import open_source

    with exit_on_error(), open_source(target) as transport:
        yield TableSession(transport)


class StatementSession(TableSession):
    """Runs statements at a target."""

    def __init__(self, transport: Transport, *, allow_scans: bool = True) -> None:
        super().__init__(transport)
        self._allow_scans = allow_scans
        self._seen: dict[str, dict[str, None]] = {}  # attributes of items, by table
        #: The capacity units of the last statement, and the key attributes of its table.
        self.units = 0.0
        self.key_names: tuple[str, ...] = ()

    def attributes(self, table: str) -> list[str]:
        """Return the known attributes of a table: of its keys, and of items that were read.

        Before any item was read, read some, unless scans are refused.
        """
        keys = sorted(self.describe(table).key_types)
        if table not in self._seen and self._allow_scans:
            self._remember(table, self.send("Scan", {"TableName": table, "Limit": _SAMPLE}))
        return list(dict.fromkeys([*keys, *self._seen.get(table, ())]))

    def plan(self, text: str, parameters: Sequence[Value] | None = None) -> StatementPlan:
        """Plan a statement with the current description of its table."""
        from tablewright.engine.statements.explain import plan_statement

        self._described.clear()  # indexes may have changed
        return plan_statement(text, parameters, self.describe)

    def index_names(self, table: str) -> list[str]:
        return self.describe(table).index_names

    def run(self, text: str, parameters: Sequence[Value] | None = None) -> Iterator[list[Item]]:
        """Run a statement and yield its items, page by page.

        Print a warning before a scan, or raise InvalidValue if scans are not allowed.
        """
        from tablewright.engine.statements.prepared import prepare_statement

        self.units = 0.0
        self.key_names = ()
        table = prepare_statement(text).table_name
        if prepare_statement(text).is_read:
            try:
                self._check_scan(self.plan(text, parameters), text)
            except AccessDeniedException:  # a user who may not describe tables may still read
                if not self._allow_scans:
                    raise
        request: dict[str, Any] = {"Statement": text, "ReturnConsumedCapacity": "TOTAL"}
        if parameters:
            request["Parameters"] = list(parameters)
        while True:
            page = self.send("ExecuteStatement", request, table)
            self.units += page.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
            self._remember(table, page)
            yield page["Items"]
            if "NextToken" not in page:
                return
            request["NextToken"] = page["NextToken"]

    def _remember(self, table: str, page: dict[str, Any]) -> None:
        seen = self._seen.setdefault(table, {})
        for item in page["Items"]:
            seen |= dict.fromkeys(item)

    def _check_scan(self, plan: StatementPlan, text: str) -> None:
        self.key_names = plan.key_names
        if not plan.explanation.is_scan:
            return
        table, index = plan.explanation.table, plan.source.name
        source = f"{table}, index {index}" if index else table
        partition = " and ".join(key.name for key in plan.source.keys.partition)
        message = (
            f"this statement reads all of {source} ({plan.items:,} items, "
            f"{plan.size:,} bytes); a condition on {partition} with = or IN avoids it"
        )
        if quoted := _QUOTED_NAME.search(text):
            name = quoted["name"]
            message += f"""; "{name}" is an attribute, write '{name}' for a string"""
        if not self._allow_scans:
            raise InvalidValue(f"{message}; --no-scan refuses it")
        say(f"tablewright: warning: {message}")


@contextmanager
def open_statements(target: str, *, allow_scans: bool) -> Iterator[StatementSession]:
    """Open a target; if that fails, or a statement does, print why and exit with code 2."""
    from tablewright.transfer import open_source

    with exit_on_error(), open_source(target) as transport:
        yield StatementSession(transport, allow_scans=allow_scans)
