"""Connecting: find the other entity of a link, and check that they fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.links import AwaitedLink, CascadeMap, LinkMap
from tablewright.mapping.variants import VariantMap, VariantsMap
from tablewright.model.bound_keys import BoundIndex, BoundKey
from tablewright.model.rules.key_attributes import key_attributes
from tablewright.model.rules.links import Cascade, ReferenceTo
from tablewright.plan.reads.include import LinkRef
from tablewright.plan.writes.effect import forget_affected


class AwaitedCascade(Struct, frozen=True):
    """A cascade that waits for the declaration of its children."""

    name: str
    entity: EntityMap
    declared: Cascade

    @property
    def where(self) -> str:
        return f"{self.entity.name}.{self.name}: {self.declared.label}"

    @property
    def problem(self) -> str:
        return _undeclared(self.where, self.entity, self.declared.child_name)


def _undeclared(where: str, entity: EntityMap, name: str) -> str:
    """Return the message for a name that is never declared."""
    table = entity.table
    names = [each.name for each in table.entities]
    return (
        f"{where}: no entity of {table.owner} is named {name}; declare it with "
        f"table={table.owner}, or import the module that does{did_you_mean(name, names)}"
    )


class AwaitedReference(Struct, frozen=True):
    """A reference that waits for the declaration of what it refers to; `declared` is a ReferenceTo.

    It is not annotated so, because for type checkers a ReferenceTo in a class is a descriptor.
    """

    name: str
    entity: EntityMap
    declared: Any

    @property
    def where(self) -> str:
        return f"{self.entity.name}.{self.name}: reference({self.declared.target_name})"

    @property
    def problem(self) -> str:
        return _undeclared(self.where, self.entity, self.declared.target_name)


def connect_links(entity: EntityMap, members: dict[str, Any]) -> None:
    """Connect the links of a new entity, and those that wait for it; raise DeclarationError."""
    table = entity.table
    own: list[AwaitedCascade | AwaitedReference] = []
    for name, each in members.items():
        if isinstance(each, Cascade):
            own.append(AwaitedCascade(name, entity, each))
        elif isinstance(each, ReferenceTo):
            own.append(AwaitedReference(name, entity, each))
    for each in own:
        if isinstance(each, AwaitedCascade) and isinstance(entity, VariantsMap | VariantMap):
            raise DeclarationError(
                f"{each.where}: {entity.name} has variants or is one; declare it in an entity "
                "without variants"
            )
    if isinstance(entity, VariantMap) and entity.base is not None:
        entity.links = entity.base.links
    waiting: list[AwaitedLink] = [*table.awaited_links, *own]
    table.awaited_links = []
    for position, awaited in enumerate(waiting):
        try:
            if isinstance(awaited, AwaitedReference):
                is_connected = _connect_reference(awaited, entity)
            else:
                assert isinstance(awaited, AwaitedCascade)
                child = _declared_child(awaited, entity)
                is_connected = child is not None
                if child is not None:
                    _connect(awaited, child)
            if not is_connected:
                table.awaited_links.append(awaited)
        except DeclarationError:
            table.awaited_links += waiting[position + 1 :]
            raise


def _declared_child(awaited: AwaitedCascade, newest: EntityMap) -> EntityMap | None:
    """Return the entity of the children; None if it is not declared yet."""
    child, table = awaited.declared.child, awaited.entity.table
    if isinstance(child, str):
        return declared_entity(awaited.declared.child_name, newest)
    entity: EntityMap = (
        child._entity if isinstance(child, BoundIndex | BoundKey) else child.__entity__
    )
    if entity.table is not table:
        raise DeclarationError(
            f"{awaited.where}: {entity.name} is in the table {entity.table.owner}, and what "
            f"belongs to an item is in its own table, {table.owner}"
        )
    return entity


def declared_entity(name: str, newest: EntityMap) -> EntityMap | None:
    """Return the entity with a name in the table of another one; None if there is none yet."""
    table = newest.table
    bases = (each.base for each in table.entities if each.base is not None)
    return next((each for each in (newest, *table.entities, *bases) if each.name == name), None)


def _connect_reference(awaited: AwaitedReference, newest: EntityMap) -> bool:
    """Connect a reference with its target; return False if that is not declared yet."""
    entity, declared = awaited.entity, awaited.declared
    if isinstance(declared.target, str):
        target = declared_entity(declared.target, newest)
    else:
        target = declared.target.__entity__
    if target is None:
        return False
    if target.table is not entity.table:
        raise DeclarationError(
            f"{awaited.where}: {target.name} is in the table {target.table.owner}; an entity "
            f"refers to items of its own table, {entity.table.owner}"
        )
    sources = linked_attributes(awaited.where, entity, target, declared.by)
    link = LinkMap(f"{entity.name}.{awaited.name}", entity, target, sources)
    for kind in {entity, *entity.kinds}:
        kind.links += (link,)
    setattr(entity.type, awaited.name, LinkRef(link))
    forget_affected()
    return True


def _connect(awaited: AwaitedCascade, child: EntityMap) -> None:
    """Connect a cascade with its children."""
    parent, where, on_delete = awaited.entity, awaited.where, awaited.declared.on_delete
    if (child.base or child) is parent:
        raise DeclarationError(f"{where}: an item cannot belong to one of its own entity")
    if isinstance(child, VariantsMap):
        raise DeclarationError(
            f"{where}: {child.name} has variants, which are found each by itself; declare it for "
            "each of them"
        )
    if on_delete == "delete" and not child.is_deletable:
        raise DeclarationError(
            f"{where}: {child.name} is write-once, so it is never deleted; declare "
            f"class {child.name}(…, deletable=True), or use restrict(…)"
        )
    sources = linked_attributes(where, child, parent, awaited.declared.by)
    link = LinkMap(f"{parent.name}.{awaited.name}", child, parent, sources)
    key, bound = _key_of_children(awaited, child, sources)
    if on_delete == "detach":
        _check_detached(where, child, link)
    parent.cascades += (CascadeMap(link, key, bound, on_delete),)
    child.links += (link,)
    forget_affected()


def linked_attributes(
    where: str, entity: EntityMap, target: EntityMap, by: Sequence[Any]
) -> dict[str, str]:
    """Return the attribute of an entity for each attribute of the target's key."""
    derived = [each.label for each in target.primary.parameters if not _shows_value(each)]
    if derived:
        raise DeclarationError(
            f"{where}: the key of {target.name} contains {derived[0]}, which is made from a value "
            "and does not show it; use the attribute itself in the key"
        )
    return key_attributes(where, entity, target, by)


