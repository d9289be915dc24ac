"""Side actions: the actions that write the side items of an effect, and their errors."""

from __future__ import annotations

from collections.abc import Callable

from tablewright.errors import AlreadyExists, UniqueViolation
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.members import UniqueMap
from tablewright.plan.writes.action import Action, SentinelAction, Verdict, always_retry
from tablewright.plan.writes.effect import WriteEffect
from tablewright.plan.writes.guard import put_if_absent, rejection, snapshot
from tablewright.values import Item


def side_actions(effect: WriteEffect) -> list[Action]:
    """Return the actions that write the side items of an effect."""
    actions: list[Action] = []
    for side in effect.side_items:
        if isinstance(side.declared, UniqueMap):
            actions.append(_sentinel_action(effect, side.declared, side.old, side.new))
        elif side.new is not None:
            actions.append(_add_event(effect.entity, side.declared.event, side.new))
    return actions


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
    return SentinelAction(
        kind,
        table,
        body,
        always_retry if new is None else _on_violation(effect, unique, new),
        owners=[] if old is None else [snapshot(old, names), snapshot(None, names)],
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
        names = unique.key.depends_on
        error = rejection(UniqueViolation, entity, effect.key, None, reason)
        assert isinstance(error, UniqueViolation)
        error.attributes = tuple(sorted(names - entity.primary.depends_on or names))
        return error

    return on_failure


def _shown(entity: EntityMap, unique: UniqueMap, sentinel: Item) -> str:
    """Render the unique attributes, each with its value where the sentinel keeps it."""
    shown = []
    for name in sorted(unique.key.depends_on):
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
