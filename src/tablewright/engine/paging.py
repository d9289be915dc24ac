"""Paging: read, filter and limit the rows of a page, for Query and Scan.

A page ends with the row that reaches `Limit` or 1 MB, both counted before the filter, or at which a
heavy filter has used up its CPU time. The key of that row is the LastEvaluatedKey, even if it is
the last row. Rows of a table and of an index have the same form and are read in the same way, with
one exception: attributes that a local index does not hold are fetched from the table, and the table
is charged for them.
"""

from __future__ import annotations

from contextlib import closing
from time import thread_time
from typing import Final

from msgspec import Raw, Struct

from tablewright.capacity import read_units
from tablewright.encoding.items import load, normalise_item
from tablewright.engine.charge import Charge
from tablewright.engine.step import ReadContext
from tablewright.engine.tables.table import (
    KEY_MISMATCH,
    Keys,
    StoredIndex,
    StoredTable,
    empty_key_error,
)
from tablewright.errors import ValidationException, invalid, join_truncated
from tablewright.expression import (
    CompiledCondition,
    CompiledKeyCondition,
    CompiledProjection,
    KeySelection,
)
from tablewright.expression.legacy import LegacyKeyCondition
from tablewright.limits import MAX_PAGE_SIZE
from tablewright.storage import Tree
from tablewright.values import Item
from tablewright.wire import requests
from tablewright.wire.layers import label
from tablewright.wire.responses import ItemOut, PageOutput

#: The CPU time after which a response ends early.
MAX_SECONDS: Final = 0.4
#: A filter of at most this many characters is not costly, for items of any size.
SHORT_FILTER = 100
_UNREAD: Item = {}  # placeholder for an item that is not decoded
_INVALID_START = "The provided starting key is invalid"


class WorkLimit:
    """The CPU time that is left for a response, from its creation.

    DynamoDB may return fewer items than its limits allow: the rest is behind the LastEvaluatedKey,
    NextToken or UnprocessedKeys. So a page or a batch ends early, and a transaction fails: one
    request never computes for long, whatever its filter and however many tiny items a page has. It
    is the time of the thread, so a busy machine makes no page shorter.
    """

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = thread_time() + MAX_SECONDS

    @property
    def is_reached(self) -> bool:
        return thread_time() > self._end


class RowSource:
    """The table or index that a request reads."""

    __slots__ = ("has_lone_items", "index", "keys", "position_names", "table", "tree")

    def __init__(self, table: StoredTable, index: StoredIndex | None) -> None:
        self.table = table
        self.index = index
        self.tree: Tree = table.tree
        self.keys = table.keys
        #: The attributes of a start key: the keys of the index and those of the table.
        self.position_names = table.key_names
        #: Whether a partition has one item, as in a table without a sort key. DynamoDB refuses to
        #: start a Query behind it, so its Query has no LastEvaluatedKey.
        self.has_lone_items = index is None and not table.keys.sort_names
        if index is not None:
            if index.schema.building:
                raise backfilling(index.name)
            self.tree = index.tree
            self.keys = index.keys
            self.position_names = index.position_names

    def select(self, condition: CompiledKeyCondition | LegacyKeyCondition) -> KeySelection:
        """Return what a key condition selects in this table or index."""
        keys = self.keys
        return condition.select(
            keys.partition_names, keys.sort_names, keys.types, on_index=self.index is not None
        )

    def encode_start_key(self, start: Item, *, scanning: bool) -> bytes:
        """Check an ExclusiveStartKey and return the key of its row, which need not exist."""
        if start.keys() != set(self.position_names):
            exactly = scanning and self.index is None
            old = f"{_INVALID_START}: {KEY_MISMATCH}" if exactly else None
            raise ValidationException(_INVALID_START, old=old)
        for attribute in self.table.keys.attributes:
            if attribute.type not in start[attribute.name]:
                raise ValidationException(f"{_INVALID_START}: {KEY_MISMATCH}")
        for attribute in self.keys.attributes:
            if attribute.type not in start[attribute.name]:
                raise ValidationException(KEY_MISMATCH)
        for attribute in (*self.table.keys.attributes, *self.keys.attributes):
            if not start[attribute.name][attribute.type]:
                raise ValidationException(f"{_INVALID_START}: {empty_key_error(attribute).message}")
        table_key = self.table.encode_key(start)
        if self.index is None:
            return table_key
        self.keys.check_index_key_sizes(start)
        row_key = self.index.encode_row_key(start, table_key)
        assert row_key is not None
        return row_key


