"""Prepared statements: parsed, compiled and checked as far as possible without tables, and planned.

`prepare_statement` keeps the prepared statements of the last texts. Checks, in this order: the
syntax; the path and the name of the table; RETURNING; the number of parameters; their values; the
types of operands.

A plan is the operation that a statement becomes, for one table:

    SELECT with an equality on the whole key of the table     GetItem
    SELECT that determines the partition key                  Query, once for each value
    any other SELECT                                          Scan
    INSERT                                                    PutItem if there is no such item
    UPDATE                                                    UpdateItem if there is such an item
    DELETE                                                    DeleteItem
    EXISTS                                                    ConditionCheck

It depends on the keys and indexes of the table, but not on values. So a prepared statement keeps
the plan for the table that it was last used with, and a repeated statement is neither parsed nor
planned again. UPDATE and DELETE need an equality on each key attribute; the rest of their WHERE
clause is the condition of the write. A missing item fails an UPDATE and an EXISTS, but not a
DELETE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from tablewright.engine.paging import RowSource, lacks_projected
from tablewright.engine.statements.where import (
    Branch,
    KeyTest,
    find_branches,
    find_key,
    find_repeated,
)
from tablewright.engine.tables.table import StoredIndex, StoredTable
from tablewright.errors import ValidationException, invalid
from tablewright.expression import CompiledProjection, tree
from tablewright.expression.compiled import ConditionForm, UpdateForm
from tablewright.expression.evaluate import compile_path
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
from tablewright.values import Item, Value, tag_of
from tablewright.wire.constraints import TableNameOrArn

Names: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]

_OPERATIONS: dict[type, Literal["UpdateItem", "DeleteItem", "ConditionCheck"]] = {
    UpdateStatement: "UpdateItem",
    DeleteStatement: "DeleteItem",
    SelectStatement: "ConditionCheck",
}
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
        self.names = names
        if isinstance(statement, ExistsStatement):
            statement = statement.select
        if isinstance(statement, SelectStatement) and statement.paths:
            self.projection = SelectedAttributes(statement.paths)
        if isinstance(statement, UpdateStatement):
            self.update = UpdateForm(statement.actions, names)
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
        given = parameters or ()
        self.parsed.require_parameters(given)
        values = self.parsed.bind(given)
        self.check(values)
        return values

    def check(self, values: Values) -> None:
        """Check the types of values against their uses."""
        if self.update is not None:
            for change in self.parsed.set_changes:
                if tag_of(values[change.value]) not in DELETE_TYPES:
                    raise ValidationException(change.no_set)
            self.update.check(values)
        if self.where is not None:
            self.where.check(values)

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


# -- plans


class SelectedAttributes(CompiledProjection):
    """The paths of a SELECT, called with an item.

    A path becomes an attribute with its last name: `address.city` is returned as `city`. (What AWS
    returns for an element of a list is not known for certain; here `tags[0]` is the name.)

    >>> select = SelectedAttributes((tree.Path(("id",)), tree.Path(("address", "city"))))
    >>> select({"id": {"N": "1"}, "address": {"M": {"city": {"S": "Rome"}}}, "x": {"N": "2"}})
    {'id': {'N': '1'}, 'city': {'S': 'Rome'}}
    """

    __slots__ = ()

    def __init__(self, paths: tuple[tree.Path, ...]) -> None:
        super().__init__(paths)
        names = [_attribute_name(path) for path in paths]
        for name in names:
            if names.count(name) > 1:
                raise ValidationException(f"Duplicate identifiers in select clause: {name}")
        reads = [(name, compile_path(path.parts)) for name, path in zip(names, paths, strict=True)]

        def pick(item: Item) -> Item:
            found = ((name, read(item, {})) for name, read in reads)
            return {name: value for name, value in found if value is not None}

        self._pick = pick


def _attribute_name(path: tree.Path) -> str:
    name = ""
    for part in path.parts:
        name = part if isinstance(part, str) else f"{name}[{part}]"
    return name


@dataclass(frozen=True, slots=True)
class SelectBranch:
    """One GetItem or Query: its key condition and its filter."""

    key: tuple[KeyTest, ...]
    filter: ConditionForm | None
    #: Whether the filter must not use attributes that the index does not hold.
    is_filter_checked: bool


@dataclass(frozen=True, slots=True)
class SelectPlan:
    """How a SELECT reads a table or an index."""

    operation: Literal["GetItem", "Query", "Scan"]
    source: RowSource
    branches: tuple[SelectBranch, ...]  # a Scan has one, without a key condition
    project: SelectedAttributes | None
    fetch: bool  # read the table, too, because a local index lacks attributes
    backwards: bool
    #: Whether branches are read in the order of their partition keys, and in descending order.
    partition_order: Literal["none", "ascending", "descending"]
    names: Names


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The write, or the condition of a transaction, that a statement becomes."""

    operation: Literal["PutItem", "UpdateItem", "DeleteItem", "ConditionCheck"]
    table: StoredTable
    key: tuple[KeyTest, ...] = ()  # none for PutItem
    #: Further equalities on key attributes, which must have the same values.
    repeated: tuple[KeyTest, ...] = ()
    #: The part of WHERE that is not the key.
    rest: tree.Condition | None = None
    #: The condition of the write: `rest`, and that the item exists or does not.
    condition: ConditionForm | None = None
    returning: str | None = None  # as ReturnValues


