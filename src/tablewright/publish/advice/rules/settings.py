"""Rules of what a table declares beside its keys: tenants, streams."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.mapping.language import intersects
from tablewright.publish.advice.code import name_of_key, sort_code
from tablewright.publish.advice.facts import TableFacts
from tablewright.publish.advice.finding import Rule, RuleProblem
from tablewright.publish.advice.source import place_of_class


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


def keys_only_stream(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find streams without items, of which no typed events can be made."""
    if facts.table.settings.stream == "KEYS_ONLY":
        name = facts.declared.__name__
        yield RuleProblem(
            place_of_class(facts.declared),
            name,
            "the records of its stream have keys and no items, so stream_events() and "
            f"parse_stream() raise an error for the {len(facts.table.entities)} entities",
            f'class {name}(Table, …, stream="NEW_AND_OLD_IMAGES")',
        )


RULES = (
    Rule(
        "outside-tenant",
        "warning",
        "Data of a tenant outside of the partitions of tenants",
        outside_tenant,
    ),
    Rule("keys-only-stream", "note", "A stream that gives no typed events", keys_only_stream),
)
