"""Spelling: reject misspelled members in calls in this process, which no SDK has checked.

DynamoDB ignores unknown members, and so does the HTTP endpoint. In process, this would make a write
with a misspelled `ConditionExpresion` unconditional. So members similar to known ones are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.engine.operations import OPERATIONS
from tablewright.hints import did_you_mean

#: An unknown member is rejected only if its similarity to a known one is at least this.
CUTOFF = 0.8
#: The members of every operation's request.
MEMBERS = {
    operation: frozenset(shape.__struct_encode_fields__)
    for operation, (shape, _) in OPERATIONS.items()
}


def reject_misspelled_members(operation: str, request: Iterable[str]) -> None:
    """Raise a TypeError for an unknown member that is similar to a known one."""
    for member in request:
        hint = did_you_mean(member, MEMBERS[operation], cutoff=CUTOFF)
        if hint and member not in MEMBERS[operation]:
            raise TypeError(f"{operation} has no member {member!r}{hint}")
