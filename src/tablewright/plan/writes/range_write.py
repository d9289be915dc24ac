"""Range write: delete or change every item of a query.

A page is read, written, and read again if one of its rows has changed meanwhile. Rows of the table
are read consistently. Rows of an index may be older than the items: so the items are read, and
those that have left their place in the index are not touched.

Every write is guarded: by the version, by the filter of the query, and by the place in the index.
What has been done is not undone if a later page fails; the same plan continues, because deleted
rows are gone, and changed rows need no further change.

Deletes without conditions are sent in batches, all else in transactions (`send_first`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.limits import MAX_BATCH_GET_KEYS, MAX_BATCH_WRITES
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import UnknownItem, is_of_other_type, unknown_item
from tablewright.mapping.variants import VariantsMap
from tablewright.plan.change import AddToSet, Change, RemoveFromSet, Set, SetIfAbsent
from tablewright.plan.condition import Condition
from tablewright.plan.facts import NOTHING, Actions, Batches, Repeats, all_read, items_read
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.reads.single import decode_page
from tablewright.plan.shape import TYPICAL_PAGE, Shape, in_turn
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    always_retry,
    joined,
    send_or_retry,
    take_fitting,
)
from tablewright.plan.writes.delete import Delete, delete_row
from tablewright.plan.writes.effect import Audit
from tablewright.plan.writes.followers import followers
from tablewright.plan.writes.guard import stored_values
from tablewright.plan.writes.several import send_batch
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import refuse_undeletable, refuse_write_once, wait_for_writers
from tablewright.values import Item

#: How many rows are read at a time.
PAGE = 100
#: Receives the number of rows that are done.
Progress: TypeAlias = Callable[[int], object]


class RangeWrite(Plan[int]):
    """A write of every item of a query; returns the number of items written."""

    _verb = "write_all"

    def __init__(self, query: Query[Any], progress: Progress | None) -> None:
        self._entity: EntityMap = query._entity
        self._progress = progress
        options = {
            "limit()": query._total is not None,
            "page_size()": query._size is not None,
            "after()": query._cursor is not None,
            "before()": query._before is not None,
            "select()": bool(query._columns),
            "skip_unreadable()": query._skips_unreadable,
        }
        for option, is_given in options.items():
            if is_given:
                raise DeclarationError(
                    f"{self._verb}() writes every item of a query, so it takes none with {option}"
                )
        if len(query._entities()) > 1:
            names = ", ".join(entity.name for entity in query._entities())
            raise DeclarationError(
                f"{self._verb}() takes a query of one entity, not a union of {names}; write each "
                "of them"
            )
        if isinstance(self._entity, VariantsMap):
            raise DeclarationError(
                f"{self._verb}(): {self._entity.name} has variants; write each of them: "
                f"{', '.join(self._entity.type_names)}"
            )
        query._check_projection()
        self._query = query if query._key.index is not None else query.consistent()

    def _actions(self, row: Item, context: Context) -> list[Action]:
        """Return the actions for a row; none if there is nothing to do."""
        raise NotImplementedError

    @property
    def _conditions(self) -> tuple[Condition[Any], ...]:
        return () if self._query._filter is None else self._query._filter.parts()

    @property
    def _index_names(self) -> list[str]:
        """The attributes of the index of the query; none for the table itself."""
        key = self._query._key
        return [] if key.index is None else list(key.attributes)

    def _steps(self, context: Context) -> Steps[int]:
        request, _, excluding = self._query._request(context)
        request = request.with_members(Limit=PAGE)
        tally, attempt = Tally(self._progress), 0
        while True:
            page = decode_page((yield request))
            rows = self._rows(self._query._candidates(page.items, excluding))
            before = tally.done
            try:
                yield from self._write(rows, context, tally)
            except RetryWrite:
                attempt = 1 if tally.done > before else attempt + 1
                yield from wait_for_writers(
                    attempt,
                    f"{self._verb} {self._entity.name}: other writers changed its rows between "
                    f"read and write, {attempt} times in a row; {tally.done} rows were written: "
                    "run it again to continue",
                )
                continue  # with the same page, as it is now
            attempt = 0
            if page.last_evaluated_key is None:
                return tally.done
            request = request.next_page(page.last_evaluated_key)

    def _rows(self, candidates: list[Item]) -> list[Item]:
        """Return the items of the entity; raise UnreadableItem for one that may be of it."""
        table = self._entity.table
        for item in candidates:
            if isinstance(item, UnknownItem) and not is_of_other_type(table, item):
                raise unknown_item(table, item)
        return [item for item in candidates if not isinstance(item, UnknownItem)]

    def _write(self, rows: list[Item], context: Context, tally: Tally) -> Steps[None]:
        if self._index_names:
            rows = yield from self._read_current(rows, context)
        groups = [actions for row in rows if (actions := self._actions(row, context))]
        while groups:
            tally.add((yield from send_first(groups, context)))

    def _read_current(self, rows: list[Item], context: Context) -> Steps[list[Item]]:
        """Read the items of index rows; leave out those that have left their place meanwhile."""
        table = self._entity.table
        name = context.name_of(table)
        keys = [(name, table.key(row)) for row in rows]
        found = yield from read_batch(context, keys, consistent=True)
        current = []
        for row in rows:
            item = found.get((name, item_identity(table.key(row))))
            if item is not None and self._is_in_range(item, row):
                current.append(item)
        return current

    def _is_in_range(self, item: Item, row: Item) -> bool:
        names = self._index_names
        return stored_values(item, names) == stored_values(row, names) and all(
            condition.matches(item) for condition in self._conditions
        )

    def _shape_of(self, write: Shape) -> Shape:
        """Return the shape of reading the range and writing each row, `write` being that of one."""
        read = self._query._shape()
        assert isinstance(write.extent, Actions)
        rows = replace(
            write,
            extent=Actions(write.extent.count, Repeats.EACH_ROW_OF_RANGE),
            read_units=0,
            read_range=NOTHING,
            write_units=write.write_units * TYPICAL_PAGE,
            write_range=write.in_transaction.for_each(),
        )
        reads = all_read(consistent=self._query._is_consistent)
        between: tuple[Shape, ...] = ()
        if self._index_names:  # the items of the index rows are read in the table
            each = items_read(1, consistent=True).for_each()
            reads += each
            items = Shape(
                "BatchGetItem",
                (self._entity.table,),
                (self._entity,),
                keys=(self._entity.primary.symbolic(),),
                extent=Batches(MAX_BATCH_GET_KEYS),
                read_units=TYPICAL_PAGE,
                read_range=each,
            )
            between = (items,)
        whole = in_turn(read, *between, rows)
        return replace(
            whole, indexes=read.indexes, keys=read.keys, filters=read.filters, read_range=reads
        )


class DeleteRange(RangeWrite):
    """Delete every item of a query, with its sentinels.

    Items that can have rows below them are refused: no condition of a delete can say that there are
    none, so a row that is created meanwhile would stay without its parent.
    """

    _verb = "delete_all"

    def __init__(self, query: Query[Any], progress: Progress | None) -> None:
        super().__init__(query, progress)
        refuse_undeletable(self._entity, self._verb)
        below = ", ".join(member.entity.name for member in followers(self._entity))
        if below:
            name = self._entity.name
            raise DeclarationError(
                f"delete_all(): a row of {name} can have rows of {below} below it, which would "
                f"stay without it; delete each {name} with all its rows, as an aggregate: "
                f"delete_all({name}With….of({name}.primary(…))), or alone: delete(…)"
            )

    def _actions(self, row: Item, context: Context) -> list[Action]:
        self._entity.decode(row)  # raises UnreadableItem
        return delete_row(self._entity, row, self._index_names, self._conditions)

    def _shape(self) -> Shape:
        delete: Delete[Any] = Delete(self._entity, {})
        row = delete._replace(_conditions=self._conditions)._shape()
        if not row.steps and not row.requirements:  # without a condition
            row = replace(row, branches=(replace(row, operation="BatchWriteItem"),))
        return self._shape_of(row)


class UpdateRange(RangeWrite):
    """Change every item of a query."""

    _verb = "update_all"
    _by: Any = None
    _reason: Any = None

    def __init__(
        self, query: Query[Any], changes: tuple[Change[Any], ...], progress: Progress | None
    ) -> None:
        super().__init__(query, progress)
        entity = self._entity
        refuse_write_once(entity, self._verb)
        if not changes:
            raise InvalidValue(f"{entity.name}: update_all() needs at least one change")
        self._changes = changes
        Update(entity, {}, {}, changes)  # raises for what is not a change of the entity
        for change in changes:
            if not isinstance(change, (Set, SetIfAbsent, AddToSet, RemoveFromSet)):
                raise InvalidValue(
                    f"{entity.name}: update_all() may have to be run again after an interruption, "
                    f"so it takes changes that can be repeated (set, set_if_absent, remove, "
                    f"add_to_set, remove_from_set), not {change!r}; update each item by itself"
                )
            if change.name in entity.primary.depends_on:
                raise InvalidValue(
                    f"{entity.name}.{change.name} is part of the key, which update_all() cannot "
                    "change; move each item with update()"
                )

    def audit(self, *, by: Any = None, reason: Any = None) -> UpdateRange:
        """Record who changes the entities and why, in their history."""
        return self._replace(_by=by, _reason=reason)

    def _update(self, row: Item) -> Update[Any]:
        entity, values = self._entity, vars(self._entity.decode(row))
        known = {name: values[name] for name in entity.primary.depends_on}
        update: Update[Any] = Update(entity, entity.table.key(row), known, self._changes)
        return update._replace(_conditions=self._conditions)

    def _actions(self, row: Item, context: Context) -> list[Action]:
        update = self._update(row)
        changes = update._encode(context.clock())
        guard = update._guard(row, update._needed())
        guard.unchanged |= stored_values(row, self._index_names)
        audit = Audit(context.clock(), self._by, self._reason)
        prepared = update._prepared(changes, row, guard, audit)
        new = prepared.effects[0].new or {}
        if self._is_same(row, new):
            return []
        guard.check(row)
        own, *others = prepared.actions
        own.on_failure = always_retry
        return [own, *others]

    def _is_same(self, old: Item, new: Item) -> bool:
        """Whether an update would change only the version and timestamps."""
        stamps = {stamp.stored for stamp in self._entity.stamps}
        return all(old.get(name) == new.get(name) for name in {*old, *new} - stamps)

    def _shape(self) -> Shape:
        update: Update[Any] = Update(self._entity, {}, {}, self._changes)
        return self._shape_of(update._replace(_conditions=self._conditions)._shape())


# -- the writes of many rows ----------------------------------------------------------------------


class Tally:
    """Counts the rows that are done, and reports them."""

    def __init__(self, progress: Progress | None) -> None:
        self.done = 0
        self._progress = progress

    def add(self, rows: int) -> None:
        self.done += rows
        if self._progress is not None:
            self._progress(self.done)


def send_first(groups: list[list[Action]], context: Context) -> Steps[int]:
    """Send the first groups that fit into one request, remove them, and return their number."""
    if not _is_plain(groups[0]):
        taken = take_fitting(groups)
        yield from send_or_retry(joined(*taken), context)
        return len(taken)
    count = 1
    while count < min(len(groups), MAX_BATCH_WRITES) and _is_plain(groups[count]):
        count += 1
    yield from send_batch(joined(*groups[:count]), context)
    del groups[:count]
    return count


def _is_plain(group: list[Action]) -> bool:
    """Whether a row is deleted without a condition."""
    (first, *others) = group
    is_free = "ConditionExpression" not in first.body and first.counters is None
    return first.kind == "Delete" and not others and is_free
