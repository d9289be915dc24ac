"""Pending previews: what a person sees before the button "Write" is pressed.

A preview has a random token, which the form of its page contains. Pressing the button takes the
preview: it can be applied once. Only the last previews are kept; an older token, or one of a
restarted studio, makes a new preview.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from tablewright.studio.writes.preview import Preview

#: How many previews are kept.
KEPT = 50


class PendingPreview(Struct, frozen=True):
    """A preview and what was asked for, as the form has given it."""

    preview: Preview
    asked: Any


class Pending:
    """The previews of a studio that are not applied yet. Several threads use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, PendingPreview] = OrderedDict()

    def add(self, preview: Preview, asked: Any, *, is_writable: bool) -> str:
        """Keep a preview that can be applied and return its token; "" if it cannot be."""
        if preview.error is not None or preview.is_empty or not is_writable:
            return ""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._found[token] = PendingPreview(preview, asked)
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        return token

    def take(self, token: str) -> PendingPreview | None:
        """Return the preview of a token, once; None if it is not known."""
        with self._lock:
            return self._found.pop(token, None)
