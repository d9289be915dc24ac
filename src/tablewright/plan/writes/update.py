"""Update: change named attributes of an item that exists.

Every index key that is made of a changed attribute changes in the same write:

    Order.primary("C1", "O1").update(Order.status.set(PAID))

sets `status`, and the keys of each index that is made of it. Parts of these keys that the caller
did not give are read first, and the write is guarded by a condition on them. With a sentinel or an
event to write as well, the update is a transaction. An update of an attribute of the primary key
is a move. So `update(…)`, which makes one or the other, is in `move.py`.

    _prepare        reads the stored item, where the write depends on it
    _requirements   what must hold for the write, with the guards on what was read
    _effect         the item after the changes, its index keys, sentinels and events
    _render         the UpdateItem, from the changes and the effect
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, Literal, Self

from typing_extensions import TypeVar

from tablewright.errors import (
    ConditionFailed,
    InvalidValue,
    ValidationException,
)
from tablewright.mapping.attributes import STAMPS
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import KeyMap, places_of
from tablewright.mapping.variants import VariantsMap, known_kind
from tablewright.plan import facts
from tablewright.plan.change import (
    ZERO,
    Change,
    EncodedChanges,
    Remove,
    Set,
    apply_changes,
    encode_changes,
    render_changes,
)
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import read_item
from tablewright.plan.reference import Ref
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Action, NothingToDo, Prepared, Verdict, side_actions
from tablewright.plan.writes.counter_shapes import counter_shapes
from tablewright.plan.writes.effect import (
    Audit,
    WriteEffect,
    affected_by,
    read_values,
    with_index_keys,
    write_effect,
)
from tablewright.plan.writes.guard import (
    Guard,
    WriteExpressions,
    all_unchanged,
    check_transition,
    may_become,
    refuse_base,
    rejection,
    stored_version,
)
from tablewright.plan.writes.linking import link_shapes
from tablewright.plan.writes.returning import ReturningOld, returning
from tablewright.plan.writes.write import (
    INVALID_PATH,
    PARENT_MISSING,
    Rewrite,
    changed_sides,
    composed,
    of_base,
    refuse_write_once,
    write_shape,
)
from tablewright.symbol import Symbol, expressed
from tablewright.values import Item

E = TypeVar("E")
#: The result in a transaction: the entity, if the caller has it, or if the update reads it.
R_co = TypeVar("R_co", covariant=True, default=E | None)


class Update(Rewrite[E, R_co], Generic[E, R_co]):
    """Change attributes of an item; returns the entity after the changes."""

    _verb = "update"
    #: Whether what is written depends on the kind of the item, of a base of variants.
    _depends_on_kind = False
    _has_read_kind = False
    #: Whether other items, and the result, are made of the whole item.
    _depends_on_whole = False

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
        #: The attributes that are known from the key.
        self._known = known
        self._changes = tuple(changes)
        self._instance = instance
        self._check()
        names = self._changed_names()
        self._affected = affected_by(entity, names)
        if self._affected.depends_on_whole:
            self._depends_on_whole = True
        if isinstance(entity, VariantsMap):
            if names & entity.primary.depends_on:
                refuse_base(entity, self._verb)
            self._depends_on_kind = self._concerns_variants(entity, names)

    def returning(self, values: Literal["old"]) -> ReturningOld[E]:
        """Return the entity as it was before the changes."""
        return returning(self, values)  # type: ignore[no-any-return]

    def _reading(self) -> Self:
        return self._replace(_reads_old=True, _depends_on_whole=True)

    def _changed_names(self) -> frozenset[str]:
        updated_at = self._entity.updated_at
        own = () if updated_at is None else (updated_at.name,)
        return frozenset((*(change.name for change in self._changes), *own))

    def _concerns_variants(self, base: VariantsMap, names: frozenset[str]) -> bool:
        """Return whether the update concerns indexes or side items of which the base knows nothing.

        Then the stored item is read first, and updated as the kind that it is of.
        """
        kept = {each.name.partition(".")[2] for each in self._affected.indexes}
        for variant in base.variants:
            affected = affected_by(variant, names)
            own = {each.name.partition(".")[2] for each in affected.indexes} - kept
            if own or affected.depends_on_whole:
                return True
        return False

    def _of_kind(self, kind: EntityMap) -> Self:
        """Return the same update of a variant."""
        affected = affected_by(kind, self._changed_names())
        return self._replace(
            _entity=kind,
            _affected=affected,
            _depends_on_kind=False,
            _has_read_kind=True,
            _depends_on_whole=affected.depends_on_whole or self._reads_old,
        )

    def _check(self) -> None:
        entity = self._entity
        refuse_write_once(entity, self._verb)
        seen: list[tuple[str | int, ...]] = []
        for change in self._changes:
            if not isinstance(change, Change):
                raise InvalidValue(
                    f"{change!r} is not a change; write {entity.name}.<attribute>.set(…)"
                )
            name = f"{entity.name}.{change.name}"
            if not entity.has_attribute(change.attribute):
                other = change.attribute.converter.where
                raise InvalidValue(
                    f"{other} is not an attribute of {entity.name}; an update changes one entity"
                )
            if change.attribute.role in STAMPS:
                raise InvalidValue(f"{name} is set by the library; leave it out of {self._verb}()")
            if change.attribute.is_immutable:
                raise InvalidValue(
                    f"{name} is immutable, so an update cannot change it; delete the entity and "
                    "create another"
                )
            steps = tuple(change.operand.stored_path)
            if change.attribute.is_key_only:
                if not isinstance(change, Set):
                    raise InvalidValue(
                        f"{name} is stored only inside keys, so a change must say its new value; "
                        "use set(…)"
                    )
                steps = (name,)
            if change.attribute.transitions is not None:
                check_transition(name, change)
            if any(steps[: len(other)] == other[: len(steps)] for other in seen):
                raise InvalidValue(f"{name} is changed twice in one update")
            seen.append(steps)
        if len(self._changes) > 1 and any(change.condition is not None for change in self._changes):
            raise InvalidValue(
                f"{entity.name}: append_if_absent() writes nothing if the member exists; make it "
                "an update of its own, so that no other change is left out"
            )

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        audit = self._audit(context)
        changes = self._encode(audit.at)
        needed = self._needed()
        if not self._depends_on_kind and not self._depends_on_whole:
            if not needed:
                return self._prepared(changes, None, self._guard(None, needed), audit)
            instance = self._instance
            if instance is not None and attempt == 0:
                old = self._entity.stored_item(instance, vars(instance))
                return self._prepared(changes, old, self._guard(old, needed), audit)
        found = yield from read_item(context, self._entity, self._key)
        own, guard = self, self._guard(found, needed)
        stored = guard.check(found)
        if self._depends_on_kind:
            own = self._of_kind(known_kind(self._entity, stored))
            guard = own._guard(stored, own._needed())
        return own._prepared(changes, stored, guard, audit)

    def _prepared(
        self, changes: EncodedChanges, old: Item | None, guard: Guard, audit: Audit
    ) -> Prepared:
        """Return the update of an item that was read, or (None) did not have to be."""
        effect, expressions = self._effect(changes, old, audit), guard.expressions()
        self._render(changes, effect.new or {}, expressions)
        body = expressions.add_to({"Key": self._key})
        action = Action("Update", self._entity.table, body, self._on_failure(guard))

        def result(returned: Item | None) -> E | None:
            if self._returns_old:
                old = returned or effect.old or {}
                return self._answer(old, self._effect(changes, old, audit).new or {})
            if returned is not None:
                return self._written(returned)
            if self._affected.depends_on_whole:  # of a transaction DynamoDB returns nothing
                return self._written(effect.new or {})
            return self._changed_instance(changes)

        returns = "ALL_OLD" if self._returns_old else "ALL_NEW"
        return Prepared([action, *side_actions(effect)], result, (effect,), returns)

    def _encode(self, at: datetime) -> EncodedChanges:
        """Encode the changes, with that of the time of the last update."""
        changes = encode_changes(
            change for change in self._changes if not change.attribute.is_key_only
        )
        updated_at = self._entity.updated_at
        if updated_at is not None:
            ref: Ref[Any, Any] = Ref(f"{self._entity.name}.{updated_at.name}", updated_at)
            now = updated_at.fit(at)
            changes.append((Set(ref, updated_at, now), updated_at.converter.encode(now)))
        return changes

    # -- what it depends on ------------------------------------------------------------------

    def _needed(self) -> set[str]:
        """Return the attributes whose stored values the index keys depend on."""
        needed = set(self._affected.index_sources)
        if needed:
            needed -= self._known.keys()
            needed -= {
                change.name
                for change in self._changes
                if change.overwrites and len(change.operand.stored_path) == 1
            }
            if self._entity.updated_at is not None:
                needed.discard(self._entity.updated_at.name)
        if needed:  # an item that leaves an index for sure has no key there
            known = self._known_values(self._changes)
            needed &= {
                name
                for place in places_of(self._affected.indexes)
                if not _leaves(place, known) or self._entity.only_in_indexes
                for name in place.depends_on
            }
        return needed

    def _guard(self, read: Item | None, needed: set[str]) -> Guard:
        return Guard(self._entity, self._key, self._requirements(needed), read)

    def _requirements(self, needed: set[str]) -> list[facts.Requirement]:
        """Return what must hold of the stored item, if the update depends on these attributes."""
        version = self._entity.version
        expected = None if version is None else self._version
        guards: list[facts.Requirement] = [facts.Exists()]
        if version is not None and expected is not None:
            guards.append(facts.OfVersion(version.name, expressed(expected)))
        elif self._depends_on_whole or (version is not None and self._must_read(needed)):
            guards.append(all_unchanged(self._entity))
        # An instance may have values that were never stored; so those needed are guarded too.
        if needed and not self._depends_on_whole and (version is None or expected is not None):
            guards.append(facts.Unchanged("attributes", tuple(sorted(needed))))
        guards += [*self._transitions(), *self._all_conditions()]
        return guards

    def _transitions(self) -> list[facts.MayBecome]:
        """Return what the changed attributes may have been before."""
        return [
            may_become(change.attribute, expressed(change.value))
            for change in self._changes
            if change.attribute.transitions is not None
        ]

    @property
    def _version(self) -> Any:
        """The version of the caller's instance; None without one."""
        version = self._entity.version
        if version is None or self._instance is None:
            return None
        return vars(self._instance)[version.name]

    def _must_read(self, needed: set[str]) -> bool:
        return self._has_read_kind or self._depends_on_whole or bool(needed)

    # -- the effect --------------------------------------------------------------------------

    def _effect(self, changes: EncodedChanges, old: Item | None, audit: Audit) -> WriteEffect:
        entity, affected = self._entity, self._affected
        if old is None:
            values = self._known_values([*self._changes, *(change for change, _ in changes)])
            new = with_index_keys(entity, self._key, values, affected.indexes)
            return WriteEffect(entity, self._key, None, new, values)
        new = self._apply(changes, old)
        if affected.depends_on_whole:
            values = vars(entity.decode(new))
        else:
            values = read_values(entity, new, affected.index_sources)
        values |= self._values_in_keys()
        new = with_index_keys(entity, new, values, affected.indexes)
        return write_effect(entity, self._key, old, new, values, affected, audit)

    def _values_in_keys(self) -> Values:
        """Return the new values that only keys store, and parts of the key that have none."""
        values: Values = {}
        for change in self._changes:
            is_part = change.name in self._entity.primary.depends_on
            if isinstance(change, Set) and len(change.operand.stored_path) == 1:
                is_removed = isinstance(change, Remove)
                value = self._entity.value_if_absent(change.name) if is_removed else change.value
                if change.attribute.is_key_only or (is_part and value is None):
                    values[change.name] = value
        return values

    def _known_values(self, changes: Iterable[Change[Any]]) -> Values:
        """Return the values after the update that are known without reading the item."""
        values = dict(self._known)
        for change in changes:
            if len(change.operand.stored_path) == 1:
                if isinstance(change, Remove):
                    values[change.name] = self._entity.value_if_absent(change.name)
                elif isinstance(change, Set):
                    values[change.name] = change.value
        return values

    def _apply(self, changes: EncodedChanges, item: Item) -> Item:
        """Return the item after the changes, in its next version."""
        try:
            changed = apply_changes(changes, item)
        except ValidationException as fault:
            if INVALID_PATH not in str(fault):
                raise
            entity, key = self._entity, self._key
            raise rejection(ConditionFailed, entity, key, item, PARENT_MISSING) from None
        version = self._entity.version
        if version is not None:
            changed[version.stored] = {"N": str(stored_version(self._entity, item) + 1)}
        return changed

    # -- the request -------------------------------------------------------------------------

    def _render(
        self, changes: EncodedChanges, new: Item, expressions: WriteExpressions
    ) -> set[str]:
        """Add the clauses for the changes, the version and the index keys; return their names."""
        update, version = expressions.update, self._entity.version
        render_changes(changes, update)
        names = {change.attribute.stored for change, _ in changes}
        if version is not None:
            path = update.marks.name(version.stored)
            zero, one = update.marks.value(ZERO), update.marks.value({"N": "1"})
            update.set(path, f"if_not_exists({path}, {zero}) + {one}")
            names.add(version.stored)
        keys = dict.fromkeys(name for key in self._affected.indexes for name in key.composed)
        for attribute in keys:
            update.set_or_remove(attribute, new.get(attribute))
        return names.union(keys)

    def _change_conditions(self) -> list[Condition[Any]]:
        """Return the conditions without which a change is not made."""
        return [change.condition for change in self._changes if change.condition is not None]

    def _all_conditions(self) -> list[Condition[Any]]:
        return [*self._conditions, *self._change_conditions()]

    def _on_failure(self, guard: Guard) -> Callable[[Item | None], Verdict]:
        def on_failure(item: Item | None) -> Verdict:
            error = guard.verdict(item)
            if item is None or not isinstance(error, ConditionFailed):
                return error
            if self._change_conditions() and all(each.matches(item) for each in self._conditions):
                return NothingToDo(self._answer(item, item), error)
            return error

        return on_failure

    # -- the result --------------------------------------------------------------------------

    def _written(self, item: Item) -> E:
        """Return the entity of a stored item: the caller's instance, if there is one."""
        entity: E = self._entity.decode(item)
        if self._instance is None:
            return entity
        vars(self._instance).update(vars(entity))
        self._entity.tracking.remember(self._instance, self._entity.opened(item))
        return self._instance  # type: ignore[no-any-return]

    def _answer(self, old: Item | None, new: Item) -> E | None:
        """Return the result of a change of `old` to `new`, which an instance of the caller gets."""
        written = self._written(new)
        if not self._returns_old:
            return written
        return None if old is None else self._entity.decode(old)

    def _changed_instance(self, changes: EncodedChanges) -> E | None:
        """Return the caller's instance with the changes, after a transaction that read nothing."""
        if self._instance is None:
            return None
        entity, instance = self._entity, self._instance
        item = self._apply(changes, entity.encode(vars(instance)))
        names = {change.name for change, _ in changes}
        if entity.version is not None:
            names.add(entity.version.name)
        in_keys = self._values_in_keys()
        vars(instance).update(read_values(entity, item, names) | in_keys)
        entity.tracking.remember_some(instance, item, names | in_keys.keys())
        return instance  # type: ignore[no-any-return]

    def _shape(self) -> Shape:
        if self._depends_on_kind and isinstance(self._entity, VariantsMap):
            shapes = [self._of_kind(variant)._shape() for variant in self._entity.variants]
            return of_base(self._entity, shapes)
        entity, names, needed = self._entity, self._changed_names(), self._needed()
        # Those with composed keys, and those whose keys are attributes themselves.
        moved = [key for key in entity.index_keys if key.depends_on & names]
        return write_shape(
            entity,
            "UpdateItem",
            KeyCondition(self._key),
            reads=self._must_read(needed),
            indexes=moved,
            more_rows=len(moved),
            conditions=self._conditions,
            sets=self._sets(),
            requires=self._requirements(needed),
            sides=self._side_shapes(),
        )

    def _side_shapes(self) -> list[Shape]:
        affected = self._affected
        removed = {each.name for each in self._changes if each.overwrites and each.value is None}
        links = [link for link in affected.links if not link.names & removed]
        shapes = changed_sides(self._entity, affected.uniques, affected.histories)
        return [*shapes, *link_shapes(links), *counter_shapes(affected.counters)]

    def _sets(self) -> list[facts.Assignment]:
        """Return what the update sets."""
        entity = self._entity
        sets: list[facts.Assignment] = [*self._changes]
        if entity.updated_at is not None:
            sets.append(facts.Stamped(entity.updated_at.name, "now"))
        if entity.version is not None:
            sets.append(facts.Stamped(entity.version.name, f"{entity.version.name} + 1"))
        return [*sets, *composed(self._affected.indexes)]


def _leaves(place: KeyMap, known: Values) -> bool:
    """Whether an item with these values is surely not in a place, by the `when=` of the place."""
    when = place.when
    if when is None or not when.attributes <= known.keys():
        return False
    if any(isinstance(known[name], Symbol) for name in when.attributes):
        return False  # of a pattern that is traced
    return not when.holds(known)
