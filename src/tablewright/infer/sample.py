"""Sample: some items of a table, and what its description says of keys and indexes.

Reads only: DescribeTable, DescribeTimeToLive and Scan. Pages of several segments of the table are
read in turn, so that a sample of a large table has items of many partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tablewright.errors import TableNotFound
from tablewright.mapping.item_kind import is_record
from tablewright.schema import KeySchema
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import read_definition, require_description, select_tables
from tablewright.transfer.segments import scan_pages
from tablewright.transport import Transport
from tablewright.values import Item

#: The number of items that are enough to see the structure of most tables.
SAMPLE_SIZE = 1000
SEGMENTS = 4


class Sample(Struct, frozen=True):
    """A table and some of its items."""

    table: TableDescription
    items: tuple[Item, ...]
    #: Whether the entities must store each item exactly as it is, also moments.
    is_exact: bool = False


def natural_names(keys: KeySchema) -> frozenset[str]:
    """Return the key attributes that are one of several of a side, and so never composed."""
    sides = (keys.partition, keys.sort)
    return frozenset(key.name for side in sides if len(side) > 1 for key in side)


def read_sample(
    transport: Transport, table: str, where: str, size: int = SAMPLE_SIZE, segments: int = SEGMENTS
) -> Sample:
    """Return up to `size` items of a table; raise TableNotFound if it has none."""
    select_tables(transport, where, table)
    definition = read_definition(transport, require_description(transport, table))
    items = [
        item
        for item in _some_items(transport, table, size, segments)
        if not is_record(item[name] for name in definition.keys.names)
    ]
    if not items:
        raise TableNotFound(f"{where}: the table {table!r} has no items to infer a design from")
    return Sample(definition, tuple(items))


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
