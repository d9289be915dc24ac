"""The key of the index record (`plan/index_record.py`): compose it, recognize it.

A command that reads items leaves the record out, so this module needs only the key of an item. It
must not know what the record contains, and imports nothing that takes long.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap

#: The partition key, and the type of the item.
RECORD_NAME = "$tablewright"
#: The values of key attributes by type. The number has the codes of the letters of "tablewright".
_PARTITION: dict[str, Value] = {
    "S": {"S": RECORD_NAME},
    "N": {"N": "-116097098108101119114105103104116"},
    "B": {"B": "JHRhYmxld3JpZ2h0"},
}
_SORT: dict[str, Value] = {"S": {"S": "indexes"}, "N": {"N": "0"}, "B": {"B": "aW5kZXhlcw=="}}


def record_key(table: TableMap) -> Item:
    """Return the key of the record."""
    partition, sort = table.attributes
    key = {partition: _PARTITION[table.key_types.get(partition, "S")]}
    if sort is not None:
        key[sort] = _SORT[table.key_types.get(sort, "S")]
    return key


def is_record(key: Iterable[Value]) -> bool:
    """Return whether a key, the partition key and perhaps the sort key, is that of a record."""
    partition, *sort = key
    return partition in _PARTITION.values() and all(each in _SORT.values() for each in sort)
