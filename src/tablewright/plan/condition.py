"""Conditions on attributes: for filters, for writes, and for membership in an index.

    (Order.status == OrderStatus.PAID) & (Order.total > 100)      -> #0 = :0 AND #1 > :1

A condition has three forms. `text` renders it for a request. `holds` evaluates it for the values
of an entity, which decides membership in a sparse index (`when=`). `matches` evaluates it for a
stored item, with the engine's own evaluation, which explains why DynamoDB rejected a write. All
follow DynamoDB: a comparison with a missing attribute is false, and `<>` is true.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, NoReturn, Protocol, TypeAlias, TypeVar

from tablewright.errors import InvalidValue
from tablewright.expression import tree
from tablewright.expression.evaluate import compile_condition
from tablewright.plan.expressions import Placeholders
from tablewright.values import Item, Value

E = TypeVar("E")
#: Returns a value as a text shows it.
ShowValue: TypeAlias = Callable[[Any], str]


class Operand(Protocol):
    """What a condition is about: an attribute, or a path inside it."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def steps(self) -> Sequence[str | int]: ...
    def encode(self, value: Any) -> Value: ...
    def encode_bound(self, value: Any) -> Value: ...
    def encode_member(self, value: Any) -> Value: ...
    def encode_or_leave(self, value: Any) -> Value | None: ...


class TreeValues(dict[str, Value]):
    """The stored values that a tree refers to."""

    def add(self, value: Value) -> tree.Value:
        """Return the node that refers to a value."""
        name = str(len(self))
        self[name] = value
        return tree.Value(name)


class Condition(Generic[E]):
    """Something that may hold for an entity; combine with `&`, `|` and `~`."""

    def __dir__(self) -> list[str]:
        """List nothing: conditions are combined with operators."""
        return []

    def operands(self) -> tuple[Operand, ...]:
        """Return the attributes and paths that the condition reads."""
        raise NotImplementedError

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the attributes that the condition reads."""
        return frozenset(operand.name for operand in self.operands())

    @property
    def compared_values(self) -> tuple[Any, ...]:
        """The values with which attributes are compared."""
        return ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the stored attributes, and of those inside of them, that it reads."""
        steps = [step for operand in self.operands() for step in operand.steps]
        return frozenset(step for step in steps if isinstance(step, str))

    def text(self, marks: Placeholders) -> str:
        """Render the condition as an expression."""
        raise NotImplementedError

    def factor(self, marks: Placeholders) -> str:
        """Render the condition so that it can be joined to others by AND."""
        return self.text(marks)

    def to_tree(self, values: TreeValues) -> tree.Condition:
        """Return the condition as a syntax tree; its stored operands are added to `values`."""
        raise NotImplementedError

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether the condition holds for an entity with these values."""
        raise NotImplementedError

    def matches(self, item: Item) -> bool:
        """Return whether the condition holds for a stored item; `{}` is a missing one."""
        values = TreeValues()
        return compile_condition(self.to_tree(values))(item, values, None)

    def parts(self) -> tuple[Condition[E], ...]:
        """Return the conditions that must all hold."""
        return (self,)

    def show(self, name: Callable[[Operand], str]) -> str:
        """Return the condition as documents write it; `name` gives the name of an operand."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.show(lambda operand: operand.label)

    def __and__(self, other: Condition[E]) -> Condition[E]:
        return All((*self.parts(), *other.parts()))

    def __or__(self, other: Condition[E]) -> Condition[E]:
        return Either((self, other))

    def __invert__(self) -> Condition[E]:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a condition is neither true nor false by itself; combine conditions with & | ~, "
            "and pass them to filter(), where(), condition() or when="
        )


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Compare(Condition[E]):
    """`attribute comparator value`."""

    def __init__(self, operand: Operand, comparator: str, value: Any) -> None:
        if value is None:
            raise InvalidValue(f"{operand!r} is compared with None; use exists() or not_exists()")
        self.operand = operand
        self.comparator = comparator
        self.value = value

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return (self.value,)

    def _encoded(self) -> Value:
        if self.comparator in ("=", "<>"):
            return self.operand.encode(self.value)
        return self.operand.encode_bound(self.value)

    def text(self, marks: Placeholders) -> str:
        path = marks.path(self.operand.steps)
        return f"{path} {self.comparator} {marks.value(self._encoded())}"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        value = values.add(self._encoded())
        return tree.Comparison(self.comparator, _path(self.operand), value)

    def holds(self, values: Mapping[str, Any]) -> bool:
        value = values[self.operand.name]
        if self.comparator == "<>":
            return bool(value != self.value)
        return value is not None and _COMPARE[self.comparator](value, self.value)

    def show(self, name: Callable[[Operand], str], value: ShowValue | None = None) -> str:
        return f"{name(self.operand)} {self.comparator} {(value or show_value)(self.value)}"


class CompareAttributes(Condition[E]):
    """`attribute comparator attribute`, of one entity."""

    def __init__(self, operand: Operand, comparator: str, other: Operand) -> None:
        self.operand = operand
        self.comparator = comparator
        self.other = other

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand, self.other)

    def text(self, marks: Placeholders) -> str:
        left, right = marks.path(self.operand.steps), marks.path(self.other.steps)
        return f"{left} {self.comparator} {right}"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        return tree.Comparison(self.comparator, _path(self.operand), _path(self.other))

    def holds(self, values: Mapping[str, Any]) -> bool:
        left, right = values[self.operand.name], values[self.other.name]
        missing = left is None or right is None
        if self.comparator == "<>":
            return missing or bool(left != right)
        return not missing and _COMPARE[self.comparator](left, right)

    def show(self, name: Callable[[Operand], str]) -> str:
        return f"{name(self.operand)} {self.comparator} {name(self.other)}"


