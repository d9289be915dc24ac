"""Projection: which attributes a table or an index holds, and which paths a query asks for."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import AttributeMap, EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.reads.query_request import Path


def key_names(entity: EntityMap, key: KeyMap) -> list[str]:
    """Return the attributes that every row of an index has."""
    names = (*entity.table.attributes, *key.attributes)
    return [name for name in dict.fromkeys(names) if name is not None]


def is_projected(entity: EntityMap, key: KeyMap, stored: str) -> bool:
    """Return whether a table, or an index, holds an attribute."""
    index = key.index
    if index is None or index.projection == "ALL" or stored in key_names(entity, key):
        return True
    return index.projection != "KEYS_ONLY" and stored in index.projection


def check_projected(
    entity: EntityMap, key: KeyMap, attributes: Sequence[AttributeMap] = ()
) -> None:
    """Raise DeclarationError unless an index holds these attributes; all, if none is named."""
    wanted = attributes or entity.attributes.values()
    missing = [each.stored for each in wanted if not is_projected(entity, key, each.stored)]
    if missing and key.index is not None:
        raise DeclarationError(
            f"{key.name}: the index {key.index.name} does not contain {', '.join(missing)}; "
            "select(…) attributes that it contains, or extend its projection"
        )


def paths_to_read(entity: EntityMap, key: KeyMap, columns: Sequence[Path]) -> list[Path]:
    """Return the paths to ask for, so that the columns can be read; none for whole items."""
    if not columns:
        return []
    names = key_names(entity, key)  # a cursor needs them
    type_attribute = entity.table.type_attribute
    if type_attribute is not None and is_projected(entity, key, type_attribute):
        names.append(type_attribute)
    paths = {(name,) for name in names} | {_up_to_list(column) for column in columns}
    # DynamoDB rejects a path inside another.
    return sorted(
        (path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))),
        key=str,
    )


def _up_to_list(path: Path) -> Path:
    """Return the path up to its first list.

    DynamoDB returns the selected elements of a list without their positions.
    """
    for position, step in enumerate(path):
        if isinstance(step, int):
            return path[:position]
    return path
