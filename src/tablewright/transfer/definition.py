"""Table definitions: read from a table's description, created at a target, or compared with it.

A definition has keys, indexes, billing, the stream and TTL. It has no tags or encryption, which are
settings of the operator.

TTL and the stream are enabled after all items are written and compared: the sides would differ if
items expired before that, and copied items are no changes for the consumers of the stream.

Invariant: the data of an endpoint or a file is checked before it is used. This module returns only
table names that are valid in DynamoDB, and therefore safe as file names, and only definitions that
CreateTable accepts.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgspec

from tablewright.errors import (
    DynamoDBError,
    ResourceNotFoundException,
    TableMismatch,
    TableNotFound,
    TransferRefused,
    UnsupportedOperation,
)
from tablewright.hints import did_you_mean
from tablewright.transfer.sending import run_steps, send_request
from tablewright.transport import Transport
from tablewright.transport.tables import wait_until_active
from tablewright.wire.constraints import NAME_PATTERN
from tablewright.wire.read import read
from tablewright.wire.requests import CreateTableInput
from tablewright.wire.table_parts import differing_parts, structure_parts

#: An endpoint that lists more tables is broken; DynamoDB's limit is 10,000 in a region.
MAX_TABLES = 100_000


class TableDefinition(msgspec.Struct, frozen=True):
    """The definition of a table: its CreateTable request and its TTL attribute."""

    request: dict[str, Any]
    ttl: str | None = None

    @property
    def name(self) -> str:
        name: str = self.request["TableName"]
        return name

    def with_name(self, name: str) -> TableDefinition:
        return TableDefinition({**self.request, "TableName": name}, self.ttl)

    def without_global_indexes(self) -> TableDefinition:
        request = {k: v for k, v in self.request.items() if k != "GlobalSecondaryIndexes"}
        keyed = (request, *request.get("LocalSecondaryIndexes", ()))
        names = {key["AttributeName"] for each in keyed for key in each["KeySchema"]}
        request["AttributeDefinitions"] = [
            each for each in request["AttributeDefinitions"] if each["AttributeName"] in names
        ]
        return TableDefinition(request, self.ttl)


class _TimeToLive(msgspec.Struct):
    status: str = msgspec.field(name="TimeToLiveStatus")
    attribute: str | None = msgspec.field(name="AttributeName", default=None)


def check_table_name(name: object) -> str:
    """Return the name of a table; raise TransferRefused if it is invalid in DynamoDB.

    >>> check_table_name("orders")
    'orders'
    """
    if isinstance(name, str) and 3 <= len(name) <= 255 and re.fullmatch(NAME_PATTERN, name):
        return name
    raise TransferRefused(
        f"{shorten(name)} is not the name of a table: "
        "use 3 to 255 characters of a-z, A-Z, 0-9, '_', '-' and '.'"
    )


def shorten(value: object) -> str:
    """Format an untrusted value for a message, with a maximum length.

    >>> shorten("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def list_tables(transport: Transport) -> list[str]:
    """Return the names of all tables; raise TransferRefused if the response is invalid."""
    names: dict[str, None] = {}
    request: dict[str, Any] = {}
    while True:
        response = send_request(transport, "ListTables", request)
        listed = response.get("TableNames")
        if not isinstance(listed, list):
            raise TransferRefused(f"ListTables returned {shorten(response)}, without TableNames")
        known = len(names)
        names |= dict.fromkeys(map(check_table_name, listed))
        last = response.get("LastEvaluatedTableName")
        if last is None:
            return list(names)
        if len(names) == known or len(names) > MAX_TABLES:
            raise TransferRefused(
                f"ListTables does not end: after {len(names)} names, it returned "
                f"{shorten(last)} again"
            )
        request = {"ExclusiveStartTableName": check_table_name(last)}


def select_tables(transport: Transport, where: str, table: str | None) -> list[str]:
    """Return the given table, or all tables if it is None; raise TableNotFound if there is none."""
    names = list_tables(transport)
    if table is not None:
        if table not in names:
            existing = f"; its tables are {', '.join(names)}" if names else "; it has no tables"
            hint = did_you_mean(table, names) or existing
            raise TableNotFound(f"{where} has no table {table!r}{hint}")
        return [table]
    if not names:
        raise TableNotFound(f"{where} has no tables")
    return names


def describe(transport: Transport, name: str) -> dict[str, Any] | None:
    """Return the description of a table; None if the table does not exist."""
    try:
        description = send_request(transport, "DescribeTable", {"TableName": name}).get("Table")
    except ResourceNotFoundException:
        return None
    return _check_description(name, description)


def _check_description(name: str, description: Any) -> dict[str, Any]:
    if not isinstance(description, dict) or description.get("TableName") != name:
        raise TransferRefused(f"DescribeTable of {name!r} returned {shorten(description)}")
    expected = description.get("ItemCount")
    if expected is not None and type(expected) is not int:
        raise TransferRefused(f"table {name!r} has an ItemCount of {shorten(expected)}")
    _check_keys_defined(description, f"the description of table {name!r}")
    return description


def require_description(transport: Transport, name: str) -> dict[str, Any]:
    """Return the description of a table that ListTables returned."""
    description = describe(transport, name)
    if description is None:
        raise TableNotFound(f"table {name!r} was listed by ListTables but does not exist any more")
    return description


def check_definition(request: dict[str, Any], where: str) -> None:
    """Raise TransferRefused if CreateTable would refuse a request; `where` is its origin."""
    check_table_name(request.get("TableName"))
    try:
        read(CreateTableInput, request)
    except DynamoDBError as fault:
        raise TransferRefused(f"{where}: {fault.message}") from None
    _check_keys_defined(request, where)


def _check_keys_defined(table: dict[str, Any], where: str) -> None:
    try:
        _format_keys(table)
    except (KeyError, TypeError):
        raise TransferRefused(
            f"{where} does not define the keys: KeySchema "
            f"{shorten(table.get('KeySchema'))}, AttributeDefinitions "
            f"{shorten(table.get('AttributeDefinitions'))}"
        ) from None


def table_identity(description: dict[str, Any]) -> str:
    """Return what distinguishes a table from an earlier table with the same name."""
    return str(description.get("TableId") or description.get("CreationDateTime") or "")


def read_definition(transport: Transport, description: dict[str, Any]) -> TableDefinition:
    """Return the definition of an existing table."""
    where = f"the description of table {description['TableName']!r}"
    try:
        request = build_create_request(description)
    except (KeyError, TypeError, AttributeError) as error:
        raise TransferRefused(f"{where} is invalid: {error!r}") from None
    check_definition(request, where)
    ttl = None
    with suppress(UnsupportedOperation):  # an endpoint without TTL has no table with TTL
        ttl = read_ttl_attribute(transport, description["TableName"])
    return TableDefinition(request, ttl)


def build_create_request(description: dict[str, Any]) -> dict[str, Any]:
    """Return the CreateTable request for a table with this description."""
    units = description.get("ProvisionedThroughput", {})
    provisioned = bool(units.get("ReadCapacityUnits"))
    billing = description.get("BillingModeSummary", {}).get("BillingMode")
    billing = billing or ("PROVISIONED" if provisioned else "PAY_PER_REQUEST")
    request: dict[str, Any] = {
        "TableName": description["TableName"],
        "KeySchema": description["KeySchema"],
        "AttributeDefinitions": description["AttributeDefinitions"],
        "BillingMode": billing,
        **_build_capacity(description, billing),
    }
    if description.get("LocalSecondaryIndexes"):
        request["LocalSecondaryIndexes"] = [
            _build_index(index) for index in description["LocalSecondaryIndexes"]
        ]
    if description.get("GlobalSecondaryIndexes"):
        request["GlobalSecondaryIndexes"] = [
            {**_build_index(index), **_build_capacity(index, billing)}
            for index in description["GlobalSecondaryIndexes"]
        ]
    stream = description.get("StreamSpecification")
    if stream is not None and stream["StreamEnabled"]:
        names = ("StreamEnabled", "StreamViewType")
        request["StreamSpecification"] = {name: stream[name] for name in names}
    return request


def _build_index(index: dict[str, Any]) -> dict[str, Any]:
    projection = index["Projection"]
    kept = {"ProjectionType": projection["ProjectionType"]}
    if kept["ProjectionType"] == "INCLUDE":
        kept["NonKeyAttributes"] = projection["NonKeyAttributes"]
    return {"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": kept}


def _build_capacity(description: dict[str, Any], billing: str) -> dict[str, Any]:
    """Return the capacity of a table or a global index, for CreateTable."""
    if billing == "PROVISIONED":
        units = description["ProvisionedThroughput"]
        names = ("ReadCapacityUnits", "WriteCapacityUnits")
        return {"ProvisionedThroughput": {name: units[name] for name in names}}
    limits = description.get("OnDemandThroughput")
    return {"OnDemandThroughput": limits} if limits else {}


def require_same_definition(
    where: str, wanted: TableDefinition, found: TableDefinition, *, created: bool
) -> None:
    """Raise TableMismatch if an existing table has other keys, indexes, TTL or stream.

    TTL and the stream may be missing if an interrupted transfer has `created` the table.
    """
    differences = differing_parts(_parts(wanted), _parts(found))
    lines = [
        f"{name}: {source or 'none'} in the source, {target or 'none'} in the target; "
        f"{_suggest_fix(name, source, target)}"
        for name, (source, target) in differences.items()
        if not (created and target is None and name in _ENABLED_LAST)
    ]
    if lines:
        listed = "\n  ".join(lines)
        raise TableMismatch(
            f"{where} has a table {found.name!r} with another definition; nothing was written:\n"
            f"  {listed}"
        )


_ENABLED_LAST = ("StreamSpecification", "TTL")


def _parts(definition: TableDefinition) -> dict[str, str]:
    ttl = {} if definition.ttl is None else {"TTL": definition.ttl}
    return structure_parts(definition.request) | ttl


def _suggest_fix(name: str, source: str | None, target: str | None) -> str:
    if name.startswith("global index"):
        if target is None:
            return "add it to the target with UpdateTable, or use --without-indexes"
        again = " and add it again" if source else ""
        return f"delete it in the target{again} with UpdateTable"
    if name in _ENABLED_LAST:
        operation = "UpdateTimeToLive" if name == "TTL" else "UpdateTable"
        does = "enable it" if target is None else "disable it" if source is None else "change it"
        return f"{does} in the target with {operation}"
    return "delete the table of the target, or choose another target"


def _format_keys(table: dict[str, Any]) -> str:
    types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    names = [key["AttributeName"] for key in table["KeySchema"]]
    return " + ".join(f"{name} ({types[name]})" for name in names)


def create_table(transport: Transport, definition: TableDefinition) -> dict[str, Any]:
    """Create a table without its stream, wait until it is ACTIVE, and return its description."""
    request = {
        name: value for name, value in definition.request.items() if name != "StreamSpecification"
    }
    send_request(transport, "CreateTable", request)
    found = run_steps(transport, wait_until_active(definition.name))
    description = _check_description(definition.name, found)
    if definition.ttl is not None:
        read_ttl_attribute(
            transport, definition.name
        )  # an endpoint without TTL fails here, before any write
    return description


def read_ttl_attribute(transport: Transport, name: str) -> str | None:
    """Return the TTL attribute of a table; None if TTL is disabled."""
    response = send_request(transport, "DescribeTimeToLive", {"TableName": name})
    try:
        ttl = msgspec.convert(response["TimeToLiveDescription"], _TimeToLive)
    except (KeyError, msgspec.ValidationError):
        raise TransferRefused(
            f"DescribeTimeToLive of {name!r} returned {shorten(response)}"
        ) from None
    return ttl.attribute if ttl.status.startswith("ENABL") else None


def enable_ttl(transport: Transport, definition: TableDefinition) -> None:
    """Enable TTL as in the definition, unless it is already enabled."""
    if definition.ttl is None or read_ttl_attribute(transport, definition.name) == definition.ttl:
        return
    specification = {"AttributeName": definition.ttl, "Enabled": True}
    request = {"TableName": definition.name, "TimeToLiveSpecification": specification}
    send_request(transport, "UpdateTimeToLive", request)


def enable_stream(transport: Transport, definition: TableDefinition) -> None:
    """Enable the stream of the definition, unless it is already enabled."""
    stream = definition.request.get("StreamSpecification")
    if stream is None:
        return
    found = require_description(transport, definition.name).get("StreamSpecification")
    if found != stream:
        request = {"TableName": definition.name, "StreamSpecification": stream}
        send_request(transport, "UpdateTable", request)
        run_steps(transport, wait_until_active(definition.name))
