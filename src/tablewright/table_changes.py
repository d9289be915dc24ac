"""Table changes: the parts in which two tables differ, and the requests that change one.

    differences    the parts in which a table differs from what it should be, as values
    describe       such a part as text
    update_steps   the requests that make one table like another

This module sends nothing: messages and decisions about differences belong to its callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import TableReplacement
from tablewright.schema import KeySchema, OnDemand, ProjectedAttributes, Throughput
from tablewright.table_description import (
    IndexDescription,
    TableDescription,
    write_index,
    write_limits,
    write_stream,
    write_types,
    write_units,
)


class Part(StrEnum):
    """A part in which two tables can differ, with its name in messages."""

    KEYS = "keys"
    LOCAL_INDEX = "local index"
    GLOBAL_INDEX = "global index"
    STREAM = "StreamSpecification"
    TTL = "TTL"
    BILLING = "BillingMode"
    TABLE_CLASS = "TableClass"
    PROTECTION = "DeletionProtectionEnabled"
    THROUGHPUT = "throughput"
    INDEX_THROUGHPUT = "throughput of"


#: What programs depend on; the other parts are settings of the operator.
STRUCTURE = frozenset({Part.KEYS, Part.LOCAL_INDEX, Part.GLOBAL_INDEX, Part.STREAM, Part.TTL})

PartValue: TypeAlias = KeySchema | IndexDescription | Throughput | OnDemand | str


class Difference(Struct, frozen=True):
    """A part in which a table differs; None if the table lacks the part."""

    part: Part
    wanted: PartValue | None
    found: PartValue | None
    #: The name of an index.
    index: str = ""

    @property
    def name(self) -> str:
        return f"{self.part} {self.index}".rstrip()


def differences(wanted: TableDescription, found: TableDescription) -> list[Difference]:
    """Return the parts in which a table differs from the wanted one, in the order of their names.

    Tags, point-in-time recovery and warm throughput are not compared: DescribeTable does not report
    the first two, and reports defaults for the third.
    """
    parts, others = _parts(wanted), _parts(found)
    unequal = (
        Difference(part, parts.get((part, index)), others.get((part, index)), index)
        for part, index in parts.keys() | others.keys()
        if parts.get((part, index)) != others.get((part, index))
    )
    return sorted(unequal, key=lambda each: each.name)


def _parts(table: TableDescription) -> dict[tuple[Part, str], PartValue | None]:
    kinds = {"local": Part.LOCAL_INDEX, "global": Part.GLOBAL_INDEX}
    return {
        (Part.KEYS, ""): table.keys,
        **{(kinds[index.kind], index.name): _structure(index) for index in table.indexes},
        (Part.STREAM, ""): table.stream,
        (Part.TTL, ""): table.ttl,
        (Part.BILLING, ""): table.billing,
        (Part.TABLE_CLASS, ""): table.table_class or "STANDARD",
        (Part.PROTECTION, ""): "true" if table.is_protected else "false",
        (Part.THROUGHPUT, ""): table.throughput or table.on_demand,
        **{
            (Part.INDEX_THROUGHPUT, index.name): index.throughput or index.on_demand
            for index in table.global_indexes
        },
    }


def _structure(index: IndexDescription) -> IndexDescription:
    """Return an index without its capacity, with sorted projected attributes."""
    included = tuple(sorted(index.projection.include))
    projection = ProjectedAttributes(index.projection.type, included)
    return IndexDescription(index.name, index.kind, index.keys, projection)


def describe(value: PartValue | None) -> str:
    """Return a part of a table as text.

    >>> from tablewright.schema import KeyAttribute
    >>> describe(KeySchema((KeyAttribute("PK", "S"),), (KeyAttribute("SK", "N"),)))
    'PK:S HASH, SK:N RANGE'
    """
    match value:
        case KeySchema(partition, sort):
            sides = (("HASH", partition), ("RANGE", sort))
            keys = (f"{key.name}:{key.type or '?'} {kind}" for kind, side in sides for key in side)
            return ", ".join(keys)
        case IndexDescription(projection=projection):
            included = f" ({', '.join(projection.include)})" if projection.include else ""
            return f"{describe(value.keys)}, projection {projection.type}{included}"
        case Throughput():
            return f"{value.read} reads, {value.write} writes"
        case OnDemand():
            limits = ((value.read, "reads"), (value.write, "writes"))
            return ", ".join(
                f"unlimited {kind}" if units == -1 else f"at most {units} {kind}"
                for units, kind in limits
            )
        case _:
            return value or "none"


class Step(Struct, frozen=True):
    """A request that changes a table. The next one can be sent when the table is ACTIVE again."""

    operation: Literal["UpdateTable", "UpdateTimeToLive"]
    request: dict[str, Any]


def update_steps(wanted: TableDescription, found: TableDescription) -> list[Step]:
    """Return the requests that make a table like the wanted one, in their order.

    Raises TableReplacement if DynamoDB cannot change a part that differs: keys and local indexes.
    """
    changed = differences(wanted, found)
    fixed = [each.name for each in changed if each.part in (Part.KEYS, Part.LOCAL_INDEX)]
    if fixed:
        raise TableReplacement(
            f"{found.name}: DynamoDB cannot change {', '.join(fixed)}; create a table with another "
            "name and copy the items: tablewright copy"
        )
    return [
        Step("UpdateTimeToLive" if "TimeToLiveSpecification" in members else "UpdateTable", request)
        for members in _changes(wanted, found, changed)
        for request in [{"TableName": found.name} | members]
    ]


def _changes(
    wanted: TableDescription, found: TableDescription, changed: list[Difference]
) -> Iterator[dict[str, Any]]:
    """Yield the members of each request.

    UpdateTable creates or deletes one index, or changes one setting; billing and capacity belong
    together.
    """
    indexes = {each.index: each for each in changed if each.part is Part.GLOBAL_INDEX}
    for name, each in indexes.items():
        if each.found is not None:
            yield {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}
    kept = tuple(index for index in found.indexes if index.name not in indexes)
    current = replace(found, indexes=kept)
    yield from _capacity_changes(wanted, current)
    current = replace(current, throughput=wanted.throughput)
    for index in wanted.global_indexes:
        if index.name in indexes:
            yield create_index(current, index)
            current = replace(current, indexes=(*current.indexes, index))
    for each in changed:
        match each.part:
            case Part.STREAM:
                # DynamoDB cannot change the view type: disable the stream first.
                if found.stream and wanted.stream:
                    yield {"StreamSpecification": write_stream(None)}
                yield {"StreamSpecification": write_stream(wanted.stream)}
            case Part.TABLE_CLASS:
                yield {"TableClass": wanted.table_class or "STANDARD"}
            case Part.PROTECTION:
                yield {"DeletionProtectionEnabled": wanted.is_protected}
            case Part.TTL:
                for attribute, is_enabled in ((found.ttl, False), (wanted.ttl, True)):
                    if attribute is not None:
                        setting = {"AttributeName": attribute, "Enabled": is_enabled}
                        yield {"TimeToLiveSpecification": setting}
            case _:
                pass


def _capacity_changes(
    wanted: TableDescription, current: TableDescription
) -> Iterator[dict[str, Any]]:
    """Yield the members that change billing and capacity, all in one request."""
    members = _new_capacity(wanted, current)
    if wanted.billing != current.billing:
        members["BillingMode"] = wanted.billing
    updates = [
        {"Update": {"IndexName": index.name, **capacity}}
        for index in wanted.global_indexes
        if (old := current.find(index.name)) and (capacity := _new_capacity(index, old))
    ]
    if updates:
        members["GlobalSecondaryIndexUpdates"] = updates
    if members:
        yield members


def _new_capacity(
    wanted: TableDescription | IndexDescription, current: TableDescription | IndexDescription
) -> dict[str, Any]:
    if wanted.throughput is None:
        is_same = wanted.on_demand == current.on_demand
        return {} if is_same else {"OnDemandThroughput": write_limits(wanted.on_demand)}
    is_same = wanted.throughput == current.throughput
    return {} if is_same else {"ProvisionedThroughput": write_units(wanted.throughput)}


def create_index(table: TableDescription, index: IndexDescription) -> dict[str, Any]:
    """Return the members of the UpdateTable request that adds a global index to a table.

    In a table with provisioned throughput, it gets its own throughput, or that of the table; in an
    on-demand table none.
    """
    # DynamoDB refuses definitions of attributes that no key uses: those of the table, of its
    # present indexes and of the new one are sent.
    types = table.key_types
    for key in index.keys:
        types.setdefault(key.name, key.type)
    if table.throughput is None:
        index = replace(index, throughput=None)
    elif index.throughput is None:
        index = replace(index, throughput=table.throughput)
    return {
        "AttributeDefinitions": write_types(types),
        "GlobalSecondaryIndexUpdates": [{"Create": write_index(index)}],
    }
