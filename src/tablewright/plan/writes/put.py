"""Put and create: write a whole entity.

    put(order)      whether it exists or not
    create(order)   AlreadyExists if it exists

Both return the entity as it was written, and set what the library maintains (version, `updated_at`,
counters) on the instance. A versioned entity is replaced only by a writer that has read its last
version. The counters of a new entity begin at zero, and those of a replaced one stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, Literal, Self, TypeVar

from msgspec.structs import replace

from tablewright.errors import AlreadyExists, ConditionFailed, DeclarationError, InvalidValue
from tablewright.mapping.attributes import AttributeMap, HistoryMap
from tablewright.mapping.counters import counters_of
from tablewright.mapping.entity import Values
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan import facts
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import read_item
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Action, Prepared, Verdict, side_actions
from tablewright.plan.writes.counter_shapes import counter_shapes
from tablewright.plan.writes.counting import keep_counters
from tablewright.plan.writes.effect import WriteEffect, affected_by_all, read_values, write_effect
from tablewright.plan.writes.guard import (
    EXISTS,
    Guard,
    may_become,
    of_another_kind,
    put_if_absent,
    rejection,
)
from tablewright.plan.writes.linking import link_shapes
from tablewright.plan.writes.returning import ReturningOld, returning
from tablewright.plan.writes.write import (
    Rewritable,
    Rewrite,
    Stored,
    Write,
    composed,
    entity_of,
    refuse_write_once,
    side_shapes,
    write_shape,
    write_units,
)
from tablewright.symbol import Argument, AttributeOf, Symbol, expressed
from tablewright.values import Item

E = TypeVar("E")


class EntityWrite(Write[E, E], Generic[E]):
    """A write of a whole entity."""

    #: The values of stamps that the caller gives, by role.
    _stamps: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, instance: E) -> None:
        self._instance = instance
        self._entity = entity_of(instance)

    @property
    def _key(self) -> Item:  # type: ignore[override]  # what the instance has when it is run
        return self._entity.stored_key(self._instance)

    def stamps(
        self,
        *,
        created_at: datetime | None = None,
        updated_at: datetime | None = None,
        version: int | None = None,
    ) -> Self:
        """Write these values instead of those that the library sets: for data of another store."""
        given: dict[str, Any] = {
            "created_at": created_at,
            "updated_at": updated_at,
            "version": version,
        }
        stamps = {role: value for role, value in given.items() if value is not None}
        declared = {stamp.role: stamp for stamp in self._entity.stamps}
        for role, value in stamps.items():
            stamp = declared.get(role)  # type: ignore[call-overload]
            if stamp is None:
                raise DeclarationError(f"{self._entity.name} has no {role}() to write")
            if isinstance(value, Symbol):
                continue
            stamp.converter.encode(stamp.fit(value))  # raises InvalidValue
            if role == "version" and value < 1:
                raise InvalidValue(f"{self._entity.name}: stamps(version={value}): at least 1")
        return self._replace(_stamps={**self._stamps, **stamps})

    def _values(self, version: Any, at: datetime) -> Values:
        """Return the values to write, with the version and timestamps."""
        values = dict(vars(self._instance))
        if self._entity.stamps:
            made = {"version": version, "updated_at": at, **self._stamps}
            for stamp in self._entity.stamps:
                if stamp.role in made:
                    values[stamp.name] = stamp.fit(made[stamp.role])
            if self._entity.maintained:
                counters_of(self._entity)  # raises if what they count is not declared
                values |= {each.name: self._zero(each) for each in self._entity.maintained}
        return values

    @staticmethod
    def _zero(counter: AttributeMap) -> Any:
        return counter.converter.kind(0)

    def _prepared(self, effect: WriteEffect, own: Action) -> Prepared:
        def result(_: Item | None) -> E:
            """Return the instance, with its version and timestamps as they were written."""
            values = effect.values
            if self._entity.maintained:  # with what the transaction has added
                names = [each.name for each in self._entity.maintained]
                values = values | read_values(self._entity, effect.new or {}, names)
            for stamp in self._entity.stamps:
                vars(self._instance)[stamp.name] = values[stamp.name]
            self._entity.tracking.remember(self._instance, effect.new or {})
            return self._instance

        return Prepared([own, *side_actions(effect)], result, (effect,))

    def _shape_of_write(
        self,
        requires: Sequence[facts.Requirement],
        sides: Sequence[Shape],
        *,
        reads: bool = False,
        events: Sequence[HistoryMap] = (),
    ) -> Shape:
        entity, values = self._entity, vars(self._instance)
        is_argument = all(_is_attribute(values[name], name) for name in entity.primary.depends_on)
        # With an event, the item is written in a transaction, too.
        twice = 0 if sides else write_units(entity)
        optional = side_shapes(entity, events, "Put")
        written = [
            facts.WrittenEvent(each, twice + shape.write_units)
            for each, shape in zip(events, optional, strict=True)
        ]
        return write_shape(
            entity,
            "PutItem",
            entity.primary.symbolic() if is_argument else KeyCondition(entity.key_of(values)),
            reads=reads,
            indexes=entity.index_keys,
            conditions=self._conditions,
            sets=[facts.EveryAttribute(), *composed(entity.index_keys), *written],
            requires=requires,
            sides=sides,
            optional=optional,
        )


def _is_attribute(value: Any, name: str) -> bool:
    """Return whether a value is this attribute of an entity that a traced pattern takes.

    Those of a list of entities are not: their keys say so, `{visits[].at}`.
    """
    match Symbol.expression(value) if isinstance(value, Symbol) else None:
        case AttributeOf(owner=Argument(), name=found):
            return found == name
    return False


# The key of an entity is computed, that of other writes is given.
class Put(EntityWrite[E], Rewrite[E, E], Generic[E]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Write an entity, whether it exists or not."""

    _verb = "put"

    def __init__(self, instance: E) -> None:
        super().__init__(instance)
        refuse_write_once(self._entity, self._verb)

    def returning(self, values: Literal["old"]) -> ReturningOld[E | None]:
        """Return what was replaced; None if nothing was."""
        return returning(self, values)  # type: ignore[no-any-return]

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, audit = self._entity, self._audit(context)
        version = self._version
        values = self._values(None if version is None else version + 1, audit.at)
        new = entity.stored_item(self._instance, values)
        key = entity.table.key(new)
        old: Item | None = None
        reads = self._reads
        if reads:
            old = yield from read_item(context, entity, key)
            other = of_another_kind(ConditionFailed, entity, key, old)
            if other is not None:
                raise other
        if entity.maintained:
            keep_counters(entity, new, old)
        effect = write_effect(entity, key, old, new, values, affected_by_all(entity), audit)
        guard = Guard(
            entity, key, self._requirements(reads), old, new=new, other_kind=ConditionFailed
        )
        body = guard.expressions().add_to({"Item": new})
        prepared = self._prepared(effect, Action("Put", entity.table, body, guard.verdict))
        if not self._returns_old:
            return prepared

        def replaced(returned: Item | None) -> E | None:
            prepared.result(returned)  # the instance gets its version and timestamps
            item = returned or old
            return None if item is None else entity.decode(item)

        return replace(prepared, result=replaced, returns="ALL_OLD")

    @property
    def _version(self) -> Any:
        """The version that the caller has read; None if the entity is not versioned."""
        version = self._entity.version
        return None if version is None else vars(self._instance)[version.name]

    @property
    def _reads(self) -> bool:
        """Whether it reads the item that it replaces, which decides on the side items.

        Version 0 says that the entity was never stored, so that it replaces nothing.
        """
        affected = affected_by_all(self._entity)
        if self._reads_old or affected.counters or self._entity.maintained:
            return True
        return affected.has_side_items and expressed(self._version) != 0

    def _requirements(self, reads: bool) -> list[facts.Requirement]:
        """Return what must hold of the stored item."""
        entity, guards = self._entity, list[facts.Requirement]()
        if reads and self._returns_old:
            guards.append(facts.Unchanged())
        if entity.version is not None:
            guards.append(facts.OfVersion(entity.version.name, expressed(self._version)))
        if reads and not self._returns_old:
            names = {*affected_by_all(entity).side_sources}.union(
                each.name for each in entity.maintained
            )
            guards.append(facts.Unchanged("it", tuple(sorted(names))))
        guards += [
            may_become(each, expressed(vars(self._instance)[each.name])) for each in entity.stateful
        ]
        guards += self._conditions
        return guards

    def _shape(self) -> Shape:
        entity, reads = self._entity, self._reads
        sides = [
            *side_shapes(entity, entity.uniques, "Put"),
            # Of an item that is replaced, if its values differ.
            *side_shapes(entity, entity.uniques, "Delete", is_typical=False),
            *(counter_shapes(entity.counted) if entity.counted else ()),
            *link_shapes(entity.links),
        ]
        requires = self._requirements(reads)
        return self._shape_of_write(requires, sides, reads=reads, events=entity.histories)


class Create(EntityWrite[E], Generic[E]):
    """Write an entity that does not exist yet."""

    _verb = "create"

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity = self._entity
        values = self._values(1, context.clock())
        new = entity.stored_item(self._instance, values)
        key = entity.table.key(new)
        effect = write_effect(entity, key, None, new, values, affected_by_all(entity))

        def on_failure(current: Item | None) -> Verdict:
            return rejection(AlreadyExists, entity, key, current, EXISTS)

        yield from ()  # it has nothing to read
        body = put_if_absent(entity.table, new)
        return self._prepared(effect, Action("Put", entity.table, body, on_failure))

    def _shape(self) -> Shape:
        entity = self._entity
        sides = [
            *side_shapes(entity, entity.uniques, "Put", may_be_own=False),
            *link_shapes(entity.links),
        ]
        if entity.counted:
            sides += counter_shapes(entity.counted, is_new=True)
        return self._shape_of_write([facts.Absent()], sides)


def put(instance: Rewritable) -> Put[Rewritable]:
    """Write an entity, whether it exists or not."""
    return Put(instance)


def create(instance: Stored) -> Create[Stored]:
    """Write an entity; AlreadyExists if it exists."""
    return Create(instance)
