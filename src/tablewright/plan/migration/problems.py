"""Problems: the stored items that a migration cannot carry over, by attribute and reason.

Its memory does not grow with the number of items: it keeps a few reasons, each with a count and a
few keys.
"""

from __future__ import annotations

from msgspec import Struct

from tablewright.errors import MigrationRefused, UnreadableItem
from tablewright.mapping.table import TableMap

#: How many reasons are listed: of all attributes, and of one of them.
MAX_REASONS = 20
MAX_REASONS_OF_ONE = 3
#: How many items are named for each reason.
MAX_NAMED = 3


class _Reason(Struct):
    """One reason, with the number of its items and the first of them."""

    where: str
    items: int = 0
    named: list[str] = []


class ProblemItems:
    """The items of a table that cannot be carried over."""

    def __init__(self, table: TableMap) -> None:
        self._table = table
        self._reasons: dict[str, _Reason] = {}

    def __bool__(self) -> bool:
        return bool(self._reasons)

    def add(self, error: UnreadableItem) -> None:
        """Note an item and why it cannot be read."""
        where, reason = error.where, error.reason
        if reason not in self._reasons:
            alike = sum(each.where == where for each in self._reasons.values())
            if where and alike >= MAX_REASONS_OF_ONE:
                reason = f"{where}: other values"
            elif len(self._reasons) >= MAX_REASONS:
                reason = "other reasons"
        found = self._reasons.setdefault(reason, _Reason(where))
        found.items += 1
        if len(found.named) < MAX_NAMED and error.item is not None:
            found.named.append(self._table.show_key(error.item))

    def refusal(self, name: str) -> MigrationRefused:
        """Return the error that lists them; `name` is that of the table."""
        count = sum(each.items for each in self._reasons.values())
        lines = [
            f"{_items(count)} of the table {name!r} cannot be carried over; nothing was changed:"
        ]
        for reason, each in sorted(self._reasons.items(), key=lambda pair: pair[1].where):
            such_as = ", such as" if each.items > len(each.named) else ":"
            lines += [f"  {reason}", f"    {_items(each.items)}{such_as} {'; '.join(each.named)}"]
        lines.append(
            "Change these items, or what the design declares for them: attr(fill=…), "
            "renamed_when=… or, for a key in an index, when=…"
        )
        return MigrationRefused("\n".join(lines))


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
