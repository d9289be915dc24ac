"""Wait for something that no event announces."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], *, seconds: float = 60) -> None:
    """Call `holds` until it returns true; raise TimeoutError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not true within {seconds} s")
