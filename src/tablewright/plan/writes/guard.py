"""Guards: the condition under which a write is applied, and the error if it does not hold.

A write that depends on what is stored is sent with a condition on what was read. If the condition
fails, DynamoDB returns the item as it is now: from it follows whether to read and try again, or
which error to raise.

    requirements ──▶ Guard ─┬─▶ expressions()     the condition of the action
                            └─▶ verdict(item)     what it means that the condition does not hold

The requirements are those that the shape of the write has, so `explain` shows what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    InvalidTransition,
    InvalidValue,
    NotFound,
    VersionConflict,
    WriteRejected,
)
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.change import Change, Set
from tablewright.plan.condition import Compare, Condition
from tablewright.plan.explanation import item_key, shown
from tablewright.plan.expressions import Placeholders, UpdateExpression
from tablewright.plan.facts import Exists, MayBecome, OfVersion, Requirement, Unchanged
from tablewright.symbol import Expression, Symbol
from tablewright.values import Item, Value

#: Attributes of a stored item as they were read, by their stored names; None for a missing one.
StoredValues: TypeAlias = "dict[str, Value | None]"
R = TypeVar("R", bound=WriteRejected)

EXISTS = "it already exists"
NOT_FOUND = "it does not exist"


def stored_values(item: Item | None, names: Iterable[str]) -> StoredValues:
    """Return some attributes of a stored item as they are now."""
    return {name: None if item is None else item.get(name) for name in names}


class WriteExpressions:
    """The expressions of one action: its condition, its update, and their names and values."""

    __slots__ = ("_conditions", "_marks", "update")

    def __init__(self) -> None:
        self._marks = Placeholders()
        self._conditions: list[str] = []
        self.update = UpdateExpression(self._marks)

    def require_exists(self, table: TableMap) -> None:
        self._conditions.append(self._exists(table.attributes[0]))

    def require_not_exists(self, table: TableMap) -> None:
        self._conditions.append(self._equals(table.attributes[0], None))

    def require_owned(self, table: TableMap, owners: Iterable[StoredValues]) -> None:
        """Require that a sentinel, if it exists, contains what one of its owners wrote."""
        owned = [self._unchanged(owner) for owner in owners]
        if all(owned):  # one that contains nothing cannot be told from another
            absent = self._equals(table.attributes[0], None)
            self._conditions.append(" OR ".join([absent, *map(_all_of, owned)]))

    def require_if_exists(self, table: TableMap, names: Iterable[str]) -> None:
        """Require that the item, if it exists, has these attributes."""
        present = [self._exists(name) for name in names]
        if present:
            self._conditions.append(self._if_exists(table, present))

    def require_absent_or_equal(self, values: Item) -> None:
        """Require that the item has no other values for these attributes."""
        for name, value in values.items():
            absent = self._equals(name, None)
            self._conditions.append(f"({absent} OR {self._equals(name, value)})")

    def require_unchanged(self, read: StoredValues) -> None:
        """Require that attributes are still as they were read."""
        self._conditions += self._unchanged(read)

    def require_immutable(self, entity: EntityMap, new: Item) -> None:
        """Require that a stored item has the immutable attributes of the new one."""
        terms = []
        for attribute in entity.immutable:
            name, value = attribute.stored, new.get(attribute.stored)
            term = self._equals(name, value)
            if value is not None and _is_default(attribute, value):
                term = f"({term} OR {self._equals(name, None)})"
            terms.append(term)
        if terms:
            self._conditions.append(self._if_exists(entity.table, terms))

    def require_state(self, table: TableMap, state: FormerState, *, must_exist: bool) -> None:
        """Require that a stored item has one of the values that a new value may follow."""
        name = state.attribute.stored
        terms = []
        if len(state.values) > 1:
            marks = ", ".join(map(self._marks.value, state.values))
            terms = [f"{self._marks.name(name)} IN ({marks})"]
        elif state.values:
            terms = [self._equals(name, *state.values)]
        if state.or_absent:
            terms.append(self._equals(name, None))
        elif not must_exist:
            terms.append(self._equals(table.attributes[0], None))
        self._conditions.append(terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})")

    def require_kind(self, entity: EntityMap, *, or_absent: bool = False) -> None:
        """Require that the stored item is of the kind of a variant; other entities have one."""
        table = entity.table
        if entity.base is None or table.type_attribute is None:
            return
        name, value = table.type_attribute, {"S": entity.type_name}
        if table.type_form == "text":
            term = self._equals(name, value)
        else:
            term = f"contains({self._marks.name(name)}, {self._marks.value(value)})"
        self._conditions.append(self._if_exists(table, [term]) if or_absent else term)

    def _exists(self, name: str) -> str:
        return f"attribute_exists({self._marks.name(name)})"

    def _equals(self, name: str, value: Value | None) -> str:
        """Render that an attribute has a value; None: that it is missing."""
        mark = self._marks.name(name)
        if value is None:
            return f"attribute_not_exists({mark})"
        return f"{mark} = {self._marks.value(value)}"

    def _unchanged(self, read: StoredValues) -> list[str]:
        return [self._equals(name, value) for name, value in read.items()]

    def _if_exists(self, table: TableMap, terms: list[str]) -> str:
        """Render that the item does not exist, or that all terms hold."""
        return f"({self._equals(table.attributes[0], None)} OR {_all_of(terms)})"

    def require(self, conditions: Sequence[Condition[Any]]) -> None:
        """Require conditions of the caller."""
        self._conditions += [condition.factor(self._marks) for condition in conditions]

    def add_to(self, body: dict[str, Any]) -> dict[str, Any]:
        """Add the expressions to the body of an action, and return it."""
        if self._conditions:
            body["ConditionExpression"] = " AND ".join(self._conditions)
        if self.update.clauses:
            body["UpdateExpression"] = self.update.text()
        body.update(self._marks.members())
        return body


class Guard:
    """What a write requires of the stored item, given the item that it has read.

    `read` is None if there was no item, or if nothing that is required had to be read. `new` is the
    item of a put, whose immutable attributes must be those of the stored one.
    """

    def __init__(
        self,
        entity: EntityMap,
        key: Item,
        requirements: Iterable[Requirement],
        read: Item | None = None,
        *,
        new: Item | None = None,
        other_kind: type[WriteRejected] = NotFound,
    ) -> None:
        self._entity = entity
        self._key = key
        self._new = new
        #: The error for an item of another variant.
        self._other_kind = other_kind
        self._must_exist = False
        #: The version that the caller has read.
        self._version: Any = None
        #: What must be stored as it is here.
        self.unchanged: StoredValues = {}
        #: What the stored values of attributes may be.
        self._states: list[FormerState] = []
        self._conditions: list[Condition[Any]] = []
        for each in requirements:
            if isinstance(each, Condition):
                self._conditions.append(each)
            elif isinstance(each, Exists):
                self._must_exist = True
            elif isinstance(each, MayBecome):
                self._states.append(FormerState(entity, each))
            elif isinstance(each, OfVersion):
                self._version = version = each.version
                stored = entity.attributes[each.attribute].stored
                self.unchanged[stored] = {"N": str(version)} if version else None  # 0 is not stored
            elif isinstance(each, Unchanged):
                self.unchanged |= stored_values(read, _compared(entity, each, read))

    def expressions(self) -> WriteExpressions:
        """Return the expressions of the action, with its condition."""
        made = WriteExpressions()
        # Attributes of the key are those of the request: an item that exists has them.
        keys = self._entity.table.attributes
        must_exist = self._must_exist or any(self.unchanged.get(str(name)) for name in keys)
        if must_exist:
            made.require_exists(self._entity.table)
        if self._entity.base is not None:
            made.require_kind(self._entity, or_absent=not must_exist)
        if self.unchanged:
            made.require_unchanged(
                {n: v for n, v in self.unchanged.items() if v is None or n not in keys}
            )
        if self._new is not None:
            made.require_immutable(self._entity, self._new)
        for state in self._states:
            made.require_state(self._entity.table, state, must_exist=must_exist)
        if self._conditions:
            made.require(self._conditions)
        return made

    def verdict(self, item: Item | None) -> WriteRejected | None:
        """Return the error if the condition does not hold for the item as it is now.

        None if the item has changed since it was read: then the write is prepared again.
        """
        error = self.rejected(item)
        if error is not None or stored_values(item, self.unchanged) != self.unchanged:
            return error
        error = self._immutable_changed(item) or self._wrong_state(item)
        if error is not None:
            return error
        failed = [each for each in self._conditions if not each.matches(item or {})]
        shown = " AND ".join(map(repr, failed or self._conditions))
        return self._reject(ConditionFailed, item, f"the condition {shown} is false")

    def check(self, item: Item | None) -> Item:
        """Return an item that was read; raise the error if it cannot be written."""
        error = self.rejected(item) or self._wrong_state(item)
        if error is not None:
            raise error
        assert item is not None  # it is required to exist
        return item

    def rejected(self, item: Item | None) -> WriteRejected | None:
        """Return the error for an item that is missing, of another kind or of another version."""
        if item is None and self._must_exist:
            return self._reject(NotFound, None, NOT_FOUND)
        other = of_another_kind(self._other_kind, self._entity, self._key, item)
        if other is not None or self._entity.version is None:
            return other
        found = stored_version(self._entity, item)
        expected = (self._version, _version_in(self._conditions, self._entity.version))
        return next(
            (
                self._reject(VersionConflict, item, _other_version(version, found, item))
                for version in expected
                if version is not None and version != found
            ),
            None,
        )

    def _immutable_changed(self, item: Item | None) -> WriteRejected | None:
        """Return the error for a new item with another value of an immutable attribute."""
        entity, new = self._entity, self._new
        for attribute in entity.immutable if item is not None and new is not None else ():
            old, value = (item or {}).get(attribute.stored), (new or {}).get(attribute.stored)
            if old != value and not (old is None and _is_default(attribute, value)):
                reason = (
                    f"{entity.name}.{attribute.name} is immutable: it is stored as "
                    f"{_content(old)}, and cannot become {_content(value)}"
                )
                return self._reject(ConditionFailed, item, reason)
        return None

    def _wrong_state(self, item: Item | None) -> WriteRejected | None:
        """Return the error for an attribute whose stored value may not change to the new one."""
        for state in self._states if item is not None else ():
            attribute, stored = state.attribute, (item or {}).get(state.attribute.stored)
            if state.accepts(stored):
                continue
            assert attribute.transitions is not None
            now = (
                self._entity.value_if_absent(attribute.name)
                if stored is None
                else attribute.converter.decode(stored)
            )
            after = attribute.transitions.after.get(now, ())
            followers = f"{' or '.join(map(shown, after)) or 'no other value'} may follow it"
            error = self._reject(
                InvalidTransition,
                item,
                f"{attribute.name} is {shown(now)} and cannot become {shown(state.wanted)}; "
                f"{followers}",
            )
            error.attribute, error.state, error.wanted = attribute.name, now, state.wanted
            return error
        return None

    def _reject(self, kind: type[R], item: Item | None, reason: str) -> R:
        return rejection(kind, self._entity, self._key, item, reason)


class FormerState:
    """The stored values that an attribute may have before it becomes another one."""

    def __init__(self, entity: EntityMap, change: MayBecome) -> None:
        self.attribute = attribute = entity.attributes[change.attribute]
        assert attribute.transitions is not None
        self.wanted = change.value
        absent = entity.value_if_absent(attribute.name) if attribute.may_be_absent else None
        #: Whether an item without the attribute may get the value.
        self.or_absent = absent in change.before or (
            absent is None and None not in attribute.transitions.after
        )
        stored = (attribute.store(each) for each in change.before)
        self.values = [each for each in stored if each is not None]

    def accepts(self, stored: Value | None) -> bool:
        """Return whether a stored value may change to the new one."""
        return self.or_absent if stored is None else stored in self.values


def may_become(attribute: AttributeMap, value: Any) -> MayBecome:
    """Return what the stored value must be, if it becomes this value or that of an argument."""
    assert attribute.transitions is not None
    if isinstance(value, Expression):
        return MayBecome(attribute.name, value)
    return MayBecome(attribute.name, value, attribute.transitions.before(value))


def check_transition(where: str, change: Change[Any]) -> None:
    """Raise InvalidValue for a change to a value that can follow no other, or that is unknown."""
    if not isinstance(change, Set) or len(change.operand.stored_path) > 1:
        raise InvalidValue(f"{where} has transitions=; change it with set(…)")
    assert change.attribute.transitions is not None
    if isinstance(change.value, Symbol):
        return
    if len(change.attribute.transitions.before(change.value)) == 1:
        raise InvalidValue(f"{where}: {shown(change.value)} follows no other value in transitions=")


def _compared(entity: EntityMap, requirement: Unchanged, read: Item | None) -> list[str]:
    """Return the stored names of the attributes that must not have changed."""
    key = entity.table.attributes[0]
    if requirement.what == "it" and read is None:
        return [key]  # it stands for whether the item exists
    names = requirement.names or entity.attributes
    stored = {entity.attributes[name].stored for name in names}
    if requirement.what == "it":
        stored |= {key} if requirement.names else {*(read or ())}
    return sorted(stored)


def all_unchanged(entity: EntityMap) -> Unchanged:
    """Return the requirement that an item is as it was read; a version stands for all of it."""
    if entity.version is None:
        return Unchanged()
    return Unchanged("version", (entity.version.name,))


def put_if_absent(table: TableMap, item: Item) -> dict[str, Any]:
    """Return the body of the put of an item that must not exist."""
    return {
        "Item": item,
        "ConditionExpression": "attribute_not_exists(#0)",
        "ExpressionAttributeNames": {"#0": table.attributes[0]},
    }


def _all_of(terms: list[str]) -> str:
    """Join terms; DynamoDB rejects redundant parentheses."""
    return terms[0] if len(terms) == 1 else f"({' AND '.join(terms)})"


def rejection(kind: type[R], entity: EntityMap, key: Item, item: Item | None, reason: str) -> R:
    """Return the error for a rejected write: the entity, the key, the stored item, the reason."""
    current = None if item is None else entity.kind_of(item).decode(item)
    message = f"{entity.name} ({key_text(key)}): {reason}"
    return kind(message, entity=entity.name, key=key, current=current, reason=reason)


def key_text(key: Item) -> str:
    """Render a key for a message: `PK="USER", SK="USER#1"`."""
    return item_key(key, ", ")


# -- versions ------------------------------------------------------------------------------------


def stored_version(entity: EntityMap, item: Item | None) -> int:
    """Return the version of a stored item; 0 if there is no item, or no version in it."""
    assert entity.version is not None
    value = None if item is None else item.get(entity.version.stored)
    return 0 if value is None else int(entity.version.converter.decode(value))


def _version_in(conditions: Sequence[Condition[Any]], version: AttributeMap) -> Any:
    """Return the version that the caller's conditions require; None if they require none."""
    for each in conditions:
        if isinstance(each, Compare) and (each.comparator, each.operand.name) == (
            "=",
            version.name,
        ):
            return each.value
    return None


