"""Actions: the parts of one write request, and what the failure of each one means.

One action is a PutItem, UpdateItem or DeleteItem; several are one TransactWriteItems. An action
knows what a failed condition means (`Action.on_failure`): an error, nothing to do, or that the
item has changed since it was read, so that the write is prepared again.

A write of many rows sends groups: the actions of one row, with those of its side items, are always
in one request.

This module must not know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.encoding.items import item_size
from tablewright.errors import (
    AlreadyExists,
    ConditionalCheckFailedException,
    ConditionFailed,
    NotFound,
    TransactionCanceledException,
    UniqueViolation,
    VersionConflict,
    WriteRejected,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.counters import CounterChange
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.formats.encryption import seal_values
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plan.writes.counting import Counters, add_to_item
from tablewright.plan.writes.effect import WriteEffect
from tablewright.plan.writes.guard import (
    StoredValues,
    WriteExpressions,
    put_if_absent,
    rejection,
    stored_values,
)
from tablewright.plan.writes.linking import merge_links, required_target
from tablewright.values import Item

#: Codes with which DynamoDB cancels a transaction that may succeed if it is sent again.
TRANSIENT = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
#: The code of an action whose condition does not hold.
CONDITION_FAILED = "ConditionalCheckFailed"


class NothingToDo(Struct):
    """A write that found nothing to do: its result, and its error if it is in a transaction."""

    result: Any
    error: WriteRejected


#: What a failed condition means; None: the item has changed since it was read, so try again.
Verdict: TypeAlias = WriteRejected | NothingToDo | None


class RetryWrite(Exception):
    """An item that was read has changed while the write was prepared."""

    def __init__(self, *, has_written: bool = False) -> None:
        #: Whether a part of the write is done, and the next attempt continues it.
        self.has_written = has_written


class Action(Struct):
    """One action of a transaction."""

    kind: str  # Put, Update, Delete or ConditionCheck
    table: TableMap
    body: dict[str, Any]
    #: Takes the item as it is now.
    on_failure: Callable[[Item | None], Verdict]
    #: The item that it deletes, where that is known: DynamoDB counts its size.
    deleted: Item | None = None
    #: The position of its write in a transaction.
    write: int = 0
    #: Of an action on a sentinel: what the sentinel contains if it belongs to an entity of the
    #: write, for each such entity. It must be missing, or belong to one of them.
    owners: list[StoredValues] | None = None
    #: Whether the write is done without this action if its condition does not hold: then the
    #: sentinel belongs to another entity.
    is_optional: bool = False
    #: The unique value and its entity, if all stored values must be reserved before this one is.
    requires: tuple[UniqueMap, EntityMap] | None = None
    #: What it does with counters, if the item has any.
    counters: Counters | None = None
    #: Of a condition check: whether the item must not exist.
    requires_absence: bool = False
    #: Whether it only requires that what its write links to exists.
    is_link: bool = False

    @property
    def only_counts(self) -> bool:
        """Whether it is about a parent of a written item, and changes only its counters."""
        return self.counters is not None and self.counters.is_alone

    @property
    def is_shared(self) -> bool:
        """Whether it can be joined to another action on the same item."""
        return self.is_link or self.only_counts

    def __post_init__(self) -> None:
        if not self.table.has_encrypted:
            return
        for member in ("Item", "ExpressionAttributeValues"):
            if member in self.body:
                self.body = self.body | {member: seal_values(self.body[member], self.key)}

    @property
    def key(self) -> Item:
        if self.kind == "Put":
            return self.table.key(self.body["Item"])
        key: Item = self.body["Key"]
        return key

    @property
    def identity(self) -> tuple[str, bytes]:
        """What identifies the item that the action is about."""
        return self.table.name, msgspec.json.encode(self.key, order="deterministic")

    def verdict(self, current: Item | None) -> Verdict:
        """Return what a failed condition means, for the item as it is now."""
        verdict, counters = self.on_failure(current), self.counters
        if counters is None or counters.adds or current is None or not counters.differ(current):
            return verdict
        if isinstance(verdict, NothingToDo | VersionConflict | NotFound):
            return verdict
        if verdict is None and self.on_failure is not always_retry:
            return None
        if self.deleted is not None and not counters.are_same(self.deleted, current):
            return None  # they have changed since they were read
        return rejection(
            ConditionFailed, counters.entity, self.key, current, counters.reason(current)
        )

    def require_reserved(self, context: Context) -> None:
        """Raise UniqueNotReady if stored items may not have reserved their values yet."""
        if self.requires is not None:
            context.require_reserved(*self.requires)


class Prepared(Struct):
    """A write that is ready to be sent."""

    #: Those of its own items first, then those of its side items.
    actions: list[Action]
    #: Makes the result of the attributes that DynamoDB returned, if it was asked for them.
    result: Callable[[Item | None], Any]
    #: What the write changes, item by item.
    effects: tuple[WriteEffect, ...] = ()
    #: ALL_NEW or ALL_OLD, for a write that is one action.
    returns: str = "NONE"
    #: What remains to be done after the request.
    finish: Callable[[], Steps[None]] | None = None


def always_retry(_: Item | None) -> Verdict:
    """Return None: the item has changed since it was read, so the write is tried again."""
    return None


# -- the actions on side items --------------------------------------------------------------------


def side_actions(effect: WriteEffect) -> list[Action]:
    """Return the actions that write the side items of an effect."""
    actions: list[Action] = []
    for side in effect.side_items:
        if isinstance(side.declared, UniqueMap):
            actions.append(_sentinel_action(effect, side.declared, side.old, side.new))
        elif side.new is not None:
            actions.append(_add_event(effect.entity, side.declared.event, side.new))
    for link, key in effect.links:
        check = required_target(link, key)
        actions.append(Action("ConditionCheck", link.target.table, *check, is_link=True))
    return actions + [_count(effect.entity, change) for change in effect.counters]


def _sentinel_action(
    effect: WriteEffect, unique: UniqueMap, old: Item | None, new: Item | None
) -> Action:
    """Return the action that reserves a value, releases it, or changes what its sentinel keeps.

    An item that was stored without a sentinel has not reserved its value, so another entity may
    have: then its sentinel stays, and the item can be changed and deleted nevertheless. A sentinel
    that names no entity, because its unique value was declared with another `keep`, is its own.
    """
    table = effect.entity.table
    kind, body = (
        ("Delete", {"Key": table.key(old or {})}) if new is None else ("Put", {"Item": new})
    )
    names = [attribute.stored for attribute in unique.owned_by]
    return Action(
        kind,
        table,
        body,
        always_retry if new is None else _on_violation(effect, unique, new),
        owners=[] if old is None else [stored_values(old, names), stored_values(None, names)],
        is_optional=old is not None,
        requires=None if new is None else (unique, effect.entity),
    )


def _on_violation(
    effect: WriteEffect, unique: UniqueMap, sentinel: Item
) -> Callable[[Item | None], Verdict]:
    entity = effect.entity

    def on_failure(_: Item | None) -> Verdict:
        reason = (
            f"another {entity.name} has the {_shown(entity, unique, sentinel)}, "
            f"which must be unique ({unique.key.name})"
        )
        names = unique.key.part_names
        error = rejection(UniqueViolation, entity, effect.key, None, reason)
        assert isinstance(error, UniqueViolation)
        error.attributes = tuple(sorted(names - entity.primary.depends_on or names))
        return error

    return on_failure


def _shown(entity: EntityMap, unique: UniqueMap, sentinel: Item) -> str:
    """Render the unique attributes, each with its value where the sentinel keeps it."""
    shown = []
    for name in sorted(unique.key.part_names):
        value = sentinel.get(entity.attributes[name].stored)
        shown.append(name if value is None else f"{name} {next(iter(value.values()))!r}")
    return ", ".join(shown)


def _add_event(entity: EntityMap, event: EntityMap, item: Item) -> Action:
    def on_failure(current: Item | None) -> Verdict:
        reason = (
            f"this event already exists: a {entity.name} with the same key, which was deleted, may "
            f"have left it; add the time of the write to the key of {event.name}"
        )
        return rejection(AlreadyExists, event, event.table.key(item), current, reason)

    return Action("Put", event.table, put_if_absent(event.table, item), on_failure)


def _count(child: EntityMap, change: CounterChange) -> Action:
    """Return the action that changes a counter of a parent."""
    counter, key = change.counter, change.key
    parent = counter.parent

    def on_failure(_: Item | None) -> Verdict:
        reason = (
            f"it does not exist, and {counter.name} counts the {child.name}; create the "
            f"{parent.name} first, or in the same transaction"
        )
        return rejection(NotFound, parent, key, None, reason)

    amounts = {counter.attribute.stored: change.amount}
    return Action(
        "Update",
        parent.table,
        {"Key": key},
        on_failure,
        is_optional=not change.needs_parent,
        counters=Counters(parent, amounts, is_alone=True, needs_parent=change.needs_parent),
    )


# -- requests -------------------------------------------------------------------------------------


def send_one(action: Action, context: Context, returns: str) -> Steps[Item | None]:
    """Send one action as a request of its own; return the attributes that it returns."""
    if action.kind == "ConditionCheck":
        yield from send_transaction([action], context)
        return None
    body = _body(action, context)
    if returns == "NONE":
        yield Request(f"{action.kind}Item", body)
        return None
    body["ReturnValues"] = returns
    answer = yield Request(f"{action.kind}Item", body)
    attributes: Item | None = msgspec.json.decode(answer).get("Attributes")
    return attributes


def send_transaction(actions: list[Action], context: Context) -> Steps[None]:
    """Send actions as one transaction.

    If a sentinel belongs to another entity, an optional action on it is removed from the list, and
    the others are sent again. If a parent whose counters change does not exist, they are sent again
    with a check that it does not.
    """
    while True:
        items = [{action.kind: _body(action, context)} for action in actions]
        try:
            yield Request("TransactWriteItems", {"TransactItems": items})
        except TransactionCanceledException as fault:
            foreign = {
                position
                for position, reason in enumerate(fault.reasons)
                if reason["Code"] == CONDITION_FAILED and actions[position].is_optional
            }
            if not foreign:
                raise
            actions[:] = [
                each if at not in foreign else _require_absent(each)
                for at, each in enumerate(actions)
                if at not in foreign or each.only_counts
            ]
        else:
            return


def send_or_retry(actions: list[Action], context: Context) -> Steps[None]:
    """Send actions as one request; raise RetryWrite if an item has changed since it was read."""
    actions = merge(actions)
    try:
        if len(actions) == 1:
            yield from send_one(actions[0], context, "NONE")
        else:
            yield from send_transaction(actions, context)
    except ConditionalCheckFailedException as fault:
        verdict = actions[0].verdict(fault.item)
    except TransactionCanceledException as fault:
        verdict, _ = verdict_of(actions, fault)
    else:
        return
    if isinstance(verdict, WriteRejected):
        raise verdict from None
    raise RetryWrite from None


def _body(action: Action, context: Context) -> dict[str, Any]:
    action.require_reserved(context)
    body = {"TableName": context.name_of(action.table), **action.body}
    if action.owners is not None:
        expressions = WriteExpressions()
        expressions.require_owned(action.table, action.owners)
        expressions.add_to(body)
    if action.only_counts:
        expressions = WriteExpressions()
        expressions.require_exists(action.table)
        expressions.add_to(body)
    if action.counters is not None:
        action.counters.render(body)
    if "ConditionExpression" in body:
        body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return body


def _merge_counters(actions: list[Action]) -> list[Action]:
    """Make one action of all changes of the counters of one parent, and of its own write."""
    own = (action for action in actions if not action.only_counts)
    # An item that is written and linked to, too: the write, which leaves the link out.
    targets = {each.identity: each for each in sorted(own, key=lambda each: not each.is_link)}
    merged = []
    for action in actions:
        if action.only_counts:
            counters = action.counters
            assert counters is not None
            target = targets.get(action.identity)
            if target is None:
                action = replace(action, counters=replace(counters, amounts={**counters.amounts}))
                targets[action.identity] = action
            else:
                _count_with(target, action, counters)
                continue
        merged.append(action)
    return merged


def _count_with(target: Action, action: Action, counters: Counters) -> None:
    """Change counters together with another action on the same parent."""
    if target.only_counts and target.counters is not None:
        if target.is_optional and not action.is_optional:
            target.is_optional, target.write = False, action.write
            target.on_failure = action.on_failure
        target.counters.add(counters)
    elif target.kind == "Put":
        add_to_item(counters, target.body["Item"])
    elif not target.requires_absence:
        if target.counters is None:
            target.counters = Counters(counters.entity, {})
        if target.kind == "ConditionCheck":
            target.kind, target.is_link = "Update", False
        target.counters.add(counters)


def _require_absent(action: Action) -> Action:
    """Return the check that the parent of an action on counters does not exist."""
    expressions = WriteExpressions()
    expressions.require_not_exists(action.table)
    body = expressions.add_to({"Key": action.key})
    return Action("ConditionCheck", action.table, body, always_retry, write=action.write)


def merge(actions: list[Action]) -> list[Action]:
    """Make one action of those on one item, which DynamoDB requires.

    They are on a sentinel that one write releases and another releases or reserves: the guard on
    the entity that releases it keeps this safe. Or they change the counters of one parent.
    """
    if any(action.counters is not None for action in actions):
        actions = _merge_counters(actions)
    actions = merge_links(actions)
    sentinels = [action for action in actions if action.owners is not None]
    remaining = {action.identity: action for action in sentinels if action.kind == "Put"}
    merged = set[int]()
    for action in sentinels:
        if action.kind == "Delete":
            other = remaining.setdefault(action.identity, action)
            if other is not action:
                other.owners = [*(other.owners or ()), *(action.owners or ())]
                merged.add(id(action))
    return [action for action in actions if id(action) not in merged]


def verdict_of(actions: list[Action], fault: TransactionCanceledException) -> tuple[Verdict, int]:
    """Return what a cancelled transaction means, and the position of the action that failed.

    If an item has changed since it was read, the other failures may follow from that alone: so
    the write is tried again before any error is raised.
    """
    errors: list[tuple[Verdict, int]] = []
    for position, reason in enumerate(fault.reasons):
        code = reason["Code"]
        if code == CONDITION_FAILED:
            verdict = actions[position].verdict(reason.get("Item"))
            if verdict is None:
                return None, position
            errors.append((verdict, position))
        elif code in TRANSIENT:
            return None, position
    if not errors:
        raise fault
    return errors[0]


# -- as many rows as fit into one transaction -----------------------------------------------------


def joined(*groups: Sequence[Action]) -> list[Action]:
    return [action for group in groups for action in group]


def fit(*groups: Sequence[Action]) -> bool:
    """Return whether the actions fit into one transaction."""
    actions = joined(*groups)
    if len(actions) > MAX_TRANSACTION_ACTIONS and any(each.only_counts for each in actions):
        counted = {each.identity for each in actions if each.only_counts}
        actions = [each for each in actions if not each.only_counts]
        if len(actions) + len(counted) > MAX_TRANSACTION_ACTIONS:
            return False
    return (
        len(actions) <= MAX_TRANSACTION_ACTIONS
        and transaction_size(actions) <= MAX_TRANSACTION_SIZE
    )


def take_fitting(groups: list[list[Action]], *others: Sequence[Action]) -> list[list[Action]]:
    """Remove and return the first groups, as many as fit into one transaction with others.

    DynamoDB allows one action on an item: a row that reserves the sentinel of another one is left
    for the next transaction, which reports it. Changes of the counters of one parent are merged.
    """
    taken = [groups.pop(0)]
    seen = {action.identity for action in joined(*others, *taken) if not action.is_shared}
    while groups and fit(*others, *taken, groups[0]):
        identities = {action.identity for action in groups[0] if not action.is_shared}
        if not seen.isdisjoint(identities):
            break
        seen |= identities
        taken.append(groups.pop(0))
    return taken


def transaction_size(actions: Sequence[Action]) -> int:
    """Return the bytes of the items that actions put and delete, as far as they are known."""
    items = [action.body.get("Item") or action.deleted for action in actions]
    return sum(item_size(item) for item in items if item is not None)
