"""Printing: trees to text, for the tests of the parser.

Each tree is written in one way: capital keywords, single spaces, parentheses only where the tree
needs them. Invariant: `parse(print(tree)) == tree` for every tree that the parser returns.
"""

from __future__ import annotations

from tablewright.expression.printing import NESTED, Dialect
from tablewright.expression.tree import (
    Action,
    AddAction,
    And,
    Condition,
    DeleteAction,
    Or,
    ProjectionTree,
    RemoveAction,
    SetAction,
    UpdateTree,
)

#: OR holds AND without parentheses; every other chain inside of a condition has them.
_DIALECT = Dialect(grouping=NESTED - {(Or, And)}, negation="NOT {}")
print_operand = _DIALECT.operand


def print_condition(condition: Condition) -> str:
    """The text of a condition: `NOT a[0] = :v`."""
    return _DIALECT.condition(condition)


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
