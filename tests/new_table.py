"""Declare a table for the entities of one test."""

from __future__ import annotations

from types import new_class
from typing import Any

from tablewright import Table


def new_table(name: str = "shop", **settings: Any) -> type[Table]:
    """Return a table without indexes and entities; its class is named after it."""
    return new_class(name.capitalize(), (Table,), {"name": name, **settings})
