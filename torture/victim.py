"""A program that forks workers, which `kill` kills: `python -m torture.victim`.

For each line of its input, `{"kind": …, "file": …, "seed": …}`, it forks a child that works until
it is killed or ends by itself. The child writes `+` before a step and `-` after it to the standard
output, which nothing else uses (the writer of the tests of durability writes its own lines). The
first line is the child's process id; the last line, written by the parent, is `end` and the exit
code. A fork costs a few milliseconds where a new interpreter costs half a second.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tablewright.cli.all_commands import app
from tablewright.engine.repair import repair
from tests.durability import writer
from torture.work import Work, Worker, observe

#: The size of the second table, so that index builds, expiry and deletion take some time.
BULK = 400


def main() -> None:
    for line in sys.stdin:
        task = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.write(1, f"{os.getpid()}\n".encode())
            os._exit(work(**task))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(1, f"end {code}\n".encode())


def work(kind: str, file: str, seed: int) -> int:
    """Work until killed; otherwise return the exit code."""
    if kind == "threads":
        writer.main(file, "full", seed)
    elif kind == "copy":
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123  (the null device is no path)
            sys.stdout = sys.stderr = nowhere
            app(["copy", f"{file}.source", file, "--overwrite"], standalone_mode=False)
        return 0
    elif kind == "repair":
        repair(f"{file}.damaged", file)
        return 0
    elif kind == "open":
        while True:
            say_around(lambda: Worker(Path(file)).engine.close())
    worker = Worker(Path(file), "normal" if kind == "normal" else "full")
    task = Work(random.Random(seed), observe(worker.engine), bulk=BULK if kind == "bulk" else 10)
    while True:
        say_around(partial(worker.do, task.next()))


def say_around(do: Callable[[], None]) -> None:
    os.write(1, b"+\n")
    do()
    os.write(1, b"-\n")


if __name__ == "__main__":
    main()
