"""Table status: describe a table, and wait until a new one can be used."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.errors import ResourceNotFoundException, TableMissing
from tablewright.transport.steps import Request, Steps, Wait

#: DynamoDB creates a table within seconds; with many indexes it takes minutes.
POLL_SECONDS = 0.5
MAX_POLLS = 600


def describe_table(name: str) -> Steps[dict[str, Any] | None]:
    """Return the description of a table; None if it does not exist."""
    try:
        body = yield Request("DescribeTable", {"TableName": name})
    except ResourceNotFoundException:
        return None
    table: dict[str, Any] = msgspec.json.decode(body)["Table"]
    return table


def wait_until_active(name: str) -> Steps[dict[str, Any]]:
    """Poll a table until its status is ACTIVE, and return its description.

    Raises TableMissing after five minutes. A table that does not exist yet is polled too: just
    after CreateTable, DescribeTable may not find it.
    """
    for _ in range(MAX_POLLS):
        found = yield from describe_table(name)
        if found is not None and found["TableStatus"] == "ACTIVE":
            return found
        yield Wait(POLL_SECONDS)
    raise TableMissing(
        f"the table {name!r} is not ACTIVE after {POLL_SECONDS * MAX_POLLS:g} seconds"
    )
