"""Differences: compare a result with the expected one, and show where they differ.

    the result differs (- expected, + returned):
       Note(
         note_id='1',
      -  text='hello',
      +  text='goodbye',
       )

Entities, aggregates and lists are shown with one value on a line, so that the differing values
stand out. Lists with different members, or in a different order, are shown with one result on a
line: an entity by its key, unless another result has the same key.

This module must not know checks or databases.
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

    With `unordered`, the order of lists does not matter, also in aggregates.
    """
    if _plain(returned) == _plain(expected):
        return ""
    reordered = is_reordered(expected, returned)
    if reordered and unordered:
        return ""
    title, are_lists = "the result differs", _is_list(expected) and _is_list(returned)
    if reordered:
        title = "the same results in another order"
    elif are_lists and len(expected) != len(returned):
        title = f"{len(returned)} results, not {len(expected)}"
    else:
        are_lists = False
    pair = _short_lines(expected, returned) if are_lists else map(_whole, (expected, returned))
    return "\n".join([f"{title} (- expected, + returned):", *_diff(*pair)])


def is_reordered(expected: Any, returned: Any) -> bool:
    """Return whether two results are equal if the order of lists does not count."""
    if _is_list(expected) and _is_list(returned):
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


def _diff(expected: list[str], returned: list[str]) -> list[str]:
    diff = unified_diff(expected, returned, n=CONTEXT, lineterm="")
    lines = ["    …" if line.startswith("@@") else f"  {line}" for line in diff]
    del lines[:3]  # two headers, and the mark of the first part
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"    … and {len(lines) - MAX_LINES} more lines"]
    return lines


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, Page))


def _whole(value: Any) -> list[str]:
    """Return a value on several lines: one for each member of entities, aggregates and lists."""
    return list(_lines(value, "", ""))


def _short_lines(expected: Any, returned: Any) -> list[list[str]]:
    """Return two lists with a result on each line: its key, if all results have different keys."""
    results = [*expected, *returned]
    is_enough = len({*map(_key_text, results)}) == len({*map(repr, results)})
    return [list(map(_key_text if is_enough else repr, each)) for each in (expected, returned)]


def _key_text(value: Any) -> str:
    """Return an entity with the attributes of its key; anything else in full."""
    entity = getattr(type(value), "__entity__", None)
    if entity is None:
        return repr(value)
    names = dict.fromkeys(part.attribute for part in entity.primary.parameters)
    return f"{type(value).__name__}({', '.join(f'{n}={vars(value)[n]!r}' for n in names)})"


def _lines(value: Any, name: str, indent: str) -> Iterator[str]:
    if hasattr(type(value), "__entity__") or hasattr(type(value), "__aggregate__"):
        opening, closing = f"{type(value).__name__}(", ")"
        members = [(f"{each}=", member) for each, member in vars(value).items()]
    elif isinstance(value, (list, tuple, Page)) and value:
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        members = [("", member) for member in value]
    else:
        yield f"{indent}{name}{value!r}"
        return
    yield f"{indent}{name}{opening}"
    for each, member in members:
        yield from _lines(member, each, indent + "  ")
    yield f"{indent}{closing}"
