"""Imported models: a model file of NoSQL Workbench as the source of a design.

The rows of each table are loaded into an engine in memory, with the keys and indexes of the file,
and become entities as those of any table do. The module also has

    sample()     the rows, as entities
    checks()     for each entity, a read of its first row by its key
    WORKBENCH    the file without its rows, which `publish.workbench` reads back

A table without rows has one entity with the declared attributes.

Invariant: the classes are declared once before the module is returned, and each row is composed
again from its entity. A row that differs is reported in `warnings`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    InvalidValue,
    ModelFileRefused,
    TablewrightError,
    UnreadableItem,
)
from tablewright.infer.declaration import (
    InferredAttribute,
    InferredDesign,
    InferredEntity,
    InferredPart,
    InferredPath,
    InferredPlace,
)
from tablewright.infer.design import infer_design
from tablewright.infer.evidence import declare
from tablewright.infer.kinds import ANY, BOOL, BYTES, DECIMAL, STR, KeySpelling, kind_of
from tablewright.infer.model_file import ModelFile, ModelTable, row_key
from tablewright.infer.module import join_module, write_classes
from tablewright.infer.names import (
    can_write,
    class_name,
    names_in,
    quoted,
    singular,
    snake_case,
    unused,
    wrap_call,
    write_assignment,
    write_call,
)
from tablewright.infer.sample import Sample
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import definition
from tablewright.schema import KeyAttribute
from tablewright.values import Item, sort_key

#: Names that the module imports or defines.
_RESERVED = frozenset({"Check", "Iterator", "Stored", "UTC", "WORKBENCH"})
_KINDS = {
    "S": STR,
    "N": DECIMAL,
    "B": BYTES,
    "BOOL": BOOL,
    "M": kind_of(dict, STR, ANY),
    "L": kind_of(list, ANY),
    "SS": kind_of(set, STR),
    "NS": kind_of(set, DECIMAL),
    "BS": kind_of(set, BYTES),
}


class ImportedModel(Struct, frozen=True):
    """The source of a design, and warnings about what differs from the file."""

    source: str
    entities: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]


def import_model(model: ModelFile) -> ImportedModel:
    """Return the design of a model file; raise ModelFileRefused if a row cannot be stored."""
    designs: list[InferredDesign] = []
    taken = set(_RESERVED)
    for table, frame in zip(model.tables, model.frame["DataModel"], strict=True):
        items = _store(table, model.file)
        sample = Sample(table.table, tuple(items), is_exact=True)
        made = infer_design(sample, taken) if items else _without_rows(table, sample, taken)
        _name_after_facets(made, frame.get("TableFacets") or (), taken)
        designs.append(made)
        taken |= {made.name, *(name for entity in made.entities for name in entity.class_names)}
    classes = write_classes(*designs)
    summary = _summary(model)
    tables = _declare(join_module(summary, classes), [each.name for each in designs], model.file)
    rows = [
        _Rows(table, each, found, model.file)
        for table, each, found in zip(tables, designs, model.tables, strict=True)
    ]
    functions, names = _functions(rows, model.frame)
    return ImportedModel(
        join_module(summary, classes, functions, names),
        tuple(name for each in designs for entity in each.entities for name in entity.class_names),
        sum(len(each.instances) for each in rows),
        (*model.warnings, *(warning for each in rows for warning in each.warnings)),
    )


def _summary(model: ModelFile) -> str:
    plain = "".join(c if c.isprintable() and c not in '"\\' else " " for c in model.name)
    return f"{plain.strip() or 'Model'}: imported from a model of NoSQL Workbench."


# -- rows as items --------------------------------------------------------------------------------


def _store(found: ModelTable, file: str) -> list[Item]:
    """Return the rows of a table as an engine stores them, in the order of the file."""
    table = found.table
    place = f"{file}: table {table.name}"
    with Engine(":memory:") as engine:
        try:
            engine.call("CreateTable", table.on_demand_only().to_create_table())
            for each, row in found.rows:
                place = each
                engine.call("PutItem", {"TableName": table.name, "Item": row})
        except DynamoDBError as fault:
            raise ModelFileRefused(f"{place}: {fault.message}") from None
        keys = [table.key(row) for _, row in found.rows]
        answers = [engine.call("GetItem", {"TableName": table.name, "Key": key}) for key in keys]
    return [answer["Item"] for answer in answers]


def _without_rows(found: ModelTable, sample: Sample, taken: set[str]) -> InferredDesign:
    """Return a design with one entity that has the attributes of a table as they are."""
    table = found.table
    attributes = {
        name: InferredAttribute(
            name, (_KINDS.get(tag, ANY),), {}, is_optional=name not in table.keys.names
        )
        for name, tag in found.types.items()
    }
    names: set[str] = set()
    for attribute in attributes.values():
        attribute.name = unused(snake_case(attribute.stored), names)
        names.add(attribute.name)

    def path(key: KeyAttribute) -> InferredPath:
        attribute = attributes[key.name]
        return InferredPath(
            key, [InferredPart(attribute, KeySpelling(attribute.kind), is_natural=True)]
        )

    keys = [path(key) for key in table.keys]
    places = []
    for index in table.indexes:
        sides = (index.keys.partition, index.keys.sort)
        partition, sort = (tuple(path(key) for key in side) for side in sides)
        places.append(InferredPlace(index, partition, sort))
    name = unused(class_name(f"{singular(snake_case(table.name))}_item"), taken, "")
    entity = InferredEntity(
        items=[],
        type_name=None,
        paths=keys,
        places=places,
        attributes=list(attributes.values()),
        name=name,
    )
    owner = unused(class_name(table.name), {*taken, name}, "")
    return InferredDesign(sample, None, None, [entity], owner)


def _name_after_facets(
    design: InferredDesign, facets: Sequence[dict[str, Any]], taken: Collection[str]
) -> None:
    """Give an entity the name of the facet that has the same rows."""
    keys = design.sample.table.keys.names
    names = {
        frozenset(map(tuple, facet["TableData"])): class_name(
            singular(snake_case(facet["FacetName"]))
        )
        for facet in facets
        if facet["TableData"]
    }
    used = {*taken, design.name}
    others = []
    for entity in design.entities:
        rows = frozenset(row_key(item, keys) for item in entity.items)
        # Without a type, the name of an entity is stored in the type attribute.
        is_stored = design.type_attribute is not None and entity.type_name is None
        name = names.get(rows)
        if name in taken:
            name = f"{design.name}{name}"
        if name is None or is_stored or name in used:
            others.append(entity)
        else:
            entity.name = name
            used.add(name)
    for entity in others:
        entity.name = unused(entity.name, used, "")
        used.add(entity.name)
    design.entities.sort(key=lambda entity: entity.name)


# -- rows as entities -----------------------------------------------------------------------------


def _declare(source: str, owners: Sequence[str], file: str) -> list[TableMap]:
    """Return the tables that a source declares, without importing it."""
    try:
        return declare(source, owners)
    except TablewrightError as error:
        raise ModelFileRefused(f"{file}: no design can be declared: {error}") from error


class _Rows:
    """The rows of a table as entities."""

    def __init__(
        self, table: TableMap, design: InferredDesign, found: ModelTable, file: str
    ) -> None:
        self.table = table
        self.items: dict[str, list[Item]] = {}
        self.instances: list[Any] = []
        self.warnings = [
            f"{file}: table {table.name}: no row is in an index with the key {name}, so its type "
            f"is {tag} in the design, and {found.types[name]} in the file"
            for name, tag in definition(table, table.name).key_types.items()
            if found.types[name] != tag
        ]
        for (place, _), item in zip(found.rows, design.sample.items, strict=True):
            entity = table.identify(item).stored
            if entity is None:
                raise ModelFileRefused(f"{place}: no entity of the design has a key like this")
            try:
                instance = entity.decode(item)
                made = entity.encode(vars(instance))
            except (InvalidValue, UnreadableItem) as error:
                raise ModelFileRefused(f"{place}: {error}") from error
            self.warnings += [
                f"{place}: {name} is {_shown(made.get(name))} in the design, and "
                f"{_shown(item.get(name))} in the file"
                for name in sorted({*item, *made})
                if made.get(name) != item.get(name)
            ]
            self.instances.append(instance)
            self.items.setdefault(entity.name, []).append(item)

    def first(self, entity: str) -> Item:
        """Return the item of an entity with the lowest key."""
        return min(
            self.items[entity],
            key=lambda item: [
                sort_key(tag, content)
                for value in self.table.key(item).values()
                for tag, content in value.items()
            ],
        )


def _shown(value: Any) -> str:
    return "absent" if value is None else msgspec.json.encode(value).decode()


def _functions(rows: Sequence[_Rows], frame: dict[str, Any]) -> tuple[str, set[str]]:
    """Return the functions of a module and its constant, and the names that they use."""
    names: set[str] = set()
    calls = []
    for instance in (instance for each in rows for instance in each.instances):
        entity = type(instance).__entity__
        values = {
            name: value for name in entity.attributes if (value := vars(instance)[name]) is not None
        }
        names |= names_in(values)
        calls.append(write_call(entity.name, values, "        ", ","))
    checks = []
    for each in rows:
        for entity in each.table.entities:
            if entity.name not in each.items:
                continue
            values = entity.values(each.first(entity.name))
            arguments = [
                part.argument(values[part.attribute]) for part in entity.primary.parameters
            ]
            if can_write(arguments):
                names |= names_in(arguments)
                checks.append(_check(entity.name, arguments))
    lines = [
        "def sample() -> list[Entity]:",
        '    """Return the rows of the model."""',
        *(["    return [", *calls, "    ]"] if calls else ["    return []"]),
        "",
        "",
        "def checks(stored: Stored) -> Iterator[Check]:",
        '    """Read the first item of each entity by its key."""',
        *(checks or ["    yield from ()"]),
        "",
        "",
        "#: The rest of the model file, for `tablewright publish nosql-workbench`.",
        write_assignment("WORKBENCH = ", frame),
    ]
    return "\n".join(lines) + "\n", names


def _check(entity: str, arguments: list[Any]) -> str:
    shown = [write_assignment("", each) for each in arguments]
    plan = wrap_call(f"{entity}.primary", shown, "        ", ",")
    plan = plan.removeprefix("        ").removesuffix(",")
    return wrap_call("yield Check", [quoted(f"Get {entity}"), plan, f"stored({entity})[0]"], "    ")
