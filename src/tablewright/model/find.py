"""Find: which key or index serves a set of conditions; an error if none does.

    Order.where(Order.customer_id == c, Order.created_at >= monday)     Query on the timeline
    OrderItem.where(OrderItem.sku == s)                                 an error: it would be a scan

Equal conditions bind the parts of a key from the left; one comparison may follow on the next
part. What is left over is a filter. Of several keys that serve, the one that binds most is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import ModelError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import Comparison, KeyMap
from tablewright.plan.condition import Call, Compare, Condition
from tablewright.plan.query import Many, Range


class Match(Struct):
    """How far a key serves the conditions."""

    key: KeyMap
    arguments: tuple[Any, ...]
    comparison: Comparison | None
    operands: tuple[Any, ...]
    used: list[Condition[Any]]


def find(entity: EntityMap, given: Sequence[Condition[Any]]) -> Many[Any]:
    """The query that serves the conditions."""
    conditions = [part for condition in given for part in condition.parts()]
    if not conditions:
        raise ModelError(f"{entity.name}.where() needs a condition; {_declare_scan(entity)}")
    found = [_match(entity, key, conditions) for key in (entity.primary, *entity.indexes)]
    matches = [match for match in found if match is not None]
    if not matches:
        raise ModelError(_refusal(entity, conditions))
    best = max(matches, key=lambda match: len(match.used))
    plan: Many[Any] = Range(entity, best.key, best.arguments)
    if best.comparison is not None:
        plan = plan._compared(best.comparison, *best.operands)  # type: ignore[attr-defined]
    for condition in conditions:
        if condition not in best.used:
            plan = plan.filter(condition)
    return plan


def _match(entity: EntityMap, key: KeyMap, conditions: Sequence[Condition[Any]]) -> Match | None:
    equal = {
        condition.operand.name: condition
        for condition in conditions
        if isinstance(condition, Compare) and condition.comparator == "="
    }
    if key.when is not None:
        return None  # the index holds some of the items only
    arguments: list[Any] = []
    used: list[Condition[Any]] = []
    for part in key.asked:
        pinned = equal.get(part.attribute)
        if pinned is None or not part.exact:
            break
        arguments.append(pinned.value)
        used.append(pinned)
    if len(arguments) < key.in_partition:
        return None
    if any(entity.attributes[part.attribute].converter.optional for part in key.asked[len(used) :]):
        return None  # it lacks the items in which that part has no value
    comparison, operands = None, ()
    following = key.next_part(len(arguments)) if key.sort is not None else None
    if following is not None:
        for condition in conditions:
            found = _comparison(condition, following.attribute)
            if found is not None and key.compares(len(arguments), found[0]):
                comparison, operands = found
                used.append(condition)
                break
    return Match(key, tuple(arguments), comparison, operands, used)


def _comparison(
    condition: Condition[Any], attribute: str
) -> tuple[Comparison, tuple[Any, ...]] | None:
    if isinstance(condition, Compare) and condition.operand.name == attribute:
        if condition.comparator in ("<", "<=", ">", ">="):
            return condition.comparator, (condition.value,)  # type: ignore[return-value]
    elif isinstance(condition, Call) and condition.operand.name == attribute:
        if condition.function == "BETWEEN":
            return "between", condition.values
        if condition.function == "begins_with":
            return "begins_with", condition.values
    return None


def _refusal(entity: EntityMap, conditions: Sequence[Condition[Any]]) -> str:
    """What is missing, and which index would serve."""
    equal = [
        condition.operand.name
        for condition in conditions
        if isinstance(condition, Compare) and condition.comparator == "="
    ]
    others = sorted(set().union(*(condition.attributes for condition in conditions)) - set(equal))
    literal = entity.name.upper()
    partition = " / ".join(f'"{name.upper()}" / {name}' for name in equal) or f'"{literal}"'
    asked = [part.attribute for part in entity.primary.asked if part.attribute not in equal]
    rest = [*others, *(name for name in asked if name not in others)]
    sort = f'"{literal}" / ' + " / ".join(rest) if rest else f'"{literal}"'
    told = " and ".join(map(repr, conditions))
    name = "_".join(equal or others)
    return (
        f"{entity.name}.where({told}) would be a scan: no key or index of {entity.name} begins "
        f"with {', '.join(equal) or 'a literal alone'}. An index would serve it: "
        f"by_{name} = index({entity.table.owner}.by_{name}, {partition}, {sort}). "
        f"{_declare_scan(entity)}"
    )


def _declare_scan(entity: EntityMap) -> str:
    return f'If reading the whole table is right, say so: {entity.name}.scan(reason="…").filter(…)'
