"""Expressions: the time of an expression whose text is new, and of one whose text is cached.

A text is new if no earlier request had it: here, each names another attribute. The figures include
the evaluation of the condition, or the application of the update.
"""

from __future__ import annotations

from benchmarks import items
from benchmarks.measure import Context, Figure, best
from tablewright.expression import Scope
from tablewright.values import Value

ITEM = items.item(7, 1000)

CONDITION = (
    "attribute_exists(PK) AND #s <> :done "
    "AND (amount BETWEEN :low AND :high OR contains(tags, :tag)) AND attribute_not_exists(%s)"
)
UPDATE = (
    "SET #s = :s, amount = amount + :one, version = if_not_exists(version, :one), "
    "address.city = :s, note = :s, history = list_append(if_not_exists(history, :none), :list) "
    "REMOVE gift, address.zip ADD %s :one"
)
NAMES = {"#s": "status"}


def expressions(context: Context) -> list[Figure]:
    """Measure a condition with five comparisons and an update with nine actions."""
    calls = context.size(1000, 100)
    assert condition("a") is True
    return [
        Figure(
            name=f"{what}, {state}",
            unit="µs",
            value=best(context, f"{what}, {state}", call, args),
        )
        for what, call in (("condition", condition), ("update of 9 actions", update))
        for state, args in (
            ("new text", [f"{what[0]}{n}" for n in range(calls)]),
            ("known text", ["b"] * calls * 4),
        )
    ]


def condition(attribute: str) -> bool:
    values = {
        ":done": {"S": "DONE"},
        ":low": {"N": "100"},
        ":high": {"N": "200"},
        ":tag": {"S": "express"},
    }
    scope = Scope(NAMES, values)
    found = scope.condition(CONDITION % attribute)
    scope.require_all_used()
    assert found is not None
    return found.holds({**ITEM, "status": {"S": "PAID"}})


def update(attribute: str) -> object:
    values: dict[str, Value] = {
        ":s": {"S": "PAID"},
        ":one": {"N": "1"},
        ":none": {"L": []},
        ":list": {"L": [{"S": "PAID"}]},
    }
    scope = Scope(NAMES, values)
    found = scope.update(UPDATE % attribute)
    scope.require_all_used()
    assert found is not None
    return found.apply(ITEM)
