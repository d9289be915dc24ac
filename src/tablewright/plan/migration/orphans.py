"""Orphans: sentinels that reserve a value which no item has.

    a unique value with another key      the sentinels of the old version, once it is completed
    a unique value that is removed       all its sentinels, once it is completed
    a unique value that is added         those of values that programs of the old version have
                                         changed since: they do not keep sentinels

A sentinel whose key the target version composes belongs to the item that it names. It is deleted in
one transaction with a check of that item, so that no program can have taken the value meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill.reservations import claims_of
from tablewright.plan.migration.rewriting import Rewriter, kind_by_key
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.action import Action, RetryWrite, always_retry, send_or_retry
from tablewright.plan.writes.effect import named_key, names_owner, unique_names
from tablewright.plan.writes.guard import WriteExpressions, stored_values
from tablewright.plan.writes.write import wait_for_writers
from tablewright.values import Item

#: How many sentinels are deleted in one transaction: each takes two actions, the fence takes one.
_TOGETHER = (MAX_TRANSACTION_ACTIONS - 1) // 2


class Orphan(Struct, frozen=True):
    """A sentinel, and the item that it names, which does not have the value."""

    sentinel: Item
    entity: EntityMap
    unique: UniqueMap
    owner_key: Item
    owner: Item | None

    def actions(self) -> list[Action]:
        """Return the actions that delete the sentinel, if nothing has changed."""
        table = self.entity.table
        key, names = table.key(self.sentinel), sorted({*self.sentinel} - {*table.attributes})
        deletion, check = WriteExpressions(), WriteExpressions()
        deletion.require_unchanged(stored_values(self.sentinel, names))
        read = {self.entity.attributes[name].stored for name in unique_names(self.unique)}
        check.require_unchanged(stored_values(self.owner or {}, sorted(read - {*table.attributes})))
        return [
            Action("Delete", table, deletion.add_to({"Key": key}), always_retry),
            Action("ConditionCheck", table, check.add_to({"Key": self.owner_key}), always_retry),
        ]


def _find(
    table: TableMap,
    sentinels: Iterable[Item],
    rewriter: Rewriter,
    is_removed: Callable[[Item], bool],
    context: Context,
) -> Steps[list[Orphan]]:
    """Return the sentinels with a key of this version whose item does not have the value."""
    name = context.name_of(table)
    named: list[Orphan] = []
    for item in sentinels:
        kind = kind_by_key(table, item)
        if kind.unique is None or kind.entity is None:
            continue
        if names_owner(kind.entity, kind.unique):
            with suppress(InvalidValue, UnreadableItem):  # else it does not say whose it is
                key = named_key(kind.entity, kind.unique, item)
                named.append(Orphan(item, kind.entity, kind.unique, key, None))
    keys = {item_identity(each.owner_key): (name, each.owner_key) for each in named}
    found = yield from read_batch(context, list(keys.values()), consistent=True)
    orphans: list[Orphan] = []
    for each in named:
        owner = found.get((name, item_identity(each.owner_key)))
        is_gone = owner is None or is_removed(owner)
        rewritten = None if owner is None or is_gone else rewriter.rewrite(owner)
        claims = () if rewritten is None else claims_of(*rewritten)
        if all(claim.sentinel_key != table.key(each.sentinel) for claim in claims):
            orphans.append(Orphan(each.sentinel, each.entity, each.unique, each.owner_key, owner))
    return orphans


def delete_orphans(
    table: TableMap,
    sentinels: Iterable[Item],
    rewriter: Rewriter,
    is_removed: Callable[[Item], bool],
    fence: Action,
    context: Context,
) -> Steps[int]:
    """Delete the sentinels of no item, until there are none among these; return how many were.

    An item that `is_removed` is deleted as well, so it has no values.
    """
    name, deleted, attempt = context.name_of(table), 0, 0
    orphans = yield from _find(table, sentinels, rewriter, is_removed, context)
    while orphans:
        kept: list[Orphan] = []
        for at in range(0, len(orphans), _TOGETHER):
            kept += yield from _delete_all(orphans[at : at + _TOGETHER], fence, context)
        deleted += len(orphans) - len(kept)
        if not kept:
            break
        attempt += 1
        yield from wait_for_writers(
            attempt,
            f"other programs changed unique values in the table {name!r} {attempt} times in a row "
            "while unused sentinels were deleted; run the command again",
        )
        keys = [(name, table.key(each.sentinel)) for each in kept]
        found = yield from read_batch(context, keys, consistent=True)
        orphans = yield from _find(table, found.values(), rewriter, is_removed, context)
    return deleted


def _delete_all(group: list[Orphan], fence: Action, context: Context) -> Steps[list[Orphan]]:
    """Delete orphans together, or one by one; return those that have changed."""
    owners = {item_identity(each.owner_key) for each in group}
    if len(owners) == len(group) and (yield from _delete(group, fence, context)):
        return []
    kept: list[Orphan] = []
    for each in group:
        if not (yield from _delete([each], fence, context)):
            kept.append(each)  # noqa: PERF401  # a yield
    return kept


def _delete(orphans: list[Orphan], fence: Action, context: Context) -> Steps[bool]:
    """Delete orphans in one transaction; return False if one of them has changed."""
    actions = [action for each in orphans for action in each.actions()]
    try:
        yield from send_or_retry([*actions, fence], context)
    except RetryWrite:
        return False
    return True
