"""Tables: describe a table, wait until it can be used, and add indexes to it.

DynamoDB creates one index of a table at a time: the next one can be created when the last one is
ACTIVE, which takes minutes for an empty table and hours for a large one. So `add_indexes` waits as
long as the table is changing, with growing delays.

Several processes may add the same indexes at the same time, such as the instances of a service that
start together: each index is created once, and all wait for it. A process that stops has no effect
on an index that is being created; the next one waits for it.

This module knows requests, and nothing about models.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from typing import Any

import msgspec

from tablewright.errors import (
    EndpointUnavailable,
    LimitExceededException,
    ResourceInUseException,
    ResourceNotFoundException,
    TableNotFound,
    ValidationException,
)
from tablewright.table_changes import create_index
from tablewright.table_description import IndexDescription, TableDescription, read_table
from tablewright.transport.transport import Request, Steps, Wait

log = logging.getLogger("tablewright")

#: The states in which a table can be read and written.
USABLE = frozenset({"ACTIVE", "UPDATING"})

#: DynamoDB creates a table within seconds; with many indexes it takes minutes.
POLL_SECONDS = 0.5
MAX_POLLS = 600
#: The delays while indexes are created.
FIRST_DELAY = 0.25
LONGEST_DELAY = 20.0
#: How often DynamoDB may refuse to create an index of a table that is not changing.
MAX_REFUSALS = 10
_CHANGING = frozenset({"CREATING", "UPDATING", "DELETING"})


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


def add_indexes(name: str, wanted: Sequence[IndexDescription]) -> Steps[None]:
    """Create the indexes that a table lacks, and wait until they are ACTIVE."""
    refusals = 0
    while True:
        found = yield from wait_until_settled(name)
        missing = [index for index in wanted if index.name not in index_states(found)]
        if not missing:
            return
        log.info("creating the index %s of the table %s", missing[0].name, name)
        try:
            yield Request("UpdateTable", {"TableName": name} | create_index(found, missing[0]))
        except (ResourceInUseException, LimitExceededException):
            # Another process changes the table. It may have created this index.
            refusals += 1
            if refusals == MAX_REFUSALS:
                raise
            yield Wait(FIRST_DELAY)
        except ValidationException:  # also if another process has created it
            found = yield from _require_table(name)
            if missing[0].name not in index_states(found):
                raise


def wait_until_settled(name: str) -> Steps[TableDescription]:
    """Return the description of a table when neither it nor an index of it is changing."""
    delay = FIRST_DELAY
    while True:
        found = yield from _require_table(name)
        if _CHANGING.isdisjoint([found.state.status, *index_states(found).values()]):
            return found
        log.info("waiting for the table %s: %s", name, describe_unready(found))
        yield Wait(delay)
        delay = min(LONGEST_DELAY, delay * 1.5)


def _require_table(name: str) -> Steps[TableDescription]:
    found = yield from describe_table(name)
    if found is None:
        raise TableNotFound(f"the table {name!r} was deleted while it was being updated")
    return found
