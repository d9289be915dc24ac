"""Upsert: change named attributes of an item, and create the item if it does not exist.

    Counter.primary("x").upsert(Counter.hits.increment(1))
    upsert(Visit(page="x", first_seen=now), Visit.hits.increment(1))

An item that exists is changed as by an update. One that does not exist is created: from the
attributes of the key and the defaults, or from the given entity, with the changes applied.

Where this can be said in one request, it is one UpdateItem that works in both cases: it sets what
only a new item needs with `if_not_exists`. Otherwise the item is read first, and the write is an
update or a put, guarded by what was read. It must be read if

- index keys that change depend on stored values, or the write may need sentinels or events;
- an item that exists may lack what a new one gets: a sparse index, an optional value of the entity;
- a change starts from a default that is not zero or empty, or is inside of a document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Literal, Self, TypeVar

from tablewright.errors import ConditionFailed, DeclarationError, InvalidValue
from tablewright.mapping.attributes import STAMPS, AttributeMap, UniqueMap
from tablewright.mapping.entity import Values
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import AlternativeKeys, IndexKeys
from tablewright.mapping.variants import VariantsMap
from tablewright.plan.change import (
    EMPTY_LIST,
    ZERO,
    Change,
    EncodedChanges,
    Remove,
    RemoveFromSet,
    SetIfAbsent,
)
from tablewright.plan.facts import Requirement, Unchanged
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import read_item
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Action, Prepared, Verdict, side_actions
from tablewright.plan.writes.counter_shapes import counter_shapes
from tablewright.plan.writes.effect import Audit, affected_by_all, write_effect
from tablewright.plan.writes.guard import Guard, refuse_base
from tablewright.plan.writes.linking import link_shapes
from tablewright.plan.writes.returning import ReturningOld, returning
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import (
    Rewritable,
    composed,
    entity_of,
    side_shapes,
    write_shape,
)
from tablewright.symbol import Symbol
from tablewright.values import Item

E = TypeVar("E")


class Upsert(Update[E, E | None], Generic[E]):
    """Change attributes of an item, or create it with them; returns the entity after that."""

    _verb = "upsert"

    def returning(  # type: ignore[override]  # there may have been none
        self, values: Literal["old"]
    ) -> ReturningOld[E | None]:
        """Return the entity as it was before the changes; None if it was created."""
        return returning(self, values)  # type: ignore[no-any-return]

    def _check(self) -> None:
        entity = self._entity
        if not self._changes:
            raise InvalidValue(f"{entity.name}: upsert() needs at least one change")
        if isinstance(entity, VariantsMap):  # which kind would it create?
            refuse_base(entity, self._verb)
        super()._check()
        for change in self._changes:
            if change.name in entity.primary.depends_on:
                raise InvalidValue(
                    f"{entity.name}.{change.name} is part of the key, which upsert() cannot "
                    "change; move the item with update()"
                )
            if change.attribute.is_key_only:
                raise InvalidValue(
                    f"{entity.name}.{change.name} is stored only inside keys, which upsert() "
                    "cannot change; use update()"
                )
        self._whole = {
            each.name: each for each in self._changes if len(each.operand.stored_path) == 1
        }
        self._check_values()

    def _check_values(self) -> None:
        """Raise DeclarationError if a created item would lack required attributes."""
        entity = self._entity
        missing = [
            name
            for name, attribute in entity.attributes.items()
            if attribute.role not in STAMPS
            and self._start(attribute) is None
            and not attribute.converter.optional
            and attribute.converter.empty is None
            and isinstance(self._whole.get(name), (Remove, RemoveFromSet, type(None)))
        ]
        if missing:
            names = ", ".join(f"{entity.name}.{name}" for name in missing)
            raise DeclarationError(
                f"upsert(): {names} would have no value in an item that it creates; change it, "
                f"give it a default, or pass an entity: upsert({entity.name}(…), …)"
            )

    # -- what a created item has -------------------------------------------------------------

    def _start(self, attribute: AttributeMap) -> Any:
        """Return the value that an attribute of a created item has before the changes, or None."""
        if isinstance(self._whole.get(attribute.name), SetIfAbsent):
            return None  # the change says what it starts with
        if attribute.role == "counter":
            return attribute.converter.kind(0)
        if attribute.name in self._known:
            return self._known[attribute.name]
        if self._instance is not None:
            return vars(self._instance)[attribute.name]
        return None if attribute.default is None else attribute.default()

    def _created(self, changes: EncodedChanges, at: datetime) -> tuple[Item, Values]:
        """Return the item that is created if there is none, and its values."""
        entity = self._entity
        values = {
            name: at if attribute.role == "created_at" else self._start(attribute)
            for name, attribute in entity.attributes.items()
            if attribute.role not in ("version", "updated_at")
        }
        start = dict(self._key)
        for name, value in values.items():
            attribute = entity.attributes[name]
            stored = None if attribute.is_key_only or value is None else attribute.store(value)
            if stored is not None:
                start[attribute.stored] = stored
        made = [each for each in changes if each[0].condition is None or _holds(each[0], start)]
        after = entity.values(self._apply(made, start))
        after |= {name: values[name] for name in values if entity.attributes[name].is_key_only}
        return entity.encode(after) | self._key, after

    # -- whether the item must be read -------------------------------------------------------

    @cached_property
    def _reads(self) -> bool:
        entity = self._entity
        if entity.links or self._affected.has_side_items or self._needed() or self._reserved():
            return True
        if entity.counted or entity.maintained:  # a created item is counted, and begins at zero
            return True
        if any(len(change.operand.stored_path) > 1 for change in self._changes):
            return True
        attributes = self._entity.attributes.values()
        return (
            any(self._may_be_left(key) for key in self._other_indexes())
            or any(not self._is_neutral(change) for change in self._changes)
            or any(not self._is_as_absent(attribute) for attribute in attributes)
        )

    def _reading(self) -> Self:
        return super()._reading()._replace(_reads=True)

    def _reserved(self) -> list[UniqueMap]:
        """Return the unique values that a created item may have."""
        return [
            unique
            for unique in self._entity.uniques
            if not any(self._is_missing(name) for name in unique.key.part_names)
        ]

    def _is_missing(self, name: str) -> bool:
        """Whether a created item surely has no value of an attribute."""
        attribute = self._entity.attributes[name]
        change = self._whole.get(name)
        if attribute.role in STAMPS:
            return False
        if change is None or isinstance(change, RemoveFromSet):
            return self._start(attribute) is None
        return change.overwrites and change.value is None

    def _other_indexes(self) -> list[IndexKeys]:
        """Return the indexes that a created item may be in, and whose keys do not change."""
        return [
            key
            for key in self._entity.index_keys
            if key.composed
            and key not in self._affected.indexes
            and not any(self._is_missing(name) for name in _required(key))
        ]

    def _may_be_left(self, key: IndexKeys) -> bool:
        """Whether an item that exists may not be in an index that a created one is in."""
        if key.depends_on <= self._known.keys():
            return False
        return (
            isinstance(key, AlternativeKeys)
            or key.when is not None
            or any(part.notation.is_optional for part in key.parameters)
            or any(self._entity.attributes[name].converter.optional for name in key.depends_on)
        )

    def _is_neutral(self, change: Change[Any]) -> bool:
        """Whether a change has the same result for a created item as without the attribute."""
        if change.overwrites:
            return True
        start = self._start(change.attribute)
        if isinstance(start, Symbol):
            return False
        return start is None or change.attribute.store(start) in (None, ZERO, EMPTY_LIST)

    def _is_as_absent(self, attribute: AttributeMap) -> bool:
        """Whether an item without the attribute may get the value that a created one has."""
        if self._instance is None or attribute.name in self._whole:
            return True  # a default is what an absent attribute is read as
        optional = attribute.converter.optional or attribute.converter.empty is not None
        if attribute.role in STAMPS or not (optional or attribute.default is not None):
            return True  # every item has it
        value = vars(self._instance)[attribute.name]
        if isinstance(value, Symbol):
            return False
        absent = None if attribute.default is None else attribute.default()
        return attribute.store(value) == (None if absent is None else attribute.store(absent))

    # -- the write ---------------------------------------------------------------------------

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, audit = self._entity, self._audit(context)
        changes = self._encode(audit.at)
        if not self._reads and attempt == 0:
            return self._in_one_request(changes, audit)
        stored = yield from read_item(context, entity, self._key)
        if stored is None:
            return self._creation(changes, audit)
        self._guard_if_any(self._conditions).check(stored)
        return self._prepared(changes, stored, self._guard(stored, self._needed()), audit)

    def _in_one_request(self, changes: EncodedChanges, audit: Audit) -> Prepared:
        """Return the update that also creates the item."""
        entity = self._entity
        effect = self._effect(changes, None, audit)
        created, _ = self._created(changes, audit.at)
        fixed, guarded = self._index_attributes(created)
        guard = self._guard_if_any([*self._transitions(), *self._all_conditions()])
        expressions = guard.expressions()
        expressions.require_if_exists(entity.table, guarded)
        done = self._render(changes, created, expressions)
        update = expressions.update
        for name, value in created.items():
            if name not in self._key and name not in done:
                path, mark = update.marks.name(name), update.marks.value(value)
                update.set(path, mark if name in fixed else f"if_not_exists({path}, {mark})")
        body = expressions.add_to({"Key": self._key})
        existing = self._on_failure(guard)

        def on_failure(item: Item | None) -> Verdict:
            rejected = guard.rejected(item)
            if item is None or rejected is not None:
                return rejected or guard.verdict(item)
            if any(name not in item for name in guarded):
                return None  # read the item: it is not in an index where it should be
            return existing(item)

        action = Action("Update", entity.table, body, on_failure)
        if not self._returns_old:
            return Prepared([action], self._result, (effect,), "ALL_NEW")

        def result(old: Item | None) -> E | None:
            changed = {} if old is None else self._effect(changes, old, audit).new or {}
            return self._answer(old, created | changed)

        return Prepared([action], result, (effect,), "ALL_OLD")

    def _index_attributes(self, created: Item) -> tuple[set[str], list[str]]:
        """Return the index keys that follow from the item's key, and the others it is created with.

        An item that was stored before an index was declared has no keys of it. What they are then
        depends on the item; so the others are guarded.
        """
        fixed: set[str] = set()
        guarded: list[str] = []
        for key in self._other_indexes():
            if key.depends_on <= self._known.keys():
                fixed.update(key.composed)
            else:
                guarded += [name for name in key.composed if name in created]
        return fixed, guarded

    def _creation(self, changes: EncodedChanges, audit: Audit) -> Prepared:
        """Return the put of an item that does not exist."""
        entity, key = self._entity, self._key
        new, values = self._created(changes, audit.at)
        effect = write_effect(entity, key, None, new, values, affected_by_all(entity))
        guard = self._guard_if_any([Unchanged(), *self._conditions])
        body = guard.expressions().add_to({"Item": new})
        action = Action("Put", entity.table, body, guard.verdict)
        return Prepared(
            [action, *side_actions(effect)], lambda _: self._answer(None, new), (effect,)
        )

    @property
    def _version(self) -> Any:
        """None: the version of an instance does not count."""
        return None

    def _guard_if_any(self, requirements: Sequence[Requirement]) -> Guard:
        """Return the guard of a write of an item that need not exist."""
        return Guard(self._entity, self._key, requirements, other_kind=ConditionFailed)

    def _on_failure(self, guard: Guard) -> Callable[[Item | None], Verdict]:
        existing = super()._on_failure(guard)

        def on_failure(item: Item | None) -> Verdict:
            return None if item is None else existing(item)  # deleted since it was read

        return on_failure

    def _result(self, returned: Item | None) -> E | None:
        if returned is None:  # of a transaction DynamoDB returns nothing
            return None
        return self._written(returned)

    def _changed_instance(self, changes: EncodedChanges) -> E | None:
        return None  # the instance is not what was stored

    def _shape(self) -> Shape:
        affected, others = self._affected, self._other_indexes()
        return write_shape(
            self._entity,
            "UpdateItem",
            KeyCondition(self._key),
            reads=self._reads,
            indexes=(*affected.indexes, *others),
            more_rows=len(affected.indexes),
            conditions=self._conditions,
            sets=[*self._sets(), *composed(others)],
            requires=[
                *([Unchanged()] if self._reads else []),
                *self._transitions(),
                *self._all_conditions(),
            ],
            sides=self._side_shapes(),
            branches=["PutItem"] if self._reads else (),
        )

    def _side_shapes(self) -> list[Shape]:
        """Return the actions on side items, with those that only a created item has."""
        entity, affected, reserved = self._entity, self._affected, self._reserved()
        shapes = side_shapes(entity, affected.uniques, "Delete", "Put")
        for unique in entity.uniques:
            if unique not in affected.uniques:
                is_typical = unique in reserved and not affected.has_side_items
                shapes += side_shapes(entity, [unique], "Put", is_typical=is_typical)
        return [
            *shapes,
            *side_shapes(entity, affected.histories, "Put"),
            *counter_shapes(entity.counted),
            *link_shapes(entity.links),
        ]


def _holds(change: Change[Any], item: Item) -> bool:
    return change.condition is not None and change.condition.matches(item)


def _required(key: IndexKeys) -> frozenset[str]:
    """Return the attributes without which an item is not in an index."""
    if isinstance(key, AlternativeKeys):
        return frozenset()
    return frozenset(part.attribute for part in key.parameters if not part.can_be_absent)


def upsert(instance: Rewritable, *changes: Change[Rewritable]) -> Upsert[Rewritable]:
    """Change attributes of the stored item; if there is none, write the entity with the changes."""
    entity = entity_of(instance)
    values = vars(instance)
    known = {name: values[name] for name in entity.primary.depends_on}
    return Upsert(entity, entity.stored_key(instance), known, changes, instance)
