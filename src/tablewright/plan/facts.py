"""Facts of shapes: the values of which a shape consists, beside entities and key conditions.

    what it asks of keys       KeyCondition, or Everything for a scan
    how much it returns        Paging, AllPages, RootAndRows, Batches; of a write: Actions
    what it leaves out         conditions of the caller, OfTypes, InShards
    what a write sets          changes, index keys, EveryAttribute, Stamped, WrittenEvent
    what a write requires      conditions of the caller, Exists, Absent, Unchanged, OfVersion

Where a value is that of an argument, it is an `Expression`. This module must not know plans, or how
facts are shown.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexKeys
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.plan.change import Change
from tablewright.plan.condition import Condition
from tablewright.symbol import Expression

#: What a request reads or writes: items of an entity, or sentinels of a unique value.
Target: TypeAlias = EntityMap | UniqueMap
#: A number that a call gives.
Number: TypeAlias = int | Expression

# -- which items ---------------------------------------------------------------------------------


class Everything(Struct, frozen=True):
    """All items of a table or an index: a scan."""

    #: Why it is declared.
    reason: str


Key: TypeAlias = KeyCondition | Everything


PartName: TypeAlias = Literal["shard", "segment"]


class Parts(Struct, frozen=True):
    """The parts in which a range is read, of which the key condition is that of the first."""

    count: int
    name: PartName


# -- how many ------------------------------------------------------------------------------------


class Paging(Struct, frozen=True):
    """A page of items."""

    #: The most results; None for what 1 MB holds.
    size: Number | None
    #: The most results on all pages.
    total: Number | None = None
    #: The most requests, if they are repeated until the page is full.
    requests: int = 1


class AllPages(Struct, frozen=True):
    """Everything that the key selects."""


class RootAndRows(Struct, frozen=True):
    """The root of an aggregate and a number of rows behind it."""

    #: None for what 1 MB holds.
    size: Number | None
    #: Whether any number of rows of other members are read with them.
    has_lists: bool = False
    #: Whether it may continue a page, for which the root is read again.
    is_continued: bool = False


class Batches(Struct, frozen=True):
    """Any number of items, in requests of at most `size`."""

    size: int


class Repeats(Enum):
    """How often a write has its actions."""

    ONCE = ""
    EACH_ROW = "for each row"
    EACH_ROW_OF_RANGE = "for each row; as many requests as needed"
    EACH_ROW_OF_AGGREGATE = (
        "for each row and unique value; as many requests as needed, the root last"
    )
    EACH_DIFFERING_ITEM = "for each item whose index keys differ"
    EACH_VALUE = "for each unique value that is not reserved"
    WHAT_HAS_CHANGED = "what has changed"


class Actions(Struct, frozen=True):
    """The actions of a write."""

    count: int | None
    repeats: Repeats = Repeats.ONCE
    #: The entities whose rows follow.
    below: tuple[EntityMap, ...] = ()


Extent: TypeAlias = Paging | AllPages | RootAndRows | Batches | Actions

# -- filters -------------------------------------------------------------------------------------


class OfTypes(Struct, frozen=True):
    """Only items of these types."""

    attribute: str
    types: tuple[str, ...]


class InShards(Struct, frozen=True):
    """Only items of the tenant, in a database for one."""

    #: The partition key of the table.
    attribute: str


ShapeFilter: TypeAlias = Condition[Any] | OfTypes | InShards

# -- writes --------------------------------------------------------------------------------------


class EveryAttribute(Struct, frozen=True):
    """A write of a whole item."""


class Stamped(Struct, frozen=True):
    """An attribute that the library sets."""

    name: str
    #: How: `now`, `version + 1`.
    value: str


class WrittenEvent(Struct, frozen=True):
    """An event that is written in the same transaction, if a history requires it."""

    history: HistoryMap
    #: About how many write units the transaction consumes more.
    write_units: float


Assignment: TypeAlias = Change[Any] | IndexKeys | EveryAttribute | Stamped | WrittenEvent


class Exists(Struct, frozen=True):
    """The item exists."""


class Absent(Struct, frozen=True):
    """The item does not exist."""

    #: The entity of a sentinel that may be its own.
    owner: EntityMap | None = None


class Unchanged(Struct, frozen=True):
    """What was read has not changed since."""

    what: Literal["it", "the root", "version", "attributes"] = "it"
    #: The attributes that are compared; empty for all.
    names: tuple[str, ...] = ()


class OfVersion(Struct, frozen=True):
    """The item has a version."""

    attribute: str
    version: Any


Requirement: TypeAlias = Condition[Any] | Exists | Absent | Unchanged | OfVersion


def values_of(fact: object) -> tuple[Any, ...]:
    """Return the values in a fact that a call may give."""
    match fact:
        case Condition():
            return fact.compared_values
        case Change():
            return (fact.value, *fact.operand.steps)
        case OfVersion(version=version):
            return (version,)
        case Paging(size, total):
            return (size, total)
        case RootAndRows(size=size):
            return (size,)
    return ()
