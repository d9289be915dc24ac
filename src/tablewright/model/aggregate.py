"""Aggregates: a root entity with its children, read as one typed value by one query.

    class OrderWithItems(Aggregate):
        order: Order = root()
        items: list[OrderItem] = children()

    OrderWithItems.of(Order.primary(customer_id, order_id))      Load[OrderWithItems]

A member that exists once is a `child()`; it is optional if its annotation is (`Payment | None`). A
member may itself be an aggregate, for several levels, or a projection, for some attributes only.
One member may be a `Page` instead of a list:

    class OrderPage(Aggregate):
        order: Order = root()
        items: Page[OrderLine] = children()

    OrderPage.of(Order.primary(customer_id, order_id)).page_size(20).after(cursor)
"""

from __future__ import annotations

import sys
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Never,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

import pydantic
from msgspec import Struct
from pydantic_core import core_schema

from tablewright.errors import DeclarationError
from tablewright.mapping.pydantic_bridge import core_schema_of, model_of
from tablewright.model.annotations import hints_of, refuse_unknown
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.aggregate_members import AggregateMap, Member, MemberForm
from tablewright.plan.reads.get import Get, GetByUnique
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.paged_load import LoadFound, load_of
from tablewright.plan.reads.query import First
from tablewright.plan.reads.query_parts import ShardedRange
from tablewright.plan.reads.range import Range, UnionRange

if TYPE_CHECKING:

    class Several(list[Any], Page[Any]):  # pyright: ignore[reportGeneralTypeIssues]  # never made
        """For type checkers, the type of `children()`: assignable to list[…] and Page[…] only."""


class _MemberField(Struct, frozen=True):
    """The declaration of a member."""

    kind: Literal["root", "child", "children"]


def root() -> Any:
    """Declare the root, which is the first member of the aggregate."""
    return _MemberField("root")


def child() -> Any:
    """Declare a member that exists once; `Payment | None` makes it optional."""
    return _MemberField("child")


def children() -> Several:
    """Declare a member that exists any number of times: `list[Item]`, or `Page[Item]`."""
    return _MemberField("children")  # type: ignore[return-value]  # the annotation names the type


@dataclass_transform(kw_only_default=True, field_specifiers=(root, child, children))
class Aggregate:
    """The base class of aggregates: a subclass declares the root and the members."""

    __aggregate__: ClassVar[AggregateMap]
    #: The members and their types.
    __members__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **unknown: Never) -> None:
        refuse_unknown(cls, Aggregate, unknown)
        super().__init_subclass__()
        hints = hints_of(cls, sys._getframe(1).f_locals)
        fields = {
            name: value for name, value in vars(cls).items() if isinstance(value, _MemberField)
        }
        members = [_member(cls, name, field, hints.get(name)) for name, field in fields.items()]
        kinds = [field.kind for field in fields.values()]
        if kinds[:1] != ["root"] or isinstance(members[0].kind, AggregateMap):
            raise DeclarationError(
                f"{cls.__name__} must begin with its root, an entity: order: Order = root()"
            )
        if "root" in kinds[1:]:
            raise DeclarationError(
                f"{cls.__name__} has one root, {members[0].field}; declare further members with "
                "child() or children()"
            )
        _check_pages(cls.__name__, members)
        root, *rest = members
        tables = {member.entity.table.name for member in members}
        if len(tables) > 1:
            raise DeclarationError(
                f"{cls.__name__}: its members are in the tables {', '.join(sorted(tables))}; one "
                "query reads one table: use members of one table"
            )

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
                raise TypeError(f"{kind.name} takes {', '.join(names)}; {given} was given")
            vars(self).update(members)

    @overload
    @classmethod
    def of(cls, root: Get[Any] | Range[Any, *tuple[Any, ...]]) -> Load[Self]: ...
    @overload
    @classmethod
    def of(cls, root: First[Any] | GetByUnique[Any]) -> LoadFound[Self]: ...
    @classmethod
    def of(cls, root: Any) -> Any:
        """Return the plan that loads the aggregate of a root.

        `root` selects it: by its key, by its key in an index, or as a plan that finds it.
        """
        kind = cls.__aggregate__
        if not isinstance(root, (Get, Range, First, GetByUnique)):
            raise DeclarationError(
                f"{cls.__name__}.of() takes a key, such as {kind.root.entity.name}.primary(…), not "
                f"{root!r}"
            )
        if root._entity is not kind.root.entity:
            raise DeclarationError(
                f"{cls.__name__}.of() takes a key of {kind.root.entity.name}, not of "
                f"{root._entity.name}"
            )
        if isinstance(root, (First, GetByUnique)):
            return LoadFound(kind, root)
        if isinstance(root, Range):
            _refuse_root_options(cls.__name__, root)
            load = load_of(kind, root._key, root._arguments)
        else:
            load = load_of(kind, root._entity.primary, root._arguments)
        return load.consistent() if root._is_consistent else load

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        fields = {name: (kind, ...) for name, kind in cls.__members__.items()}
        model = model_of(cls.__name__, fields)
        return core_schema_of(cls, model, handler, lambda values: cls(**values))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def _refuse_root_options(name: str, root: Range[Any, *tuple[Any, ...]]) -> None:
    options = {
        "union()": isinstance(root, UnionRange),
        "all_shards()": isinstance(root, ShardedRange),
        "a comparison": root._comparison is not None,
        "desc()": root._descending,
        "page_size()": root._size is not None,
        "limit()": root._total is not None,
        "filter()": root._filter is not None,
        "after()": root._cursor is not None,
        "before()": root._before is not None,
        "select()": bool(root._columns),
    }
    for what, given in options.items():
        if given:
            raise DeclarationError(
                f"{name}.of() does not take a range with {what}; desc(), limit(), page_size() and "
                f"after() are called on the aggregate: {name}.of(…).limit(…)"
            )


def _check_pages(name: str, members: list[Member]) -> None:
    """Raise DeclarationError for pages that one query cannot read."""
    pages = [member.field for member in members if member.form == "page"]
    if len(pages) > 1:
        raise DeclarationError(
            f"{name}: {' and '.join(pages)} are pages, but one query reads one page; declare the "
            "others as lists, or query them themselves"
        )
    for member in members:
        if not isinstance(member.kind, AggregateMap):
            continue
        if member.form == "page":
            raise DeclarationError(
                f"{name}.{member.field}: a page has entities or projections, not aggregates such "
                f"as {member.kind.name}, whose rows it could cut; declare it as a list"
            )
        if member.kind.paged is not None:
            raise DeclarationError(
                f"{name}.{member.field}: {member.kind.name} has a page, {member.kind.paged.field}, "
                "so it cannot be a member; declare that page as a list"
            )


def _member(cls: type, name: str, field: _MemberField, hint: Any) -> Member:
    optional = False
    form: MemberForm = "one"
    if field.kind == "children":
        if get_origin(hint) not in (list, Page):
            raise DeclarationError(
                f"{cls.__name__}.{name} = children() must be annotated list[…] or Page[…]"
            )
        form = "list" if get_origin(hint) is list else "page"
        (hint,) = get_args(hint)
    elif get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        optional = True
        (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
    names = ("__entity__", "__projection__", "__aggregate__")
    kind = next((found for each in names if (found := getattr(hint, each, None))), None)
    if kind is None:
        raise DeclarationError(
            f"{cls.__name__}.{name}: {hint!r} is neither an entity nor a projection nor an "
            "aggregate; annotate it with one of these"
        )
    return Member(name, kind, form, optional)
