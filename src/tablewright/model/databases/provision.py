"""Provision: create the table of a model if it is missing, else compare it with its declaration.

Only what the model depends on is compared: key attributes and their types, the keys and projections
of indexes, the TTL attribute and the view type of the stream. Other settings are applied when the
table is created; later they belong to the operator.

With `update`, the declared global indexes, the TTL and the stream that a table lacks are added to
it. Nothing is changed or removed, and nothing is added if anything else differs. A global index
that is not declared is no difference: a newer version of the program may have added it.

In a table with an index record (`plan/backfill/index_record.py`), a global index that the record
awaits, or that is being built, is no difference either: a program can connect before its indexes
exist, and writes their keys. Reads of these indexes are refused. A record with other keys than the
declared ones raises DesignMismatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.errors import (
    AccessDeniedException,
    DynamoDBError,
    ResourceInUseException,
    TableDifference,
    TableMismatch,
    TableNotFound,
    UnknownOperationException,
    UnsupportedOperation,
    ValidationException,
)
from tablewright.mapping.table import TableMap
from tablewright.mapping.table_settings import Provisioned
from tablewright.plan.backfill.index_record import (
    IndexRecord,
    await_indexes,
    begin_record,
    check_record,
    extend_record,
    read_record,
    refuse_differences,
    stop_awaiting,
)
from tablewright.plan.migration.admission import admit
from tablewright.plan.migration.revision import Revision
from tablewright.plan.plan import READY, Context, Plan, Request, Steps, Unready, Wait
from tablewright.schema import KeyAttribute, KeySchema, ProjectedAttributes, Throughput
from tablewright.table_changes import Part, differences
from tablewright.table_description import IndexDescription, TableDescription, read_ttl
from tablewright.transport.tables import (
    USABLE,
    add_indexes,
    describe_table,
    index_states,
    wait_until_active,
)

#: How long the process that creates a table may take to enable its TTL.
TTL_FOLLOWS = Backoff(attempts=8, first=0.1, longest=0.5)
_UPDATE_ADDS = "connect(…, update=True) adds it"


class Provided(Struct, frozen=True):
    """What was found when a table was opened."""

    #: Which indexes cannot be read yet.
    unready: Unready
    #: What the table records about the versions of its design.
    revision: Revision | None = None


class Provision(Plan[Provided]):
    """Create the table if it is missing, or check that it is as declared."""

    def __init__(self, table: TableMap, *, create: bool, update: bool = False) -> None:
        self.table = table
        self._create = create
        self._update = update

    def _steps(self, context: Context) -> Steps[Provided]:
        table, name = self.table, context.name_of(self.table)
        declared = definition(table, name)
        names = set(declared.index_names)
        if self._update:
            check_record(table)
        found = yield from describe_table(name)
        if found is None:
            if not self._create:
                raise TableNotFound(
                    f"the table {name!r} does not exist; connect(…, create=True) creates it"
                )
            yield from self._make(declared)
            if self._update:
                yield from begin_record(table, name, names)
            return Provided(READY)
        if found.state.status not in USABLE:
            found = yield from wait_until_active(name, names)
        differences = compare(declared, found) + self._compare_stream(declared, found)
        lacking = _unready_indexes(declared, found)
        record = None
        # Read after the table was described: an index is created after it was recorded.
        if table.entities and not differences:
            # A role for some patterns, or for one tenant, may not read it.
            with suppress(AccessDeniedException):
                record = yield from read_record(table, name)
        if record is not None and record.revision is not None:
            admit(table, name, record.revision)
        awaited = frozenset() if record is None else record.awaited
        missing = [each for each in missing_indexes(declared, found) if each not in awaited]
        if not self._update:
            differences += [
                TableDifference(f"index {index}", f"declared but missing; {_UPDATE_ADDS}")
                for index in missing
            ]
        is_new = self._create and not differences  # perhaps; then its TTL may follow
        ttl, ttl_difference = yield from self._compare_ttl(declared, is_new=is_new)
        _refuse_differences(table, name, differences + ttl_difference)
        if record is not None and record.revision is None:  # else it was compared above
            refuse_differences(name, record.differences(table.entities).values())
        if self._update:
            record = yield from _extend_record(table, name, found, record)
            yield from await_indexes(table, name, missing)
            yield from add_indexes(name, declared.global_indexes)
            yield from stop_awaiting(table, name, names & record.awaited.union(missing))
            lacking = {}
            if found.stream is None and declared.stream is not None:
                yield from _enable_stream(name, declared.stream)
        elif lacking and record is None:
            yield from wait_until_active(name, names)
            lacking = {}
        if ttl is not None:
            yield from _enable_ttl(name, ttl)
        revision = None if record is None else record.revision
        return Provided(_unready(table, name, lacking, record), revision)

    def _compare_stream(
        self, declared: TableDescription, found: TableDescription
    ) -> list[TableDifference]:
        """Return how the stream differs, unless it is missing and will be enabled."""
        wanted, stream = declared.stream, found.stream
        if wanted in (None, stream) or (stream is None and self._update):
            return []
        # DynamoDB cannot change the view type of a stream.
        hint = "disable it, then enable it with UpdateTable" if stream else _UPDATE_ADDS
        problem = f"declared {wanted}, found {stream or 'none'}; {hint}"
        return [TableDifference("stream", problem)]

    def _compare_ttl(
        self, declared: TableDescription, *, is_new: bool
    ) -> Steps[tuple[str | None, list[TableDifference]]]:
        """Return the attribute to enable TTL for, or the difference to report.

        Another process may be creating the table, and enables its TTL last: wait for that.
        """
        name, wanted = declared.name, declared.ttl
        if wanted is None:
            return None, []
        found = yield from _ttl_of(name)
        attempt = 1
        while found is None and is_new and not self._update:
            delay = TTL_FOLLOWS.delay(attempt)
            if delay is None:
                break
            yield Wait(delay)
            found = yield from _ttl_of(name)
            attempt += 1
        if found == wanted:
            return None, []
        if found is None and self._update:
            return wanted, []
        hint = f"; {_UPDATE_ADDS}" if found is None else ""
        return None, [TableDifference("TTL", f"declared {wanted}, found {found or 'none'}{hint}")]

    def _make(self, declared: TableDescription) -> Steps[None]:
        name, attribute = declared.name, declared.ttl
        try:
            yield Request("CreateTable", declared.to_create_table())
        except ResourceInUseException:
            pass  # another process creates it at the same time
        except DynamoDBError as fault:
            raise _explain_fault(fault, self.table) from fault
        yield from wait_until_active(name)
        if attribute is not None and (yield from _ttl_of(name)) != attribute:
            yield from _enable_ttl(name, attribute)
        if declared.recovery_days is not None:
            yield from _enable_recovery(name, declared.recovery_days)


class Prepare(Plan[Unready]):
    """Check that a table has the declared keys and indexes; global indexes may be missing.

    With `record`, write an index record, so that programs can connect before these indexes exist.
    Return which indexes cannot be read yet.
    """

    def __init__(self, table: TableMap, *, record: bool) -> None:
        self._table = table
        self._record = record

    def _steps(self, context: Context) -> Steps[Unready]:
        table, name = self._table, context.name_of(self._table)
        check_record(table)
        found = yield from describe_table(name)
        if found is None:
            raise TableNotFound(
                f"the table {name!r} does not exist; check the name, or create it with connect(…)"
            )
        declared = definition(table, name)
        _refuse_differences(table, name, compare(declared, found))
        record = yield from read_record(table, name)
        if self._record:
            if record is not None:
                _require_admitted(table, name, record)
            record = yield from _extend_record(table, name, found, record)
            yield from await_indexes(table, name, missing_indexes(declared, found))
        return _unready(table, name, _unready_indexes(declared, found), record)


def _extend_record(
    table: TableMap, name: str, found: TableDescription, record: IndexRecord | None
) -> Steps[IndexRecord]:
    """Add all entities of a table to its record; create it if needed."""
    if record is None or not record.complete:  # it may have no more than a backfill's position
        declared = definition(table, name)
        present = set(declared.index_names) - set(missing_indexes(declared, found))
        record = yield from begin_record(table, name, present)
    record = yield from extend_record(table, name, record)
    # Another process may have recorded another design meanwhile.
    _require_admitted(table, name, record)
    return record


def _require_admitted(table: TableMap, name: str, record: IndexRecord) -> None:
    """Raise DesignMismatch if stored items are not prepared for the declared design."""
    if record.revision is not None:
        admit(table, name, record.revision)
    else:
        refuse_differences(name, record.differences(table.entities).values())


def _refuse_differences(table: TableMap, name: str, differences: list[TableDifference]) -> None:
    if differences:
        raise TableMismatch(
            f"the table {name!r} differs from its declaration, {table.owner}:", differences
        )


class FindUnready(Plan[Unready]):
    """Find out which indexes of a table cannot be read yet.

    It returns `known` unchanged if it may not describe the table.
    """

    def __init__(self, table: TableMap, known: Unready) -> None:
        self._table = table
        self._known = known

    def _steps(self, context: Context) -> Steps[Unready]:
        table, name = self._table, context.name_of(self._table)
        try:
            found = yield from describe_table(name)
            record = yield from read_record(table, name)
        except AccessDeniedException:
            return self._known
        declared = definition(table, name)
        lacking = {} if found is None else _unready_indexes(declared, found)
        return _unready(table, name, lacking, record)


def _unready(
    table: TableMap, name: str, lacking: dict[str, str], record: IndexRecord | None
) -> Unready:
    """Return which indexes of a table cannot be read; `lacking` says why some are not usable."""
    if record is None:
        return Unready(lacking, frozenset()) if lacking else READY
    places, uniques = record.incomplete(table), record.unreserved(table)
    if record.revision is not None:
        admission = admit(table, name, record.revision)
        places, uniques = places | admission.places, uniques | admission.uniques
    return Unready(lacking, places, uniques, record.revision is not None) or READY


def _unready_indexes(declared: TableDescription, found: TableDescription) -> dict[str, str]:
    """Return the declared global indexes that cannot be read, each with the reason."""
    states = index_states(found, declared.index_names)
    building = {name: f"is {state}" for name, state in states.items() if state != "ACTIVE"}
    return building | dict.fromkeys(missing_indexes(declared, found), "does not exist")


def _explain_fault(fault: DynamoDBError, table: TableMap) -> Exception:
    """Return the fault, or an error that names the patterns whose indexes are not supported."""
    message = fault.message.lower().replace(" ", "")
    if "support" not in message:
        return fault
    for kind in ("local", "global"):
        named = any(index.kind == kind for index in table.indexes.values())
        if named and f"{kind}secondaryindex" in message:
            needs = [
                traced.name
                for traced in table.patterns.values()
                if any(index.kind == kind for index in traced.shape.indexes)
            ]
            users = ", ".join(needs) or table.owner
            return UnsupportedOperation(f"{kind} secondary indexes", "the endpoint", users)
    return fault


def _ttl_of(name: str) -> Steps[str | None]:
    """Return the TTL attribute of a table; None if TTL is not enabled."""
    answer = yield Request("DescribeTimeToLive", {"TableName": name})
    return read_ttl(msgspec.json.decode(answer))


def _enable_ttl(name: str, attribute: str) -> Steps[None]:
    specification = {"AttributeName": attribute, "Enabled": True}
    try:
        yield Request(
            "UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": specification}
        )
    except ValidationException:
        if (yield from _ttl_of(name)) != attribute:  # another process enabled it
            raise


def _enable_stream(name: str, view: str) -> Steps[None]:
    specification = {"StreamEnabled": True, "StreamViewType": view}
    try:
        yield Request("UpdateTable", {"TableName": name, "StreamSpecification": specification})
    except (ResourceInUseException, ValidationException):
        found = yield from wait_until_active(name)
        if found.stream != view:  # another process enabled it
            raise
    yield from wait_until_active(name)


def _enable_recovery(name: str, days: int) -> Steps[None]:
    """Enable point-in-time recovery, unless the endpoint has no such operation."""
    specification = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    with suppress(UnsupportedOperation, UnknownOperationException):
        yield Request(
            "UpdateContinuousBackups",
            {"TableName": name, "PointInTimeRecoverySpecification": specification},
        )


def definition(table: TableMap, name: str) -> TableDescription:
    """Return the description of a declared table; `name` is its name at the target."""
    settings = table.settings

    def keys(partition: tuple[str, ...], sort: tuple[str | None, ...]) -> KeySchema:
        sides = (
            tuple(KeyAttribute(each, table.key_types.get(each, "S")) for each in side if each)
            for side in (partition, sort)
        )
        return KeySchema(*sides)

    return TableDescription(
        name,
        keys(table.attributes[:1], table.attributes[1:]),
        tuple(
            IndexDescription(
                index.name,
                index.kind,
                keys(index.partition, index.sort),
                ProjectedAttributes("INCLUDE", index.projection)
                if isinstance(index.projection, tuple)
                else ProjectedAttributes(index.projection),
                _throughput(index.billing),
            )
            for index in table.indexes.values()
        ),
        throughput=_throughput(settings.billing),
        stream=settings.stream,
        ttl=next((each.ttl.stored for each in table.entities if each.ttl is not None), None),
        recovery_days=settings.recovery_days,
        is_protected=settings.deletion_protection,
        tags=settings.tags,
    )


def _throughput(billing: Provisioned | None) -> Throughput | None:
    return None if billing is None else Throughput(billing.read, billing.write)


def compare(declared: TableDescription, found: TableDescription) -> list[TableDifference]:
    """Return the differences of the keys and indexes of a table.

    Global indexes that the table lacks are not among them: see `missing_indexes`.
    """
    lines = list(_compare_keys("key", declared.keys, found.keys))
    types = found.key_types
    for name, kind in declared.key_types.items():
        if (types.get(name) or kind) != kind:
            problem = f"declared {kind}, found {types[name]}"
            lines.append(TableDifference(f"key attribute {name}", problem))
    kinds = (Part.LOCAL_INDEX, Part.GLOBAL_INDEX)
    changed = [each for each in differences(declared, found) if each.part in kinds]
    # Local indexes first, by name; undeclared ones last.
    for each in sorted(changed, key=lambda each: (each.wanted is None, kinds.index(each.part))):
        name, is_local = f"index {each.index}", each.part is Part.LOCAL_INDEX
        if isinstance(each.wanted, IndexDescription) and isinstance(each.found, IndexDescription):
            lines += _compare_keys(name, each.wanted.keys, each.found.keys)
            if each.wanted.projection != each.found.projection:
                wanted, found_one = (
                    f"{projection.type} {', '.join(projection.include)}".strip()
                    for projection in (each.wanted.projection, each.found.projection)
                )
                problem = f"declared projection {wanted}, found {found_one}"
                lines.append(TableDifference(name, problem))
        elif each.found is None and is_local:
            problem = "declared but missing; a local index is created with its table"
            lines.append(TableDifference(name, problem))
        elif is_local:
            lines.append(TableDifference(name, "present but not declared"))
    return lines


def missing_indexes(declared: TableDescription, found: TableDescription) -> list[str]:
    """Return the names of the declared global indexes that a table lacks."""
    present = {index.name for index in found.global_indexes}
    return sorted(index.name for index in declared.global_indexes if index.name not in present)


def _compare_keys(name: str, declared: KeySchema, found: KeySchema) -> Iterator[TableDifference]:
    texts = [
        " + ".join(
            ", ".join(key.name for key in side) for side in (keys.partition, keys.sort) if side
        )
        for keys in (declared, found)
    ]
    if texts[0] != texts[1]:
        yield TableDifference(name, "declared {}, found {}".format(*texts))
