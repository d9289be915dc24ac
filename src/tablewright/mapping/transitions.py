"""Transitions: the values that may follow each value of an attribute: the states of an order.

    attr(transitions={NEW: [PAID], PAID: [SHIPPED], any_state: [CANCELLED]})

    NEW ──▶ PAID ──▶ SHIPPED          CANCELLED follows each of them

A write that changes the attribute requires that the stored value is one that the new value may
follow (`before`), or the new value itself. An item that lacks the attribute has its default. If
there is no default, any value may follow, unless None is one of the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct


class AnyState:
    """Stands for every value of the attribute."""

    def __repr__(self) -> str:
        return "any_state"


#: Every value: `{any_state: [CANCELLED]}`.
any_state: Final = AnyState()


class Transitions(Struct, frozen=True):
    """The values that may follow each value, in the order of the declaration."""

    after: Mapping[Any, tuple[Any, ...]]

    def before(self, value: Any) -> tuple[Any, ...]:
        """Return the values that this value may follow, itself first."""
        return (value, *(each for each, after in self.after.items() if value in after))

    @property
    def first(self) -> tuple[Any, ...]:
        """The values that follow no other value."""
        followers = {each for after in self.after.values() for each in after}
        return tuple(each for each in self.after if each not in followers)

    @property
    def last(self) -> tuple[Any, ...]:
        """The values that no other value follows."""
        return tuple(each for each, after in self.after.items() if not after)


def read_transitions(declared: Mapping[Any, Iterable[Any]]) -> Transitions:
    """Return declared transitions; raise TypeError if they are not sets of values by value."""
    listed = {each: tuple(after) for each, after in declared.items() if not isinstance(after, str)}
    if len(listed) != len(declared):
        raise TypeError("the values that may follow are a list")
    anywhere = listed.pop(any_state, ())
    values = dict.fromkeys([*listed, *(each for after in listed.values() for each in after)])
    values |= dict.fromkeys(anywhere)
    return Transitions(
        {
            each: tuple(
                other
                for other in dict.fromkeys((*listed.get(each, ()), *anywhere))
                if other != each
            )
            for each in values
        }
    )
