"""Table definitions: the tables that a model declares, and how existing ones differ from them.

This module sends nothing: `provision.py` compares tables and creates them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.errors import TableDifference
from tablewright.mapping.settings import Provisioned
from tablewright.mapping.table import TableMap
from tablewright.schema import IndexProjection, KeyAttribute, KeySchema, Throughput
from tablewright.table_changes import Part, differences
from tablewright.table_description import IndexDescription, TableDescription


def definition(table: TableMap, name: str) -> TableDescription:
    """Return the description of a declared table; `name` is its name at the target."""
    settings = table.settings

    def keys(partition: tuple[str, ...], sort: tuple[str | None, ...]) -> KeySchema:
        sides = (
            tuple(KeyAttribute(each, table.key_types.get(each, "S")) for each in side if each)
            for side in (partition, sort)
        )
        return KeySchema(*sides)

    return TableDescription(
        name,
        keys(table.attributes[:1], table.attributes[1:]),
        tuple(
            IndexDescription(
                index.name,
                index.kind,
                keys(index.partition, index.sort),
                IndexProjection("INCLUDE", index.projection)
                if isinstance(index.projection, tuple)
                else IndexProjection(index.projection),
                _throughput(index.billing),
            )
            for index in table.indexes.values()
        ),
        throughput=_throughput(settings.billing),
        stream=settings.stream,
        ttl=next((each.ttl.stored for each in table.entities if each.ttl is not None), None),
        recovery_days=settings.recovery_days,
        is_protected=settings.deletion_protection,
        tags=settings.tags,
    )


def _throughput(billing: Provisioned | None) -> Throughput | None:
    return None if billing is None else Throughput(billing.read, billing.write)


def compare(declared: TableDescription, found: TableDescription) -> list[TableDifference]:
    """Return the differences of the keys and indexes of a table.

    Global indexes that the table lacks are not among them: see `missing_indexes`.
    """
    lines = list(_compare_keys("key", declared.keys, found.keys))
    types = found.key_types
    for name, kind in declared.key_types.items():
        if (types.get(name) or kind) != kind:
            problem = f"declared {kind}, found {types[name]}"
            lines.append(TableDifference(f"key attribute {name}", problem))
    kinds = (Part.LOCAL_INDEX, Part.GLOBAL_INDEX)
    changed = [each for each in differences(declared, found) if each.part in kinds]
    # The local indexes first, in the order of their names, and at the end what is not declared.
    for each in sorted(changed, key=lambda each: (each.wanted is None, kinds.index(each.part))):
        name, is_local = f"index {each.index}", each.part is Part.LOCAL_INDEX
        if isinstance(each.wanted, IndexDescription) and isinstance(each.found, IndexDescription):
            lines += _compare_index(name, each.wanted, each.found)
        elif each.found is None and is_local:
            problem = "declared but missing; a local index is created with its table"
            lines.append(TableDifference(name, problem))
        elif is_local:
            lines.append(TableDifference(name, "present but not declared"))
    return lines


def missing_indexes(declared: TableDescription, found: TableDescription) -> list[str]:
    """Return the names of the declared global indexes that a table lacks."""
    present = {index.name for index in found.global_indexes}
    return sorted(index.name for index in declared.global_indexes if index.name not in present)


def _compare_index(
    name: str, declared: IndexDescription, found: IndexDescription
) -> Iterator[TableDifference]:
    yield from _compare_keys(name, declared.keys, found.keys)
    if declared.projection != found.projection:
        texts = (_projection_text(each.projection) for each in (declared, found))
        yield TableDifference(name, "declared projection {}, found {}".format(*texts))


def _compare_keys(name: str, declared: KeySchema, found: KeySchema) -> Iterator[TableDifference]:
    texts = [
        " + ".join(
            ", ".join(key.name for key in side) for side in (keys.partition, keys.sort) if side
        )
        for keys in (declared, found)
    ]
    if texts[0] != texts[1]:
        yield TableDifference(name, "declared {}, found {}".format(*texts))


def _projection_text(projection: IndexProjection) -> str:
    return f"{projection.type} {', '.join(projection.include)}".strip()