def plan_select(
    parsed: ParsedStatement, table: StoredTable, project: SelectedAttributes | None, names: Names
) -> SelectPlan:
    """Plan a SELECT; raise a fault for an unknown index or an ORDER BY that is not possible."""
    select = parsed.statement
    assert isinstance(select, SelectStatement)
    source = RowSource(table, _find_index(table, select.source.index))
    keys = source.keys
    if len(keys.partition_names) > 1 or len(keys.sort_names) > 1:
        raise ValidationException(
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
            "multi-attribute RANGE keys."
        )
    if select.unexpected_path:
        raise ValidationException(select.unexpected_path)
    found = find_branches(select.where, keys.partition_names, keys.sort_names)
    _check_order(select, source, found)
    fetch = source.index is not None and lacks_projected(source.index, project)
    forms: dict[int, ConditionForm] = {}  # the branches of IN share their filter

    def compile_filter(condition: tree.Condition | None) -> ConditionForm | None:
        if condition is None:
            return None
        if id(condition) not in forms:
            forms[id(condition)] = ConditionForm(condition, names)
        return forms[id(condition)]

    branches = tuple(
        SelectBranch(branch.key, compile_filter(branch.rest), not branch.is_alternative)
        for branch in found
    ) or (SelectBranch((), compile_filter(select.where), False),)
    is_get = len(found) == 1 and source.index is None and _is_whole_key(found[0], keys.names)
    operation: Literal["GetItem", "Query", "Scan"] = "Query" if found else "Scan"
    return SelectPlan(
        "GetItem" if is_get else operation,
        source,
        branches,
        project,
        fetch,
        any(term.descending for term in select.order if term.name in keys.sort_names),
        _partition_order(select, keys.partition_names),
        names,
    )


def plan_write(parsed: ParsedStatement, table: StoredTable, names: Names) -> WritePlan:
    """Plan a statement that writes, or EXISTS; raise a fault if it has no equality on the key."""
    statement = parsed.statement
    if isinstance(statement, InsertStatement):
        return WritePlan("PutItem", table)
    if isinstance(statement, ExistsStatement):
        statement = statement.select
    try:
        key, rest = find_key(statement.where, table.key_names)
    except ValidationException:
        if isinstance(statement, SelectStatement):
            raise _incomplete_exists() from None
        raise
    partition = tree.Path((table.keys.partition_names[0],))
    exists = tree.Call("attribute_exists", (partition,))
    missing = tree.Call("attribute_not_exists", (partition,))
    condition: tree.Condition | None
    if isinstance(statement, DeleteStatement):
        condition = tree.Or((missing, rest)) if rest else None
    else:
        condition = tree.And((exists, rest)) if rest else exists
    if isinstance(statement, SelectStatement):
        if rest is None:
            raise _incomplete_exists()
        returning = None
    else:
        returning = returned_values(statement)
    return WritePlan(
        _OPERATIONS[type(statement)],
        table,
        key,
        find_repeated(rest, table.key_names),
        rest,
        ConditionForm(condition, names) if condition else None,
        returning,
    )


def returned_values(statement: UpdateStatement | DeleteStatement) -> str | None:
    """Return the RETURNING clause as ReturnValues: `MODIFIED NEW` is UPDATED_NEW."""
    if statement.returning is None:
        return None
    return statement.returning.replace("MODIFIED", "UPDATED").replace(" ", "_")


def key_values(tests: Sequence[KeyTest], values: Values) -> Item:
    """Return the key attributes that equalities give."""
    return {test.name: values[test.operands[0]] for test in tests}


def _incomplete_exists() -> ValidationException:
    return ValidationException("EXISTS() must contain a single item read with additional condition")


def key_type_error(name: str) -> ValidationException:
    """Return the fault for a key attribute of a wrong type; other operations have others."""
    return ValidationException(
        f"Key attribute's data type should match its data type in table's schema: Key {name}"
    )


def _find_index(table: StoredTable, name: str | None) -> StoredIndex | None:
    if name is None:
        return None
    index = table.indexes_by_name.get(name)
    if index is None:
        raise ValidationException("The table does not have the specified index")
    return index


def _is_whole_key(branch: Branch, names: tuple[str, ...]) -> bool:
    return len(branch.key) == len(names) and all(test.operator == "=" for test in branch.key)


def _check_order(select: SelectStatement, source: RowSource, branches: tuple[Branch, ...]) -> None:
    """Check ORDER BY: key attributes, and a WHERE clause that determines the partition key."""
    if not select.order:
        return
    if select.where is None:
        raise ValidationException(
            "Must have WHERE clause in the statement when using ORDER BY clause."
        )
    if not branches:
        raise ValidationException(
            "Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause."
        )
    for term in select.order:
        if term.name not in source.keys.names:
            # The text is as users report it.
            raise ValidationException(
                f"Variable reference {term.name} in ORDER BY clause must be part of the primary key"
            )
    directions = {t.descending for t in select.order if t.name in source.keys.sort_names}
    if len(directions) > 1:
        raise invalid("ORDER BY has different directions for the attributes of the sort key")


def _partition_order(
    select: SelectStatement, names: tuple[str, ...]
) -> Literal["none", "ascending", "descending"]:
    for term in select.order:
        if term.name in names:
            return "descending" if term.descending else "ascending"
    return "none"
