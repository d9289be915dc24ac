"""Entities with unique values."""

from __future__ import annotations

from typing import Any

from tablewright import Attr, Engine, Entity, Table, attr, key, unique, version
from tablewright.formats import lower


class Recipes(Table, name="recipes", type_attribute=None):
    """As in the recipes document: no type attribute, and sentinels with the same text twice."""


class Category(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    shop_order: Attr[int] = attr(name="shopOrder", default=0)

    primary = key("CATEGORY" / id, "CATEGORY" / id.again)  # noqa: A003  # as the document calls it
    by_name = unique("CATEGORYNAME" / name, keep=(id, name))  # noqa: A003


class Accounts(Table, name="accounts"):
    pass


class Account(Entity, table=Accounts):
    tenant: Attr[str] = attr()
    account_id: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    handle: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    roles: Attr[list[str]] = attr(default_factory=list)

    primary = key("TENANT" / tenant, "ACCOUNT" / account_id)
    by_email = unique("EMAIL" / lower(email), type_name="Email")
    by_handle = unique(
        "HANDLES" / tenant, "HANDLE" / handle, keep=(tenant, account_id, plan, roles)
    )


def items(engine: Engine, table: str = "recipes") -> list[dict[str, Any]]:
    """Every item, with plain values, in the order of its key."""
    found = [
        {name: next(iter(value.values())) for name, value in item.items()}
        for item in engine.call("Scan", {"TableName": table})["Items"]
    ]
    return sorted(found, key=lambda item: (item["PK"], item["SK"]))


class Badge(Entity, table=Accounts):
    badge_id: Attr[str] = attr()
    code: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    version: Attr[int] = version()

    primary = key("BADGE" / badge_id, "BADGE")
    by_code = unique("CODE" / code)
