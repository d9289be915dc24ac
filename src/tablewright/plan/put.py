"""Put and create: a whole entity.

    put(order)      writes it, whether it is there or not
    create(order)   fails with AlreadyExists if it is there

Both give the entity back as it was written, and set what the library counts (version, stamps) on
the instance. A versioned entity is only replaced by a writer that has read its last version.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from tablewright.errors import AlreadyExists, DeclarationError
from tablewright.mapping.entity import EntityMap, Values
from tablewright.plan.condition import Condition
from tablewright.plan.get import decode_got
from tablewright.plan.guard import (
    Conditions,
    failed_condition,
    read_from,
    refusal,
    stale,
    version_read,
)
from tablewright.plan.keeping import event_actions, sentinel_actions
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plan.shape import Shape, key_condition, key_template, write_units
from tablewright.plan.write import Action, Prepared, Verdict, Write
from tablewright.symbol import Symbol
from tablewright.values import Item

E = TypeVar("E")


class IsEntity(Protocol):
    """An instance of an entity's class; this layer does not know the class itself."""

    __entity__: ClassVar[EntityMap]


Stored = TypeVar("Stored", bound=IsEntity)


def entity_of(instance: Any) -> EntityMap:
    """The compiled entity of an instance."""
    entity = getattr(type(instance), "__entity__", None)
    if not isinstance(entity, EntityMap):
        raise DeclarationError(f"{instance!r} is not an entity")
    return entity


def read_stored(context: Context, entity: EntityMap, key: Item) -> Steps[Item | None]:
    """The item as it is now."""
    body = {"TableName": context.name_of(entity.table), "Key": key, "ConsistentRead": True}
    return decode_got((yield Request("GetItem", body))).item


class Whole(Write[E], Generic[E]):
    """A write of a whole entity."""

    #: Whether what it replaces matters.
    _reads = False

    def __init__(self, instance: E) -> None:
        self._instance = instance
        self._entity = entity_of(instance)

    def _written(self, values: Values) -> E:
        """The instance, with what the library counts as it was written."""
        entity = self._entity
        for attribute in (entity.version, entity.updated_at):
            if attribute is not None:
                vars(self._instance)[attribute.name] = values[attribute.name]
        return self._instance

    def _shape(self) -> Shape:
        """The shape of a write of a whole entity; its condition is what is known of the key."""
        entity = self._entity
        values = vars(self._instance)
        known = not any(isinstance(values[name], Symbol) for name in entity.primary.depends_on)
        read_first = self._reads and bool(entity.uniques or entity.histories)
        several = bool(entity.uniques)
        return Shape(
            operation="TransactWriteItems" if several else "PutItem",
            table=entity.table.name,
            entity=entity.name,
            index=", ".join(key.index.name for key in entity.indexes if key.index) or None,
            condition=key_condition(entity.key_of(values)) if known else key_template(entity),
            page=str(1 + len(entity.uniques)),
            read_units=1 if read_first else 0,
            write_units=write_units(
                entity,
                index_entries=len(entity.indexes),
                others=len(entity.uniques),
                transaction=several,
            ),
        )


class Put(Whole[E], Generic[E]):
    """Write an entity, whether it is there or not."""

    _verb = "put"
    _reads = True
    _by: Any = None
    _reason: Any = None

    def condition(self, condition: Condition[E]) -> Self:
        """Only if this holds for what is stored now."""
        return self._expecting(condition)

    def audit(self, *, by: Any = None, reason: Any = None) -> Self:
        """Who changes it and why, for the history of the entity."""
        return self._replace(_by=by, _reason=reason)

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, values = self._entity, dict(vars(self._instance))
        now = context.clock()
        version: Any = None if entity.version is None else values[entity.version.name]
        if entity.version is not None:
            values[entity.version.name] = version + 1
        if entity.updated_at is not None:
            values[entity.updated_at.name] = now
        item = entity.encode(values)
        key = entity.table.key(item)
        guards = version_read(entity, version)
        old: Values | None = None
        # An entity that was never stored replaces none: its version says so.
        if (entity.uniques or entity.histories) and version != 0:
            stored = yield from read_stored(context, entity, key)
            old = None if stored is None else entity.values(stored)
            guards |= read_from(stored, self._guarded())
        conditions = Conditions()
        conditions.still(guards)
        conditions.take(self._conditions)

        def failed(current: Item | None) -> Verdict:
            refused = stale(entity, key, current, version)
            if refused is not None:
                return refused
            if read_from(current, guards) != guards:
                return None
            return failed_condition(entity, key, current, self._conditions)

        actions = [Action("Put", entity.table, conditions.into({"Item": item}), failed)]
        actions += sentinel_actions(entity, old, values, key)
        if old is not None:
            actions += event_actions(entity, old, values, at=now, by=self._by, reason=self._reason)
        return Prepared(actions, lambda _: self._written(values))

    def _guarded(self) -> set[str]:
        """The attributes that must not change between the read and the write: the key's first
        attribute stands for whether it is there."""
        entity = self._entity
        names = {history.attribute for history in entity.histories}
        for unique in entity.uniques:
            names |= unique.key.depends_on | {kept.name for kept in unique.keeps}
        stored = {entity.attributes[name].stored for name in names}
        return stored | {entity.table.attributes[0]}


class Create(Whole[E], Generic[E]):
    """Write an entity that is not there yet."""

    _verb = "create"

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, values = self._entity, dict(vars(self._instance))
        if entity.updated_at is not None:
            values[entity.updated_at.name] = context.clock()
        if entity.version is not None:
            values[entity.version.name] = 1
        item = entity.encode(values)
        key = entity.table.key(item)
        conditions = Conditions()
        conditions.not_exists(entity.table)

        def failed(current: Item | None) -> Verdict:
            return refusal(AlreadyExists, entity, key, current, "it exists already")

        actions = [Action("Put", entity.table, conditions.into({"Item": item}), failed)]
        actions += sentinel_actions(entity, None, values, key)
        yield from ()  # it has nothing to read
        return Prepared(actions, lambda _: self._written(values))


def put(instance: Stored) -> Put[Stored]:
    """Write an entity, whether it is there or not."""
    return Put(instance)


def create(instance: Stored) -> Create[Stored]:
    """Write an entity; AlreadyExists if it is there."""
    return Create(instance)
