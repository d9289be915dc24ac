"""Key changes: which keys in indexes two versions of a design compose in another way.

    old                    new                     a stored text of the old version
    "STATE" / state        "STATE" / state         is parsed by both
    "STATE" / state        "STATUS" / state        cannot be parsed by the new one
    "STATE" / state        state                   is parsed as another value: `STATE#open`

A value that is stored only in keys (`key_only=True`) is read from keys that are the same in both
versions. If there is none, the change is refused: the value would be lost or misread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_description import (
    EntityDescription,
    PartDescription,
    TableDesign,
    TemplateDescription,
)
from tablewright.errors import MigrationRefused
from tablewright.mapping.table import TableMap

if TYPE_CHECKING:
    from tablewright.plan.migration.renames import Renames, TypePair


class IndexKeyChanges(Struct, frozen=True):
    """The index keys of an entity that two versions have, by their stored names."""

    #: The keys of these attributes are composed in another way: one version cannot parse the texts
    #: of the other one, or finds other values in them.
    changed: frozenset[str]
    same: frozenset[str]


def key_changes(
    source: TableDesign, target: TableDesign, renames: Renames
) -> dict[TypePair, IndexKeyChanges]:
    """Return how the keys in indexes differ, by the types of the items in source and target."""
    found: dict[TypePair, IndexKeyChanges] = {}
    after = target.entities or {}
    for name, entity in (source.entities or {}).items():
        for pair in ((name, current) for current in renames.targets_of(name) if current in after):
            renamed = {old: new for new, old in renames.attributes.get(pair, {}).items()}
            old, new = _templates(entity, renamed), _templates(after[pair[1]], {})
            both = frozenset(old) & frozenset(new)
            same = frozenset(name for name in both if _are_same(old[name], new[name]))
            found[pair] = IndexKeyChanges(both - same, same)
    return found


def _templates(
    entity: EntityDescription, names: Mapping[str, str]
) -> dict[str, list[TemplateDescription]]:
    """Return the templates of each key attribute in indexes; `names` are new names of parts."""
    found: dict[str, list[TemplateDescription]] = {}
    for place in entity.places.values():
        for template in (each for key in place for each in key.templates):
            pieces = tuple(
                replace(piece, attribute=names.get(piece.attribute, piece.attribute))
                if isinstance(piece, PartDescription)
                else piece
                for piece in template.pieces
            )
            found.setdefault(template.name, []).append(replace(template, pieces=pieces))
    return found


def _are_same(old: list[TemplateDescription], new: list[TemplateDescription]) -> bool:
    """Return whether two versions parse the texts of a key attribute in the same way.

    A part that only one version stores outside of keys has a name there, and a number in the other.
    """

    def form(template: TemplateDescription) -> TemplateDescription:
        pieces = (
            replace(each, attribute="") if isinstance(each, PartDescription) else each
            for each in template.pieces
        )
        return replace(template, pieces=tuple(pieces))

    pairs = list(zip(sorted(old, key=repr), sorted(new, key=repr), strict=False))
    return len(old) == len(new) and all(
        form(one) == form(other)
        and all(
            a.attribute == b.attribute or a.attribute.isdigit() != b.attribute.isdigit()
            for a, b in zip(one.parts, other.parts, strict=True)
        )
        for one, other in pairs
    )


def refuse_unreadable_keys(table: TableMap, changes: Mapping[TypePair, IndexKeyChanges]) -> None:
    """Raise MigrationRefused if values are stored only in keys that are composed in another way."""
    problems: list[str] = []
    entities = {entity.type_name: entity for entity in table.entities}
    for (_, target), keys in changes.items():
        entity = entities[target]
        for name in dict.fromkeys(name for name, _ in entity.only_in_indexes):
            sources = {key for each, key in entity.only_in_indexes if each == name}
            if sources & keys.changed and not sources & keys.same:
                problems.append(
                    f"{entity.name}.{name}: its values are stored only in "
                    f"{', '.join(sorted(sources & keys.changed))}, which is composed in another way"
                )
    if problems:
        listed = "\n  ".join(problems)
        raise MigrationRefused(
            f"the new version cannot read these values of stored items:\n  {listed}\n"
            "Store the attribute first: declare it without key_only=True and with fill=, migrate, "
            "and change the key afterwards"
        )
