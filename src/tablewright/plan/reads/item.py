"""Item: read one stored item by its key, as it is stored."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.facts import Paging, Target
from tablewright.plan.plan import DECLARED, Context, Request, Steps
from tablewright.plan.shape import Shape, read_shape, typical_size
from tablewright.plan.units import item_read
from tablewright.values import Item


class ItemAnswer(Struct, rename="pascal"):
    """The answer of a GetItem, or one of those of a TransactGetItems."""

    item: Item | None = None


_decode = msgspec.json.Decoder(ItemAnswer).decode


def read_item(context: Context, entity: EntityMap, key: Item) -> Steps[Item | None]:
    """Read an item consistently; return None if it does not exist."""
    return _decode((yield item_request(context, entity, key))).item


def item_request(context: Context, entity: EntityMap, key: Item) -> Request:
    """Return the consistent read of an item."""
    body = {"TableName": context.name_of(entity.table), "Key": key, "ConsistentRead": True}
    return Request("GetItem", body)


def item_shape(entity: EntityMap, key: Item, target: Target | None = None) -> Shape:
    """Return the shape of the consistent read of an item."""
    request = item_request(DECLARED, entity, key)
    return replace(
        read_shape(request, [target or entity], [entity.table]),
        extent=Paging(1),
        read_units=read_units(typical_size(entity), consistent=True),
        read_range=item_read(consistent=True),
    )


def key_from(primary: KeyMap, arguments: tuple[Any, ...]) -> Item:
    """Return the key of the table that the arguments of a call give."""
    if len(arguments) != len(primary.parameters):
        primary.check_arguments(arguments, complete=True)
    return primary.encode(arguments)
