"""Rules: each checks one thing in a table and yields the problems that it finds.

    partitions     load on single partitions, the size of item collections
    indexes        indexes that cost more than they give
    index_keys     what a change of an attribute writes, and keys that need a backfill
    ranges         texts in sort keys that do not sort
    requests       patterns that read or write more than they need
    follow_ups     requests that are made from the result of a read
    entities       attributes and items
    settings       tenants, streams

A rule yields only what follows from the declarations, the sample data and the rates. docs/advice.md
describes every rule.
"""

from __future__ import annotations

from tablewright.publish.advice.finding import Rule
from tablewright.publish.advice.rules import (
    entities,
    follow_ups,
    index_keys,
    indexes,
    partitions,
    ranges,
    requests,
    settings,
)
from tablewright.publish.advice.silencing import UNUSED_ALLOW

#: Every rule; `unused-allow` is about comments, which no table has.
RULES: tuple[Rule, ...] = (
    *partitions.RULES,
    *indexes.RULES,
    *index_keys.RULES,
    *ranges.RULES,
    *requests.RULES,
    *follow_ups.RULES,
    *entities.RULES,
    *settings.RULES,
    Rule(UNUSED_ALLOW, "warning", "A comment that allows nothing", lambda _: ()),
)
