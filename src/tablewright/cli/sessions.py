"""Sessions: send requests to the tables of a target, for the commands that read and write items.

A session knows the descriptions of tables. The error for a missing table names the table that is
probably meant, or else all tables. Errors are one line, as everywhere: `open_session` prints them
and exits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tablewright.cli.failures import exit_on_error
from tablewright.errors import DynamoDBError, ResourceNotFoundException
from tablewright.hints import did_you_mean

if TYPE_CHECKING:
    from tablewright.table_description import TableDescription
    from tablewright.transport import Transport


class TableSession:
    """Sends requests to a target; keeps the descriptions of the tables."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        #: What DescribeTable returned of each table.
        self._described: dict[str, dict[str, Any]] = {}

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
            hint = did_you_mean(wanted, names) or f"; the tables are: {', '.join(names) or 'none'}"
            raise ResourceNotFoundException(f"{error}{hint}") from None


@contextmanager
def open_session(target: str) -> Iterator[TableSession]:
    """Open a target; if that fails, or the block does, print why and exit with code 2."""
    from tablewright.transfer import open_source

    with exit_on_error(), open_source(target) as transport:
        yield TableSession(transport)
