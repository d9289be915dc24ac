"""Realism: AWS's delays and limits in front of an engine, to test deployment and retry code.

    settings     how long delays are, and the clock
    layer        applies all of them to a request
    throttling   refuses requests above the declared throughput, and of hot partition keys
    statuses     tables that are CREATING, UPDATING or DELETING for a while
    lag          eventually consistent reads see the rows of an earlier moment

An engine without `Realism` does none of this. The layer wraps steps (`engine.step`); operations do
not know it. All times come from one clock, so tests need not wait.
"""

from __future__ import annotations

from tablewright.engine.realism.layer import RealisticLayer
from tablewright.engine.realism.settings import Realism

__all__ = ["Realism", "RealisticLayer"]
