"""Plans that return one thing or None: `OptionalRead`, and what can be made of one.

    Order.primary("C1", "O1").or_raise()                                      Order, or NotFound
    Ingredient.by_id("7").first().then(lambda found: Category.primary(found.category_id))

The last returns `(ingredient, category)`: the second request is made from the result of the first.

`read_item` and `read_all` read items as they are stored, for writes and for unique values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.errors import DeclarationError, NotFound
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.explanation import item_key
from tablewright.plan.facts import Paging, Target, items_read
from tablewright.plan.plan import DECLARED, Context, Plan, Request, Steps
from tablewright.plan.query_requests import QueryRequest
from tablewright.plan.shape import Shape, in_turn, read_shape, typical_size
from tablewright.plan.writes.guard import NOT_FOUND
from tablewright.values import Item

E = TypeVar("E")
T = TypeVar("T")


class OptionalRead(Plan[T | None], Generic[T]):
    """What may be missing: an entity, an aggregate, or an entity and what follows from it."""

    def or_raise(self) -> RequiredRead[T]:
        """Raise NotFound instead of returning None."""
        return RequiredRead(self)

    def _item_key(self) -> Item:
        """Return the key of the item in the table; empty if the arguments do not give it."""
        return {}


class RequiredRead(Plan[T], Generic[T]):
    """The result of an optional read; NotFound if there is none."""

    def __init__(self, read: OptionalRead[T]) -> None:
        self._read = read
        self._entity = read._entities()[0]

    def _entities(self) -> tuple[EntityMap, ...]:
        return self._read._entities()

    def _steps(self, context: Context) -> Steps[T]:
        # A cursor in the result is bound to the pattern, whose name only this plan has.
        found = yield from self._read._replace(_pattern=self._pattern)._steps(context)
        if found is None:
            name, key = self._entity.name, self._read._item_key()
            where = item_key(key, ", ") or self._shape().condition
            message = f"{name} ({where}): {NOT_FOUND}"
            raise NotFound(message, entity=name, key=key, current=None, reason=NOT_FOUND)
        return found

    def _shape(self) -> Shape:
        return self._read._shape()


class Single(OptionalRead[E], Generic[E]):
    """One entity, or None."""

    def then(self, follow: Callable[[E], Plan[T]]) -> Then[E, T]:
        """Return the entity and the result of the plan made from it; None if it does not exist."""
        return Then(self, follow)


class Then(OptionalRead[tuple[E, T]], Generic[E, T]):
    """An entity, and what follows from it."""

    def __init__(self, single: Single[E], follow: Callable[[E], Plan[T]]) -> None:
        self._single = single
        self._follow = follow

    def _steps(self, context: Context) -> Steps[tuple[E, T] | None]:
        found = yield from self._single._steps(context)
        if found is None:
            return None
        following = yield from self._plan(found)._steps(context)
        return found, following

    def _plan(self, found: E) -> Plan[T]:
        plan = self._follow(found)
        if not isinstance(plan, Plan):
            raise DeclarationError(f"then() takes a function that returns a plan, not {plan!r}")
        return plan

    def _following(self) -> Plan[T]:
        entity = self._single._entity
        found: Any = entity.symbolic()
        return self._plan(found)

    def _entities(self) -> tuple[EntityMap, ...]:
        return (*self._single._entities(), *self._following()._entities())

    def _shape(self) -> Shape:
        return in_turn(self._single._shape(), self._following()._shape())


# -- stored items ---------------------------------------------------------------------------------


class ItemAnswer(Struct, rename="pascal"):
    """The answer of a GetItem, or one of those of a TransactGetItems."""

    item: Item | None = None


_decode = msgspec.json.Decoder(ItemAnswer).decode


def read_item(context: Context, entity: EntityMap, key: Item) -> Steps[Item | None]:
    """Read an item consistently; return None if it does not exist."""
    return _decode((yield item_request(context, entity, key))).item


class _PageAnswer(Struct, rename="pascal"):
    items: list[Item] = []
    count: int = 0
    scanned_count: int = 0
    last_evaluated_key: Item | None = None


decode_page = msgspec.json.Decoder(_PageAnswer).decode


class _RawPage(Struct, rename="pascal"):
    items: list[msgspec.Raw]


_decode_raw = msgspec.json.Decoder(_RawPage).decode
_decode_item = msgspec.json.Decoder(Item).decode


def first_item(answer: bytes) -> Item:
    """Return the first item of a page that has items, without decoding the others."""
    return _decode_item(_decode_raw(answer).items[0])


def read_all(request: QueryRequest) -> Steps[list[Item]]:
    """Read the items of all pages of a query or scan."""
    items: list[Item] = []
    while True:
        page = decode_page((yield request))
        items += page.items
        if page.last_evaluated_key is None:
            return items
        request = request.next_page(page.last_evaluated_key)


def item_request(
    context: Context, entity: EntityMap, key: Item, *, consistent: bool = True
) -> Request:
    """Return the read of an item."""
    body: dict[str, Any] = {"TableName": context.name_of(entity.table), "Key": key}
    if consistent:
        body["ConsistentRead"] = True
    return Request("GetItem", body)


def item_shape(
    entity: EntityMap, key: Item, target: Target | None = None, *, consistent: bool = True
) -> Shape:
    """Return the shape of the read of an item."""
    request = item_request(DECLARED, entity, key, consistent=consistent)
    return replace(
        read_shape(request, [target or entity], [entity.table]),
        extent=Paging(1),
        read_units=read_units(typical_size(entity), consistent=consistent),
        read_range=items_read(1, consistent=consistent),
    )


def key_from(primary: KeyMap, arguments: tuple[Any, ...]) -> Item:
    """Return the key that the arguments of a call give."""
    if len(arguments) != len(primary.parameters):
        primary.check_arguments(arguments, complete=True)
    return primary.encode(arguments)
