"""Rules of requests: patterns that read or write more than they need."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from tablewright.encoding.items import item_size
from tablewright.model.pattern import AccessPattern
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.paged_load import PagedLoad
from tablewright.plan.reads.pages import Pages
from tablewright.plan.reads.transact_get import TransactGet
from tablewright.plan.writes.collection import DeleteAggregate
from tablewright.plan.writes.transaction import Transaction
from tablewright.publish.advice.facts import TableFacts, Use
from tablewright.publish.advice.finding import Problem, Rule
from tablewright.publish.advice.source import place_of_pattern

#: The share of what it reads that a filter should keep, and below which an index is better.
MIN_KEPT, SPARSE = 0.5, 0.1
#: The number of items from which a share means something.
MIN_SAMPLE = 10


def single_item_transaction(facts: TableFacts) -> Iterator[Problem]:
    """Find transactions of one item, which costs twice as much as without one."""
    for use in facts.uses:
        pattern, plan = use.pattern, use.pattern.plan
        if isinstance(plan, Transaction) and len(plan._writes) == 1:
            step = plan._writes[0]._shape()
            if step.operation == "TransactWriteItems" or not _has_fixed_length(pattern):
                continue  # a sentinel or an event is written with it
            yield Problem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction writes one item: about {pattern.shape.write_units:g} write units "
                f"instead of {step.write_units:g}",
                "return the write itself, without transact(…)",
            )
        elif isinstance(plan, TransactGet) and len(plan._gets) == 1 and _has_fixed_length(pattern):
            yield Problem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction reads one item: about {pattern.shape.read_units:g} read units "
                f"instead of {pattern.shape.read_units / 2:g}",
                "return …primary(…).consistent(), without transact_get(…)",
            )


def discarding_filter(facts: TableFacts) -> Iterator[Problem]:
    """Find filters that discard more than half of what is read."""
    for use, plan, read, kept in _filtered(facts):
        if kept < read * MIN_KEPT and not (_is_constant(plan) and kept <= read * SPARSE):
            yield _discarding(
                use,
                plan,
                read,
                kept,
                "make what it compares a part of the key: "
                f"{plan._key.name.partition('.')[2] or 'primary'} = …({_compared(plan)} / …)",
            )


def sparse_index(facts: TableFacts) -> Iterator[Problem]:
    """Find filters with fixed values that keep so little that an index should contain only that."""
    for use, plan, read, kept in _filtered(facts):
        if _is_constant(plan) and kept <= read * SPARSE:
            condition = " & ".join(f"({each!r})" for each in plan._filter.parts())
            yield _discarding(
                use, plan, read, kept, f"an index of these items alone: index(…, when={condition})"
            )


def _filtered(facts: TableFacts) -> Iterator[tuple[Use, Any, int, int]]:
    """Yield the queries with a filter: how many items they read, and how many of them they keep."""
    for use in facts.uses:
        for plan in use.plans:
            if not isinstance(plan, Pages) or plan._filter is None or plan._operation == "Scan":
                continue
            if _is_constant(plan):
                index = plan._key.index
                needed = () if index is None else index.attributes
                items = [i for i in facts.items(plan._entity) if all(n in i for n in needed)]
                read, kept = len(items), sum(map(plan._filter.matches, items))
            elif not plan._columns and plan is use.plans[0]:
                read, kept = facts.measured(use.pattern.label)
            else:
                continue
            if read >= MIN_SAMPLE:
                yield use, plan, read, kept


def _discarding(use: Use, plan: Any, read: int, kept: int, fix: str) -> Problem:
    source = "sample data" if _is_constant(plan) else "checks"
    return Problem(
        place_of_pattern(use.pattern),
        f"{use.pattern.name}()",
        f"the filter {plan._filter!r} keeps {kept} of {read} items in the {source}, and a page "
        "costs what it reads, not what it returns",
        fix,
    )


def _is_constant(plan: Any) -> bool:
    """Return whether a filter compares with fixed values; symbols are shown in braces."""
    return "{" not in repr(plan._filter)


def _compared(plan: Any) -> str:
    return " / ".join(sorted(plan._filter.attributes))


def unbounded_aggregate(facts: TableFacts) -> Iterator[Problem]:
    """Find aggregates that are always read whole, however many children there are."""
    for use in facts.uses:
        for plan in use.plans:
            if not isinstance(plan, Load) or isinstance(plan, PagedLoad) or plan._size is not None:
                continue
            lists = [each for each in plan._kind.members if each.form == "list"]
            if not lists or any(isinstance(each, DeleteAggregate) for each in use.plans):
                continue
            fields = ", ".join(each.field for each in lists)
            yield Problem(
                place_of_pattern(use.pattern),
                f"{use.pattern.name}()",
                f"it reads all of {fields}, however many there are{_largest(facts, plan)}; "
                "DynamoDB returns 1 MB, 128 units, with each request",
                f"….limit(n), or a member that is a page: {lists[0].field}: "
                f"Page[{lists[0].entity.name}] = children()",
            )


def _largest(facts: TableFacts, plan: Load[Any]) -> str:
    """Return the size of the largest partition with these children in the sample data."""
    partitions: dict[str, list[int]] = {}
    for member in plan._kind.leaves()[1:]:
        for item in facts.items(member.entity):
            key = repr([item.get(name) for name in plan._key.partition_attributes])
            partitions.setdefault(key, []).append(item_size(item))
    if not partitions:
        return ""
    sizes = max(partitions.values(), key=len)
    return f" (up to {len(sizes)} with {sum(sizes):,} bytes in a partition of the sample data)"


def _has_fixed_length(pattern: AccessPattern) -> bool:
    """Return whether the source of a pattern has no arguments for a list: `transact(*writes)`."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(pattern.function)))
        return not any(isinstance(node, ast.Starred) for node in ast.walk(ast.parse(source)))
    except (OSError, SyntaxError):
        return False


RULES = (
    Rule(
        "single-item-transaction",
        "warning",
        "A transaction of one item",
        single_item_transaction,
    ),
    Rule(
        "discarding-filter",
        "warning",
        "A filter that discards most of what is read",
        discarding_filter,
    ),
    Rule("sparse-index", "warning", "A filter that a sparse index could replace", sparse_index),
    Rule("unbounded-aggregate", "note", "An aggregate without a limit", unbounded_aggregate),
)
