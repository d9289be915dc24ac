"""Row groups: the writes of many rows, in as many requests as they need, with progress.

Deletes without conditions are sent in batches, all else in transactions. A group is the actions of
one row, which are always in one request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tablewright.limits import MAX_BATCH_WRITES
from tablewright.plan.plan import Context, Steps
from tablewright.plan.writes.action import Action
from tablewright.plan.writes.batch_write import send_batch
from tablewright.plan.writes.chunks import joined, send_or_retry, take_fitting

#: Receives the number of rows that are done.
Progress: TypeAlias = Callable[[int], object]


class Tally:
    """Counts the rows that are done, and reports them."""

    def __init__(self, progress: Progress | None) -> None:
        self.done = 0
        self._progress = progress

    def add(self, rows: int) -> None:
        self.done += rows
        if self._progress is not None:
            self._progress(self.done)


def send_first(groups: list[list[Action]], context: Context) -> Steps[int]:
    """Send the first groups that fit into one request, remove them, and return their number."""
    if not _is_plain(groups[0]):
        taken = take_fitting(groups)
        yield from send_or_retry(joined(*taken), context)
        return len(taken)
    count = 1
    while count < min(len(groups), MAX_BATCH_WRITES) and _is_plain(groups[count]):
        count += 1
    yield from send_batch(joined(*groups[:count]), context)
    del groups[:count]
    return count


def _is_plain(group: list[Action]) -> bool:
    """Whether a row is deleted without a condition."""
    (first, *others) = group
    return first.kind == "Delete" and not others and "ConditionExpression" not in first.body
