"""Conditions on attributes: for filters, for writes, and for membership in an index.

    (Order.status == OrderStatus.PAID) & (Order.total > 100)      -> #0 = :0 AND #1 > :1

`to_tree` returns a condition as a tree of `expression`, whose leaves the caller makes. From it
`factor` prints the condition for a request, `show` prints it for people, and `matches` evaluates it
for a stored item, with the engine's own evaluation, which explains why DynamoDB rejected a write.
`holds` evaluates it for the values of an entity, which decides membership in a sparse index
(`when=`). All follow DynamoDB: a comparison with a missing attribute is false, and `<>` is true.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, Literal, NoReturn, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.expression import tree
from tablewright.expression.evaluate import compile_condition
from tablewright.expression.printing import EXPRESSION, Dialect
from tablewright.plan.expressions import Placeholders
from tablewright.symbol import Symbol
from tablewright.values import Item, Value

E = TypeVar("E")
#: How an operand encodes a value: the method of `Operand`.
Encode: TypeAlias = Literal["encode", "encode_bound", "encode_member"]
#: As documents write conditions: OR is always in parentheses.
_SHOWN = Dialect(
    grouping=frozenset((around, tree.Or) for around in (None, tree.And, tree.Or, tree.Not))
)


class Operand(Protocol):
    """What a condition is about: an attribute, or a path inside it."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def stored_path(self) -> Sequence[str | int]: ...
    def encode(self, value: Any) -> Value: ...
    def encode_bound(self, value: Any) -> Value: ...
    def encode_member(self, value: Any) -> Value: ...
    def encode_or_leave(self, value: Any) -> Value | None: ...


class HeldOperand:
    """The base class of what can be an operand on both sides: an attribute, or a path inside it."""

    __slots__ = ()


class Leaves(Protocol):
    """Makes the leaves of the tree of a condition."""

    def path(self, operand: Operand) -> tree.Path:
        """Return the path of an operand."""
        ...

    def value(self, operand: Operand, encode: Encode, value: Any) -> tree.Value:
        """Return a reference to a value that an operand is compared with."""
        ...

    def constant(self, value: Value, shown: object) -> tree.Value:
        """Return a reference to a stored value, which is `shown` to people."""
        ...


class _Marked:
    """Leaves for a request: names and values are placeholders."""

    __slots__ = ("_marks",)

    def __init__(self, marks: Placeholders) -> None:
        self._marks = marks

    def path(self, operand: Operand) -> tree.Path:
        steps, name = operand.stored_path, self._marks.name
        if len(steps) == 1:  # a tenth of the time
            return tree.Path((name(steps[0]),))  # type: ignore[arg-type]  # a path begins with a name
        return tree.Path(tuple(name(step) if isinstance(step, str) else step for step in steps))

    def value(self, operand: Operand, encode: Encode, value: Any) -> tree.Value:
        return tree.Value(self._marks.value(getattr(operand, encode)(value)))

    def constant(self, value: Value, shown: object) -> tree.Value:
        return tree.Value(self._marks.value(value))


class _Stored(_Marked):
    """Leaves for an evaluation: names are those of stored items."""

    __slots__ = ()

    def path(self, operand: Operand) -> tree.Path:
        return tree.Path(tuple(operand.stored_path))


class ShownLeaves:
    """Leaves for people: names and values are texts; `name` gives the name of an operand."""

    __slots__ = ("_name",)

    def __init__(self, name: Callable[[Operand], str]) -> None:
        self._name = name

    def path(self, operand: Operand) -> tree.Path:
        return tree.Path((self._name(operand),))

    def value(self, operand: Operand, encode: Encode, value: Any) -> tree.Value:
        return tree.Value(show_value(value))

    def constant(self, value: Value, shown: object) -> tree.Value:
        return tree.Value(show_value(shown))


