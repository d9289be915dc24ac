"""Rules: each checks one thing in a table and yields the problems that it finds.

    partitions     load on single partitions, the size of item collections
    indexes        indexes that cost more than they give
    index_keys     what a change of an attribute writes, and keys that need a backfill
    requests       patterns that read or write more than they need, texts that do not sort
    follow_ups     requests that are made from the result of a read
    entities       attributes and items, tenants, streams

A rule yields only what follows from the declarations, the sample data and the rates. docs/advice.md
describes every rule.
"""

from __future__ import annotations

from tablewright.publish.advice.finding import UNUSED_ALLOW, Rule
from tablewright.publish.advice.rules import (
    entities,
    follow_ups,
    index_keys,
    indexes,
    partitions,
    requests,
)

#: Every rule; `unused-allow` is about comments, which no table has.
RULES: tuple[Rule, ...] = (
    *partitions.RULES,
    *indexes.RULES,
    *index_keys.RULES,
    *requests.RULES,
    *follow_ups.RULES,
    *entities.RULES,
    Rule(UNUSED_ALLOW, "warning", "A comment that allows nothing", lambda _: ()),
)
