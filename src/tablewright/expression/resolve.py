"""Resolving: a parsed tree and ExpressionAttributeNames to a tree with real names, and its checks.

Owns every rule about an expression that is not grammar: names and values that are not defined,
numbers and types of operands, operands that must differ, overlapping paths, limits. Messages are
DynamoDB's, and so is the order of checks:

- Conditions are walked from left to right, operands before the function that takes them. At one
  function or operator: number of operands, then "requires a document path", then types, then
  "must be distinct", then its own rules. The number of operators comes last of all.
- Updates and projections are walked from the last path to the first: for each path its depth, its
  names, its overlap with those after it. Then, for updates, the operands, again from the last
  action to the first.

Many rules ask about the values of a request, while a resolved expression is kept for many
requests. So a rule becomes a `Check`, a function of the values that raises, and a mistake that no
values can fix becomes a check that always raises, in its place among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeAlias, TypeVar

from tablewright.errors import ValidationException
from tablewright.expression.lexer import invalid
from tablewright.expression.parse import too_many_operators
from tablewright.expression.rules import (
    ADD_TYPES,
    ANY_TYPE,
    DELETE_TYPES,
    DISTINCT,
    LONG_TYPE_NAMES,
    OPERAND_COUNTS,
    OPERAND_TYPES,
    PATH_FIRST,
    TYPE_NAMES,
)
from tablewright.expression.tree import (
    Action,
    Add,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Condition,
    Delete,
    In,
    Not,
    Operand,
    Or,
    Path,
    Projection,
    Remove,
    Section,
    Set,
    Update,
    Value,
)
from tablewright.limits import MAX_EXPRESSION_OPERATORS, MAX_IN_OPERANDS, MAX_PATH_DEPTH
from tablewright.values import Value as AttributeValue
from tablewright.values import sort_key, tag_of

Values: TypeAlias = Mapping[str, AttributeValue]
Check: TypeAlias = Callable[[Values], None]
Tree = TypeVar("Tree")
_Node = TypeVar("_Node", Condition, Update, Projection)


@dataclass(frozen=True, slots=True)
class Resolved(Generic[Tree]):
    """A tree with real names, and what is left to ask of each request that uses it."""

    tree: Tree | None  # None: the checks always raise
    names: frozenset[str]  # top-level attributes
    nested: frozenset[str]  # those of them into which a path leads
    aliases: frozenset[str]
    values: frozenset[str]
    checks: tuple[Check, ...]
    checks_if_defined: tuple[Check, ...]  # without those that only ask whether a value exists

    def check(self, values: Values) -> None:
        """Raise what DynamoDB says about this expression with these values."""
        checks = self.checks_if_defined if self.values <= values.keys() else self.checks
        for check in checks:
            check(values)


def resolve_condition(
    kind: str, condition: Condition, names: Mapping[str, str]
) -> Resolved[Condition]:
    resolver = _Resolver(kind, names)

    def steps() -> Condition:
        resolved = resolver.condition(condition)
        resolver.limit_operators()
        return resolved

    return resolver.result(steps)


def resolve_update(update: Update, names: Mapping[str, str]) -> Resolved[Update]:
    resolver = _Resolver("UpdateExpression", names)
    return resolver.result(lambda: resolver.update(update))


def resolve_projection(projection: Projection, names: Mapping[str, str]) -> Resolved[Projection]:
    resolver = _Resolver("ProjectionExpression", names)
    return resolver.result(lambda: Projection(resolver.disjoint(projection.paths)))


class _Stop(Exception):
    """What follows does not matter: the last check always raises."""


class _Resolver:
    def __init__(self, kind: str, names: Mapping[str, str]) -> None:
        self.kind = kind
        self.defined_names = names
        self.names: set[str] = set()
        self.nested: set[str] = set()
        self.aliases: set[str] = set()
        self.values: set[str] = set()
        self.checks: list[Check] = []
        self.checks_if_defined: list[Check] = []
        self.operators = 0

    def result(self, steps: Callable[[], _Node]) -> Resolved[_Node]:
        tree: _Node | None
        try:
            tree = steps()
        except _Stop:
            tree = None
        return Resolved(
            tree,
            frozenset(self.names),
            frozenset(self.nested),
            frozenset(self.aliases),
            frozenset(self.values),
            tuple(self.checks),
            tuple(self.checks_if_defined),
        )

    # -- faults and checks

    def fault(self, message: str) -> ValidationException:
        return invalid(self.kind, message)

    def fail(self, message: str) -> NoReturn:
        """A mistake whatever the values are."""

        def check(values: Values) -> None:
            raise self.fault(message)

        self.require(check)
        raise _Stop

    def require(self, check: Check) -> None:
        self.checks.append(check)
        self.checks_if_defined.append(check)

    def limit_operators(self) -> None:
        if self.operators > MAX_EXPRESSION_OPERATORS:
            self.fail(str(too_many_operators(self.kind)).partition(": ")[2])

    # -- operands

    def path(self, path: Path) -> Path:
        if len(path.parts) > MAX_PATH_DEPTH:
            self.fail(
                f"The document path has too many nesting levels; nesting levels: {len(path.parts)}"
            )
        parts = tuple(
            self.alias(part) if isinstance(part, str) and part[0] == "#" else part
            for part in path.parts
        )
        self.names.add(str(parts[0]))
        if len(parts) > 1:
            self.nested.add(str(parts[0]))
        return Path(parts)

    def alias(self, alias: str) -> str:
        self.aliases.add(alias)
        name = self.defined_names.get(alias)
        if name is None:
            self.fail(
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {alias}"
            )
        return name

    def value(self, value: Value) -> Value:
        name = value.name
        self.values.add(name)

        def check(values: Values) -> None:
            if name not in values:
                raise self.fault(
                    "An expression attribute value used in expression is not defined; "
                    f"attribute value: {name}"
                )

        self.checks.append(check)
        return value

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case Path():
                return self.path(operand)
            case Value():
                return self.value(operand)
            case Call():
                return self.call(operand)
            case Arithmetic(operator, left, right):
                left, right = self.operand(left), self.operand(right)
                self.types(operator, (left, right))
                self.operators += 1
                return Arithmetic(operator, left, right)

    def call(self, call: Call) -> Call:
        function = call.function
        arguments = tuple(self.operand(argument) for argument in call.arguments)
        if len(arguments) != OPERAND_COUNTS[function]:
            self.fail(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {function}, number of operands: {len(arguments)}"
            )
        if function in PATH_FIRST and not isinstance(arguments[0], Path):
            self.fail(
                f"Operator or function requires a document path; operator or function: {function}"
            )
        self.types(function, arguments)
        if function == "attribute_type":
            self.operand_type(function, arguments[1], frozenset("S"))
        if function in DISTINCT:
            self.distinct(function, arguments)
        if function == "attribute_type":
            self.type_name(arguments[1])
        self.operators += 1
        return Call(function, arguments)

    def types(self, function: str, operands: Iterable[Operand]) -> None:
        allowed = OPERAND_TYPES.get(function)
        if allowed is not None:
            for operand in operands:
                self.operand_type(function, operand, allowed)

    def operand_type(self, function: str, operand: Operand, allowed: frozenset[str]) -> None:
        message = (
            "Incorrect operand type for operator or function; "
            f"operator or function: {function}, operand type: "
        )
        match operand:
            case Call("size"):
                if "N" not in allowed:
                    self.fail(f"{message}N")
            case Value(name):

                def check(values: Values) -> None:
                    tag = tag_of(values[name])
                    if tag not in allowed:
                        raise self.fault(message + tag)

                self.require(check)

    def distinct(self, function: str, operands: tuple[Operand, ...]) -> None:
        first, *others = operands
        if isinstance(first, Path) and first in others:
            self.fail(
                "The first operand must be distinct from the remaining operands for this operator "
                f"or function; operator: {function}, first operand: {first}"
            )

    def type_name(self, operand: Operand) -> None:
        if not isinstance(operand, Value):
            self.fail(
                "Incorrect operand type for operator or function; "
                f"operator or function: attribute_type, operand type: {ANY_TYPE}"
            )
        name = operand.name

        def check(values: Values) -> None:
            wanted = values[name]["S"]
            if wanted not in LONG_TYPE_NAMES:
                raise self.fault(
                    f"Invalid attribute type name found; type: {wanted}, valid types: {TYPE_NAMES}"
                )

        self.require(check)

    # -- conditions

    def condition(self, condition: Condition) -> Condition:
        match condition:
            case And(conditions):
                self.operators += len(conditions) - 1
                return And(tuple(self.condition(inner) for inner in conditions))
            case Or(conditions):
                self.operators += len(conditions) - 1
                return Or(tuple(self.condition(inner) for inner in conditions))
            case Not(inner):
                self.operators += 1
                return Not(self.condition(inner))
            case Call():
                return self.call(condition)
            case Comparison(operator, left, right):
                operands = self.operator(operator, (left, right))
                return Comparison(operator, *operands)
            case Between(operand, low, high):
                operands = self.operator("BETWEEN", (operand, low, high))
                self.bounds(*operands[1:])
                return Between(*operands)
            case In(operand, options):
                operands = self.operator("IN", (operand, *options))
                if len(options) > MAX_IN_OPERANDS:
                    self.fail(
                        "The IN operator is provided with too many operands; "
                        f"number of operands: {len(options)}"
                    )
                return In(operands[0], operands[1:])

    def operator(self, operator: str, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        operands = tuple(self.operand(operand) for operand in operands)
        self.types(operator, operands)
        self.distinct(operator, operands)
        self.operators += 1
        return operands

    def bounds(self, low: Operand, high: Operand) -> None:
        if not (isinstance(low, Value) and isinstance(high, Value)):
            return
        low_name, high_name = low.name, high.name

        def check(values: Values) -> None:
            ((low_tag, lowest),) = values[low_name].items()
            ((high_tag, highest),) = values[high_name].items()
            if low_tag != high_tag:
                rule = "same data type for lower and upper bounds"
            elif sort_key(low_tag, lowest) > sort_key(high_tag, highest):
                rule = "upper bound to be greater than or equal to lower bound"
            else:
                return
            raise self.fault(
                f"The BETWEEN operator requires {rule}; "
                f"lower bound operand: AttributeValue: {{{low_tag}:{lowest}}}, "
                f"upper bound operand: AttributeValue: {{{high_tag}:{highest}}}"
            )

        self.require(check)

    # -- paths that are written or returned

    def disjoint(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Real names, for paths of which none may contain another."""
        done: list[Path] = []
        by_name: dict[str | int, list[Path]] = {}
        for path in reversed(tuple(paths)):
            path = self.path(path)
            same_name = by_name.setdefault(path.parts[0], [])
            for other in same_name:
                clash = _clash(path, other)
                if clash:
                    self.fail(
                        f"Two document paths {clash} with each other; must remove or rewrite one "
                        f"of these paths; path one: {path}, path two: {other}"
                    )
            same_name.append(path)
            done.append(path)
        return tuple(reversed(done))

    # -- updates

    def update(self, update: Update) -> Update:
        keywords = [section.keyword for section in update.sections]
        for keyword in keywords:
            if keywords.count(keyword) > 1:
                self.fail(f'The "{keyword}" section can only be used once in an update expression;')
        actions = [action for section in update.sections for action in section.actions]
        paths = self.disjoint(action.path for action in actions)
        resolved = [
            self.action(action, path)
            for action, path in zip(reversed(actions), reversed(paths), strict=True)
        ]
        self.limit_operators()
        return Update(
            tuple(
                Section(section.keyword, tuple(resolved.pop() for _ in section.actions))
                for section in update.sections
            )
        )

    def action(self, action: Action, path: Path) -> Action:
        match action:
            case Set(_, operand):
                return Set(path, self.operand(operand))
            case Remove():
                return Remove(path)
            case Add(_, value):
                self.value(value)
                self.set_type("ADD", value.name, ADD_TYPES)
                return Add(path, value)
            case Delete(_, value):
                self.value(value)
                self.set_type("DELETE", value.name, DELETE_TYPES)
                return Delete(path, value)

    def set_type(self, keyword: str, name: str, allowed: frozenset[str]) -> None:
        def check(values: Values) -> None:
            tag = tag_of(values[name])
            if tag not in allowed:
                raise self.fault(
                    f"Incorrect operand type for operator or function; operator: {keyword}, "
                    f"operand type: {LONG_TYPE_NAMES[tag]}, "
                    f"typeSet: ALLOWED_FOR_{keyword}_OPERAND"
                )

        self.require(check)


def _clash(one: Path, two: Path) -> str | None:
    """Whether one path contains the other, or they disagree on what is a list and what a map."""
    for mine, theirs in zip(one.parts, two.parts, strict=False):
        if mine != theirs:
            return None if isinstance(mine, str) == isinstance(theirs, str) else "conflict"
    return "overlap"
