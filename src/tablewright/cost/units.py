"""Units: the capacity that reads, writes and the calls of patterns consume, from their items.

    write      the table         ceil(larger of old and new item / 1 KB)
               each index        0, 1 or 2 writes of its row, each ceil(row / 1 KB)
    read       one item, or all items of a page together: ceil(size / 4 KB), half if eventual
    both       twice that in a transaction

The number of index writes follows from the old and the new row of the item in the index:

    the item enters or leaves the index        1
    a key attribute of the index changes       2: the old row is deleted, the new one is put
    another projected attribute changes        1
    no projected attribute changes             0
    the item is not in the index               0

A call of a pattern consumes what its requests in the trace of the checks consume. A call that
is expected to fail is one that is refused, if it sends a request: DynamoDB charges a write whose
condition fails.

Invariants: the units equal the ConsumedCapacity of the engine, for the table and for each index.
This module must not know rates or prices, and runs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

from tablewright.capacity import CHARGED_FAULTS, TRANSACTION_FACTOR, read_units, write_units
from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import definition
from tablewright.values import Item
from tablewright.verify.design import Design
from tablewright.verify.trace import ReadItems, Trace, TracedRequest, WrittenItem
from tablewright.wire.operations import OPERATIONS

#: The names of items that belong to no entity: those that reserve a unique value, and others.
SENTINEL, INDEX_RECORD, UNKNOWN = "sentinel", "index record", "unknown"
#: The reason of an index that does not contain the item, before and after.
NOT_IN_INDEX = "the item is not in the index"

#: The reason of the units of a write whose condition fails.
REFUSED = "refused: a condition fails"


class Consumption(Struct, frozen=True):
    """What one read or write consumes in a table or in one of its indexes."""

    kind: Literal["read", "write"]
    table: str
    #: None for the table itself.
    index: str | None
    #: The entity of what is read or written; a page may have several.
    entity: str
    #: The entity and the size of each item that is read or written. The items of a read are
    #: rounded together; those of a write, which are index rows if there are two, each on its own.
    items: tuple[tuple[str, int], ...]
    #: 2 in a transaction; of reads also 0.5 if they are eventually consistent.
    factor: float
    #: Why it is consumed, or why not.
    reason: str

    @property
    def units(self) -> float:
        """Return the capacity units."""
        sizes = [size for _, size in self.items]
        if self.kind == "read":
            return read_units(sum(sizes), consistent=True) * self.factor
        return sum(map(write_units, sizes)) * self.factor


class PatternCall(Struct, frozen=True):
    """What a check called, and what that consumed."""

    #: The pattern with its module, as in `AccessPattern.label`.
    pattern: str
    consumed: tuple[Consumption, ...]
    #: How many calls it stands for: the pages of a query, each of which is a call.
    count: int = 1
    #: Whether it was refused, as the check expects.
    is_refused: bool = False


def pattern_calls(design: Design, trace: Trace) -> list[PatternCall]:
    """Return the calls of the patterns of a design; raise InvalidValue if a check cannot run."""
    if trace.failed:
        raise InvalidValue(
            f"{design.name}: the check {trace.failed[0]!r} fails, so the cost of the design is not "
            f"known; `tablewright verify {design.name}` shows why"
        )
    return [
        PatternCall(
            found.label,
            tuple(each for request in found.requests for each in consumption(request)),
            found.check.pages,
            found.is_refused,
        )
        for found in trace.checks
        if found.label and (found.requests or not found.is_refused)
    ]


def consumption(request: TracedRequest) -> Iterator[Consumption]:
    """Yield what a request consumes; one that fails is charged if its conditions are refused."""
    factor = TRANSACTION_FACTOR if OPERATIONS[request.operation].is_transaction else 1
    is_refused = isinstance(request.error, CHARGED_FAULTS)
    if request.error is not None and not is_refused:
        return
    for read in request.reads:
        yield _page_read(read, request.operation)
    for write in request.writes:
        if is_refused or write.is_check:
            yield _unchanged_item(write, factor, REFUSED if is_refused else "condition check")
        else:
            yield from _item_write(write, factor)


def _page_read(read: ReadItems, reason: str) -> Consumption:
    """Return what a read of items consumes, with one rounding for all of them."""
    found = tuple((entity_name(read.table, item), item_size(item)) for item in read.items)
    entities = ", ".join(sorted({entity for entity, _ in found}))
    reason = reason if found else f"{reason} that finds nothing"
    return Consumption("read", read.table.name, read.index, entities, found, read.factor, reason)


def _unchanged_item(write: WrittenItem, factor: float, reason: str) -> Consumption:
    """Return what a condition check consumes, or a write whose condition fails."""
    table, item = write.table, write.before
    entity, size = entity_name(table, item or write.key), written_size(item, None)
    return Consumption("write", table.name, None, entity, ((entity, size),), factor, reason)


def _item_write(write: WrittenItem, factor: float) -> Iterator[Consumption]:
    """Yield what a write consumes in its table, and then in each index."""
    table, old, new = write.table, write.before, write.after
    kind = table.identify(new or old or write.key)
    entity = kind_name(kind)
    items = ((entity, written_size(old, new)),)
    yield Consumption("write", table.name, None, entity, items, factor, _change(kind, old, new))
    description = definition(table, table.name)
    for index in description.indexes:
        was, now = description.index_row(index, old), description.index_row(index, new)
        sizes, reason = index_writes(index.keys.names, was, now)
        rows = tuple((entity, size) for size in sizes)
        yield Consumption("write", table.name, index.name, entity, rows, factor, reason)


def entity_name(table: TableMap, item: Item) -> str:
    """Return the name of the entity of an item, or of what it is without one."""
    return kind_name(table.identify(item))


def kind_name(kind: ItemKind) -> str:
    """Return the name of a kind of items: its entity, or what it is without one."""
    if kind.stored is not None:
        return kind.stored.name
    return INDEX_RECORD if kind.is_record else UNKNOWN if kind.is_unknown else SENTINEL


def _change(kind: ItemKind, old: Item | None, new: Item | None) -> str:
    if old is None and new is None:
        return "the item to delete does not exist"
    if kind.unique is not None:
        return "sentinel of a unique value"
    if old is None:
        return "a new item" if kind.history is None else "event of a history"
    return "the item is deleted" if new is None else "the item changes"


def written_size(old: Item | None, new: Item | None) -> int:
    """Return the size that a write of an item is charged for; 0 if there is no item."""
    return max(item_size(item) if item else 0 for item in (old, new))


def index_writes(
    keys: Collection[str], was: Item | None, now: Item | None
) -> tuple[tuple[int, ...], str]:
    """Return the sizes of the rows that are written in an index, and the reason.

    `keys` are the key attributes of the index, `was` and `now` the row of an item in it.
    """
    if was is None and now is None:
        return (), NOT_IN_INDEX
    if was is None or now is None:
        row = was or now or {}
        return (item_size(row),), f"the item {'enters' if was is None else 'leaves'} the index"
    changed = sorted(name for name in {*was, *now} if was.get(name) != now.get(name))
    moved = [name for name in changed if name in keys]
    if moved:
        reason = f"its key changes ({', '.join(moved)}): one row is deleted, one is put"
        return (item_size(was), item_size(now)), reason
    if changed:
        return (written_size(was, now),), f"projected attributes change ({', '.join(changed)})"
    return (), "no projected attribute changes"
