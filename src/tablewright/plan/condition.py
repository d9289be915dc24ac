"""Conditions on attributes: for filters, for writes, and for membership in an index.

    (Order.status == OrderStatus.PAID) & (Order.total > 100)      -> #0 = :0 AND #1 > :1

A condition becomes an expression when a request is made, and can be asked whether it holds for
values in Python, which is how sparse indexes (`when=`) are decided. Both follow DynamoDB: what is
not there compares with nothing, except that it is not equal to everything.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from tablewright.errors import InvalidValue
from tablewright.plan.expressions import Placeholders
from tablewright.values import Value

E = TypeVar("E")


class Operand(Protocol):
    """What a condition is about: an attribute, or a place inside of it."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def steps(self) -> Sequence[str | int]: ...
    def encode(self, value: Any) -> Value: ...
    def encode_member(self, value: Any) -> Value: ...
    def encode_or_leave(self, value: Any) -> Value | None: ...


class Condition(Generic[E]):
    """Something that may hold for an entity; combine with `&`, `|` and `~`."""

    def __dir__(self) -> list[str]:
        """List nothing: conditions are combined with operators."""
        return []

    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        raise NotImplementedError

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the attributes it looks at."""
        return frozenset(operand.name for operand in self.operands())

    def text(self, marks: Placeholders) -> str:
        """The condition as an expression."""
        raise NotImplementedError

    def factor(self, marks: Placeholders) -> str:
        """The condition as it stands beside others, joined by AND."""
        return self.text(marks)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for an entity with these values."""
        raise NotImplementedError

    def parts(self) -> tuple[Condition[E], ...]:
        """The conditions of which every one must hold."""
        return (self,)

    def __and__(self, other: Condition[E]) -> Condition[E]:
        return All((*self.parts(), *other.parts()))

    def __or__(self, other: Condition[E]) -> Condition[E]:
        return Either((self, other))

    def __invert__(self) -> Condition[E]:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a condition is neither true nor false by itself; combine conditions with & | ~, "
            "and give them to filter(), where() or condition()"
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

    def text(self, marks: Placeholders) -> str:
        path = marks.path(self.operand.steps)
        return f"{path} {self.comparator} {marks.value(self.operand.encode(self.value))}"

    def holds(self, values: Mapping[str, Any]) -> bool:
        value = values[self.operand.name]
        if self.comparator == "<>":
            return bool(value != self.value)
        return value is not None and _COMPARE[self.comparator](value, self.value)

    def __repr__(self) -> str:
        return f"{self.operand.label} {self.comparator} {_shown(self.value)}"


class Call(Condition[E]):
    """A function of DynamoDB's: `attribute_exists(path)`, `begins_with(path, value)`, …"""

    def __init__(
        self, function: str, operand: Operand, check: Callable[[Any], bool], *values: Any
    ) -> None:
        self.function = function
        self.operand = operand
        self.check = check
        self.values = values

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    def text(self, marks: Placeholders) -> str:
        encode = self.operand.encode
        if self.function in ("contains", "begins_with"):
            encode = self.operand.encode_member
        arguments = [marks.path(self.operand.steps)]
        arguments += [marks.value(encode(value)) for value in self.values]
        if self.function == "IN":
            return f"{arguments[0]} IN ({', '.join(arguments[1:])})"
        if self.function == "BETWEEN":
            return f"{arguments[0]} BETWEEN {arguments[1]} AND {arguments[2]}"
        return f"{self.function}({', '.join(arguments)})"

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.check(values[self.operand.name])

    def __repr__(self) -> str:
        shown = [_shown(value) for value in self.values]
        if self.function == "BETWEEN":
            return f"{self.operand.label} BETWEEN {shown[0]} AND {shown[1]}"
        if self.function == "IN":
            return f"{self.operand.label} IN ({', '.join(shown)})"
        return f"{self.function}({', '.join([self.operand.label, *shown])})"


def _shown(value: Any) -> str:
    return repr(value.value if isinstance(value, Enum) else value)


class IsNull(Condition[E]):
    """The attribute holds None, where being absent means something else."""

    def __init__(self, operand: Operand) -> None:
        self.operand = operand

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    def text(self, marks: Placeholders) -> str:
        return f"{marks.path(self.operand.steps)} = {marks.value({'NULL': True})}"

    def holds(self, values: Mapping[str, Any]) -> bool:
        return values[self.operand.name] is None

    def __repr__(self) -> str:
        return f"{self.operand.label} = None"


class All(Condition[E]):
    """Every one holds."""

    def __init__(self, conditions: tuple[Condition[E], ...]) -> None:
        self.conditions = conditions

    def operands(self) -> tuple[Operand, ...]:
        return tuple(operand for each in self.conditions for operand in each.operands())

    def parts(self) -> tuple[Condition[E], ...]:
        return self.conditions

    def text(self, marks: Placeholders) -> str:
        return " AND ".join(condition.factor(marks) for condition in self.conditions)

    def holds(self, values: Mapping[str, Any]) -> bool:
        return all(condition.holds(values) for condition in self.conditions)

    def __repr__(self) -> str:
        return " AND ".join(map(repr, self.conditions))


class Either(All[E]):
    """At least one holds."""

    def parts(self) -> tuple[Condition[E], ...]:
        return (self,)

    def text(self, marks: Placeholders) -> str:
        return " OR ".join(condition.text(marks) for condition in self.conditions)

    def factor(self, marks: Placeholders) -> str:
        return f"({self.text(marks)})"

    def holds(self, values: Mapping[str, Any]) -> bool:
        return any(condition.holds(values) for condition in self.conditions)

    def __repr__(self) -> str:
        return f"({' OR '.join(map(repr, self.conditions))})"


class Not(Condition[E]):
    def __init__(self, condition: Condition[E]) -> None:
        self.condition = condition

    def operands(self) -> tuple[Operand, ...]:
        return self.condition.operands()

    def text(self, marks: Placeholders) -> str:
        return f"NOT ({self.condition.text(marks)})"

    def holds(self, values: Mapping[str, Any]) -> bool:
        return not self.condition.holds(values)

    def __repr__(self) -> str:
        return f"NOT ({self.condition!r})"