def _key_of_children(
    awaited: AwaitedCascade, child: EntityMap, sources: dict[str, str]
) -> tuple[KeyMap, tuple[str, ...]]:
    """Return the key by which the children of one parent are found, and what it takes of it."""
    declared = awaited.declared.child
    if isinstance(declared, BoundIndex | BoundKey):
        names = [declared._key.name.partition(".")[2]]
    else:
        named = awaited.declared.written.partition(".")[2]
        names = [named] if named else []
    keys = [child.primary, *child.indexes]
    by_name = {each.name.partition(".")[2]: each for each in keys}
    for name in names:
        if name not in by_name:
            raise DeclarationError(
                f"{awaited.where}: {child.name} has no key {name!r}{did_you_mean(name, by_name)}"
            )
    theirs = {ours: parent for parent, ours in sources.items()}
    for key in [by_name[name] for name in names] or keys:
        bound = _bound_parts(key, theirs)
        if bound is not None:
            return key, bound
    wanted = ", ".join(sources.values())
    shown = "; ".join(f"{each.name}: {each.show()}" for each in keys)
    raise DeclarationError(
        f"{awaited.where}: no key of {child.name} begins with {wanted}, and without when= and "
        f"optional parts, so one query cannot find what belongs to one {awaited.entity.name}. "
        f"Declare an index that does. Its keys are {shown}"
    )


def _bound_parts(key: KeyMap, theirs: dict[str, str]) -> tuple[str, ...] | None:
    """Return the attributes of the parent that begin a key; None if it does not find them."""
    if key.when is not None:
        return None
    bound = []
    for part in key.parameters:
        if part.attribute not in theirs or not _shows_value(part):
            break
        bound.append(theirs[part.attribute])
    if len(bound) < key.partition_arity or {*bound} != {*theirs.values()}:
        return None
    # An item that lacks another part of the key is not in the index.
    rest = key.parameters[len(bound) :]
    return None if any(part.notation.can_be_none for part in rest) else tuple(bound)


def _shows_value(part: KeyPart) -> bool:
    """Whether a part of a key has another text for each value of its attribute."""
    return part.is_exact and part.notation.derive is None


def _check_detached(where: str, child: EntityMap, link: LinkMap) -> None:
    """Raise DeclarationError unless the link can be removed from the children."""
    for name in sorted(link.names):
        attribute = child.attributes[name]
        if (
            not attribute.converter.optional
            or name in child.primary.depends_on
            or attribute.is_immutable
            or child.is_write_once
        ):
            raise DeclarationError(
                f"{where}: {child.name}.{name} cannot be removed; annotate it with … | None, and "
                "use neither the primary key nor immutable=True for it, or use cascade(…)"
            )
