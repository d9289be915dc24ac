"""Aggregates: a root and what belongs to it, as one typed value from one query.

    class OrderWithItems(Aggregate):
        order: Order = one()
        items: list[OrderItem] = many()

    OrderWithItems.of(Order.primary(customer_id, order_id))      Load[OrderWithItems]

The first `one()` is the root. A member may be an aggregate of its own, for several levels.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

import pydantic
from pydantic_core import core_schema

from tablewright.errors import ModelError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.schema import core_schema_of, model_of
from tablewright.plan.aggregate import AggregateMap, Load, LoadFound, Member
from tablewright.plan.get import Fetch
from tablewright.plan.lookup import Lookup
from tablewright.plan.query import First
from tablewright.plan.range import Range


class _Field:
    def __init__(self, many: bool) -> None:
        self.many = many


def one() -> Any:
    """A member that is there once; the first is the root."""
    return _Field(many=False)


def many() -> list[Any]:
    """A member that is there any number of times."""
    return _Field(many=True)  # type: ignore[return-value]  # the annotation says of what


@dataclass_transform(kw_only_default=True, field_specifiers=(one, many))
class Aggregate:
    """A root and what belongs to it: subclass it, and name the members."""

    __aggregate__: ClassVar[AggregateMap]
    #: The members and their types.
    __members__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        hints = _hints(cls, sys._getframe(1).f_locals)
        members = [
            _member(cls, name, value, hints.get(name))
            for name, value in vars(cls).items()
            if isinstance(value, _Field)
        ]
        if not members or members[0].many or not isinstance(members[0].kind, EntityMap):
            raise ModelError(f"{cls.__name__} begins with its root: order: Order = one()")
        root, *rest = members
        tables = {member.entity.table.name for member in members}
        if len(tables) > 1:
            raise ModelError(f"{cls.__name__}: its members are in several tables, {tables}")

        def build(values: dict[str, Any]) -> Any:
            return cls(**values)

        cls.__aggregate__ = AggregateMap(cls.__name__, build, root, tuple(rest))
        cls.__members__ = {member.field: hints[member.field] for member in members}

    if not TYPE_CHECKING:  # the checkers make the signature from the members

        def __init__(self, /, **members: Any) -> None:
            kind = self.__aggregate__
            names = [member.field for member in (kind.root, *kind.members)]
            if sorted(members) != sorted(names):
                given = ", ".join(members) or "nothing"
                raise TypeError(f"{kind.name} has {', '.join(names)}; {given} was given")
            vars(self).update(members)

    @overload
    @classmethod
    def of(cls, root: Fetch[Any] | Range[Any, *tuple[Any, ...]]) -> Load[Self]: ...
    @overload
    @classmethod
    def of(cls, root: First[Any] | Lookup[Any]) -> LoadFound[Self]: ...
    @classmethod
    def of(cls, root: Any) -> Any:
        """The aggregate of this root: a key, a place in an index, or a root that is looked up."""
        kind = cls.__aggregate__
        if not isinstance(root, (Fetch, Range, First, Lookup)):
            raise ModelError(
                f"{cls.__name__}.of() takes a key, such as {kind.root.entity.name}.primary(…), not "
                f"{root!r}"
            )
        if root.entity is not kind.root.entity:
            raise ModelError(
                f"{cls.__name__}.of() takes {kind.root.entity.name}, not {root.entity.name}"
            )
        if isinstance(root, (First, Lookup)):
            return LoadFound(kind, root)
        if isinstance(root, Range):
            _refuse_what_a_root_has_not(cls.__name__, root)
            load: Load[Any] = Load(kind, root.key, root.arguments)
        else:
            load = Load(kind, root.entity.primary, root.arguments)
        return load.consistent() if root.is_consistent else load

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        fields = {name: (kind, ...) for name, kind in cls.__members__.items()}
        model = model_of(cls.__name__, fields)
        return core_schema_of(cls, model, handler, lambda values: cls(**values))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]  # its members change

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def _refuse_what_a_root_has_not(name: str, root: Range[Any, *tuple[Any, ...]]) -> None:
    asked = {
        "a comparison": root.comparison is not None,
        "newest_first()": root.descending,
        "limit()": root.size is not None,
        "filter()": root.condition is not None,
        "resume()": root.cursor is not None,
        "select()": bool(root.columns),
    }
    for what, given in asked.items():
        if given:
            raise ModelError(
                f"{name}.of() takes a place in an index alone, without {what}; newest_first() and "
                f"limit() are the aggregate's: {name}.of(…).limit(…)"
            )


def _hints(cls: type, local: Mapping[str, Any]) -> dict[str, Any]:
    module = sys.modules.get(cls.__module__)
    names = {**vars(builtins), **(vars(module) if module else {}), **local}
    hints = {}
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        hints[name] = eval(annotation, names) if isinstance(annotation, str) else annotation
    return hints


def _member(cls: type, name: str, field: _Field, hint: Any) -> Member:
    optional = False
    if field.many:
        if get_origin(hint) is not list:
            raise ModelError(f"{cls.__name__}.{name} = many() is annotated list[…]")
        (hint,) = get_args(hint)
    elif get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        optional = True
        (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
    kind = getattr(hint, "__entity__", None) or getattr(hint, "__aggregate__", None)
    if kind is None:
        raise ModelError(f"{cls.__name__}.{name}: {hint!r} is neither an entity nor an aggregate")
    return Member(name, kind, field.many, optional)
