"""Helpers for the tests of the menu: its tables, stored items and key conditions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tablewright import Entity, Table, explain
from tablewright.designs.menu import collection, composite, document, joins
from tablewright.designs.menu.collection import samples as collection_samples
from tablewright.designs.menu.composite import samples as composite_samples
from tablewright.designs.menu.document import samples as document_samples
from tablewright.designs.menu.joins import samples as joins_samples
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
    collection: collection_samples.sample,
    joins: joins_samples.sample,
    composite: composite_samples.sample,
    document: document_samples.sample,
}
LUNCH = id_of("Lunch")
LUNCH_SORT = document_samples.sort_id_of("Lunch")
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
