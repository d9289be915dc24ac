"""Syntax trees of expressions.

Owns the node types of all kinds of expression. Nodes are frozen, compare by value, and have no text
positions, so `parse(print(tree)) == tree`. A parsed tree has aliases (`#a`) in its paths; `resolve`
returns the same tree with attribute names. Values remain references (`:v`), because many requests
share a tree and each has its own values. Other modules write nodes with the module: `tree.Not`.

    operand    Path  Value  Call  Arithmetic (updates only)
    condition  Comparison  Between  In  Call  And  Or  Not
    action     SetAction  RemoveAction  AddAction  DeleteAction
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class Path(Struct, frozen=True, gc=False):
    """A document path: attribute names and list positions."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        """Format the path as in DynamoDB's messages: `[a, [0], b]`."""
        shown = (part if isinstance(part, str) else f"[{part}]" for part in self.parts)
        return f"[{', '.join(shown)}]"


class Value(Struct, frozen=True, gc=False):
    """A reference to a value of the request: `:v`."""

    name: str


class Call(Struct, frozen=True, gc=False):
    """A function call: an operand or a condition."""

    function: str
    arguments: tuple[Operand, ...]


class Arithmetic(Struct, frozen=True, gc=False):
    operator: str  # + or -
    left: Operand
    right: Operand


class Comparison(Struct, frozen=True, gc=False):
    operator: str  # = <> < <= > >=
    left: Operand
    right: Operand


class Between(Struct, frozen=True, gc=False):
    operand: Operand
    low: Operand
    high: Operand


class In(Struct, frozen=True, gc=False):
    operand: Operand
    options: tuple[Operand, ...]


class And(Struct, frozen=True, gc=False):
    """Two or more conditions. Flat, so that a long chain is not a deep tree."""

    conditions: tuple[Condition, ...]


class Or(Struct, frozen=True, gc=False):
    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True, gc=False):
    condition: Condition


class SetAction(Struct, frozen=True, gc=False):
    path: Path
    operand: Operand


class RemoveAction(Struct, frozen=True, gc=False):
    path: Path


class AddAction(Struct, frozen=True, gc=False):
    path: Path
    value: Value


class DeleteAction(Struct, frozen=True, gc=False):
    path: Path
    value: Value


class UpdateSection(Struct, frozen=True, gc=False):
    """A section of an update: the keyword and its actions."""

    keyword: str
    actions: tuple[Action, ...]


class UpdateTree(Struct, frozen=True, gc=False):
    """Sections in the order of the text; `resolve` refuses duplicate keywords."""

    sections: tuple[UpdateSection, ...]


class ProjectionTree(Struct, frozen=True, gc=False):
    paths: tuple[Path, ...]


Operand: TypeAlias = Path | Value | Call | Arithmetic
Condition: TypeAlias = Comparison | Between | In | Call | And | Or | Not
Action: TypeAlias = SetAction | RemoveAction | AddAction | DeleteAction
KEYWORDS: dict[type[Action], str] = {
    SetAction: "SET",
    RemoveAction: "REMOVE",
    AddAction: "ADD",
    DeleteAction: "DELETE",
}
