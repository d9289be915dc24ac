"""Interruptions: exceptions raised between any two instructions, as signal handlers raise them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest


class Interruption(BaseException):
    """What a signal handler raises; like KeyboardInterrupt, it is not an Exception."""


class TimeLimit(Exception):
    """The same, for those who derive it from Exception."""


def interrupted_at(
    opcode: int,
    functions: Collection[str],
    action: Callable[[], Any],
    interruption: type[BaseException] = Interruption,
    *,
    again_after: int = 0,
) -> bool:
    """Run `action` and interrupt it at the n-th opcode of the named functions of the storage.

    With `again_after`, a second interruption follows that many opcodes after the first: so
    clean-up is interrupted, too. Returns False if the action was over before.
    """
    if sys.version_info >= (3, 13):
        pytest.skip("from Python 3.13 on, opcodes are traced differently")
    due = [opcode, opcode + again_after] if again_after else [opcode]
    seen = -1
    raised = False

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal seen, raised
        if event == "call":
            code = frame.f_code
            if code.co_name not in functions or "tablewright/storage" not in code.co_filename:
                return None
            frame.f_trace_opcodes = True
        elif event == "opcode":
            seen += 1
            if seen in due:
                raised = True
                raise interruption
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 needs it before settrace, on any frame
    sys.settrace(trace)
    try:
        action()
    except interruption:
        pass
    finally:
        sys.settrace(before)
    return raised


def every_opcode(
    functions: Collection[str],
    action: Callable[[], Any],
    interruption: type[BaseException] = Interruption,
    *,
    again_after: int = 0,
) -> Iterator[int]:
    """Interrupt `action` at its first opcode, at its second, and so on; yields after each."""
    opcode = 0
    while interrupted_at(opcode, functions, action, interruption, again_after=again_after):
        yield opcode
        opcode += 1
    assert opcode > 0, f"none of {functions} was called"


@contextmanager
def alarm(seconds: float, interruption: type[BaseException] = Interruption) -> Iterator[None]:
    """Raise after a time, in the main thread, from a real signal handler."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise interruption

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
