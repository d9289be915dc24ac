"""Definitions: what a table is, from its description; made at a target, or compared with one there.

Keys, indexes, billing and TTL go along. Streams, tags, encryption and the like are the operator's.

TTL is enabled when everything has been written and compared: what expires in the meantime would
make the sides differ.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import msgspec

from tablewright.errors import (
    ResourceNotFoundException,
    TableMismatch,
    TableNotFound,
    TransferRefused,
    UnsupportedOperation,
)
from tablewright.transfer.asking import ask
from tablewright.transport import Transport

#: How long, and how often, a new table is waited for.
PAUSE = 0.5
PAUSES = 600


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


def tables(transport: Transport) -> list[str]:
    """The names of all tables."""
    names: list[str] = []
    request: dict[str, Any] = {}
    while True:
        answer = ask(transport, "ListTables", request)
        names += answer["TableNames"]
        last = answer.get("LastEvaluatedTableName")
        if last is None:
            return names
        request = {"ExclusiveStartTableName": last}


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
    """A table's description; None if there is no such table."""
    try:
        description: dict[str, Any] = ask(transport, "DescribeTable", {"TableName": name})["Table"]
    except ResourceNotFoundException:
        return None
    return description


def identity(description: dict[str, Any]) -> str:
    """What tells a table from another one that had its name before."""
    return str(description.get("TableId") or description.get("CreationDateTime") or "")


def defined(transport: Transport, description: dict[str, Any]) -> Definition:
    """The definition of a table that is there."""
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
    ttl = None
    with suppress(UnsupportedOperation):  # an endpoint that has no TTL has no table with one
        ttl = ttl_of(transport, description["TableName"])
    return Definition(request, ttl)


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
    """Make a table, and wait until it takes items."""
    ask(transport, "CreateTable", definition.request)
    for _ in range(PAUSES):
        found = describe(transport, definition.name)
        if found is not None and found["TableStatus"] == "ACTIVE":
            if definition.ttl is not None:
                ttl_of(transport, definition.name)  # an endpoint without TTL says so now, not later
            return found
        time.sleep(PAUSE)
    raise TransferRefused(f"the new table {definition.name!r} does not become active")


def ttl_of(transport: Transport, name: str) -> str | None:
    """The attribute by which a table's items expire."""
    answer = ask(transport, "DescribeTimeToLive", {"TableName": name})
    told = answer["TimeToLiveDescription"]
    return told.get("AttributeName") if told["TimeToLiveStatus"].startswith("ENABL") else None


def enable_ttl(transport: Transport, definition: Definition) -> None:
    """Let items expire as they do where the definition comes from; nothing if they do already."""
    if definition.ttl is None or ttl_of(transport, definition.name) == definition.ttl:
        return
    specification = {"AttributeName": definition.ttl, "Enabled": True}
    request = {"TableName": definition.name, "TimeToLiveSpecification": specification}
    ask(transport, "UpdateTimeToLive", request)
