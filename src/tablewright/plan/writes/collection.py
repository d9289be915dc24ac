"""Collections: delete or change many rows with one plan.

    db.run(delete_all(Session.primary.within("U1")))                    a range
    db.run(delete_all(OrderWithItems.of(Order.primary("C1", "O1"))))    a parent with all its rows
    db.run(update_all(Order.of_status("NEW"), Order.status.set("LATE")))

Many rows do not fit into one transaction. So a run may be interrupted between two requests; the
same plan continues it. An aggregate that fits into one transaction is deleted by one. Otherwise its
rows are deleted from the last to the first, and its root in the last transaction.

Rows that other clients create meanwhile:

- Before the last read of the rows: they are deleted with the others.
- Between this read and the delete of the root: if their creation changes the root (a counter, a
  version), the delete fails and the rows are read again. If not, they are left without a root. One
  more read finds them, and they are deleted.
- After the delete of the root: they stay. A create with a condition check of the root, in one
  transaction, fails.

If another client creates the root again, its rows are not deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import ConditionFailed, DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.plan.change import Change
from tablewright.plan.facts import Actions, AllPages, Repeats, Unchanged, UnitRange, all_read
from tablewright.plan.plan import DECLARED, Context, Plan, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.paged_load import LoadFound
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.several import item_identity
from tablewright.plan.reads.single import read_all
from tablewright.plan.shape import TYPICAL_PAGE, Shape, read_shape, shape_of
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    fit,
    joined,
    send_or_retry,
    take_fitting,
)
from tablewright.plan.writes.delete import Delete, delete_row
from tablewright.plan.writes.followers import require_no_parent
from tablewright.plan.writes.guard import key_text, rejection
from tablewright.plan.writes.range_write import (
    DeleteRange,
    Progress,
    Tally,
    UpdateRange,
    send_first,
)
from tablewright.plan.writes.write import (
    Rewritable,
    refuse_undeletable,
    wait_for_writers,
    write_units,
)
from tablewright.symbol import Argument
from tablewright.values import Item


@overload
def delete_all(rows: Query[Any], *, progress: Progress | None = None) -> DeleteRange: ...
@overload
def delete_all(
    rows: Load[Any] | LoadFound[Any], *, progress: Progress | None = None
) -> DeleteAggregate: ...
def delete_all(rows: Any, *, progress: Progress | None = None) -> DeleteRange | DeleteAggregate:
    """Delete every item of a query, or an aggregate with all its rows; returns their number.

    `progress` is called after each request, with the number of rows that are deleted so far.
    """
    if isinstance(rows, Query):
        return DeleteRange(rows, progress)
    if isinstance(rows, (Load, LoadFound)):
        return DeleteAggregate(rows, progress)
    raise DeclarationError(
        f"delete_all() takes a query or an aggregate, such as Order.primary.within(…) or "
        f"OrderWithItems.of(…), not {rows!r}"
    )


def update_all(
    rows: Query[Rewritable], *changes: Change[Rewritable], progress: Progress | None = None
) -> UpdateRange:
    """Change every item of a query; returns the number of those that were changed.

    `progress` is called after each request, with the number of rows that are changed so far.
    """
    if not isinstance(rows, Query):
        raise DeclarationError(
            f"update_all() takes a query, such as Order.primary.within(…), not {rows!r}"
        )
    return UpdateRange(rows, changes, progress)


class DeleteAggregate(Plan[int]):
    """Delete the root of an aggregate and all rows below it; returns the number of rows."""

    def __init__(self, rows: Load[Any] | LoadFound[Any], progress: Progress | None) -> None:
        self._rows = rows
        self._kind = rows._kind
        self._entity: EntityMap = rows._entity
        self._progress = progress
        _check(rows if isinstance(rows, Load) else rows._second)
        for entity in self._entities():
            refuse_undeletable(entity, "delete_all")

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def _steps(self, context: Context) -> Steps[int]:
        rows = self._rows
        if isinstance(rows, LoadFound):
            found = yield from rows._root._steps(context)
            if found is None:
                return 0
            rows = rows._load(found)
        tally, attempt = Tally(self._progress), 0
        phases = [self._delete_with_root, self._delete_without_root]
        while phases:
            try:
                if (yield from phases[0](rows, context, tally)):
                    del phases[0]
                attempt = 0
            except RetryWrite:
                attempt += 1
                yield from wait_for_writers(
                    attempt,
                    f"delete_all {self._kind.name}: other writers changed its rows between read "
                    f"and write, {attempt} times in a row; {tally.done} rows were deleted: run it "
                    "again to continue",
                )
        return tally.done

    def _delete_with_root(self, load: Load[Any], context: Context, tally: Tally) -> Steps[bool]:
        """Delete the rows and the root; return False if they must be read again."""
        key, groups = yield from self._read_groups(load, context)
        if not _has_root(groups, key):
            return True
        if fit(*groups):
            yield from send_or_retry(joined(*groups), context)
            tally.add(len(groups))
            return True
        while not fit(*groups):
            *children, root = groups
            tally.add((yield from send_first(children, context)))
            groups = [*children, root]
        return False

    def _delete_without_root(self, load: Load[Any], context: Context, tally: Tally) -> Steps[bool]:
        """Delete the rows that are left without a root, as long as it does not exist again."""
        key, groups = yield from self._read_groups(load, context)
        if _has_root(groups, key):
            return True
        no_root = [require_no_parent(self._entity, key)]
        while groups:
            rows = take_fitting(groups, no_root)
            yield from send_or_retry(joined(no_root, *rows), context)
            tally.add(len(rows))
        return True

    def _read_groups(
        self, load: Load[Any], context: Context
    ) -> Steps[tuple[Item, list[list[Action]]]]:
        """Return the key of the root, and the actions for each row: the root last."""
        key = self._entity.table.key(load._key.encode(load._arguments))
        return key, self._groups(key, (yield from _read(load, context)))

    def _groups(self, key: Item, items: list[Item]) -> list[list[Action]]:
        """Return the actions for each row: those below others first, the root last."""
        table = self._entity.table
        groups: list[list[Action]] = []
        others: list[Item] = []
        for item in reversed(items):  # a row sorts before those below it
            found = table.entity_of(item)
            if any(entity.includes(found) for entity in self._kind.entities()):
                assert found is not None
                is_root = table.key(item) == key
                groups.append(delete_row(found, item, _guarded(found, item) if is_root else ()))
            else:
                others.append(item)
        sentinels = {action.identity for group in groups for action in group[1:]}
        for item in others:
            if (table.name, item_identity(table.key(item))) not in sentinels:
                reason = (
                    f"a row below it ({key_text(table.key(item))}) is not part of "
                    f"{self._kind.name}, and would stay without its root; delete it first, or add "
                    "its entity to the aggregate"
                )
                raise rejection(ConditionFailed, self._entity, key, None, reason)
        # The root last, and before it those that count others; the others stay.
        groups.sort(key=lambda group: (group[0].key == key, group[0].counters is not None))
        return groups

    def _shape(self) -> Shape:
        first: tuple[Shape, ...] = ()
        if isinstance(self._rows, LoadFound):
            load = self._rows._load(self._entity.symbolic(Argument(self._kind.root.field)))
            first = (self._rows._root._shape(),)
        else:
            load = self._rows
        entities = self._kind.entities()
        read = read_shape(_request(load, DECLARED), entities, [self._entity.table])
        units = sum(write_units(each) + len(each.uniques) for each in entities)
        # Rows that are not in one transaction with the root are read twice.
        twice = all_read(consistent=True) * 2
        actions = replace(read, operation="Delete", order="")
        whole = replace(
            actions,
            operation="TransactWriteItems",
            extent=Actions(1, Repeats.EACH_ROW_OF_AGGREGATE),
            write_units=TRANSACTION_FACTOR * units * TYPICAL_PAGE / len(entities),
            write_range=_delete_range(entities),
            requirements=(Unchanged("the root"),),
            # Without a root, each transaction checks that there is none.
            steps=(
                actions,
                replace(actions, operation="ConditionCheck", targets=(self._entity,)),
            ),
        )
        read = replace(
            read,
            extent=AllPages(),
            read_units=load._shape().read_units * 2,
            read_range=replace(twice, low=1),
        )
        last = replace(read, read_units=1, read_range=UnitRange(1, 1))
        steps = (*first, read, whole, last)
        found = shape_of(steps, targets=whole.targets, keys=whole.keys)
        low = (first or (found,))[0].read_range.low
        return replace(found, read_range=replace(found.read_range, low=low))


def _delete_range(entities: list[EntityMap]) -> UnitRange:
    """Return the units of deleting rows of these entities, each with its side items."""
    deletes: list[Delete[Any]] = [Delete(entity, {}) for entity in entities]
    most = max(delete._shape().in_transaction.high for delete in deletes)
    # The units of a check are those of a write.
    return UnitRange(0, 0, most + TRANSACTION_FACTOR)


def _has_root(groups: list[list[Action]], key: Item) -> bool:
    return bool(groups) and groups[-1][0].key == key


def _guarded(root: EntityMap, item: Item) -> Iterable[str]:
    """Return the attributes of a root that must be as they were read: its version, or all."""
    if root.version is not None:
        return [root.version.stored]
    return {*item, *(attribute.stored for attribute in root.attributes.values())}


def _check(load: Load[Any]) -> None:
    """Raise DeclarationError for an aggregate of which not all rows are known."""
    key, name = load._key, load._kind.name
    if key.index is not None:
        raise DeclarationError(
            f"delete_all(): {name} is read in an index, which does not tell what is below its "
            "root; find the root there: "
            f"{name}.of({key.name}(…).first())"
        )
    if len(load._arguments) < len(key.parameters):
        raise DeclarationError(f"delete_all(): {name} takes every part of {key.name}")
    if load._size is not None or load._is_continued:
        raise DeclarationError(
            f"delete_all() deletes all rows of {name}, so it takes no limit(), page_size() or "
            "after()"
        )


def _key_condition(load: Load[Any]) -> KeyCondition:
    """Return the condition on all rows that belong to the root.

    A root that is the only one of its entity in its partition owns all rows there.
    """
    key = load._key
    partition = key.partition_values(load._arguments)
    if key.sort is None or len(key.parameters) == key.partition_arity:
        return KeyCondition(partition)
    (sort,) = key.sort_attributes
    root = key.encode(load._arguments)[sort]
    end = {"S": root["S"] + key.partition.delimiter.above}
    return KeyCondition(partition, SortCondition(sort, "between", (root, end)))


def _request(load: Load[Any], context: Context) -> QueryRequest:
    members = {"TableName": context.name_of(load._entity.table), "ConsistentRead": True}
    return QueryRequest("Query", members, Selection(_key_condition(load)))


def _read(load: Load[Any], context: Context) -> Steps[list[Item]]:
    """Read all rows that belong to the root, with the root, in the order of their sort keys."""
    items = yield from read_all(_request(load, context))
    condition = _key_condition(load)
    if condition.sort is None:
        return items
    name, root = condition.sort.attribute, condition.sort.values[0]["S"]
    below = root + load._key.partition.delimiter.text
    # Free text may sort between the root and the rows below it: `O1 x` is between `O1` and `O1#…`.
    return [item for item in items if item[name]["S"] == root or item[name]["S"].startswith(below)]
