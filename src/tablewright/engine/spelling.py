"""Spelling: reject misspelled members in calls in this process, which no SDK has checked.

DynamoDB ignores unknown members, and so does the HTTP endpoint. In process, this would make a write
with a misspelled `ConditionExpresion` unconditional. So members similar to known ones are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.engine.operations import find_operation
from tablewright.hints import did_you_mean

#: An unknown member is rejected only if its similarity to a known one is at least this.
CUTOFF = 0.8


class _Members(dict[str, frozenset[str]]):
    def __missing__(self, operation: str) -> frozenset[str]:
        shape, _ = find_operation(operation)
        members = self[operation] = frozenset(shape.__struct_encode_fields__)
        return members


#: The members of the requests of each operation.
MEMBERS = _Members()


def reject_misspelled_members(operation: str, request: Iterable[str]) -> None:
    """Raise a TypeError for an unknown member that is similar to a known one."""
    for member in request:
        hint = did_you_mean(member, MEMBERS[operation], cutoff=CUTOFF)
        if hint and member not in MEMBERS[operation]:
            raise TypeError(f"{operation} has no member {member!r}{hint}")
