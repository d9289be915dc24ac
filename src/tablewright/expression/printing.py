"""Print conditions.

A `Dialect` walks a tree once; its fields say how a language writes names, values and the rest.
`EXPRESSION` is DynamoDB's language, as plans write it; a tree with aliases prints with aliases.

    >>> from tablewright.expression.parse import parse_condition
    >>> text = "#a = :x AND (b.c[0] IN (:y) OR NOT size(#d) > :z)"
    >>> found = parse_condition("FilterExpression", text)
    >>> EXPRESSION.condition(found)
    '#a = :x AND (b.c[0] IN (:y) OR NOT (size(#d) > :z))'
    >>> stored = {":x": "1", ":y": "2", ":z": "3"}.__getitem__
    >>> Dialect(value=stored, options="[{}]", negation="NOT {}").condition(found)
    '#a = 1 AND (b.c[0] IN [2] OR NOT size(#d) > 3)'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from msgspec import Struct

from tablewright.expression import tree
from tablewright.expression.tree import And, Comparison, Path, Value

#: A kind of condition around another kind, which is then in parentheses; None is no condition.
Grouping = frozenset[tuple[type | None, type]]

#: Only where the meaning would change without.
MINIMAL: Grouping = frozenset([(tree.And, tree.Or)])
#: AND and OR inside of any other condition.
NESTED: Grouping = frozenset(product((tree.And, tree.Or, tree.Not), (tree.And, tree.Or)))


class Dialect(Struct, frozen=True):
    """How a language writes a condition."""

    #: Print a name in a path, and the value of a reference such as `:v`.
    name: Callable[[str], str] = str
    value: Callable[[str], str] = str
    grouping: Grouping = MINIMAL
    negation: str = "NOT ({})"
    options: str = "({})"
    #: Functions that are no calls: how they and their negations are written.
    tests: Mapping[str, tuple[str, str]] = {}

    def condition(self, node: tree.Condition, around: type | None = None) -> str:
        """Print a condition; `around` is the kind of condition that will contain it."""
        # Plans print these with every request. With `match` and without the short cuts to the usual
        # operands it takes twice as long.
        if isinstance(node, Comparison):
            left, right = node.left, node.right
            one = self.path(left.parts) if isinstance(left, Path) else self.operand(left)
            two = self.value(right.name) if isinstance(right, Value) else self.operand(right)
            return f"{one} {node.operator} {two}"
        if isinstance(node, And):
            text = " AND ".join([self.condition(each, And) for each in node.conditions])
        else:
            text = self._term(node)
        return f"({text})" if (around, node.__class__) in self.grouping else text

    def _term(self, node: tree.Condition) -> str:
        operand = self.operand
        match node:
            case tree.Or(conditions):
                return " OR ".join([self.condition(each, tree.Or) for each in conditions])
            case tree.Call(function, (argument,)) if function in self.tests:
                return self.tests[function][0].format(operand(argument))
            case tree.Call():
                return operand(node)
            case tree.Not(tree.Call(function, (argument,))) if function in self.tests:
                return self.tests[function][1].format(operand(argument))
            case tree.Not(inner):
                return self.negation.format(self.condition(inner, tree.Not))
            case tree.Between(middle, low, high):
                return f"{operand(middle)} BETWEEN {operand(low)} AND {operand(high)}"
            case tree.In(member, options):
                listed = self.options.format(", ".join(map(operand, options)))
                return f"{operand(member)} IN {listed}"
        raise AssertionError("`condition` prints the others")

    def operand(self, node: tree.Operand) -> str:
        """Print an operand."""
        match node:
            case Path(parts):
                return self.path(parts)
            case Value(name):
                return self.value(name)
            case tree.Call(function, arguments):
                return f"{function}({', '.join(map(self.operand, arguments))})"
            case tree.Arithmetic(operator, left, right):
                return f"{self.operand(left)} {operator} {self.operand(right)}"

    def path(self, parts: tuple[str | int, ...]) -> str:
        """Print a path: `lines.I1[0]`."""
        name = self.name
        if len(parts) == 1:
            return name(parts[0])  # type: ignore[arg-type]  # a path begins with a name
        texts = [f"[{part}]" if isinstance(part, int) else f".{name(part)}" for part in parts]
        return "".join(texts).removeprefix(".")


EXPRESSION = Dialect()


def format_comparison(name: str, operator: str, values: Sequence[str]) -> str:
    """Print a comparison of a name with values.

    >>> format_comparison("SK", "between", ["1", "2"]), format_comparison("SK", ">=", ["1"])
    ('SK BETWEEN 1 AND 2', 'SK >= 1')
    >>> format_comparison("SK", "begins_with", ["1"])
    'begins_with(SK, 1)'
    """
    if operator.upper() == "BETWEEN":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    if operator.isidentifier():
        return f"{operator}({name}, {values[0]})"
    return f"{name} {operator} {values[0]}"
