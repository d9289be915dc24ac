"""The base class of all errors, and DeclarationError, which names a line of the user's code."""

from __future__ import annotations

import sys
from types import FrameType

#: The end of the message of an error whose `maybe_applied` is set.
MAYBE_APPLIED = "an attempt got no response, and may have been applied"


class TablewrightError(Exception):
    """The base class of every exception of this package."""

    #: How many times the request that failed was sent.
    attempts: int = 1
    #: Whether the write may have been applied although it failed: an attempt got no response.
    maybe_applied: bool = False

    __module__ = "tablewright.errors"

    def __init_subclass__(cls) -> None:
        """Show errors as `tablewright.errors.…`, from where callers import them."""
        if cls.__module__.startswith("tablewright.errors."):
            cls.__module__ = "tablewright.errors"

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}; {MAYBE_APPLIED}" if self.maybe_applied else text


class DeclarationError(TablewrightError):
    """A declaration is wrong. Raised when the class or the pattern is defined.

    `message` says what is wrong and how to fix it; `location` is the place in the user's code, as
    `file:line`.
    """

    def __init__(self, message: str, *, location: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = _user_line() if location is None else location

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({self.location})" if self.location else text


def _user_line() -> str:
    """Return `file:line` of the innermost frame of the user's code."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if _is_user_code(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def location_of(error: BaseException) -> str:
    """Return `file:line` of the user's code that failed, or "" if none did.

    This is the innermost line of the traceback outside this package and Python; a line of an
    installed package counts only if there is no other.
    """
    if isinstance(error, DeclarationError):
        return error.location
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    found, installed, traceback = "", "", error.__traceback__
    while traceback is not None:
        if _is_user_code(traceback.tb_frame):
            file = traceback.tb_frame.f_code.co_filename
            if "site-packages" in file:
                installed = f"{file}:{traceback.tb_lineno}"
            else:
                found = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found or installed


def _is_user_code(frame: FrameType) -> bool:
    """Return whether a frame is outside this package, pydantic and Python's library."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return (
        not is_internal(frame) and package != "pydantic" and package not in sys.stdlib_module_names
    )


def is_internal(frame: FrameType) -> bool:
    """Return whether a frame belongs to this package, except the bundled designs."""
    package, _, rest = str(frame.f_globals.get("__name__")).partition(".")
    return package == "tablewright" and rest.partition(".")[0] != "designs"
