"""Sample: some items of a table, and what its description says of keys and indexes.

Reads only: DescribeTable, DescribeTimeToLive and Scan. Pages of several segments of the table are
read in turn, so that a sample of a large table has items of many partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tablewright.errors import TableNotFound
from tablewright.mapping.record_key import is_record
from tablewright.mapping.settings import Provisioned
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.transfer.definition import read_definition, require_description, select_tables
from tablewright.transfer.segments import scan_pages
from tablewright.transport import Transport
from tablewright.values import Item

#: The number of items that are enough to see the structure of most tables.
SAMPLE_SIZE = 1000
SEGMENTS = 4


class SampleIndex(Struct, frozen=True):
    """A secondary index of the table."""

    name: str
    is_local: bool
    keys: KeySchema
    #: ALL, KEYS_ONLY, or the names of the attributes that it contains besides its keys.
    projection: str | tuple[str, ...] = "ALL"
    #: The provisioned capacity of a global index.
    billing: Provisioned | None = None

    @property
    def natural(self) -> frozenset[str]:
        """The key attributes that are one of several, and so never composed."""
        sides = (self.keys.partition, self.keys.sort)
        return frozenset(key.name for side in sides if len(side) > 1 for key in side)


class Sample(Struct, frozen=True):
    """Items of a table, and its keys and indexes."""

    table: str
    keys: KeySchema
    indexes: tuple[SampleIndex, ...]
    items: tuple[Item, ...]
    #: The attribute with the time at which an item expires.
    ttl: str | None = None
    #: Whether the entities must store each item exactly as it is, also moments.
    is_exact: bool = False
    #: The provisioned capacity of the table; None on demand.
    billing: Provisioned | None = None


def read_sample(
    transport: Transport, table: str, where: str, size: int = SAMPLE_SIZE, segments: int = SEGMENTS
) -> Sample:
    """Return up to `size` items of a table; raise TableNotFound if it has none."""
    select_tables(transport, where, table)
    definition = read_definition(transport, require_description(transport, table))
    names = [element["AttributeName"] for element in definition.request["KeySchema"]]
    items = [
        item
        for item in _some_items(transport, table, size, segments)
        if not is_record(item[name] for name in names)
    ]
    if not items:
        raise TableNotFound(f"{where}: the table {table!r} has no items to infer a design from")
    request = definition.request
    types = {
        each["AttributeName"]: each["AttributeType"] for each in request["AttributeDefinitions"]
    }
    indexes = [
        SampleIndex(
            index["IndexName"],
            member == "LocalSecondaryIndexes",
            _keys(index["KeySchema"], types),
            _projection(index["Projection"]),
            _billing(index),
        )
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in request.get(member, ())
    ]
    return Sample(
        table,
        _keys(request["KeySchema"], types),
        tuple(indexes),
        tuple(items),
        definition.ttl,
        billing=_billing(request),
    )


def _keys(schema: list[dict[str, str]], types: dict[str, str]) -> KeySchema:
    keys = {"HASH": [], "RANGE": []}  # type: dict[str, list[KeyAttribute]]
    for each in schema:
        name = each["AttributeName"]
        keys[each["KeyType"]].append(KeyAttribute(name, types[name]))
    return KeySchema(tuple(keys["HASH"]), tuple(keys["RANGE"]))


def _projection(projection: dict[str, Any]) -> str | tuple[str, ...]:
    if projection["ProjectionType"] == "INCLUDE":
        return tuple(projection["NonKeyAttributes"])
    return str(projection["ProjectionType"])


def _billing(described: dict[str, Any]) -> Provisioned | None:
    units = described.get("ProvisionedThroughput")
    if units is None:
        return None
    return Provisioned(read=units["ReadCapacityUnits"], write=units["WriteCapacityUnits"])


def _some_items(transport: Transport, table: str, size: int, segments: int) -> list[Item]:
    limit = -(-size // segments)
    pages = [scan_pages(transport, table, each, segments, limit=limit) for each in range(segments)]
    waiting: list[Iterator[list[Item]]] = pages
    found: list[Item] = []
    while waiting and len(found) < size:
        following = []
        for each in waiting:
            page = next(each, None)
            if page is not None:
                found += page
                following.append(each)
        waiting = following
    return found[:size]
