"""Include: a page, and what its results refer to, in one further request.

    Post.by_blog("b").page_size(20).include(Post.author)     Page[tuple[Post, User | None]]

    Query          the page
    BatchGetItem   the users, each once, in batches of 100

`Post.author` is a `LinkRef`: a function that returns the plan which gets the user of a post. So it
also works for one post, and for those of any list:

    Post.primary("7").then(Post.author)                      tuple[Post, User | None] | None
    batch_get([Post.author(post) for post in posts])         list[User | None]

This module must not know how references are declared.
"""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from tablewright.capacity import read_units
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.limits import MAX_BATCH_GET_KEYS
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.links import LinkMap
from tablewright.plan.explanation import item_key
from tablewright.plan.facts import Batches, UnitRange, items_read
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.shape import TYPICAL_PAGE, Shape, in_turn, typical_size

E = TypeVar("E")
T = TypeVar("T")


class LinkRef(Generic[E, T]):
    """What entities refer to: `Post.author(post)` returns the plan that gets it."""

    def __init__(self, link: LinkMap) -> None:
        self._link = link

    def __call__(self, instance: E, /) -> Get[T]:
        """Return the plan that gets what an entity refers to; InvalidValue if it refers to none."""
        arguments = self._link.target_arguments(vars(instance))
        if arguments is None:
            raise InvalidValue(
                f"{self._link.name}: this {self._link.entity.name} refers to no "
                f"{self._link.target.name}: {', '.join(sorted(self._link.names))} is None"
            )
        return Get(self._link.target, arguments)

    def __repr__(self) -> str:
        return f"{self._link.name}: {item_key(self._link.target.primary.symbolic().equal)}"


class Included(Plan[Page[tuple[E, T | None]]], Generic[E, T]):
    """A page of entities, each with what it refers to; None if that does not exist."""

    def __init__(self, query: Query[E], reference: LinkRef[E, T]) -> None:
        link = reference._link
        entity = query._entity
        is_own = link.entity in (entity, entity.base)
        if query._columns or len(query._entities()) > 1 or not is_own:
            raise DeclarationError(
                f"include() takes a reference of what the query returns, whole "
                f"{entity.name} items, not {reference!r}"
            )
        self._query = query
        self._link = link
        self._entity = entity

    def page_size(self, size: int) -> Self:
        """Limit the number of results on a page."""
        return self._replace(_query=self._query.page_size(size))

    def after(self, cursor: str | None) -> Self:
        """Continue after `cursor`; None starts from the beginning."""
        return self._replace(_query=self._query.after(cursor))

    def before(self, cursor: str | None) -> Self:
        """Return to the page before the one whose `previous_cursor` this is; None: no return."""
        return self._replace(_query=self._query.before(cursor))

    def _entities(self) -> tuple[EntityMap, ...]:
        return (*self._query._entities(), self._link.target)

    def _steps(self, context: Context) -> Steps[Page[tuple[E, T | None]]]:
        page = yield from self._query._replace(_pattern=self._pattern)._page(context)
        target, name = self._link.target, context.name_of(self._link.target.table)
        keys = [self._link.target_key(vars(each)) for each in page]
        queue = {item_identity(key): (name, key) for key in keys if key is not None}
        consistent = self._query._is_consistent
        found = yield from read_batch(context, [*queue.values()], consistent=consistent)
        targets = {identity: target.decode_kind(item) for (_, identity), item in found.items()}
        pairs = [
            (each, None if key is None else targets.get(item_identity(key)))
            for each, key in zip(page, keys, strict=True)
        ]
        return Page(pairs, page.next_cursor, page.unreadable, page.previous_cursor)

    def _shape(self) -> Shape:
        query, target = self._query, self._link.target
        size, consistent = query._size, query._is_consistent
        count = size if isinstance(size, int) else TYPICAL_PAGE
        most = items_read(1, consistent=consistent)
        batch = Shape(
            "BatchGetItem",
            (target.table,),
            (target,),
            keys=(target.primary.symbolic(),),
            extent=Batches(MAX_BATCH_GET_KEYS),
            read_units=count * read_units(typical_size(target), consistent=consistent),
            read_range=(
                UnitRange(0, most.high * size) if isinstance(size, int) else most.for_each()
            ),
        )
        return in_turn(query._shape(), batch)


#: The plans whose result is a page, with cursors for `after` and `before`.
PAGED = (Query, Included)
