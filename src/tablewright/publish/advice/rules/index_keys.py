"""Rules of index keys: what a change of an attribute writes, and keys that need a backfill."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.capacity import read_units
from tablewright.encoding.items import item_size
from tablewright.limits import MAX_INDEX_KEY_ATTRIBUTES, WRITE_UNIT_SIZE
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.plan.change import Increment
from tablewright.plan.reads.projection import is_projected
from tablewright.plan.shape import TYPICAL_PAGE, Shape
from tablewright.presentation.values import plural
from tablewright.publish.advice.design_facts import PatternUse, TableFacts
from tablewright.publish.advice.finding import RuleProblem, Severity, rule
from tablewright.publish.advice.source import name_of_key, place_of_class

#: The price of a write unit, in read units.
WRITE_PRICE = 5
#: The stamps that updates of an entity do not change.
_BY_OTHERS = ("created_at", "counter")


@rule("changing-index-key", "warning", "An index key that every update, or a counter, changes")
def changing_index_key(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find index keys that change with every update or with a counter, or at a known rate."""
    for entity in facts.table.entities:
        updates = facts.updates(entity)
        for key in entity.indexes:
            by_itself: dict[str, list[PatternUse]] = {}
            assigned: dict[str, list[PatternUse]] = {}
            for use, update in updates:
                names = _assigned(key, update)
                for name in names:
                    if use.rate is not None:
                        assigned.setdefault(name, []).append(use)
                # A row that has to move anyway costs nothing more.
                for name in [] if names else _moving_by_itself(entity, key, update):
                    by_itself.setdefault(name, []).append(use)
            for name, uses in by_itself.items():
                role = entity.attributes[name].role
                yield _moving_row(
                    facts, entity, key, f"{role}()" if role else "a counter", name, uses
                )
            for name, uses in assigned.items() if not by_itself else ():
                yield _moving_row(facts, entity, key, "", name, uses)


def _assigned(key: KeyMap, update: Shape) -> list[str]:
    """Return the attributes of a key to which an update gives another meaning."""
    names = [each.name for each in update.changes if not isinstance(each, Increment)]
    return [name for name in dict.fromkeys(names) if name in key.depends_on]


def _moving_by_itself(entity: EntityMap, key: KeyMap, update: Shape) -> list[str]:
    """Return the stamps and counters with which an update changes a key."""
    counters = [each.name for each in update.changes if isinstance(each, Increment)]
    stamps = [each.name for each in entity.stamps if each.role not in _BY_OTHERS]
    return [name for name in dict.fromkeys((*counters, *stamps)) if name in key.depends_on]


def _moving_row(
    facts: TableFacts, entity: EntityMap, key: KeyMap, what: str, name: str, uses: list[PatternUse]
) -> RuleProblem:
    units = 2 * facts.write_units(entity)
    rates = [use.rate for use in uses if use.rate is not None]
    total = f", about {sum(rates) * units:,.0f} per second" if rates else ""
    patterns = ", ".join(dict.fromkeys(f"{use.pattern.name}()" for use in uses))
    member = name_of_key(key)
    return RuleProblem(
        place_of_class(entity.type, member),
        key.name,
        f"{name} is {what or 'a part of the key'}: each call of {patterns} deletes a row of the "
        f"index and adds another, {units} write units{total}",
        f"use an attribute that does not change, such as created_at(), in {member} = index(…)"
        if what
        else f"leave {name} out of {member} = index(…), if no pattern needs it there",
        None if what else "note",
    )


