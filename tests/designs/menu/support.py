"""Helpers for the tests of the menu: its tables, stored items and key conditions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tablewright import Entity, Table, explain
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.collection import checks as collection_checks
from tablewright.designs.menu.composite import checks as composite_checks
from tablewright.designs.menu.document import checks as document_checks
from tablewright.designs.menu.joins import checks as joins_checks
from tablewright.designs.menu.sample_menus import id_of
from tests.designs.stored import scan

VARIANTS = (collection, joins, composite, document)
TABLES: dict[ModuleType, type[Table]] = {
    collection: collection.Collection,
    joins: joins.Joins,
    composite: composite.Composite,
    document: document.Document,
}
SAMPLES: dict[ModuleType, Callable[..., list[Entity]]] = {
    collection: collection_checks.sample,
    joins: joins_checks.sample,
    composite: composite_checks.sample,
    document: document_checks.sample,
}
LUNCH = id_of("Lunch")
LUNCH_SORT = document_checks.sort_id_of("Lunch")
DESSERTS = id_of("Lunch", "Desserts")
PIE = id_of("Lunch", "Desserts", "Apple Pie")


def items(client: Any, variant: ModuleType, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of a variant's table or index, as stored."""
    return scan(client, TABLES[variant].__table__.name, index)


def keys(client: Any, variant: ModuleType, partition: str) -> list[str]:
    """Return the sort keys of a partition."""
    return [item["sk"]["S"] for item in items(client, variant) if item["pk"]["S"] == partition]


def request_shape(pattern: Any) -> tuple[str, str | None, str]:
    """Return the operation, the index (None for the table) and the key condition."""
    shape = explain(pattern)
    return shape.operation, shape.index, shape.condition
