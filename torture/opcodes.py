"""Exceptions at chosen opcodes, raised through the trace function of the interpreter."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tablewright
from tablewright.errors import TablewrightError

SOURCE = Path(tablewright.__file__).parent
TRACED = (
    str(SOURCE / "storage"),
    str(SOURCE / "engine/engine.py"),
    str(SOURCE / "engine/tables/catalog"),
)


class Interrupt(BaseException):
    """Raised by a signal handler. Like KeyboardInterrupt, it is not an Exception."""


@cache
def undeliverable(code: CodeType) -> frozenset[int]:
    """Return the offsets of opcodes at which CPython delivers no signal and a lock could leak.

    It delivers them at the end of calls, when a function starts, and at jumps backwards: never
    between the end of the block of a `with` statement and the call of `__exit__`.
    """
    found: set[int] = set()
    opcodes = list(dis.get_instructions(code))
    for at, opcode in enumerate(opcodes):
        if opcode.opname == "CALL" and opcode.arg == 2:
            before = [each for each in opcodes[max(at - 6, 0) : at] if each.opname != "PRECALL"]
            if [each.argval for each in before[-3:]] == [None, None, None]:
                first = at - 4 - (opcodes[at - 1].opname == "PRECALL")
                found |= {
                    each.offset
                    for each in opcodes[first : at + 1]
                    if each.opname in ("SWAP", "LOAD_CONST", "PRECALL", "CALL")
                }
    return frozenset(found)


class Tracer:
    """Raises an Interrupt at the opcode number `at` of the traced files."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.seen = 0
        self.where = ""

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._in_frame

    def _in_frame(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode" and frame.f_lasti not in undeliverable(frame.f_code):
            self.seen += 1
            if self.seen == self._at:
                file = Path(frame.f_code.co_filename).name
                self.where = f"{file}:{frame.f_lineno} {frame.f_code.co_name}"
                raise Interrupt
        return self._in_frame


def traced(operation: Callable[[], object], at: int) -> tuple[Tracer, str]:
    """Run an operation with an interrupt; return the tracer, and any other error as text."""
    tracer = Tracer(at)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        operation()
    except (Interrupt, TablewrightError):
        pass  # inside a callback of SQLite, an interrupt may become an error of the store
    except Exception as error:
        return tracer, f"it raises {type(error).__module__}.{type(error).__name__}: {error}"
    finally:
        sys.settrace(before)
    return tracer, ""
