"""Provision: create the table of a model if it is missing, else compare it with its declaration.

Only what the model depends on is compared: key attributes and their types, the keys and projections
of indexes, the TTL attribute and the view type of the stream. Other settings are applied when the
table is created; later they belong to the operator.

With `update`, the declared global indexes and the TTL that a table lacks are added to it. Nothing
is changed or removed, and nothing is added if anything else differs. A global index that is not
declared is no difference: a newer version of the program may have added it.

In a table with an index record (`plan/index_record.py`), a global index that is missing or being
built is no difference either: a program can connect before its indexes are there, and writes their
keys. Reads of these indexes are refused.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from tablewright.errors import (
    DynamoDBError,
    ResourceInUseException,
    TableMismatch,
    TableNotFound,
    UnknownOperationException,
    UnsupportedOperation,
    ValidationException,
)
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.settings import Provisioned
from tablewright.mapping.table import TableMap
from tablewright.plan.index_record import (
    IndexRecord,
    add_complete,
    begin_record,
    check_record,
    composed_places,
    read_record,
)
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.unready import READY, Unready
from tablewright.transport.index_creation import add_indexes
from tablewright.transport.tables import (
    describe_table,
    index_states,
    wait_until_active,
)

#: The states in which a table can be read and written.
_USABLE = frozenset({"ACTIVE", "UPDATING"})
_UPDATE_ADDS = "connect(…, update=True) adds it"


def definition(table: TableMap, name: str) -> dict[str, Any]:
    """Return the CreateTable request for a table."""
    types = key_types(table)
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": _key_schema(table.attributes[:1], table.attributes[1:]),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
        ],
        "BillingMode": "PROVISIONED" if table.settings.billing else "PAY_PER_REQUEST",
        **throughput(table.settings.billing),
    }
    for kind, member in (("local", "LocalSecondaryIndexes"), ("global", "GlobalSecondaryIndexes")):
        indexes = [_index(index) for index in table.indexes.values() if index.kind == kind]
        if indexes:
            request[member] = indexes
    settings = table.settings
    if settings.stream is not None:
        request["StreamSpecification"] = {
            "StreamEnabled": True,
            "StreamViewType": settings.stream,
        }
    if settings.deletion_protection:
        request["DeletionProtectionEnabled"] = True
    if settings.tags:
        request["Tags"] = [{"Key": name, "Value": value} for name, value in settings.tags]
    return request


def key_types(table: TableMap) -> dict[str, str]:
    """Return the type of every key attribute of the table and its indexes."""
    names = [*table.attributes, *(n for index in table.indexes.values() for n in index.attributes)]
    return {name: table.key_types.get(name, "S") for name in names if name is not None}


def ttl_attribute(table: TableMap) -> str | None:
    for entity in table.entities:
        if entity.ttl is not None:
            return entity.ttl.stored
    return None


def index_names(table: TableMap) -> set[str]:
    """Return the names of all declared indexes."""
    return {index.name for index in table.indexes.values()}


def global_indexes(table: TableMap) -> dict[str, dict[str, Any]]:
    """Return the definition of each declared global index, by its name."""
    return {index.name: _index(index) for index in table.indexes.values() if index.kind == "global"}


def _key_schema(partition: tuple[str, ...], sort: tuple[str | None, ...]) -> list[dict[str, str]]:
    kinds = [*((name, "HASH") for name in partition), *((name, "RANGE") for name in sort)]
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds if name is not None]


def _index(index: IndexMap) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if isinstance(index.projection, tuple):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.projection)}
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.partition, index.sort),
        "Projection": projection,
        **throughput(index.billing),
    }


def throughput(billing: Provisioned | None) -> dict[str, Any]:
    """Return the member with provisioned capacity, if there is one."""
    if billing is None:
        return {}
    units = {"ReadCapacityUnits": billing.read, "WriteCapacityUnits": billing.write}
    return {"ProvisionedThroughput": units}


class Provision(Plan[Unready]):
    """Create the table if it is missing, or check that it is as declared.

    Return which indexes cannot be read yet.
    """

    def __init__(self, table: TableMap, *, create: bool, update: bool = False) -> None:
        self._table = table
        self._create = create
        self._update = update

    def _steps(self, context: Context) -> Steps[Unready]:
        table, name = self._table, context.name_of(self._table)
        if self._update:
            check_record(table)
        found = yield from describe_table(name)
        if found is None:
            if not self._create:
                raise TableNotFound(
                    f"the table {name!r} does not exist; connect(…, create=True) creates it"
                )
            yield from self._make(name)
            if self._update:
                yield from begin_record(table, name, index_names(table))
            return READY
        if found["TableStatus"] not in _USABLE:
            found = yield from wait_until_active(name, index_names(table))
        differences = compare(table, found) + _compare_stream(table, found)
        record = None if differences else (yield from self._read_record(name, found))
        if record is None and not self._update:
            differences += [
                f"index {index}: declared but missing; {_UPDATE_ADDS}"
                for index in missing_indexes(table, found)
            ]
        ttl, ttl_difference = yield from self._compare_ttl(name)
        differences += ttl_difference
        _refuse_differences(table, name, differences)
        if self._update:
            record = yield from self._update_table(name, found, record)
            found = None
        elif record is None and _unready_indexes(table, found):
            yield from wait_until_active(name, index_names(table))
            found = None
        if ttl is not None:
            yield from _enable_ttl(name, ttl)
        return unready(table, found, record)

    def _read_record(self, name: str, found: dict[str, Any]) -> Steps[IndexRecord | None]:
        """Return the record of the indexes, unless it has no effect.

        It is read after the table was described: an index is created after its record.
        """
        table = self._table
        if not any(map(composed_places, table.entities)) and not _unready_indexes(table, found):
            return None
        return (yield from read_record(table, name))

    def _update_table(
        self, name: str, found: dict[str, Any], record: IndexRecord | None
    ) -> Steps[IndexRecord]:
        """Add the indexes that the table lacks; record before that which ones have all items."""
        record = yield from _extend_record(self._table, name, found, record)
        yield from add_indexes(name, global_indexes(self._table), key_types(self._table))
        return record

    def _compare_ttl(self, name: str) -> Steps[tuple[str | None, list[str]]]:
        """Return the attribute to enable TTL for, if it is missing; or the difference."""
        wanted = ttl_attribute(self._table)
        if wanted is None:
            return None, []
        found = yield from _ttl_of(name)
        if found == wanted:
            return None, []
        # After create=True: the process that created the table stopped before it enabled TTL.
        if found is None and (self._create or self._update):
            return wanted, []
        hint = f"; {_UPDATE_ADDS}" if found is None else ""
        return None, [f"TTL: declared {wanted}, found {found or 'none'}{hint}"]

    def _make(self, name: str) -> Steps[None]:
        try:
            yield Request("CreateTable", definition(self._table, name))
        except ResourceInUseException:
            pass  # another process creates it at the same time
        except DynamoDBError as fault:
            raise _explain_fault(fault, self._table) from fault
        yield from wait_until_active(name)
        attribute = ttl_attribute(self._table)
        if attribute is not None and (yield from _ttl_of(name)) != attribute:
            yield from _enable_ttl(name, attribute)
        days = self._table.settings.recovery_days
        if days is not None:
            yield from _enable_recovery(name, days)


class Prepare(Plan[Unready]):
    """Check that a table has the declared keys and indexes, but for missing global indexes.

    With `record`, it gets an index record: then programs can connect before these indexes exist.
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
            raise TableNotFound(f"the table {name!r} does not exist")
        _refuse_differences(table, name, compare(table, found))
        record = yield from read_record(table, name)
        if self._record:
            record = yield from _extend_record(table, name, found, record)
        return unready(table, found, record)


