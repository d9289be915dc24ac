"""Scopes: the expressions of one request, with the names and values they share.

Owns the order in which the expressions of a request are checked, and the cache. DynamoDB's order:

1. ExpressionAttributeNames, then ExpressionAttributeValues. Both are checked before any expression,
   and only if the request has an expression.
2. Each expression, completely. The caller compiles them in the order of its operation: UpdateItem
   update, condition; Query filter, projection, key condition; Scan filter, projection.
3. `require_all_used`: names, then values, that no expression uses.
The engine checks afterwards what depends on the table: key attributes and index keys.

A compiled expression depends on its text and on the names, but not on the values. So compiled
expressions are cached (`lru_cache`), and a small object combines them with the values of a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, ParamSpec, TypeAlias, TypeVar, cast

from tablewright.encoding.items import EMPTY_NAME, NAME_TOO_LARGE, item_size, normalise
from tablewright.errors import MAX_ECHO_LENGTH, ValidationException, join_truncated
from tablewright.expression import tree
from tablewright.expression.compiled import (
    CompiledCondition,
    CompiledKeyCondition,
    CompiledProjection,
    CompiledUpdate,
    ConditionForm,
)
from tablewright.expression.key import KeyConditionForm, parse_key_condition
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tablewright.expression.resolve import (
    Resolved,
    resolve_condition,
    resolve_projection,
    resolve_update,
)
from tablewright.expression.update import CompiledActions
from tablewright.limits import MAX_ATTRIBUTE_NAME_SIZE, MAX_PLACEHOLDER_LENGTH, MAX_SUBSTITUTED_SIZE
from tablewright.values import Value

P = ParamSpec("P")
T = TypeVar("T")
Names: TypeAlias = tuple[tuple[str, str], ...]
_AnyResolved: TypeAlias = (
    Resolved[tree.Condition] | Resolved[tree.UpdateTree] | Resolved[tree.ProjectionTree]
)

_MAX_CACHED_NAMES: Final = 64  # an expression with more names is not cached
_CACHE_SIZE: Final = 1024
_NO_VALUES: Final[dict[str, Value]] = {}
#: Names that have been checked, if they are few and short, and keys of values.
_KNOWN_NAMES: Final[set[Names]] = set()
_KNOWN_KEYS: Final[set[str]] = set()


class Scope:
    """The expressions of one request. See the package's docstring for an example.

    The methods for each kind of expression take its text and return the compiled expression. They
    return None if the text is None, which means that the request has no such expression.
    """

    __slots__ = (
        "_depth",
        "_has_value_expression",
        "_missing_kinds",
        "_names",
        "_normal",
        "_raw_names",
        "_raw_values",
        "_used",
        "_values_size",
    )

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
        *,
        depth: int = 0,
    ) -> None:
        """Begin with the names and values; `depth` is where the nesting of values begins."""
        self._depth = depth
        self._raw_names = names
        self._raw_values = values
        self._names: Names | None = None  # None until the first expression
        self._normal: dict[str, Value] = _NO_VALUES
        self._values_size = 0
        self._used: list[_AnyResolved] = []
        self._missing_kinds: list[str] = []  # missing expressions of kinds that may use values
        self._has_value_expression = False  # an expression of such a kind is present

    def condition(self, text: str | None) -> CompiledCondition | None:
        """Compile a ConditionExpression."""
        return self._condition("ConditionExpression", text)

    def filter(self, text: str | None) -> CompiledCondition | None:
        """Compile a FilterExpression."""
        return self._condition("FilterExpression", text)

    def _condition(self, kind: str, text: str | None) -> CompiledCondition | None:
        if text is None:
            self._missing_kinds.append(kind)
            return None
        self._has_value_expression = True
        form = _compile_condition(kind, text, self._checked_names())
        self._use(form.resolved)
        return CompiledCondition(form, self._normal, self._values_size)

    def key_condition(self, text: str | None) -> CompiledKeyCondition | None:
        """Compile a KeyConditionExpression."""
        if text is None:
            self._missing_kinds.append("KeyConditionExpression")
            return None
        self._has_value_expression = True
        form, resolved = _compile_key_condition(text, self._checked_names())
        self._use(resolved)
        return CompiledKeyCondition(form, self._normal)

    def update(self, text: str | None) -> CompiledUpdate | None:
        """Compile an UpdateExpression."""
        if text is None:
            self._missing_kinds.append("UpdateExpression")
            return None
        self._has_value_expression = True
        actions, written, resolved = _compile_update(text, self._checked_names())
        self._use(resolved)
        return CompiledUpdate(
            actions, written, self._normal, self._values_size, resolved.nested_names, resolved.names
        )

    def projection(self, text: str | None) -> CompiledProjection | None:
        """Compile a ProjectionExpression."""
        if text is None:
            return None
        project, resolved = _compile_projection(text, self._checked_names())
        self._use(resolved)
        return project

    def require_all_used(self) -> None:
        """Raise if there are names or values that no expression uses.

        Call it after the last expression is compiled.
        """
        used = self._used
        if self._raw_names:
            if not used:
                raise ValidationException(_without_expression("Names"))
            refuse_unused(
                "Names", self._raw_names, frozenset().union(*[one.aliases for one in used])
            )
        if self._raw_values:
            # A projection cannot use values, so it does not count as an expression here.
            if not self._has_value_expression:
                missing = self._missing_kinds
                unused = _without_expression("Values")
                raise ValidationException(
                    unused,
                    old=f"{unused}: {' and '.join(missing)} "
                    f"{'is' if len(missing) == 1 else 'are'} null",
                )
            refuse_unused(
                "Values", self._raw_values, frozenset().union(*[one.values for one in used])
            )

    def _use(self, resolved: _AnyResolved) -> None:
        self._used.append(resolved)
        resolved.check(self._normal)

    def _checked_names(self) -> Names:
        """Check names and values, once, and return the names as a part of the cache key."""
        if self._names is None:
            names, values = self._raw_names, self._raw_values
            key = () if names is None else tuple(names.items())
            if names is not None and key not in _KNOWN_NAMES:
                check_names(names)
                if len(key) <= _MAX_CACHED_NAMES and max(map(len, names.values())) <= 255:
                    _remember(key, _KNOWN_NAMES)
            if values is not None:
                self._normal, self._values_size = normalise_values(values, self._depth)
            self._names = key
        return self._names


# -- the cache of compiled expressions


def _cached(compile_: Callable[P, T]) -> Callable[P, T]:
    """Cache what is compiled from a text and its names, which are the last argument.

    Nothing is cached if there are many or long names: a request may have megabytes of them.
    """
    compile_cached = lru_cache(_CACHE_SIZE)(compile_)

    def compile_or_get(*key: P.args, **none: P.kwargs) -> T:
        names = cast(Names, key[-1])
        if names and names not in _KNOWN_NAMES:
            return compile_(*key, **none)
        return compile_cached(*key)

    return compile_or_get


@_cached
def _compile_condition(kind: str, text: str, names: Names) -> ConditionForm:
    return ConditionForm(parse_condition(kind, text), dict(names), kind)


@_cached
def _compile_key_condition(
    text: str, names: Names
) -> tuple[KeyConditionForm, Resolved[tree.Condition]]:
    kind = "KeyConditionExpression"
    resolved = resolve_condition(kind, parse_condition(kind, text), dict(names))
    return parse_key_condition(resolved.tree or tree.And(())), resolved


@_cached
def _compile_update(
    text: str, names: Names
) -> tuple[CompiledActions, CompiledProjection, Resolved[tree.UpdateTree]]:
    resolved = resolve_update(parse_update(text), dict(names))
    update = resolved.tree or tree.UpdateTree(())
    paths = tuple(action.path for section in update.sections for action in section.actions)
    return CompiledActions(update), CompiledProjection(paths), resolved


@_cached
def _compile_projection(
    text: str, names: Names
) -> tuple[CompiledProjection, Resolved[tree.ProjectionTree]]:
    resolved = resolve_projection(parse_projection(text), dict(names))
    return CompiledProjection(resolved.tree.paths if resolved.tree else ()), resolved


def _remember(key: T, known: set[T]) -> None:
    if len(known) >= _CACHE_SIZE:
        known.clear()
    known.add(key)


# --- names and values ---------------------------------------------------------------------------

_IS_NAME_KEY = re.compile(r"#[A-Za-z0-9_]+").fullmatch
_IS_VALUE_KEY = re.compile(r":[A-Za-z0-9_]+").fullmatch


def check_names(names: Mapping[str, str]) -> None:
    """Check ExpressionAttributeNames: not empty, then the keys, the total size and the names."""
    _check_keys("ExpressionAttributeNames", names, _IS_NAME_KEY)
    _check_total("ExpressionAttributeNames", sum(map(len, names.values())))
    for key, name in names.items():
        if not name or len(name) > MAX_ATTRIBUTE_NAME_SIZE:
            reason = NAME_TOO_LARGE if name else EMPTY_NAME
            raise ValidationException(_invalid_value("ExpressionAttributeNames", reason, key))


def normalise_values(values: Mapping[str, Value], depth: int = 0) -> tuple[dict[str, Value], int]:
    """Check ExpressionAttributeValues; return the values in normal form, and their size."""
    if not values or not values.keys() <= _KNOWN_KEYS:
        _check_keys("ExpressionAttributeValues", values, _IS_VALUE_KEY)
        for key in values:
            _remember(key, _KNOWN_KEYS)
    normal = {
        # Most values are strings, which need no normalisation.
        key: value if len(value) == 1 and "S" in value else _normalise(key, value, depth)
        for key, value in values.items()
    }
    total = item_size(normal)
    _check_total("ExpressionAttributeValues", total)
    return normal, total


def _check_keys(
    parameter: str, mapping: Mapping[str, object], is_valid: Callable[[str], object]
) -> None:
    if not mapping:
        raise ValidationException(f"{parameter} must not be empty")
    for key in mapping:
        if is_valid(key) and len(key) <= MAX_PLACEHOLDER_LENGTH:
            continue
        if not key:
            reason = "The expression attribute map contains an empty key;"
        elif len(key) > MAX_PLACEHOLDER_LENGTH:
            reason = "The expression attribute map contains a key that is too long;"
            if parameter == "ExpressionAttributeNames":
                reason += f" size of key: {len(key)}"
        else:
            reason = f'Syntax error; key: "{key}"'
        raise ValidationException(f"{parameter} contains invalid key: {reason}")


def _check_total(parameter: str, size: int) -> None:
    if size > MAX_SUBSTITUTED_SIZE:
        raise ValidationException(f"{parameter} exceeds max size")


def _normalise(key: str, value: Value, depth: int) -> Value:
    try:
        return normalise(value, depth)
    except ValidationException as fault:
        raise ValidationException(
            fault.message,
            old=_invalid_value("ExpressionAttributeValues", fault.old_message, key),
        ) from None


def _invalid_value(parameter: str, reason: str, key: str) -> str:
    return f"{parameter} contains invalid value: {reason} for key {key}"


def _without_expression(kind: str) -> str:
    return f"ExpressionAttribute{kind} can only be specified when using expressions"


def refuse_unused(kind: str, given: Mapping[str, object], used: frozenset[str]) -> None:
    """Raise if a map (`kind` is "Names" or "Values") has keys that no expression uses."""
    unused = [key for key in given if key not in used]
    if unused:
        raise ValidationException(
            f"Value provided in ExpressionAttribute{kind} unused in expressions: "
            f"keys: {{{join_truncated(_java_set_order(unused))}}}"
        )


def _java_set_order(keys: list[str]) -> list[str]:
    """Sort keys in the iteration order of a Java HashSet, as in DynamoDB's message.

    Keys that do not fit into the message are not sorted.
    """
    if len(keys) > MAX_ECHO_LENGTH:
        return keys
    size = 16
    while len(keys) > size * 3 // 4:
        size *= 2

    def bucket(key: str) -> int:
        code = 0
        for character in key:
            code = (31 * code + ord(character)) & 0xFFFFFFFF
        return (code ^ code >> 16) & (size - 1)

    return sorted(keys, key=bucket)
