"""Once: a write with a record of its result, so that it is applied once.

    Once(create(order), Answer.__entity__, {"idempotency_key": "k1"}, remember)

    read the record    it exists: it is the result, and nothing is written
    commit             the actions of the write and the put of the record: all of them, or none
    rejected           read the record again: another caller with the same key may have been faster

`remember` makes the record from the results of the writes. The record is part of their transaction,
so these results are computed from what the writes read, before they are sent: an update reads its
item first. A record that has expired counts as absent, because DynamoDB deletes it later.

This module must not know what a record is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from tablewright.errors import WriteRejected
from tablewright.mapping.entity import EntityMap
from tablewright.plan import facts
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.single import read_item
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Prepared
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.several import Transaction, transaction_shape
from tablewright.plan.writes.write import Write, commit, write_shape
from tablewright.values import Item

#: Makes the record, an instance of its entity, from the entities that the writes leave behind.
Remember = Callable[[Sequence[Any]], Any]


class Once(Plan[Any]):
    """Apply a write unless its record exists; return the record.

    Return None if the only write finds nothing to do, such as the delete of a missing item.
    """

    def __init__(
        self, plan: Plan[Any], record: EntityMap, values: Mapping[str, Any], remember: Remember
    ) -> None:
        writes = (*plan._writes, *plan._checks) if isinstance(plan, Transaction) else (plan,)
        self._writes = tuple(each._reading() for each in writes if isinstance(each, Write))
        self._pattern = plan._pattern
        self._record = record
        #: The attributes of which the key of the record consists.
        self._values = values
        self._remember = remember

    def _steps(self, context: Context) -> Steps[Any]:
        found, is_expired = yield from self._read(context)
        if found is not None and not is_expired:
            return found
        record = _RecordWrite(self._record, self._remember, replaces=is_expired)
        try:
            results = yield from commit((*self._writes, record), context)
        except WriteRejected:
            found, is_expired = yield from self._read(context)
            if found is None or is_expired:
                raise
            return found
        return results[-1]

    def _read(self, context: Context) -> Steps[tuple[Any, bool]]:
        """Return the record, and whether it has expired."""
        entity = self._record
        item = yield from read_item(context, entity, entity.key_of(self._values))
        if item is None:
            return None, False
        found, ends = entity.decode(item), entity.ttl
        return found, ends is not None and vars(found)[ends.name] <= context.clock()

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys((*(each._entity for each in self._writes), self._record)))

    def _shape(self) -> Shape:
        record = _RecordWrite(self._record, self._remember, replaces=False)
        whole = transaction_shape([each._shape() for each in (record, *self._writes)])
        return replace(whole, write_range=replace(whole.write_range, low=0))


class _RecordWrite(Write[Any, Any]):
    """The put of the record of the writes before it in a transaction."""

    _verb = "create"

    def __init__(self, entity: EntityMap, remember: Remember, *, replaces: bool) -> None:
        self._entity = entity
        self._remember = remember
        #: Whether there is a record that has expired.
        self._replaces = replaces

    def _prepare_after(
        self, earlier: Sequence[Prepared], context: Context, attempt: int, *, alone: bool
    ) -> Steps[Prepared]:
        if len(earlier) == 1 and not earlier[0].actions:
            return Prepared([], lambda _: None)
        instance = self._remember([_left_by(each) for each in earlier])
        write: Write[Any] = Create(instance)
        if self._replaces and self._entity.ttl is not None:
            ends: Ref[Any, Any] = Ref(self._entity.ttl.name, self._entity.ttl)
            write = Put(instance).condition(ends <= context.clock())
        return (yield from write._prepare(context, attempt, alone=alone))

    def _shape(self) -> Shape:
        entity = self._entity
        return write_shape(
            entity,
            "PutItem",
            entity.primary.symbolic(),
            reads=True,
            indexes=entity.index_keys,
            sets=[facts.EveryAttribute()],
            requires=[facts.Absent()],
        )


def _left_by(prepared: Prepared) -> Any:
    """Return the entity that a write leaves behind; None if there is none."""
    effect = prepared.effects[0] if prepared.effects else None
    new: Item | None = None if effect is None else effect.new
    return None if effect is None or new is None else effect.entity.decode(new)
