"""WHERE clauses: divide a condition into key conditions and filters.

A table or index is read by Query if the condition determines its partition key: by an equality, by
IN, or by OR, every alternative of which does so. Each value of the partition key is a `Branch`. Of
the other parts of the condition, those on the sort key belong to the key condition, all others are
the filter.

    pk = 'a' AND sk > 5 AND x = 1          one branch: pk = 'a' AND sk > 5; filter x = 1
    pk IN ['a', 'b'] AND x = 1             two branches, each with the filter x = 1
    (pk = 'a' AND sk = 1) OR pk = 'b'      two branches
    pk = 'a' OR x = 1                      no branches: Scan

The module knows the names of key attributes. It does not know values: conditions refer to them by
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.limits import MAX_STATEMENT_PARTITIONS

NO_WHOLE_KEY = "Where clause does not contain a mandatory equality on all key attributes"
_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class KeyTest:
    """A condition on one key attribute; the operands are names of values."""

    name: str
    operator: str  # = < <= > >= BETWEEN begins_with
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One value of the partition key, with the condition on the sort key and the filter."""

    key: tuple[KeyTest, ...]
    rest: tree.Condition | None
    is_alternative: bool  # it comes from an alternative of OR


def find_branches(
    where: tree.Condition | None, partition_names: Sequence[str], sort_names: Sequence[str]
) -> tuple[Branch, ...]:
    """Return the branches of a condition; none if it does not determine the partition key."""
    terms = _split(where)
    if not _pins(terms, frozenset(partition_names)):
        return ()
    found = tuple(_expand(terms, partition_names, sort_names, is_alternative=False))
    if len(found) > MAX_STATEMENT_PARTITIONS:
        raise _too_many_partitions(len(found))
    return found


def find_key(
    where: tree.Condition | None, key_names: Iterable[str]
) -> tuple[tuple[KeyTest, ...], tree.Condition | None]:
    """Return an equality on each key attribute, and the rest of the condition.

    Raise a fault if an equality is missing: a statement that writes changes one item.
    """
    terms = _split(where)
    key = []
    for name in key_names:
        for number, term in enumerate(terms):
            test = _key_test(term)
            if test and test.name == name and test.operator == "=":
                key.append(test)
                del terms[number]
                break
        else:
            raise ValidationException(NO_WHOLE_KEY)
    return tuple(key), _join(terms)


def find_repeated(rest: tree.Condition | None, key_names: Iterable[str]) -> tuple[KeyTest, ...]:
    """Return further equalities on key attributes, in what `find_key` has left."""
    names = frozenset(key_names)
    tests = (_key_test(term) for term in _split(rest))
    return tuple(test for test in tests if test and test.operator == "=" and test.name in names)


def is_negated(condition: tree.Condition, names: Sequence[str]) -> bool:
    """Return whether a condition consists of negated conditions on these attributes."""
    match condition:
        case tree.And(parts):
            return all(is_negated(part, names) for part in parts)
        case tree.Not(inner):
            return _is_about(inner, names)
        case tree.Comparison("<>"):
            return _is_about(condition, names)
    return False


def _is_about(condition: tree.Condition, names: Sequence[str]) -> bool:
    paths = [operand for operand in _operands(condition) if isinstance(operand, tree.Path)]
    return bool(paths) and all(path.parts[0] in names for path in paths)


def _operands(condition: tree.Condition) -> tuple[tree.Operand, ...]:
    """Return the operands of a condition on its own; none for one that consists of conditions."""
    match condition:
        case tree.Comparison(_, left, right):
            return left, right
        case tree.Between(operand, low, high):
            return operand, low, high
        case tree.In(operand, options):
            return operand, *options
        case tree.Call(_, arguments):
            return arguments
    return ()


def condition_of(
    key: Iterable[KeyTest], rest: tree.Condition | None, partition_names: Sequence[str]
) -> tree.Condition | None:
    """Return what an alternative demands of the items of its partition; None: nothing."""
    terms = [_condition(test) for test in key if test.name not in partition_names]
    return _join([*terms, *_split(rest)])


def _condition(test: KeyTest) -> tree.Condition:
    """Return a key condition as a condition of an expression."""
    path = tree.Path((test.name,))
    values = tuple(map(tree.Value, test.operands))
    match test.operator:
        case "BETWEEN":
            return tree.Between(path, *values)
        case "begins_with":
            return tree.Call("begins_with", (path, *values))
    return tree.Comparison(test.operator, path, *values)


def has_function(condition: tree.Condition) -> bool:
    """Return whether a condition calls a function."""
    match condition:
        case tree.Call():
            return True
        case tree.And(parts) | tree.Or(parts):
            return any(map(has_function, parts))
        case tree.Not(inner):
            return has_function(inner)
    return any(isinstance(operand, tree.Call) for operand in _operands(condition))


