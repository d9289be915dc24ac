"""Projection: which attributes a table or an index holds, and which of them a query reads.

A selected attribute is read as it is stored. Where it is stored only inside of keys, or the index
does not hold it, its value is parsed from a key attribute that determines it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from tablewright.errors import DeclarationError, UnreadableItem
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.expressions import Path
from tablewright.plan.reference import Ref
from tablewright.values import Value


class ProjectionMap(Struct, frozen=True):
    """A compiled projection: the attributes to read, and what is made of their values."""

    name: str
    entity: EntityMap
    columns: tuple[Ref[Any, Any], ...]
    build: Callable[..., Any]


class ProjectionRow:
    """The base class of projections, for the types of queries; see `model.projection`."""

    __projection__: ClassVar[ProjectionMap]


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


def source_of(entity: EntityMap, key: KeyMap, attribute: AttributeMap) -> str | None:
    """Return the stored attribute from which an attribute is read; None if the index has none."""
    if not attribute.is_key_only and is_projected(entity, key, attribute.stored):
        return attribute.stored
    sources = entity.key_sources(attribute.name)
    return next((name for name in sources if is_projected(entity, key, name)), None)


def contains_whole(entity: EntityMap, key: KeyMap) -> bool:
    """Return whether every attribute of an entity can be read from a table, or an index."""
    return not _missing_of_whole(entity, key)


def missing(entity: EntityMap, key: KeyMap, wanted: Iterable[AttributeMap]) -> list[str]:
    """Return the stored names of the attributes that an index does not hold."""
    return [each.stored for each in wanted if source_of(entity, key, each) is None]


def _missing_of_whole(entity: EntityMap, key: KeyMap) -> list[str]:
    """Return the stored names of what decoding needs: also the attributes of all variants, and the
    type that says which it is."""
    kinds = entity.kinds
    names = [name for kind in kinds for name in missing(kind, key, kind.attributes.values())]
    type_attribute = entity.table.type_attribute
    if len(kinds) > 1 and type_attribute and not is_projected(entity, key, type_attribute):
        names.append(type_attribute)
    return list(dict.fromkeys(names))


def check_projected(
    entity: EntityMap, key: KeyMap, attributes: Sequence[AttributeMap] = ()
) -> None:
    """Raise DeclarationError unless an index holds these attributes; all, if none is named."""
    if key.index is None or key.index.projection == "ALL":
        return
    check_kind(entity, key, entity.table.types_beside(key, key.partition_arity))
    if attributes:
        lacking = missing(entity, key, attributes)
    else:
        lacking = _missing_of_whole(entity, key)
    if lacking:
        raise DeclarationError(
            f"{key.name}: the index {key.index.name} does not contain {', '.join(lacking)}; "
            "select(…) attributes that it contains, or extend its projection"
        )


def check_kind(entity: EntityMap, key: KeyMap, beside: Container[str]) -> None:
    """Raise DeclarationError if an index does not say which items are of a variant.

    `beside` are the types of the other items that are read.
    """
    table, base, index = entity.table, entity.base, key.index
    if base is None or index is None or table.type_attribute is None:
        return
    if is_projected(entity, key, table.type_attribute):
        return
    others = [name for name in base.type_names if name != entity.type_name and name in beside]
    if others:
        raise DeclarationError(
            f"{key.name}: the index {index.name} does not contain {table.type_attribute!r}, which "
            f"says whether an item is a {entity.name} or a {others[0]}; add it to the projection "
            f"of the index, or read {base.name}"
        )


def key_paths(entity: EntityMap, key: KeyMap) -> list[Path]:
    """Return the paths that say which item it is: a cursor needs its keys, and a page its type."""
    names = key_names(entity, key)
    type_attribute = entity.table.type_attribute
    if type_attribute is not None and is_projected(entity, key, type_attribute):
        names.append(type_attribute)
    return [(name,) for name in dict.fromkeys(names)]


def paths_of_columns(entity: EntityMap, key: KeyMap, columns: Sequence[Ref[Any, Any]]) -> set[Path]:
    """Return the paths from which the columns, the key and the type are read."""
    paths = set(key_paths(entity, key))
    for column in columns:
        source = source_of(entity, key, column.attribute)
        if source is not None:
            is_stored = source == column.attribute.stored
            paths.add(_up_to_list(column.stored_path) if is_stored else (source,))
    return paths


def paths_of_whole(entities: Iterable[EntityMap], key: KeyMap) -> set[Path]:
    """Return the paths from which all attributes of entities are read, also those in keys."""
    paths: set[Path] = set()
    for entity in entities:
        paths.update(key_paths(entity, key))
        paths.update((attribute.stored,) for attribute in entity.attributes.values())
        paths.update(
            (name,) for each in (entity.primary, *entity.indexes) for name in each.attributes
        )
    return paths


def outermost(paths: set[Path]) -> list[Path]:
    """Return the paths that are not inside another one, which DynamoDB rejects."""
    return sorted(
        (path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))),
        key=str,
    )


def read_columns(
    entity: EntityMap, columns: Sequence[Ref[Any, Any]], item: Mapping[str, Value]
) -> list[Any]:
    """Return the values of the columns in an item; raise UnreadableItem, which names the item."""
    values = []
    in_keys: dict[str, Any] | None = None
    try:
        item = entity.opened(item)
        for column in columns:
            is_stored = column.attribute.stored in item and not column.attribute.is_key_only
            if is_stored or len(column.stored_path) > 1:
                values.append(column.read(item))
                continue
            if in_keys is None:
                in_keys = dict(entity.values_in_keys(item))
            if column.name in in_keys:
                values.append(in_keys[column.name])
            else:
                values.append(entity.value_if_absent(column.name))
    except UnreadableItem as error:
        raise entity.table.unreadable(error, item) from None
    return values


def _up_to_list(path: Path) -> Path:
    """Return the path up to its first list.

    DynamoDB returns the selected elements of a list without their positions.
    """
    for position, step in enumerate(path):
        if isinstance(step, int):
            return path[:position]
    return path
