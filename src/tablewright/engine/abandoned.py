"""Exports and imports: what their records have in common, and those that no process continues.

An export or import is done by the process that received the request. Its record has the id of that
process. It is abandoned if the process ended, or could not store how it ended, for example because
another process was writing. An engine that opens the file or begins another export or import marks
abandoned ones as FAILED, and deletes the rows of imports.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.engine.catalog import Catalog, has_records
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.records import new_id
from tablewright.engine.step import LongContext, WriteContext
from tablewright.storage import WriteTransaction

_CODE = "ProcessEnded"
_MESSAGE = "The process ended, or could not write to the file, before this was done"
#: Ends the message of a task that was undone.
SANDBOX_ENDED = "; the sandbox in which it began has ended"

#: The ids of the exports and imports that this process is doing.
_running: set[str] = set()


Task = TypeVar("Task", bound="FolderTask")


class FolderTask(Struct, frozen=True, kw_only=True):
    """An export or an import: what does not come from its request."""

    id: str
    token: str
    #: The id of the process that does it.
    process: int
    started: float
    status: str = "IN_PROGRESS"
    ended: float | None = None
    failure_code: str | None = None
    failure: str | None = None

    def fail(self, code: str, message: str) -> Self:
        return replace(self, status="FAILED", failure_code=code, failure=message)

    @property
    def is_abandoned(self) -> bool:
        if self.status != "IN_PROGRESS":
            return False
        if self.process == os.getpid():
            return self.id not in _running
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it runs as another user
            pass
        return False


def run_task(
    context: LongContext,
    begin: Callable[[str, WriteContext], tuple[Task, bool]],
    work: Callable[[Task], Task],
    end: Callable[[Task, WriteContext], None],
) -> Task:
    """Begin an export or import, do it, and store how it ended; return it as it began.

    `begin` returns False with one that had the same token: it is not done again.
    """
    task_id = new_id(time.time())
    _running.add(task_id)  # not abandoned
    try:
        begun: Task
        begun, is_new = context.write(partial(begin, task_id))
        if is_new:
            context.write(partial(end, work(begun)))
    finally:
        _running.discard(task_id)
    return begun


def end_abandoned(catalog: Catalog, tx: WriteTransaction, now: float) -> None:
    """Mark abandoned exports and imports as failed."""
    if not has_records(tx):
        return
    from tablewright.engine.exports import EXPORTS
    from tablewright.engine.imports import IMPORTS

    for export in EXPORTS.read_all(tx):
        if export.is_abandoned:
            EXPORTS.save(catalog, tx, replace(export.fail(_CODE, _MESSAGE), ended=now))
    for one in IMPORTS.read_all(tx):
        if one.is_abandoned:
            for tree in one.table.trees:
                delete_tree(catalog, tx, tree)
            IMPORTS.save(catalog, tx, replace(one.fail(_CODE, _MESSAGE), ended=now))