class Condition(Generic[E]):
    """Something that may hold for an entity; combine with `&`, `|` and `~`."""

    #: The attribute or path that it reads, if it reads one.
    operand: Operand

    def __dir__(self) -> list[str]:
        """List nothing: conditions are combined with operators."""
        return []

    def operands(self) -> tuple[Operand, ...]:
        """Return the attributes and paths that the condition reads."""
        return (self.operand,)

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the attributes that the condition reads."""
        return frozenset([operand.name for operand in self.operands()])

    @property
    def compared_values(self) -> tuple[Any, ...]:
        """The values with which attributes are compared."""
        return ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the stored attributes, and of those inside of them, that it reads."""
        steps = [step for operand in self.operands() for step in operand.stored_path]
        return frozenset([step for step in steps if isinstance(step, str)])

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        """Return the condition as a syntax tree."""
        raise NotImplementedError

    def factor(self, marks: Placeholders) -> str:
        """Render the condition so that it can be joined to others by AND."""
        return EXPRESSION.condition(self.to_tree(_Marked(marks)), tree.And)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether the condition holds for an entity with these values."""
        raise NotImplementedError

    def matches(self, item: Item) -> bool:
        """Return whether the condition holds for a stored item; `{}` is a missing one."""
        marks = Placeholders()
        test = compile_condition(self.to_tree(_Stored(marks)))
        return test(item, marks.values, None)

    def parts(self) -> tuple[Condition[E], ...]:
        """Return the conditions that must all hold."""
        return (self,)

    def __repr__(self) -> str:
        return show(self.to_tree(ShownLeaves(lambda operand: operand.label)))

    def __and__(self, other: Condition[E]) -> Condition[E]:
        return All((*self.parts(), *other.parts()))

    def __or__(self, other: Condition[E]) -> Condition[E]:
        return Either((self, other))

    def __invert__(self) -> Condition[E]:
        return Negation(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a condition is neither true nor false by itself; combine conditions with & | ~, "
            "and pass them to filter(), where(), condition() or when="
        )


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
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

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return (self.value,)

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        operand = self.operand
        encode: Encode = "encode" if self.comparator in ("=", "<>") else "encode_bound"
        value = leaves.value(operand, encode, self.value)
        return tree.Comparison(self.comparator, leaves.path(operand), value)

    def holds(self, values: Mapping[str, Any]) -> bool:
        value = values[self.operand.name]
        if value is None:
            return self.comparator == "<>"
        return bool(COMPARE[self.comparator](value, self.value))


class CompareAttributes(Condition[E]):
    """`attribute comparator attribute`, of one entity."""

    def __init__(self, operand: Operand, comparator: str, other: Operand) -> None:
        self.operand = operand
        self.comparator = comparator
        self.other = other

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand, self.other)

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        return tree.Comparison(self.comparator, leaves.path(self.operand), leaves.path(self.other))

    def holds(self, values: Mapping[str, Any]) -> bool:
        left, right = values[self.operand.name], values[self.other.name]
        if left is None or right is None:
            return self.comparator == "<>"
        return bool(COMPARE[self.comparator](left, right))


class SizeOf(Struct, frozen=True):
    """The size of an attribute, on the right side of a comparison."""

    operand: Operand


class CompareSize(Condition[E]):
    """`size(attribute) comparator number`; also with BETWEEN and IN.

    In place of a number, there may be an attribute, or the size of one.
    """

    def __init__(
        self, operand: Operand, comparator: str, check: Callable[..., bool], *sizes: Any
    ) -> None:
        for size in sizes:
            if type(size) is not int and not isinstance(size, (Symbol, SizeOf, HeldOperand)):
                raise InvalidValue(
                    f"{operand.label}.size() cannot be compared with {size!r}; pass an int"
                )
        self.operand = operand
        self.comparator = comparator
        self.check = check
        self.sizes = sizes

    def operands(self) -> tuple[Operand, ...]:
        others = [each.operand if isinstance(each, SizeOf) else each for each in self.sizes]
        return (self.operand, *_attributes_in(others))

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return tuple(each for each in self.sizes if not isinstance(each, (SizeOf, HeldOperand)))

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        size = tree.Call("size", (leaves.path(self.operand),))
        numbers = tuple([self._other(leaves, each) for each in self.sizes])
        match self.comparator:
            case "BETWEEN":
                return tree.Between(size, *numbers)
            case "IN":
                return tree.In(size, numbers)
        return tree.Comparison(self.comparator, size, *numbers)

    def _other(self, leaves: Leaves, size: Any) -> tree.Operand:
        if isinstance(size, SizeOf):
            return tree.Call("size", (leaves.path(size.operand),))
        if isinstance(size, HeldOperand):
            return leaves.path(size)  # type: ignore[arg-type]  # an operand
        return leaves.constant({"N": _digits(size)}, size)

    def holds(self, values: Mapping[str, Any]) -> bool:
        value = values[self.operand.name]
        others = []
        for each in self.sizes:
            found: Any = each
            if isinstance(each, SizeOf):
                held = values[each.operand.name]
                found = None if held is None else len(held)
            elif isinstance(each, HeldOperand):
                found = values[each.name]  # type: ignore[attr-defined]  # an operand
            others.append(found)
        return value is not None and None not in others and self.check(len(value), *others)


def _attributes_in(values: Sequence[Any]) -> tuple[Operand, ...]:
    """Return the values of a condition that are attributes."""
    return tuple([each for each in values if isinstance(each, HeldOperand)])  # type: ignore[misc]  # an operand


def _digits(size: Any) -> str:
    return Symbol.text(size) if isinstance(size, Symbol) else str(size)


_ENCODE: dict[str, Encode] = {
    "contains": "encode_member",
    "begins_with": "encode_member",
    "BETWEEN": "encode_bound",
}


class Predicate(Condition[E]):
    """A function of DynamoDB: `attribute_exists(path)`, `begins_with(path, value)`, …

    A value may be another attribute. `check` takes the value of the operand and these values.
    """

    def __init__(
        self, function: str, operand: Operand, check: Callable[..., bool], *values: Any
    ) -> None:
        self.function = function
        self.operand = operand
        self.check = check
        self.values = values

    def operands(self) -> tuple[Operand, ...]:
        return (self.operand, *_attributes_in(self.values))

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return tuple(each for each in self.values if not isinstance(each, HeldOperand))

    @property
    def is_existence(self) -> bool:
        """Whether it asks only whether the attribute is stored."""
        return self.function in ("attribute_exists", "attribute_not_exists")

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        path = leaves.path(self.operand)
        encode = _ENCODE.get(self.function, "encode")
        operands: tuple[tree.Operand, ...] = tuple(
            [
                leaves.path(each)  # type: ignore[arg-type]  # an operand
                if isinstance(each, HeldOperand)
                else leaves.value(self.operand, encode, each)
                for each in self.values
            ]
        )
        if self.function == "IN":
            return tree.In(path, operands)
        if self.function == "BETWEEN":
            return tree.Between(path, *operands)
        return tree.Call(self.function, (path, *operands))

    def holds(self, values: Mapping[str, Any]) -> bool:
        given = [
            values[each.name] if isinstance(each, HeldOperand) else each  # type: ignore[attr-defined]  # an operand
            for each in self.values
        ]
        return self.check(values[self.operand.name], *given)


class OfType(Condition[E]):
    """`attribute_type(path, type)`: how a value is stored."""

    def __init__(self, operand: Operand, tag: Any) -> None:
        self.operand = operand
        self.tag = tag

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return (self.tag,)

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        tag = self.tag
        stored = {"S": Symbol.text(tag) if isinstance(tag, Symbol) else tag}
        return tree.Call(
            "attribute_type", (leaves.path(self.operand), leaves.constant(stored, tag))
        )

    def holds(self, values: Mapping[str, Any]) -> bool:
        raise DeclarationError(
            f"{self!r} tests the stored form of a value, which is unknown in when=; use it in a "
            "filter or a condition"
        )


def leaves_of(condition: Condition[E]) -> Iterator[Condition[E]]:
    """Yield the conditions that `&`, `|` and `~` combine."""
    if isinstance(condition, All):
        for each in condition.conditions:
            yield from leaves_of(each)
    elif isinstance(condition, Negation):
        yield from leaves_of(condition.condition)
    else:
        yield condition


def show(condition: tree.Condition) -> str:
    """Return a condition as documents write it; its leaves are texts."""
    return _SHOWN.condition(condition)


def show_value(value: Any) -> str:
    """Return a value as documents write it: the same text in every process."""
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(show_value, value)))}}}"
    return repr(value.value if isinstance(value, Enum) else value)


class IsNull(Condition[E]):
    """The attribute is stored as None, where a missing attribute means its default."""

    def __init__(self, operand: Operand) -> None:
        self.operand = operand

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        return tree.Comparison(
            "=", leaves.path(self.operand), leaves.constant({"NULL": True}, None)
        )

    def holds(self, values: Mapping[str, Any]) -> bool:
        return values[self.operand.name] is None


class All(Condition[E]):
    """All conditions hold."""

    def __init__(self, conditions: tuple[Condition[E], ...]) -> None:
        self.conditions = conditions

    def operands(self) -> tuple[Operand, ...]:
        return tuple([operand for each in self.conditions for operand in each.operands()])

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return tuple(value for each in self.conditions for value in each.compared_values)

    def parts(self) -> tuple[Condition[E], ...]:
        return self.conditions

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        return tree.And(tuple([condition.to_tree(leaves) for condition in self.conditions]))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return all(condition.holds(values) for condition in self.conditions)


class Either(All[E]):
    """At least one condition holds."""

    def parts(self) -> tuple[Condition[E], ...]:
        return (self,)

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        return tree.Or(tuple([condition.to_tree(leaves) for condition in self.conditions]))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return any(condition.holds(values) for condition in self.conditions)


class Negation(Condition[E]):
    """The condition does not hold."""

    def __init__(self, condition: Condition[E]) -> None:
        self.condition = condition

    def operands(self) -> tuple[Operand, ...]:
        return self.condition.operands()

    @property
    def compared_values(self) -> tuple[Any, ...]:
        return self.condition.compared_values

    def to_tree(self, leaves: Leaves) -> tree.Condition:
        return tree.Not(self.condition.to_tree(leaves))

    def holds(self, values: Mapping[str, Any]) -> bool:
        return not self.condition.holds(values)
