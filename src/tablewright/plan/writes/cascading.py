"""Cascading: delete an item with what belongs to it.

    db.run(Project.primary("p").delete())

    mark the project     on the conditions of the delete; from now on no child can be created
    restrict             a child that may not be left: remove the mark, and raise ConditionFailed
    delete, detach       what belongs to it, in steps
    delete the project   on the condition that it is still marked; with the last of its children

A run may be interrupted between two requests; the same plan continues it. The project stays until
nothing belongs to it any more. Each write that makes a child requires that its parent exists and is
not marked (`Action.is_link`). So no child is left: neither one that was created meanwhile, nor one
of a child.

A `put` of the project removes the mark, so the delete begins again. A global index receives a child
shortly after the table: one that was created in this moment can be left, if it is found by such an
index only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from tablewright.errors import ConditionalCheckFailedException, ConditionFailed
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.links import BEING_DELETED, CascadeMap
from tablewright.plan.change import Change
from tablewright.plan.facts import Exists, Requirement, Stamped
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.single import decode_page
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape, in_turn
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    always_retry,
    fit,
    joined,
    send_one,
    send_or_retry,
)
from tablewright.plan.writes.delete import Delete, delete_row
from tablewright.plan.writes.guard import Guard, WriteExpressions, rejection
from tablewright.plan.writes.range_write import (
    PAGE,
    DeleteRange,
    RangeWrite,
    UpdateRange,
    send_first,
)
from tablewright.plan.writes.write import wait_for_writers, write_shape
from tablewright.values import Item


def delete_with_children(delete: Delete[Any], context: Context) -> Steps[Any]:
    """Delete an item with what belongs to it; return it as it was, None if it did not exist."""
    entity, key = delete._entity, delete._key
    family = _Family(entity, entity.values_in_keys(key), context)
    attempt = done = 0
    required = delete._required_before()
    while True:
        stored = yield from _mark(delete, required, context)
        required = []  # what has begun is not stopped by other writers
        if stored is None:
            return None
        yield from family.require_none_restricts(_unmark(entity, key))
        try:
            while True:
                groups, is_all = yield from family.read()
                own = delete_row(entity, stored, [BEING_DELETED])
                if is_all and fit(*groups, own):
                    yield from send_or_retry(joined(*groups, own), context)
                    return entity.decode(stored)
                while groups:
                    done += yield from send_first(groups, context)
                    attempt = 0
        except RetryWrite:
            attempt += 1
            yield from wait_for_writers(
                attempt,
                f"delete {entity.name}: other writers changed it, or what belongs to it, between "
                f"read and write, {attempt} times in a row; {done} items were written: run it "
                "again to continue",
            )


# -- the mark -------------------------------------------------------------------------------------


def _mark(
    delete: Delete[Any], required: Sequence[Requirement], context: Context
) -> Steps[Item | None]:
    """Mark the item of a delete, and return it; None if it does not exist."""
    entity, key = delete._entity, delete._key
    guard = Guard(entity, key, [Exists(), *required])
    expressions = guard.expressions()
    expressions.update.set_or_remove(BEING_DELETED, {"BOOL": True})
    body = expressions.add_to({"Key": key})
    action = Action("Update", entity.table, body, guard.verdict)
    try:
        return (yield from send_one(action, context, "ALL_NEW"))
    except ConditionalCheckFailedException as fault:
        if fault.item is None:
            return None
        error = guard.verdict(fault.item)
    assert error is not None  # nothing was read that could have changed
    raise error


def _unmark(entity: EntityMap, key: Item) -> Action:
    expressions = WriteExpressions()
    expressions.require_exists(entity.table)
    expressions.update.set_or_remove(BEING_DELETED, None)
    return Action("Update", entity.table, expressions.add_to({"Key": key}), always_retry)


# -- the children ---------------------------------------------------------------------------------


class _Family:
    """What belongs to one item; `values` are those of its key."""

    def __init__(self, entity: EntityMap, values: Mapping[str, Any], context: Context) -> None:
        self.entity = entity
        self.values = values
        self.context = context

    def require_none_restricts(self, unmark: Action) -> Steps[None]:
        """Remove the mark and raise ConditionFailed if an item restricts the delete."""
        for cascade in self.entity.cascades:
            if cascade.on_delete == "restrict":
                children = _Children(_query(cascade, self.values))
                found, _ = yield from _next_rows(children, self.context)
                if found:
                    with suppress(ConditionalCheckFailedException):  # another one deleted it
                        yield from send_one(unmark, self.context, "NONE")
                    reason = (
                        f"items of {cascade.child.name} belong to it ({cascade.name}); delete "
                        "them first"
                    )
                    key = self.entity.key_of(self.values)
                    raise rejection(ConditionFailed, self.entity, key, None, reason)

    def read(self) -> Steps[tuple[list[list[Action]], bool]]:
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
                    yield from delete_with_children(child, self.context)
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


# -- the shape ------------------------------------------------------------------------------------


def shape_with_children(delete: Delete[Any], own: Shape) -> Shape:
    """Return the shape of the delete of an item, `own`, with what belongs to it."""
    entity = delete._entity
    mark = write_shape(
        entity,
        "UpdateItem",
        KeyCondition(delete._key),
        sets=[Stamped(BEING_DELETED, "true")],
        requires=[Exists(), *delete._required_before()],
        conditions=delete._conditions,
    )
    mark = replace(mark, write_range=replace(mark.write_range, low=0))
    restricted = any(each.on_delete == "restrict" for each in entity.cascades)
    deleted = replace(
        own, filters=(), requirements=(), write_range=replace(own.in_transaction, low=0)
    )
    values = vars(entity.symbolic())
    steps = [_child_shape(each, values) for each in entity.cascades]
    if restricted:  # if there are such children, the mark is removed
        most = replace(mark.write_range, high=2 * mark.write_range.high)
        mark = replace(mark, write_range=most)
    return in_turn(mark, *steps, deleted)


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
