"""Renames: those that are declared for one run, and those that are possible.

A rename is never guessed. `renamed_from=` in the design declares it for good; `--renamed
Order.status=state` declares it for one comparison, by setting `renamed_from` in the new
description. Names are the stored ones: types of items, and names of attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_description import (
    AttributeDescription,
    DesignDescription,
    EntityDescription,
    TableDesign,
    describe_former,
)
from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean


class Rename(Struct, frozen=True):
    """An entity, or an attribute of one, that has another name in the new version."""

    table: str
    #: The entity of an attribute, as the new version calls it; "" if the entity is renamed.
    entity: str
    before: str
    after: str

    @property
    def declaration(self) -> str:
        """The code that declares it in the design."""
        if self.entity:
            return f'attr(renamed_from="{self.before}")'
        return f'class {self.after}(Entity, …, renamed_from="{self.before}")'

    @property
    def option(self) -> str:
        """The option of `tablewright diff` that declares it for one run."""
        owner = f"{self.entity}." if self.entity else ""
        return f"--renamed {owner}{self.before}={self.after}"


def find_renames(old: DesignDescription, new: DesignDescription) -> list[Rename]:
    """Return what may have been renamed: one part is removed, and a similar one is added.

    Attributes are similar if they have the same type, entities if they have the same primary key.
    Of several similar attributes, those that are required like the removed one are returned.
    """
    found = list[Rename]()
    for table, before, after in _common_tables(old, new):
        found += _entity_renames(table, before, after)
        for name, entity in after.items():
            for former in _formers(name, entity, before).values():
                renames = _attribute_renames(table, name, former, entity)
                found += (each for each in renames if each not in found)
    return found


def _common_tables(
    old: DesignDescription, new: DesignDescription
) -> Iterator[tuple[str, Mapping[str, EntityDescription], Mapping[str, EntityDescription]]]:
    for table in sorted(old.tables.keys() & new.tables.keys()):
        before, after = old.tables[table].entities, new.tables[table].entities
        if before is not None and after is not None:
            yield table, before, after


def _formers(
    name: str, entity: EntityDescription, old: Mapping[str, EntityDescription]
) -> dict[str, EntityDescription]:
    """Return what an entity was in the old version: itself, or those that it is renamed from."""
    names = (name,) if name in old else entity.former_types
    return {each: old[each] for each in names if each in old}


def _entity_renames(
    table: str, old: Mapping[str, EntityDescription], new: Mapping[str, EntityDescription]
) -> Iterator[Rename]:
    taken = {name for each in new.values() for name in each.former_types}
    for before in sorted(old.keys() - new.keys() - taken):
        for after in sorted(new.keys() - old.keys()):
            if not _formers(after, new[after], old) and old[before].key == new[after].key:
                yield Rename(table, "", before, after)


def _attribute_renames(
    table: str, entity: str, old: EntityDescription, new: EntityDescription
) -> Iterator[Rename]:
    taken = {name for each in new.attributes.values() for name in each.former_names}
    added = [
        name
        for name in sorted(new.attributes.keys() - old.attributes.keys())
        if old.attributes.keys().isdisjoint(new.attributes[name].former_names)
    ]
    for before in sorted(old.attributes.keys() - new.attributes.keys() - taken):
        was = old.attributes[before]
        similar = [each for each in added if _kind(new.attributes[each]) == _kind(was)]
        alike = [each for each in similar if new.attributes[each].is_required == was.is_required]
        for after in alike or similar:
            yield Rename(table, entity, before, after)


def _kind(attribute: AttributeDescription) -> tuple[object, ...]:
    return attribute.type, attribute.stored, attribute.choices, attribute.role


def declare(new: DesignDescription, renames: Iterable[Rename]) -> DesignDescription:
    """Return the new version with these renames declared."""
    tables = dict(new.tables)
    for rename in renames:
        tables[rename.table] = _declare(tables[rename.table], rename)
    return DesignDescription(tables)


def _declare(table: TableDesign, rename: Rename) -> TableDesign:
    entities = dict(table.entities or {})
    if rename.entity:
        entity = entities[rename.entity]
        attribute = entity.attributes[rename.after]
        former = describe_former({*attribute.former_names, rename.before})
        attribute = replace(attribute, renamed_from=former)
        attributes = entity.attributes | {rename.after: attribute}
        entities[rename.entity] = replace(entity, attributes=attributes)
    else:
        entity = entities[rename.after]
        former = describe_former({*entity.former_types, rename.before})
        entities[rename.after] = replace(entity, renamed_from=former)
    return replace(table, entities=entities)


def read_renames(
    texts: Iterable[str], old: DesignDescription, new: DesignDescription
) -> list[Rename]:
    """Return the renames in texts such as `Order=Purchase` and `Order.status=state`.

    The entity of an attribute may have its old or its new name. Raise InvalidValue if the old
    version has no such part, the new one has none, or either still has the other name.
    """
    found = list[Rename]()
    # Entities first: an attribute of a renamed entity is found by both names.
    for text in sorted(texts, key=lambda text: "." in text):
        before, _, after = text.partition("=")
        if not before or not after:
            raise InvalidValue(
                f"--renamed {text}: write OLD=NEW, such as Order=Purchase or Order.status=state"
            )
        renames = list(_matching(before, after, old, declare(new, found)))
        if not renames:
            raise InvalidValue(f"--renamed {text}: {_problem(before, after, old, new)}")
        found += renames
    return found


def _matching(
    before: str, after: str, old: DesignDescription, new: DesignDescription
) -> Iterator[Rename]:
    for table, former, latter in _common_tables(old, new):
        if before in former and after in latter and before not in latter and after not in former:
            yield Rename(table, "", before, after)
        for name, entity in latter.items():
            renames = {
                Rename(table, name, attribute, after)
                for owner, was in _formers(name, entity, former).items()
                for prefix in (f"{name}.", f"{owner}.")
                if (attribute := before.removeprefix(prefix)) != before
                and attribute in was.attributes.keys() - entity.attributes.keys()
                and after in entity.attributes.keys() - was.attributes.keys()
            }
            yield from renames


def _problem(before: str, after: str, old: DesignDescription, new: DesignDescription) -> str:
    """Return why a text declares nothing."""
    removed, added = set[str](), set[str]()
    for _, former, latter in _common_tables(old, new):
        removed |= former.keys() - latter.keys()
        added |= latter.keys() - former.keys()
        for name, entity in latter.items():
            for was in _formers(name, entity, former).values():
                removed |= {f"{name}.{each}" for each in was.attributes.keys() - entity.attributes}
                added |= entity.attributes.keys() - was.attributes.keys()
    if before not in removed:
        hint = did_you_mean(before, removed) or _listed("; removed are ", removed)
        return f"no entity or attribute {before} is removed{hint}"
    hint = did_you_mean(after, added) or _listed("; added are ", added)
    return f"no entity or attribute {after} is added in its place{hint}"


def _listed(title: str, names: Iterable[str]) -> str:
    text = ", ".join(sorted(names))
    return f"{title}{text}" if text else ""
