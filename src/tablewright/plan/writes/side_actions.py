"""Side actions: the actions that write the side items of an effect, and their errors."""

from __future__ import annotations

from tablewright.errors import AlreadyExists, UniqueViolation
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.plan.writes.action import Action, Verdict, always_retry
from tablewright.plan.writes.effect import WriteEffect
from tablewright.plan.writes.guard import put_if_absent, rejection
from tablewright.values import Item


def side_actions(effect: WriteEffect) -> list[Action]:
    """Return the actions that write the side items of an effect."""
    actions = []
    for side in effect.side_items:
        if side.new is None:
            actions.append(_release(effect.entity, side.old or {}))
        elif isinstance(side.declared, HistoryMap):
            actions.append(_add_event(effect.entity, side.declared.event, side.new))
        else:
            is_ours = side.old is not None
            actions.append(_reserve(effect, side.declared, side.new, is_ours=is_ours))
    return actions


def _release(entity: EntityMap, sentinel: Item) -> Action:
    body = {"Key": entity.table.key(sentinel)}
    return Action("Delete", entity.table, body, always_retry, is_sentinel=True)


def _reserve(effect: WriteEffect, unique: UniqueMap, sentinel: Item, *, is_ours: bool) -> Action:
    """Return the action that writes a sentinel; `is_ours`: the entity has reserved it before."""
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

    body = {"Item": sentinel} if is_ours else put_if_absent(entity.table, sentinel)
    return Action("Put", entity.table, body, on_failure, is_sentinel=True)


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
