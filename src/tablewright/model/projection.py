"""Projections: classes that list attributes of an entity, for queries that read only these.

    class OrderLine(Projection[Order]):
        order_id: str
        total: Decimal

    db.run(Order.timeline("C1").select(OrderLine))       Page[OrderLine]

Each name is an attribute of the entity, with the same type; anything else raises DeclarationError
when the class is defined. A projection is a frozen dataclass.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Generic, Never, TypeVar, dataclass_transform, get_args, get_origin

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.paths import without_none
from tablewright.mapping.pydantic_bridge import unannotated
from tablewright.model.annotations import hints_of, refuse_unknown
from tablewright.model.declaration import EntityDeclaration
from tablewright.plan.reads.projection import ProjectionMap, ProjectionRow

E = TypeVar("E")


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Projection(ProjectionRow, Generic[E]):
    """The base class of projections: a subclass lists attributes of the entity `E`."""

    def __init_subclass__(cls, **unknown: Never) -> None:
        refuse_unknown(cls, Projection, unknown)
        super().__init_subclass__()
        declaration = _entity_of(cls)
        hints = hints_of(cls, sys._getframe(1).f_locals)
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        inherited = getattr(cls, "__projection__", None)
        columns = {} if inherited is None else {each.name: each for each in inherited.columns}
        for name, hint in hints.items():
            _check(cls, declaration, name, hint)
            columns[name] = getattr(declaration.owner, name)
        if not columns:
            raise DeclarationError(
                f"{cls.__name__} lists no attribute; write its names with their types, as in "
                f"{declaration.name}"
            )
        names = tuple(columns)

        def build(values: list[Any]) -> Any:
            return cls(**dict(zip(names, values, strict=True)))

        entity = declaration.owner.__entity__  # type: ignore[attr-defined]
        cls.__projection__ = ProjectionMap(cls.__name__, entity, tuple(columns.values()), build)


def _entity_of(cls: type) -> EntityDeclaration:
    """Return the declaration of the entity in `Projection[…]`."""
    for base in cls.__mro__:
        for written in vars(base).get("__orig_bases__", ()):
            if get_origin(written) is Projection:
                (owner,) = get_args(written)
                found = getattr(owner, "__declaration__", None)
                if isinstance(found, EntityDeclaration):
                    return found
    raise DeclarationError(
        f"{cls.__name__}: write the entity, which has a table: "
        f"class {cls.__name__}(Projection[Order])"
    )


def _check(cls: type, declaration: EntityDeclaration, name: str, hint: Any) -> None:
    """Raise DeclarationError unless the entity has the attribute, with this type."""
    where = f"{cls.__name__}.{name}"
    if name not in declaration.kinds:
        near = did_you_mean(name, declaration.kinds)
        raise DeclarationError(f"{where}: {declaration.name} has no attribute {name!r}{near}")
    if name in vars(cls):
        raise DeclarationError(f"{where}: leave the value out; an item without one has the default")
    kind = declaration.kinds[name]
    is_same = without_none(hint) == without_none(kind)
    if not is_same or (_has_none(kind) and not _has_none(hint)):
        raise DeclarationError(
            f"{where}: the annotation is {_shown(hint)}, but {declaration.name}.{name} is "
            f"Attr[{_shown(kind)}]; write {name}: {_shown(kind)}"
        )


def _has_none(kind: Any) -> bool:
    return type(None) in get_args(unannotated(kind))


def _shown(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
