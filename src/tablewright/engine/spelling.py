"""Spelling: hints for people who call in process, where no SDK looks at their requests first.

DynamoDB passes over members it does not know, and so do we, over HTTP. In process that would make a
misspelt `ConditionExpresion` an unconditional write, so a member that is almost one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from tablewright.engine.operations import OPERATIONS

#: The members of every operation's request.
MEMBERS = {
    operation: frozenset(shape.__struct_encode_fields__)
    for operation, (shape, _) in OPERATIONS.items()
}


def did_you_mean(word: object, words: Iterable[str]) -> str:
    """A hint at the word that was meant, if there is one.

    >>> did_you_mean("put_item", ["GetItem", "PutItem"])
    "; did you mean 'PutItem'?"
    """
    plain = {known.lower(): known for known in words}
    close = get_close_matches(str(word).replace("_", "").lower(), plain, n=1, cutoff=0.8)
    return f"; did you mean {plain[close[0]]!r}?" if close else ""


def refuse_misspelt_members(operation: str, request: Iterable[str]) -> None:
    for member in request:
        hint = did_you_mean(member, MEMBERS[operation])
        if hint and member not in MEMBERS[operation]:
            raise TypeError(f"{operation} has no member {member!r}{hint}")