def backfilling(index: str) -> ValidationException:
    return ValidationException(f"Cannot read from backfilling global secondary index: {index}")


def find_source(context: ReadContext, request: requests.PagedInput) -> RowSource:
    """Return the table or index that a Query or Scan reads."""
    table = context.find_table(request.table_name)
    if request.index_name is None:
        return RowSource(table, None)
    index = table.indexes_by_name.get(request.index_name)
    if index is None:
        raise ValidationException(
            f"The table does not have the specified index: {request.index_name}"
        )
    if index.is_global and request.consistent:
        raise ValidationException("Consistent reads are not supported on global secondary indexes")
    return RowSource(table, index)


def read_start_key(request: requests.PagedInput) -> Item | None:
    """Normalise an ExclusiveStartKey; it is checked against the key schema later."""
    if request.start_key is None:
        return None
    try:
        return normalise_item(request.start_key)
    except ValidationException as fault:
        if "numeric value" in fault.message or "Number" in fault.message:
            raise  # DynamoDB checks numbers before it checks the start key
        raise ValidationException(
            fault.message, old=f"{_INVALID_START}: {fault.old_message}"
        ) from None


def check_select(request: requests.PagedInput, projection: CompiledProjection | None) -> None:
    """Check `Select` and its combination with other parameters, without the table."""
    select = request.select
    given = "ProjectionExpression" if request.projection is not None else "AttributesToGet"
    if select == "SPECIFIC_ATTRIBUTES":
        if projection is None:
            unnamed = (
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                "SPECIFIC_ATTRIBUTES"
            )
            raise ValidationException(label(unnamed), old=unnamed)
    elif select is not None and projection is not None:
        wanted = "only the Count" if select == "COUNT" else select
        raise ValidationException(f"Cannot specify the {given} when choosing to get {wanted}")
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.index_name is None:
        raise ValidationException(
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
        )


def is_costly(request: requests.PagedInput, item_filter: CompiledCondition | None) -> bool:
    """Return whether a filter may take tenths of a second for one page."""
    return item_filter is not None and (
        request.filter is None or len(request.filter) > SHORT_FILTER or item_filter.is_heavy
    )


def needs_table_rows(
    source: RowSource,
    request: requests.PagedInput,
    item_filter: CompiledCondition | None,
    projection: CompiledProjection | None,
) -> bool:
    """Return whether a local index needs rows of its table; raise a fault for a global index."""
    index = source.index
    if index is None or index.projected_names is None:
        return False
    reject_unprojected_filter(index, item_filter)
    if request.select == "ALL_ATTRIBUTES":
        if index.is_global:
            raise invalid(
                "Select type ALL_ATTRIBUTES is not "
                f"supported for global secondary index {index.name} "
                "because its projection type is not ALL"
            )
        return True
    return lacks_projected(index, projection)


def reject_unprojected_filter(index: StoredIndex, item_filter: CompiledCondition | None) -> None:
    """Reject a filter on attributes that an index does not hold."""
    if index.projected_names is None or item_filter is None:
        return
    unheld = sorted(item_filter.names - index.projected_names)
    if unheld:
        raise invalid(
            f"Secondary index {index.name} does not project one or more filter attributes: "
            f"[{join_truncated(unheld)}]"
        )


