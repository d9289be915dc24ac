"""ItemCollectionMetrics: returned on request, for tables with local secondary indexes only."""

from __future__ import annotations

from tablewright.engine.table import StoredTable
from tablewright.values import Item
from tablewright.wire.responses import ItemCollectionMetrics


def collection_metrics(
    table: StoredTable, key: Item, requested: str | None
) -> ItemCollectionMetrics | None:
    """Return the metrics, with the constant estimate 0 to 1; DynamoDB estimates whole gigabytes."""
    if requested != "SIZE" or not table.schema.local_indexes:
        return None
    name = table.key_names[0]
    return ItemCollectionMetrics({name: key[name]}, (0.0, 1.0))
