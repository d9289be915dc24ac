"""Ranges: a partition, and the comparison of its sort key.

Order.timeline("C1")                         everything in the partition
Order.timeline("C1").eq(day)                 where the next part has this value
Order.timeline("C1").gte(monday)           where it is this value or above
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, TypeVarTuple, overload

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.key_condition import Comparison
from tablewright.plan.reads.query import Query
from tablewright.symbol import TRACES, Symbol

R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
Text = TypeVar("Text", bound=str)
Rest = TypeVarTuple("Rest")
#: The parts after the one that a method binds.
Behind = TypeVarTuple("Behind")
OtherBehind = TypeVarTuple("OtherBehind")


class Range(Query[R], Generic[R, *Rest]):
    """A partition, and the parts of its sort key that are not bound yet."""

    @overload
    def eq(self: Range[R, A, *Behind], a: A, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, *Behind], a: A, b: B, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, C, *Behind], a: A, b: B, c: C, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, C, D, *Behind], a: A, b: B, c: C, d: D, /) -> Range[R, *Behind]: ...
    @overload
    def eq(
        self: Range[R, A, B, C, D, F, *Behind], a: A, b: B, c: C, d: D, f: F, /
    ) -> Range[R, *Behind]: ...
    def eq(self, *values: Any) -> Any:
        """Where the next parts of the sort key have these values."""
        arguments = self._arguments + values
        if TRACES:
            self._key.check_names(arguments, len(self._arguments))
        if len(arguments) > len(self._key.parameters):
            self._key.check_arguments(arguments, complete=False)
        return self._replace(_arguments=self._entity.enter_arguments(self._key, arguments))

    def begins_with(self: Range[R, Text, *Behind], start: Text) -> Query[R]:
        """Where the next part begins with this text."""
        found = self._key.next_part(len(self._arguments))
        if found and not found.part.is_free_text and found.template.natural is None:
            raise DeclarationError(
                f"{self._key.name}: {found.part.label} is not a text; compare whole values"
            )
        return self._compared("begins_with", start)

    def gte(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to this value and above."""
        return self._compared(">=", value)

    def gt(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to values above this one."""
        return self._compared(">", value)

    def lte(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to this value and below."""
        return self._compared("<=", value)

    def lt(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to values below this one."""
        return self._compared("<", value)

    def between(self: Range[R, A, *Behind], low: A, high: A) -> Query[R]:
        """Limit the next part to values from `low` to `high`, both included."""
        return self._compared("between", low, high)

    @overload
    def union(  # type: ignore[overload-overlap]  # the first is the more exact one
        self: Range[R, A, *Behind], other: Range[B, A, *OtherBehind], /
    ) -> Range[R | B, A]: ...
    @overload
    def union(self: Range[R, *Behind], other: Range[B, *OtherBehind], /) -> Range[R | B]: ...
    def union(self, other: Any) -> Any:
        """Query items of another entity as well, in one request, in the order of the sort keys.

        Both ranges are of one partition. Comparisons and options are called on the union.
        """
        from tablewright.plan.reads.union import union_of  # which is made of ranges

        return union_of(self, other)

    def _compared(self, comparison: Comparison, *operands: Any, is_named: bool = False) -> Query[R]:
        """Return the query with a comparison; `is_named`: the caller names the part."""
        if TRACES and not is_named:
            for operand in operands:
                self._key.check_names((*self._arguments, operand), len(self._arguments))
        key = self._key
        if self._comparison is not None:
            raise DeclarationError(
                f"{key.name}: DynamoDB compares a sort key once; for two bounds use "
                "between(low, high)"
            )
        found = key.next_part(len(self._arguments))
        if found is None:
            raise DeclarationError(
                f"{key.name}: every part is bound; there is nothing left to compare"
            )
        part = found.part
        if comparison != "begins_with" and found.template.natural is None:
            if not part.is_ordered:
                raise DeclarationError(
                    f"{key.name}: {part.label} is a number without pad=…, so 10 sorts before 9"
                )
            if not found.is_in_order:
                raise DeclarationError(
                    f"{key.name}: {part.label} is text followed by other parts, so keys do not "
                    "sort like its values; make it the last part, or use begins_with()"
                )
        if comparison == "between" and not any(isinstance(v, Symbol) for v in operands):
            low, high = operands
            is_text = found.template.is_text
            first, last = map(part.text, operands) if is_text else operands
            if first < last if is_text and part.is_descending else first > last:
                raise InvalidValue(
                    f"{key.name}: between(): the lower bound {low!r} exceeds the upper bound "
                    f"{high!r}"
                )
        return self._replace(_comparison=comparison, _operands=operands)
