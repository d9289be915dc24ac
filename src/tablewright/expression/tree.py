"""Trees: what an expression says, without how it was written.

Owns the node types of all kinds of expression. Nodes are frozen, compare by value, and hold no
text positions, so `parse(print(tree)) == tree`. A tree straight from the parser has aliases (`#a`)
in its paths; `resolve` gives the same tree with the attributes' real names. Values stay references
(`:v`): they belong to a request, a tree may be shared by many.

    operand    Path  Value  Call  Arithmetic (updates only)
    condition  Comparison  Between  In  Call  And  Or  Not
    action     Set  Remove  Add  Delete
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: names of attributes, and positions in lists."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        """As DynamoDB's messages show it: `[a, [0], b]`."""
        shown = (part if isinstance(part, str) else f"[{part}]" for part in self.parts)
        return f"[{', '.join(shown)}]"


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the request, by its placeholder: `:v`."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function: an operand, a condition, or (in a mistake) either."""

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
    """Two conditions or more. Flat, so that a long chain is not a deep tree."""

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
    """One clause of an update: the keyword and its actions."""

    keyword: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """Sections in the order of the text; `resolve` refuses a repeated one."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    paths: tuple[Path, ...]


Operand: TypeAlias = Path | Value | Call | Arithmetic
Condition: TypeAlias = Comparison | Between | In | Call | And | Or | Not
Action: TypeAlias = Set | Remove | Add | Delete
