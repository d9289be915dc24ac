"""Truncation: bound the length of the request data that an error message repeats.

DynamoDB repeats values of a few kilobytes in full. Where it truncates longer ones is not known, so
the limit and the ellipsis are our own choice.

Invariant: the time and memory used depend on the length of the result, not of the input.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_ECHO_LENGTH = 4096
ELLIPSIS = "..."


def truncate(text: str) -> str:
    """Return the text, shortened to `MAX_ECHO_LENGTH` characters and an ellipsis if it is longer.

    >>> truncate("short"), len(truncate("x" * 10_000))
    ('short', 4099)
    """
    return text if len(text) <= MAX_ECHO_LENGTH else text[:MAX_ECHO_LENGTH] + ELLIPSIS


def join_truncated(texts: Iterable[str]) -> str:
    """Join texts with commas and truncate the result; read no more texts than it shows.

    >>> join_truncated(["a", "b"]), len(join_truncated("x" * 10_000))
    ('a, b', 4099)
    """
    shown: list[str] = []
    length = 0
    for text in texts:
        shown.append(text[: MAX_ECHO_LENGTH + 1])
        length += len(text) + 2
        if length > MAX_ECHO_LENGTH + 2:
            break
    return truncate(", ".join(shown))
