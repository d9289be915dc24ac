"""Prepared statements: parsed, compiled and checked as far as possible without tables.

`prepare_statement` keeps the prepared statements of the last texts. A prepared statement keeps its
plan for the table that it was last used with, so that a repeated statement is neither parsed nor
planned again.

Checks, in this order: the syntax; the path and the name of the table; RETURNING; the number of
parameters; their values; the types of operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from tablewright.engine.statements.plan import (
    SelectedAttributes,
    SelectPlan,
    WritePlan,
    plan_select,
    plan_write,
)
from tablewright.engine.table import StoredTable
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.compiled import ConditionForm, UpdateForm
from tablewright.expression.rules import DELETE_TYPES
from tablewright.partiql import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    ParsedStatement,
    SelectStatement,
    UpdateStatement,
    parse,
)
from tablewright.values import Value, tag_of
from tablewright.wire.constraints import TableNameOrArn

_CACHE_SIZE: Final = 1024
#: A longer statement is not kept: its compiled form can take a megabyte.
_MAX_CACHED_LENGTH: Final = 2048


class PreparedStatement:
    """A parsed statement with its compiled parts."""

    def __init__(self, parsed: ParsedStatement) -> None:
        statement = parsed.statement
        self.parsed = parsed
        self.statement = statement
        self.is_read = isinstance(statement, SelectStatement)
        self.table_name = statement.source.table
        self.index_name = statement.source.index
        names = {name: name for name in parsed.hash_names}
        _check_source(parsed)
        self.where: ConditionForm | None = None
        self.update: UpdateForm | None = None
        self.projection: SelectedAttributes | None = None
        self.sets: tuple[tuple[str, str], ...] = ()  # functions, and their sets
        self.names = names
        if isinstance(statement, ExistsStatement):
            statement = statement.select
        if isinstance(statement, SelectStatement) and statement.paths:
            self.projection = SelectedAttributes(statement.paths)
        if isinstance(statement, UpdateStatement):
            self.update = UpdateForm(statement.actions, names)
            self.sets = tuple(_set_functions(statement.actions))
        if not isinstance(statement, InsertStatement) and statement.where is not None:
            self.where = ConditionForm(statement.where, names)
        if isinstance(statement, DeleteStatement) and statement.returning not in (None, "ALL OLD"):
            raise ValidationException(
                f"Invalid returning clause: RETURNING {statement.returning} *. "
                "Only RETURNING ALL OLD * is allowed in DELETE statements."
            )
        self._select_plan: tuple[StoredTable, SelectPlan] | None = None
        self._write_plan: tuple[StoredTable, WritePlan] | None = None

    def bind(self, parameters: Sequence[Value] | None) -> dict[str, Value]:
        """Return the values of all literals and parameters, checked against their uses."""
        values = self.parsed.bind(parameters or ())
        if self.update is not None:
            for function, name in self.sets:
                _require_set(function, values[name])
            self.update.check(values)
        if self.where is not None:
            self.where.check(values)
        return values

    def plan_select(self, table: StoredTable) -> SelectPlan:
        """Return the plan of a SELECT for a table; raise a fault if there is none."""
        kept = self._select_plan
        if kept is not None and kept[0] is table:
            return kept[1]
        plan = plan_select(self.parsed, table, self.projection, self.names)
        self._select_plan = (table, plan)
        return plan

    def plan_write(self, table: StoredTable) -> WritePlan:
        """Return the plan of any other statement for a table; raise a fault if there is none."""
        kept = self._write_plan
        if kept is not None and kept[0] is table:
            return kept[1]
        plan = plan_write(self.parsed, table, self.names)
        self._write_plan = (table, plan)
        return plan


def prepare_statement(text: str) -> PreparedStatement:
    """Parse and check a statement, or return it from the cache."""
    if len(text) > _MAX_CACHED_LENGTH:
        return PreparedStatement(parse(text))
    return _prepare_cached(text)


@lru_cache(_CACHE_SIZE)
def _prepare_cached(text: str) -> PreparedStatement:
    return PreparedStatement(parse(text))


def _check_source(parsed: ParsedStatement) -> None:
    """Check the number of components of the table's path, and the name of the table."""
    statement = parsed.statement
    count = len(statement.source.components)
    if isinstance(statement, InsertStatement):
        if count > 1:
            raise ValidationException("FROM clause may only contain a single table name")
    elif count > 2:
        raise ValidationException("A path may contain at most 2 components in the FROM clause")
    elif count > 1 and isinstance(statement, UpdateStatement | DeleteStatement):
        raise ValidationException("This operation is not supported on an index")
    if TableNameOrArn().violation(statement.source.table):
        # The text of DynamoDB Local.
        raise ValidationException(
            "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', "
            "'0-9', '-', '_', '.'."
        )


def _set_functions(actions: Sequence[tree.Action]) -> list[tuple[str, str]]:
    """Return the functions on sets with the names of their second operands."""
    return [
        ("SET_ADD" if isinstance(action, tree.AddAction) else "SET_DELETE", action.value.name)
        for action in actions
        if isinstance(action, tree.AddAction | tree.DeleteAction)
    ]


def _require_set(function: str, value: Value) -> None:
    if tag_of(value) not in DELETE_TYPES:
        raise ValidationException(
            f"The second argument to {function} must be a value with type SET"
        )
