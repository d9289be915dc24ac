"""Item: read one stored item by its key, as it is stored."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.plan import Context, Request, Steps
from tablewright.values import Item


class ItemAnswer(Struct, rename="pascal"):
    """The answer of a GetItem, or one of those of a TransactGetItems."""

    item: Item | None = None


_decode = msgspec.json.Decoder(ItemAnswer).decode


def read_item(context: Context, entity: EntityMap, key: Item) -> Steps[Item | None]:
    """Read an item consistently; return None if it does not exist."""
    body = {"TableName": context.name_of(entity.table), "Key": key, "ConsistentRead": True}
    return _decode((yield Request("GetItem", body))).item


def key_from(primary: KeyMap, arguments: tuple[Any, ...]) -> Item:
    """Return the key of the table that the arguments of a call give."""
    if len(arguments) != len(primary.parameters):
        primary.check_arguments(arguments, complete=True)
    return primary.encode(arguments)
