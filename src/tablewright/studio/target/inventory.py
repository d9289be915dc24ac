"""The inventory: the tables at the target, as their descriptions state them.

    overview(workspace, after)   a page of tables, those of the design first
    find_table(workspace, name)  one table

A table of the design that does not exist is listed, too. Counts and sizes are those of
DescribeTable, which DynamoDB updates about every six hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from tablewright.errors import (
    AccessDeniedException,
    DesignMismatch,
    TableMismatch,
    UnknownOperationException,
    UnsupportedOperation,
)
from tablewright.mapping.table import TableMap
from tablewright.model.provision import Provision
from tablewright.studio.workspace import Workspace

#: The tables of a page, as many as ListTables returns at most.
PAGE = 100
#: The descriptions that are requested at the same time, if the target is not in this process.
THREADS = 8


class FoundIndex(Struct, frozen=True):
    """What is known of an index."""

    name: str
    kind: str
    keys: str
    #: ALL, KEYS_ONLY, or the attributes that it contains besides the keys.
    projection: str
    status: str
    items: int
    size: int


class FoundTable(Struct, frozen=True):
    """What is known of a table; without a description, it does not exist."""

    name: str
    #: The table of the design with this name.
    declared: TableMap | None = None
    description: dict[str, Any] | None = None
    ttl: str | None = None
    #: How the table differs from its declaration.
    differences: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        return self.description is not None

    @property
    def status(self) -> str:
        return str(self._get("TableStatus", "missing"))

    @property
    def items(self) -> int:
        return int(self._get("ItemCount", 0))

    @property
    def size(self) -> int:
        return int(self._get("TableSizeBytes", 0))

    @property
    def keys(self) -> str:
        return format_keys(self._get("KeySchema", ()), self.types)

    @property
    def types(self) -> dict[str, str]:
        """The types of the key attributes."""
        return {
            each["AttributeName"]: each["AttributeType"]
            for each in self._get("AttributeDefinitions", ())
        }

    @property
    def key_names(self) -> list[str]:
        return [each["AttributeName"] for each in self._get("KeySchema", ())]

    @property
    def indexes(self) -> list[FoundIndex]:
        return [
            FoundIndex(
                name=index["IndexName"],
                kind=kind,
                keys=format_keys(index["KeySchema"], self.types),
                projection=_projection(index["Projection"]),
                status=index.get("IndexStatus", "ACTIVE"),
                items=index.get("ItemCount", 0),
                size=index.get("IndexSizeBytes", 0),
            )
            for kind, member in (
                ("local", "LocalSecondaryIndexes"),
                ("global", "GlobalSecondaryIndexes"),
            )
            for index in self._get(member, ())
        ]

    @property
    def stream(self) -> str | None:
        """The view type of its stream, if it has one."""
        found = self._get("StreamSpecification", {})
        return found.get("StreamViewType") if found.get("StreamEnabled") else None

    @property
    def billing(self) -> str:
        units = self._get("ProvisionedThroughput", {})
        mode = self._get("BillingModeSummary", {}).get("BillingMode")
        if mode == "PAY_PER_REQUEST" or not units.get("ReadCapacityUnits"):
            return "on demand"
        return f"{units['ReadCapacityUnits']} read and {units['WriteCapacityUnits']} write units"

    @property
    def created(self) -> str:
        moment = self._get("CreationDateTime", None)
        return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"

    def _get(self, member: str, default: Any) -> Any:
        return (self.description or {}).get(member) or default


class Overview(Struct, frozen=True):
    """A page of tables."""

    tables: list[FoundTable]
    #: The name after which the next page begins.
    next: str | None


def overview(workspace: Workspace, after: str = "") -> Overview:
    """Return a page of tables; the first page begins with the tables of the design."""
    start = {"ExclusiveStartTableName": after} if after else {}
    answer: dict[str, Any] = {"TableNames": []}
    try:
        answer = workspace.send("ListTables", Limit=PAGE, **start)
    except AccessDeniedException:
        if not workspace.maps:  # those of the design may be described nevertheless
            raise
    names = [name for name in answer["TableNames"] if name not in workspace.maps]
    if not after:
        names = [*workspace.maps, *names]
    if workspace.is_remote:
        with ThreadPoolExecutor(THREADS) as threads:
            tables = list(threads.map(lambda name: find_table(workspace, name), names))
    else:
        tables = [find_table(workspace, name) for name in names]
    return Overview(tables, answer.get("LastEvaluatedTableName"))


def find_table(workspace: Workspace, name: str) -> FoundTable:
    """Return what is known of a table."""
    declared = workspace.maps.get(name)
    description = workspace.describe(name)
    if description is None:
        return FoundTable(name, declared)
    differences: list[str] = []
    if declared is not None and description["TableStatus"] == "ACTIVE":
        differences = compare_with_design(workspace, declared)
    ttl = _ttl(workspace, name)
    return FoundTable(name, declared, description, ttl, tuple(differences))


def compare_with_design(workspace: Workspace, declared: TableMap) -> list[str]:
    """Return the differences between a table and its declaration, as `connect` states them."""
    try:
        workspace.database().run(Provision(declared, create=False))
    except (TableMismatch, DesignMismatch) as error:
        return [line.strip() for line in str(error).splitlines()[1:]]
    return []


def _ttl(workspace: Workspace, name: str) -> str | None:
    with suppress(UnsupportedOperation, UnknownOperationException, AccessDeniedException):
        found = workspace.send("DescribeTimeToLive", TableName=name)["TimeToLiveDescription"]
        if found["TimeToLiveStatus"].startswith("ENABL"):
            return str(found["AttributeName"])
    return None


def format_keys(schema: Any, types: Mapping[str, str]) -> str:
    """Return the attributes of a key with their types.

    >>> format_keys([{"AttributeName": "PK", "KeyType": "HASH"}], {"PK": "S"})
    'PK S'
    """
    names = (each["AttributeName"] for each in schema)
    return ", ".join(f"{name} {types.get(name, '')}".strip() for name in names)


def _projection(projection: Mapping[str, Any]) -> str:
    if projection.get("ProjectionType") == "INCLUDE":
        return ", ".join(projection["NonKeyAttributes"])
    return str(projection.get("ProjectionType", "ALL"))


def format_size(size: float) -> str:
    """Return a number of bytes for people.

    >>> format_size(950), format_size(4915), format_size(3 * 1024**3)
    ('950 B', '4.8 KB', '3.0 GB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:g} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"
