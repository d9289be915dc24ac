"""Rules of requests: patterns that read or write more than they need, or in a wrong order.

The model refuses numbers without padding, and formats that do not sort, in the range of a query. A
text that holds a number or a time is only seen in the sample data: "10" sorts before "9".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tablewright.encoding.items import item_size
from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.model.pattern import AccessPattern, explain
from tablewright.plan.condition import Condition
from tablewright.plan.facts import AllPages
from tablewright.plan.inspection import SelectedRange
from tablewright.plan.reads.aggregate_members import AggregateMap, Member
from tablewright.plan.reads.page_query import PageQuery
from tablewright.plan.reads.paged_load import load_of
from tablewright.plan.writes.collection import DeleteAggregate
from tablewright.plan.writes.several import Transaction
from tablewright.publish.advice.design_facts import PatternUse, TableFacts
from tablewright.publish.advice.finding import RuleProblem, rule
from tablewright.publish.advice.source import (
    filter_code,
    name_of_key,
    place_of_class,
    place_of_pattern,
    tree_of,
)
from tablewright.symbol import contains_symbol

#: The share of what it reads that a filter should keep, and below which an index is better.
MIN_KEPT, SPARSE = 0.5, 0.1
#: The number of items from which a share means something.
MIN_SAMPLE = 10

_NUMBER = re.compile(r"-?\d+(\.\d+)?").fullmatch
_TIME = re.compile(r"\d{4}-\d\d-\d\dT.*").fullmatch


@rule("single-item-transaction", "warning", "A transaction of one item")
def single_item_transaction(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find transactions of one item, which costs twice as much as without one."""
    for use in facts.uses:
        pattern, plan = use.pattern, use.pattern.plan
        if isinstance(plan, Transaction) and len(pattern.shape.steps) == 1:
            (step,) = pattern.shape.steps
            if step.operation == "TransactWriteItems" or not _has_fixed_length(pattern):
                continue  # a sentinel or an event is written with it
            yield RuleProblem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction writes one item: about {pattern.shape.write_units:g} write units "
                f"instead of {step.write_units:g}",
                "return the write itself, without transact(…)",
            )
        elif pattern.shape.operation == "TransactGetItems" and len(pattern.shape.keys) == 1:
            if not _has_fixed_length(pattern):
                continue
            yield RuleProblem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction reads one item: about {pattern.shape.read_units:g} read units "
                f"instead of {pattern.shape.read_units / 2:g}",
                "return …primary(…).consistent(), without transact_get(…)",
            )


class Discards(Struct, frozen=True):
    """A query with a filter: how many items it reads, and how many of them it keeps."""

    use: PatternUse
    query: SelectedRange
    condition: Condition[Any]
    read: int
    kept: int
    #: Where these numbers are from.
    source: str

    @property
    def is_sparse(self) -> bool:
        """Whether an index could contain what the filter keeps, and that is little."""
        return _is_constant(self.condition) and self.kept <= self.read * SPARSE

    def problem(self, fix: str) -> RuleProblem:
        return RuleProblem(
            place_of_pattern(self.use.pattern),
            f"{self.use.pattern.name}()",
            f"the filter {self.condition!r} keeps {self.kept} of {self.read} items in the "
            f"{self.source}, and a page costs what it reads, not what it returns",
            fix,
        )


