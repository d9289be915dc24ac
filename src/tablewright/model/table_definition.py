"""Table definitions: the requests that create a table and its indexes, and what differs from them.

This module sends nothing: `provision.py` compares tables and creates them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tablewright.mapping.keys import IndexMap
from tablewright.mapping.settings import Provisioned
from tablewright.mapping.table import TableMap


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


def compare(table: TableMap, found: dict[str, Any]) -> list[str]:
    """Return the differences of the keys and indexes of a described table, a line each.

    Global indexes that the table lacks are not among them: see `missing_indexes`.
    """
    types = {a["AttributeName"]: a["AttributeType"] for a in found["AttributeDefinitions"]}
    lines = []
    declared, stored = _key_text(table.attributes[:1], table.attributes[1:]), _shown(found)
    if declared != stored:
        lines.append(f"key: declared {declared}, found {stored}")
    for name, kind in key_types(table).items():
        if types.get(name, kind) != kind:
            lines.append(f"key attribute {name}: declared {kind}, found {types[name]}")
    local = {index["IndexName"]: index for index in found.get("LocalSecondaryIndexes", ())}
    there = {index["IndexName"]: index for index in found.get("GlobalSecondaryIndexes", ())}
    # The local indexes first, in the order of their names.
    for index in sorted(
        table.indexes.values(), key=lambda each: (each.kind == "global", each.name)
    ):
        present = (local if index.kind == "local" else there).get(index.name)
        if present is not None:
            lines += _compare_index(index, present)
        elif index.kind == "local":
            lines.append(
                f"index {index.name}: declared but missing; a local index is created with its table"
            )
    undeclared = sorted(local.keys() - index_names(table))
    return lines + [f"index {name}: present but not declared" for name in undeclared]


def stream_of(found: dict[str, Any]) -> str | None:
    """Return the view type of the stream of a described table; None if it has none."""
    view: str | None = found.get("StreamSpecification", {}).get("StreamViewType")
    return view


def missing_indexes(table: TableMap, found: dict[str, Any]) -> list[str]:
    """Return the names of the declared global indexes that a described table lacks."""
    present = {index["IndexName"] for index in found.get("GlobalSecondaryIndexes", ())}
    return sorted(
        index.name
        for index in table.indexes.values()
        if index.kind == "global" and index.name not in present
    )


def _compare_index(index: IndexMap, found: dict[str, Any]) -> list[str]:
    lines = []
    declared, stored = _key_text(index.partition, index.sort), _shown(found)
    if declared != stored:
        lines.append(f"index {index.name}: declared {declared}, found {stored}")
    projection = found["Projection"]
    stored = _projection_text(projection["ProjectionType"], projection.get("NonKeyAttributes", ()))
    if isinstance(index.projection, tuple):
        declared = _projection_text("INCLUDE", index.projection)
    else:
        declared = index.projection
    if declared != stored:
        lines.append(f"index {index.name}: declared projection {declared}, found {stored}")
    return lines


def _shown(found: dict[str, Any]) -> str:
    """Return the key of a described table or index as text."""
    schema = found["KeySchema"]
    return _key_text(
        [key["AttributeName"] for key in schema if key["KeyType"] == "HASH"],
        [key["AttributeName"] for key in schema if key["KeyType"] == "RANGE"],
    )


def _key_text(partition: Iterable[str | None], sort: Iterable[str | None]) -> str:
    sides = (", ".join(filter(None, partition)), ", ".join(filter(None, sort)))
    return " + ".join(filter(None, sides))


def _projection_text(kind: str, names: Iterable[str]) -> str:
    return f"{kind} {', '.join(sorted(names))}".strip()
