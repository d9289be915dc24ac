"""Delete: remove an item, and the sentinels of its unique values.

Order.primary("C1", "O1").delete()      whatever its version
delete(order)                           this version of it, if it is versioned
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Literal, Self, TypeVar

from tablewright.errors import DeclarationError, NotFound
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.variants import VariantsMap, known_kind
from tablewright.plan.condition import Condition
from tablewright.plan.facts import CountsNothing, Exists, OfVersion, Requirement, Unchanged
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import read_item
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import (
    Action,
    NothingToDo,
    Prepared,
    Verdict,
    always_retry,
    side_actions,
)
from tablewright.plan.writes.counter_shapes import counter_shapes
from tablewright.plan.writes.counting import counters_of_deleted
from tablewright.plan.writes.effect import affected_by_all, unique_names, write_effect
from tablewright.plan.writes.guard import (
    Guard,
    WriteExpressions,
    all_unchanged,
    of_another_kind,
    stored_values,
)
from tablewright.plan.writes.returning import ReturningOld, returning
from tablewright.plan.writes.write import (
    Stored,
    Write,
    entity_of,
    of_base,
    refuse_undeletable,
    side_shapes,
    write_shape,
)
from tablewright.symbol import expressed
from tablewright.values import Item

E = TypeVar("E")


class Delete(Write[E | None, E | None], Generic[E]):
    """Delete an item; returns it as it was, or None if it did not exist."""

    _verb = "delete"
    #: Whether what is deleted depends on the kind of the item, of a base of variants.
    _depends_on_kind = False

    def __init__(self, entity: EntityMap, key: Item, version: Any = None) -> None:
        self._entity = entity
        self._key = key
        self._version = version
        if isinstance(entity, VariantsMap):
            self._depends_on_kind = any(
                len(variant.uniques) > len(entity.uniques) or variant.counted != entity.counted
                for variant in entity.variants
            )

    def _reading(self) -> Self:
        return self._replace(_reads_old=True)

    def _steps(self, context: Context) -> Steps[E | None]:
        if not self._entity.cascades:
            return (yield from super()._steps(context))
        from tablewright.plan.writes.cascading import delete_with_children  # made of deletes

        found: E | None = yield from delete_with_children(self, context)
        return found

    def _in_transaction(self) -> Self:
        if self._entity.cascades:
            raise DeclarationError(
                f"transact() cannot delete a {self._entity.name}: what belongs to it "
                f"({self._entity.cascades[0].name}) may not fit into one transaction; run "
                "delete() by itself"
            )
        return super()._in_transaction()

    def condition(self, condition: Condition[E]) -> Self:
        """Delete only if the condition holds for the stored item."""
        return self._with_condition(condition)

    def returning(self, values: Literal["old"]) -> ReturningOld[E | None]:
        """Return what was deleted, also in a transaction; None if nothing was."""
        return returning(self, values)  # type: ignore[no-any-return]

    @property
    def _reads(self) -> bool:
        """Whether it reads the item that it deletes."""
        entity = self._entity
        return bool(entity.uniques or entity.counted) or self._reads_old

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, key = self._entity, self._key
        if self._depends_on_kind and isinstance(entity, VariantsMap):
            stored = yield from read_item(context, entity, key)
            # A missing item may be of any kind: the variant finds that there is none.
            kind = entity.variants[0] if stored is None else known_kind(entity, stored)
            return (yield from self._of_kind(kind)._prepare(context, attempt, alone=alone))
        old: Item | None = None
        if self._reads:
            old = yield from read_item(context, entity, key)
            other = of_another_kind(NotFound, entity, key, old)
            if other is not None and not alone:
                raise other
            has_guards = self._version is not None or self._conditions
            if other is not None or (old is None and not has_guards):
                return Prepared([], lambda _: None)
        effect = write_effect(entity, key, old, None, {}, affected_by_all(entity))
        guard = Guard(entity, key, self._requirements(), old)

        def on_failure(current: Item | None) -> Verdict:
            error = guard.verdict(current)
            if current is None and entity.counted and not alone:
                return None  # deleted since it was read: then nothing is taken away from counters
            # It does not exist as this kind.
            return NothingToDo(None, error) if isinstance(error, NotFound) else error

        def result(returned: Item | None) -> E | None:
            item = returned or old
            return None if item is None else entity.decode(item)

        body = guard.expressions().add_to({"Key": key})
        counters = counters_of_deleted(entity) if entity.maintained else None
        action = Action("Delete", entity.table, body, on_failure, counters=counters)
        return Prepared([action, *side_actions(effect)], result, (effect,), "ALL_OLD")

    def _of_kind(self, kind: EntityMap) -> Self:
        """Return the same deletion of a variant."""
        return self._replace(_entity=kind, _depends_on_kind=False)

    def _required_before(self) -> list[Requirement]:
        """Return what must hold of the stored item before what belongs to it is deleted."""
        return [*self._required_version(), *self._conditions]

    def _required_version(self) -> list[Requirement]:
        version = self._entity.version
        if self._version is None or version is None:
            return []
        return [OfVersion(version.name, expressed(self._version))]

    def _requirements(self) -> list[Requirement]:
        """Return what must hold of the stored item."""
        entity, guards = self._entity, self._required_version()
        if self._reads and self._returns_old and self._version is None:
            guards.append(all_unchanged(entity))
        if entity.counted:  # what does not exist is taken away from no counter
            guards.append(Exists())
        names = sorted(_compared_sources(entity))
        guards += [Unchanged("attributes", (name,)) for name in names]
        if entity.maintained:
            guards.append(CountsNothing(tuple(each.name for each in entity.maintained)))
        return [*guards, *self._conditions]

    def _shape(self) -> Shape:
        entity = self._entity
        if self._depends_on_kind and isinstance(entity, VariantsMap):
            return of_base(entity, [self._of_kind(each)._shape() for each in entity.variants])
        own = self._own_shape()
        if not entity.cascades:
            return own
        from tablewright.plan.writes.cascading import shape_with_children

        return shape_with_children(self, own)

    def _own_shape(self) -> Shape:
        """Return the shape of the delete of the item alone."""
        entity = self._entity
        return write_shape(
            entity,
            "DeleteItem",
            KeyCondition(self._key),
            reads=self._reads,
            conditions=self._conditions,
            requires=self._requirements(),
            sides=[
                *side_shapes(entity, entity.uniques, "Delete"),
                *(counter_shapes(entity.counted, gone=True) if entity.counted else ()),
            ],
        )


def _compared_sources(entity: EntityMap) -> frozenset[str]:
    """Return the attributes of which sentinels are made, and that counters depend on.

    What sentinels keep of the key, and what counters depend on in it, is constant.
    """
    return frozenset().union(
        *(counter.varying for counter in entity.counted),
        *(
            unique.key.depends_on | (unique_names(unique) - entity.primary.depends_on)
            for unique in entity.uniques
        ),
    )


def delete_row(
    entity: EntityMap,
    row: Item,
    unchanged: Iterable[str] = (),
    conditions: Sequence[Condition[Any]] = (),
) -> list[Action]:
    """Return the actions that delete an item that was read, if it is still as it was.

    Compared are its version, what its sentinels are made of, and the attributes in `unchanged`.
    """
    effect = write_effect(entity, entity.table.key(row), row, None, {}, affected_by_all(entity))
    names = set(unchanged)
    if entity.version is not None:
        names.add(entity.version.stored)
    names.update(entity.attributes[name].stored for name in _compared_sources(entity))
    expressions = WriteExpressions()
    if entity.counted:
        expressions.require_exists(entity.table)
    expressions.require_unchanged(stored_values(row, sorted(names)))
    expressions.require(conditions)
    body = expressions.add_to({"Key": effect.key})
    counters = counters_of_deleted(entity)
    own = Action("Delete", entity.table, body, always_retry, deleted=row, counters=counters)
    return [own, *side_actions(effect)]


def delete(instance: Stored) -> Delete[Stored]:
    """Delete an entity: the version at hand, if it is versioned."""
    entity = entity_of(instance)
    refuse_undeletable(entity, "delete")
    values = vars(instance)
    version = None if entity.version is None else values[entity.version.name]
    return Delete(entity, entity.stored_key(instance), version)
