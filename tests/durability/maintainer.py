"""Programs that build an index or delete a table in small steps.

    python -m tests.durability.maintainer finish FILE
    python -m tests.durability.maintainer die DIRECTORY REQUEST

`finish` does all the work that waits in a file.

`die` copies `DIRECTORY/start.db` to `1.db`, `4.db`, `7.db`, … For number n a child does REQUEST
(`[operation, request]` in JSON) and the work that follows from it, and kills itself as SQLite is
about to do the n-th thing to the disk. The last child has lived to the end.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tablewright.engine import Engine, maintenance
from tests.durability.dying import Disk, work_in_child

APART = 3


def work(path: Path, *request: Any) -> None:
    with Engine(path, durability="normal", background=False) as engine:
        if request:
            engine.call(*request)
        engine.finish_maintenance()


def die(directory: Path, request: list[Any]) -> int:
    disk = Disk()  # the default for as long as it is kept
    assert disk is not None
    for number in count(1, APART):
        path = directory / f"{number}.db"
        shutil.copy(directory / "start.db", path)
        code = work_in_child(partial(work, path, *request), number)
        if code != -signal.SIGKILL:
            return code
    raise AssertionError


if __name__ == "__main__":
    maintenance.MAX_STEP_ROWS = 5
    maintenance.MAX_CHUNK_BYTES = 1  # so that the position moves with each step
    if sys.argv[1] == "finish":
        work(Path(sys.argv[2]))
    else:
        sys.exit(die(Path(sys.argv[2]), json.loads(sys.argv[3])))
