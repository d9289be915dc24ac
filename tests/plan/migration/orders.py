"""Orders of one type, and orders of two types with the same key, for splits and merges."""

from __future__ import annotations

from typing import Any

from tests.design_changes.loading import load
from torture.migration_designs import Side

#: One type of orders.
ONE = """
class Things(Table, name="things"):
    gsi1 = GSI("G1PK", "G1SK")

class Change(WriteOnce, table=Things):
    oid: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    total: Attr[int] = attr()
    primary = key("ORDER" / oid, "CHANGE" / number)

class Order(Entity, table=Things, OPTIONS):
    oid: Attr[str] = attr()
    channel: Attr[str] = attr()
    site: Attr[str | None] = attr(default=None)
    TOTAL
    v: Attr[int] = version()
    primary = key("ORDER" / oid, "ORDER")
    by_channel = index(Things.gsi1, "CHANNEL" / channel, total)
    by_site = unique("SITE" / site)
    changes = history(total, Change, new=Change.total, version=Change.number)
"""

#: Two types of orders; what both have is declared in their base, except the total.
TWO = """
class Things(Table, name="things"):
    gsi1 = GSI("G1PK", "G1SK")

class Change(WriteOnce, table=Things):
    oid: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    total: Attr[int] = attr()
    primary = key("ORDER" / oid, "CHANGE" / number)

class AnyOrder(Entity, table=Things, variants=True):
    oid: Attr[str] = attr()
    v: Attr[int] = version()
    primary = key("ORDER" / oid, "ORDER")

class Online(AnyOrder, ONLINE):
    channel: Attr[str] = attr(fill="online")
    site: Attr[str | None] = attr(default=None)
    amount: Attr[int] = attr(pad=4, SITE_TOTAL)
    by_channel = index(Things.gsi1, "CHANNEL" / channel, amount)
    by_site = unique("SITE" / site)
    changes = history(amount, Change, new=Change.total, version=Change.number)

class Store(AnyOrder, STORE):
    shop: Attr[str] = attr(fill=lambda item: item["channel"])
    total: Attr[int] = attr(pad=4)
    by_shop = index(Things.gsi1, "SHOP" / shop, total)
    changes = history(total, Change, new=Change.total, version=Change.number)
"""

IS_ONLINE = 'renamed_from="Order", renamed_when=lambda item: item["channel"] == "online"'
IS_STORE = 'renamed_from="Order", renamed_when=lambda item: item["channel"] != "online"'


def one_type(options: str = "type_name='Order'") -> Side:
    source = ONE.replace("OPTIONS", options).replace("TOTAL", "total: Attr[int] = attr(pad=4)")
    module = load(source)
    return Side(module.Things, module.Order, {})


def two_types(
    online: str = IS_ONLINE, store: str = IS_STORE, total: str = "renamed_from='total'"
) -> Side:
    source = TWO.replace("ONLINE", online).replace("STORE", store).replace("SITE_TOTAL", total)
    module = load(source)
    return Side(module.Things, module.AnyOrder, {}, variants=(module.Online, module.Store))


def merged(total: str = "attr(pad=4, renamed_from='amount')") -> Side:
    """Return one type of orders that is merged from two."""
    source = ONE.replace("OPTIONS", "renamed_from=('Online', 'Store')")
    source = source.replace("TOTAL", f"total: Attr[int] = {total}")
    source = source.replace(
        "channel: Attr[str] = attr()", "channel: Attr[str] = attr(renamed_from='shop')"
    )
    module = load(source)
    return Side(module.Things, module.Order, {})


def unruled() -> Side:
    """Return two types of orders that do not say which orders of one type become theirs."""
    return two_types("type_name='Online'", "type_name='Store'", "name='amount'")


def order(side: Side, oid: str, channel: str, total: int, site: str | None = None) -> Any:
    return side.entity(oid=oid, channel=channel, site=site, total=total)
