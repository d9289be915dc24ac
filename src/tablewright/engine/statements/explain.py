"""Explanations: the plan of a statement as text.

`plan_statement` plans a statement with the description of its table. So nothing is read for it,
wherever the table is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tablewright.engine.statements.prepared import (
    PreparedStatement,
    SelectPlan,
    WritePlan,
    prepare_statement,
)
from tablewright.engine.statements.read import check_keys
from tablewright.engine.statements.where import KeyTest
from tablewright.engine.tables.table import StoredTable, table_from_description
from tablewright.expression.printing import format_comparison
from tablewright.partiql.printing import (
    Show,
    format_condition,
    format_constant,
    format_name,
    format_value,
)
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Value

_Order: TypeAlias = Literal["ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a statement does: the operation, its key conditions and its filter.

    `str()` returns it as a few lines of text.
    """

    #: GetItem, Query, Scan, PutItem, UpdateItem, DeleteItem or ConditionCheck.
    operation: str
    table: str
    index: str | None
    #: One for each GetItem, Query or write; none for a Scan or a PutItem.
    key_conditions: tuple[str, ...]
    #: What is evaluated for each item that is read; of a write, its condition.
    filter: str | None
    #: The order of the sort key in each partition, and that of the partitions, if it is asked for.
    order: Literal["ascending", "descending"] | None = None
    partition_order: Literal["ascending", "descending"] | None = None

    @property
    def is_scan(self) -> bool:
        """Whether all items of a table or an index are read."""
        return self.operation == "Scan"

    def __str__(self) -> str:
        source = self.table if self.index is None else f"{self.table}, index {self.index}"
        is_read = self.operation in ("GetItem", "Query", "Scan")
        lines = [f"{self.operation} on {source}"]
        lines += [f"  key        {condition}" for condition in self.key_conditions]
        if self.filter is not None:
            lines.append(f"  {'filter   ' if is_read else 'condition'}  {self.filter}")
        if self.order is not None:
            partitions = f", partitions {self.partition_order}" if self.partition_order else ""
            lines.append(f"  order      {self.order}{partitions}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class StatementPlan:
    """What a statement will do, and the table or index that it reads or writes."""

    explanation: Explanation
    is_read: bool
    source: IndexDescription
    #: The key attributes of the table.
    key_names: tuple[str, ...]

    @property
    def items(self) -> int:
        """The number of items in the source, as described."""
        return self.source.state.items or 0

    @property
    def size(self) -> int:
        """The size of the source in bytes, as described."""
        return self.source.state.size


def explain_statement(
    text: str, parameters: Sequence[Value] | None, find_table: Callable[[str], StoredTable]
) -> Explanation:
    """Explain a statement; without parameters, `?` is printed for them.

    `find_table` returns the table with a name. Raise the faults that the statement would raise,
    except those of values of parameters that are not given, and of items.
    """
    prepared = prepare_statement(text)
    values = None
    if parameters is not None or not prepared.parsed.parameter_count:
        values = prepared.bind(parameters)
    table = find_table(prepared.table_name)
    show = _printer(prepared, values if parameters is not None else None)
    if not prepared.is_read:
        return _explain_write(prepared.plan_write(table), show)
    plan = prepared.plan_select(table)
    if values is not None:
        check_keys(plan, values)
    return _explain_select(plan, show)


def plan_statement(
    text: str, parameters: Sequence[Value] | None, describe: Callable[[str], TableDescription]
) -> StatementPlan:
    """Plan a statement; `describe` returns the description of the table with a name.

    Raise what `explain_statement` and `describe` raise, and InvalidValue for an unknown index.
    """
    prepared = prepare_statement(text)
    description = describe(prepared.table_name)
    source = description.require_index(prepared.index_name)
    table = table_from_description(description)
    explanation = explain_statement(text, parameters, lambda _: table)
    return StatementPlan(explanation, prepared.is_read, source, description.keys.names)


def _printer(prepared: PreparedStatement, values: Mapping[str, Value] | None) -> Show:
    constants = prepared.parsed.constants
    if values is None:
        return lambda name: format_constant(constants[name])
    return lambda name: format_value(values[name])


def _explain_select(plan: SelectPlan, show: Show) -> Explanation:
    filters = {
        format_condition(branch.filter.tree, show) if branch.filter else None
        for branch in plan.branches
    }
    keys = []
    for branch in plan.branches:
        key = _format_key(branch.key, show)
        if len(filters) > 1 and branch.filter:
            key += f"; filter {format_condition(branch.filter.tree, show)}"
        if key:
            keys.append(key)
    index = plan.source.index
    return Explanation(
        plan.operation,
        plan.source.table.name,
        index.name if index else None,
        tuple(keys),
        filters.pop() if len(filters) == 1 else None,
        *_orders(plan),
    )


def _orders(plan: SelectPlan) -> tuple[_Order | None, _Order | None]:
    """Return the order in a partition, and that of the partitions."""
    if plan.operation != "Query":
        return None, None
    order: _Order = "descending" if plan.backwards else "ascending"
    return order, None if plan.partition_order == "none" else plan.partition_order


def _explain_write(plan: WritePlan, show: Show) -> Explanation:
    condition = format_condition(plan.rest, show) if plan.rest else None
    if plan.operation == "PutItem":
        condition = "the item does not exist"
    elif plan.operation == "UpdateItem":
        condition = "the item exists" + (f" AND {condition}" if condition else "")
    key = (_format_key(plan.key, show),) if plan.key else ()
    return Explanation(plan.operation, plan.table.name, None, key, condition)


def _format_key(tests: Sequence[KeyTest], show: Show) -> str:
    return " AND ".join(_format_test(test, show) for test in tests)


def _format_test(test: KeyTest, show: Show) -> str:
    return format_comparison(format_name(test.name), test.operator, [*map(show, test.operands)])
