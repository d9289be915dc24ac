"""The answers: what operations give back, in the members and the order DynamoDB has them.

A member that is None is left out. Items that nothing looked into are `Raw`: the stored bytes go
into the answer unread.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from tablewright.values import Item

#: An item on its way out: the stored bytes, or a dict where something was computed from it.
ItemOut: TypeAlias = Raw | Item


class Answer(Struct, rename="pascal", omit_defaults=True, gc=False):
    """The output of one operation."""


class Units(Answer):
    """Capacity units, in all and, in transactions, by kind."""

    capacity_units: float
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None


class ConsumedCapacity(Answer):
    table_name: str
    capacity_units: float
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None
    table: Units | None = None
    local_secondary_indexes: dict[str, Units] | None = None
    global_secondary_indexes: dict[str, Units] | None = None


class ItemCollectionMetrics(Answer):
    item_collection_key: Item
    size_estimate: tuple[float, float] = field(name="SizeEstimateRangeGB")


class Got(Answer):
    """GetItem, and one response of TransactGetItems."""

    item: ItemOut | None = None
    consumed_capacity: ConsumedCapacity | None = None


class Written(Answer):
    """PutItem, UpdateItem and DeleteItem."""

    attributes: ItemOut | None = None
    consumed_capacity: ConsumedCapacity | None = None
    item_collection_metrics: ItemCollectionMetrics | None = None


class Page(Answer, kw_only=True):
    """Query and Scan."""

    items: list[ItemOut] | None = None
    count: int
    scanned_count: int
    last_evaluated_key: Item | None = None
    consumed_capacity: ConsumedCapacity | None = None


class BatchGot(Answer, kw_only=True):
    responses: dict[str, list[ItemOut]]
    unprocessed_keys: dict[str, Any]
    consumed_capacity: list[ConsumedCapacity] | None = None


class BatchWritten(Answer, kw_only=True):
    unprocessed_items: dict[str, Any]
    item_collection_metrics: dict[str, list[ItemCollectionMetrics]] | None = None
    consumed_capacity: list[ConsumedCapacity] | None = None


class TransactionGot(Answer, kw_only=True):
    consumed_capacity: list[ConsumedCapacity] | None = None
    responses: list[Got]


class TransactionWritten(Answer, kw_only=True):
    consumed_capacity: list[ConsumedCapacity] | None = None
    item_collection_metrics: dict[str, list[ItemCollectionMetrics]] | None = None


encode = msgspec.json.Encoder().encode