def _extend_record(
    table: TableMap, name: str, found: dict[str, Any], record: IndexRecord | None
) -> Steps[IndexRecord]:
    """Return the record of a table, with all its entities."""
    if record is None:
        present = index_names(table) - set(missing_indexes(table, found))
        record = yield from begin_record(table, name, present)
    new = [entity for entity in table.entities if not record.knows(entity)]
    if new:  # they have no items yet
        record = yield from add_complete(table, name, new)
    return record


def _refuse_differences(table: TableMap, name: str, differences: list[str]) -> None:
    if differences:
        listed = "\n  ".join(differences)
        raise TableMismatch(
            f"the table {name!r} differs from its declaration, {table.owner}:\n  {listed}"
        )


class FindUnready(Plan[Unready]):
    """Return which indexes of a table cannot be read yet."""

    def __init__(self, table: TableMap) -> None:
        self._table = table

    def _steps(self, context: Context) -> Steps[Unready]:
        name = context.name_of(self._table)
        found = yield from describe_table(name)
        return unready(self._table, found, (yield from read_record(self._table, name)))


def unready(table: TableMap, found: dict[str, Any] | None, record: IndexRecord | None) -> Unready:
    """Return which indexes of a table cannot be read; all are there if `found` is None."""
    indexes = {} if found is None else _unready_indexes(table, found)
    places = frozenset() if record is None else record.incomplete(table)
    return Unready(indexes, places) if indexes or places else READY


