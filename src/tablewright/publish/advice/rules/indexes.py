"""Rules of indexes: which of them cost more than they give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tablewright.encoding.items import item_size
from tablewright.limits import MAX_INCLUDED_ATTRIBUTES
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.template import templates_can_collide
from tablewright.publish.advice.design_facts import PatternUse, TableFacts
from tablewright.publish.advice.finding import RuleProblem, rule


@rule("unused-index", "warning", "An index that no pattern reads")
def unused_index(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find indexes that no pattern reads."""
    if not facts.uses:
        return  # the patterns of the table are not declared
    for index in facts.table.indexes.values():
        if facts.readers(index):
            continue
        entities = dict.fromkeys(entity for entity, _ in facts.keys_in(index))
        writes = [f"{each.name} {facts.write_units(each)}" for each in entities]
        cost = f"; its write units for each item: {', '.join(writes)}" if writes else ""
        yield RuleProblem(
            facts.place_of_index(index),
            facts.index_name(index),
            f"no access pattern reads it, but writes go to it, too{cost}",
            f"delete {facts.index_code(index)}, or declare the pattern that reads it",
        )


@rule("duplicate-index", "warning", "Two indexes with one key")
def duplicate_index(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find indexes with the key of another one."""
    for first, second in combinations(facts.table.indexes.values(), 2):
        if _key_of(first) != _key_of(second):
            continue
        projection = _together(first, second)
        yield RuleProblem(
            facts.place_of_index(second),
            facts.index_name(second),
            f"it has the key of {facts.index_name(first)}, so each write of an item in them costs "
            "one index write more than it needs",
            f"keep one: {facts.index_code(first, f'…, project={projection}')}",
        )


def _key_of(index: IndexMap) -> tuple[object, ...]:
    return index.kind, index.partition, index.sort


@rule("mergeable-indexes", "note", "Two indexes that could be one")
def mergeable_indexes(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find global indexes that one overloaded index could replace: no item is in both."""
    for first, second in combinations(facts.table.indexes.values(), 2):
        if not (_is_overloadable(facts, first) and _is_overloadable(facts, second)):
            continue
        if first.projection != second.projection or _can_collide(facts, first, second):
            continue
        types = [[facts.table.key_types[n] for n in each.attributes] for each in (first, second)]
        if types[0] != types[1]:
            continue
        ours = {entity.name for entity, _ in facts.keys_in(first)}
        theirs = {entity.name for entity, _ in facts.keys_in(second)}
        if ours & theirs:
            continue
        yield RuleProblem(
            facts.place_of_index(second),
            facts.index_name(second),
            f"no item is in it and in {facts.index_name(first)}: one contains {_list(ours)}, the "
            f"other {_list(theirs)}; one index can serve both, and a table has at most 20",
            f"in {_list(theirs)}: index({facts.index_name(first)}, …) instead of "
            f"index({facts.index_name(second)}, …)",
        )


@rule("wide-projection", "warning", "An index with more than is read of it")
def wide_projection(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find indexes that contain whole items although every reader selects some attributes."""
    for index in facts.table.indexes.values():
        if index.projection != "ALL":
            continue
        selected = [_selected(use, index) for use in facts.readers(index)]
        if not selected or None in selected:
            continue
        keys = {*facts.table.attributes, *index.attributes}
        names = {name for each in selected if each for name in each} - keys
        entities = list(dict.fromkeys(entity for entity, _ in facts.keys_in(index)))
        stored = {each.stored for entity in entities for each in entity.attributes.values()}
        if stored - keys <= names or len(names) > MAX_INCLUDED_ATTRIBUTES:
            continue
        items = [item for entity in entities for item in facts.items(entity)]
        whole = sum(map(item_size, items))
        part = sum(item_size({n: v for n, v in i.items() if n in keys | names}) for i in items)
        numbers = (
            f"; with these alone, a row has {part // len(items)} bytes instead of "
            f"{whole // len(items)}"
            if items
            else ""
        )
        project = repr(tuple(sorted(names))).replace("'", '"') if names else '"KEYS_ONLY"'
        yield RuleProblem(
            facts.place_of_index(index),
            facts.index_name(index),
            f"it contains whole items, and its readers select {', '.join(sorted(names)) or 'keys'}"
            f"{numbers}; an update of another attribute would not write to it",
            facts.index_code(index, f"…, project={project}"),
        )


def _selected(use: PatternUse, index: IndexMap) -> set[str] | None:
    """Return the stored attributes that a pattern reads of an index; None if not only some."""
    names: set[str] = set()
    ranges = [each for each in use.ranges if each.key.index == index]
    for each in ranges:
        if not each.shape.attributes and each.result != "count":
            return None
        entity = each.entity
        names.update(each.shape.attributes)
        if each.filter is not None:
            names |= {entity.attributes[name].stored for name in each.filter.attributes}
        if entity.table.type_attribute is not None:
            names.add(entity.table.type_attribute)  # it tells the items of other entities apart
    return names if ranges else None


def _is_overloadable(facts: TableFacts, index: IndexMap) -> bool:
    """Return whether all its keys are composed for it alone, so that others can be added."""
    keys = facts.keys_in(index)
    are_composed = [set(key.composed) == set(index.attributes) for _, key in keys]
    return index.kind == "global" and bool(keys) and all(are_composed)


def _can_collide(facts: TableFacts, first: IndexMap, second: IndexMap) -> bool:
    """Return whether items of both indexes could be in one partition."""
    return any(
        templates_can_collide(key.partition, other.partition)
        for _, key in facts.keys_in(first)
        for _, other in facts.keys_in(second)
    )


def _together(first: IndexMap, second: IndexMap) -> str:
    """Return the projection that contains what two indexes contain, as code."""
    if "ALL" in (first.projection, second.projection):
        return '"ALL"'
    names = dict.fromkeys(
        name
        for each in (first.projection, second.projection)
        if not isinstance(each, str)
        for name in each
    )
    return repr(tuple(names)) if names else '"KEYS_ONLY"'


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))


RULES = (unused_index, duplicate_index, mergeable_indexes, wide_projection)
