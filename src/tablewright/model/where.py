"""Where: choose the key or the index for a set of conditions.

    Order.where(Order.customer_id == c, Order.created_at >= monday)     Query on the timeline
    OrderItem.where(OrderItem.sku == s)                                 an error: it would be a scan

Equality conditions bind the parts of a key from the left; one comparison may apply to the next
part. The other conditions become a filter. Of several usable keys, `where` prefers those whose own
attributes need no filter, then the one that binds most conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import Comparison
from tablewright.mapping.key_parts import KeyPart, make_part
from tablewright.mapping.keys import KeyMap
from tablewright.plan.condition import Compare, Condition, Predicate
from tablewright.plan.reads.projection import is_projected
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.range import Range
from tablewright.plan.reference import check_attributes


class WouldScan(DeclarationError):
    """A query would be a scan: the reason, and the declaration of an index for it."""

    def __init__(self, message: str, reason: str, proposal: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.proposal = proposal


class Match(Struct):
    """The conditions that a key condition on one key can express."""

    key: KeyMap
    arguments: tuple[Any, ...]
    comparison: Comparison | None
    operands: tuple[Any, ...]
    used: list[Condition[Any]]


def find(entity: EntityMap, given: Sequence[Condition[Any]]) -> Query[Any]:
    """Return the query for the conditions; raise DeclarationError if it would be a scan."""
    for condition in given:
        check_attributes(condition, entity)
    conditions = [part for condition in given for part in condition.parts()]
    if not conditions:
        raise DeclarationError(f"{entity.name}.where() needs a condition. {_declare_scan(entity)}")
    pinned = [condition.operand.name for condition in conditions if _is_equal(condition)]
    for name in pinned:
        if pinned.count(name) > 1:
            raise DeclarationError(
                f"{entity.name}.where(): {name} cannot equal two values at once; remove a condition"
            )
    found = [_match(entity, key, conditions) for key in (entity.primary, *entity.indexes)]
    matches = [match for match in found if match is not None and match.used]
    if not matches:
        raise _refusal(entity, conditions)
    best = max(
        matches, key=lambda match: (_can_filter_rest(entity, match, conditions), len(match.used))
    )
    plan: Query[Any] = Range(entity, best.key, best.arguments)
    if best.comparison is not None:
        plan = plan._compared(best.comparison, *best.operands, is_named=True)  # type: ignore[attr-defined]
    for condition in conditions:
        if condition not in best.used:
            plan = plan.filter(condition)
    return plan


def _match(entity: EntityMap, key: KeyMap, conditions: Sequence[Condition[Any]]) -> Match | None:
    equal = {condition.operand.name: condition for condition in conditions if _is_equal(condition)}
    if key.when is not None:
        return None  # the index contains only some of the items
    if not all(is_projected(entity, key, each.stored) for each in entity.attributes.values()):
        return None  # the index contains only some attributes of the items
    arguments: list[Any] = []
    used: list[Condition[Any]] = []
    for parameter in key.parameters:
        pinned = equal.get(parameter.attribute)
        if pinned is None or not parameter.is_exact:
            break
        arguments.append(pinned.value)
        used.append(pinned)
    if len(arguments) < key.partition_arity:
        return None
    for left in key.parameters[len(arguments) :]:
        optional = entity.attributes[left.attribute].converter.optional
        if optional and not any(_needs_a_value(each, left.attribute) for each in conditions):
            return None  # items in which that part has no value are not in the index
    comparison, operands = None, ()
    following = key.next_part(len(arguments))
    if following is not None:
        for condition in conditions:
            found = _comparison(condition, following.part.attribute)
            if found is not None and key.can_compare(len(arguments), found[0]):
                comparison, operands = found
                used.append(condition)
                break
    return Match(key, tuple(arguments), comparison, operands, used)


def _can_filter_rest(entity: EntityMap, match: Match, conditions: Sequence[Condition[Any]]) -> bool:
    """Return whether DynamoDB can filter by all other conditions: it cannot by key attributes."""
    return not any(
        entity.attributes[name].stored in match.key.attributes
        for condition in conditions
        if condition not in match.used
        for name in condition.attributes
    )


def _needs_a_value(condition: Condition[Any], attribute: str) -> bool:
    """Return whether a condition is false if the attribute has no value."""
    if isinstance(condition, Compare):
        return condition.operand.name == attribute and condition.comparator != "<>"
    return _comparison(condition, attribute) is not None


def _comparison(
    condition: Condition[Any], attribute: str
) -> tuple[Comparison, tuple[Any, ...]] | None:
    if isinstance(condition, Compare) and condition.operand.name == attribute:
        if condition.comparator in ("<", "<=", ">", ">="):
            return condition.comparator, (condition.value,)  # type: ignore[return-value]
    elif isinstance(condition, Predicate) and condition.operand.name == attribute:
        if condition.function == "BETWEEN":
            return "between", condition.values
        if condition.function == "begins_with":
            return "begins_with", condition.values
    return None


def _refusal(entity: EntityMap, conditions: Sequence[Condition[Any]]) -> WouldScan:
    """Return the error that says why it would be a scan, and proposes an index."""
    equal = [condition.operand.name for condition in conditions if _is_equal(condition)]
    compared = [name for each in conditions for name in each.attributes if name not in equal]
    shown = " and ".join(map(repr, conditions))
    if equal:
        reason = f"no key or index of {entity.name} begins with {', '.join(equal)}"
    else:
        reason = f"no key or index has all items of {entity.name} in one partition"
    proposal = _proposal(entity, equal, compared[:1])
    message = (
        f"{entity.name}.where({shown}) would be a scan: {reason}. "
        f"Add an index: {proposal}. {_declare_scan(entity)}"
    )
    return WouldScan(message, reason, proposal)


def _proposal(entity: EntityMap, equal: list[str], compared: list[str]) -> str:
    """Return the declaration of an index, in the table and in the entity."""
    table = entity.table.owner
    taken = {n for index in entity.table.indexes.values() for n in index.attributes}
    number = next(n for n in range(1, 99) if not {f"GSI{n}PK", f"GSI{n}SK"} & taken)
    name = f"by_{'_'.join(equal or compared or [entity.name.lower()])}"
    literal = f'"{entity.name.upper()}"'
    keys, paths = [f'"GSI{number}PK"', f'"GSI{number}SK"'], ["", ""]
    if len(equal) == 1 and not _sorts_in_composed_key(entity, equal[0]):
        keys[0], paths[0] = f'"{entity.attributes[equal[0]].stored}"', equal[0]
    else:
        paths[0] = " / ".join(f'"{name.upper()}" / {name}' for name in equal) or literal
    if compared and not _sorts_in_composed_key(entity, compared[0]):
        keys[1], paths[1] = f'"{entity.attributes[compared[0]].stored}"', compared[0]
    else:
        delimiter = entity.table.delimiter.text
        loose = any(not _part(entity, name).sorts_before(delimiter) for name in compared)
        rest = [part.attribute for part in entity.primary.parameters if part.attribute not in equal]
        behind = [] if loose else [name for name in rest if name not in compared]
        paths[1] = " / ".join([literal, *compared, *behind])
    return (
        f"in {table}: {name} = GSI({', '.join(keys)}); in {entity.name}: "
        f"{name} = index({table}.{name}, {', '.join(paths)})"
    )


def _part(entity: EntityMap, name: str) -> KeyPart:
    kind = entity.attributes[name].converter.kind
    return make_part(name, kind, (), pad=None, delimiter=entity.table.delimiter, where=entity.name)


def _sorts_in_composed_key(entity: EntityMap, name: str) -> bool:
    """Return whether an attribute sorts as a part of a composed key."""
    try:
        return _part(entity, name).is_ordered
    except DeclarationError:
        return False


def _is_equal(condition: Condition[Any]) -> TypeGuard[Compare[Any]]:
    return isinstance(condition, Compare) and condition.comparator == "="


def _declare_scan(entity: EntityMap) -> str:
    return f'To read the whole table anyway, use {entity.name}.scan(reason="…").filter(…)'