@rule("projected-stamp", "warning", "A projection with version() or updated_at()")
def projected_stamp(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find stamps in projections: every update changes them, so every update writes the index."""
    for entity in facts.table.entities:
        updates = facts.updates(entity)
        stamps = [stamp for stamp in entity.stamps if stamp.role not in _BY_OTHERS]
        for stamp in stamps if updates else ():
            keys = [key for key in entity.indexes if stamp.name not in key.depends_on]
            named = [key.index for key in keys if key.index and _names_stamp(entity, key, stamp)]
            if named:
                yield _projected(facts, entity, stamp, named)
            else:
                yield from _amplified(facts, entity, stamp, keys)


def _names_stamp(entity: EntityMap, key: KeyMap, stamp: AttributeMap) -> bool:
    """Return whether the projection of an index names a stamp, and is not ALL."""
    is_whole = key.index is None or key.index.projection == "ALL"
    return not is_whole and is_projected(entity, key, stamp.stored)


def _projected(
    facts: TableFacts, entity: EntityMap, stamp: AttributeMap, indexes: list[IndexMap]
) -> RuleProblem:
    names = ", ".join(dict.fromkeys(map(facts.index_name, indexes)))
    first = indexes[0]
    rest = tuple(name for name in first.projection if name != stamp.stored)
    project = repr(rest).replace("'", '"') if rest else '"KEYS_ONLY"'
    return RuleProblem(
        place_of_class(entity.type, stamp.name),
        f"{entity.name}.{stamp.name}",
        f"every update changes it, and the projection of {names} names it: every update costs "
        f"{len(indexes)} index writes more, also if nothing else there changes",
        facts.index_code(first, f"…, project={project}"),
    )


def _amplified(
    facts: TableFacts, entity: EntityMap, stamp: AttributeMap, keys: list[KeyMap]
) -> Iterator[RuleProblem]:
    """Yield a problem if updates write whole items to indexes, although no row there moves.

    Without rates it is a note. With them, it is a warning if that costs more than the gets that an
    index with keys alone would need; otherwise nothing.
    """
    units = facts.write_units(entity)
    written: dict[IndexMap, list[PatternUse]] = {}
    severities: set[Severity] = set()
    for key in keys:
        if key.index is None or key.index.kind == "local" or key.index.projection != "ALL":
            continue
        uses = [
            use
            for use, update in facts.updates(entity)
            if not update.changed_names & key.depends_on
        ]
        severity = _severity_of_whole_items(facts, key.index, uses, units)
        if severity is not None:
            written[key.index] = uses
            severities.add(severity)
    if not written:
        return
    calls = dict.fromkeys(f"{use.pattern.name}()" for uses in written.values() for use in uses)
    rates = [use.rate for uses in written.values() for use in uses if use.rate is not None]
    total = f", about {sum(rates) * units:,.0f} per second" if rates else ""
    count = len(written)
    yield RuleProblem(
        place_of_class(entity.type, stamp.name),
        f"{entity.name}.{stamp.name}",
        f"every update changes it, and {', '.join(map(facts.index_name, written))} "
        f"{'contains' if count == 1 else 'contain'} whole items: each call of {', '.join(calls)} "
        f"also writes {plural(count, 'index row')} that {'stays' if count == 1 else 'stay'} in "
        f"place, at least {plural(count * units, 'write unit')}{total}",
        "{} and batch_get(…) of what it finds, if updates are more frequent than reads".format(
            facts.index_code(next(iter(written)), '…, project="KEYS_ONLY"')
        ),
        "warning" if "warning" in severities else "note",
    )


def _severity_of_whole_items(
    facts: TableFacts, index: IndexMap, updates: list[PatternUse], units: int
) -> Severity | None:
    """Return how bad it is that updates write whole items to an index; None if it is not.

    A write unit has the price of five read units, and an item that is read by its key costs half a
    read unit for each 4 KB.
    """
    readers = facts.readers(index)
    if not updates or not readers:  # an index without readers is a finding of its own
        return None
    if any(use.rate is None for use in (*updates, *readers)):
        return "note"
    writes = sum((use.rate or 0) * units for use in updates)
    reads = 0.0
    for use in readers:
        rows = facts.measured(use.pattern.label).mean_returned or TYPICAL_PAGE
        reads += (use.rate or 0) * rows * read_units(units * WRITE_UNIT_SIZE, consistent=False)
    return "warning" if writes * WRITE_PRICE > reads else None


@rule("composed-index-key", "note", "A composed key that could be a key of several attributes")
def composed_index_key(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find composed keys whose parts could be the key attributes themselves."""
    if facts.declared.__tenancy__ is not None:
        return  # the text of a partition proves whose it is
    for index in facts.table.indexes.values():
        keys, readers = facts.keys_in(index), facts.readers(index)
        if index.kind != "global" or len(keys) != 1 or not readers:
            continue
        entity, key = keys[0]
        roles = [_natural(entity, key, names) for names in (index.partition, index.sort)]
        names = [name for role in roles for name in role]
        if not roles[0] or (index.sort and not roles[1]) or not _is_only(facts, entity, names):
            continue
        if any(_needs_composed(use, index, entity, names) for use in readers):
            continue
        stored = {each.stored: each.name for each in entity.attributes.values()}
        quoted = [_as_code([f'"{name}"' for name in role]) for role in roles if role]
        plain = [_as_code([stored[name] for name in role]) for role in roles if role]
        place = ", ".join([facts.index_name(index), *plain])
        items = facts.items(entity)
        size = sum(item_size({n: i[n] for n in key.composed if n in i}) for i in items)
        saved = f", and each item is {size // len(items)} bytes smaller" if items and size else ""
        yield RuleProblem(
            facts.place_of_index(index),
            facts.index_name(index),
            f"its key is composed of attributes that {entity.name} stores anyway; "
            f"if they are the key themselves, existing items need no backfill{saved}",
            f"{facts.index_code(index, ', '.join(quoted))} and {name_of_key(key)} = index({place})",
        )


def _natural(entity: EntityMap, key: KeyMap, names: tuple[str, ...]) -> list[str]:
    """Return the stored attributes that could be the key; none if a part is not one of them."""
    parts = [part for name in names for part in key.templates[name].parts]
    stored = []
    for part in parts:
        attribute = entity.attributes[part.attribute]
        is_key = attribute.converter.tag in ("S", "N", "B") and not attribute.is_key_only
        if not part.is_plain or not is_key:
            return []
        stored.append(attribute.stored)
    composed = set(names) <= set(key.composed) and key.when is None
    is_valid = len(stored) <= MAX_INDEX_KEY_ATTRIBUTES and composed
    return stored if is_valid else []


def _needs_composed(use: PatternUse, index: IndexMap, entity: EntityMap, names: list[str]) -> bool:
    """Return whether a pattern does what DynamoDB does not do with keys of several attributes."""
    for each in use.ranges:
        if each.key.index != index:
            continue
        filtered = () if each.filter is None else each.filter.attributes
        if each.aggregate or any(entity.attributes[name].stored in names for name in filtered):
            return True
    return False


def _is_only(facts: TableFacts, entity: EntityMap, names: list[str]) -> bool:
    """Return whether no items of other entities would be in the index."""
    taken = {*facts.table.attributes, facts.table.type_attribute}
    if len(set(names)) < len(names) or taken & set(names):
        return False
    others = [
        {each.stored for each in other.attributes.values()}
        for other in facts.table.entities
        if other is not entity
    ]
    others += [
        {kept.stored for kept in unique.keeps}
        for each in facts.table.entities
        for unique in each.uniques
    ]
    return not any(other >= set(names) for other in others)


def _as_code(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


RULES = (changing_index_key, projected_stamp, composed_index_key)
