"""Update: change named attributes of an item that is there.

Every index key that a changed attribute is part of moves in the same write:

    Order.primary("C1", "O1").update(Order.status.set(PAID))

sets `status`, and rewrites the keys of each index that is made of it. Parts that the caller did
not give are read first, and the write is guarded by a condition on them. With a sentinel or an
event to write as well, the update is a transaction. An attribute of the primary key is moved:
see `tablewright.plan.move`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, Self, TypeVar

from tablewright.errors import ConditionFailed, InvalidValue, NotFound, ValidationException
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.keys import KeyMap
from tablewright.plan.change import Change, Clauses, Remove, Set, applied
from tablewright.plan.condition import Condition
from tablewright.plan.guard import (
    Conditions,
    Read,
    expected_version,
    failed_condition,
    holds,
    read_from,
    refusal,
    stale,
    version_read,
)
from tablewright.plan.keeping import event_actions, sentinel_actions
from tablewright.plan.plan import Context, Steps
from tablewright.plan.put import read_stored
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape, key_condition, write_units
from tablewright.plan.write import (
    NO_PLACE,
    PLACE_MISSING,
    Action,
    Prepared,
    Unchanged,
    Verdict,
    Write,
)
from tablewright.values import Item

E = TypeVar("E")


class Update(Write[E], Generic[E]):
    """Change attributes of an item; gives the entity as it is then."""

    _verb = "update"

    def __init__(
        self,
        entity: EntityMap,
        key: Item,
        known: Values,
        changes: Sequence[Change[Any]],
        instance: Any = None,
    ) -> None:
        self._entity = entity
        self._key = key
        #: What the caller's key says of the attributes.
        self._known = known
        self._changes = tuple(changes)
        self._instance = instance
        self._by: Any = None
        self._reason: Any = None
        self._check()

    def _check(self) -> None:
        entity = self._entity
        seen: list[tuple[str | int, ...]] = []
        for change in self._changes:
            if not isinstance(change, Change):
                raise InvalidValue(
                    f"{change!r} is not a change; write {entity.name}.name_of_it.set(…)"
                )
            name = f"{entity.name}.{change.name}"
            if change.attribute is not entity.attributes.get(change.name):
                raise InvalidValue(f"{change!r} is not a change of {entity.name}'s")
            if change.attribute.role in ("version", "created_at", "updated_at"):
                raise InvalidValue(f"{name} is set by the library; leave it out of update()")
            steps = tuple(change.operand.steps)
            if any(steps[: len(other)] == other[: len(steps)] for other in seen):
                raise InvalidValue(f"{name} is changed twice in one update")
            seen.append(steps)

        if len(self._changes) > 1 and any(change.condition is not None for change in self._changes):
            raise InvalidValue(
                f"{entity.name}: append_if_absent() writes nothing where the member is there; make "
                "it an update of its own, so that nothing else is left undone"
            )

    def condition(self, condition: Condition[E]) -> Self:
        """Only if this holds for what is stored now."""
        return self._expecting(condition)

    def audit(self, *, by: Any = None, reason: Any = None) -> Self:
        """Who changes it and why, for the history of the entity."""
        return self._replace(_by=by, _reason=reason)

    @property
    def _changed(self) -> frozenset[str]:
        """The attributes that are changed, with the stamp of the library's."""
        names = {change.name for change in self._changes}
        if self._entity.updated_at is not None:
            names.add(self._entity.updated_at.name)
        return frozenset(names)

    def _touched(self) -> list[KeyMap]:
        """The index keys that are made of what is changed."""
        return [
            key for key in self._entity.indexes if key.composed and key.depends_on & self._changed
        ]

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity = self._entity
        now = context.clock()
        changes = self._stamped(now)
        touched = self._touched()
        needed = self._needed(touched, changes)
        before, guards = yield from self._before(needed, context, attempt)
        after = None if before is None else self._counted(self._applied(changes, before), before)
        values = self._set(changes) if after is None else entity.values(after)
        conditions = Conditions()
        conditions.exists(entity.table)
        conditions.still(guards)
        conditions.take(self._all_conditions())
        clauses = Clauses()
        for change in changes:
            change.write(clauses, conditions.marks)
        if entity.version is not None:
            self._count(clauses, conditions)
        for key in touched:
            _move_index_key(key, values, clauses, conditions)
        body = conditions.into({"Key": self._key})
        if clauses:
            body["UpdateExpression"] = clauses.text()
        actions = [Action("Update", entity.table, body, self._failed(guards))]
        if self._writes_more() and before is not None:
            old = entity.values(before)
            if self._moves_sentinels():
                actions += sentinel_actions(entity, old, values, self._key)
            if self._writes_events():
                actions += event_actions(
                    entity, old, values, at=now, by=self._by, reason=self._reason
                )

        def result(returned: Item | None) -> E | None:
            """What DynamoDB returned; of a transaction it returns nothing, and we compute it."""
            if returned is None and self._writes_more():
                returned = after
            if returned is None:
                return self._told(changes)
            return self._written(returned)

        return Prepared(actions, result, "ALL_NEW")

    # -- what has to be known ----------------------------------------------------------------

    def _stamped(self, now: datetime) -> tuple[Change[Any], ...]:
        """The changes, and the stamp of when they are made."""
        updated = self._entity.updated_at
        if updated is None:
            return self._changes
        stamp: Ref[Any, Any] = Ref(f"{self._entity.name}.{updated.name}", updated)
        return (*self._changes, stamp.set(now))

    def _applied(self, changes: Sequence[Change[Any]], item: Item) -> Item:
        """The item after the changes."""
        try:
            return applied(changes, item)
        except ValidationException as fault:
            if NO_PLACE not in str(fault):
                raise
            raise refusal(ConditionFailed, self._entity, self._key, item, PLACE_MISSING) from None

    def _counted(self, item: Item, before: Item) -> Item:
        """The item, in the version that follows."""
        version = self._entity.version
        if version is None:
            return item
        following = self._entity.values(before)[version.name] + 1
        return item | {version.stored: {"N": str(following)}}

    def _needed(self, touched: list[KeyMap], changes: Sequence[Change[Any]]) -> set[str]:
        """The attributes whose stored values the write depends on."""
        entity = self._entity
        plain = {
            change.name
            for change in changes
            if isinstance(change, (Set, Remove)) and len(change.operand.steps) == 1
        }
        needed: set[str] = set()
        for key in touched:
            needed |= key.depends_on - plain
        if self._moves_sentinels():
            for unique in entity.uniques:
                needed |= unique.key.depends_on | {kept.name for kept in unique.keeps}
        if self._writes_events():
            for history in entity.histories:
                needed |= {history.attribute, *history.sources.values()} & set(entity.attributes)
            if entity.version is not None:
                needed.add(entity.version.name)
        return needed - self._known.keys()

    def _before(
        self, needed: set[str], context: Context, attempt: int
    ) -> Steps[tuple[Item | None, Read]]:
        """The item that the update goes out from, as far as it matters, and the guards on it."""
        entity, instance = self._entity, self._instance
        names = [entity.attributes[name].stored for name in sorted(needed)]
        if not self._writes_more() and (not needed or (instance is not None and attempt == 0)):
            version = None
            if instance is not None and entity.version is not None:
                version = vars(instance)[entity.version.name]
            guards = {} if instance is None else version_read(entity, version)
            if not needed:
                return None, guards
            # An instance may hold what was never stored; so what is needed of it is guarded too.
            item = entity.encode(vars(instance))
            return item, guards | read_from(item, names)
        stored = yield from read_stored(context, entity, self._key)
        if stored is None:
            raise refusal(NotFound, entity, self._key, None, "it is not there")
        refused = stale(entity, self._key, stored, self._expected)
        if refused is not None:
            raise refused
        if entity.version is not None:
            names = [entity.version.stored]  # it stands for all attributes
        elif self._writes_more():  # what is written beside it, and told, comes from all of it
            names = sorted({*stored, *(each.stored for each in entity.attributes.values())})
        return stored, read_from(stored, names)

    def _writes_more(self) -> bool:
        """Whether other items are written in the same transaction."""
        return self._moves_sentinels() or self._writes_events()

    @property
    def _expected(self) -> Any:
        """The version that the caller goes out from, if there is one."""
        if self._instance is not None and self._entity.version is not None:
            return vars(self._instance)[self._entity.version.name]
        return expected_version(self._entity, self._conditions)

    def _set(self, changes: Sequence[Change[Any]]) -> Values:
        """What is known of the values afterwards, without having read any."""
        values = dict(self._known)
        for change in changes:
            if len(change.operand.steps) > 1:
                continue
            if isinstance(change, Set):
                values[change.name] = change.value
            elif isinstance(change, Remove):
                values[change.name] = self._entity.value_if_absent(change.name)
        return values

    def _moves_sentinels(self) -> bool:
        return any(
            (unique.key.depends_on | {kept.name for kept in unique.keeps}) & self._changed
            for unique in self._entity.uniques
        )

    def _writes_events(self) -> bool:
        return any(history.attribute in self._changed for history in self._entity.histories)

    def _all_conditions(self) -> list[Condition[Any]]:
        """The caller's conditions, and those that changes bring along."""
        brought = [change.condition for change in self._changes if change.condition is not None]
        return [*self._conditions, *brought]

    def _count(self, clauses: Clauses, conditions: Conditions) -> None:
        assert self._entity.version is not None
        path = conditions.marks.name(self._entity.version.stored)
        zero, one = conditions.marks.value({"N": "0"}), conditions.marks.value({"N": "1"})
        clauses["SET"].append(f"{path} = if_not_exists({path}, {zero}) + {one}")

    # -- what a failure means ----------------------------------------------------------------

    def _failed(self, guards: Read) -> Callable[[Item | None], Verdict]:
        entity, key = self._entity, self._key

        def failed(item: Item | None) -> Verdict:
            if item is None:
                return refusal(NotFound, entity, key, None, "it is not there")
            refused = stale(entity, key, item, self._expected)
            if refused is not None:
                return refused
            if read_from(item, guards) != guards:
                return None
            wrong = failed_condition(entity, key, item, self._all_conditions())
            brought = [change.condition for change in self._changes if change.condition is not None]
            if brought and all(holds(condition, item) for condition in self._conditions):
                return Unchanged(self._written(item), wrong)
            return wrong

        return failed

    def _told(self, changes: Sequence[Change[Any]]) -> E | None:
        """An instance at hand after a transaction that read nothing: with what was changed."""
        if self._instance is None:
            return None
        values = vars(self._instance)
        after = self._entity.values(applied(changes, self._entity.encode(values)))
        values.update({change.name: after[change.name] for change in changes})
        if self._entity.version is not None:
            values[self._entity.version.name] += 1
        instance: E = self._instance
        return instance

    def _written(self, item: Item) -> E:
        """The entity that was written; an instance at hand becomes it."""
        entity: E = self._entity.decode(item)
        if self._instance is None:
            return entity
        vars(self._instance).update(vars(entity))
        updated: E = self._instance
        return updated

    def _shape(self) -> Shape:
        touched = self._touched()
        # An entry that moves is deleted and put; one that holds the attribute is written again.
        entries = sum(2 if key in touched else 1 for key in self._entity.indexes)
        actions = 1
        if self._moves_sentinels():
            actions += 2 * len(self._entity.uniques)
        if self._writes_events():
            actions += len(self._entity.histories)
        several = actions > 1
        indexes = ", ".join(key.index.name for key in touched if key.index is not None)
        reads = bool(self._needed(touched, self._stamped(datetime.now(UTC))))
        return Shape(
            operation="TransactWriteItems" if several else "UpdateItem",
            table=self._entity.table.name,
            entity=self._entity.name,
            index=indexes or None,
            condition=key_condition(self._key),
            page=str(actions),
            filter=" AND ".join(map(repr, self._conditions)),
            read_units=1 if reads else 0,
            write_units=write_units(
                self._entity, index_entries=entries, others=actions - 1, transaction=several
            ),
        )


def _move_index_key(key: KeyMap, values: Values, clauses: Clauses, conditions: Conditions) -> None:
    composed = key.compose(values)
    for attribute in key.composed:
        mark = conditions.marks.name(attribute)
        if composed is None:
            clauses["REMOVE"].append(mark)
        else:
            clauses["SET"].append(f"{mark} = {conditions.marks.value(composed[attribute])}")