def _other_version(expected: Any, found: int, item: Item | None) -> str:
    """Return why a stored version is not the expected one."""
    if item is None:
        return (
            f"version {expected} was expected, but the item does not exist: it was deleted, or an "
            "attribute of its key was assigned instead of changed with update()"
        )
    if not expected:
        return f"it already exists, in version {found}; read it before you replace it"
    return f"version {expected} was expected, but version {found} is stored"


# -- variants ------------------------------------------------------------------------------------


def of_another_kind(
    kind: type[WriteRejected], entity: EntityMap, key: Item, item: Item | None
) -> WriteRejected | None:
    """Return the error for an item of another variant; None if it is of the entity's kind."""
    if item is None or entity.is_kind_of(item):
        return None
    found = entity.kind_of(item)
    is_known = found is not entity.base
    reason = (
        f"the stored item is of {f'the kind {found.name}' if is_known else 'an unknown kind'}, not "
        f"{entity.name}, and a write keeps the kind; delete it first"
    )
    return rejection(kind, entity, key, item if is_known else None, reason)


def refuse_base(entity: EntityMap, verb: str) -> None:
    """Raise DeclarationError for a write that only a variant can do."""
    raise DeclarationError(
        f"{verb} {entity.name}: a base of variants creates and moves no items; write through one "
        f"of its variants: {', '.join(entity.type_names)}"
    )


# -- immutable attributes ------------------------------------------------------------------------


def _is_default(attribute: AttributeMap, value: Value | None) -> bool:
    """Return whether an item without the attribute has this value, too."""
    return attribute.default is not None and attribute.store(attribute.default()) == value


def _content(value: Value | None) -> str:
    return "nothing" if value is None else repr(next(iter(value.values())))
