"""Save: write what has changed in an entity since it was read or written.

    order = db.run(Order.primary("C1", "O1"))
    order.status = PAID
    order.lines.append("gift wrap")
    db.run(save(order))          # an update that sets these two attributes, and their index keys

The difference is found when the plan is run, and becomes an `Update` of the entity as it was: with
its version, index keys, unique values and history. A changed attribute of the key makes it a move.
If nothing has changed, nothing is sent but a check of the conditions, if there are any.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from tablewright.errors import InvalidValue
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.change import Change
from tablewright.plan.facts import NOTHING, Actions, Repeats
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import key_from
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Prepared
from tablewright.plan.writes.move import Move, update
from tablewright.plan.writes.several import ConditionCheck
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import Rewritable, Rewrite, entity_of, refuse_write_once
from tablewright.symbol import Symbol
from tablewright.values import Item
from tablewright.wire.operations import READS

E = TypeVar("E")


class Save(Rewrite[E, E], Generic[E]):
    """Write what has changed in an entity; returns the entity."""

    _verb = "save"

    def __init__(self, instance: E) -> None:
        self._instance = instance
        self._entity = entity_of(instance)
        refuse_write_once(self._entity, self._verb)
        if not self._is_symbolic:
            self._update()  # raises what is known before it is run

    @property
    def _is_symbolic(self) -> bool:
        """Whether it is part of a pattern that is traced."""
        return any(isinstance(value, Symbol) for value in vars(self._instance).values())

    def _update(self) -> Update[E] | None:
        """Return the update of the entity as it was; None if nothing has changed."""
        entity = self._entity
        before = entity.as_stored(self._instance)
        if before is None:
            raise InvalidValue(
                f"save({entity.name}): this entity was not read from the table, so what has "
                "changed is not known; use create(…) or put(…)"
            )
        changes = _differences(entity, vars(before), vars(self._instance))
        if not changes:
            return None
        return update(before, *changes)._replace(
            _conditions=self._conditions, _by=self._by, _reason=self._reason
        )

    @property
    def _key(self) -> Item:  # type: ignore[override]  # of what the entity was
        before = self._entity.as_stored(self._instance)
        return self._entity.stored_key(self._instance if before is None else before)

    def _check(self) -> ConditionCheck[E]:
        """Return the check of the conditions, for an entity that has not changed."""
        return ConditionCheck(self._entity, self._key, self._conditions)

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        update, instance = self._update(), self._instance
        if update is None:
            if not self._conditions:
                return Prepared([], lambda _: instance)
            checked = yield from self._check()._prepare(context, attempt, alone=alone)
            return replace(checked, result=lambda _: instance)
        prepared = yield from update._prepare(context, attempt, alone=alone)
        make = prepared.result

        def result(returned: Item | None) -> E:
            self._entity.tracking.take_over(instance, make(returned))
            return instance

        return replace(prepared, result=result)

    def _shape(self) -> Shape:
        entity = self._entity
        if self._is_symbolic:  # at most, it is a move
            key = key_from(entity.primary, entity.key_arguments(self._instance))
            whole = Move(entity, key, {}, ())._shape()
            check = [self._check()._shape()] if self._conditions else []
            own = replace(
                whole,
                operation="UpdateItem",
                extent=Actions(None, Repeats.WHAT_HAS_CHANGED),
                steps=(),
                branches=(whole, *check),
                read_units=0,
                read_range=NOTHING,
                write_range=replace(whole.write_range, low=0),
            )
            reads = takewhile(lambda step: step.operation in READS, whole.steps)
            return replace(
                own,
                steps=(*reads, own),
                read_units=whole.read_units,
                read_range=replace(whole.read_range, low=0),
            )
        update = self._update()
        if update is not None:
            return update._shape()
        if self._conditions:
            return self._check()._shape()
        keys = (KeyCondition(entity.stored_key(self._instance)),)
        return Shape("no request", (entity.table,), (entity,), keys=keys, extent=Actions(0))


def _differences(
    entity: EntityMap, before: dict[str, Any], after: dict[str, Any]
) -> list[Change[Any]]:
    """Return the changes that turn the values `before` into `after`."""
    changes: list[Change[Any]] = []
    for name, attribute in entity.attributes.items():
        if not _is_same(attribute, before[name], after[name]):
            ref: Ref[Any, Any] = Ref(f"{entity.name}.{name}", attribute)
            changes.append(ref.set(after[name]))
    return changes


def _is_same(attribute: AttributeMap, before: Any, after: Any) -> bool:
    """Whether two values are equal, or are stored in the same way."""
    if before is after or before == after:
        return True
    if attribute.is_key_only or before is None or after is None:
        return False
    return attribute.store(before) == attribute.store(after)


def save(instance: Rewritable) -> Save[Rewritable]:
    """Write what has changed in an entity since it was read or written; nothing if nothing has."""
    return Save(instance)
