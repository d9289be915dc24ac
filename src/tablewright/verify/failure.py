"""Failures: an exception in a design's code, as text with the line that failed.

The text is for people who wrote the design. It has no traceback, because most of its lines would be
this package's own.
"""

from __future__ import annotations

import linecache

from tablewright.errors import DeclarationError, location_of


def describe_failure(error: BaseException) -> str:
    """Return the type and message of an exception, its file and line, and the code of that line.

    NameError: name 'Ordr' is not defined
      File "/home/ann/shop.py", line 12
        @access_pattern
    """
    message = error.message if isinstance(error, DeclarationError) else str(error)
    if isinstance(error, SyntaxError):
        message = error.msg
    text = f"{type(error).__name__}: {message}".removesuffix(": ")
    location = location_of(error)
    if not location:
        return text
    file, _, line = location.rpartition(":")
    code = linecache.getline(file, int(line)).strip()
    place = f'  File "{file}", line {line}'
    return "\n".join([text, place, *([f"    {code}"] if code else [])])
