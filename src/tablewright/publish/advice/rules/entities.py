"""Rules of entities and tables: attributes, the growth of items, tenants, streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from tablewright.encoding.items import item_size
from tablewright.limits import MAX_ITEM_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.language import intersects
from tablewright.plan.change import AddToSet, Append, Prepend
from tablewright.plan.shape import TYPICAL
from tablewright.plan.writes.put import Put
from tablewright.plan.writes.save import Save
from tablewright.publish.advice.design_facts import TableFacts
from tablewright.publish.advice.finding import RuleProblem, rule
from tablewright.publish.advice.source import name_of_key, partition_code, place_of_class, sort_code

#: Names of attributes that say when an item is not needed any more.
_EXPIRY = re.compile(
    r"expir(es|y|ation)(_?(at|on|time))?|expire_?at|ttl|time_?to_?live|delete_?after", re.IGNORECASE
)
#: The share of an item that its names may have.
MAX_SHARE_OF_NAMES = 0.3


@rule("growing-item", "warning", "A list or set to which patterns only add")
def growing_item(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find lists and sets to which patterns only add."""
    for entity in facts.table.entities:
        updates = facts.updates(entity)
        writes = [plan for use in facts.uses for plan in use.writes(entity)]
        is_rewritten = any(isinstance(plan, Put | Save) for plan in writes)
        for attribute in entity.attributes.values():
            changes = [
                (use, change)
                for use, update in updates
                for change in update.changes
                if change.name == attribute.name
            ]
            only_adds = all(isinstance(each, Append | Prepend | AddToSet) for _, each in changes)
            if not changes or not only_adds or is_rewritten:
                continue
            element = _element_size(facts, entity, attribute)
            patterns = ", ".join(dict.fromkeys(f"{use.pattern.name}()" for use, _ in changes))
            yield RuleProblem(
                place_of_class(entity.type, attribute.name),
                f"{entity.name}.{attribute.name}",
                f"{patterns} only adds to it, and nothing removes: with {element} bytes for an "
                f"element, an item reaches 400 KB after about {MAX_ITEM_SIZE // element:,}, and a "
                f"write of it then costs {MAX_ITEM_SIZE // WRITE_UNIT_SIZE} units",
                "store each element as an item of its own, in the same partition: "
                f"key({partition_code(entity.primary)}, …)",
            )


def _element_size(facts: TableFacts, entity: EntityMap, attribute: AttributeMap) -> int:
    """Return the bytes of one element: of those in the sample data, or of a typical one."""
    values = [item[attribute.stored] for item in facts.items(entity) if attribute.stored in item]
    contents = [content for value in values for content in value.values()]
    count = sum(len(content) for content in contents if isinstance(content, list))
    if not count:
        return TYPICAL["S"]
    return max(1, round(sum(item_size({"": value}) for value in values) / count))


@rule("expiry-without-ttl", "warning", "A time of expiry that is no ttl()")
def expiry_without_ttl(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find attributes with the name of a time to live that DynamoDB does not know."""
    for entity in facts.table.entities:
        for attribute in entity.attributes.values() if entity.ttl is None else ():
            if attribute.converter.kind not in (datetime, int) or attribute.role:
                continue
            if _EXPIRY.fullmatch(attribute.name) or _EXPIRY.fullmatch(attribute.stored):
                yield RuleProblem(
                    place_of_class(entity.type, attribute.name),
                    f"{entity.name}.{attribute.name}",
                    f"items of {entity.name} are stored forever: DynamoDB deletes expired items "
                    "without cost, if the attribute is the time to live of the table",
                    f"{attribute.name}: Attr[datetime] = ttl()",
                )


@rule("long-attribute-names", "note", "Names that are more than 30 % of an item")
def long_attribute_names(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find entities whose attribute names are a large share of their items."""
    for entity in facts.table.entities:
        items = facts.items(entity)
        size = sum(map(item_size, items))
        if not items or size / len(items) <= WRITE_UNIT_SIZE:
            continue  # a write of a small item costs one unit, whatever its names
        names = sum(len(name.encode()) for item in items for name in item)
        if names / size > MAX_SHARE_OF_NAMES:
            longest = max(entity.attributes.values(), key=lambda each: len(each.stored))
            yield RuleProblem(
                place_of_class(entity.type),
                entity.name,
                f"names of attributes are {names / size:.0%} of its items: {names // len(items)} "
                f"of {size // len(items)} bytes",
                f'shorten them, the longest first: {longest.name}: Attr[…] = attr(name="…")',
            )


@rule("outside-tenant", "warning", "Data of a tenant outside of the partitions of tenants")
def outside_tenant(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find entities with the id of a tenant that are not in the partitions of a tenant."""
    tenancy = facts.declared.__tenancy__
    if tenancy is None:
        return
    for entity in facts.table.entities:
        partition = entity.primary.partition
        language = partition.language()
        if tenancy.tenant not in entity.attributes or any(
            intersects(language, shard.language()) for shard in tenancy.readable_shards
        ):
            continue
        is_shared = any(intersects(language, each.language()) for each in tenancy.shared_partitions)
        what = "every tenant can read it" if is_shared else "for_tenant() can never reach it"
        has_id = any(part.attribute == tenancy.tenant for part in partition.parts)
        first = str(tenancy.readable_shards[0]).partition("{")[0].strip(partition.delimiter.text)
        yield RuleProblem(
            place_of_class(entity.type, name_of_key(entity.primary)),
            entity.primary.name,
            f"{entity.name} has {tenancy.tenant}, but its partition {partition.show()} is not one "
            f"of a tenant ({', '.join(map(str, tenancy.readable_shards))}): {what}",
            f'Tenancy("{tenancy.tenant}", write=(…, "{partition.show()}"), …)'
            if has_id
            else f'primary = key("{first}" / {tenancy.tenant}, {sort_code(entity.primary)})',
        )


@rule("keys-only-stream", "note", "A stream that gives no typed events")
def keys_only_stream(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find streams whose records have no items, so that they cannot become typed events."""
    if facts.table.settings.stream == "KEYS_ONLY":
        name = facts.declared.__name__
        yield RuleProblem(
            place_of_class(facts.declared),
            name,
            "the records of its stream have keys and no items, so stream_events() and "
            f"parse_stream() raise an error for the {len(facts.table.entities)} entities",
            f'class {name}(Table, …, stream="NEW_AND_OLD_IMAGES")',
        )


RULES = (growing_item, expiry_without_ttl, long_attribute_names, outside_tenant, keys_only_stream)
