"""The change log of a table: one row for each change of an item, in the order of the changes.

A table has a change log while a stream or point-in-time recovery needs one (`TableSchema.log`).
Both read the same log: `streams` presents it as shards and records; recovery undoes the changes
after a time. A log is a tree of its own, and can outlive its table.

    key             size            body
    0               0               the trim points, as JSON: [deleted, horizon]
    number          microseconds    [hash, expired, old item or null, new item or null]

- `number` is the sequence number: 1 for the first change of the log, then without gaps. A number is
  never used again, even if all rows are trimmed.
- `size` is the time of the change, in microseconds since 1970. It never decreases: if the clock is
  set back, changes get the time of the last one.
- `hash` is the hash of the partition key (the first four bytes of the row's key in the table);
  `expired` is true if the item was deleted because its time to live was over.
- The items are the bytes that the table stores, so a change is logged without encoding an item.

Invariants:
- `rows.replace_item` appends a change in the transaction that changes the item. So the log and the
  table always agree: the last change of a key has the item that the table has.
- Only real changes are logged: an item that is replaced by an equal item is not.
- Rows are deleted only from the start (`trimming`). Rows up to `deleted` do not exist; those up to
  `horizon` belong to no stream any more, but recovery may still need them.

What is logged does not depend on the streams: each change has both items, so a stream can have any
view type. This module does not know tables, streams or requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing

import msgspec
from msgspec import Raw

from tablewright.errors import StoreFailed
from tablewright.storage import DamagedRow, LogRow, LogTree, Snapshot, WriteTransaction

_TRIM_POINTS = 0
_NULL = b"null"

_encode = msgspec.json.Encoder().encode
_decode_body = msgspec.json.Decoder(tuple[int, bool, Raw, Raw]).decode


class TrimPoints(msgspec.Struct, frozen=True, array_like=True):
    """The last sequence numbers that were deleted, and that streams no longer show."""

    deleted: int = 0
    horizon: int = 0


_decode_trim_points = msgspec.json.Decoder(TrimPoints).decode


class LoggedChange(msgspec.Struct, frozen=True):
    """One change of one item. `old` is None for a new item, `new` for a deleted one."""

    number: int
    #: In seconds since 1970, with microseconds.
    time: float
    partition_hash: int
    expired: bool
    old: bytes | None
    new: bytes | None


class ChangeLog:
    """Appends the changes of one table. Used only in write transactions."""

    __slots__ = ("_last", "_last_time", "_rollbacks", "_version", "tree")

    def __init__(self, tree: LogTree) -> None:
        self.tree = tree
        # The number and time of the last row. They are read again if another connection has
        # committed, or if changes of this one were rolled back.
        self._last = self._last_time = 0
        self._version = self._rollbacks = -1

    def append(
        self,
        tx: WriteTransaction,
        key: bytes,
        old: bytes | None,
        new: bytes | None,
        *,
        expired: bool = False,
    ) -> None:
        """Log the change of the item with the row key `key`."""
        if self._version != tx.version or self._rollbacks != tx.rollbacks:
            self._last, self._last_time = _read_last(tx, self.tree)
            self._version, self._rollbacks = tx.version, tx.rollbacks
        self._last += 1
        self._last_time = max(self._last_time, int(time.time() * 1_000_000))
        start = b"[%d,true," if expired else b"[%d,false,"
        body = b"".join(  # faster than to format all parts
            (
                start % int.from_bytes(key[:4], "big"),
                _NULL if old is None else old,
                b",",
                _NULL if new is None else new,
                b"]",
            )
        )
        tx.put(self.tree, self._last, self._last_time, body)


def create_log(tx: WriteTransaction, tree: LogTree) -> None:
    """Create an empty log."""
    tx.create_tree(tree)
    write_trim_points(tx, tree, TrimPoints())


def read_last_number(snapshot: Snapshot, tree: LogTree) -> int:
    """Return the number of the last change of a log, even if it has been deleted."""
    return _read_last(snapshot, tree)[0]


def find_last_before(snapshot: Snapshot, tree: LogTree, moment: float) -> int:
    """Return the number of the last change before a time, in seconds since 1970.

    If there is none, return the last number that was deleted.
    """
    low, high = read_trim_points(snapshot, tree).deleted, read_last_number(snapshot, tree)
    while low < high:
        middle = (low + high + 1) // 2
        found = snapshot.get(tree, middle)
        if found is None:
            raise StoreFailed(f"{tree.name}: the change log is damaged: {middle} is missing")
        if found[0] < moment * 1_000_000:
            low = middle
        else:
            high = middle - 1
    return low


def read_trim_points(snapshot: Snapshot, tree: LogTree) -> TrimPoints:
    found = snapshot.get(tree, _TRIM_POINTS)
    if found is None:
        raise _damaged(tree)
    return _decode_trim_points(found[1])


def write_trim_points(tx: WriteTransaction, tree: LogTree, points: TrimPoints) -> None:
    tx.put(tree, _TRIM_POINTS, 0, _encode(points))


def read_changes(
    snapshot: Snapshot, tree: LogTree, after: int, *, backwards: bool = False
) -> Generator[LoggedChange, None, None]:
    """Yield the changes with numbers above `after`, in order, or the last one first.

    Close the generator if it is not exhausted: until then its read transaction stays open.
    """
    with closing(snapshot.walk(tree, after + 1, None, backwards=backwards)) as walk:
        for row in walk:
            yield decode_change(tree, row)


def read_selected_changes(
    snapshot: Snapshot, tree: LogTree, after: int, selects: Callable[[int], bool]
) -> Generator[tuple[int, LoggedChange | None], None, None]:
    """Yield the numbers above `after` in order, with the changes whose hash is selected.

    Other changes are None and are not decoded, so that they are skipped fast. Close the generator
    if it is not exhausted.
    """
    with closing(snapshot.walk(tree, after + 1, None)) as walk:
        for row in walk:
            number, _, body = row
            try:
                partition_hash = int(body[1 : body.index(b",")])
            except ValueError:
                raise DamagedRow(tree, number) from None
            yield number, decode_change(tree, row) if selects(partition_hash) else None


def decode_change(tree: LogTree, row: LogRow) -> LoggedChange:
    """Decode a row of a log; raise `DamagedRow` if it is not a change."""
    number, microseconds, body = row
    try:
        partition_hash, expired, old, new = _decode_body(body)
    except ValueError:
        raise DamagedRow(tree, number) from None
    return LoggedChange(
        number,
        microseconds / 1_000_000,
        partition_hash,
        expired,
        _item_bytes(old),
        _item_bytes(new),
    )


def delete_changes(
    tx: WriteTransaction, tree: LogTree, last: int, *, max_rows: int, max_bytes: int
) -> int:
    """Delete the first rows of a log, at most to `last`; return the last number that was deleted.

    The caller must write the trim points.
    """
    numbers: list[int] = []
    size = 0
    # Damaged rows must be deleted, too.
    with closing(tx.inspect(tree, 1, last + 1)) as walk:
        for number, _, body, intact in walk:
            numbers.append(number)
            size += len(body) if intact else 0
            if len(numbers) >= max_rows or size >= max_bytes:
                break
        else:
            numbers.append(last)  # so that missing rows do not stop the trimming
    for number in numbers:
        tx.delete(tree, number)
    return numbers[-1]


def _read_last(snapshot: Snapshot, tree: LogTree) -> tuple[int, int]:
    """Return the number and the time of the last change; the time is 0 if it was deleted."""
    with closing(snapshot.walk(tree, _TRIM_POINTS, None, backwards=True)) as walk:
        for number, microseconds, body in walk:
            return (number, microseconds) if number else (_decode_trim_points(body).deleted, 0)
    raise _damaged(tree)


def _item_bytes(raw: Raw) -> bytes | None:
    content = bytes(raw)
    return None if content == _NULL else content


def _damaged(tree: LogTree) -> StoreFailed:
    return StoreFailed(f"{tree.name}: the change log is damaged: it has no trim points")
