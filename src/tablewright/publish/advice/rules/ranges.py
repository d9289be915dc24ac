"""Rules of ranges: texts in sort keys whose order is not that of what they mean.

The model refuses numbers without padding, and formats that do not sort, in the range of a query. A
text that holds a number or a time is only seen in the sample data: "10" sorts before "9".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from tablewright.mapping.entity import EntityMap
from tablewright.plan.inspection import SelectedRange
from tablewright.publish.advice.facts import TableFacts
from tablewright.publish.advice.finding import Rule, RuleProblem
from tablewright.publish.advice.source import place_of_class

_NUMBER = re.compile(r"-?\d+(\.\d+)?").fullmatch
_TIME = re.compile(r"\d{4}-\d\d-\d\dT.*").fullmatch


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


RULES = (Rule("unordered-range", "warning", "A range of texts that do not sort", unordered_range),)
