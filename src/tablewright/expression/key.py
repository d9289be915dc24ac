"""Key conditions: the part of a table or index that a Query reads.

Owns the form of a KeyConditionExpression: an equality on every partition key attribute, and
equalities on the sort key attributes from left to right, the last of which may have a range
instead. The module reads resolved condition trees. Of an index it knows only the names and types of
the key attributes.

Checks are in DynamoDB's order: nested paths on key attributes; the conditions from left to right
(operator, operands, one condition per attribute); the number of conditions; each key attribute in
turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from tablewright.errors import ValidationException, invalid
from tablewright.expression import tree
from tablewright.expression.resolve import Values
from tablewright.values import Value, tag_of

_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_RANGE_OPERATORS = frozenset(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"))
_NOT_SUPPORTED = "Query key condition not supported"


def not_scalar(name: str, *, on_index: bool) -> ValidationException:
    """Return the fault for a nested path in a key attribute of a table or an index."""
    return ValidationException(
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        f"allowed: {'IndexKey' if on_index else 'Key'}: {name}"
    )


class KeySelection(Struct, frozen=True):
    """What to read: a partition, leading sort key values, and a range of the next sort key."""

    partition: tuple[Value, ...]
    equal: tuple[Value, ...] = ()
    operator: str | None = None  # = < <= > >= BETWEEN begins_with
    operands: tuple[Value, ...] = ()


class KeyTerm(Struct, frozen=True):
    """The condition on one attribute."""

    operator: str
    operands: tuple[Value, ...]


class KeyConditionForm(Struct, frozen=True):
    """A KeyConditionExpression, without values and independent of the key of a table."""

    nested_names: tuple[str, ...]  # top-level attributes that have nested paths
    terms: tuple[tuple[str, str, tuple[str, ...]], ...]  # attribute, operator, value names
    fault: ValidationException | None  # why it is invalid for every key

    def bind(
        self, key_names: tuple[str, ...], values: Values, on_index: bool
    ) -> dict[str, KeyTerm]:
        """Return the conditions by attribute, for a table or index with these key attributes."""
        for name in self.nested_names:
            if name in key_names:
                raise not_scalar(name, on_index=on_index)
        if self.fault:
            raise ValidationException(self.fault.message, old=self.fault.old_message)
        return {
            name: KeyTerm(operator, tuple([values[operand] for operand in operands]))
            for name, operator, operands in self.terms
        }


def parse_key_condition(condition: tree.Condition) -> KeyConditionForm:
    """Return the form of a resolved KeyConditionExpression."""
    nested_names = tuple(
        str(path.parts[0]) for path in _find_paths(condition) if len(path.parts) > 1
    )
    terms: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    fault = None
    try:
        for path, operator, operands in _find_terms(condition):
            if len(path.parts) != 1:
                raise _InvalidKeyCondition(
                    "KeyConditionExpressions cannot have conditions on nested attributes"
                )
            name = str(path.parts[0])
            if name in terms:
                one = "KeyConditionExpressions must only contain one condition per key"
                fault = ValidationException(f"Invalid KeyConditionExpression: {one}", old=one)
                break
            terms[name] = (name, operator, operands)
    except _InvalidKeyCondition as error:
        fault = ValidationException(str(error))
    return KeyConditionForm(nested_names, tuple(terms.values()), fault)


def select(
    terms: Mapping[str, KeyTerm],
    partition_names: tuple[str, ...],
    sort_names: tuple[str, ...],
    types: Mapping[str, str],
) -> KeySelection:
    """Return what the conditions select from a table or index with these key attributes."""
    if len(partition_names) > 1 or len(sort_names) > 1:
        _check_multi_attribute_key(terms, partition_names, sort_names)
    elif len(terms) > 2:
        raise _too_many(
            terms, partition_names, sort_names, "Conditions can be of length 1 or 2 only"
        )
    if len(terms) > len(partition_names) + len(sort_names):
        raise _too_many(terms, partition_names, sort_names, _NOT_SUPPORTED)
    partition = []
    for name in partition_names:
        term = _require_term(terms, name)
        if term.operator != "=":
            raise ValidationException(_NOT_SUPPORTED)
        partition.append(_require_type(term, types[name]).operands[0])
    given = sort_names[: len(terms) - len(partition_names)]
    if not given:
        return KeySelection(tuple(partition))
    *leading, last = [_require_type(_require_term(terms, name), types[name]) for name in given]
    if last.operator not in _RANGE_OPERATORS:  # only KeyConditions can have other operators
        raise ValidationException("Attempted conditional constraint is not an indexable operation")
    return KeySelection(
        tuple(partition),
        tuple(term.operands[0] for term in leading),
        last.operator,
        last.operands,
    )


def _too_many(
    terms: Mapping[str, KeyTerm],
    partition_names: tuple[str, ...],
    sort_names: tuple[str, ...],
    old: str,
) -> ValidationException:
    count = len(partition_names) + len(sort_names)
    return ValidationException(
        f"The number of query conditions ({len(terms)}) exceeds the number of key attributes "
        f"defined in the schema ({count})",
        old=old,
    )


def _check_multi_attribute_key(
    terms: Mapping[str, KeyTerm], partition_names: tuple[str, ...], sort_names: tuple[str, ...]
) -> None:
    """Check the conditions on a key with several attributes, which has its own messages."""
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


def _require_term(terms: Mapping[str, KeyTerm], name: str) -> KeyTerm:
    if name not in terms:
        raise ValidationException(f"Query condition missed key schema element: {name}")
    return terms[name]


def _require_type(term: KeyTerm, tag: str) -> KeyTerm:
    for operand in term.operands:
        if tag_of(operand) != tag:
            raise invalid("Condition parameter type does not match schema type")
    return term


# -- reading the tree


def _find_paths(condition: tree.Condition | tree.Operand) -> Iterator[tree.Path]:
    match condition:
        case tree.Path():
            yield condition
        case tree.And(parts) | tree.Or(parts) | tree.Call(_, parts):
            for part in parts:
                yield from _find_paths(part)
        case tree.Not(inner):
            yield from _find_paths(inner)
        case tree.Comparison(_, left, right):
            yield from _find_paths(left)
            yield from _find_paths(right)
        case tree.Between(operand, low, high):
            for part in (operand, low, high):
                yield from _find_paths(part)
        case tree.In(operand, options):
            for part in (operand, *options):
                yield from _find_paths(part)


_Term: TypeAlias = tuple[tree.Path, str, tuple[str, ...]]


class _InvalidKeyCondition(Exception):
    """A condition is invalid for every key."""


def _find_terms(condition: tree.Condition) -> Iterator[_Term]:
    match condition:
        case tree.And(conditions):
            for inner in conditions:
                yield from _find_terms(inner)
        case tree.Or():
            raise _invalid_operator("OR")
        case tree.Not():
            raise _invalid_operator("NOT")
        case tree.In():
            raise _invalid_operator("IN")
        case tree.Comparison("<>"):
            raise _invalid_operator("<>")
        case tree.Comparison(operator, left, right):
            if isinstance(left, tree.Value) and isinstance(right, tree.Path):
                left, right, operator = right, left, _FLIPPED[operator]
            yield _make_term(operator, (left, right))
        case tree.Between(operand, low, high):
            yield _make_term("BETWEEN", (operand, low, high))
        case tree.Call("begins_with", arguments):
            yield _make_term("begins_with", arguments)
        case tree.Call(function):
            raise _invalid_operator(function)


def _make_term(operator: str, operands: tuple[tree.Operand, ...]) -> _Term:
    if any(isinstance(operand, tree.Call) for operand in operands):
        raise _InvalidKeyCondition("KeyConditionExpressions cannot contain nested operations")
    path, *others = operands
    if not isinstance(path, tree.Path):
        if operator in ("BETWEEN", "begins_with"):
            raise _invalid_condition(
                f"{operator} operator must have the key attribute as its first operand"
            )
        raise _invalid_condition("No key attribute specified")
    names = [other.name for other in others if isinstance(other, tree.Value)]
    if len(names) < len(others):
        raise _invalid_condition("Multiple attribute names used in one condition")
    return path, operator, tuple(names)


def _invalid_operator(operator: str) -> _InvalidKeyCondition:
    return _InvalidKeyCondition(f"Invalid operator used in KeyConditionExpression: {operator}")


def _invalid_condition(reason: str) -> _InvalidKeyCondition:
    return _InvalidKeyCondition(f"Invalid condition in KeyConditionExpression: {reason}")
