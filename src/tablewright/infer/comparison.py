"""Comparison: the differences between a design and the items of a table.

The given design is compared with a draft, which is inferred from the items. An entity of one and an
entity of the other are the same if they share items. Items are compared with the given design as
`check-items` does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.values import Item
from tablewright.verify import compare_stored

#: How many different problems of its items are listed for an entity.
_MOST_PROBLEMS = 3


class Disagreement(Struct, frozen=True):
    """One way in which a design and the items differ."""

    #: The entity of the design; "" if it has none for these items.
    entity: str
    problem: str
    #: The number of items of the sample.
    items: int


def compare(design: TableMap, draft: TableMap, items: Iterable[Item]) -> list[Disagreement]:
    """Return where a design disagrees with items, and with the draft that they give."""
    groups: dict[tuple[EntityMap | None, EntityMap | None], list[Item]] = defaultdict(list)
    for item in items:
        own, theirs = design.identify(item), draft.identify(item)
        if own.unique is None and not own.is_record and theirs.unique is None:
            groups[_base(own.entity), _base(theirs.entity)].append(item)
    return [each for pair, group in groups.items() for each in _compare(design, *pair, group)]


def _base(entity: EntityMap | None) -> EntityMap | None:
    return entity if entity is None else entity.base or entity


def _compare(
    table: TableMap, own: EntityMap | None, drafted: EntityMap | None, items: list[Item]
) -> Iterator[Disagreement]:
    count = len(items)
    if own is None:
        unknown = "nor does the draft explain it"
        what = unknown if drafted is None else f"drafted as {drafted.name}"
        yield Disagreement(
            "", f"no entity has a key like {table.show_key(items[0])}, {what}", count
        )
        return
    if drafted is not None:
        for problem in _keys(own, drafted):
            yield Disagreement(own.name, problem, count)
    yield from _attributes(own, items)
    report = compare_stored(table, items, shown=count)
    problems = Counter(each.problem for each in report.differences if each.entity == own.name)
    shown = problems.most_common(_MOST_PROBLEMS)
    for problem, number in shown:
        yield Disagreement(own.name, problem, number)
    rest = problems.total() - sum(number for _, number in shown)
    if rest:
        yield Disagreement(own.name, "other keys and values do not match, either", rest)


def _attributes(entity: EntityMap, items: list[Item]) -> Iterator[Disagreement]:
    table = entity.table
    keys = {name for key in (entity.primary, *entity.indexes) for name in key.templates}
    kinds = [kind for kind in entity.kinds if kind is not entity] or [entity]
    declared = {each.stored: each for kind in kinds for each in kind.attributes.values()}
    index_keys = {name for index in table.indexes.values() for name in index.attributes}
    known = {*declared, *keys, *index_keys, *filter(None, table.attributes), table.type_attribute}
    counts = Counter(name for item in items for name in item)
    for name, count in counts.items():
        if name not in known:
            yield Disagreement(entity.name, f"the attribute {name!r} is not declared", count)
    for stored, attribute in declared.items():
        if not attribute.is_key_only and not counts[stored]:
            problem = f"no item has the attribute {stored!r} ({attribute.name})"
            yield Disagreement(entity.name, problem, len(items))


def _keys(own: EntityMap, drafted: EntityMap) -> Iterator[str]:
    ours, theirs = key_forms(own, _all(own)), key_forms(drafted, _all(drafted))
    optional = {
        name
        for key in _all(own)
        for name, template in key.templates.items()
        if any(part.can_be_absent for part in template.parts)
    }
    for name in dict.fromkeys([*ours, *theirs]):
        here, there = ours.get(name), theirs.get(name)
        if here is None:
            yield f"items have {name}, as {_shown(there)}, which is not declared"
        elif there is None:
            yield f"{name} is {_shown(here)}, but items do not have it"
        elif here != there and not (name in optional and there < here):
            yield f"{name} is {_shown(here)}, where the items give {_shown(there)}"


def _all(entity: EntityMap) -> list[KeyMap]:
    return [entity.primary, *entity.indexes]


def _shown(forms: frozenset[str] | None) -> str:
    return " or ".join(sorted(forms or ()))


def key_forms(entity: EntityMap, keys: Iterable[KeyMap]) -> dict[str, frozenset[str]]:
    """Return the templates of each key attribute, in a form that two designs can share.

    The parts are stored attributes, `ORDER#{lower(orderId)}`; those that are only in keys are
    numbered: `ORDER#{1}`.
    """
    templates: dict[str, list[Template]] = defaultdict(list)
    for key in keys:
        for name, template in key.templates.items():
            templates[name].append(template)
    numbers: dict[str, int] = {}

    def part(piece: KeyPart) -> str:
        attribute = entity.attributes[piece.attribute]
        if attribute.is_key_only:
            return f"{{{numbers.setdefault(piece.attribute, len(numbers) + 1)}}}"
        return f"{{{piece.form.replace('{}', attribute.stored)}}}"

    def shown(name: str, template: Template) -> Iterator[str]:
        """Yield the forms of a key: two, if its last part is optional."""
        if template.natural is not None:
            yield f"{{{name}}}"
            return
        found = ""
        for piece in template.pieces:
            if isinstance(piece, str):
                found += piece
            elif piece.inner is None:
                found += part(piece)
            else:
                yield found
                found += piece.prefix + part(piece.inner)
        yield found

    return {
        name: frozenset(form for template in each for form in shown(name, template))
        for name, each in templates.items()
    }
