"""Index creation: add global indexes to a table that exists, one after the other.

DynamoDB creates one index of a table at a time: the next one can be created when the last one is
ACTIVE, which takes minutes for an empty table and hours for a large one. So the steps wait as long
as the table is changing, with growing delays.

Several processes may add the same indexes at the same time, such as the instances of a service that
start together: each index is created once, and all wait for it. A process that stops has no effect
on an index that is being created; the next one waits for it.

This module knows requests, and nothing about models.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from tablewright.errors import (
    LimitExceededException,
    ResourceInUseException,
    TableNotFound,
    ValidationException,
)
from tablewright.table_changes import create_index
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.transport.steps import Request, Steps, Wait
from tablewright.transport.tables import describe_table, describe_unready, index_states

log = logging.getLogger("tablewright")

FIRST_DELAY = 0.25
LONGEST_DELAY = 20.0
#: How often DynamoDB may refuse to create an index of a table that is not changing.
MAX_REFUSALS = 10
_CHANGING = frozenset({"CREATING", "UPDATING", "DELETING"})


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
