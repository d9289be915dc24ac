"""Legacy parameters: the parameters that preceded expressions.

Owns the rules and messages of Expected, ConditionalOperator, QueryFilter and ScanFilter,
KeyConditions, AttributeUpdates and AttributesToGet, and the rule that a request must not have both
these and expressions. Each is converted to the tree of the equivalent expression, so its meaning is
defined once, in `evaluate`, `update`, `projection` and `key`. Attribute names are not parsed:
`a.b` is a name with a dot.

    Expected {"a": {"Value": v}}            a = :0
    ScanFilter {"a": {"GT": [v]}}           a > :0
    AttributeUpdates {"a": {"ADD": v}}      ADD a :0

The JSON types of the parameters are already checked; their values are not normalised yet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tablewright.encoding.items import EMPTY_NAME, item_size, normalise
from tablewright.errors import ValidationException, invalid, truncate
from tablewright.expression import tree
from tablewright.expression.compiled import (
    CompiledCondition,
    CompiledProjection,
    CompiledUpdate,
    UncheckedCondition,
)
from tablewright.expression.key import KeySelection, KeyTerm, select
from tablewright.expression.rules import LONG_TYPE_NAMES
from tablewright.expression.update import CompiledActions
from tablewright.values import Value, sort_key, tag_of

_MISMATCH = "Type mismatch for attribute to update"

_COMPARATORS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_KEY_OPERATORS = {**_COMPARATORS, "BETWEEN": "BETWEEN", "BEGINS_WITH": "begins_with"}

_ANY = frozenset(LONG_TYPE_NAMES)
_SETS = frozenset(("SS", "NS", "BS"))
_ORDERED = frozenset("SNB")
#: The number of values of each operator (None: one or more), and their types.
_OPERATORS: dict[str, tuple[int | None, frozenset[str]]] = {
    "EQ": (1, _ANY),
    "NE": (1, _ANY),
    "LT": (1, _ORDERED),
    "LE": (1, _ORDERED),
    "GT": (1, _ORDERED),
    "GE": (1, _ORDERED),
    "BETWEEN": (2, _ORDERED),
    "IN": (None, _ORDERED),
    "BEGINS_WITH": (1, frozenset("SB")),
    "CONTAINS": (1, _ORDERED | {"BOOL", "NULL"}),
    "NOT_CONTAINS": (1, _ORDERED | {"BOOL", "NULL"}),
    "NULL": (0, _ANY),
    "NOT_NULL": (0, _ANY),
}

#: In the order in which DynamoDB lists them.
_EXPRESSION_PARAMETERS = (
    "ProjectionExpression",
    "UpdateExpression",
    "FilterExpression",
    "ConditionExpression",
    "KeyConditionExpression",
)
_LEGACY_PARAMETERS = (
    "AttributesToGet",
    "AttributeUpdates",
    "QueryFilter",
    "ScanFilter",
    "Expected",
    "ConditionalOperator",
    "KeyConditions",
)


def refuse_mixture(present: Collection[str]) -> None:
    """Raise if a request has both expressions and legacy parameters.

    `present` has the names of the request's parameters, without those that are empty maps.

    >>> refuse_mixture({"Expected", "ConditionalOperator", "TableName"})
    """
    legacy = [name for name in _LEGACY_PARAMETERS if name in present]
    expressions = [name for name in _EXPRESSION_PARAMETERS if name in present]
    if legacy and expressions:
        raise ValidationException(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(legacy)}}} "
            f"Expression parameters: {{{', '.join(expressions)}}}"
        )


def compile_expected(
    raw: Mapping[str, Mapping[str, Any]] | None, conditional_operator: str | None = None
) -> CompiledCondition | None:
    """Compile Expected of PutItem, UpdateItem or DeleteItem."""
    comparisons = {}
    for name, entry in (raw or {}).items():
        comparisons[name] = _read_expected(name, entry)
    return _make_condition(comparisons, conditional_operator)


def compile_filter(
    raw: Mapping[str, Mapping[str, Any]] | None, conditional_operator: str | None = None
) -> CompiledCondition | None:
    """Compile a QueryFilter or ScanFilter."""
    return _make_condition(_read_comparisons(raw or {}), conditional_operator)


def read_key_conditions(raw: Mapping[str, Mapping[str, Any]]) -> LegacyKeyCondition:
    """Read KeyConditions of Query."""
    if not raw:
        raise ValidationException("Conditions must be at least length 1")
    return LegacyKeyCondition(
        {
            name: KeyTerm(_KEY_OPERATORS.get(operator, operator), operands)
            for name, (operator, operands) in _read_comparisons(raw).items()
        }
    )


def compile_attributes_to_get(names: Sequence[str] | None) -> CompiledProjection | None:
    """Compile AttributesToGet."""
    if not names:
        return None
    seen: set[str] = set()
    for name in names:
        _check_name(name)
        if name in seen:
            raise invalid(f"Duplicate value in attribute name: {truncate(name)}")
        seen.add(name)
    return CompiledProjection(tuple(tree.Path((name,)) for name in names))


def compile_attribute_updates(raw: Mapping[str, Mapping[str, Any]] | None) -> CompiledUpdate | None:
    """Compile AttributeUpdates."""
    if not raw:
        return None
    values: dict[str, Value] = {}
    actions = tuple(_make_action(name, entry, values) for name, entry in raw.items())
    update = tree.UpdateTree((tree.UpdateSection("SET", actions),))
    written = CompiledProjection(tuple(action.path for action in actions))
    return CompiledUpdate(
        CompiledActions(update, wrong_type=_MISMATCH),
        written,
        values,
        item_size(values),
    )


class LegacyKeyCondition:
    """The KeyConditions of one request."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Mapping[str, KeyTerm]) -> None:
        self._terms = terms

    @property
    def names(self) -> frozenset[str]:
        """The attributes that have conditions."""
        return frozenset(self._terms)

    def select(
        self,
        partition_names: tuple[str, ...],
        sort_names: tuple[str, ...],
        types: Mapping[str, str],
        on_index: bool = False,
    ) -> KeySelection:
        """Return what to read; see `CompiledKeyCondition.select`."""
        return select(self._terms, partition_names, sort_names, types)


