"""Echoes: the parts of a request that a message repeats, cut to a bounded length.

Owns how much of a client's own data an error message may contain. DynamoDB repeats values of a few
kilobytes whole; where it cuts longer ones is not known, so the limit and the ellipsis are ours.

Invariant: an echo costs time and memory for what it shows, not for what the client sent.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_ECHO_LENGTH = 4096
ELLIPSIS = "..."


def truncate(text: str) -> str:
    """
    >>> echo("short"), len(echo("x" * 10_000))
    ('short', 4099)
    """
    return text if len(text) <= MAX_ECHO_LENGTH else text[:MAX_ECHO_LENGTH] + ELLIPSIS


def join_truncated(texts: Iterable[str]) -> str:
    """Join texts with commas; take no more of them than are shown.

    >>> echo_all(["a", "b"]), len(echo_all("x" * 10_000))
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
