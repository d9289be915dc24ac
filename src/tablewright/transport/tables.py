"""Table status: describe a table, and wait until a new one can be used."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import msgspec

from tablewright.errors import EndpointUnavailable, ResourceNotFoundException, TableNotFound
from tablewright.table_description import TableDescription, read_table
from tablewright.transport.steps import Request, Steps, Wait

#: DynamoDB creates a table within seconds; with many indexes it takes minutes.
POLL_SECONDS = 0.5
MAX_POLLS = 600


class _Description(msgspec.Struct):
    table: dict[str, Any] = msgspec.field(name="Table")


_decode = msgspec.json.Decoder(_Description).decode


def describe_table(name: str) -> Steps[TableDescription | None]:
    """Return the description of a table; None if it does not exist."""
    try:
        body = yield Request("DescribeTable", {"TableName": name})
    except ResourceNotFoundException:
        return None
    try:
        return read_table(_decode(body).table)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EndpointUnavailable(f"DescribeTable of {name!r}: {error}") from None


def describe_unready(found: TableDescription, indexes: Container[str] | None = None) -> str:
    """Return which parts of a table are not ready, with their states; "" if all are ready.

    A table is ACTIVE while a new index of it is being built: each index has its own state. Only the
    named indexes matter, or all.
    """
    states = {"the table": found.state.status} | {
        f"the index {name}": state for name, state in index_states(found, indexes).items()
    }
    return ", ".join(f"{what} is {state}" for what, state in states.items() if state != "ACTIVE")


def index_states(found: TableDescription, indexes: Container[str] | None = None) -> dict[str, str]:
    """Return the state of each global index of a table, or of those that are named."""
    return {
        index.name: index.state.status
        for index in found.global_indexes
        if indexes is None or index.name in indexes
    }


def wait_until_active(name: str, indexes: Container[str] | None = None) -> Steps[TableDescription]:
    """Poll a table until it and its indexes are ACTIVE, and return its description.

    Only the named indexes matter, or all. Raises TableNotFound after five minutes. A table that
    does not exist yet is polled too: just after CreateTable, DescribeTable may not find it.
    """
    problem = ""
    for _ in range(MAX_POLLS):
        found = yield from describe_table(name)
        problem = "it does not exist" if found is None else describe_unready(found, indexes)
        if found is not None and not problem:
            return found
        yield Wait(POLL_SECONDS)
    raise TableNotFound(
        f"the table {name!r} is not ready after {POLL_SECONDS * MAX_POLLS:g} seconds: {problem}"
    )