# -- comparisons: an operator and its values


_Comparison = tuple[str, tuple[Value, ...]]


def _read_comparisons(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, _Comparison]:
    found = {}
    for name, entry in raw.items():
        _check_name(name)
        operands = [normalise(value) for value in entry.get("AttributeValueList") or ()]
        found[name] = _make_comparison(entry.get("ComparisonOperator"), operands)
    return found


def _make_comparison(operator: str | None, operands: list[Value]) -> _Comparison:
    if operator not in _OPERATORS:
        raise ValidationException("Comparison type does not exist in DynamoDB")
    count, allowed = _OPERATORS[operator]
    if len(operands) != count and not (count is None and operands):
        raise invalid(f"Invalid number of argument(s) for the {operator} ComparisonOperator")
    tags = [tag_of(operand) for operand in operands]
    for tag in tags:
        if tag not in allowed:
            raise invalid(
                f"ComparisonOperator {operator} is not valid for {tag} AttributeValue type"
            )
    if len(set(tags)) > 1:
        raise invalid("AttributeValues inside AttributeValueList must be of same type")
    if operator == "BETWEEN":
        low, high = (sort_key(tags[0], operand[tags[0]]) for operand in operands)
        if low > high:
            raise ValidationException(
                "The BETWEEN condition was provided a range where the lower bound is greater than "
                "the upper bound"
            )
    return operator, tuple(operands)


