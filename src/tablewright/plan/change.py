"""Changes: what an update does to one attribute, or to a path inside it.

    Order.status.set(OrderStatus.PAID)        SET #0 = :0
    Order.note.remove()                       REMOVE #0
    Product.stock.increment(-2)               SET #0 = if_not_exists(#0, :0) + :1
    Menu.sections.path(lambda s: s["1"].name).set("Soups")    SET #0.#1.#2 = :0

A change is encoded once (`Change.encode`). The stored operand that results is rendered for the
request (`render`), and applied to a stored item here (`apply_changes`), by DynamoDB's rules: so
the item after the write, and the index keys that change with it, are known before it is sent.

Invariant: the new value depends only on the old value and on the operand.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import partial
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from tablewright.expression import update as stored_update
from tablewright.mapping.attributes import AttributeMap
from tablewright.plan.condition import Condition, Negation, Operand, Predicate
from tablewright.plan.expressions import UpdateExpression
from tablewright.values import Item, Value

E = TypeVar("E")

EMPTY_LIST: Value = {"L": []}
ZERO: Value = {"N": "0"}


class Change(Generic[E]):
    """What happens to one attribute, or to one path inside it."""

    #: Whether the new value does not depend on the old one.
    overwrites: ClassVar[bool] = False
    #: The clause of an update expression, and its text: `start` is what a missing value counts as.
    _clause: ClassVar[str] = "SET"
    _text: ClassVar[str] = "{path} = {value}"
    _start: ClassVar[Value | None] = None
    #: How `explain` shows it.
    _form: ClassVar[str] = "{path} = {value}"

    def __init__(self, operand: Operand, attribute: AttributeMap, value: Any = None) -> None:
        self.operand = operand
        self.attribute = attribute
        self.name = attribute.name
        self.value = value

    @property
    def condition(self) -> Condition[E] | None:
        """The condition without which the change is not made at all."""
        return None

    def encode(self) -> Value | None:
        """Return the stored operand; None for a change without one."""
        return self.operand.encode(self.value)

    def render(self, path: str, stored: Any, update: UpdateExpression) -> None:
        """Add the clause for this change to an update expression."""
        marks = update.marks
        start = "" if self._start is None else marks.value(self._start)
        text = self._text.format(path=path, start=start, value=marks.value(stored))
        update.clauses[self._clause].append(text)

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        """Return the value after the change; None is a missing value, before and after."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return the change as `explain` shows it: `points = points + {amount}`."""
        value = self.value.value if isinstance(self.value, Enum) else self.value
        return self._form.format(path=self.operand.label, value=repr(value))

    def __repr__(self) -> str:
        shown = "" if self.value is None else repr(self.value)
        return f"{self.name}.{type(self).__name__}({shown})"


class Set(Change[E]):
    overwrites = True

    def encode(self) -> Value | None:
        return self.operand.encode_or_leave(self.value)

    def render(self, path: str, stored: Any, update: UpdateExpression) -> None:
        if stored is None:
            update.remove(path)
        else:
            super().render(path, stored, update)

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        result: Value | None = stored
        return result


class Remove(Set[E]):
    _form = "remove {path}"

    def encode(self) -> Value | None:
        return None


class SetIfAbsent(Change[E]):
    _text = "{path} = if_not_exists({path}, {value})"
    _form = "{path} = {value}, if it is missing"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored if old is None else old


class Increment(Change[E]):
    """Adds to a number; a missing number counts from 0."""

    _text = "{path} = if_not_exists({path}, {start}) + {value}"
    _start = ZERO
    _form = "{path} = {path} + {value}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.add_value(old, stored)


class Decrement(Increment[E]):
    """Subtracts from a number; a missing number counts from 0."""

    _text = "{path} = if_not_exists({path}, {start}) - {value}"
    _form = "{path} = {path} - {value}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.subtract_value(old, stored)


class AddToSet(Change[E]):
    """Adds members to a set."""

    _clause, _text = "ADD", "{path} {value}"
    _form = "add {value} to {path}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.add_value(old, stored)


class RemoveFromSet(Change[E]):
    """Removes members from a set."""

    _clause, _text = "DELETE", "{path} {value}"
    _form = "remove {value} from {path}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.delete_value(old, stored)


class Append(Change[E]):
    """Adds elements at the end of a list; a missing list counts as empty."""

    _text = "{path} = list_append(if_not_exists({path}, {start}), {value})"
    _start = EMPTY_LIST
    _form = "append {value} to {path}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.add_value(EMPTY_LIST if old is None else old, stored)


class Prepend(Change[E]):
    """Adds elements at the beginning of a list."""

    _text = "{path} = list_append({value}, if_not_exists({path}, {start}))"
    _start = EMPTY_LIST
    _form = "prepend {value} to {path}"

    def apply(self, old: Value | None, stored: Any) -> Value | None:
        return stored_update.add_value(stored, EMPTY_LIST if old is None else old)


class AppendIfAbsent(Append[E]):
    """Adds one element at the end of a list that does not contain it."""

    @property
    def condition(self) -> Condition[E]:
        member = self.value[0]
        return Negation(
            Predicate("contains", self.operand, lambda current: member in (current or ()), member)
        )


#: Changes with their stored operands, each encoded once.
EncodedChanges: TypeAlias = list[tuple[Change[Any], Value | None]]


def encode_changes(changes: Iterable[Change[Any]]) -> EncodedChanges:
    """Encode the operands of changes."""
    return [(change, change.encode()) for change in changes]


def render_changes(changes: EncodedChanges, update: UpdateExpression) -> None:
    """Add the clauses of changes to an update expression."""
    for change, stored in changes:
        change.render(update.marks.path(change.operand.stored_path), stored, update)


def apply_changes(changes: EncodedChanges, item: Item) -> Item:
    """Return an item after changes, by the rules of DynamoDB's update expressions.

    Raises ValidationException where an operand does not fit the stored value, or where the parent
    of a path does not exist.
    """
    if all(len(change.operand.stored_path) == 1 for change, _ in changes):
        new = item.copy()
        for change, stored in changes:
            name = change.attribute.stored
            value = change.apply(item.get(name), stored)
            if value is not None:
                new[name] = value
            else:
                new.pop(name, None)
        return new
    return stored_update.apply_changes(
        item,
        [
            (tuple(change.operand.stored_path), partial(change.apply, stored=stored))
            for change, stored in changes
        ],
    )
