"""Syntax trees of expressions.

Owns the node types of all kinds of expression. Nodes are frozen, compare by value, and have no text
positions, so `parse(print(tree)) == tree`. A parsed tree has aliases (`#a`) in its paths; `resolve`
returns the same tree with attribute names. Values remain references (`:v`), because many requests
share a tree and each has its own values. Other modules write nodes with the module: `tree.Add`.

    operand    Path  Value  Call  Arithmetic (updates only)
    condition  Comparison  Between  In  Call  And  Or  Not
    action     Set  Remove  Add  Delete
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: attribute names and list positions."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        """Format the path as in DynamoDB's messages: `[a, [0], b]`."""
        shown = (part if isinstance(part, str) else f"[{part}]" for part in self.parts)
        return f"[{', '.join(shown)}]"


@dataclass(frozen=True, slots=True)
class Value:
    """A reference to a value of the request: `:v`."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function call: an operand or a condition."""

    function: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str  # + or -
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: str  # = <> < <= > >=
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conditions. Flat, so that a long chain is not a deep tree."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


@dataclass(frozen=True, slots=True)
class Set:
    path: Path
    operand: Operand


@dataclass(frozen=True, slots=True)
class Remove:
    path: Path


@dataclass(frozen=True, slots=True)
class Add:
    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Delete:
    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an update: the keyword and its actions."""

    keyword: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """Sections in the order of the text; `resolve` refuses duplicate keywords."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    paths: tuple[Path, ...]


Operand: TypeAlias = Path | Value | Call | Arithmetic
Condition: TypeAlias = Comparison | Between | In | Call | And | Or | Not
Action: TypeAlias = Set | Remove | Add | Delete