def lacks_projected(index: StoredIndex, projection: CompiledProjection | None) -> bool:
    """Return whether a local index does not hold all wanted attributes; refuse a global one."""
    if index.projected_names is None or projection is None:
        return False
    missing = sorted(projection.names - index.projected_names)
    if missing and index.is_global:
        raise invalid(
            f"Global secondary index {index.name} does not project [{join_truncated(missing)}]"
        )
    return bool(missing)


def reject_filter_on_keys(
    request: requests.QueryInput, item_filter: CompiledCondition | None, keys: Keys
) -> None:
    """Reject a Query filter on key attributes; they belong in the key condition."""
    for name in keys.names:
        if item_filter and name in item_filter.names:
            parameter = "QueryFilter" if request.filter is None else "Filter Expression"
            raise ValidationException(
                f"{parameter} can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )


def read_page(
    context: ReadContext,
    source: RowSource,
    request: requests.PagedInput,
    bounds: tuple[bytes, bytes | None],
    *,
    backwards: bool,
    item_filter: CompiledCondition | None,
    project: CompiledProjection | None,
) -> PageOutput:
    """Read one page of the rows between `bounds`."""
    fetch = needs_table_rows(source, request, item_filter, project)
    is_count = request.select == "COUNT"
    charge = Charge(source.table, name=request.table_name)
    rows = read_rows(
        context,
        source,
        bounds,
        charge,
        backwards=backwards,
        limit=request.limit,
        max_size=MAX_PAGE_SIZE,
        work=WorkLimit() if item_filter is not None and item_filter.is_heavy else None,
        consistent=request.consistent,
        item_filter=item_filter,
        project=project,
        fetch=fetch,
        is_count=is_count,
    )
    return PageOutput(
        items=None if is_count else rows.items,
        count=rows.count,
        scanned_count=rows.scanned,
        last_evaluated_key=rows.last,
        consumed_capacity=charge.to_consumed_capacity(request.return_capacity),
    )


class Rows(Struct):
    """The rows that were read; `last` is the key of the last one if there may be more."""

    items: list[ItemOut]
    count: int
    scanned: int
    size: int
    last: Item | None


def read_rows(
    context: ReadContext,
    source: RowSource,
    bounds: tuple[bytes, bytes | None],
    charge: Charge,
    *,
    backwards: bool,
    limit: int | None,
    max_size: int,
    work: WorkLimit | None,
    consistent: bool | None,
    item_filter: CompiledCondition | None,
    project: CompiledProjection | None,
    fetch: bool,
    is_count: bool = False,
) -> Rows:
    """Read rows between `bounds` up to `limit`, `max_size` or `work`, and charge for them.

    `work`: the limit of a heavy filter; for others it is not used.
    `fetch`: read the whole items from the table, because the index lacks attributes.
    """
    items: list[ItemOut] = []
    count = scanned = size = 0
    last: bytes | None = None
    if item_filter is None or not item_filter.is_heavy:
        work = None
    walk = context.snapshot.walk(source.tree, *bounds, backwards=backwards)
    with closing(walk):
        for _, row_size, body in walk:
            scanned += 1
            size += row_size
            whole = _fetch_item(context, source.table, body, charge, consistent) if fetch else body
            item = (
                _UNREAD  # frees the previous one, which may take 80 MB, before the next is decoded
            )
            if item_filter or project:
                item = load(whole)
            if item_filter is None or item_filter.holds(item):
                count += 1
                if not is_count:
                    items.append(project(item) if project else Raw(whole))
            if scanned == limit or size >= max_size or (work is not None and work.is_reached):
                last = body
                break
    charge.add(read_units(size, consistent=consistent), source.index)
    start_key = None
    if last is not None:
        item = load(last)
        start_key = {name: item[name] for name in source.position_names}
    return Rows(items, count, scanned, size, start_key)


def _fetch_item(
    context: ReadContext, table: StoredTable, body: bytes, charge: Charge, consistent: bool | None
) -> bytes:
    found = context.snapshot.get(table.tree, table.encode_key(load(body)))
    assert found is not None  # the open walk keeps the read transaction of the row open
    charge.add(read_units(found[0], consistent=consistent))
    return found[1]
