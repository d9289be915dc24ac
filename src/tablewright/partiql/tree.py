"""Statements: the trees that the parser returns.

Owns the statements, and the constants in them: literals and parameters. Conditions and changes are
nodes of `tablewright.expression.tree`, with attribute names as written; each constant is a `Value`
there, whose name (`:0`, `:1`, ...) is a key of `ParsedStatement.constants`.

    Select  Insert  Update  Delete  Exists
    constant   Literal  Parameter  ListOf  MapOf  SetOf
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tablewright.encoding.items import normalise
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.values import Value, tag_of

# -- constants


@dataclass(frozen=True, slots=True)
class Literal:
    """A scalar of the text, in normal form."""

    value: Value


@dataclass(frozen=True, slots=True)
class PositionalParameter:
    """A `?`, by its position among all of them."""

    position: int


@dataclass(frozen=True, slots=True)
class ListOf:
    parts: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class SetOf:
    """A set of strings or of numbers; it is not empty, and has no parameters."""

    members: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    members: tuple[tuple[str, Constant], ...]


Constant: TypeAlias = Literal | PositionalParameter | ListOf | SetOf | MapOf


def build(constant: Constant, parameters: Sequence[Value]) -> Value:
    """Return the value of a constant; it is not in normal form.

    >>> build(ListOf((Literal({"S": "a"}), PositionalParameter(0))), [{"N": "1"}])
    {'L': [{'S': 'a'}, {'N': '1'}]}
    """
    match constant:
        case Literal(value):
            return value
        case PositionalParameter(position):
            return parameters[position]
        case ListOf(parts):
            return {"L": [build(part, parameters) for part in parts]}
        case MapOf(members):
            return {"M": {name: build(part, parameters) for name, part in members}}
        case SetOf(members):
            tag = tag_of(members[0].value)
            return {f"{tag}S": [member.value[tag] for member in members]}


def has_parameters(constant: Constant) -> bool:
    """Return whether the value of a constant depends on parameters."""
    match constant:
        case Literal() | SetOf():
            return False
        case PositionalParameter():
            return True
        case ListOf(parts):
            return any(map(has_parameters, parts))
        case MapOf(members):
            return any(has_parameters(part) for _, part in members)


# -- statements


@dataclass(frozen=True, slots=True)
class Source:
    """The path in FROM, INTO or UPDATE: a table, or a table and an index."""

    components: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.components[0]

    @property
    def index(self) -> str | None:
        return self.components[1] if len(self.components) > 1 else None


@dataclass(frozen=True, slots=True)
class OrderTerm:
    name: str
    descending: bool


@dataclass(frozen=True, slots=True)
class SelectStatement:
    source: Source
    paths: tuple[tree.Path, ...]  # empty: all attributes
    where: tree.Condition | None
    order: tuple[OrderTerm, ...]
    #: The message for a call instead of a path, or "".
    unexpected_path: str = ""


@dataclass(frozen=True, slots=True)
class InsertStatement:
    source: Source
    item: tree.Value


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    source: Source
    actions: tuple[tree.Action, ...]
    where: tree.Condition | None
    returning: str | None  # "ALL OLD", "MODIFIED NEW", ...


@dataclass(frozen=True, slots=True)
class DeleteStatement:
    source: Source
    where: tree.Condition | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class ExistsStatement:
    """A condition of a transaction: `select` finds an item."""

    select: SelectStatement

    @property
    def source(self) -> Source:
        return self.select.source


@dataclass(frozen=True, slots=True)
class SetChange:
    """The value of SET_ADD or SET_DELETE, and the message if it is not a set."""

    value: str
    no_set: str


Statement: TypeAlias = (
    SelectStatement | InsertStatement | UpdateStatement | DeleteStatement | ExistsStatement
)


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement with its constants."""

    statement: Statement
    constants: dict[str, Constant]
    parameter_count: int
    #: Attribute names that begin with `#`, which a path of an expression would take for an alias.
    hash_names: frozenset[str]
    set_changes: tuple[SetChange, ...] = ()
    _literals: dict[str, Value] = field(init=False)
    #: Parameters, by their positions, and constants with parameters inside, in their order.
    _bound: tuple[tuple[str, int | ListOf | MapOf], ...] = field(init=False)
    #: The nesting of the constants: the map of INSERT is the item, which is no level.
    _depth: int = field(init=False)

    def __post_init__(self) -> None:
        depth = -1 if isinstance(self.statement, InsertStatement) else 0
        literals: dict[str, Value] = {}
        bound: list[tuple[str, int | ListOf | MapOf]] = []
        for name, constant in self.constants.items():
            if isinstance(constant, PositionalParameter):
                bound.append((name, constant.position))
            elif isinstance(constant, ListOf | MapOf) and has_parameters(constant):
                bound.append((name, constant))
            else:
                literals[name] = _normalise(build(constant, ()), depth)
        object.__setattr__(self, "_depth", depth)
        object.__setattr__(self, "_literals", literals)
        object.__setattr__(self, "_bound", tuple(bound))

    def bind(self, parameters: Sequence[Value]) -> dict[str, Value]:
        """Return the values of all constants, in normal form, by name.

        Raise `ValidationException` for the first invalid value; `require_parameters` is to be
        called before.
        """
        depth = self._depth
        values = self._literals.copy()
        for name, bound in self._bound:
            value = parameters[bound] if isinstance(bound, int) else build(bound, parameters)
            values[name] = _normalise(value, depth)
        return values

    def require_parameters(self, parameters: Sequence[Value]) -> None:
        """Raise `ValidationException` if there are too few parameters."""
        if len(parameters) < self.parameter_count:  # DynamoDB Local ignores further ones
            raise ValidationException("Number of parameters in request and statement don't match.")


def _normalise(value: Value, depth: int) -> Value:
    """Return the normal form of a value; faults of PartiQL have the messages before 2026."""
    try:
        return normalise(value, depth)
    except ValidationException as fault:
        raise ValidationException(fault.old_message) from None
