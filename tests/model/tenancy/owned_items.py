"""Items of one tenant, for tests that declare a table with a tenancy."""

from __future__ import annotations

from tablewright import Attr, Entity, attr, key


class UserItem(Entity):
    """Abstract: an item in the partition of its user."""

    user: Attr[str] = attr()
    primary = key("U" / user, "ITEM")


class NaturalItem(Entity):
    """Abstract: an item whose partition key is its owner."""

    owner: Attr[str] = attr()
    primary = key(owner, "ITEM")
