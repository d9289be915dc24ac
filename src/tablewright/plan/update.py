"""Update: change named attributes of an item that is there.

Every index key that a changed attribute is part of moves in the same write:

    Order.primary("C1", "O1").update(Order.status.set(PAID))

sets `status`, and rewrites the keys of each index that is made of it. Parts that the caller did
not give are read first, and the write is guarded by a condition on them. With a sentinel or an
event to write as well, the update is a transaction. An attribute of the primary key is moved:
see `tablewright.plan.move`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

from tablewright.errors import InvalidValue, NotFound, Stale, WriteRefused
from tablewright.expression import Scope
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.keys import KeyMap
from tablewright.plan.change import Add, Change, Clauses, Remove, Set, SetIfAbsent
from tablewright.plan.condition import Condition
from tablewright.plan.keeping import event_actions, sentinel_actions
from tablewright.plan.plan import Context, Steps
from tablewright.plan.put import read_stored
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape, key_condition, write_units
from tablewright.plan.write import (
    Action,
    Conditions,
    Prepared,
    Unchanged,
    Verdict,
    Write,
    expected_version,
    failed_condition,
    refusal,
)
from tablewright.values import Item

E = TypeVar("E")

#: Changes that can be applied to a value in Python.
SIMPLE = (Set, Remove, Add, SetIfAbsent)


class Update(Write[E], Generic[E]):
    """Change attributes of an item; gives the entity as it is then."""

    verb = "update"

    def __init__(
        self,
        entity: EntityMap,
        key: Item,
        known: Values,
        changes: Sequence[Change[Any]],
        instance: Any = None,
    ) -> None:
        self.entity = entity
        self.key = key
        #: What the caller's key says of the attributes.
        self.known = known
        self.changes = tuple(changes)
        self.instance = instance
        self.by: Any = None
        self.why: Any = None
        self._check()

    def _check(self) -> None:
        entity = self.entity
        if not self.changes:
            raise InvalidValue(f"{entity.name}: update() needs at least one change")
        seen: list[tuple[str | int, ...]] = []
        for change in self.changes:
            name = f"{entity.name}.{change.name}"
            if change.attribute is not entity.attributes.get(change.name):
                raise InvalidValue(f"{change!r} is not a change of {entity.name}'s")
            if change.attribute.role in ("version", "updated"):
                raise InvalidValue(f"{name} is counted by the library; leave it out of update()")
            steps = tuple(change.operand.steps)
            if any(steps[: len(other)] == other[: len(steps)] for other in seen):
                raise InvalidValue(f"{name} is changed twice in one update")
            seen.append(steps)

    def expect(self, condition: Condition[E]) -> Self:
        """Only if this holds for what is stored now."""
        return self._expecting(condition)

    def noting(self, *, by: Any = None, why: Any = None) -> Self:
        """Who changes it and why, for the history of the entity."""
        return self.but(by=by, why=why)

    @property
    def changed(self) -> frozenset[str]:
        """The attributes that are changed, with the stamp of the library's."""
        names = {change.name for change in self.changes}
        if self.entity.updated is not None:
            names.add(self.entity.updated.name)
        return frozenset(names)

    def touched(self) -> list[KeyMap]:
        """The index keys that are made of what is changed."""
        return [key for key in self.entity.indexes if key.composed and key.names & self.changed]

    def prepare(self, context: Context, attempt: int) -> Steps[Prepared]:
        entity = self.entity
        now = context.clock()
        changes = list(self.changes)
        if entity.updated is not None:
            stamp: Ref[Any, Any] = Ref(entity.name, entity.updated)
            changes.append(stamp.set(now))
        touched = self.touched()
        needed = self._needed(touched, changes)
        current, stored = self.known, None
        if needed and self.instance is not None and attempt == 0:
            current = vars(self.instance)
        elif needed - self.known.keys():
            stored = yield from read_stored(context, entity, self.key)
            if stored is None:
                raise refusal(NotFound, entity, self.key, None, "it is not there")
            current = entity.values(stored)
            stale = self.stale(current, stored)
            if stale is not None:
                raise stale
        guards = self._guards(needed, current)
        new = _applied(current, changes)
        conditions = Conditions()
        conditions.exists(entity.table)
        conditions.take(self._all_conditions())
        for name, value in guards.items():
            conditions.equals(entity, name, value)
        clauses = Clauses()
        for change in changes:
            change.write(clauses, conditions.marks)
        if entity.version is not None:
            self._count(clauses, conditions)
        for key in touched:
            _move_index_key(key, new, clauses, conditions)
        expression = clauses.text()
        body = conditions.into({"Key": self.key, "UpdateExpression": expression})
        actions = [Action("Update", entity.table, body, self._failed(guards))]
        if needed:
            if entity.version is not None:
                new[entity.version.name] = current[entity.version.name] + 1
            if self._moves_sentinels():
                actions += sentinel_actions(entity, current, new, self.key)
            if self._writes_events():
                actions += event_actions(entity, current, new, at=now, by=self.by, why=self.why)

        def result(returned: Item | None) -> E:
            if returned is None:  # of a transaction, DynamoDB returns nothing
                before = stored or (entity.encode(current) if needed else None)
                returned = None if before is None else _evaluated(before, body)
            return self.written(returned)

        return Prepared(actions, result, "ALL_NEW")

    # -- what has to be known ----------------------------------------------------------------

    def _needed(self, touched: list[KeyMap], changes: Sequence[Change[Any]]) -> set[str]:
        """The attributes whose stored values the write depends on."""
        entity = self.entity
        plain = {change.name for change in changes if isinstance(change, (Set, Remove))}
        needed: set[str] = set()
        for key in touched:
            needed |= key.names - plain
        if self._moves_sentinels():
            for unique in entity.uniques:
                needed |= unique.key.names | {kept.name for kept in unique.keeps}
        if self._writes_events():
            for history in entity.histories:
                needed |= {history.attribute, *history.sources.values()} & set(entity.attributes)
            if entity.version is not None:
                needed.add(entity.version.name)
        return needed - self.known.keys()

    def _moves_sentinels(self) -> bool:
        return any(
            (unique.key.names | {kept.name for kept in unique.keeps}) & self.changed
            for unique in self.entity.uniques
        )

    def _writes_events(self) -> bool:
        return any(history.attribute in self.changed for history in self.entity.histories)

    def _guards(self, needed: set[str], current: Values) -> dict[str, Any]:
        """What must still be as it was read; a version stands for all attributes."""
        version = self.entity.version
        if version is not None and (needed or self.instance is not None):
            source = current if needed else vars(self.instance)
            return {version.name: source[version.name]}
        return {name: current[name] for name in sorted(needed)}

    def _all_conditions(self) -> list[Condition[Any]]:
        """The caller's conditions, and those that changes bring along."""
        brought = [change.condition for change in self.changes if change.condition is not None]
        return [*self.conditions, *brought]

    def _count(self, clauses: Clauses, conditions: Conditions) -> None:
        assert self.entity.version is not None
        path = conditions.marks.name(self.entity.version.stored)
        zero, one = conditions.marks.value({"N": "0"}), conditions.marks.value({"N": "1"})
        clauses["SET"].append(f"{path} = if_not_exists({path}, {zero}) + {one}")

    # -- what a failure means ----------------------------------------------------------------

    def stale(self, current: Values, stored: Item) -> WriteRefused | None:
        """The error for a version that is not the expected one."""
        entity = self.entity
        expected = expected_version(entity, self.conditions)
        if self.instance is not None and entity.version is not None:
            expected = vars(self.instance)[entity.version.name]
        if expected is not None and entity.version is not None:
            found = current[entity.version.name]
            if found != expected:
                why = f"version {expected} was expected, and version {found} is stored"
                return refusal(Stale, entity, self.key, stored, why)
        return None

    def _failed(self, guards: dict[str, Any]) -> Any:
        entity, key = self.entity, self.key

        def failed(item: Item | None) -> Verdict:
            if item is None:
                return refusal(NotFound, entity, key, None, "it is not there")
            current = entity.values(item)
            stale = self.stale(current, item)
            if stale is not None:
                return stale
            if any(current[name] != value for name, value in guards.items()):
                return None
            refused = failed_condition(entity, key, item, self._all_conditions())
            brought = [change.condition for change in self.changes if change.condition is not None]
            if brought and all(condition.holds(current) for condition in self.conditions):
                return Unchanged(self.written(item), refused)
            return refused

        return failed

    def written(self, item: Item | None) -> E:
        assert item is not None
        entity: E = self.entity.decode(item)
        if self.instance is not None:
            vars(self.instance).update(vars(entity))
            updated: E = self.instance
            return updated
        return entity

    def shape(self) -> Shape:
        touched = len(self.touched())
        actions = 1
        if self._moves_sentinels():
            actions += 2 * len(self.entity.uniques)
        if self._writes_events():
            actions += len(self.entity.histories)
        several = actions > 1
        indexes = ", ".join(key.index.name for key in self.touched() if key.index is not None)
        reads = bool(self._needed(self.touched(), self.changes))
        return Shape(
            operation="TransactWriteItems" if several else "UpdateItem",
            table=self.entity.table.name,
            entity=self.entity.name,
            index=indexes or None,
            condition=key_condition(self.key),
            page=str(actions),
            filter=" AND ".join(map(repr, self.conditions)),
            read_units=1 if reads else 0,
            write_units=write_units(self.entity, indexes=2 * touched, transaction=several),
        )


def _applied(current: Values, changes: Sequence[Change[Any]]) -> Values:
    """The values after the changes, as far as keys and events need them."""
    new = dict(current)
    for change in changes:
        if isinstance(change, SIMPLE) and len(change.operand.steps) == 1:
            new[change.name] = change.apply(new.get(change.name))
    return new


def _move_index_key(key: KeyMap, values: Values, clauses: Clauses, conditions: Conditions) -> None:
    composed = key.compose(values)
    for attribute in key.composed:
        mark = conditions.marks.name(attribute)
        if composed is None:
            clauses["REMOVE"].append(mark)
        else:
            clauses["SET"].append(f"{mark} = {conditions.marks.value(composed[attribute])}")


def _evaluated(item: Item, body: dict[str, Any]) -> Item:
    """The item after an update that DynamoDB has made: what it wrote, computed here."""
    scope = Scope(body.get("ExpressionAttributeNames"), body.get("ExpressionAttributeValues"))
    update = scope.update(body["UpdateExpression"])
    assert update is not None
    return update.apply(item)
