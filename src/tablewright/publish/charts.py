"""Charts: the tables of a design's document (keys, indexes, access patterns, items).

Why an access pattern is efficient is derived from its shape and its table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from tablewright.cost import PatternUnits
from tablewright.ids import KSUID, ULID
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.counters import CounterMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.key_parts import Delimiter, KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.language import width_of
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.model.pattern import AccessPattern, why_scan
from tablewright.plan.facts import Absent, Actions, Paging, Repeats, Unchanged
from tablewright.plan.inspection import entities_of, range_of
from tablewright.plan.plan import Plan
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.scan import Scan
from tablewright.plan.shape import Shape
from tablewright.presentation.blocks import (
    Cell,
    Chart,
    Code,
    ConditionCell,
    EntityCell,
    PatternCell,
    Plain,
)
from tablewright.presentation.values import content
from tablewright.symbol import Expression
from tablewright.values import Item
from tablewright.wire.operations import READS

#: The most characters of an item's attributes in the chart of items.
MAX_ATTRIBUTES = 110
#: The columns of the access patterns.
PATTERN_HEADER = (
    *("Entity", "Access pattern", "Pattern", "Operation", "Table/Index", "Key condition"),
    *("Cost", "Notes", "Why efficient"),
)


def entity_chart(table: TableMap) -> Chart:
    """Show the primary key of each entity, and the key of the sentinel of each unique value."""
    rows: list[list[Cell]] = []
    for entity in table.entities:
        named = EntityCell(entity.name, (entity,))
        rows.append([named, *_key_templates(entity.primary, entity)])
        rows += [
            [f"{entity.name}, unique", *_key_templates(unique.key, entity)]
            for unique in entity.uniques
        ]
    return Chart("Primary keys", ["Entity", *_present(table.attributes)], rows)


def index_chart(table: TableMap, name: str) -> Chart:
    """Show the entities in an index, with their index keys."""
    index = table.indexes[name]
    rows: list[list[Cell]] = [
        [
            EntityCell(entity.name, (entity,)),
            *_key_templates(key, entity),
            "" if key.when is None else repr(key.when),
        ]
        for entity in table.entities
        for key in entity.indexes
        if key.index == index
    ]
    header = ["Entity", *index.attributes]
    caption = f"Keys in the index {name}"
    if any(row[-1] for row in rows):
        return Chart(caption, [*header, "condition"], rows)
    return Chart(caption, header, [row[:-1] for row in rows])


def sparse_note(table: TableMap, name: str) -> str:
    """Say which items a sparse index contains; "" for an index with all items."""
    index = table.indexes[name]
    inside = {
        entity: [key for key in entity.indexes if key.index == index] for entity in table.entities
    }
    if set(index.attributes) <= set(table.attributes):
        return ""
    notes = []
    if not all(inside.values()):
        notes.append(f"only items of {_either([each.name for each in inside if inside[each]])}")
    optional = {
        entity.attributes[part.attribute].stored: None
        for entity, keys in inside.items()
        for key in keys
        for part in key.parameters
        if not part.can_be_absent
        and (entity.attributes[part.attribute].converter.optional or part.notation.is_optional)
    }
    if optional:
        notes.append(f"only items with `{'`, `'.join(optional)}`")
    if any(key.when is not None for keys in inside.values() for key in keys):
        notes.append("only items that match the condition")
    return f"sparse, {', '.join(notes)}" if notes else ""


def link_notes(table: TableMap) -> Iterator[str]:
    """Yield a sentence for each rule about what belongs to an entity, or what one refers to."""
    cascades = {each.name: each for entity in table.entities for each in entity.cascades}
    for each in cascades.values():
        parent, child = each.link.target.name, each.child.name
        what = {
            "delete": f"items of {child} are deleted with their {parent}",
            "detach": f"items of {child} stay without their {parent} when it is deleted",
            "restrict": f"items of {child} keep their {parent} from being deleted",
        }[each.on_delete]
        yield f"`{each.name}`: {what}. They are written only if the {parent} exists."
    for entity in table.entities:
        for link in entity.links:
            if link.name not in cascades:
                names = ", ".join(f"`{name}`" for name in sorted(link.names))
                yield (
                    f"`{link.name}`: {names} in {entity.name} refers to an item of "
                    f"{link.target.name}, which must exist when it is written."
                )


def entity_notes(table: TableMap) -> str:
    """List what the library maintains for each entity: version, history, counters and expiry."""
    lines = []
    expiring: dict[str, list[str]] = {}
    for entity in table.entities:
        if entity.version is not None:
            lines.append(f"- Each write of {entity.name} increments `{entity.version.stored}`.")
        lines += [
            f"- Each {'update' if history.always else 'change'} of "
            f"{entity.name}.{history.attribute} adds one {history.event.name}"
            f"{', also if the value stays the same' if history.always else ''}."
            for history in entity.histories
        ]
        lines += map(_counter_note, entity.counters)
        if entity.ttl is not None:
            expiring.setdefault(entity.ttl.stored, []).append(entity.name)
    lines += [
        f"- An item of {_either(names)} expires at the time in `{attribute}`, if it has one."
        for attribute, names in expiring.items()
    ]
    return "\n".join(lines)


def _counter_note(counter: CounterMap) -> str:
    child = counter.child.name
    what = f"counts {child}" if counter.summed is None else f"sums {child}.{counter.summed.name}"
    where = "" if counter.when is None else f", where `{counter.when!r}`"
    return f"- {counter.name} {what}{where}: each write of {child} maintains it."


def _either(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def delimiter_notes(table: TableMap) -> Iterable[str]:
    """Say how a delimiter inside a text is stored, with a key of the table as the example."""
    notes: dict[Delimiter, str] = {}
    for entity in table.entities:
        for key in (entity.primary, *entity.indexes, *(each.key for each in entity.uniques)):
            for template in filter(lambda each: each.is_text, key.templates.values()):
                for part in template.parts:
                    if part.is_free_text and width_of(part.notation.language) is None:
                        notes.setdefault(template.delimiter, _note(template, part, entity))
    return notes.values()


def _whole_keys(table: TableMap) -> list[str]:
    """Return the attributes of entities that are key attributes themselves, as they are stored."""
    found: dict[str, None] = {}
    for entity in table.entities:
        stored = {attribute.stored for attribute in entity.attributes.values()}
        for key in (entity.primary, *entity.indexes):
            found |= {name: None for name in key.templates if name in stored}
    return list(found)


def _note(template: Template, part: KeyPart, entity: EntityMap) -> str:
    """Describe the delimiter of a template; `part` is a text in it."""
    delimiter, text = template.delimiter, template.delimiter.text
    if not delimiter.escapes:
        return f"`{text}` separates the parts of a key; a text in a key cannot contain it."
    escape, written, value = delimiter.escape_character, delimiter.write(text), f"a{text}b"
    key, place = template.show(), f"{{{part.label}}}"
    whole = [f"`{name}`" for name in _whole_keys(entity.table)]
    natural = f", also where one is a whole key: {', '.join(whole)}" if whole else ""
    example = key.replace(place, delimiter.write(value))
    return (
        f"`{text}` separates the parts of a key. Inside such a part, `{text}` is stored as "
        f"`{written}` and `{escape}` as `{escape * 2}`: with `{value}` for "
        f"`{_template(place, entity)}`, `{_template(key, entity)}` is "
        f"`{_template(example, entity)}`. "
        "A program that uses boto3 writes a text as "
        f"`text.replace({escape!r}, {escape * 2!r}).replace({text!r}, {written!r})` in keys, and "
        f"unchanged in other attributes{natural}."
    )


def _present(attributes: tuple[str, str | None]) -> list[str]:
    return [name for name in attributes if name is not None]


def _key_templates(key: KeyMap, entity: EntityMap) -> list[Code]:
    return [_template(template.show(), entity) for template in key.templates.values()]


def _template(text: str, entity: EntityMap) -> Code:
    """Show a template with the stored attribute names."""
    for attribute in entity.attributes.values():
        text = text.replace(f"{{{attribute.name}}}", f"{{{attribute.stored}}}")
    return Code(text)


def pattern_chart(patterns: Iterable[AccessPattern], units: Mapping[str, PatternUnits]) -> Chart:
    """Show each access pattern with its requests, index, key condition, units and order.

    `units` are those of one call, by the labels of the patterns.
    """
    rows: list[list[Cell]] = []
    for found in patterns:
        shape = found.shape
        order = [_order_by(found.plan), shape.order if shape.order == "descending" else ""]
        notes = [", ".join(filter(None, order))] if any(order) else []
        if shape.filters:
            notes.append(f"{'only' if _is_read(shape) else 'if'} {shape.filter}")
        rows.append(
            [
                EntityCell(shape.entity, tuple(dict.fromkeys(found.entities))),
                found.doc.partition("\n")[0],
                PatternCell(found.name, found.label),
                _operations(shape),
                shape.index or _indexes(shape) or "table",
                ConditionCell(shape, tuple(found.entities)),
                units[found.label].show(shape),
                "; ".join(notes),
                why_efficient(shape, found.entities[0].table),
            ]
        )
    return Chart("Access patterns", PATTERN_HEADER, rows)


def _operations(shape: Shape) -> str:
    """Return the operations of a pattern, with the reads before and after a write."""
    if _is_read(shape):
        return shape.operation
    return " + ".join(dict.fromkeys(request.operation for request in shape.requests))


def _is_read(shape: Shape) -> bool:
    return all(request.operation in READS for request in shape.requests)


def _indexes(shape: Shape) -> str:
    """Return the indexes whose keys the actions of a transaction change."""
    return ", ".join(dict.fromkeys(index.name for each in shape.steps for index in each.indexes))


def inefficient_chart(functions: Iterable[Callable[..., Any]]) -> Chart:
    """Show the queries that no key serves, and the index that each would need."""
    rows = []
    for function in functions:
        refusal = why_scan(function)
        doc = inspect.getdoc(function) or function.__name__
        rows.append([doc.partition("\n")[0], refusal.reason, Code(refusal.proposal)])
    return Chart("Queries that scan", ["Query", "Why not", "Index that it needs"], rows)


def _order_by(plan: Plan[Any]) -> str:
    """Say by which attributes a query sorts: the parts of the sort key that it does not bind."""
    if not isinstance(plan, Query) or isinstance(plan, Scan) or len(entities_of(plan)) > 1:
        return ""
    rows = range_of(plan)
    parts = takewhile(lambda part: part.is_ordered, rows.free)
    shown = [_sorted_by(part, rows.entity.attributes[part.attribute]) for part in parts]
    return f"order by {', '.join(shown)}" if shown else ""


def _sorted_by(part: KeyPart, attribute: AttributeMap) -> str:
    """Name the attribute of a part, and say whether it is an id that sorts by creation."""
    maker = getattr(attribute.default, "__self__", None)  # of KSUID.new: KSUID
    kinds = [kind for kind in (attribute.converter.kind, maker) if isinstance(kind, type)]
    text = attribute.stored
    if any(issubclass(kind, (KSUID, ULID)) for kind in kinds):
        text += " (creation time)"
    return f"{text} (reversed)" if part.is_descending else text


def item_collections(table: TableMap, items: list[Item], limit: int) -> Chart:
    """Show the first items of the first partitions, at most `limit` of each."""
    partition, *sort = _present(table.attributes)
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(content(item[partition]), []).append(item)
    rows: list[list[str]] = []
    for text, members in list(groups.items())[:limit]:
        for position, item in enumerate(members[:limit]):
            others = _others(table, item)
            sort_key = [Code(content(item[name])) for name in sort]
            shown = Code(text) if position == 0 else ""
            rows.append([shown, *sort_key, Plain(others)])
        if len(members) > limit:
            rows.append(["", f"… {len(members) - limit} more", ""])
    if len(groups) > limit:
        rows.append([f"… {len(groups) - limit} more partitions", *("" for _ in sort), ""])
    return Chart("Sample items by partition", [partition, *sort, "attributes"], rows)


def _others(table: TableMap, item: Item) -> str:
    """Render the attributes of an item, without those that the library composes for keys.

    If they are too long, those that are keys of an index are shown first, and others are cut.
    """
    hidden = {*table.attributes, *_composed(table, item)}
    names = [name for name in item if name not in hidden]
    text = _assignments(item, names)
    if len(text) <= MAX_ATTRIBUTES:
        return text
    keys = {name for index in table.indexes.values() for name in index.attributes}
    text = _assignments(item, sorted(names, key=lambda name: name not in keys))
    return text[: MAX_ATTRIBUTES - 1] + "…"


def _assignments(item: Item, names: Iterable[str]) -> str:
    return ", ".join(f"{name}={content(item[name])}" for name in names)


def _composed(table: TableMap, item: Item) -> set[str]:
    """Return the attributes of an item that the library composes for indexes."""
    entity = table.identify(item).stored
    return set() if entity is None else {name for key in entity.indexes for name in key.composed}


# -- why a pattern is efficient --------------------------------------------------------------------


def why_efficient(shape: Shape, table: TableMap) -> str:
    """Say in a few words what a pattern costs at most, and what it avoids."""
    requests = list(shape.requests)
    writes = [request for request in requests if request.operation not in READS]
    if not writes:
        return "; ".join(dict.fromkeys(_read(request, table) for request in requests))
    before = list(takewhile(lambda request: request is not writes[-1], requests))
    return "; ".join([*_reads_before(before, writes[-1]), *_write(writes[-1], reads=bool(before))])


def _read(shape: Shape, table: TableMap) -> str:
    if shape.operation == "Scan":
        return "not efficient: it reads the whole table"
    if shape.operation != "Query":
        return "point read by the whole primary key"
    text, partition = "one partition", {table.attributes[0]}
    if shape.indexes:
        partition = {*shape.indexes[0].partition}
        text += f" of an index{_contents(shape, table)}"
    (key,) = shape.keys
    assert isinstance(key, KeyCondition)
    if key.sort is not None and key.sort.comparison == "begins_with":
        text += ", by a prefix of the sort key"
    elif not set(key.attributes) <= partition:
        text += ", by a condition on the sort key"
    if shape.filters:
        text += "; a filter discards items after they are read"
    if isinstance(shape.extent, Paging) and isinstance(shape.extent.size, Expression):
        text += f"; page size {shape.page}"
    return text


def _contents(shape: Shape, table: TableMap) -> str:
    """Say which entities a sparse index contains, or only the partition that the query reads."""
    (index,) = shape.indexes
    keys = [
        (entity, key) for entity in table.entities for key in entity.indexes if key.index == index
    ]
    asked = [key for entity, key in keys if entity in shape.targets]
    found = {
        entity: entity.name
        for entity, key in keys
        if any(each.can_equal(each.partition_attributes, key.templates) for each in asked)
    }
    if len(found) == len(table.entities):
        return ""
    if len({entity for entity, _ in keys}) == 1:
        return f" that contains only {', '.join(found.values())}"
    return f", with items of {' and '.join(found.values())} only"


def _reads_before(reads: list[Shape], write: Shape) -> list[str]:
    """Say what is read before a write, and whether the write requires it to be unchanged."""
    if not reads:
        return []
    read = "a query" if any(each.operation == "Query" for each in reads) else "a point read"
    required = [fact for each in (write, *write.steps) for fact in each.requirements]
    is_guarded = any(isinstance(fact, Unchanged) for fact in required)
    guard = "; the write requires what was read to be unchanged" if is_guarded else ""
    return [f"{read} first{guard}"]


def _write(shape: Shape, *, reads: bool) -> list[str]:
    if shape.operation.startswith("Transact"):
        parts = ["all or nothing, by exact keys"]
    else:
        parts = ["one write by the exact key"]
    actions = (shape, *shape.steps)
    own = [each for each in actions if all(target in shape.targets for target in each.targets)]
    if any(Absent() in each.requirements for each in own):
        how = "a condition" if reads else "a condition, not a read,"
        parts.append(f"{how} prevents duplicates")
    count = len({index for each in actions for index in each.indexes})
    if shape.extent == Actions(None, Repeats.WHAT_HAS_CHANGED):
        parts.append("changes the keys of indexes that follow from what has changed")
    elif count > 0 or shape.operation in ("PutItem", "UpdateItem"):
        changed = {0: "no index", 1: "one index"}.get(count, f"{count} indexes")
        parts.append(f"changes keys of {changed}")
    return parts
