"""Rules of follow-ups: requests that are made from the result of a read.

n-plus-one     a pattern lists rows, and another one reads what each row refers to
stale-read     a pattern writes what an eventually consistent read returned
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap
from tablewright.plan.plan import Plan
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.batch_get import BatchGet
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.pages import Pages
from tablewright.plan.reads.results import Count, First
from tablewright.plan.reads.single import Then
from tablewright.plan.reads.transact_get import TransactGet
from tablewright.plan.writes.range_write import RangeWrite
from tablewright.plan.writes.write import Write
from tablewright.publish.advice.facts import PatternUse, TableFacts, plans_of
from tablewright.publish.advice.finding import Rule, RuleProblem
from tablewright.publish.advice.source import place_of_pattern
from tablewright.symbol import Argument, AttributeOf, expressions_in

#: The rows of a list from which requests for each of them are many.
MIN_ROWS = 2


# -- reads for each row of a list -----------------------------------------------------------------


class Listing(Struct, frozen=True):
    """A pattern that returns many rows of an entity."""

    use: PatternUse
    entity: EntityMap
    #: The attributes that are equal in all rows.
    bound: frozenset[str]
    #: Whether the rows are whole items.
    is_whole: bool


def n_plus_one(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find rows of lists that other patterns follow one by one."""
    batched = {
        get._entity
        for use in facts.uses
        for plan in use.plans
        if isinstance(plan, BatchGet | TransactGet)
        for get in plan._gets
    }
    for listing in _listings(facts):
        found = [*_by_rates(facts, listing), *_by_follow_up(facts, listing)]
        yield from (problem for entity, problem in found if entity not in batched)


def _listings(facts: TableFacts) -> Iterator[Listing]:
    for use in facts.uses:
        if use.pattern.shape.write_units:
            continue
        reduced = {id(plan._query) for plan in use.plans if isinstance(plan, First | Count)}
        for plan in use.plans:
            if isinstance(plan, Pages) and id(plan) not in reduced and plan._total != 1:
                parts = plan._key.parameters[: len(plan._arguments)]
                bound = frozenset(part.attribute for part in parts)
                yield Listing(use, plan._entity, bound, not plan._columns)
            elif isinstance(plan, Load):
                parts = plan._key.parameters[: len(plan._arguments)]
                bound = frozenset(part.attribute for part in parts)
                for member in plan._kind.members:
                    if member.form != "one":
                        yield Listing(use, member.entity, bound, is_whole=True)


def _by_follow_up(facts: TableFacts, listing: Listing) -> Iterator[tuple[EntityMap, RuleProblem]]:
    """Yield the reads that a pattern makes from one row of an entity, and none from many."""
    for use in facts.uses:
        for plan in use.plans:
            if not isinstance(plan, Then) or not plan._single._entity.includes(listing.entity):
                continue
            follow = plan._following()
            if not isinstance(follow, Get):
                continue
            names = _used_names(follow, plan._single._entity)
            if names and not names <= listing.bound:
                yield (
                    follow._entity,
                    _problem(
                        listing,
                        follow._entity,
                        f"{use.pattern.name}() reads {follow._entity.name} for one of them: for "
                        "all of a page, that is one request each",
                        [f"row.{name}" for name in sorted(names)],
                    ),
                )


def _by_rates(facts: TableFacts, listing: Listing) -> Iterator[tuple[EntityMap, RuleProblem]]:
    """Yield the gets that are called as often as a list returns rows that refer to them."""
    rows = facts.measured(listing.use.pattern.label).mean_returned
    if listing.use.rate is None or rows < MIN_ROWS:
        return
    for use in facts.uses:
        plan = use.pattern.plan
        if not isinstance(plan, Get) or not use.rate or use.rate < listing.use.rate * rows:
            continue
        names = [part.attribute for part in plan._entity.primary.parameters]
        refers = set(names) <= set(listing.entity.attributes) and not set(names) <= listing.bound
        if refers and (plan._entity is not listing.entity or not listing.is_whole):
            one, many = use.rate + listing.use.rate, listing.use.rate * 2
            yield (
                plan._entity,
                _problem(
                    listing,
                    plan._entity,
                    f"{rows:.3g} on average, {listing.use.rate:g} times per second, and "
                    f"{use.pattern.name}() is called {use.rate:g} times per second, as if for each "
                    f"of them: {one:g} requests per second instead of about {many:g}",
                    [f"row.{name}" for name in names],
                    by_rates=True,
                ),
            )


def _problem(
    listing: Listing,
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


def stale_read(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find writes of what an eventually consistent read returned."""
    for use in facts.uses:
        for plan in use.plans:
            if isinstance(plan, RangeWrite) and _is_global(plan._query._key.index):
                yield _missing_rows(facts, use, plan._query._key.index)
            elif isinstance(plan, Then):
                yield from _follow_up_write(facts, use, plan)


def _follow_up_write(
    facts: TableFacts, use: PatternUse, plan: Then[Any, Any]
) -> Iterator[RuleProblem]:
    single, index, is_consistent = plan._single, None, True
    if isinstance(single, First):
        index, is_consistent = single._query._key.index, single._query._is_consistent
    elif isinstance(single, Get):
        is_consistent = single._is_consistent
    writes = [each for each in plans_of(plan._following()) if isinstance(each, Write)]
    if not writes or is_consistent:
        return
    keys = {part.attribute for part in single._entity.primary.parameters}
    values = set[str]()
    for write in writes:
        compared = {name for each in write._conditions for name in each.attributes}
        values |= _used_names(write, single._entity) - keys - compared
    if values:
        name = single._entity.name
        yield RuleProblem(
            place_of_pattern(use.pattern),
            f"{use.pattern.name}()",
            f"it writes {', '.join(sorted(values))} of the {name} that it reads, and this read is "
            "eventually consistent: a change of the last second may be lost",
            f"….condition({name}.{min(values)} == found.{min(values)})"
            if _is_global(index)
            else "read it with .consistent() before .then(…), or write with .condition(…)",
        )
    elif _is_global(index):
        yield _missing_rows(facts, use, index)


def _missing_rows(facts: TableFacts, use: PatternUse, index: IndexMap | None) -> RuleProblem:
    name = "" if index is None else facts.index_name(index)
    return RuleProblem(
        place_of_pattern(use.pattern),
        f"{use.pattern.name}()",
        f"it finds what it writes with {name}, and global indexes are eventually consistent: an "
        "item that was written a moment ago may be missing there",
        "if that matters, find it by the key of the table: ….primary(…)",
        "note",
    )


def _is_global(index: IndexMap | None) -> bool:
    return index is not None and index.kind == "global"


def _used_names(plan: Plan[Any], entity: EntityMap) -> set[str]:
    """Return the attributes of a found entity that a plan uses, in keys and values."""
    owner = Argument(entity.name)
    instance = vars(plan).get("_instance")
    written = {} if instance is None else vars(instance)
    return {
        each.name
        for each in (*plan._shape().expressions(), *expressions_in(written))
        if isinstance(each, AttributeOf) and each.owner == owner
    }


RULES = (
    Rule("n-plus-one", "note", "A request for each row of a list", n_plus_one),
    Rule("stale-read", "warning", "A write of what may have changed since", stale_read),
)
