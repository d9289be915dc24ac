"""Work in a forked child, and what came of it, for tests of what a fork must not break."""

from __future__ import annotations

import json
import os
import select
import signal
import warnings
from collections.abc import Callable
from typing import NoReturn

SECONDS = 30


def in_child(work: Callable[[], list[str]]) -> list[str]:
    """What `work` gives in a child of this process; a failure if the child does not end soon."""
    receiver, sender = os.pipe()
    with warnings.catch_warnings():
        # Later Pythons warn of forks where there are threads; here there are, and it is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _work_and_exit(work, sender)
    os.close(sender)
    try:
        ready, _, _ = select.select([receiver], [], [], SECONDS)
        if not ready:
            os.kill(pid, signal.SIGKILL)
        with os.fdopen(receiver, "rb") as stream:
            told = stream.read()
    finally:
        _, status = os.waitpid(pid, 0)
    assert ready, "the child hangs"
    assert os.waitstatus_to_exitcode(status) == 0, told
    answer: list[str] = json.loads(told)
    return answer


def _work_and_exit(work: Callable[[], list[str]], sender: int) -> NoReturn:
    """In the child: no test goes on here, whatever happens."""
    code = 1
    try:
        try:
            answer = json.dumps(work()).encode()
            code = 0
        except BaseException as error:
            answer = repr(error).encode()
        os.write(sender, answer)
    finally:
        os._exit(code)


def name_of_error(work: Callable[[], object]) -> str:
    """The class of what `work` raises, or "nothing"."""
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return "nothing"
