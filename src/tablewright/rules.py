"""Rules: what every write keeps true.

    from tablewright.rules import any_state, cascade, detach, reference, restrict

    status: Attr[Status] = attr(
        default=Status.NEW,
        transitions={Status.NEW: [Status.PAID], any_state: [Status.CANCELLED]},
    )
    issues = cascade("Issue")
    owner = reference("User", by=owner_id)

A rule is declared once, with the attribute that it is about. The request of each write contains
what the rule needs, as a condition or as further actions, and `explain` shows it.

This module defines nothing; it has the names that declarations of rules need.
"""

from __future__ import annotations

from tablewright.mapping.transitions import any_state
from tablewright.model.links.declared import cascade, detach, reference, restrict

__all__ = ["any_state", "cascade", "detach", "reference", "restrict"]
