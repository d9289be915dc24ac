"""Rules: what every write keeps true.

    from tablewright.rules import any_state, count_of, sum_of

    status: Attr[Status] = attr(
        default=Status.NEW,
        transitions={Status.NEW: [Status.PAID], any_state: [Status.CANCELLED]},
    )
    lines: Attr[int] = count_of("Line")
    total: Attr[Decimal] = sum_of("Line.price")

A rule is declared once, with the attribute that it is about. The request of each write contains
what the rule needs, as a condition or as further actions, and `explain` shows it.

This module defines nothing; it has the names that declarations of rules need.
"""

from __future__ import annotations

from tablewright.mapping.transitions import any_state
from tablewright.model.counters import count_of, sum_of

__all__ = ["any_state", "count_of", "sum_of"]
