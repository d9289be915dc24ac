"""Contributors: the keys that requests use most, for tables with Contributor Insights.

Contributor Insights counts how often each partition key, and each whole key, is used: once for each
item that a request names, once for the partition of a Query. Reads of an index count for the index.
Keys of requests that were throttled are counted separately. Other requests that fail are not
counted.

Invariants:
- A step of a request is wrapped only while Contributor Insights is enabled for some table, so other
  requests cost one comparison more.
- Memory is bounded: if there are more than MAX_KEYS keys, the rarest are forgotten.
- The counts are those of this process since it enabled or found Contributor Insights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from threading import Lock
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.engine.access.authorization import StoredTables, find_keys
from tablewright.engine.access.requested_access import (
    RequestedAccess,
    format_keys,
    requested_accesses,
)
from tablewright.engine.operations.contributor_insights import DEFAULT_MODE, find_setting
from tablewright.engine.step import LongStep, ReadContext, Step, table_name, wrap
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import InvalidValue

#: The values of the attributes of a key, as text: numbers in canonical form, binary in base64.
KeyValues: TypeAlias = tuple[str, ...]

MAX_KEYS = 10_000
#: How many keys remain when there are too many.
KEPT_KEYS = 1_000


class Contributors(Struct, frozen=True):
    """The most used keys of a table or an index, most used first, with the number of uses."""

    partition_keys: list[tuple[KeyValues, int]]
    keys: list[tuple[KeyValues, int]]  # partition and sort key; empty without a sort key
    throttled_partition_keys: list[tuple[KeyValues, int]]
    throttled_keys: list[tuple[KeyValues, int]]


class _Counts:
    """The counts of one table or index since Contributor Insights was enabled."""

    __slots__ = ("since", "throttled", "used")

    def __init__(self, since: float) -> None:
        self.since = since
        #: Of partition keys, and of whole keys.
        self.used = Counter[KeyValues](), Counter[KeyValues]()
        self.throttled = Counter[KeyValues](), Counter[KeyValues]()


class KeyCounts:
    """Counts keys, for all tables of an engine."""

    def __init__(self) -> None:
        self._lock = Lock()  # readers and the writer count in different threads
        self._counts: dict[tuple[str, str | None], _Counts] = {}

    def count(self, step: Step, operation: str, request: Any) -> Step:
        """Return a step that runs `step` and then counts the keys of its request."""
        if isinstance(step, LongStep):  # its request names no keys
            return step

        def counting_run(run: Any, context: ReadContext) -> Any:
            answer = run(context)
            self.add(operation, request, context.catalog.tables)
            return answer

        return wrap(step, counting_run)

    def add(
        self, operation: str, request: Any, tables: StoredTables, *, throttled: bool = False
    ) -> None:
        """Count the keys of one request."""
        for requested in requested_accesses(operation, request):
            table = tables.get(table_name(requested.table)) if requested.table else None
            if table is not None and table.schema.insights:
                self._add(requested, table, throttled)

    def _add(self, requested: RequestedAccess, table: StoredTable, throttled: bool) -> None:
        setting = find_setting(table, requested.index)
        keys = find_keys(table, requested.index)
        if setting is None or not setting.is_enabled or keys is None:
            return
        if not throttled and setting.mode != DEFAULT_MODE:
            return
        partitions = requested.read_partitions(keys) if requested.has_partitions else []
        whole = format_keys(requested.items, keys.attributes) if keys.sort_names else []
        with self._lock:
            counts = self._find(table, requested.index, setting.since)
            counters = counts.throttled if throttled else counts.used
            for counter, found in zip(counters, (partitions, whole), strict=True):
                _add_all(counter, found)

    def _find(self, table: StoredTable, index: str | None, since: float) -> _Counts:
        counts = self._counts.get((table.schema.id, index))
        if counts is None or counts.since != since:
            counts = self._counts[table.schema.id, index] = _Counts(since)
        return counts

    def report(self, table: StoredTable, index: str | None, limit: int) -> Contributors:
        """Return the most used keys; raise `InvalidValue` if they are not counted."""
        setting = find_setting(table, index)
        if setting is None or not setting.is_enabled:
            of_index = f" of the index {index}" if index is not None else ""
            raise InvalidValue(
                f"Contributor Insights{of_index} is not enabled for the table {table.name}; "
                "enable it with UpdateContributorInsights"
            )
        with self._lock:
            counts = self._find(table, index, setting.since)
            counters = (*counts.used, *counts.throttled)
            return Contributors(*(counter.most_common(limit) for counter in counters))


def enabled_insights(tables: StoredTables) -> Iterator[tuple[StoredTable, str | None]]:
    """Yield the tables with Contributor Insights; the second value names an index, or is None."""
    for _, table in sorted(tables.items()):
        for setting in table.schema.insights:
            if setting.is_enabled:
                yield table, setting.index


def _add_all(counter: Counter[KeyValues], found: list[KeyValues]) -> None:
    counter.update(found)
    if len(counter) > MAX_KEYS:
        kept = dict(counter.most_common(KEPT_KEYS))
        counter.clear()
        counter.update(kept)
