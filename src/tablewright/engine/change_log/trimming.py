"""Trimming: delete changes that neither a stream nor recovery needs any more.

A change belongs to its stream for 24 hours. The last number that is older becomes the horizon of
the log; up to there streams answer TrimmedDataAccessException. The rows themselves are deleted when
point-in-time recovery does not need them either. A closed shard or stream is forgotten 24 hours
after it was closed, and a log that is no longer written is deleted when it is empty.

Each transaction changes a bounded number of rows, so that no writer waits for long.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from tablewright.engine.change_log.changes import (
    TrimPoints,
    delete_changes,
    find_last_before,
    read_last_number,
    read_trim_points,
    write_trim_points,
)
from tablewright.engine.maintenance import MAX_STEP_BYTES, MAX_STEP_ROWS
from tablewright.engine.tables.catalog import Catalog
from tablewright.schema import ChangeLogSchema, Stream
from tablewright.storage import LogTree, Snapshot, Store, WriteTransaction

STREAM_SECONDS = 24 * 60 * 60


def trim_logs(store: Store, catalog: Catalog, now: float) -> int:
    """Trim all change logs, in small transactions; return the records that left their streams.

    `catalog` must be the writer's.
    """
    trimmed = 0
    committed = Catalog()
    store.read(committed.refresh)
    for tree in committed.logs:
        while store.read(partial(_is_due, committed, tree, now)):
            trimmed += store.write(partial(_trim, catalog, tree, now))
    return trimmed


def _is_due(catalog: Catalog, tree: int, now: float, snapshot: Snapshot) -> bool:
    """Return whether a step has something to do for a log; `catalog` is refreshed."""
    with snapshot.read_transaction():
        catalog.refresh(snapshot)
        log = catalog.logs.get(tree)
        if log is None:
            return False
        target = _find_targets(snapshot, log, now)
        return (
            target != read_trim_points(snapshot, LogTree(tree))
            or _forget(snapshot, catalog, log, target, now) != log
        )


def _find_targets(snapshot: Snapshot, log: ChangeLogSchema, now: float) -> TrimPoints:
    """Return the trim points that the log should have at `now`."""
    tree = LogTree(log.tree)
    points = read_trim_points(snapshot, tree)
    horizon = max(points.horizon, find_last_before(snapshot, tree, now - STREAM_SECONDS))
    kept_since = now - max(STREAM_SECONDS, log.recovery_seconds)
    return TrimPoints(max(points.deleted, find_last_before(snapshot, tree, kept_since)), horizon)


def _trim(catalog: Catalog, tree: int, now: float, tx: WriteTransaction) -> int:
    """Do one step; return the number of records that left their streams."""
    catalog.catch_up(tx)
    log = catalog.logs.get(tree)
    if log is None:
        return 0
    before, target = read_trim_points(tx, LogTree(tree)), _find_targets(tx, log, now)
    deleted = before.deleted
    if target.deleted > deleted:
        deleted = delete_changes(
            tx, LogTree(tree), target.deleted, max_rows=MAX_STEP_ROWS, max_bytes=MAX_STEP_BYTES
        )
    after = TrimPoints(deleted, target.horizon)
    if after != before:
        write_trim_points(tx, LogTree(tree), after)
    kept = _forget(tx, catalog, log, after, now)
    if kept is None:
        catalog.remove_log(tx, tree)
        tx.drop_tree(LogTree(tree))  # it has no rows but the trim points
    elif kept != log:
        catalog.save_log(tx, kept)
    return after.horizon - before.horizon


def _forget(
    snapshot: Snapshot, catalog: Catalog, log: ChangeLogSchema, points: TrimPoints, now: float
) -> ChangeLogSchema | None:
    """Return the log without the shards and streams that are over; None if the log itself is."""
    streams = tuple(
        _forget_shards(stream, points.horizon, now)
        for stream in log.streams
        if not _is_over(stream.closed, stream.shards[-1].last, points.horizon, now)
    )
    if not streams and points.deleted == read_last_number(snapshot, LogTree(log.tree)):
        table = catalog.tables.get(log.table)
        if table is None or table.schema.log != log.tree:
            return None
    return replace(log, streams=streams)


def _forget_shards(stream: Stream, horizon: int, now: float) -> Stream:
    shards = tuple(
        shard for shard in stream.shards if not _is_over(shard.closed, shard.last, horizon, now)
    )
    return stream if shards == stream.shards else replace(stream, shards=shards)


def _is_over(closed: float, last: int | None, horizon: int, now: float) -> bool:
    """Return whether a shard or stream was closed 24 hours ago and has no more records."""
    if not closed or last is None:
        return False
    return closed < now - STREAM_SECONDS and last <= horizon
