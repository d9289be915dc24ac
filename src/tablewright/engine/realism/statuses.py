"""Statuses: tables and settings that are changing, and requests that are refused meanwhile.

The engine makes a change at once; this module remembers for how long AWS would still show it as
unfinished:

    CreateTable        CREATING; item operations do not find the table
    UpdateTable        UPDATING; a new index is CREATING, twice as long, a deleted one DELETING
    DeleteTable        DELETING; DescribeTable and ListTables still have the table
    UpdateContributorInsights, EnableKinesisStreamingDestination
                       ENABLING

While a table is CREATING, UPDATING or DELETING, it cannot be changed or deleted. Changes of
protection, warm throughput and on-demand limits take no time, as on AWS. The statuses are those of
this process, and end with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any

import msgspec

from tablewright.engine.operations.update_table import concurrent_index_change, takes_time
from tablewright.engine.paging import backfilling
from tablewright.engine.realism import Realism
from tablewright.errors import (
    DynamoDBError,
    ResourceInUseException,
    ValidationException,
    not_found,
)
from tablewright.wire.requests import UpdateTableInput

IN_USE = "Attempt to change a resource which is still in use: "
_VERBS = {"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}


class _Change(msgspec.Struct):
    """An unfinished change of a table."""

    status: str
    until: float
    #: The description of a table that is being deleted.
    description: dict[str, Any] | None = None


class _IndexChange(msgspec.Struct):
    """An unfinished creation or deletion of an index; `description` is that of a deleted one."""

    name: str
    until: float
    #: When the table is ACTIVE again, and items are added to the new index.
    backfilling_from: float
    description: dict[str, Any] | None = None


class Statuses:
    """The unfinished changes of all tables."""

    def __init__(self, settings: Realism) -> None:
        self._seconds = settings.control_seconds
        self._clock = settings.clock
        self._lock = Lock()
        self._tables: dict[str, _Change] = {}
        self._indexes: dict[str, _IndexChange] = {}
        self._settings: dict[tuple[str, ...], float] = {}

    # -- what is refused

    def check_use(self, table: str, index: str | None) -> None:
        """Refuse an operation on items of a table that is being created, or of a new index."""
        if self.status_of(table) == "CREATING":
            raise not_found()
        change = self._index_change(table)
        if index and change and change.name == index and change.description is None:
            raise backfilling(index)

    def check_creation(self, table: str) -> None:
        if self.status_of(table) == "DELETING":
            raise self._in_use(table, "DELETING")

    def check_change(self, table: str, request: UpdateTableInput | None = None) -> None:
        """Refuse UpdateTable and DeleteTable (without a request) while the table is changing."""
        updates = (request.global_index_updates or ()) if request is not None else ()
        status = self.status_of(table)
        if status in ("CREATING", "DELETING"):
            raise self._in_use(table, status)
        if self._index_change(table) is not None:
            if any(update.create or update.delete for update in updates):
                raise concurrent_index_change()
            if request is None:
                raise ResourceInUseException(
                    f"{IN_USE}Cannot delete table while indexes are being created, updated, "
                    "or deleted."
                )
        if status is not None:
            raise self._in_use(table, status)

    def check_setting(self, operation: str, table: str) -> None:
        """Refuse other control-plane operations on a table that is being created."""
        status = self.status_of(table)
        if operation == "DescribeTimeToLive" and status in ("CREATING", "DELETING"):
            raise ValidationException(
                f"Cannot describe time to live while table is in {status} state: "
                f"Current table state is {status}"
            )
        if status == "CREATING":
            if operation == "UpdateContributorInsights":
                raise ValidationException(
                    "Table or Index is not in a valid state to update Key Access Insights: "
                    "TableStatus must be ACTIVE to enable ContributorInsights."
                )
            if operation == "UpdateTimeToLive":  # DynamoDB's text is not known for certain
                raise self._in_use(table, status)
            raise not_found(f"Table: {table}")

    # -- what has changed

    def created(self, table: str) -> None:
        self._set(table, _Change("CREATING", self._clock() + self._seconds))

    def deleted(self, table: str, description: dict[str, Any]) -> None:
        change = _Change("DELETING", self._clock() + self._seconds, description)
        with self._lock:
            self._indexes.pop(table, None)
        self._set(table, change)

    def updated(
        self, table: str, request: UpdateTableInput, indexes: Iterable[dict[str, Any]]
    ) -> None:
        """Remember an UpdateTable; `indexes` are the descriptions of global indexes before it."""
        now = self._clock()
        for update in request.global_index_updates or ():
            until = now + 2 * self._seconds
            if update.create:
                change = _IndexChange(update.create.index_name, until, now + self._seconds)
            elif update.delete:
                gone = [one for one in indexes if one["IndexName"] == update.delete.index_name]
                change = _IndexChange(update.delete.index_name, until, until, gone[0])
            else:
                continue
            with self._lock:
                self._indexes[table] = change
        if takes_time(request):
            self._set(table, _Change("UPDATING", now + self._seconds))

    def setting_enabled(self, *names: str) -> None:
        with self._lock:
            self._settings[names] = self._clock() + self._seconds

    # -- what is shown

    def status_of(self, table: str) -> str | None:
        """Return the status of a table that is changing; None if it is not."""
        with self._lock:
            change = self._tables.get(table)
            if change is None or change.until > self._clock():
                return change.status if change else None
            del self._tables[table]
            return None

    def is_enabling(self, *names: str) -> bool:
        with self._lock:
            return self._settings.get(names, 0.0) > self._clock()

    def deleting_tables(self) -> list[str]:
        return [name for name in list(self._tables) if self.status_of(name) == "DELETING"]

    def describe_deleted(self, table: str) -> dict[str, Any] | None:
        """Return the description of a table that is being deleted."""
        if self.status_of(table) != "DELETING":
            return None
        change = self._tables.get(table)
        return change.description if change else None

    def show(self, description: dict[str, Any]) -> None:
        """Change the statuses in the description of an existing table."""
        table = description["TableName"]
        status = self.status_of(table)
        if status is not None:
            description["TableStatus"] = status
            description["WarmThroughput"]["Status"] = "UPDATING"
        indexes = description.get("GlobalSecondaryIndexes", [])
        for index in indexes:
            if status == "CREATING":
                index["IndexStatus"] = "CREATING"
                index["WarmThroughput"]["Status"] = "UPDATING"
        change = self._index_change(table)
        if change is None:
            return
        if change.description is not None:
            gone = {**change.description, "IndexStatus": "DELETING"}
            description["GlobalSecondaryIndexes"] = [*indexes, gone]
        for index in indexes:
            if index["IndexName"] == change.name:
                index["IndexStatus"] = "CREATING"
                index["Backfilling"] = self._clock() >= change.backfilling_from
                index["WarmThroughput"]["Status"] = "UPDATING"

    def _set(self, table: str, change: _Change) -> None:
        with self._lock:
            self._tables[table] = change

    def _index_change(self, table: str) -> _IndexChange | None:
        with self._lock:
            change = self._indexes.get(table)
            if change is None or change.until > self._clock():
                return change
            del self._indexes[table]
            return None

    def _in_use(self, table: str, status: str) -> DynamoDBError:
        return ResourceInUseException(f"{IN_USE}Table is being {_VERBS[status]}: {table}")
