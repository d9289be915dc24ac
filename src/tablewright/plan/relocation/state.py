"""State: the steps of a relocation, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.errors import MigrationRefused
from tablewright.plan.relocation.place import PROGRESS
from tablewright.values import Item

#: How many parts of a table are read in turns.
SEGMENTS = 8
FORMAT = 1

StepName: TypeAlias = Literal["check", "prepare", "copy", "compare", "await-programs", "cut-over"]
STEPS: tuple[StepName, ...] = (
    "check",
    "prepare",
    "copy",
    "compare",
    "await-programs",
    "cut-over",
)

#: The segments that are not read to their end, each with the key of the last item that was read.
Left: TypeAlias = dict[int, Item]


def all_segments() -> Left:
    return {number: {} for number in range(SEGMENTS)}


class RelocationState(Struct, frozen=True):
    """How far a relocation is; it is in the record of the table that it began with."""

    id: str
    #: The name of the table at the other place, and both places, for people.
    table: str
    place: str
    origin: str
    #: Whether it goes back.
    is_back: bool = False
    #: How many steps are done.
    done: int = 0
    #: The segments that `copy` has not read; then, whether it looks for items to delete.
    left: Left = {}
    is_deleting: bool = False
    #: Whether the destination has no items yet.
    is_fresh: bool = False
    #: The stream that is followed, and how far.
    stream: str = ""
    checkpoint: str = ""
    #: The tables whose stream was enabled for this: 0, 1.
    enabled: tuple[int, ...] = ()
    #: The markers in the source: the random numbers in their keys.
    markers: tuple[int, ...] = ()
    items: int = 0
    format: int = FORMAT

    @property
    def is_over(self) -> bool:
        """Whether the destination is in use."""
        return self.done == len(STEPS)


class RelocationProgress(Struct, frozen=True):
    """How far a relocation is: the events for `progress=`."""

    table: str
    step: StepName
    items: int = 0
    expected: int | None = None


Report: TypeAlias = Callable[[RelocationProgress], None]


def progress_in(record: Item, name: str) -> RelocationState | None:
    """Return how far a relocation is, from the record of the first table."""
    if PROGRESS not in record:
        return None
    try:
        found = msgspec.json.decode(record[PROGRESS]["S"], type=RelocationState)
        if found.format > FORMAT:
            raise ValueError(f"format {found.format}")
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise MigrationRefused(
            f"the record of the table {name!r} was written by another version of Tablewright, and "
            f"this one cannot read it ({error}); use that version, or a newer one"
        ) from None
    return found
