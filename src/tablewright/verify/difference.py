"""Differences: compare a result with the expected one, and show where they differ.

    the result differs (- expected, + returned):
       Note(
         note_id='1',
      -  text='hello',
      +  text='goodbye',
       )

Entities, aggregates and lists are shown one value on a line, so that the differing values stand
out. This module must not know checks or databases.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from tablewright.plan.reads.page import Page

#: The number of equal lines that are shown around each difference.
CONTEXT = 2
#: The number of lines after which a difference is cut.
MAX_LINES = 40


def describe_difference(expected: Any, returned: Any, *, unordered: bool = False) -> str:
    """Return how two results differ, as text; "" if they are equal.

    With `unordered`, the order of lists does not count, also inside of aggregates.
    """
    if _plain(returned) == _plain(expected):
        return ""
    if is_reordered(expected, returned):
        if unordered:
            return ""
        title = "the same results in another order"
    elif isinstance(expected, (list, Page)) and isinstance(returned, (list, Page)):
        title = f"expected {_count(expected)}, returned {_count(returned)}"
    else:
        title = "the result differs"
    return "\n".join([f"{title} (- expected, + returned):", *_diff(expected, returned)])


def is_reordered(expected: Any, returned: Any) -> bool:
    """Return whether two results are equal if the order of lists does not count."""
    if isinstance(expected, (list, Page)) and isinstance(returned, (list, Page)):
        remaining = list(returned)
        for value in expected:
            match = next((n for n, one in enumerate(remaining) if is_reordered(value, one)), None)
            if match is None:
                return False
            del remaining[match]
        return not remaining
    if isinstance(expected, tuple) and isinstance(returned, tuple):
        return len(expected) == len(returned) and all(map(is_reordered, expected, returned))
    if hasattr(type(expected), "__aggregate__") and type(expected) is type(returned):
        mine, theirs = vars(expected), vars(returned)
        return all(is_reordered(mine[name], theirs[name]) for name in mine)
    return bool(expected == returned)


def _plain(result: Any) -> Any:
    return list(result) if isinstance(result, Page) else result


def _count(results: list[Any] | Page[Any]) -> str:
    return f"{len(results)} result{'' if len(results) == 1 else 's'}"


def _diff(expected: Any, returned: Any) -> list[str]:
    diff = unified_diff(_lines(expected), _lines(returned), n=CONTEXT, lineterm="")
    lines = ["    …" if line.startswith("@@") else f"  {line}" for line in diff][2:]
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"    … and {len(lines) - MAX_LINES} more lines"]
    return lines[1:]  # without the mark of the first part


def _lines(value: Any, name: str = "", indent: str = "") -> list[str]:
    """Return a value on several lines: one for each member of entities, aggregates and lists."""
    opening, members, closing = f"{name}{value!r}", None, ""
    if hasattr(type(value), "__entity__") or hasattr(type(value), "__aggregate__"):
        opening, closing = f"{name}{type(value).__name__}(", ")"
        members = [(f"{each}=", member) for each, member in vars(value).items()]
    elif isinstance(value, (list, tuple, Page)) and value:
        opening, closing = (f"{name}(", ")") if isinstance(value, tuple) else (f"{name}[", "]")
        members = [("", member) for member in value]
    if members is None:
        return [f"{indent}{opening}"]
    return [f"{indent}{opening}", *_members(members, indent + "  "), f"{indent}{closing}"]


def _members(members: list[tuple[str, Any]], indent: str) -> Iterator[str]:
    for name, member in members:
        yield from _lines(member, name, indent)
