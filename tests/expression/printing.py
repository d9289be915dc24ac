"""Printing: trees to text, for the tests of the parser.

Each tree is written in one way: capital keywords, single spaces, parentheses only where the tree
needs them. Invariant: `parse(print(tree)) == tree` for every tree that the parser returns.
"""

from __future__ import annotations

from tablewright.expression.tree import (
    Action,
    AddAction,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Condition,
    DeleteAction,
    In,
    Not,
    Operand,
    Or,
    Path,
    ProjectionTree,
    RemoveAction,
    SetAction,
    UpdateTree,
    Value,
)


def print_condition(condition: Condition) -> str:
    """The text of a condition.

    >>> print_condition(Not(Comparison("=", Path(("a", 0)), Value(":v"))))
    'NOT a[0] = :v'
    """
    match condition:
        case Or(conditions):
            return " OR ".join(_inside(inner, (Or,)) for inner in conditions)
        case And(conditions):
            return " AND ".join(_inside(inner, (Or, And)) for inner in conditions)
        case Not(inner):
            return f"NOT {_inside(inner, (Or, And))}"
        case Comparison(operator, left, right):
            return f"{print_operand(left)} {operator} {print_operand(right)}"
        case Between(operand, low, high):
            bounds = f"{print_operand(low)} AND {print_operand(high)}"
            return f"{print_operand(operand)} BETWEEN {bounds}"
        case In(operand, options):
            return f"{print_operand(operand)} IN ({', '.join(map(print_operand, options))})"
        case Call():
            return print_operand(condition)


def _inside(condition: Condition, looser: tuple[type, ...]) -> str:
    text = print_condition(condition)
    return f"({text})" if isinstance(condition, looser) else text


def print_operand(operand: Operand) -> str:
    match operand:
        case Path(parts):
            names = (f".{part}" if isinstance(part, str) else f"[{part}]" for part in parts)
            return "".join(names)[1:]
        case Value(name):
            return name
        case Call(function, arguments):
            return f"{function}({', '.join(map(print_operand, arguments))})"
        case Arithmetic(operator, left, right):
            return f"{print_operand(left)} {operator} {print_operand(right)}"


def print_update(update: UpdateTree) -> str:
    """The text of an update."""
    return " ".join(
        f"{section.keyword} {', '.join(map(_print_action, section.actions))}"
        for section in update.sections
    )


def _print_action(action: Action) -> str:
    path = print_operand(action.path)
    match action:
        case SetAction(_, operand):
            return f"{path} = {print_operand(operand)}"
        case RemoveAction():
            return path
        case AddAction(_, value) | DeleteAction(_, value):
            return f"{path} {value.name}"


def print_projection(projection: ProjectionTree) -> str:
    return ", ".join(map(print_operand, projection.paths))
