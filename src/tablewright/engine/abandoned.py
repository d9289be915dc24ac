"""Abandoned exports and imports: those that are not finished, and that no process continues.

An export or import is done by the process that received the request. Its record has the id of that
process. It is abandoned if the process ended, or could not store how it ended, for example because
another process was writing. An engine that opens the file or begins another export or import marks
abandoned ones as FAILED, and deletes the rows of imports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from tablewright.engine.catalog import Catalog, has_records
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.records import new_id
from tablewright.storage import WriteTransaction

_CODE = "ProcessEnded"
_MESSAGE = "The process ended, or could not write to the file, before this was done"

#: The ids of the exports and imports that this process is doing.
_running: set[str] = set()


@contextmanager
def running(now: float) -> Iterator[str]:
    """Yield the id of a new export or import, which is not abandoned while the block runs."""
    record_id = new_id(now)
    _running.add(record_id)
    try:
        yield record_id
    finally:
        _running.discard(record_id)


def end_abandoned(catalog: Catalog, tx: WriteTransaction, now: float) -> None:
    """Mark abandoned exports and imports as failed."""
    if not has_records(tx):
        return
    from tablewright.engine.exports import EXPORTS
    from tablewright.engine.imports import IMPORTS

    for export in EXPORTS.read_all(tx):
        if export.status == "IN_PROGRESS" and _is_abandoned(export.id, export.process):
            failed = replace(
                export, status="FAILED", ended=now, failure_code=_CODE, failure=_MESSAGE
            )
            EXPORTS.save(catalog, tx, failed)
    for one in IMPORTS.read_all(tx):
        if one.status == "IN_PROGRESS" and _is_abandoned(one.id, one.process):
            for tree in one.table.trees:
                delete_tree(catalog, tx, tree)
            ended = replace(one, status="FAILED", ended=now, failure_code=_CODE, failure=_MESSAGE)
            IMPORTS.save(catalog, tx, ended)


def _is_abandoned(record_id: str, process: int) -> bool:
    if process == os.getpid():
        return record_id not in _running
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it runs as another user
        pass
    return False
