"""Linking: what a write does about links: it requires that their targets exist.

    create(issue)    Put of the issue    +   ConditionCheck of its project: it exists, unmarked

The check is left out if another action of the transaction is on the same item; then that one
requires that the item is not marked (see `cascading.py`).

This module must not know the kinds of writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import DeclarationError, NotFound
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.links import BEING_DELETED, LinkMap
from tablewright.plan import facts
from tablewright.plan.shape import Shape
from tablewright.plan.writes.guard import WriteExpressions, rejection
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.plan.writes.action import Action, Verdict


def required_target(
    link: LinkMap, key: Item
) -> tuple[dict[str, Any], Callable[[Item | None], Verdict]]:
    """Return the body of the check that the target of a link exists, and what its failure means."""
    target = link.target

    def on_failure(item: Item | None) -> Verdict:
        reason = "it is being deleted, with what belongs to it"
        if item is None:
            reason = (
                f"it does not exist, and {link.name} needs it; create the {target.name} first, or "
                "in the same transaction"
            )
        return rejection(NotFound, target, key, item, reason)

    expressions = WriteExpressions()
    expressions.require_exists(target.table)
    if target.cascades:
        expressions.require_unchanged({BEING_DELETED: None})
    return expressions.add_to({"Key": key}), on_failure


def merge_links(actions: list[Action]) -> list[Action]:
    """Leave out checks of items that another action writes or checks: these exist afterwards."""
    if not any(action.is_link for action in actions):
        return actions
    # A link to what the same transaction deletes is left, and refused.
    seen = {each.identity: each for each in actions if not each.is_link and each.kind != "Delete"}
    kept = []
    for action in actions:
        if action.is_link:
            other = seen.setdefault(action.identity, action)
            if other is not action:
                _require_not_deleted(other, action)
                continue
        kept.append(action)
    return kept


def _require_not_deleted(action: Action, link: Action) -> None:
    """Let an action require what the check of a link requires: that its item is not deleted."""
    name = "#beingDeleted"
    names = action.body.get("ExpressionAttributeNames", {})
    if action.is_link or action.kind == "Put" or name in names:
        return
    if BEING_DELETED not in link.body.get("ExpressionAttributeNames", {}).values():
        return
    own, on_failure = action.body.get("ConditionExpression"), action.on_failure
    condition = f"attribute_not_exists({name})"
    action.body["ConditionExpression"] = f"({own}) AND {condition}" if own else condition
    action.body["ExpressionAttributeNames"] = {**names, name: BEING_DELETED}
    action.on_failure = lambda item: (
        link.on_failure(item) if item and BEING_DELETED in item else on_failure(item)
    )


# -- moves ----------------------------------------------------------------------------------------


def refuse_stranded(entity: EntityMap, moving: Collection[EntityMap]) -> None:
    """Raise DeclarationError if what belongs to an item that moves does not move with it."""
    for moved in (entity, *moving):
        for cascade in moved.cascades:
            if cascade.child not in moving:
                raise DeclarationError(
                    f"{entity.name}: an update cannot change its key, because each "
                    f"{cascade.child.name} ({cascade.name}) would stay with the old one; create "
                    "another, change what belongs to it, and delete this one"
                )


def without_link_to(key: Item, actions: list[Action]) -> list[Action]:
    """Leave out the check of an item that moves to this key after the rows below it."""
    return [action for action in actions if not (action.is_link and action.key == key)]


# -- the shape ------------------------------------------------------------------------------------


def link_shapes(links: Iterable[LinkMap]) -> list[Shape]:
    """Return the checks that the targets of links exist, each once."""
    targets = {(id(each.target), *sorted(each.sources.items())): each for each in links}
    return [
        Shape(
            "ConditionCheck",
            (link.target.table,),
            (link.target,),
            keys=(link.target.primary.symbolic(),),
            extent=facts.Actions(1),
            write_units=TRANSACTION_FACTOR,
            write_range=facts.UnitRange(0, facts.item_write(0).high * TRANSACTION_FACTOR),
            requirements=(facts.Exists(),),
        )
        for link in targets.values()
    ]
