"""Resolution: replace the aliases in a parsed tree by attribute names, and check its rules.

Owns all rules about expressions except the grammar: undefined names and values, the number and
types of operands, operands that must differ, overlapping paths, limits. The messages and the order
of the checks are DynamoDB's:

- Conditions are visited from left to right, operands before their function. For each function or
  operator: number of operands, then "requires a document path", then types, then "must be
  distinct", then its own rules. The number of operators is checked last.
- Updates and projections are visited from the last path to the first: for each path its depth, its
  names, its overlap with later paths. Then, for updates, the operands, also from the last action to
  the first.

Many rules depend on the values of a request, but a resolved expression is cached for many requests.
So a rule becomes a `Check`: a function that takes the values and raises. An error that does not
depend on the values becomes a check that always raises, at its position in the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NoReturn, TypeAlias, TypeVar

from msgspec import Struct

from tablewright.encoding.items import show_value
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.lexer import invalid
from tablewright.expression.parse import TOO_MANY_OPERATORS
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
from tablewright.limits import MAX_EXPRESSION_OPERATORS, MAX_IN_OPERANDS, MAX_PATH_DEPTH
from tablewright.values import Value, sort_key, tag_of

Values: TypeAlias = Mapping[str, Value]
Check: TypeAlias = Callable[[Values], None]
Tree = TypeVar("Tree")
_Node = TypeVar("_Node", tree.Condition, tree.UpdateTree, tree.ProjectionTree)


class Resolved(Struct, Generic[Tree], frozen=True):
    """A tree with attribute names, and the checks for each request that uses it."""

    tree: Tree | None  # None if the checks always raise
    names: frozenset[str]  # top-level attributes
    nested_names: frozenset[str]  # those of them that have nested paths
    aliases: frozenset[str]
    values: frozenset[str]
    checks: tuple[Check, ...]
    checks_if_defined: tuple[Check, ...]  # the checks to run if all values are defined

    def check(self, values: Values) -> None:
        """Raise DynamoDB's fault if the expression is invalid with these values."""
        checks = self.checks_if_defined if self.values <= values.keys() else self.checks
        for check in checks:
            check(values)


def resolve_condition(
    kind: str, condition: tree.Condition, names: Mapping[str, str]
) -> Resolved[tree.Condition]:
    resolver = _Resolver(kind, names)

    def resolve() -> tree.Condition:
        resolved = resolver.resolve_condition(condition)
        resolver.check_operator_count()
        return resolved

    return resolver.run(resolve)


def resolve_update(
    update: tree.UpdateTree, names: Mapping[str, str], kind: str = "UpdateExpression"
) -> Resolved[tree.UpdateTree]:
    resolver = _Resolver(kind, names)
    return resolver.run(lambda: resolver.resolve_update(update))


def resolve_projection(
    projection: tree.ProjectionTree, names: Mapping[str, str]
) -> Resolved[tree.ProjectionTree]:
    resolver = _Resolver("ProjectionExpression", names)
    return resolver.run(
        lambda: tree.ProjectionTree(resolver.resolve_disjoint_paths(projection.paths))
    )


class _Stop(Exception):
    """Stop resolving, because the last check always raises."""


