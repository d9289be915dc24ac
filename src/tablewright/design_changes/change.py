"""A change between two versions of a design."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tablewright.design_changes.kinds import (
    GUARDED,
    KINDS,
    READERS_FIRST,
    ChangeKind,
    Need,
    Reading,
)
from tablewright.errors import UnclassifiedChange


class DesignChange(Struct, frozen=True):
    """One difference: its kind, where it is, and what was there before and after."""

    kind: ChangeKind
    table: str
    #: The type of items; "" for a change of the table.
    entity: str = ""
    #: The attribute, index or unique value; "" for a change of the whole.
    part: str = ""
    #: What the two versions declare, as text; "" if one of them declares nothing.
    before: str = ""
    after: str = ""
    #: What the versions read of each other's items; by default, what the kind says.
    reads: tuple[Reading, Reading] | None = None
    #: Of a merged entity: the former type of the items that the change is about.
    former: str = ""

    @property
    def new_reads(self) -> Reading:
        """What the new version reads of items that the old one has written."""
        return self.kind.new_reads if self.reads is None else self.reads[0]

    @property
    def old_reads(self) -> Reading:
        """What the old version reads of items that the new one has written."""
        return self.kind.old_reads if self.reads is None else self.reads[1]

    @property
    def need(self) -> Need:
        return self.kind.need

    @property
    def runs_together(self) -> bool:
        """Whether programs of both versions can run without errors or missed items."""
        return max(self.new_reads, self.old_reads) < Reading.MISSES

    @property
    def is_read_by_old(self) -> bool:
        """Whether the old version finds and reads everything that the new one has written."""
        return self.old_reads < Reading.MISSES

    @property
    def is_deployable(self) -> bool:
        """Whether a program with the change may run before stored items are prepared for it.

        Reads of a new place in an index, and writes of a new unique value, are refused one by one
        until stored items have it.
        """
        if self.kind.name in GUARDED or self.kind.name in READERS_FIRST:
            return True
        return self.need in (Need.NOTHING, Need.RECOUNT) and self.runs_together

    @property
    def where(self) -> str:
        """The place of the change: `shop`, `Order`, `Order.status`."""
        if self.entity and self.part.startswith(f"{self.entity}."):
            return self.part  # a unique value, whose type begins with its entity
        return ".".join(filter(None, (self.entity, self.part))) or self.table

    @property
    def title(self) -> str:
        """What happened, and to which items."""
        return f"{self.kind.title}, for items of {self.former}" if self.former else self.kind.title

    def __str__(self) -> str:
        values = " -> ".join(each or "nothing" for each in (self.before, self.after))
        return f"{self.where}: {self.title}" + (f": {values}" if self.before or self.after else "")


def change(kind: str, table: str, entity: str = "", part: str = "", **rest: object) -> DesignChange:
    """Return a change of the kind with this name."""
    return DesignChange(KINDS[kind], table, entity, part, **rest)  # type: ignore[arg-type]  # named


def require_changes(
    where: str, old: object, new: object, found: Iterable[DesignChange]
) -> list[DesignChange]:
    """Return the changes of a part; raise UnclassifiedChange if it differs and has none."""
    changes = list(found)
    if not changes and old != new:
        raise UnclassifiedChange(
            f"{where}: the two versions differ in a way that this version of Tablewright cannot "
            f"classify: {old} -> {new}"
        )
    return changes
