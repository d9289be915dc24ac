"""Facts: the values that describe a plan in its `Shape`, beside entities and key conditions.

    what it asks of keys       KeyCondition, or WholeScan
    how much it returns        Paging, AllPages, RootAndRows, Batches; of a write: Actions
    what it leaves out         conditions of the caller, OfTypes, InShards
    what a write sets          changes, index keys, EveryAttribute, Stamped, WrittenEvent
    what a write requires      conditions of the caller, Exists, Absent, Unchanged, OfVersion,
                               MayBecome, CountsNothing
    what it costs              UnitRange

The cost of a request depends on the sizes of the items, which the design does not know. So a plan
states an estimate for typical items, and a range that no run of it leaves. The highest value is
what people read as "at most":

    GetItem                 0.5 to 50       an item of 1 byte, of 400 KB
    a page of 20            0.5 to 178      nothing, almost 1 MB and an item of 400 KB
    PutItem, two indexes    1 to 2,000      1 KB and unchanged index rows; 400 KB, all rows replaced
    a count of a range      0.5, and up to 50 for each item

Where a plan reads or writes any number of items, the range is a function of that number. Retries
after a conflict are not included.

Where a value is that of an argument, it is an `Expression`. This module must not know plans, or how
facts are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.limits import MAX_ITEM_SIZE, MAX_PAGE_SIZE, READ_UNIT_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.attributes import HistoryMap, UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexKeys
from tablewright.plan.change import Change
from tablewright.plan.condition import Condition
from tablewright.symbol import Expression

#: What a request reads or writes: items of an entity, or sentinels of a unique value.
Target: TypeAlias = EntityMap | UniqueMap
#: A number that a call gives.
Number: TypeAlias = int | Expression

# -- which items ---------------------------------------------------------------------------------


class WholeScan(Struct, frozen=True):
    """All items of a table or an index: a scan."""

    #: Why it is declared.
    reason: str


ShapeKey: TypeAlias = KeyCondition | WholeScan


PartName: TypeAlias = Literal["shard", "segment"]


class Parts(Struct, frozen=True):
    """The parts in which a range is read; the shape has the key condition of the first."""

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
    EACH_WRONG_COUNTER = "for each item whose counters differ"
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


class MayBecome(Struct, frozen=True):
    """The stored value of an attribute is one that the new value may follow."""

    attribute: str
    value: Any
    #: The values that it may follow, itself first; empty if it is that of an argument.
    before: tuple[Any, ...] = ()


class CountsNothing(Struct, frozen=True):
    """The counters of the item are zero, after what the same transaction takes away."""

    names: tuple[str, ...]


class OfVersion(Struct, frozen=True):
    """The item has a version."""

    attribute: str
    version: Any


Requirement: TypeAlias = (
    Condition[Any] | Exists | Absent | Unchanged | MayBecome | CountsNothing | OfVersion
)


def values_of(fact: object) -> tuple[Any, ...]:
    """Return the values in a fact that a call may give."""
    match fact:
        case Condition():
            return fact.compared_values
        case Change():
            return (fact.value, *fact.operand.stored_path)
        case OfVersion(version=version):
            return (version,)
        case Paging(size, total):
            return (size, total)
        case RootAndRows(size=size):
            return (size,)
    return ()


# -- units ---------------------------------------------------------------------------------------

#: The units of the largest item, and of the largest page: it ends with the item that reaches 1 MB.
ITEM_READ = MAX_ITEM_SIZE / READ_UNIT_SIZE
PAGE_READ = (MAX_PAGE_SIZE + MAX_ITEM_SIZE) / READ_UNIT_SIZE
ITEM_WRITE = MAX_ITEM_SIZE / WRITE_UNIT_SIZE


class UnitRange(Struct, frozen=True):
    """The least and the most capacity units that something consumes."""

    low: float = 0
    high: float = 0
    #: What each item adds to `high`, if their number is not known.
    per_item: float = 0

    def for_items(self, count: int) -> UnitRange:
        """Return the range for this many items."""
        return UnitRange(self.low, self.high + count * self.per_item)

    def for_each(self) -> UnitRange:
        """Return the range of any number of these, perhaps none."""
        return UnitRange(0, 0, self.high + self.per_item)

    def __add__(self, other: UnitRange) -> UnitRange:
        return UnitRange(
            self.low + other.low, self.high + other.high, self.per_item + other.per_item
        )

    def __mul__(self, times: float) -> UnitRange:
        return UnitRange(self.low * times, self.high * times, self.per_item * times)

    def __contains__(self, units: float) -> bool:
        """Whether some number of items consumes these units."""
        return self.low <= units and (units <= self.high or self.per_item > 0)

    def most(self, kind: str) -> str:
        """Return the most units as text: `100 read`, `1 read and 50 for each item`."""
        if self.high == 0 and self.per_item:
            return f"{self.per_item:,g} {kind} for each item"
        more = f" and {self.per_item:,g} for each item" if self.per_item else ""
        return f"{self.high:,g} {kind}{more}"


NOTHING = UnitRange()


def total(ranges: Iterable[UnitRange]) -> UnitRange:
    return sum(ranges, NOTHING)


def all_read(*, consistent: bool, requests: int = 1) -> UnitRange:
    """Return the units of reading all items of a range; a request without items costs a minimum."""
    return UnitRange(1, requests, ITEM_READ) * (1 if consistent else 0.5)


def items_read(count: int, *, consistent: bool) -> UnitRange:
    """Return the units of queries that read up to this many items, in any number of requests."""
    return UnitRange(1, count * ITEM_READ) * (1 if consistent else 0.5)


def page_read(size: int | None, *, consistent: bool, requests: float = 1) -> UnitRange:
    """Return the units of a page of at most `size` items, read in up to this many requests."""
    largest = PAGE_READ if size is None else min(PAGE_READ, size * ITEM_READ)
    return UnitRange(1, largest * requests) * (1 if consistent else 0.5)


def item_write(index_rows: int) -> UnitRange:
    """Return the units of a write of one item, with its index rows.

    A row whose key changes is deleted and put; one that does not change costs nothing.
    """
    return UnitRange(1, (1 + 2 * index_rows) * ITEM_WRITE)
