"""Spelling: hints for people who call in process, where no SDK looks at their requests first.

DynamoDB passes over members it does not know, and so do we, over HTTP. In process that would make a
misspelt `ConditionExpresion` an unconditional write, so a member that is almost one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.engine.operations import OPERATIONS
from tablewright.hints import did_you_mean

#: An unknown member is refused only if it is this close to a known one.
CUTOFF = 0.8
#: The members of every operation's request.
MEMBERS = {
    operation: frozenset(shape.__struct_encode_fields__)
    for operation, (shape, _) in OPERATIONS.items()
}


def reject_misspelled_members(operation: str, request: Iterable[str]) -> None:
    for member in request:
        hint = did_you_mean(member, MEMBERS[operation], cutoff=CUTOFF)
        if hint and member not in MEMBERS[operation]:
            raise TypeError(f"{operation} has no member {member!r}{hint}")
