"""The responses: the output of every operation, with DynamoDB's members in DynamoDB's order.

A member that is None is omitted. An item that is returned as it is stored is `Raw`: its bytes are
copied into the response without decoding.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from tablewright.values import Item

#: An item in a response: the stored bytes, or a dict if it was computed.
ItemOut: TypeAlias = Raw | Item


class Output(Struct, rename="pascal", omit_defaults=True, gc=False):
    """The output of one operation."""


class Capacity(Output):
    """Capacity units: the total and, in transactions, the reads and writes."""

    capacity_units: float
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None


class ConsumedCapacity(Output):
    table_name: str
    capacity_units: float
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None
    table: Capacity | None = None
    local_secondary_indexes: dict[str, Capacity] | None = None
    global_secondary_indexes: dict[str, Capacity] | None = None


class ItemCollectionMetrics(Output):
    item_collection_key: Item
    size_estimate: tuple[float, float] = field(name="SizeEstimateRangeGB")


class GetItemOutput(Output):
    """The output of GetItem, and one response of TransactGetItems."""

    item: ItemOut | None = None
    consumed_capacity: ConsumedCapacity | None = None


class WriteItemOutput(Output):
    """The output of PutItem, UpdateItem and DeleteItem."""

    attributes: ItemOut | None = None
    consumed_capacity: ConsumedCapacity | None = None
    item_collection_metrics: ItemCollectionMetrics | None = None


class PageOutput(Output, kw_only=True):
    """The output of Query and Scan."""

    items: list[ItemOut] | None = None
    count: int
    scanned_count: int
    last_evaluated_key: Item | None = None
    consumed_capacity: ConsumedCapacity | None = None


class BatchGetItemOutput(Output, kw_only=True):
    responses: dict[str, list[ItemOut]]
    unprocessed_keys: dict[str, Any]
    consumed_capacity: list[ConsumedCapacity] | None = None


class BatchWriteItemOutput(Output, kw_only=True):
    unprocessed_items: dict[str, Any]
    item_collection_metrics: dict[str, list[ItemCollectionMetrics]] | None = None
    consumed_capacity: list[ConsumedCapacity] | None = None


class TransactGetItemsOutput(Output, kw_only=True):
    consumed_capacity: list[ConsumedCapacity] | None = None
    responses: list[GetItemOutput]


class TransactWriteItemsOutput(Output, kw_only=True):
    consumed_capacity: list[ConsumedCapacity] | None = None
    item_collection_metrics: dict[str, list[ItemCollectionMetrics]] | None = None


encode = msgspec.json.Encoder().encode
