"""Declare a table for the entities of one test, or of one version of a design."""

from __future__ import annotations

from types import new_class
from typing import Any

from tablewright import GSI, Table, Tenancy


def new_table(
    name: str = "shop", *, tenancy: Tenancy | None = None, **settings: Any
) -> type[Table]:
    """Return a table without indexes and entities; its class is named after it."""
    return _declare(name, settings, {} if tenancy is None else {"tenancy": tenancy})


def new_indexed_table(
    name: str = "shop", indexes: int = 1, *, project: Any = "ALL", **settings: Any
) -> Any:
    """Return a table without entities, with the indexes `gsi1` (`GSI1PK`, `GSI1SK`), `gsi2`, …."""
    body = {
        f"gsi{number}": GSI(f"GSI{number}PK", f"GSI{number}SK", project=project)
        for number in range(1, indexes + 1)
    }
    return _declare(name, settings, body)


def _declare(name: str, settings: dict[str, Any], body: dict[str, Any]) -> type[Table]:
    keywords = {"name": name, **settings}
    return new_class(name.capitalize(), (Table,), keywords, lambda space: space.update(body))
