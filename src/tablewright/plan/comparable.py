"""What conditions are made of: an attribute or a path inside one, and the size of its value.

    Order.total > 100          Order.total.between(Order.least, 100)
    Order.lines.size() > 3     Order.lines.size() <= Order.most

In the body of an entity, an attribute is compared for `when=`; on the finished class, a reference.
A comparison that DynamoDB cannot decide, because of the codec of the attribute, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args, overload

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.plan import condition
from tablewright.plan.condition import Condition
from tablewright.symbol import Symbol

E = TypeVar("E")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)

#: The types of stored values.
Tag: TypeAlias = Literal["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]


class Held(condition.HeldOperand, Generic[E, T_co]):
    """An attribute, or a path inside one, with values of type T.

    A method for texts, or for lists, has a `self` of the type `Held[E, str | None]`: so it is
    available for subclasses and for optional attributes, too.
    """

    __slots__ = ()
    #: How its values are stored; None in the body of a class.
    converter: Any = None


class Comparable(Held[E, T]):
    """The conditions that an attribute can be part of."""

    __hash__ = object.__hash__

    def __eq__(self, value: T | Held[E, T]) -> Condition[E]:  # type: ignore[override]  # as SQLAlchemy's columns
        return self.not_exists() if value is None else _compare(self, "=", value)

    def __ne__(self, value: T | Held[E, T]) -> Condition[E]:  # type: ignore[override]
        return self.exists() if value is None else _compare(self, "<>", value)

    @overload
    def __lt__(self: Held[E, V | None], value: Held[E, V | None]) -> Condition[E]: ...
    @overload
    def __lt__(self: Held[E, V | None], value: V) -> Condition[E]: ...
    def __lt__(self, value: Any) -> Condition[E]:
        return _compare(self, "<", value)

    if TYPE_CHECKING:
        __le__ = __gt__ = __ge__ = __lt__
    else:

        def __le__(self, value: Any) -> Condition[E]:
            return _compare(self, "<=", value)

        def __gt__(self, value: Any) -> Condition[E]:
            return _compare(self, ">", value)

        def __ge__(self, value: Any) -> Condition[E]:
            return _compare(self, ">=", value)

    def between(
        self: Held[E, V | None], low: V | Held[E, V | None], high: V | Held[E, V | None]
    ) -> Condition[E]:
        """From `low` to `high`, both included."""
        return _call(self, "BETWEEN", _is_between, low, high)

    def in_(
        self: Held[E, V | None], values: Collection[V] | Collection[Held[E, V | None]]
    ) -> Condition[E]:
        """One of these values; DynamoDB allows at most 100."""
        if not values:
            raise InvalidValue("in_() needs at least one value")
        return _call(self, "IN", lambda v, *given: v is not None and v in given, *values)

    def size(self) -> Size[E]:
        """Return its size for a comparison: members of a list, set or map, or characters."""
        return Size(self)

    def exists(self) -> Condition[E]:
        """It has a value."""
        return _call(self, "attribute_exists", lambda v: v is not None)

    def not_exists(self) -> Condition[E]:
        """It has no value."""
        return _call(self, "attribute_not_exists", lambda v: v is None)

    def attribute_type(self, tag: Tag) -> Condition[E]:
        """It is stored as this type of DynamoDB: "S", "NULL", …"""
        if tag not in get_args(Tag) and not isinstance(tag, Symbol):
            raise InvalidValue(f"attribute_type({tag!r}): the types are {', '.join(get_args(Tag))}")
        return condition.OfType(self, tag)  # type: ignore[arg-type]  # an operand

    def begins_with(
        self: Held[E, str | None], start: str | Held[E, str] | Held[E, str | None]
    ) -> Condition[E]:
        """A str begins with this prefix."""
        return _call(
            self,
            "begins_with",
            lambda v, given: None not in (v, given) and v.startswith(given),
            start,
        )

    @overload
    def contains(
        self: Held[E, str | None], member: str | Held[E, str] | Held[E, str | None]
    ) -> Condition[E]: ...
    @overload
    def contains(
        self: Held[E, list[U] | None], member: U | Held[E, U] | Held[E, U | None]
    ) -> Condition[E]: ...
    @overload
    def contains(
        self: Held[E, set[U] | None], member: U | Held[E, U] | Held[E, U | None]
    ) -> Condition[E]: ...
    @overload
    def contains(
        self: Held[E, frozenset[U] | None], member: U | Held[E, U] | Held[E, U | None]
    ) -> Condition[E]: ...
    def contains(self, member: Any) -> Condition[E]:
        """A str contains this substring; a list or set contains this member."""
        return _call(
            self,
            "contains",
            lambda v, given: v is not None and given is not None and given in v,
            member,
        )


class Size(Generic[E]):
    """The size of an attribute: `Order.lines.size() > 3`.

    It is compared with an int, with an attribute that is one, or with the size of an attribute.
    """

    __hash__ = object.__hash__

    def __init__(self, held: Held[E, Any]) -> None:
        self._held = held

    def __eq__(self, size: AnySize[E]) -> Condition[E]:  # type: ignore[override]  # as SQLAlchemy's columns
        return self._compare("=", size)

    def __ne__(self, size: AnySize[E]) -> Condition[E]:  # type: ignore[override]
        return self._compare("<>", size)

    def __lt__(self, size: AnySize[E]) -> Condition[E]:
        return self._compare("<", size)

    def __le__(self, size: AnySize[E]) -> Condition[E]:
        return self._compare("<=", size)

    def __gt__(self, size: AnySize[E]) -> Condition[E]:
        return self._compare(">", size)

    def __ge__(self, size: AnySize[E]) -> Condition[E]:
        return self._compare(">=", size)

    def between(self, low: AnySize[E], high: AnySize[E]) -> Condition[E]:
        """From `low` to `high`, both included."""
        return self._call("BETWEEN", _is_between, low, high)

    def in_(self, sizes: Collection[int]) -> Condition[E]:
        """One of these sizes; DynamoDB allows at most 100."""
        if not sizes:
            raise InvalidValue("in_() needs at least one value")
        return self._call("IN", lambda size, *given: size in given, *sizes)

    def _compare(self, comparator: str, size: Any) -> Condition[E]:
        return self._call(comparator, condition.COMPARE[comparator], size)

    def _call(self, comparator: str, check: Callable[..., bool], *sizes: Any) -> Condition[E]:
        held: Any = self._held
        others: list[Any] = [
            condition.SizeOf(each._held)  # type: ignore[arg-type]  # an operand
            if isinstance(each, Size)
            else each
            for each in sizes
        ]
        for each in (held, *(size._held for size in sizes if isinstance(size, Size))):
            if each.converter is not None and each.converter.codec:
                _check_stored_form(each, "size")
        return condition.CompareSize(held, comparator, check, *others)


#: What a size is compared with.
AnySize: TypeAlias = int | Held[E, int] | Held[E, int | None] | Size[E]


def _is_between(value: Any, low: Any, high: Any) -> bool:
    return None not in (value, low, high) and low <= value <= high


def _compare(held: Any, comparator: str, value: Any) -> Condition[Any]:
    if held.converter is not None and held.converter.codec:
        _check_stored_form(held, comparator)
    if isinstance(value, Held):
        other: Any = value
        _check_alike(held, other)
        return condition.CompareAttributes(held, comparator, other)
    return condition.Compare(held, comparator, value)


def _call(
    held: Held[E, Any], function: str, check: Callable[..., bool], *values: Any
) -> Condition[E]:
    for each in values:
        if isinstance(each, Held):
            _check_alike(held, each)
    if held.converter is not None and held.converter.codec:
        _check_stored_form(held, function)
    return condition.Predicate(function, held, check, *values)  # type: ignore[arg-type]


_EXISTENCE = ("attribute_exists", "attribute_not_exists")
_RANGES = ("<", "<=", ">", ">=", "BETWEEN")
_PARTS = ("begins_with", "contains", "size")


def _check_stored_form(held: Any, function: str) -> None:
    """Raise DeclarationError for a condition that DynamoDB cannot decide by a codec's values."""
    stored, form = held.converter, held.converter.codec.format(held.label)
    if stored.state and function not in _EXISTENCE:
        raise DeclarationError(
            f"{held.where} is stored {stored.state}, so DynamoDB cannot compare it; use exists() "
            "or not_exists(), or compare the value in Python after the read"
        )
    if function in _RANGES and not stored.is_ordered:
        raise DeclarationError(
            f"{held.where} is stored as {form}, which does not sort as the values of the attribute "
            f"do, so DynamoDB cannot decide {function}; compare it with == or in_()"
        )
    if function in _PARTS:
        raise DeclarationError(
            f"{held.where} is stored as {form}, and {function} would test the stored form instead "
            "of the value; compare it with == or in_()"
        )


def _check_alike(held: Any, other: Any) -> None:
    """Raise DeclarationError for two attributes whose stored values cannot be compared."""
    codecs = [each.converter.codec for each in (held, other) if each.converter is not None]
    if len(set(codecs)) > 1:
        raise DeclarationError(
            f"{held!r} and {other!r} are stored in different forms, so DynamoDB cannot compare "
            "them; give both the same codec="
        )