def _split(condition: tree.Condition | None) -> list[tree.Condition]:
    """Return the terms of a conjunction, without nested conjunctions."""
    if condition is None:
        return []
    if not isinstance(condition, tree.And):
        return [condition]
    return [term for inner in condition.conditions for term in _split(inner)]


def _join(terms: Sequence[tree.Condition]) -> tree.Condition | None:
    if len(terms) < 2:
        return terms[0] if terms else None
    return tree.And(tuple(terms))


def _pins(terms: Iterable[tree.Condition], names: frozenset[str]) -> bool:
    """Return whether terms determine the values of all these attributes."""
    terms = list(terms)
    missing = frozenset(name for name in names if not any(_equal_values(t, name) for t in terms))
    return not missing or any(_alternatives_pin(term, missing) for term in terms)


def _alternatives_pin(term: tree.Condition, names: frozenset[str]) -> bool:
    return isinstance(term, tree.Or) and all(_pins(_split(one), names) for one in term.conditions)


def _expand(
    terms: list[tree.Condition],
    partition_names: Sequence[str],
    sort_names: Sequence[str],
    *,
    is_alternative: bool,
) -> Iterator[Branch]:
    """Yield the branches of terms that determine the partition key."""
    missing = frozenset(
        name for name in partition_names if not any(_equal_values(term, name) for term in terms)
    )
    if missing:
        chosen = next(term for term in terms if _alternatives_pin(term, missing))
        assert isinstance(chosen, tree.Or)
        others = [term for term in terms if term is not chosen]
        for alternative in chosen.conditions:
            yield from _expand(
                [*_split(alternative), *others], partition_names, sort_names, is_alternative=True
            )
        return
    terms = list(terms)
    options = [_take_equality(terms, name) or () for name in partition_names]
    if prod(map(len, options)) > MAX_STATEMENT_PARTITIONS:
        raise _too_many_partitions(prod(map(len, options)))
    sort = _take_sort_tests(terms, sort_names)
    rest = _join(terms)
    for values in product(*options):
        equalities = (
            KeyTest(name, "=", (value,))
            for name, value in zip(partition_names, values, strict=True)
        )
        yield Branch((*equalities, *sort), rest, is_alternative)


def _take_equality(terms: list[tree.Condition], name: str) -> tuple[str, ...] | None:
    """Remove the first term that is an equality on an attribute; return the names of its values."""
    for number, term in enumerate(terms):
        values = _equal_values(term, name)
        if values:
            del terms[number]
            return values
    return None


def _equal_values(term: tree.Condition, name: str) -> tuple[str, ...]:
    """Return the names of the values that `=`, IN or OR of equalities gives an attribute."""
    match term:
        case tree.Comparison("="):
            test = _key_test(term)
            return test.operands if test and test.name == name else ()
        case tree.In(tree.Path((found,)), options) if found == name:
            values = tuple(option.name for option in options if isinstance(option, tree.Value))
            return values if len(values) == len(options) else ()
        case tree.Or(conditions):
            parts = [_equal_values(one, name) for one in conditions]
            return tuple(value for part in parts for value in part) if all(parts) else ()
    return ()


def _take_sort_tests(terms: list[tree.Condition], names: Sequence[str]) -> list[KeyTest]:
    """Remove the terms that belong to a key condition on the sort key; return them.

    These are equalities from left to right, then at most one range.
    """
    taken = []
    for name in names:
        tests = [(number, _key_test(term)) for number, term in enumerate(terms)]
        usable = [(number, test) for number, test in tests if test and test.name == name]
        if not usable:
            break
        number, test = min(usable, key=lambda one: one[1].operator != "=")
        del terms[number]
        taken.append(test)
        if test.operator != "=":
            break
    return taken


def _key_test(term: tree.Condition) -> KeyTest | None:
    """Return a term as a condition on a key attribute, if it has that form."""
    match term:
        case tree.Comparison(operator, tree.Path((str() as name,)), tree.Value(value)):
            return KeyTest(name, operator, (value,)) if operator in _FLIPPED else None
        case tree.Comparison(operator, tree.Value(value), tree.Path((str() as name,))):
            return KeyTest(name, _FLIPPED[operator], (value,)) if operator in _FLIPPED else None
        case tree.Between(tree.Path((str() as name,)), tree.Value(low), tree.Value(high)):
            return KeyTest(name, "BETWEEN", (low, high))
        case tree.Call("begins_with", (tree.Path((str() as name,)), tree.Value(value))):
            return KeyTest(name, "begins_with", (value,))
    return None


def _too_many_partitions(count: int) -> ValidationException:
    # The limit is documented; the text of AWS is not known.
    return ValidationException(
        "The WHERE clause has too many values of the partition key; "
        f"number of values: {count}, maximum: {MAX_STATEMENT_PARTITIONS}"
    )
