"""Definitions: what a table is, from its description; made at a target, or compared with one there.

Keys, indexes, billing and TTL go along. Streams, tags, encryption and the like are the operator's.

TTL is enabled when everything has been written and compared: what expires in the meantime would
make the sides differ.

Invariant: what an endpoint or a file says of a table is checked before it is used. A name that
leaves this module is a name by DynamoDB's rule, so it is also the name of a file in any folder; a
definition is one that CreateTable takes.
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
from tablewright.transfer.asking import ask, run_steps
from tablewright.transport import Transport
from tablewright.transport.tables import wait_until_active
from tablewright.wire.constraints import NAME_PATTERN
from tablewright.wire.read import read
from tablewright.wire.requests import CreateTableInput

#: No account has as many tables; DynamoDB's limit is 10,000 in a region.
MAX_TABLES = 100_000


class Definition(msgspec.Struct, frozen=True):
    """How to make a table: its CreateTable request, and the attribute by which items expire."""

    request: dict[str, Any]
    ttl: str | None = None

    @property
    def name(self) -> str:
        name: str = self.request["TableName"]
        return name

    def named(self, name: str) -> Definition:
        return Definition({**self.request, "TableName": name}, self.ttl)


class _TimeToLive(msgspec.Struct):
    status: str = msgspec.field(name="TimeToLiveStatus")
    attribute: str | None = msgspec.field(name="AttributeName", default=None)


def checked_name(name: object) -> str:
    """A table's name; refused unless it is one by DynamoDB's rule.

    >>> checked_name("orders")
    'orders'
    """
    if isinstance(name, str) and 3 <= len(name) <= 255 and re.fullmatch(NAME_PATTERN, name):
        return name
    raise TransferRefused(
        f"{shortened(name)} is not the name of a table: "
        "a name has 3 to 255 characters out of a-z, A-Z, 0-9, '_', '-' and '.'"
    )


def shortened(value: object) -> str:
    """A value of unknown origin as a message shows it.

    >>> shortened("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def tables(transport: Transport) -> list[str]:
    """The names of all tables; refused if they are not names, or without end."""
    names: dict[str, None] = {}
    request: dict[str, Any] = {}
    while True:
        answer = ask(transport, "ListTables", request)
        listed = answer.get("TableNames")
        if not isinstance(listed, list):
            raise TransferRefused(f"ListTables answered {shortened(answer)}, without TableNames")
        known = len(names)
        names |= dict.fromkeys(map(checked_name, listed))
        last = answer.get("LastEvaluatedTableName")
        if last is None:
            return list(names)
        if len(names) == known or len(names) > MAX_TABLES:
            raise TransferRefused(
                f"ListTables does not come to an end: {len(names)} names, then again "
                f"{shortened(last)}"
            )
        request = {"ExclusiveStartTableName": checked_name(last)}


def chosen(transport: Transport, where: str, table: str | None) -> list[str]:
    """The one table that was asked for, or all there are; refused if there is none."""
    names = tables(transport)
    if table is not None:
        if table not in names:
            there = f"there are {', '.join(names)}" if names else "there are no tables at all"
            raise TableNotFound(f"{where} has no table {table!r}; {there}")
        return [table]
    if not names:
        raise TableNotFound(f"{where} has no tables")
    return names


def describe(transport: Transport, name: str) -> dict[str, Any] | None:
    """Return a table's description; None if there is no such table."""
    try:
        description = ask(transport, "DescribeTable", {"TableName": name}).get("Table")
    except ResourceNotFoundException:
        return None
    return _checked_description(name, description)


def _checked_description(name: str, description: Any) -> dict[str, Any]:
    if not isinstance(description, dict) or description.get("TableName") != name:
        raise TransferRefused(f"DescribeTable of {name!r} answered {shortened(description)}")
    expected = description.get("ItemCount")
    if expected is not None and type(expected) is not int:
        raise TransferRefused(f"table {name!r} has an ItemCount of {shortened(expected)}")
    _check_keys_defined(description, f"the description of table {name!r}")
    return description


def described(transport: Transport, name: str) -> dict[str, Any]:
    """The description of a table that was there a moment ago."""
    description = describe(transport, name)
    if description is None:
        raise TableNotFound(f"table {name!r} was listed, and is not there any more")
    return description


def check_definition(request: dict[str, Any], where: str) -> None:
    """Refuse what CreateTable would not take; `where` says in what it was found."""
    checked_name(request.get("TableName"))
    try:
        read(CreateTableInput, request)
    except DynamoDBError as fault:
        raise TransferRefused(f"{where}: {fault.message}") from None
    _check_keys_defined(request, where)


def _check_keys_defined(table: dict[str, Any], where: str) -> None:
    try:
        _keys(table)
    except (KeyError, TypeError):
        raise TransferRefused(
            f"{where} does not say what the keys are: KeySchema "
            f"{shortened(table.get('KeySchema'))}, AttributeDefinitions "
            f"{shortened(table.get('AttributeDefinitions'))}"
        ) from None


def identity(description: dict[str, Any]) -> str:
    """What tells a table from another one that had its name before."""
    return str(description.get("TableId") or description.get("CreationDateTime") or "")


def defined(transport: Transport, description: dict[str, Any]) -> Definition:
    """The definition of a table that is there."""
    where = f"the description of table {description['TableName']!r}"
    try:
        request = _creating(description)
    except (KeyError, TypeError, AttributeError) as error:
        raise TransferRefused(f"{where} cannot be read: {error!r}") from None
    check_definition(request, where)
    ttl = None
    with suppress(UnsupportedOperation):  # an endpoint that has no TTL has no table with one
        ttl = ttl_of(transport, description["TableName"])
    return Definition(request, ttl)


def _creating(description: dict[str, Any]) -> dict[str, Any]:
    """The CreateTable request that makes a table as described."""
    units = description.get("ProvisionedThroughput", {})
    provisioned = bool(units.get("ReadCapacityUnits"))
    billing = description.get("BillingModeSummary", {}).get("BillingMode")
    billing = billing or ("PROVISIONED" if provisioned else "PAY_PER_REQUEST")
    request: dict[str, Any] = {
        "TableName": description["TableName"],
        "KeySchema": description["KeySchema"],
        "AttributeDefinitions": description["AttributeDefinitions"],
        "BillingMode": billing,
        **_capacity(description, billing),
    }
    if description.get("LocalSecondaryIndexes"):
        request["LocalSecondaryIndexes"] = [
            _index(index) for index in description["LocalSecondaryIndexes"]
        ]
    if description.get("GlobalSecondaryIndexes"):
        request["GlobalSecondaryIndexes"] = [
            {**_index(index), **_capacity(index, billing)}
            for index in description["GlobalSecondaryIndexes"]
        ]
    return request


def _index(index: dict[str, Any]) -> dict[str, Any]:
    projection = index["Projection"]
    kept = {"ProjectionType": projection["ProjectionType"]}
    if kept["ProjectionType"] == "INCLUDE":
        kept["NonKeyAttributes"] = projection["NonKeyAttributes"]
    return {"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": kept}


def _capacity(described: dict[str, Any], billing: str) -> dict[str, Any]:
    """The capacity of a table or a global index, as CreateTable takes it."""
    if billing == "PROVISIONED":
        units = described["ProvisionedThroughput"]
        names = ("ReadCapacityUnits", "WriteCapacityUnits")
        return {"ProvisionedThroughput": {name: units[name] for name in names}}
    limits = described.get("OnDemandThroughput")
    return {"OnDemandThroughput": limits} if limits else {}


def check_keys(where: str, wanted: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuse a table that has other keys."""
    if _keys(wanted) != _keys(found):
        raise TableMismatch(
            f"{where} has a table {found['TableName']!r} with other keys: "
            f"{_keys(found)}, not {_keys(wanted)}"
        )


def _keys(table: dict[str, Any]) -> str:
    types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    names = [key["AttributeName"] for key in table["KeySchema"]]
    return " + ".join(f"{name} ({types[name]})" for name in names)


def make(transport: Transport, definition: Definition) -> dict[str, Any]:
    """Create a table, wait until it is ACTIVE, and return its description."""
    ask(transport, "CreateTable", definition.request)
    found = run_steps(transport, wait_until_active(definition.name))
    description = _checked_description(definition.name, found)
    if definition.ttl is not None:
        ttl_of(transport, definition.name)  # an endpoint without TTL fails here, before any write
    return description


def ttl_of(transport: Transport, name: str) -> str | None:
    """The attribute by which a table's items expire."""
    answer = ask(transport, "DescribeTimeToLive", {"TableName": name})
    try:
        described = msgspec.convert(answer["TimeToLiveDescription"], _TimeToLive)
    except (KeyError, msgspec.ValidationError):
        raise TransferRefused(
            f"DescribeTimeToLive of {name!r} answered {shortened(answer)}"
        ) from None
    return described.attribute if described.status.startswith("ENABL") else None


def enable_ttl(transport: Transport, definition: Definition) -> None:
    """Let items expire as they do where the definition comes from; nothing if they do already."""
    if definition.ttl is None or ttl_of(transport, definition.name) == definition.ttl:
        return
    specification = {"AttributeName": definition.ttl, "Enabled": True}
    request = {"TableName": definition.name, "TimeToLiveSpecification": specification}
    ask(transport, "UpdateTimeToLive", request)