def _read_expected(name: str, entry: Mapping[str, Any]) -> _Comparison:
    """Return the comparison of an entry of Expected, which has two forms."""
    _check_name(name)
    value, listed = entry.get("Value"), entry.get("AttributeValueList")
    exists, operator = entry.get("Exists"), entry.get("ComparisonOperator")

    def fault(reason: str) -> ValidationException:
        return invalid(f"{reason} for Attribute: {truncate(name)}")

    if value is not None and listed is not None:
        raise fault("Value and AttributeValueList cannot be used together")
    if exists is not None and operator is not None:
        raise fault("Exists and ComparisonOperator cannot be used together")
    if listed is not None and operator is None:
        raise fault("AttributeValueList can only be used with a ComparisonOperator")
    if operator is not None:
        if value is None and listed is None and operator not in ("NULL", "NOT_NULL"):
            raise fault(
                f"Value or AttributeValueList must be used with ComparisonOperator: {operator}"
            )
        given = listed or () if value is None else (value,)
        return _make_comparison(operator, [normalise(operand) for operand in given])
    if exists is False:
        if value is not None:
            raise fault("Value cannot be used when Exists is false")
        return "NULL", ()
    if value is None:
        raise fault(f"Value must be provided when Exists is {'null' if exists is None else 'true'}")
    return "EQ", (normalise(value),)


# -- conditions


def _make_condition(
    comparisons: Mapping[str, _Comparison], conditional_operator: str | None
) -> CompiledCondition | None:
    if conditional_operator is not None and len(comparisons) < 2:
        raise ValidationException(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
            if comparisons
            else "ConditionalOperator cannot be used without Filter or Expected"
        )
    if not comparisons:
        return None
    values: dict[str, Value] = {}
    trees = tuple(_make_tree(name, *found, values) for name, found in comparisons.items())
    condition = tree.Or(trees) if conditional_operator == "OR" else tree.And(trees)
    form = UncheckedCondition(condition, frozenset(comparisons))
    return CompiledCondition(form, values, item_size(values))


def _make_tree(
    name: str, operator: str, operands: tuple[Value, ...], values: dict[str, Value]
) -> tree.Condition:
    path = tree.Path((name,))
    right = [_add_value(operand, values) for operand in operands]
    match operator:
        case "BETWEEN":
            return tree.Between(path, *right)
        case "IN":
            return tree.In(path, tuple(right))
        case "BEGINS_WITH":
            return tree.Call("begins_with", (path, *right))
        case "CONTAINS":
            return tree.Call("contains", (path, *right))
        case "NOT_CONTAINS":  # false if the attribute is missing, unlike NE
            contains = tree.Call("contains", (path, *right))
            return tree.And((tree.Call("attribute_exists", (path,)), tree.Not(contains)))
        case "NULL":  # true if the attribute is missing; not about the type NULL
            return tree.Call("attribute_not_exists", (path,))
        case "NOT_NULL":
            return tree.Call("attribute_exists", (path,))
        case _:
            return tree.Comparison(_COMPARATORS[operator], path, *right)


def _add_value(value: Value, values: dict[str, Value]) -> tree.Value:
    """Add a value, and return a reference with a name that no expression can have."""
    name = str(len(values))
    values[name] = value
    return tree.Value(name)


# -- updates


def _make_action(name: str, entry: Mapping[str, Any], values: dict[str, Value]) -> tree.Action:
    _check_name(name)
    path = tree.Path((name,))
    action = entry.get("Action") or "PUT"
    if entry.get("Value") is None:
        if action != "DELETE":
            raise invalid("Only DELETE action is allowed when no attribute value is specified")
        return tree.RemoveAction(path)
    value = normalise(entry["Value"])
    tag = tag_of(value)
    kept = _add_value(value, values)
    if action == "PUT":
        return tree.SetAction(path, kept)
    if action == "ADD":
        if tag not in _SETS and tag not in ("N", "L"):
            raise invalid(f"ADD action is not supported for the type {LONG_TYPE_NAMES[tag]}")
        return tree.AddAction(path, kept)
    if tag not in _SETS:
        raise invalid(
            f"DELETE action with value is not supported for the type {LONG_TYPE_NAMES[tag]}"
        )
    return tree.DeleteAction(path, kept)


def _check_name(name: str) -> None:
    if not name:
        raise ValidationException(EMPTY_NAME)
