"""Compares an inferred design with the one that a table of the corpus was made from.

A draft is right if no key, no index and no boundary of an entity has to be edited: `mistakes` lists
what has to be. Irregular items may be of any entity of the draft, or of none, but they must not
have one of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tablewright.errors import TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tests.infer.corpus.generate import CorpusTable, EntityTemplate, Row

_PART = re.compile(r"\{([^}|]*)[^}]*\}")
_MEMBER = re.compile(r"\['(\w+)'\]").findall

#: The templates of each key attribute: `ORDER#{orderId}`, with `{1}` for what is only in keys.
Forms = Mapping[str, frozenset[str]]


def mistakes(table: CorpusTable, rows: Iterable[Row], draft: TableMap) -> list[str]:
    """Return what a user must edit in a draft."""
    found: list[str] = []
    wanted = table.type if table.is_typed else None
    if draft.type_attribute != wanted:
        found.append(f"the type attribute is {draft.type_attribute}, not {wanted}")
    drafted: dict[str, set[str]] = defaultdict(set)
    forms: dict[str, Forms] = {}
    for row in rows:
        if row.entity is None:
            continue
        kind = draft.identify(row.item)
        boundary = row.entity.boundary
        if kind.entity is None:
            drafted[boundary].add("nothing")
            continue
        entity = kind.entity.base or kind.entity
        if (kind.unique is not None) != ("unique" in row.entity.options):
            drafted[boundary].add("a sentinel" if kind.unique else f"the entity {entity.name}")
        elif kind.unique is not None:
            drafted[boundary].add(f"{entity.name}.{kind.unique.key.name}")
            forms[boundary] = key_forms(table, entity, [kind.unique.key])
        else:
            drafted[boundary].add(entity.name)
            forms[boundary] = key_forms(table, entity, [entity.primary, *entity.indexes])
            found += _difference(kind.entity, row)
    used = [name for names in drafted.values() for name in names]
    for boundary, names in drafted.items():
        if (
            len(names) > 1
            or used.count(*names) > 1
            or not names.isdisjoint(("nothing", "a sentinel"))
        ):
            found.append(f"{boundary} is {', '.join(sorted(names))}")
    found += [f"{e.name} has no items" for e in draft.entities if e.name not in used and not e.base]
    for template in table.entities:
        expected = expected_forms(table, template)
        made = forms.get(template.boundary, {})
        found += [
            f"{template.name}.{name} is {_shown(made, name)}, not {_shown(expected, name)}"
            for name in sorted({*expected, *made})
            if expected.get(name) != made.get(name)
        ]
    return list(dict.fromkeys(found))


def _difference(entity: EntityMap, row: Row) -> Iterable[str]:
    try:
        made = entity.encode(vars(entity.decode(row.item)))
    except TablewrightError as error:
        yield f"{entity.name}: an item cannot be read or written: {type(error).__name__}"
        return
    for name in sorted({*made, *row.item}):
        if made.get(name) != row.item.get(name):
            yield f"{entity.name}.{name} is not written as it was"


def _shown(forms: Forms, name: str) -> str:
    return " or ".join(sorted(forms.get(name, {"nothing"})))


def expected_forms(table: CorpusTable, entity: EntityTemplate) -> Forms:
    """Return the templates that an entity of the corpus has."""
    owners = [each for each in table.entities if each.name == entity.options.get("unique")]
    kinds = [name for each in (entity, *owners) for name in each.kinds]
    stored = {name.removesuffix("?") for name in kinds if not name.startswith("-")}
    templates: dict[str, list[str]] = defaultdict(list)
    for name, _, template in entity.keys:
        templates[name].append(template)
    numbers: dict[str, int] = {}

    def number(part: re.Match[str]) -> str:
        root = part[1].partition(".")[0]
        if root in stored:
            return f"{{{part[1]}}}"
        return f"{{{numbers.setdefault(part[1], len(numbers) + 1)}}}"

    found = {}
    for name in _key_names(table):
        if name in templates:
            found[name] = frozenset(_PART.sub(number, each) for each in templates[name])
        elif name in {kind.removesuffix("?") for kind in entity.kinds}:
            found[name] = frozenset({f"{{{name}}}"})
    indexes = [[name.partition(":")[0] for name in index[1:]] for index in table.indexes]
    keys = {name.partition(":")[0] for name in table.keys}
    # An index whose other key attribute no item of the entity has is none of its places.
    places = [
        set(names) - {"local"} for names in indexes if {*names} - {"local", table.type} <= {*found}
    ]
    return {name: form for name, form in found.items() if name in keys.union(*places)}


def key_forms(table: CorpusTable, entity: EntityMap, keys: Iterable[KeyMap]) -> Forms:
    """Return the templates that a drafted entity has."""
    templates: dict[str, list[Template]] = defaultdict(list)
    for key in keys:
        for name, template in key.templates.items():
            templates[name].append(template)
    numbers: dict[str, int] = {}

    def show(part: KeyPart) -> str:
        attribute = entity.attributes[part.attribute]
        if attribute.is_key_only:
            return f"{{{numbers.setdefault(part.attribute, len(numbers) + 1)}}}"
        members = "".join(f".{name}" for name in _MEMBER(part.label))
        return f"{{{attribute.stored}{members}}}"

    return {
        name: frozenset(
            f"{{{name}}}"
            if template.natural is not None
            else "".join(
                piece if isinstance(piece, str) else show(piece) for piece in template.pieces
            )
            for template in templates[name]
        )
        for name in _key_names(table)
        if name in templates and name != table.type
    }


def _key_names(table: CorpusTable) -> list[str]:
    names = [*table.keys, *(name for index in table.indexes for name in index[1:])]
    plain = (name.partition(":")[0] for name in names)
    return list(dict.fromkeys(name for name in plain if name != "local"))
