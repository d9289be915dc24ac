"""A hub: parents that count and sum their children, on every path of writing."""

from __future__ import annotations

from decimal import Decimal

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    children,
    index,
    key,
    root,
    unique,
    version,
)
from tablewright.rules import count_of, sum_of


class Hub(Table, name="hub"):
    by_stars = GSI("board", "stars")


class Owner(Entity, table=Hub):
    """A parent with a version, of children that have its key under another name."""

    name: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    version: Attr[int] = version()
    forks: Attr[int] = count_of("Repo", by=("forker",), name="f")
    primary = key("OWNER" / name, "OWNER")


class Repo(Entity, table=Hub):
    """A parent and a child, with the counter in an index."""

    repo: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    board: Attr[str] = attr(default="top")
    forker: Attr[str | None] = attr(default=None)
    stars: Attr[int] = count_of("Star")
    loud: Attr[int] = count_of("Star", when=lambda star: star.is_loud == True)  # noqa: E712
    weight: Attr[Decimal] = sum_of("Star.weight")
    primary = key("REPO" / repo, "REPO")
    by_stars = index(Hub.by_stars, board, stars)


class Star(Entity, table=Hub):
    """A child below its parent, with a unique value."""

    repo: Attr[str] = attr()
    user: Attr[str] = attr()
    is_loud: Attr[bool] = attr(default=False)
    weight: Attr[Decimal | None] = attr(default=Decimal(1))
    note: Attr[str] = attr(default="")
    code: Attr[str | None] = attr(default=None)
    primary = key("REPO" / repo, "STAR" / user)
    by_code = unique("CODE" / code)


class RepoWithStars(Aggregate):
    repo: Repo = root()
    stars: list[Star] = children()
