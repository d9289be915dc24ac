"""Rules of follow-ups: requests that are made from the result of a read.

n-plus-one     a pattern lists rows, and another one reads what each row refers to
stale-read     a pattern writes what an eventually consistent read returned
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap
from tablewright.plan.inspection import (
    FollowUp,
    conditions_of,
    entities_of,
    entity_of,
    plans_in,
    ranges_in,
)
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.several import BatchGet, TransactGet
from tablewright.plan.writes.range_write import RangeWrite
from tablewright.plan.writes.write import Write
from tablewright.publish.advice.design_facts import PatternUse, TableFacts
from tablewright.publish.advice.finding import RuleProblem, rule
from tablewright.publish.advice.source import place_of_pattern

#: The rows of a list from which requests for each of them are many.
MIN_ROWS = 2


# -- reads for each row of a list -----------------------------------------------------------------


class RowList(Struct, frozen=True):
    """A pattern that returns many rows of an entity."""

    use: PatternUse
    entity: EntityMap
    #: The attributes that are equal in all rows.
    bound: frozenset[str]
    #: Whether the rows are whole items.
    is_whole: bool


@rule("n-plus-one", "note", "A request for each row of a list")
def n_plus_one(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find rows of lists that other patterns follow one by one."""
    plans = [plan for use in facts.uses for plan in use.plans]
    batches = [plan for plan in plans if isinstance(plan, BatchGet | TransactGet)]
    batched = {entity for plan in batches for entity in entities_of(plan)}
    for listing in _listings(facts):
        found = [*_by_rates(facts, listing), *_by_follow_up(facts, listing)]
        yield from (problem for entity, problem in found if entity not in batched)


def _listings(facts: TableFacts) -> Iterator[RowList]:
    for use in facts.uses:
        for rows in use.ranges if not use.pattern.shape.write_units else ():
            if rows.aggregate is not None:
                for member in rows.aggregate.members:
                    if member.form != "one":
                        yield RowList(use, member.entity, rows.bound, is_whole=True)
            elif rows.result == "rows" and rows.limit != 1:
                yield RowList(use, rows.entity, rows.bound, not rows.shape.attributes)


def _by_follow_up(facts: TableFacts, listing: RowList) -> Iterator[tuple[EntityMap, RuleProblem]]:
    """Yield the reads that a pattern makes from one row of an entity, and none from many."""
    for use in facts.uses:
        for follow in use.follow_ups:
            if not isinstance(follow.plan, Get) or not follow.entity.includes(listing.entity):
                continue
            names, entity = follow.names_used_by(follow.plan), entity_of(follow.plan)
            if names and not names <= listing.bound:
                reason = (
                    f"{use.pattern.name}() reads {entity.name} for one of them: for all of a page, "
                    "that is one request each"
                )
                arguments = [f"row.{name}" for name in sorted(names)]
                yield entity, _problem(listing, entity, reason, arguments)


def _by_rates(facts: TableFacts, listing: RowList) -> Iterator[tuple[EntityMap, RuleProblem]]:
    """Yield the gets that are called as often as a list returns rows that refer to them."""
    rows = facts.measured(listing.use.pattern.label).mean_returned
    if listing.use.rate is None or rows < MIN_ROWS:
        return
    for use in facts.uses:
        plan = use.pattern.plan
        if not isinstance(plan, Get) or not use.rate or use.rate < listing.use.rate * rows:
            continue
        entity = entity_of(plan)
        names = [part.attribute for part in entity.primary.parameters]
        refers = set(names) <= set(listing.entity.attributes) and not set(names) <= listing.bound
        if refers and (entity is not listing.entity or not listing.is_whole):
            one, many = use.rate + listing.use.rate, listing.use.rate * 2
            reason = (
                f"{rows:.3g} on average, {listing.use.rate:g} times per second, and "
                f"{use.pattern.name}() is called {use.rate:g} times per second, as if for each "
                f"of them: {one:g} requests per second instead of about {many:g}"
            )
            arguments = [f"row.{name}" for name in names]
            yield entity, _problem(listing, entity, reason, arguments, by_rates=True)


def _problem(
    listing: RowList,
    entity: EntityMap,
    reason: str,
    arguments: list[str],
    *,
    by_rates: bool = False,
) -> RuleProblem:
    pattern = listing.use.pattern
    return RuleProblem(
        place_of_pattern(pattern),
        f"{pattern.name}()",
        f"it returns rows of {listing.entity.name}, {'' if by_rates else 'and '}{reason}",
        "read up to 100 in one request: "
        f"batch_get([{entity.name}.primary({', '.join(arguments)}) for row in rows])",
        "warning" if by_rates else None,
    )


# -- writes after a read --------------------------------------------------------------------------


@rule("stale-read", "warning", "A write of what may have changed since")
def stale_read(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find writes of what an eventually consistent read returned."""
    for use in facts.uses:
        for plan in use.plans:
            if isinstance(plan, RangeWrite):
                yield from _missing_rows(facts, use, next(ranges_in(plan)).key.index)
        for follow in use.follow_ups:
            writes = [each for each in plans_in(follow.plan) if isinstance(each, Write)]
            if writes and not follow.is_consistent:
                yield from _follow_up_writes(facts, use, follow, writes)


def _follow_up_writes(
    facts: TableFacts, use: PatternUse, follow: FollowUp, writes: list[Write[Any]]
) -> Iterator[RuleProblem]:
    keys = {part.attribute for part in follow.entity.primary.parameters}
    values = set[str]()
    for write in writes:
        compared = {name for each in conditions_of(write) for name in each.attributes}
        values |= follow.names_used_by(write) - keys - compared
    if values:
        name = follow.entity.name
        yield RuleProblem(
            place_of_pattern(use.pattern),
            f"{use.pattern.name}()",
            f"it writes {', '.join(sorted(values))} of the {name} that it reads, and this read is "
            "eventually consistent: a change of the last second may be lost",
            f"….condition({name}.{min(values)} == found.{min(values)})"
            if _is_global(follow.index)
            else "read it with .consistent() before .then(…), or write with .condition(…)",
        )
    else:
        yield from _missing_rows(facts, use, follow.index)


def _missing_rows(
    facts: TableFacts, use: PatternUse, index: IndexMap | None
) -> Iterator[RuleProblem]:
    """Yield a problem if what is written is found in a global index."""
    if _is_global(index):
        yield RuleProblem(
            place_of_pattern(use.pattern),
            f"{use.pattern.name}()",
            f"it finds what it writes with {facts.index_name(index)}, and global indexes are "
            "eventually consistent: an item that was written a moment ago may be missing there",
            "if that matters, find it by the key of the table: ….primary(…)",
            "note",
        )


def _is_global(index: IndexMap | None) -> TypeGuard[IndexMap]:
    return index is not None and index.kind == "global"


RULES = (n_plus_one, stale_read)
