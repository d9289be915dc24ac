"""The realistic layer: applies delays, lag and throttling to the steps of requests.

    prepared step -> refused while its table is changing -> throttled -> lagging or recording
                  -> statuses changed and shown -> units charged

Order of the checks: those of the operation without its table; the status of the table; throttling;
then everything else, when the step runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

from msgspec.structs import replace

from tablewright.capacity import CHARGED_FAULTS
from tablewright.engine.access.authorization import StoredTables
from tablewright.engine.access.requested_access import requested_accesses
from tablewright.engine.contributors import KeyCounts
from tablewright.engine.operations.statements import merge_errors
from tablewright.engine.realism import Realism
from tablewright.engine.realism.lag import LaggingSnapshot, RecordingTransaction, ReplacedRows
from tablewright.engine.realism.statuses import Statuses
from tablewright.engine.realism.throttling import (
    Kind,
    MeteredPart,
    Throttle,
    cancellation,
    list_parts,
)
from tablewright.engine.step import (
    ReadContext,
    ReadStep,
    Step,
    WriteContext,
    WriteStep,
    table_name,
    wrap,
)
from tablewright.engine.tables.describe import describe
from tablewright.errors import DynamoDBError
from tablewright.wire import requests
from tablewright.wire.operations import OPERATIONS
from tablewright.wire.partiql import (
    BatchExecuteStatementInput,
    BatchExecuteStatementOutput,
    BatchStatementRequest,
)
from tablewright.wire.responses import ConsumedCapacity

#: Operations on a table that are refused while it is being created.
_SETTINGS = frozenset(
    {
        "DescribeKinesisStreamingDestination",
        "DescribeTimeToLive",
        "DisableKinesisStreamingDestination",
        "EnableKinesisStreamingDestination",
        "UpdateContributorInsights",
        "UpdateKinesisStreamingDestination",
        "UpdateTimeToLive",
    }
)


class RealisticLayer:
    """The delays and limits of one engine."""

    def __init__(self, settings: Realism, key_counts: KeyCounts) -> None:
        self.settings = settings
        self._statuses = Statuses(settings)
        self._throttle = Throttle(settings) if settings.throttles else None
        self._replaced = ReplacedRows(settings) if settings.lag_seconds > 0 else None
        self._key_counts = key_counts

    def apply(
        self, operation: str, request: Any, prepare: Callable[[Any], Step], tables: StoredTables
    ) -> tuple[Any, Step]:
        """Prepare a request; return it, without its throttled items, and its step.

        Raise the fault of a request that is throttled, or whose table is changing.
        """
        step = prepare(request)
        self._check_statuses(operation, request)
        if OPERATIONS[operation].is_metered and self._throttle is not None:
            kind: Kind = "Write" if isinstance(step, WriteStep) else "Read"
            if operation == "BatchExecuteStatement":
                request, step = self._admit_statements(
                    self._throttle, request, kind, prepare, tables
                )
            else:
                parts = list_parts(operation, request, tables, kind)
                request, step = self._admit(
                    self._throttle, operation, request, parts, prepare, tables
                )
        if self._replaced is not None:
            step = self._lag(operation, request, step, self._replaced)
        return request, self._show(operation, request, step)

    # -- statuses

    def _check_statuses(self, operation: str, request: Any) -> None:
        statuses = self._statuses
        if OPERATIONS[operation].is_metered:
            for requested in requested_accesses(operation, request):
                if requested.table is not None:
                    statuses.check_use(table_name(requested.table), requested.index)
        elif operation == "CreateTable":
            statuses.check_creation(request.table_name)
        elif operation == "UpdateTable":
            statuses.check_change(table_name(request.table_name), request)
        elif operation == "DeleteTable":
            statuses.check_change(table_name(request.table_name))
        elif operation in _SETTINGS:
            statuses.check_setting(operation, table_name(request.table_name))

    def _show(self, operation: str, request: Any, step: Step) -> Step:
        """Return a step that records the change of its request, or shows unfinished changes."""
        show = _SHOWN.get(operation)
        if show is None:
            return step
        return wrap(step, lambda run, context: show(self, request, run, context))

    def _create_table(self, request: Any, run: Any, context: WriteContext) -> Any:
        answer = run(context)
        name = answer["TableDescription"]["TableName"]
        self._statuses.created(name)
        if self._throttle is not None:
            self._throttle.start(context.catalog.tables[name].schema)
        return answer

    def _update_table(
        self, request: requests.UpdateTableInput, run: Any, context: WriteContext
    ) -> Any:
        table = context.find_table_for_control_plane(request.table_name)
        before = describe(table, context.count).get("GlobalSecondaryIndexes", [])
        answer = run(context)
        self._statuses.updated(table.name, request, before)
        return answer

    def _delete_table(self, request: Any, run: Any, context: WriteContext) -> Any:
        table = context.find_table_for_control_plane(request.table_name)
        description = describe(table, context.count, status="DELETING")
        answer = run(context)
        self._statuses.deleted(table.name, description)
        return answer

    def _describe_table(self, request: Any, run: Any, context: ReadContext) -> Any:
        deleted = self._statuses.describe_deleted(table_name(request.table_name))
        if deleted is not None:
            return {"Table": deleted}
        answer = run(context)
        self._statuses.show(answer["Table"])
        return answer

    def _list_tables(
        self, request: requests.ListTablesInput, run: Any, context: ReadContext
    ) -> Any:
        answer = run(context)
        last = answer.get("LastEvaluatedTableName")
        answer["TableNames"] = sorted(
            {
                *answer["TableNames"],
                *(
                    name
                    for name in self._statuses.deleting_tables()
                    if name > (request.start_name or "") and (last is None or name < last)
                ),
            }
        )
        return answer

    def _update_insights(self, request: Any, run: Any, context: WriteContext) -> Any:
        answer = run(context)
        if answer["ContributorInsightsStatus"] == "ENABLING":
            self._statuses.setting_enabled(
                "insights", answer["TableName"], request.index_name or ""
            )
        return answer

    def _describe_insights(self, request: Any, run: Any, context: ReadContext) -> Any:
        answer = run(context)
        names = ("insights", answer["TableName"], request.index_name or "")
        if answer["ContributorInsightsStatus"] == "ENABLED" and self._statuses.is_enabling(*names):
            answer["ContributorInsightsStatus"] = "ENABLING"
        return answer

    def _enable_kinesis(self, request: Any, run: Any, context: WriteContext) -> Any:
        answer = run(context)
        self._statuses.setting_enabled("kinesis", answer["TableName"], request.stream_arn)
        return answer

    def _describe_kinesis(self, request: Any, run: Any, context: ReadContext) -> Any:
        answer = run(context)
        for one in answer["KinesisDataStreamDestinations"]:
            names = ("kinesis", answer["TableName"], one["StreamArn"])
            if one["DestinationStatus"] == "ACTIVE" and self._statuses.is_enabling(*names):
                one["DestinationStatus"] = "ENABLING"
        return answer

    # -- throttling

    def _admit(
        self,
        throttle: Throttle,
        operation: str,
        request: Any,
        parts: list[MeteredPart],
        prepare: Callable[[Any], Step],
        tables: StoredTables,
    ) -> tuple[Any, Step]:
        faults = throttle.check(parts)
        refused = next((fault for fault in faults if fault is not None), None)
        unprocessed: dict[str, Any] = {}
        if refused is not None:
            if OPERATIONS[operation].is_transaction:
                refused = cancellation(faults)
            if not OPERATIONS[operation].is_batch or None not in faults:
                self._key_counts.add(operation, request, tables, throttled=True)
                raise refused
            flags = [fault is None for fault in faults]
            request, rest = _split_batch(request, flags)
            self._key_counts.add(operation, rest, tables, throttled=True)
            unprocessed = rest.tables
            parts = [part for part, is_admitted in zip(parts, flags, strict=True) if is_admitted]
        level = request.return_capacity
        step = prepare(replace(request, return_capacity="INDEXES"))

        def charged_run(run: Any, context: Any) -> Any:
            try:
                answer = run(context)
            except CHARGED_FAULTS:
                throttle.charge_failure(parts)
                raise
            consumed = answer.consumed_capacity
            throttle.charge(parts, consumed if isinstance(consumed, list) else [consumed])
            answer.consumed_capacity = _at_level(consumed, level)
            _add_unprocessed(answer, unprocessed)
            return answer

        return request, wrap(step, charged_run)

    def _admit_statements(
        self,
        throttle: Throttle,
        request: BatchExecuteStatementInput,
        kind: Kind,
        prepare: Callable[[Any], Step],
        tables: StoredTables,
    ) -> tuple[Any, Step]:
        """Admit the statements of a batch one by one: a response has the fault of its statement."""
        of_statements = [
            list_parts("BatchExecuteStatement", replace(request, statements=[one]), tables, kind)
            for one in request.statements
        ]
        checked = iter(throttle.check(part for own in of_statements for part in own))
        parts: list[MeteredPart] = []
        faults: dict[int, DynamoDBError] = {}
        sides: tuple[list[BatchStatementRequest], list[BatchStatementRequest]] = ([], [])
        for number, own in enumerate(of_statements):
            found = [fault for fault in islice(checked, len(own)) if fault is not None]
            sides[not found].append(request.statements[number])
            if found:
                faults[number] = found[0]
            else:
                parts += own
        throttled, admitted = sides
        if throttled:
            rest = replace(request, statements=throttled)
            self._key_counts.add("BatchExecuteStatement", rest, tables, throttled=True)
        if not admitted:
            nothing = BatchExecuteStatementOutput(responses=[])
            return request, ReadStep(lambda _: merge_errors(nothing, faults))
        level = request.return_capacity
        request = replace(request, statements=admitted)
        step = prepare(replace(request, return_capacity="INDEXES"))

        def charged_run(run: Any, context: Any) -> Any:
            answer = run(context)
            throttle.charge(parts, answer.consumed_capacity or [])
            answer.consumed_capacity = _at_level(answer.consumed_capacity or [], level) or None
            return merge_errors(answer, faults)

        return request, wrap(step, charged_run)

    # -- lag

    def _lag(self, operation: str, request: Any, step: Step, replaced: ReplacedRows) -> Step:
        if isinstance(step, WriteStep):

            def recording_run(run: Any, context: WriteContext) -> Any:
                return run(replace(context, tx=RecordingTransaction(context.tx, replaced)))

            return wrap(step, recording_run)
        if not OPERATIONS[operation].lags or getattr(request, "consistent", False):
            return step

        def lagging_run(run: Any, context: ReadContext) -> Any:
            current = frozenset(
                context.find_table(name).tree.name for name in _consistent_tables(request)
            )
            lagging = LaggingSnapshot(context.snapshot, replaced, current)
            return run(replace(context, snapshot=lagging))

        return wrap(step, lagging_run)


#: By operation: the method that records its change or shows unfinished ones.
_SHOWN: dict[str, Callable[[RealisticLayer, Any, Any, Any], Any]] = {
    "CreateTable": RealisticLayer._create_table,
    "DeleteTable": RealisticLayer._delete_table,
    "DescribeContributorInsights": RealisticLayer._describe_insights,
    "DescribeKinesisStreamingDestination": RealisticLayer._describe_kinesis,
    "DescribeTable": RealisticLayer._describe_table,
    "EnableKinesisStreamingDestination": RealisticLayer._enable_kinesis,
    "ListTables": RealisticLayer._list_tables,
    "RestoreTableFromBackup": RealisticLayer._create_table,
    "RestoreTableToPointInTime": RealisticLayer._create_table,
    "UpdateContributorInsights": RealisticLayer._update_insights,
    "UpdateTable": RealisticLayer._update_table,
}


def _at_level(consumed: Any, level: str | None) -> Any:
    """Return consumed capacity at the level of detail that the client asked for."""
    if level is None or level == "NONE":
        return None
    if level == "INDEXES":
        return consumed
    if isinstance(consumed, list):
        return [_at_level(one, level) for one in consumed]
    return replace(
        cast(ConsumedCapacity, consumed),
        table=None,
        local_secondary_indexes=None,
        global_secondary_indexes=None,
    )


def _consistent_tables(request: Any) -> Iterator[str]:
    """Yield the tables of a batch that are read consistently, by at least one statement."""
    if isinstance(request, BatchExecuteStatementInput):
        for statement in request.statements:
            if statement.consistent:
                alone = replace(request, statements=[statement])
                for requested in requested_accesses("BatchExecuteStatement", alone):
                    yield str(requested.table)
    else:
        for name, wanted in getattr(request, "tables", {}).items():
            if wanted.consistent:
                yield name


def _split_batch(request: Any, is_admitted: list[bool]) -> tuple[Any, Any]:
    """Return a batch with the admitted items only, and one with the others."""
    flags = iter(is_admitted)
    kept: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, wanted in request.tables.items():
        entries = wanted if isinstance(wanted, list) else wanted.keys
        sides: tuple[list[Any], list[Any]] = ([], [])
        for entry in entries:
            sides[next(flags)].append(entry)
        for side, tables in zip(sides, (rest, kept), strict=True):
            if side:
                tables[name] = side if isinstance(wanted, list) else replace(wanted, keys=side)
    return replace(request, tables=kept), replace(request, tables=rest)


def _add_unprocessed(answer: Any, unprocessed: dict[str, Any]) -> None:
    if not unprocessed:
        return
    member = "unprocessed_items" if hasattr(answer, "unprocessed_items") else "unprocessed_keys"
    found = dict(getattr(answer, member))
    for name, wanted in unprocessed.items():
        before = found.get(name)
        if before is not None:
            wanted = replace(wanted, keys=[*before.keys, *wanted.keys])
        found[name] = wanted
    setattr(answer, member, found)
