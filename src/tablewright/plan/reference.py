"""References: `Order.status` is one, `order.status` is the value.

A reference makes conditions (`Order.total > 100`) and changes (`Order.status.set(PAID)`). `path`
goes into a document; what the checker follows is what is stored:

    Menu.sections.path(lambda sections: sections[section_id].name).set("Soups")
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar, overload

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import Converter
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.paths import (
    cached_converter,
    recorded_steps,
    show_step,
    step_into,
    without_none,
)
from tablewright.mapping.pydantic_bridge import Check, constraint_check, field_check, member_check
from tablewright.plan import change, condition
from tablewright.plan.change import Change
from tablewright.plan.comparable import Comparable, Held
from tablewright.plan.condition import Condition
from tablewright.symbol import Symbol, contains_symbol
from tablewright.values import SET_MEMBER, Value

E = TypeVar("E")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)


def _check_whole(held: Any, what: str) -> None:
    """Raise InvalidValue for a change of a part of a value that a codec stores as one."""
    if held.converter.codec:
        raise InvalidValue(
            f"{held.where} is stored as {held.converter.codec.format(held.label)}, in one value; "
            f"{what} cannot change a part of it: use set(…)"
        )


class Ref(Comparable[E, T]):
    """An attribute of an entity, or a path inside it."""

    __slots__ = (
        "attribute",
        "check",
        "check_member",
        "converter",
        "removable",
        "stored_path",
        "where",
    )
    converter: Converter
    #: Further names that plans use, and subclasses have.
    _INTERNAL = ("again", "declared", "formats", "label", "name", "read")

    def __dir__(self) -> list[str]:
        """List what users call."""
        internal = (*Ref.__slots__, *Ref._INTERNAL)
        names = [name for name in super().__dir__() if name not in internal]
        return [name for name in names if not name.startswith("encode")]

    def __init__(
        self,
        where: str,
        attribute: AttributeMap,
        path: tuple[str | int, ...] = (),
        inner: Converter | None = None,
        removable: bool | None = None,
        check: Check | None = None,
        check_member: Check | None = None,
    ) -> None:
        self.where = where
        self.attribute = attribute
        self.stored_path = path or (attribute.stored,)
        self.converter = inner or attribute.converter
        #: Validate a value, or a member of a list or a set, of a place inside of the attribute.
        self.check = check
        self.check_member = attribute.validate_member if inner is None else check_member
        #: Whether what holds it can do without it: it has a default, or is a member of something.
        self.removable = attribute.default is not None if removable is None else removable

    # -- what conditions and changes need ----------------------------------------------------

    @property
    def name(self) -> str:
        return self.attribute.name

    def encode(self, value: Any) -> Value:
        return self.converter.encode(value)

    def encode_bound(self, value: Any) -> Value:
        """A bound of a range of values."""
        return self.converter.bound(value)

    def encode_member(self, value: Any) -> Value:
        """A member of a list or set, or a part of a text."""
        tag = self.converter.tag
        if tag == "L":
            member: Value = self.converter.encode([value])["L"][0]
            return member
        if tag in SET_MEMBER:
            members = frozenset if self.converter.empty is frozenset else builtins.set
            return {SET_MEMBER[tag]: self.converter.encode(members((value,)))[tag][0]}
        if tag == "S" and isinstance(value, str):
            return {"S": str.__str__(value)}  # a part of a text need not be one of its kind
        return self.converter.encode(value)

    def encode_or_leave(self, value: Any) -> Value | None:
        return (
            self.attribute.store(value)
            if len(self.stored_path) == 1
            else self.converter.stored(value)
        )

    def read(self, item: Mapping[str, Value]) -> T:
        """Return the value in an item; None if it is missing."""
        value: Any = {"M": item}
        for step in self.stored_path:
            inside = value.get("M" if isinstance(step, str) else "L")
            try:
                value = inside[step]
            except (KeyError, IndexError, TypeError):
                return self._absent()
        return self.converter.decode(value)  # type: ignore[no-any-return]

    def _absent(self) -> T:
        if len(self.stored_path) == 1 and self.attribute.default is not None:
            return self.attribute.default()  # type: ignore[no-any-return]
        if len(self.stored_path) > 1 and self.converter.empty is None:
            return None  # type: ignore[return-value]  # its parent does not exist
        return self.converter.read({}, str(self.stored_path[-1]))  # type: ignore[no-any-return]

    def not_exists(self) -> Condition[E]:
        """It has no value."""
        absent = self.attribute.has_value_if_absent and len(self.stored_path) == 1
        return condition.IsNull(self) if absent else super().not_exists()

    def exists(self) -> Condition[E]:
        """It has a value."""
        absent = self.attribute.has_value_if_absent and len(self.stored_path) == 1
        return ~self.not_exists() if absent else super().exists()

    @property
    def label(self) -> str:
        """Its name inside its entity."""
        return self.where.partition(".")[2]

    def __repr__(self) -> str:
        return self.where

    # -- changes -----------------------------------------------------------------------------

    def set(self, value: T) -> Change[E]:
        """Set the value; None removes it."""
        if value is None and not self.converter.optional:
            return self.remove()  # which rejects it if there is no default
        return change.Set(self, self.attribute, self._enter(value))

    def set_if_absent(self, value: T) -> Change[E]:
        """Set the value, unless there is one."""
        return change.SetIfAbsent(self, self.attribute, self._enter(value))

    def _enter(self, value: Any) -> Any:
        """Return a value as pydantic validates it; raise InvalidValue."""
        if len(self.stored_path) == 1:
            return self.attribute.enter(value)
        return value if self.check is None or value is None else self.check(value)

    def remove(self) -> Change[E]:
        """Remove the value."""
        needed = not self.converter.optional and self.converter.empty is None
        if needed and not self.removable:
            raise InvalidValue(f"{self.where} cannot be removed: it is not optional")
        return change.Remove(self, self.attribute)

    @overload
    def increment(self: Ref[E, int], amount: int) -> Change[E]: ...
    @overload
    def increment(self: Ref[E, int | None], amount: int) -> Change[E]: ...
    @overload
    def increment(self: Ref[E, Decimal], amount: Decimal | int) -> Change[E]: ...
    @overload
    def increment(self: Ref[E, Decimal | None], amount: Decimal | int) -> Change[E]: ...
    @overload
    def increment(self: Ref[E, float], amount: float) -> Change[E]: ...
    @overload
    def increment(self: Ref[E, float | None], amount: float) -> Change[E]: ...
    def increment(self, amount: Any) -> Change[E]:
        """Add to a number; a missing number counts from 0."""
        _check_whole(self, "increment()")
        if self.converter.tag not in (None, "N"):
            raise InvalidValue(f"{self.where} is not a number; increment() adds to numbers only")
        return change.Increment(self, self.attribute, amount)

    @overload
    def decrement(self: Ref[E, int], amount: int) -> Change[E]: ...
    @overload
    def decrement(self: Ref[E, int | None], amount: int) -> Change[E]: ...
    @overload
    def decrement(self: Ref[E, Decimal], amount: Decimal | int) -> Change[E]: ...
    @overload
    def decrement(self: Ref[E, Decimal | None], amount: Decimal | int) -> Change[E]: ...
    @overload
    def decrement(self: Ref[E, float], amount: float) -> Change[E]: ...
    @overload
    def decrement(self: Ref[E, float | None], amount: float) -> Change[E]: ...
    def decrement(self, amount: Any) -> Change[E]:
        """Subtract from a number; a missing number counts from 0."""
        _check_whole(self, "decrement()")
        if self.converter.tag not in (None, "N"):
            raise InvalidValue(f"{self.where} is not a number; decrement() is for numbers only")
        return change.Decrement(self, self.attribute, amount)

    @overload
    def add_to_set(
        self: Held[E, builtins.set[U] | None], members: builtins.set[U]
    ) -> Change[E]: ...
    @overload
    def add_to_set(self: Held[E, frozenset[U] | None], members: frozenset[U]) -> Change[E]: ...
    def add_to_set(self, members: Any) -> Change[E]:
        """Add members to a set."""
        _check_whole(self, "add_to_set()")
        if self.check_member is not None and not isinstance(members, Symbol):
            checked = list(map(self.check_member, members))
            members = members if contains_symbol(members) else type(members)(checked)
        return change.AddToSet(self, self.attribute, members)

    @overload
    def remove_from_set(
        self: Held[E, builtins.set[U] | None], members: builtins.set[U]
    ) -> Change[E]: ...
    @overload
    def remove_from_set(self: Held[E, frozenset[U] | None], members: frozenset[U]) -> Change[E]: ...
    def remove_from_set(self, members: Any) -> Change[E]:
        """Remove members from a set."""
        _check_whole(self, "remove_from_set()")
        return change.RemoveFromSet(self, self.attribute, members)

    def append(self: Held[E, list[U] | None], *members: U) -> Change[E]:
        """Add members at the end of a list; a missing list counts as empty."""
        return _change(change.Append, self, list(members))

    def prepend(self: Held[E, list[U] | None], *members: U) -> Change[E]:
        """Add members at the beginning of a list; a missing list counts as empty."""
        return _change(change.Prepend, self, list(members))

    def append_if_absent(self: Held[E, list[U] | None], member: U) -> Change[E]:
        """Add a member at the end of a list, unless the list contains it."""
        return _change(change.AppendIfAbsent, self, [member])

    # -- places inside -----------------------------------------------------------------------

    def path(self: Held[E, V | None], steps: Callable[[V], U]) -> Ref[E, U]:
        """Refer to a path inside a document: `Menu.sections.path(lambda s: s["soups"].name)`."""
        return _nested(self, steps)


def _change(kind: type[Change[Any]], held: Any, value: Any) -> Change[Any]:
    _check_whole(held, "append() or prepend()")
    if held.converter.tag not in (None, "L"):
        raise InvalidValue(f"{held.where} is not a list; append() and prepend() add to lists only")
    check = held.check_member
    return kind(held, held.attribute, value if check is None else [check(each) for each in value])


def _nested(ref: Any, steps: Callable[[Any], Any]) -> Ref[Any, Any]:
    if ref.converter.codec:
        raise DeclarationError(
            f"{ref.where} is stored as {ref.converter.codec.format(ref.label)}, in one value; "
            "DynamoDB cannot address a part of it: read the entity, and set the whole value"
        )
    kind: Any = ref.converter.kind
    path, where, removable = ref.stored_path, ref.where, None
    check: Check | None = None
    for step in recorded_steps(steps, where):
        around = without_none(kind)
        stored, kind, removable = step_into(kind, step, where)
        path = (*path, stored)
        where += show_step(step)
        is_field = step[0] == "attribute"
        check = field_check(around, step[1], where) if is_field else None
        check = check or constraint_check(kind, where)
    return Ref(
        where,
        ref.attribute,
        path,
        cached_converter(kind, where),
        removable,
        check,
        member_check(kind, where),
    )


def check_reference(reference: Any, entity: EntityMap) -> None:
    """Raise DeclarationError unless it is an attribute of the entity, or a path inside one."""
    if not isinstance(reference, Ref):
        raise DeclarationError(
            f"{reference!r} is not an attribute; write {entity.name}.<attribute>"
        )
    if entity.attributes.get(reference.name) is not reference.attribute:
        raise DeclarationError(f"{reference!r} is not an attribute of {entity.name}")


def check_attributes(given: Any, entity: EntityMap) -> None:
    """Raise DeclarationError unless it is a condition on attributes of the entity."""
    if not isinstance(given, Condition):
        raise DeclarationError(
            f"{given!r} is not a condition; write one with attributes: "
            f"{entity.name}.{next(iter(entity.attributes))} == …"
        )
    for operand in given.operands():
        check_reference(operand, entity)


def check_filter(given: Any, entity: EntityMap) -> None:
    """Raise DeclarationError unless it is a condition that a query can filter by."""
    check_attributes(given, entity)
    for operand in given.operands():
        _refuse_key_only(operand, entity)
        _refuse_other_names(operand, entity)


def check_condition(given: Any, entity: EntityMap) -> None:
    """Raise DeclarationError unless it is a condition that a write can have.

    Whether an attribute that is only in a key exists is whether its key does.
    """
    check_attributes(given, entity)
    for operand in given.operands():
        _refuse_other_names(operand, entity)
    for leaf in condition.leaves_of(given):
        if not (isinstance(leaf, condition.Predicate) and leaf.is_existence):
            for operand in leaf.operands():
                _refuse_key_only(operand, entity)


def _refuse_key_only(operand: Any, entity: EntityMap) -> None:
    if entity.attributes[operand.name].is_key_only:
        raise DeclarationError(
            f"{operand!r} is stored only inside keys, so DynamoDB cannot compare it by itself; "
            f"use a key of {entity.name}"
        )


def _refuse_other_names(operand: Any, entity: EntityMap) -> None:
    """Raise DeclarationError for an attribute that variants store under different names."""
    names = {
        each.name: each.attributes[operand.name].stored for each in entity.kinds if each != entity
    }
    if len({*names.values(), entity.attributes[operand.name].stored}) > 1:
        shown = " and ".join(f"{stored!r} in {name}" for name, stored in names.items())
        raise DeclarationError(
            f"{operand!r} is stored as {shown}, so DynamoDB cannot compare it for all variants; "
            "read one of them, or use the key"
        )
