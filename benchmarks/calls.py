"""The Python calls of `verify`: `python -m benchmarks.calls` prints their number.

A count does not depend on the machine or its load, so it shows a change that a time hides.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_calls(run: Callable[[], object]) -> int:
    """Return how many Python functions `run` calls; those in C are not counted."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def verify_calls() -> int:
    """Return the calls of `tablewright verify commerce`, the second time in one process."""
    from tablewright.cli.check_design import verify

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            verify("commerce", None, details=False, json=False, brief=False)

    run()
    return count_calls(run)


if __name__ == "__main__":
    print(verify_calls())
