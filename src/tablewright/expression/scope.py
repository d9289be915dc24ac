"""Scopes: the expressions of one request, with the names and values they share.

Owns the order in which a request's expressions are checked, and the cache. DynamoDB's order:

1. ExpressionAttributeNames: not empty, then its keys, then its names. Then the same for
   ExpressionAttributeValues. All before any expression is looked at, and only if there is one.
2. Each expression, completely. The caller asks for them in the order of its operation: UpdateItem
   update, condition; Query filter, projection, key condition; Scan filter, projection.
3. `close`: names, then values, that no expression used; or that came without any expression.
What concerns a table (key attributes, index keys) comes after that, and belongs to the engine.

Text and names decide everything but the values, so a parsed, resolved and compiled expression is
kept for as long as it is used (`lru_cache`); the values join it in a small object for one request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, ParamSpec, TypeAlias, TypeVar, cast

from tablewright.encoding.items import (
    NAME_TOO_LARGE,
    TOO_DEEP,
    normalise,
    value_size,
)
from tablewright.encoding.truncation import MAX_ECHO_LENGTH, join_truncated
from tablewright.errors import ValidationException
from tablewright.expression.document import compile_projection
from tablewright.expression.evaluate import Test, compile_condition
from tablewright.expression.key import KeySelection, KeyShape, key_shape, select
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tablewright.expression.resolve import (
    Resolved,
    Values,
    resolve_condition,
    resolve_projection,
    resolve_update,
)
from tablewright.expression.tree import And, Path, Projection
from tablewright.expression.tree import Condition as ConditionTree
from tablewright.expression.tree import Update as UpdateTree
from tablewright.expression.update import compile_update
from tablewright.limits import MAX_ATTRIBUTE_NAME_SIZE, MAX_PLACEHOLDER_LENGTH, MAX_SUBSTITUTED_SIZE
from tablewright.values import Item, Value

P = ParamSpec("P")
T = TypeVar("T")
Names: TypeAlias = tuple[tuple[str, str], ...]
_AnyResolved: TypeAlias = Resolved[ConditionTree] | Resolved[UpdateTree] | Resolved[Projection]

_MAX_CACHED_NAMES: Final = 64  # an expression with more names is parsed each time
_CACHE_SIZE: Final = 1024
_NAME_KEY = re.compile(r"#[A-Za-z0-9_]+").fullmatch
_VALUE_KEY = re.compile(r":[A-Za-z0-9_]+").fullmatch
_NO_VALUES: Final[dict[str, Value]] = {}


class Condition:
    """A condition or filter of one request."""

    __slots__ = ("_test", "_values", "names", "nested")

    def __init__(
        self,
        test: Test,
        names: frozenset[str],
        values: Values,
        nested: frozenset[str] = frozenset(),
    ) -> None:
        self._test = test
        self._values = values
        self.names = names  #: the top-level attributes it reads
        self.nested = nested  #: those of them into which a path leads

    def holds(self, item: Item) -> bool:
        """Whether it is true of an item; `{}` where there is none."""
        return self._test(item, self._values)


class Project:
    """A projection: call it with an item."""

    __slots__ = ("_pick", "names", "nested")

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._pick = compile_projection(paths)
        self.names = frozenset(str(path.parts[0]) for path in paths)  #: attributes it needs
        #: those of them into which a path leads
        self.nested = frozenset(str(path.parts[0]) for path in paths if len(path.parts) > 1)

    def __call__(self, item: Item) -> Item:
        """The parts of the item that it names. Shares their values with the item."""
        return self._pick(item)


class Update:
    """An update of one request."""

    __slots__ = ("_apply", "_touched", "_values", "mentioned", "names", "nested")

    def __init__(
        self,
        apply: Callable[[Item, Values], Item],
        touched: Project,
        values: Values,
        nested: frozenset[str] = frozenset(),
        mentioned: frozenset[str] = frozenset(),
    ) -> None:
        self._apply = apply
        self._touched = touched
        self._values = values
        self.names = touched.names  #: the top-level attributes it writes
        self.mentioned = touched.names | mentioned  #: the ones it reads as well
        self.nested = nested  #: the attributes, read or written, into which a path leads

    def apply(self, item: Item) -> Item:
        """The new item. Raises `ValidationException` where the item does not allow the update."""
        return self._apply(item, self._values)

    def touched(self, item: Item) -> Item | None:
        """What UPDATED_OLD (of the old item) or UPDATED_NEW (of the new one) returns."""
        return self._touched(item) or None


class Key:
    """A key condition of one request."""

    __slots__ = ("_shape", "_values")

    def __init__(self, shape: KeyShape, values: Values) -> None:
        self._shape = shape
        self._values = values

    @property
    def names(self) -> frozenset[str]:
        """The attributes it has conditions on."""
        return frozenset(name for name, _, _ in self._shape.terms)

    def select(
        self,
        partition_names: tuple[str, ...],
        sort_names: tuple[str, ...],
        types: Mapping[str, str],
        on_index: bool = False,
    ) -> KeySelection:
        """What to read from a table or index with these key attributes, of these types.

        Raises `ValidationException` where the condition does not fit the key. Empty strings are
        left to the caller, whose message names the index.
        """
        terms = self._shape.terms_on(partition_names + sort_names, self._values, on_index)
        return select(terms, partition_names, sort_names, types)


class Scope:
    """The expressions of one request. See the package for an example.

    Each method takes the text of an expression, or None where the request has none, and gives
    what was made of it, or None.
    """

    __slots__ = (
        "_absent",
        "_names",
        "_normal",
        "_raw_names",
        "_raw_values",
        "_takes_values",
        "_used",
    )

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        self._raw_names = names
        self._raw_values = values
        self._names: Names | None = None  # None until the first expression
        self._normal: dict[str, Value] = _NO_VALUES
        self._used: list[_AnyResolved] = []
        self._absent: list[str] = []  # kinds that may use values, and were not given
        self._takes_values = False  # some kind that may use values was given

    def condition(self, text: str | None) -> Condition | None:
        """A ConditionExpression."""
        return self._condition("ConditionExpression", text)

    def filter(self, text: str | None) -> Condition | None:
        """A FilterExpression."""
        return self._condition("FilterExpression", text)

    def _condition(self, kind: str, text: str | None) -> Condition | None:
        if text is None:
            self._absent.append(kind)
            return None
        self._takes_values = True
        test, resolved = _compiled_condition(kind, text, self._open())
        self._use(resolved)
        return Condition(test, resolved.names, self._normal, resolved.nested)

    def key_condition(self, text: str | None) -> Key | None:
        """A KeyConditionExpression."""
        if text is None:
            self._absent.append("KeyConditionExpression")
            return None
        self._takes_values = True
        shape, resolved = _compiled_key_condition(text, self._open())
        self._use(resolved)
        return Key(shape, self._normal)

    def update(self, text: str | None) -> Update | None:
        """An UpdateExpression."""
        if text is None:
            self._absent.append("UpdateExpression")
            return None
        self._takes_values = True
        apply, touched, resolved = _compiled_update(text, self._open())
        self._use(resolved)
        return Update(apply, touched, self._normal, resolved.nested, resolved.names)

    def projection(self, text: str | None) -> Project | None:
        """A ProjectionExpression."""
        if text is None:
            return None
        project, resolved = _compiled_projection(text, self._open())
        self._use(resolved)
        return project

    def close(self) -> None:
        """Raise for names and values that no expression used. Call it after the last one."""
        used = self._used
        if self._raw_names:
            if not used:
                raise ValidationException(
                    "ExpressionAttributeNames can only be specified when using expressions"
                )
            _refuse_unused(
                "Names", self._raw_names, frozenset().union(*[one.aliases for one in used])
            )
        if self._raw_values:
            # A projection has no values: it does not count as an expression here.
            if not self._takes_values:
                absent = self._absent
                raise ValidationException(
                    "ExpressionAttributeValues can only be specified when using expressions: "
                    f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} null"
                )
            _refuse_unused(
                "Values", self._raw_values, frozenset().union(*[one.values for one in used])
            )

    def _use(self, resolved: _AnyResolved) -> None:
        self._used.append(resolved)
        resolved.check(self._normal)

    def _open(self) -> Names:
        """The names, as part of a key of the cache, when names and values have been checked."""
        if self._names is None:
            names, values = self._raw_names, self._raw_values
            if names is not None:
                _check_keys("ExpressionAttributeNames", names, _NAME_KEY)
                _check_total("ExpressionAttributeNames", sum(map(len, names.values())))
                for key, name in names.items():
                    if not name or len(name) > MAX_ATTRIBUTE_NAME_SIZE:
                        reason = NAME_TOO_LARGE if name else "Empty attribute name"
                        raise ValidationException(
                            "ExpressionAttributeNames contains invalid value: "
                            f"{reason} for key {key}"
                        )
            if values is not None:
                _check_keys("ExpressionAttributeValues", values, _VALUE_KEY)
                self._normal = {key: _normal(key, value) for key, value in values.items()}
                total = sum(map(len, values)) + sum(map(value_size, self._normal.values()))
                _check_total("ExpressionAttributeValues", total)
            self._names = () if names is None else tuple(names.items())
        return self._names


# -- the cache: everything but the values


def _remembered(compile_: Callable[P, T]) -> Callable[P, T]:
    """Remember what was compiled from a text and the names it came with, the last argument.

    Not where there are many names: a request may have megabytes of them.
    """
    cached = lru_cache(_CACHE_SIZE)(compile_)

    def compiled(*key: P.args, **none: P.kwargs) -> T:
        names = cast(Names, key[-1])
        if names and (len(names) > _MAX_CACHED_NAMES or max(map(len, dict(names).values())) > 255):
            return compile_(*key, **none)
        return cached(*key)

    return compiled


@_remembered
def _compiled_condition(kind: str, text: str, names: Names) -> tuple[Test, Resolved[ConditionTree]]:
    resolved = resolve_condition(kind, parse_condition(kind, text), dict(names))
    return compile_condition(resolved.tree) if resolved.tree else _never, resolved


@_remembered
def _compiled_key_condition(text: str, names: Names) -> tuple[KeyShape, Resolved[ConditionTree]]:
    kind = "KeyConditionExpression"
    resolved = resolve_condition(kind, parse_condition(kind, text), dict(names))
    return key_shape(resolved.tree or And(())), resolved


@_remembered
def _compiled_update(
    text: str, names: Names
) -> tuple[Callable[[Item, Values], Item], Project, Resolved[UpdateTree]]:
    resolved = resolve_update(parse_update(text), dict(names))
    tree = resolved.tree or UpdateTree(())
    return compile_update(tree), Project(written_paths(tree)), resolved


@_remembered
def _compiled_projection(text: str, names: Names) -> tuple[Project, Resolved[Projection]]:
    resolved = resolve_projection(parse_projection(text), dict(names))
    return Project(resolved.tree.paths if resolved.tree else ()), resolved


def written_paths(update: UpdateTree) -> tuple[Path, ...]:
    return tuple(action.path for section in update.sections for action in section.actions)


def _never(item: Item, values: Values) -> bool:
    """The test of a condition whose checks always raise."""
    raise AssertionError("checked before")


# -- names and values


def _check_keys(
    parameter: str, mapping: Mapping[str, object], fits: Callable[[str], object]
) -> None:
    if not mapping:
        raise ValidationException(f"{parameter} must not be empty")
    for key in mapping:
        if fits(key) and len(key) <= MAX_PLACEHOLDER_LENGTH:
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


def _normal(key: str, value: Value) -> Value:
    try:
        return normalise(value)
    except ValidationException as fault:
        if fault.message == TOO_DEEP:  # the one mistake that DynamoDB tells without its place
            raise
        raise ValidationException(
            f"ExpressionAttributeValues contains invalid value: {fault.message} for key {key}"
        ) from None


def _refuse_unused(what: str, given: Mapping[str, object], used: frozenset[str]) -> None:
    unused = [key for key in given if key not in used]
    if unused:
        raise ValidationException(
            f"Value provided in ExpressionAttribute{what} unused in expressions: "
            f"keys: {{{join_truncated(_java_set_order(unused))}}}"
        )


def _java_set_order(keys: list[str]) -> list[str]:
    """The order in which DynamoDB lists them: that of a Java HashSet.

    Of more than a message shows, the order is not worth the time.
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
