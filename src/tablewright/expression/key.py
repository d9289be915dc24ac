"""Key conditions: which part of an index a Query reads.

Owns the shape a KeyConditionExpression must have: equalities on every partition key attribute, and
on the sort key attributes from left to right, the last of which may have an inequality instead. It
reads resolved condition trees and knows nothing of indexes but the names and types of their keys.

DynamoDB's order, which is the order here: nested paths on key attributes; then the conditions from
left to right (operator, operands, one condition per attribute); then how many there are; then each
key attribute in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tablewright.errors import ValidationException, invalid
from tablewright.expression.resolve import Values
from tablewright.expression.tree import (
    And,
    Between,
    Call,
    Comparison,
    Condition,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from tablewright.values import Value as AttributeValue
from tablewright.values import tag_of

_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_RANGE_OPERATORS = frozenset(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"))
_NOT_SUPPORTED = "Query key condition not supported"


def not_scalar(name: str, *, on_index: bool) -> ValidationException:
    """The fault for a path that leads into a key attribute, of a table or of an index."""
    return ValidationException(
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        f"allowed: {'IndexKey' if on_index else 'Key'}: {name}"
    )


@dataclass(frozen=True, slots=True)
class KeySelection:
    """What to read: a partition, leading sort key values, and a range of the next one."""

    partition: tuple[AttributeValue, ...]
    equal: tuple[AttributeValue, ...] = ()
    operator: str | None = None  # = < <= > >= BETWEEN begins_with
    operands: tuple[AttributeValue, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyTerm:
    """One condition on one attribute."""

    operator: str
    operands: tuple[AttributeValue, ...]


@dataclass(frozen=True, slots=True)
class KeyShape:
    """What a KeyConditionExpression says, whatever the values and the key are."""

    nested: tuple[str, ...]  # attributes of paths that go inside them
    terms: tuple[tuple[str, str, tuple[str, ...]], ...]  # attribute, operator, value names
    fault: str | None  # what is wrong with it on every key

    def terms_on(
        self, key_names: tuple[str, ...], values: Values, on_index: bool
    ) -> dict[str, KeyTerm]:
        """The conditions by attribute, for a table or index with these key attributes."""
        for name in self.nested:
            if name in key_names:
                raise not_scalar(name, on_index=on_index)
        if self.fault:
            raise ValidationException(self.fault)
        return {
            name: KeyTerm(operator, tuple([values[operand] for operand in operands]))
            for name, operator, operands in self.terms
        }


def key_shape(condition: Condition) -> KeyShape:
    """The shape of a resolved KeyConditionExpression."""
    nested = tuple(str(path.parts[0]) for path in _paths(condition) if len(path.parts) > 1)
    terms: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    fault = None
    try:
        for path, operator, operands in _terms(condition):
            if len(path.parts) != 1:
                raise _Wrong("KeyConditionExpressions cannot have conditions on nested attributes")
            name = str(path.parts[0])
            if name in terms:
                raise _Wrong("KeyConditionExpressions must only contain one condition per key")
            terms[name] = (name, operator, operands)
    except _Wrong as wrong:
        fault = str(wrong)
    return KeyShape(nested, tuple(terms.values()), fault)


def select(
    terms: Mapping[str, KeyTerm],
    partition_names: tuple[str, ...],
    sort_names: tuple[str, ...],
    types: Mapping[str, str],
) -> KeySelection:
    """What the conditions select from an index with these keys."""
    if len(partition_names) > 1 or len(sort_names) > 1:
        _check_several(terms, partition_names, sort_names)
    elif len(terms) > 2:
        raise ValidationException("Conditions can be of length 1 or 2 only")
    if len(terms) > len(partition_names) + len(sort_names):
        raise ValidationException(_NOT_SUPPORTED)
    partition = []
    for name in partition_names:
        term = _term(terms, name)
        if term.operator != "=":
            raise ValidationException(_NOT_SUPPORTED)
        partition.append(_typed(term, types[name]).operands[0])
    given = sort_names[: len(terms) - len(partition_names)]
    if not given:
        return KeySelection(tuple(partition))
    *leading, last = [_typed(_term(terms, name), types[name]) for name in given]
    if last.operator not in _RANGE_OPERATORS:  # only KeyConditions can ask for others
        raise ValidationException("Attempted conditional constraint is not an indexable operation")
    return KeySelection(
        tuple(partition),
        tuple(term.operands[0] for term in leading),
        last.operator,
        last.operands,
    )


def _check_several(
    terms: Mapping[str, KeyTerm], partition_names: tuple[str, ...], sort_names: tuple[str, ...]
) -> None:
    """The rules of keys with several attributes, which have messages of their own."""
    missing = [name for name in partition_names if name not in terms]
    unequal = [name for name in partition_names if name in terms and terms[name].operator != "="]
    if missing or unequal:
        raise ValidationException(
            f"HASH key attributes {', '.join(missing or unequal)} must have equality conditions "
            "specified in the query"
        )
    given = [name for name in sort_names if name in terms]
    if given:
        before = sort_names[: sort_names.index(given[-1])]
        wrong = [name for name in before if name not in terms or terms[name].operator != "="]
        if wrong:
            raise ValidationException(
                f"RANGE key attributes {', '.join(wrong)} must have equality conditions specified "
                f"in the query because a condition is present on key attribute {given[-1]}"
            )


def _term(terms: Mapping[str, KeyTerm], name: str) -> KeyTerm:
    if name not in terms:
        raise ValidationException(f"Query condition missed key schema element: {name}")
    return terms[name]


def _typed(term: KeyTerm, tag: str) -> KeyTerm:
    for operand in term.operands:
        if tag_of(operand) != tag:
            raise invalid("Condition parameter type does not match schema type")
    return term


# -- reading the tree


def _paths(condition: Condition | Operand) -> Iterator[Path]:
    match condition:
        case Path():
            yield condition
        case And(parts) | Or(parts) | Call(_, parts):
            for part in parts:
                yield from _paths(part)
        case Not(inner):
            yield from _paths(inner)
        case Comparison(_, left, right):
            yield from _paths(left)
            yield from _paths(right)
        case Between(operand, low, high):
            for part in (operand, low, high):
                yield from _paths(part)
        case In(operand, options):
            for part in (operand, *options):
                yield from _paths(part)


_Term: TypeAlias = tuple[Path, str, tuple[str, ...]]


class _Wrong(Exception):
    """A condition that fits no key."""


def _terms(condition: Condition) -> Iterator[_Term]:
    match condition:
        case And(conditions):
            for inner in conditions:
                yield from _terms(inner)
        case Or():
            raise _bad_operator("OR")
        case Not():
            raise _bad_operator("NOT")
        case In():
            raise _bad_operator("IN")
        case Comparison("<>"):
            raise _bad_operator("<>")
        case Comparison(operator, left, right):
            if isinstance(left, Value) and isinstance(right, Path):
                left, right, operator = right, left, _FLIPPED[operator]
            yield _term_of(operator, (left, right))
        case Between(operand, low, high):
            yield _term_of("BETWEEN", (operand, low, high))
        case Call("begins_with", arguments):
            yield _term_of("begins_with", arguments)
        case Call(function):
            raise _bad_operator(function)


def _term_of(operator: str, operands: tuple[Operand, ...]) -> _Term:
    if any(isinstance(operand, Call) for operand in operands):
        raise _Wrong("KeyConditionExpressions cannot contain nested operations")
    path, *others = operands
    if not isinstance(path, Path):
        if operator in ("BETWEEN", "begins_with"):
            raise _bad_condition(
                f"{operator} operator must have the key attribute as its first operand"
            )
        raise _bad_condition("No key attribute specified")
    names = [other.name for other in others if isinstance(other, Value)]
    if len(names) < len(others):
        raise _bad_condition("Multiple attribute names used in one condition")
    return path, operator, tuple(names)


def _bad_operator(operator: str) -> _Wrong:
    return _Wrong(f"Invalid operator used in KeyConditionExpression: {operator}")


def _bad_condition(reason: str) -> _Wrong:
    return _Wrong(f"Invalid condition in KeyConditionExpression: {reason}")