class _Resolver:
    def __init__(self, kind: str, names: Mapping[str, str]) -> None:
        self.kind = kind
        self.defined_names = names
        self.names: set[str] = set()
        self.nested_names: set[str] = set()
        self.aliases: set[str] = set()
        self.values: set[str] = set()
        self.checks: list[Check] = []
        self.checks_if_defined: list[Check] = []
        self.operators = 0

    def run(self, resolve: Callable[[], _Node]) -> Resolved[_Node]:
        resolved: _Node | None
        try:
            resolved = resolve()
        except _Stop:
            resolved = None
        return Resolved(
            resolved,
            frozenset(self.names),
            frozenset(self.nested_names),
            frozenset(self.aliases),
            frozenset(self.values),
            tuple(self.checks),
            tuple(self.checks_if_defined),
        )

    # -- faults and checks

    def fault(self, message: str) -> ValidationException:
        return invalid(self.kind, message)

    def fail(self, message: str) -> NoReturn:
        """Add a check that always raises, and stop."""

        def check(values: Values) -> None:
            raise self.fault(message)

        self.add_check(check)
        raise _Stop

    def add_check(self, check: Check) -> None:
        self.checks.append(check)
        self.checks_if_defined.append(check)

    def check_operator_count(self) -> None:
        if self.operators > MAX_EXPRESSION_OPERATORS:
            self.fail(TOO_MANY_OPERATORS)

    # -- operands

    def resolve_path(self, path: tree.Path) -> tree.Path:
        if len(path.parts) > MAX_PATH_DEPTH:
            self.fail(
                f"The document path has too many nesting levels; nesting levels: {len(path.parts)}"
            )
        parts = tuple(
            self.resolve_alias(part) if isinstance(part, str) and part[0] == "#" else part
            for part in path.parts
        )
        self.names.add(str(parts[0]))
        if len(parts) > 1:
            self.nested_names.add(str(parts[0]))
        return tree.Path(parts)

    def resolve_alias(self, alias: str) -> str:
        self.aliases.add(alias)
        name = self.defined_names.get(alias)
        if name is None:
            self.fail(
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {alias}"
            )
        return name

    def resolve_value(self, value: tree.Value) -> tree.Value:
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

    def resolve_operand(self, operand: tree.Operand) -> tree.Operand:
        match operand:
            case tree.Path():
                return self.resolve_path(operand)
            case tree.Value():
                return self.resolve_value(operand)
            case tree.Call():
                return self.resolve_call(operand)
            case tree.Arithmetic(operator, left, right):
                left, right = self.resolve_operand(left), self.resolve_operand(right)
                self.check_types(operator, (left, right))
                self.operators += 1
                return tree.Arithmetic(operator, left, right)

    def resolve_call(self, call: tree.Call) -> tree.Call:
        function = call.function
        arguments = tuple(self.resolve_operand(argument) for argument in call.arguments)
        if len(arguments) != OPERAND_COUNTS[function]:
            self.fail(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {function}, number of operands: {len(arguments)}"
            )
        if function in PATH_FIRST and not isinstance(arguments[0], tree.Path):
            self.fail(
                f"Operator or function requires a document path; operator or function: {function}"
            )
        self.check_types(function, arguments)
        if function == "attribute_type":
            self.check_type(function, arguments[1], frozenset("S"))
        if function in DISTINCT:
            self.check_distinct(function, arguments)
        if function == "attribute_type":
            self.check_type_name(arguments[1])
        self.operators += 1
        return tree.Call(function, arguments)

    def check_types(self, function: str, operands: Iterable[tree.Operand]) -> None:
        allowed = OPERAND_TYPES.get(function)
        if allowed is not None:
            for operand in operands:
                self.check_type(function, operand, allowed)

    def check_type(self, function: str, operand: tree.Operand, allowed: frozenset[str]) -> None:
        message = (
            "Incorrect operand type for operator or function; "
            f"operator or function: {function}, operand type: "
        )
        match operand:
            case tree.Call("size"):
                if "N" not in allowed:
                    self.fail(f"{message}N")
            case tree.Value(name):

                def check(values: Values) -> None:
                    tag = tag_of(values[name])
                    if tag not in allowed:
                        raise self.fault(message + tag)

                self.add_check(check)

    def check_distinct(self, function: str, operands: tuple[tree.Operand, ...]) -> None:
        first, *others = operands
        if isinstance(first, tree.Path) and first in others:
            self.fail(
                "The first operand must be distinct from the remaining operands for this operator "
                f"or function; operator: {function}, first operand: {first}"
            )

    def check_type_name(self, operand: tree.Operand) -> None:
        if not isinstance(operand, tree.Value):
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

        self.add_check(check)

    # -- conditions

    def resolve_condition(self, condition: tree.Condition) -> tree.Condition:
        match condition:
            case tree.And(conditions):
                self.operators += len(conditions) - 1
                return tree.And(tuple(self.resolve_condition(inner) for inner in conditions))
            case tree.Or(conditions):
                self.operators += len(conditions) - 1
                return tree.Or(tuple(self.resolve_condition(inner) for inner in conditions))
            case tree.Not(inner):
                self.operators += 1
                return tree.Not(self.resolve_condition(inner))
            case tree.Call():
                return self.resolve_call(condition)
            case tree.Comparison(operator, left, right):
                operands = self.resolve_operands(operator, (left, right))
                return tree.Comparison(operator, *operands)
            case tree.Between(operand, low, high):
                operands = self.resolve_operands("BETWEEN", (operand, low, high))
                self.check_bounds(*operands[1:])
                return tree.Between(*operands)
            case tree.In(operand, options):
                operands = self.resolve_operands("IN", (operand, *options))
                if len(options) > MAX_IN_OPERANDS:
                    self.fail(
                        "The IN operator is provided with too many operands; "
                        f"number of operands: {len(options)}"
                    )
                return tree.In(operands[0], operands[1:])

    def resolve_operands(
        self, operator: str, operands: tuple[tree.Operand, ...]
    ) -> tuple[tree.Operand, ...]:
        operands = tuple(self.resolve_operand(operand) for operand in operands)
        self.check_types(operator, operands)
        self.check_distinct(operator, operands)
        self.operators += 1
        return operands

    def check_bounds(self, low: tree.Operand, high: tree.Operand) -> None:
        if not (isinstance(low, tree.Value) and isinstance(high, tree.Value)):
            return
        low_name, high_name = low.name, high.name

        def check(values: Values) -> None:
            lower, upper = values[low_name], values[high_name]
            ((low_tag, lowest),) = lower.items()
            ((high_tag, highest),) = upper.items()
            if low_tag != high_tag:
                rule = "same data type for lower and upper bounds"
            elif sort_key(low_tag, lowest) > sort_key(high_tag, highest):
                rule = "upper bound to be greater than or equal to lower bound"
            else:
                return
            raise self.fault(
                f"The BETWEEN operator requires {rule}; "
                f"lower bound operand: {show_value(lower)}, "
                f"upper bound operand: {show_value(upper)}"
            )

        self.add_check(check)

    # -- paths of updates and projections

    def resolve_disjoint_paths(self, paths: Iterable[tree.Path]) -> tuple[tree.Path, ...]:
        """Resolve paths, none of which may contain another."""
        done: list[tree.Path] = []
        by_name: dict[str | int, list[tree.Path]] = {}
        for path in reversed(tuple(paths)):
            path = self.resolve_path(path)
            same_name = by_name.setdefault(path.parts[0], [])
            for other in same_name:
                conflict = _find_conflict(path, other)
                if conflict:
                    self.fail(
                        f"Two document paths {conflict} with each other; must remove or rewrite "
                        f"one of these paths; path one: {path}, path two: {other}"
                    )
            same_name.append(path)
            done.append(path)
        return tuple(reversed(done))

    # -- updates

    def resolve_update(self, update: tree.UpdateTree) -> tree.UpdateTree:
        keywords = [section.keyword for section in update.sections]
        for keyword in keywords:
            if keywords.count(keyword) > 1:
                self.fail(f'The "{keyword}" section can only be used once in an update expression;')
        actions = [action for section in update.sections for action in section.actions]
        paths = self.resolve_disjoint_paths(action.path for action in actions)
        resolved = [
            self.resolve_action(action, path)
            for action, path in zip(reversed(actions), reversed(paths), strict=True)
        ]
        self.check_operator_count()
        return tree.UpdateTree(
            tuple(
                tree.UpdateSection(section.keyword, tuple(resolved.pop() for _ in section.actions))
                for section in update.sections
            )
        )

    def resolve_action(self, action: tree.Action, path: tree.Path) -> tree.Action:
        match action:
            case tree.SetAction(_, operand):
                return tree.SetAction(path, self.resolve_operand(operand))
            case tree.RemoveAction():
                return tree.RemoveAction(path)
            case tree.AddAction(_, value):
                self.resolve_value(value)
                self.check_action_type("ADD", value.name, ADD_TYPES)
                return tree.AddAction(path, value)
            case tree.DeleteAction(_, value):
                self.resolve_value(value)
                self.check_action_type("DELETE", value.name, DELETE_TYPES)
                return tree.DeleteAction(path, value)

    def check_action_type(self, keyword: str, name: str, allowed: frozenset[str]) -> None:
        def check(values: Values) -> None:
            tag = tag_of(values[name])
            if tag not in allowed:
                raise self.fault(
                    f"Incorrect operand type for operator or function; operator: {keyword}, "
                    f"operand type: {LONG_TYPE_NAMES[tag]}, "
                    f"typeSet: ALLOWED_FOR_{keyword}_OPERAND"
                )

        self.add_check(check)


def _find_conflict(one: tree.Path, two: tree.Path) -> str | None:
    """Return "overlap" or "conflict", as DynamoDB's message has it, or None.

    Paths overlap if one contains the other. They conflict if one needs a list where the other needs
    a map.
    """
    for part, other in zip(one.parts, two.parts, strict=False):
        if part != other:
            return None if isinstance(part, str) == isinstance(other, str) else "conflict"
    return "overlap"