class CompareSize(Condition[E]):
    """`size(attribute) comparator number`."""

    def __init__(self, operand: Operand, comparator: str, size: int) -> None:
        if type(size) is not int:
            raise InvalidValue(f"{operand.label}.size() is compared with {size!r}; pass an int")
        self.operand = operand
        self.comparator = comparator
        self.size = size

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    def text(self, marks: Placeholders) -> str:
        number = marks.value({"N": str(self.size)})
        return f"size({marks.path(self.operand.steps)}) {self.comparator} {number}"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        size = tree.Call("size", (_path(self.operand),))
        return tree.Comparison(self.comparator, size, values.add({"N": str(self.size)}))

    def holds(self, values: Mapping[str, Any]) -> bool:
        value = values[self.operand.name]
        if value is None:
            return False
        if self.comparator == "<>":
            return len(value) != self.size
        return _COMPARE[self.comparator](len(value), self.size)

    def show(self, name: Callable[[Operand], str]) -> str:
        return f"size({name(self.operand)}) {self.comparator} {self.size}"


class Call(Condition[E]):
    """A function of DynamoDB: `attribute_exists(path)`, `begins_with(path, value)`, …"""

    def __init__(
        self, function: str, operand: Operand, check: Callable[[Any], bool], *values: Any
    ) -> None:
        self.function = function
        self.operand = operand
        self.check = check
        self.values = values

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return self.values

    def _encoded(self) -> list[Value]:
        encode = self.operand.encode
        if self.function in ("contains", "begins_with"):
            encode = self.operand.encode_member
        elif self.function == "BETWEEN":
            encode = self.operand.encode_bound
        return [encode(value) for value in self.values]

    def text(self, marks: Placeholders) -> str:
        arguments = [marks.path(self.operand.steps), *map(marks.value, self._encoded())]
        if self.function == "IN":
            return f"{arguments[0]} IN ({', '.join(arguments[1:])})"
        if self.function == "BETWEEN":
            return f"{arguments[0]} BETWEEN {arguments[1]} AND {arguments[2]}"
        return f"{self.function}({', '.join(arguments)})"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        path, operands = _path(self.operand), tuple(map(values.add, self._encoded()))
        if self.function == "IN":
            return tree.In(path, operands)
        if self.function == "BETWEEN":
            return tree.Between(path, *operands)
        return tree.Call(self.function, (path, *operands))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.check(values[self.operand.name])

    def show(self, name: Callable[[Operand], str], value: ShowValue | None = None) -> str:
        operand, shown = name(self.operand), list(map(value or show_value, self.values))
        if self.function == "BETWEEN":
            return f"{operand} BETWEEN {shown[0]} AND {shown[1]}"
        if self.function == "IN":
            return f"{operand} IN ({', '.join(shown)})"
        return f"{self.function}({', '.join([operand, *shown])})"


def _path(operand: Operand) -> tree.Path:
    return tree.Path(tuple(operand.steps))


def show_value(value: Any) -> str:
    """Return a value as documents write it: the same text in every process."""
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(show_value, value)))}}}"
    return repr(value.value if isinstance(value, Enum) else value)


class IsNull(Condition[E]):
    """The attribute is stored as None, where a missing attribute means its default."""

    def __init__(self, operand: Operand) -> None:
        self.operand = operand

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    def text(self, marks: Placeholders) -> str:
        return f"{marks.path(self.operand.steps)} = {marks.value({'NULL': True})}"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        return tree.Comparison("=", _path(self.operand), values.add({"NULL": True}))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return values[self.operand.name] is None

    def show(self, name: Callable[[Operand], str]) -> str:
        return f"{name(self.operand)} = None"


class All(Condition[E]):
    """All conditions hold."""

    def __init__(self, conditions: tuple[Condition[E], ...]) -> None:
        self.conditions = conditions

    def operands(self) -> tuple[Operand, ...]:
        return tuple(operand for each in self.conditions for operand in each.operands())

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return tuple(value for each in self.conditions for value in each.compared_values)

    def parts(self) -> tuple[Condition[E], ...]:
        return self.conditions

    def text(self, marks: Placeholders) -> str:
        return " AND ".join(condition.factor(marks) for condition in self.conditions)

    def to_tree(self, values: TreeValues) -> tree.Condition:
        return tree.And(tuple(condition.to_tree(values) for condition in self.conditions))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return all(condition.holds(values) for condition in self.conditions)

    def show(self, name: Callable[[Operand], str]) -> str:
        return " AND ".join(each.show(name) for each in self.conditions)


class Either(All[E]):
    """At least one condition holds."""

    def parts(self) -> tuple[Condition[E], ...]:
        return (self,)

    def text(self, marks: Placeholders) -> str:
        return " OR ".join(condition.text(marks) for condition in self.conditions)

    def factor(self, marks: Placeholders) -> str:
        return f"({self.text(marks)})"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        return tree.Or(tuple(condition.to_tree(values) for condition in self.conditions))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return any(condition.holds(values) for condition in self.conditions)

    def show(self, name: Callable[[Operand], str]) -> str:
        return f"({' OR '.join(each.show(name) for each in self.conditions)})"


class Not(Condition[E]):
    """The condition does not hold."""

    def __init__(self, condition: Condition[E]) -> None:
        self.condition = condition

    def operands(self) -> tuple[Operand, ...]:
        return self.condition.operands()

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return self.condition.compared_values

    def text(self, marks: Placeholders) -> str:
        return f"NOT ({self.condition.text(marks)})"

    def to_tree(self, values: TreeValues) -> tree.Condition:
        return tree.Not(self.condition.to_tree(values))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return not self.condition.holds(values)

    def show(self, name: Callable[[Operand], str]) -> str:
        return f"NOT ({self.condition.show(name)})"