@rule("discarding-filter", "warning", "A filter that discards most of what is read")
def discarding_filter(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find filters that discard more than half of what is read."""
    for each in _filters(facts):
        if each.kept < each.read * MIN_KEPT and not each.is_sparse:
            names = " / ".join(sorted(each.condition.attributes))
            key = each.query.key
            maker = "key" if key.index is None else "index"
            yield each.problem(
                f"make what it compares a part of the key: {name_of_key(key)} = {maker}(…, {names} "
                "/ …)"
            )


@rule("sparse-index", "warning", "A filter that a sparse index could replace")
def sparse_index(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find filters with fixed values that keep so little that an index should contain only that."""
    for each in _filters(facts):
        if each.is_sparse:
            condition = filter_code(each.use.pattern, each.query.entity.name)
            yield each.problem(f"an index of these items alone: index(…, when={condition})")


def _filters(facts: TableFacts) -> Iterator[Discards]:
    """Yield the filters whose kept items are known, from the checks or the sample data."""
    for use in facts.uses:
        is_query = isinstance(use.pattern.plan, PageQuery)
        for position, query in enumerate(use.ranges):
            if query.filter is None or query.shape.operation == "Scan":
                continue
            read, kept, source = 0, 0, "checks"
            if is_query and position == 0 and not query.shape.attributes:
                measured = facts.measured(use.pattern.label)
                read, kept = measured.read, measured.returned
            if read < MIN_SAMPLE and _is_constant(query.filter) and query.is_anywhere:
                index = query.key.index
                needed = () if index is None else index.attributes
                items = [i for i in facts.items(query.entity) if all(n in i for n in needed)]
                read, kept = len(items), sum(map(query.filter.matches, items))
                source = "sample data"
            if read >= MIN_SAMPLE:
                yield Discards(use, query, query.filter, read, kept, source)


def _is_constant(condition: Condition[Any]) -> bool:
    """Return whether a condition has fixed values only."""
    return not contains_symbol(condition.compared_values)


@rule("unbounded-aggregate", "note", "An aggregate without a limit")
def unbounded_aggregate(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find aggregates that are always read whole, however many children there are."""
    for use in facts.uses:
        deletes = any(isinstance(each, DeleteAggregate) for each in use.plans)
        for rows in () if deletes else use.ranges:
            if rows.aggregate is None or not isinstance(rows.shape.extent, AllPages):
                continue
            lists = [each for each in rows.aggregate.members if each.form == "list"]
            if not lists:
                continue
            fields = ", ".join(each.field for each in lists)
            largest = _largest(facts, rows.aggregate, rows.key)
            yield RuleProblem(
                place_of_pattern(use.pattern),
                f"{use.pattern.name}()",
                f"it reads all of {fields}, however many there are{largest}; "
                "DynamoDB returns 1 MB, 128 units, with each request",
                _bounds(rows, rows.aggregate, lists),
            )


def _bounds(rows: SelectedRange, aggregate: AggregateMap, lists: list[Member]) -> str:
    """Return how to read an aggregate in parts, in the order in which its keys allow it."""
    for order in ("", ".desc()"):
        found = [f"…{order}.limit(n)"] if _is_possible(rows, aggregate, order, limit=1) else []
        for member in lists:
            if isinstance(member.kind, EntityMap):
                page = replace(member, form="page")
                members = tuple(page if each is member else each for each in aggregate.members)
                if _is_possible(rows, replace(aggregate, members=members), order):
                    how = f", read with …{order}" if order else ""
                    code = f"{member.field}: Page[{member.kind.name}] = children()"
                    found.append(f"a member that is a page{how}: {code}")
                    break
        if found:
            return ", or ".join(found)
    name = lists[0].entity.name
    return f"query them apart from the root: {name}.primary.within(…).page_size(n)"


def _is_possible(
    rows: SelectedRange, aggregate: AggregateMap, order: str, limit: int | None = None
) -> bool:
    """Return whether the keys of an aggregate allow a plan for its rows."""
    try:
        plan = load_of(aggregate, rows.key, rows.arguments)
        plan = plan.desc() if order or rows.shape.order == "descending" else plan
        explain(plan if limit is None else plan.limit(limit))
    except DeclarationError:
        return False
    return True


def _largest(facts: TableFacts, aggregate: AggregateMap, key: KeyMap) -> str:
    """Return the size of the largest partition with these children in the sample data."""
    partitions: dict[str, list[int]] = {}
    for member in aggregate.leaves()[1:]:
        for item in facts.items(member.entity):
            partition = repr([item.get(name) for name in key.partition_attributes])
            partitions.setdefault(partition, []).append(item_size(item))
    if not partitions:
        return ""
    sizes = max(partitions.values(), key=len)
    return f" (up to {len(sizes)} with {sum(sizes):,} bytes in a partition of the sample data)"


def _has_fixed_length(pattern: AccessPattern) -> bool:
    """Return whether the source of a pattern has no arguments for a list: `transact(*writes)`."""
    tree = tree_of(pattern)
    return tree is not None and not any(isinstance(node, ast.Starred) for node in ast.walk(tree))


@rule("unordered-range", "warning", "A range of texts that do not sort")
def unordered_range(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find queries by the order of texts that are numbers or times of different lengths."""
    for use in facts.uses:
        for each in use.ranges:
            if not each.free or not _is_ordered(each):
                continue
            entity, name = each.entity, each.free[0].attribute
            if entity.attributes[name].converter.kind is not str:
                continue
            texts = _texts(facts, entity, name)
            pair = _inverted(texts)
            if pair is None:
                continue
            is_number = _NUMBER(pair[0])
            kind = f"int] = attr(pad={max(map(len, texts))})" if is_number else "datetime] = attr()"
            yield RuleProblem(
                place_of_class(entity.type, name),
                f"{entity.name}.{name}",
                f"{use.pattern.name}() reads by its order, and its texts in the sample data do not "
                f"sort as the {'numbers' if is_number else 'times'} that they are: "
                f"{pair[0]!r} comes before {pair[1]!r}",
                f"{name}: Attr[{kind}",
            )


def _is_ordered(query: SelectedRange) -> bool:
    """Return whether it is a query whose results depend on the order of the next part."""
    if query.aggregate or query.shape.operation == "Scan":
        return False
    has_range = query.comparison in ("<", "<=", ">", ">=", "between")
    return has_range or query.shape.order == "descending" or query.limit is not None


def _texts(facts: TableFacts, entity: EntityMap, name: str) -> list[str]:
    stored = entity.attributes[name].stored
    return sorted({i[stored]["S"] for i in facts.items(entity) if "S" in i.get(stored, {})})


def _inverted(texts: list[str]) -> tuple[str, str] | None:
    """Return two texts whose order is not that of their numbers or times; None if all are right.

    >>> _inverted(["10", "9"]), _inverted(["09", "10"]), _inverted(["1", "b"])
    (('10', '9'), None, None)
    """
    meanings = _meanings(texts)
    for (first, one), (second, other) in pairwise(meanings):
        if one > other:
            return first, second
    return None


def _meanings(texts: list[str]) -> list[tuple[str, Any]]:
    """Return the number or the time of each text; none if one of them is something else."""
    if texts and all(map(_NUMBER, texts)):
        return [(text, float(text)) for text in texts]
    if texts and all(map(_TIME, texts)):
        try:
            times = [datetime.fromisoformat(text) for text in texts]
        except ValueError:
            return []
        if len({time.tzinfo is None for time in times}) == 1:
            return list(zip(texts, times, strict=True))
    return []


RULES = (
    unordered_range,
    single_item_transaction,
    discarding_filter,
    sparse_index,
    unbounded_aggregate,
)
