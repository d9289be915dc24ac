"""A table of nested entities, and the items that it holds."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    create,
    history,
    index,
    key,
    unique,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.formats import lower


class Menus(Table, name="menus"):
    """A menu in one partition: composite sort keys, each level below the one before."""

    by_price = GSI("GSI1PK", "GSI1SK")
    by_title = GSI("GSI2PK", "GSI2SK")


class Menu(Entity, table=Menus):
    menu: Attr[str] = attr()
    title: Attr[str] = attr(default="Lunch")

    primary = key("MENU" / menu, "MENU")
    by_title = index(Menus.by_title, "TITLE" / title, "MENU" / menu)


class Section(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    title: Attr[str] = attr(default="Soups")
    note: Attr[str | None] = attr(default=None)
    weight: Attr[Decimal] = attr(default=Decimal(0))
    tags: Attr[set[str]] = attr(default_factory=set)

    primary = key("MENU" / menu, "SECTION" / section)
    by_title = unique("SECTIONTITLE" / title)


class Product(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    name: Attr[str | None] = attr(default=None)
    price: Attr[int] = attr(pad=5, default=1)
    note: Attr[str | None] = attr(default=None)

    primary = key("MENU" / menu, "SECTION" / section / "PRODUCT" / product)
    by_price = index(Menus.by_price, "PRICES" / menu / section, "PRICE" / price / product)
    by_name = unique("PRODUCTNAME" / name)


class Option(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    option: Attr[int] = attr(pad=3)
    text: Attr[str] = attr(default="")
    version: Attr[int] = version()

    primary = key("MENU" / menu, "SECTION" / section / "PRODUCT" / product / "OPTION" / option)


class StateChange(Entity, table=Menus):
    ticket_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()

    primary = key("TICKET" / ticket_id, "STATE" / version)


class Ticket(Entity, table=Menus):
    """Versioned, with history, a unique value and a stamp."""

    desk: Attr[str] = attr()
    ticket_id: Attr[str] = attr()
    code: Attr[str] = attr(default="c1")
    state: Attr[str] = attr(default="new")
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("DESK" / desk, "TICKET" / ticket_id)
    by_code = unique("CODE" / code)
    states = history(
        state, StateChange, old=StateChange.old, new=StateChange.new, version=StateChange.version
    )


class User(Entity, table=Menus):
    """Its key does not tell upper case from lower case."""

    email: Attr[str] = attr()
    name: Attr[str] = attr(default="")

    primary = key("USER" / lower(email), "USER")


def items(engine: Engine) -> dict[tuple[str, str], dict[str, Any]]:
    """Every item by its key."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    request: dict[str, Any] = {"TableName": "menus"}
    while True:
        page = engine.call("Scan", request)
        for item in page["Items"]:
            found[item["PK"]["S"], item["SK"]["S"]] = item
        if "LastEvaluatedKey" not in page:
            return found
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def shape(engine: Engine) -> dict[tuple[str, str], dict[str, Any]]:
    """Every item by its key, without what the library counts."""
    return {
        key: {name: value for name, value in item.items() if name not in ("version", "changed")}
        for key, item in items(engine).items()
    }


def build(db: Database, menu: str, section: str, *, products: int = 2, options: int = 2) -> None:
    """A menu with a section, its products and their options."""
    db.run(create(Menu(menu=menu, title="Lunch")))
    db.run(create(Section(menu=menu, section=section, title="Soups")))
    for number in range(products):
        product = f"p{number}"
        name = f"name {number}"
        db.run(create(Product(menu=menu, section=section, product=product, name=name)))
        for option in range(options):
            db.run(create(Option(menu=menu, section=section, product=product, option=option)))
