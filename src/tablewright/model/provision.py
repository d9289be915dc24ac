"""Provision: create the table of a model if it is missing, else compare it with its declaration.

Only what the model depends on is compared: key attributes and their types, the keys and projections
of indexes, the TTL attribute and the view type of the stream. Other settings are applied when the
table is created; later they belong to the operator.
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
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.transport.tables import describe_table, describe_unready, wait_until_active


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


class Provision(Plan[None]):
    """Create the table if it is missing, or check that it is as declared."""

    def __init__(self, table: TableMap, *, create: bool) -> None:
        self._table = table
        self._create = create

    def _steps(self, context: Context) -> Steps[None]:
        name = context.name_of(self._table)
        found = yield from describe_table(name)
        if found is None:
            if not self._create:
                raise TableNotFound(
                    f"the table {name!r} does not exist; connect(…, create=True) creates it"
                )
            yield from self._make(name)
            return
        if describe_unready(found):
            found = yield from wait_until_active(name)
        differences = compare(self._table, found)
        differences += yield from self._compare_ttl(name)
        if differences:
            listed = "\n  ".join(differences)
            raise TableMismatch(
                f"the table {name!r} differs from its declaration, {self._table.owner}:\n  {listed}"
            )

    def _compare_ttl(self, name: str) -> Steps[list[str]]:
        wanted = ttl_attribute(self._table)
        if wanted is None:
            return []
        found = yield from _ttl_of(name)
        if found is None and self._create:
            # The process that created the table stopped before this step.
            yield from _enable_ttl(name, wanted)
            return []
        return [] if found == wanted else [f"TTL: declared {wanted}, found {found or 'none'}"]

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
    """Return the differences between a declaration and a described table, a line each."""
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
        for name in sorted(here.keys() | there.keys()):
            lines += _compare_index(name, here.get(name), there.get(name))
    stream = found.get("StreamSpecification", {}).get("StreamViewType")
    if table.settings.stream not in (None, stream):
        lines.append(f"stream: declared {table.settings.stream}, found {stream or 'none'}")
    return lines


def _compare_index(
    name: str, here: dict[str, Any] | None, there: dict[str, Any] | None
) -> list[str]:
    if there is None:
        return [f"index {name}: declared but missing"]
    if here is None:
        return [f"index {name}: present but not declared"]
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
