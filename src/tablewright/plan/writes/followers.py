"""Followers: the entities whose rows are below an item, in its partition, and these rows.

They move with the item, and its attributes in their keys follow those of the item.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import extends, templates_can_collide
from tablewright.plan.plan import Context, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.single import read_all
from tablewright.plan.writes.action import Action, always_retry
from tablewright.plan.writes.guard import WriteExpressions
from tablewright.values import Item


class Follower(Struct, frozen=True):
    """An entity whose rows move with those of another, and which attributes follow which."""

    entity: EntityMap
    #: The row's attribute -> the moved item's attribute.
    follows: dict[str, str]


def followers(entity: EntityMap) -> list[Follower]:
    """Return the entities whose rows are below those of an entity, in its partition."""
    found = []
    for other in entity.table.entities:
        if other is not entity and (other.base is None or other.base is not entity.base):
            follows = _follows(entity.primary, other.primary)
            if follows is not None:
                found.append(Follower(other, follows))
    return found


def _follows(key: KeyMap, theirs: KeyMap) -> dict[str, str] | None:
    """Return which attributes of one key follow which of the other; None if none do."""
    if key.sort is None or theirs.sort is None or not _share_partition(key, theirs):
        return None
    pairs = list(zip(key.partition.pieces, theirs.partition.pieces, strict=True))
    if key.sort.is_text and theirs.sort.is_text and extends(theirs.sort, key.sort):
        pairs += zip(key.sort.pieces, theirs.sort.pieces, strict=False)
    elif len(key.parameters) > key.partition_arity:  # there are others like it in the partition
        return None
    if any(isinstance(part, KeyPart) and part.notation.derive is not None for _, part in pairs):
        return None  # made from a value of its own, which does not follow
    return {
        part.attribute: own.attribute
        for own, part in pairs
        if isinstance(own, KeyPart) and isinstance(part, KeyPart)
    }


def _share_partition(key: KeyMap, theirs: KeyMap) -> bool:
    """Return whether rows of one key belong into the partitions of the other.

    A natural key has no literal that says whose partition it is, but the name of its attribute.
    """
    own, other = key.partition, theirs.partition
    if own.natural is not None or other.natural is not None:
        is_natural = own.natural is not None and other.natural is not None
        names = [[part.attribute for part in template.parts] for template in (own, other)]
        return is_natural and names[0] == names[1]
    return templates_can_collide(own, other) and len(own.pieces) == len(other.pieces)


def read_rows_below(
    entity: EntityMap, key: Item, members: Sequence[Follower], context: Context
) -> Steps[list[tuple[Follower, Item]]]:
    """Read all rows below an item, each with its entity."""
    by_entity = {member.entity: member for member in members}
    if not members:
        return []
    rows = yield from read_all(request_for_rows_below(entity, key, members, context))
    owned = [(by_entity.get(found), row) for row in rows if (found := entity.table.entity_of(row))]
    return [(member, row) for member, row in owned if member is not None]


def request_for_rows_below(
    entity: EntityMap, key: Item, members: Sequence[Follower], context: Context
) -> QueryRequest:
    """Return the query for the rows below an item, perhaps with others of its partition."""
    partition, sort = entity.table.attributes
    assert sort is not None
    below = None
    if all(extends(each.entity.primary.sort, entity.primary.sort) for each in members):  # type: ignore[arg-type]
        start = key[sort]["S"] + entity.primary.partition.delimiter.text
        below = SortCondition(sort, "begins_with", ({"S": start},))
    return QueryRequest(
        "Query",
        {"TableName": context.name_of(entity.table), "ConsistentRead": True},
        Selection(KeyCondition({partition: key[partition]}, below)),
    )


def require_no_parent(entity: EntityMap, key: Item) -> Action:
    """Return the check that an item which was deleted or moved does not exist again."""
    expressions = WriteExpressions()
    expressions.require_not_exists(entity.table)
    body = expressions.add_to({"Key": key})
    return Action("ConditionCheck", entity.table, body, always_retry, requires_absence=True)
