"""Cascading: delete an item with what belongs to it.

    db.run(Project.primary("p").delete())

    read the project     it must fit the conditions of the delete before anything is deleted
    restrict             a child that may not be left: ConditionFailed
    delete, detach       in one transaction with the project if all fits; else in steps before it
    read the children    what was created since they were read: deleted or detached, too

A run may be interrupted between two requests; the same plan continues it, also after the project is
gone. As long as it exists, children can be created. Afterwards they cannot, because a write that
makes a child requires that its parent exists (see `mapping/links.py`). So after the last read no
child is left, unless the project was created again meanwhile: then the children are its own.

A global index receives a child shortly after the table. A child that was created in this moment
stays; the same plan finds it later. A parent with `restrict` can be deleted together with the
creation of a child, in the moment between the read and the delete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import ConditionFailed, DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.links import CascadeMap
from tablewright.plan.change import Change
from tablewright.plan.facts import (
    Absent,
    Actions,
    AllPages,
    Repeats,
    UnitRange,
    all_read,
    item_write,
)
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.single import decode_page, item_shape, read_item
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape, in_turn
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    fit,
    joined,
    send_or_retry,
    take_fitting,
)
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.guard import rejection
from tablewright.plan.writes.move import require_no_parent
from tablewright.plan.writes.range_write import (
    PAGE,
    DeleteRange,
    RangeWrite,
    UpdateRange,
    send_first,
)
from tablewright.plan.writes.write import wait_for_writers
from tablewright.values import Item


def delete_with_children(
    delete: Delete[Any], context: Context, required: Sequence[Action] = ()
) -> Steps[Any]:
    """Delete an item with what belongs to it; return it as it was, None if it did not exist.

    Each write requires what is `required`; if that does not hold, raise RetryWrite.
    """
    entity, key = delete._entity, delete._key
    _require_known(entity)
    family = _Family(entity, entity.values_in_keys(key), context)
    stored = yield from read_item(context, entity, key)
    attempt = done = 0
    while stored is not None:
        yield from _require_deletable(delete, stored, family)
        try:
            groups, is_all = yield from family.read(required)
            if is_all:
                own = (yield from delete._prepare(context, attempt, alone=True)).actions
                if fit(required, *groups, own):
                    yield from send_or_retry(joined(required, *groups, own), context)
                    break
            done += yield from _send_all(groups, context, required)
            attempt = 0
        except RetryWrite:
            if required:
                raise
            attempt += 1
            yield from family.wait(attempt, done)
        stored = yield from read_item(context, entity, key)
    yield from _delete_left(key, family, required)
    return None if stored is None else entity.decode(stored)


def _require_deletable(delete: Delete[Any], stored: Item, family: _Family) -> Steps[None]:
    """Raise WriteRejected if an item does not fit a delete, or has children that restrict it."""
    guard = delete._guard(stored)
    guard.check(stored)
    if not all(each.matches(stored) for each in delete._conditions):
        raise guard.verdict(stored) or RetryWrite
    yield from family.require_none_restricts()


def _delete_left(key: Item, family: _Family, required: Sequence[Action]) -> Steps[None]:
    """Delete or detach what was left without a parent, as long as that does not exist again."""
    attempt = done = 0
    entity, context = family.entity, family.context
    required = [*required, require_no_parent(entity, key)]
    while True:
        try:
            groups, is_all = yield from family.read(required)
            done += yield from _send_all(groups, context, required)
            if is_all:
                return
        except RetryWrite:
            if len(required) > 1:
                raise
            if (yield from read_item(context, entity, key)) is not None:
                return
            attempt += 1
            yield from family.wait(attempt, done)


def _send_all(
    groups: list[list[Action]], context: Context, required: Sequence[Action]
) -> Steps[int]:
    """Send the actions of rows in as few requests as possible; return the number of the rows."""
    count = len(groups)
    while groups:
        if required:
            rows = take_fitting(groups, required)
            yield from send_or_retry(joined(required, *rows), context)
        else:
            yield from send_first(groups, context)
    return count


# -- the children ---------------------------------------------------------------------------------


class _Family:
    """What belongs to one item; `values` are those of its key."""

    def __init__(self, entity: EntityMap, values: Mapping[str, Any], context: Context) -> None:
        self.entity = entity
        self.values = values
        self.context = context

    def wait(self, attempt: int, done: int) -> Steps[None]:
        yield from wait_for_writers(
            attempt,
            f"delete {self.entity.name}: other writers changed what belongs to it between read and "
            f"write, {attempt} times in a row; {done} items were written: run it again to continue",
        )

    def require_none_restricts(self) -> Steps[None]:
        """Raise ConditionFailed if an item restricts the delete of what it belongs to."""
        for cascade in self.entity.cascades:
            if cascade.on_delete == "restrict":
                children = _Children(_query(cascade, self.values))
                found, _ = yield from _next_rows(children, self.context)
                if found:
                    reason = (
                        f"a {cascade.child.name} belongs to it ({cascade.name}); delete what "
                        "belongs to it first"
                    )
                    key = self.entity.key_of(self.values)
                    raise rejection(ConditionFailed, self.entity, key, None, reason)

    def read(self, required: Sequence[Action]) -> Steps[tuple[list[list[Action]], bool]]:
        """Return the actions for the next children, and whether these are all.

        Children that have children are deleted at once.
        """
        groups: list[list[Action]] = []
        is_all = True
        for cascade in self.entity.cascades:
            if cascade.on_delete == "restrict":
                continue
            write = _write_of(cascade, self.values)
            found, is_read = yield from _next_rows(write, self.context)
            is_all = is_all and is_read
            if isinstance(write, _Children):
                for row in found:
                    child: Delete[Any] = Delete(cascade.child, cascade.child.table.key(row))
                    yield from delete_with_children(child, self.context, required)
            else:
                made = (write._actions(row, self.context) for row in found)
                groups += [actions for actions in made if actions]
        return groups, is_all


def _next_rows(write: RangeWrite, context: Context) -> Steps[tuple[list[Item], bool]]:
    """Return the first items that a range write is about, and whether these are all."""
    query = write._query
    request, _, excluding = query._request(context)
    request = request.with_members(Limit=PAGE)
    while True:
        page = decode_page((yield request))
        rows = write._rows(query._candidates(page.items, excluding))
        if write._index_names:
            rows = yield from write._read_current(rows, context)
        if rows or page.last_evaluated_key is None:
            return rows, page.last_evaluated_key is None
        request = request.next_page(page.last_evaluated_key)


def _query(cascade: CascadeMap, values: Mapping[str, Any]) -> Query[Any]:
    """Return the query of the children of one parent."""
    return Query(cascade.child, cascade.key, tuple(values[name] for name in cascade.bound))


class _Children(RangeWrite):
    """The children of one parent that have children themselves, or restrict its delete."""

    _verb = "delete"

    def __init__(self, query: Query[Any]) -> None:
        super().__init__(query, None)


def _write_of(cascade: CascadeMap, values: Mapping[str, Any]) -> RangeWrite:
    """Return what happens to the children of one parent."""
    query, child = _query(cascade, values), cascade.child
    if cascade.on_delete == "detach":
        changes: list[Change[Any]] = []
        for name in sorted(cascade.link.names):
            ref: Ref[Any, Any] = Ref(f"{child.name}.{name}", child.attributes[name])
            changes.append(ref.set(None))
        return UpdateRange(query, tuple(changes), None)
    return _Children(query) if child.cascades else DeleteRange(query, None)


def _require_known(entity: EntityMap) -> None:
    """Raise DeclarationError if an entity has cascades to what is not declared."""
    for awaited in entity.table.awaited_links:
        if awaited.entity is entity:
            raise DeclarationError(awaited.problem)


# -- the shape ------------------------------------------------------------------------------------


def shape_with_children(delete: Delete[Any], own: Shape) -> Shape:
    """Return the shape of the delete of an item, `own`, with what belongs to it."""
    entity, key = delete._entity, delete._key
    read = item_shape(entity, key)
    deleted = replace(own, write_range=replace(own.in_transaction, low=0))
    values = vars(entity.symbolic())
    written = [each for each in entity.cascades if each.on_delete != "restrict"]
    steps = [read, *(_child_shape(each, values) for each in entity.cascades), deleted]
    steps += [_left_shape(each, values) for each in written]
    if written:
        steps.append(_check_of_parent(entity, key))
    return in_turn(*steps)


def _child_shape(cascade: CascadeMap, values: Mapping[str, Any]) -> Shape:
    """Return the shape of what happens to the children of one parent."""
    child = cascade.child
    if cascade.on_delete == "restrict":
        return _query(cascade, values).page_size(1)._shape()
    if not child.cascades:
        return _write_of(cascade, values)._shape()
    nested: Delete[Any] = Delete(child, child.primary.symbolic().equal)
    each = nested._shape()
    each = replace(
        each, read_range=each.read_range.for_each(), write_range=each.write_range.for_each()
    )
    return in_turn(_query(cascade, values)._shape(), each)


def _left_shape(cascade: CascadeMap, values: Mapping[str, Any]) -> Shape:
    """Return the shape of the read of children that are left, usually none."""
    query = _Children(_query(cascade, values))._query
    consistent = query._is_consistent
    read = all_read(consistent=consistent)
    return replace(query._shape(), extent=AllPages(), read_range=replace(read, low=0))


def _check_of_parent(entity: EntityMap, key: Item) -> Shape:
    """Return the shape of the check with which children are written that were left."""
    check = TRANSACTION_FACTOR * item_write(0).high
    return Shape(
        "ConditionCheck",
        (entity.table,),
        (entity,),
        keys=(KeyCondition(key),),
        extent=Actions(1, Repeats.EACH_ROW_OF_RANGE),
        write_range=UnitRange(0, 0, check),
        requirements=(Absent(),),
    )
