"""Units: what a plan costs, as far as that follows from the design.

The cost of a request depends on the sizes of the items, which the design does not know. So a plan
states an estimate for typical items, and a range that no run of it leaves. The highest value is
what people read as "at most":

    GetItem                 0.5 to 50       an item of 1 byte, of 400 KB
    a page of 20            0.5 to 178      nothing, almost 1 MB and an item of 400 KB
    PutItem, two indexes    1 to 2,000      1 KB and unchanged index rows; 400 KB, all rows replaced
    a count of a range      0.5, and up to 50 for each item

Where a plan reads or writes any number of items, the range is a function of that number. Retries
after a conflict are not included.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tablewright.limits import MAX_ITEM_SIZE, MAX_PAGE_SIZE, READ_UNIT_SIZE, WRITE_UNIT_SIZE

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


def item_read(*, consistent: bool) -> UnitRange:
    """Return the units of a read of one item."""
    return UnitRange(1, ITEM_READ) * (1 if consistent else 0.5)


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
