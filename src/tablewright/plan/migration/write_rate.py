"""Write rates: how fast a migration may write.

    500       write units per second
    "25%"     a share of the write capacity of the table

A share is that of the lowest write capacity among the table and the global indexes whose rows the
writes change: a throttled index throttles the writes of its table. Capacity is what is provisioned,
or the maximum throughput of a table on demand. Without either there is nothing to take a share of,
and a share is refused.

The units of a write are those of the table. An index row needs at most as many: a transaction costs
the table twice the units, and a changed index key costs the index a deletion and a write.
"""

from __future__ import annotations

import math
from collections.abc import Container

from msgspec import Struct

from tablewright.errors import InvalidValue, TableNotFound
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.transport.tables import describe_table

FORMS = (
    "write units per second (above 0, such as 500), or a share of the write capacity of the "
    "table (above 0% and at most 100%, such as 25%)"
)


class WriteRate(Struct, frozen=True):
    """A number of write units per second, or a share of the write capacity."""

    units: float | None = None
    #: Above 0 and at most 1.
    share: float | None = None

    def units_in(self, found: TableDescription, indexes: Container[str] | None = None) -> float:
        """Return the write units per second for writes to a table and some global indexes, or all.

        Raise InvalidValue for a share of a table without a limited capacity.
        """
        if self.units is not None:
            return self.units
        assert self.share is not None
        own = _write_capacity(found)
        if own is None:
            raise InvalidValue(
                f"the rate {100 * self.share:g}% is a share of the write capacity, but the "
                f"capacity of the table {found.name!r} is not limited: it is billed on demand, "
                "without a maximum throughput; give write units per second, such as 500"
            )
        written = [each for each in found.global_indexes if indexes is None or each.name in indexes]
        others = [units for each in written if (units := _write_capacity(each)) is not None]
        return self.share * min([own, *others])


def read_rate(value: float | str) -> WriteRate:
    """Return the rate that a caller has given; raise InvalidValue, with the accepted forms."""
    text = "" if isinstance(value, bool) else str(value).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = 0.0
    if text.endswith("%") and 0 < number <= 100:
        return WriteRate(share=number / 100)
    if text.endswith("%") or not 0 < number < math.inf:
        raise InvalidValue(f"{value!r} is not a rate: give {FORMS}")
    return WriteRate(number)


class ResolveRate(Plan[float]):
    """Return the write units per second that a rate is for a table as it is now.

    For a share, it is that of the lowest capacity of the table and all its global indexes. Raise
    InvalidValue if the table has no capacity to take a share of.
    """

    def __init__(self, table: TableMap, rate: WriteRate) -> None:
        self._table = table
        self._entity = table.entities[0]
        self._rate = rate

    def _steps(self, context: Context) -> Steps[float]:
        if self._rate.units is not None:
            return self._rate.units
        found = yield from described(context.name_of(self._table))
        return self._rate.units_in(found)


def described(name: str) -> Steps[TableDescription]:
    """Return the description of a table; raise TableNotFound."""
    found = yield from describe_table(name)
    if found is None:
        raise TableNotFound(f"the table {name!r} does not exist")
    return found


def _write_capacity(part: TableDescription | IndexDescription) -> int | None:
    """Return the write units per second of a table or an index; None if they are not limited."""
    if part.throughput is not None:
        return part.throughput.write
    if part.on_demand is not None and part.on_demand.write > 0:
        return part.on_demand.write
    return None
