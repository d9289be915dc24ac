"""A table whose items the tests find by conditions."""

from __future__ import annotations

from datetime import datetime, timedelta

from tablewright import GSI, Attr, Entity, Table, attr, index, key
from tablewright.formats import day, descending, epoch_seconds, lower
from tests.model.patterns.club import MONDAY


class Found(Table, name="pattern_found", type_attribute="kind"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")
    gsi3 = GSI("GSI3PK", "GSI3SK")
    gsi4 = GSI("GSI4PK", "GSI4SK", project="KEYS_ONLY")
    gsi5 = GSI("GSI5PK", "GSI5SK")


class Item(Entity, table=Found):
    item_id: Attr[str] = attr()
    owner: Attr[str] = attr()
    shelf: Attr[str] = attr()
    made: Attr[datetime] = attr()
    rank: Attr[int] = attr(pad=4, default=0)
    sold: Attr[datetime | None] = attr(default=None)
    color: Attr[str] = attr(default="red")
    primary = key("ITEM" / item_id, "ITEM")
    by_owner = index(Found.gsi1, "OWNER" / owner, "SHELF" / shelf / "MADE" / made)
    by_shelf = index(Found.gsi2, "SHELF" / shelf, "RANK" / descending(rank))
    by_sale = index(Found.gsi3, "COLOR" / color, "SOLD" / sold)
    by_rank = index(Found.gsi4, "OWNER" / owner / "SHELF" / shelf, "MADE" / made)
    open_only = index(Found.gsi5, "RANK" / rank, "ITEM" / item_id, when=rank > 5)


class Fuzzy(Entity, table=Found):
    """Keys with parts that are derived from attributes."""

    name: Attr[str] = attr()
    group: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("FUZZY" / name, "FUZZY")
    by_name = index(Found.gsi1, "GROUP" / group, lower(name))
    by_second = index(Found.gsi2, "SECONDS" / group, epoch_seconds(at))
    by_day = index(Found.gsi3, "DAYS" / group, day(at) / name)


ITEMS = [
    Item(
        item_id=f"{number:02d}",
        owner="ann" if number % 2 else "bob",
        shelf=f"s{number % 3}",
        made=MONDAY + timedelta(days=number),
        rank=number,
        sold=MONDAY if number % 4 == 0 else None,
        color="red" if number < 9 else "blue",
    )
    for number in range(12)
]
