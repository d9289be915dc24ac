"""Changes: what an update does to one attribute, or to a place inside of it.

    Order.status.set(OrderStatus.PAID)        SET #0 = :0
    Order.note.remove()                       REMOVE #0
    Product.stock.increment(-2)               SET #0 = if_not_exists(#0, :0) + :1
    Menu.sections.path(lambda s: s["1"].name).set("Soups")    SET #0.#1.#2 = :0

`applied` makes the changes to an item here, as DynamoDB will: so it is known which keys move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from tablewright.expression import Scope
from tablewright.mapping.entity import AttributeMap
from tablewright.plan.condition import Call, Condition, Not, Operand
from tablewright.plan.expressions import Placeholders
from tablewright.values import Item, Value

E = TypeVar("E")

EMPTY_LIST: Value = {"L": []}


class Clauses(defaultdict[str, list[str]]):
    """The clauses of an update expression, by their keyword."""

    def __init__(self) -> None:
        super().__init__(list)

    def text(self) -> str:
        return " ".join(f"{keyword} {', '.join(actions)}" for keyword, actions in self.items())


class Change(Generic[E]):
    """What happens to one attribute."""

    def __init__(self, operand: Operand, attribute: AttributeMap, value: Any = None) -> None:
        self.operand = operand
        self.attribute = attribute
        self.value = value

    @property
    def name(self) -> str:
        return self.attribute.name

    @property
    def condition(self) -> Condition[E] | None:
        """What must hold for the change to be made at all."""
        return None

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = "" if self.value is None else repr(self.value)
        return f"{self.name}.{type(self).__name__}({shown})"


class Set(Change[E]):
    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        stored = self.operand.encode_or_leave(self.value)
        if stored is None:
            clauses["REMOVE"].append(marks.path(self.operand.steps))
        else:
            clauses["SET"].append(f"{marks.path(self.operand.steps)} = {marks.value(stored)}")


class Remove(Change[E]):
    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        clauses["REMOVE"].append(marks.path(self.operand.steps))


class SetIfAbsent(Change[E]):
    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        path = marks.path(self.operand.steps)
        value = marks.value(self.operand.encode(self.value))
        clauses["SET"].append(f"{path} = if_not_exists({path}, {value})")


class Increment(Change[E]):
    """A number that is added; what is not there counts from 0."""

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        path = marks.path(self.operand.steps)
        zero, amount = marks.value({"N": "0"}), marks.value(self.operand.encode(self.value))
        clauses["SET"].append(f"{path} = if_not_exists({path}, {zero}) + {amount}")


class AddToSet(Change[E]):
    """Members that join a set."""

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        members = marks.value(self.operand.encode(self.value))
        clauses["ADD"].append(f"{marks.path(self.operand.steps)} {members}")


class RemoveFromSet(Change[E]):
    """Members that leave a set."""

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        members = marks.value(self.operand.encode(self.value))
        clauses["DELETE"].append(f"{marks.path(self.operand.steps)} {members}")


class Append(Change[E]):
    """Elements behind a list, which is made where it is not there."""

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        path = marks.path(self.operand.steps)
        empty, items = marks.value(EMPTY_LIST), marks.value(self.operand.encode(self.value))
        clauses["SET"].append(f"{path} = list_append(if_not_exists({path}, {empty}), {items})")


class Prepend(Change[E]):
    """Elements before a list."""

    def write(self, clauses: Clauses, marks: Placeholders) -> None:
        path = marks.path(self.operand.steps)
        empty, items = marks.value(EMPTY_LIST), marks.value(self.operand.encode(self.value))
        clauses["SET"].append(f"{path} = list_append({items}, if_not_exists({path}, {empty}))")


class AppendIfAbsent(Append[E]):
    """One element behind a list that does not hold it yet."""

    @property
    def condition(self) -> Condition[E]:
        member = self.value[0]
        return Not(
            Call("contains", self.operand, lambda current: member in (current or ()), member)
        )


def applied(changes: Iterable[Change[Any]], item: Item) -> Item:
    """An item after changes, by the rules of DynamoDB's update expressions."""
    clauses, marks = Clauses(), Placeholders()
    for change in changes:
        change.write(clauses, marks)
    update = Scope(marks.names or None, marks.values or None).update(clauses.text())
    assert update is not None
    return update.apply(item)
