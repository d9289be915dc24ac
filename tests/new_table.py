"""Declare a table for the entities of one test."""

from __future__ import annotations

from types import new_class
from typing import Any

from tablewright import Table, Tenancy


def new_table(
    name: str = "shop", *, tenancy: Tenancy | None = None, **settings: Any
) -> type[Table]:
    """Return a table without indexes and entities; its class is named after it."""
    body = {} if tenancy is None else {"tenancy": tenancy}
    settings = {"name": name, **settings}
    return new_class(name.capitalize(), (Table,), settings, lambda space: space.update(body))