def _unready_indexes(table: TableMap, found: dict[str, Any]) -> dict[str, str]:
    """Return why declared global indexes cannot be read, by their names."""
    states = index_states(found, index_names(table))
    building = {name: f"is {state}" for name, state in states.items() if state != "ACTIVE"}
    return building | dict.fromkeys(missing_indexes(table, found), "does not exist")


def _explain_fault(fault: DynamoDBError, table: TableMap) -> Exception:
    """Return the fault, or an error that names the patterns whose indexes are not supported."""
    for kind in ("local", "global"):
        named = {index.name for index in table.indexes.values() if index.kind == kind}
        if named and f"{kind}secondaryindex" in fault.message.lower().replace(" ", ""):
            needs = [
                traced.name
                for traced in table.patterns.values()
                if named & set((traced.shape.index or "").split(", "))
            ]
            users = ", ".join(needs) or table.owner
            return UnsupportedOperation(f"{kind} secondary indexes", "the endpoint", users)
    return fault


def _ttl_of(name: str) -> Steps[str | None]:
    """Return the TTL attribute of a table; None if TTL is not enabled."""
    answer = yield Request("DescribeTimeToLive", {"TableName": name})
    found = msgspec.json.decode(answer)["TimeToLiveDescription"]
    return found.get("AttributeName") if found["TimeToLiveStatus"].startswith("ENABL") else None


def _enable_ttl(name: str, attribute: str) -> Steps[None]:
    specification = {"AttributeName": attribute, "Enabled": True}
    try:
        yield Request(
            "UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": specification}
        )
    except ValidationException:
        if (yield from _ttl_of(name)) != attribute:  # another process enabled it
            raise


def _enable_recovery(name: str, days: int) -> Steps[None]:
    """Enable point-in-time recovery, unless the endpoint has no such operation."""
    specification = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    with suppress(UnsupportedOperation, UnknownOperationException):
        yield Request(
            "UpdateContinuousBackups",
            {"TableName": name, "PointInTimeRecoverySpecification": specification},
        )


def compare(table: TableMap, found: dict[str, Any]) -> list[str]:
    """Return the differences of the keys and indexes of a described table, a line each.

    Global indexes that the table lacks are not among them: see `missing_indexes`.
    """
    wanted = definition(table, table.name)
    types = {a["AttributeName"]: a["AttributeType"] for a in found["AttributeDefinitions"]}
    lines = []
    if _shown(wanted["KeySchema"]) != _shown(found["KeySchema"]):
        lines.append(
            f"key: declared {_shown(wanted['KeySchema'])}, found {_shown(found['KeySchema'])}"
        )
    for name, kind in key_types(table).items():
        if name in types and types[name] != kind:
            lines.append(f"key attribute {name}: declared {kind}, found {types[name]}")
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        here = {index["IndexName"]: index for index in wanted.get(member, ())}
        there = {index["IndexName"]: index for index in found.get(member, ())}
        for name in sorted(here.keys() & there.keys()):
            lines += _compare_index(name, here[name], there[name])
        if member == "LocalSecondaryIndexes":
            lines += [
                f"index {name}: declared but missing; a local index is created with its table"
                for name in sorted(here.keys() - there.keys())
            ]
            lines += [
                f"index {name}: present but not declared"
                for name in sorted(there.keys() - here.keys())
            ]
    return lines


def _compare_stream(table: TableMap, found: dict[str, Any]) -> list[str]:
    stream = found.get("StreamSpecification", {}).get("StreamViewType")
    if table.settings.stream in (None, stream):
        return []
    return [f"stream: declared {table.settings.stream}, found {stream or 'none'}"]


def missing_indexes(table: TableMap, found: dict[str, Any]) -> list[str]:
    """Return the names of the declared global indexes that a described table lacks."""
    present = {index["IndexName"] for index in found.get("GlobalSecondaryIndexes", ())}
    return sorted(global_indexes(table).keys() - present)


def _compare_index(name: str, here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    lines = []
    if _shown(here["KeySchema"]) != _shown(there["KeySchema"]):
        lines.append(
            f"index {name}: declared {_shown(here['KeySchema'])}, "
            f"found {_shown(there['KeySchema'])}"
        )
    declared, found = _projected(here), _projected(there)
    if declared != found:
        lines.append(f"index {name}: declared projection {declared}, found {found}")
    return lines


def _shown(schema: list[dict[str, str]]) -> str:
    sides = [
        ", ".join(key["AttributeName"] for key in schema if key["KeyType"] == kind)
        for kind in ("HASH", "RANGE")
    ]
    return " + ".join(filter(None, sides))


def _projected(index: dict[str, Any]) -> str:
    projection = index["Projection"]
    names = ", ".join(sorted(projection.get("NonKeyAttributes", ())))
    return f"{projection['ProjectionType']} {names}".strip()
