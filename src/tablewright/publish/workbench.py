"""NoSQL Workbench: the tables, indexes and sample data of a design as a model file.

    table       KeyAttributes, NonKeyAttributes (name and type), GlobalSecondaryIndexes
    entity      a facet: its keys in words, the names of its attributes, its rows
    sentinels   a facet for each unique value

A facet is a view of rows of one kind, which only the application shows. A table with facets has its
rows there, and none of its own.

A design that `tablewright infer` made from a model file keeps that file without its rows, as
`WORKBENCH`: the frame. In the place of the rows are the keys of those in facets. The design decides
on keys, indexes, types, capacity and rows; all other members, also unknown ones, are those of the
frame:

    a row whose key is in the frame    in the same facets, in the same order
    another row                        where other rows of its entity are, else in a new facet
    a table that is not in the frame   as in any design

Invariants: the model depends on nothing but the declarations and the sample data, so dates are
constant. What the format cannot hold is listed in `left_out`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import DesignLoadError
from tablewright.infer.model_file import VERSIONS, row_key
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.model.databases.connecting import connect
from tablewright.model.databases.provision import definition
from tablewright.schema import KeySchema, Throughput
from tablewright.table_description import (
    IndexDescription,
    TableDescription,
    write_index,
    write_types,
    write_units,
)
from tablewright.values import Item, tag_of
from tablewright.verify.contents import Scanner
from tablewright.verify.design import Design
from tablewright.verify.seeding import load_sample

__all__ = ["WorkbenchModel", "nosql_workbench"]

SERVICE = "Amazon DynamoDB"
#: The date of every model that is not imported: the output must not depend on a clock.
DATE = "Jan 01, 2026, 12:00 AM"
_TYPE_TAGS = {"text": "S", "set": "SS", "list": "L"}

#: Optional members that are removed if the design does not have them.
_DECIDED = frozenset({"NonKeyAttributes", "ProvisionedCapacitySettings", "SortKey"})

#: The member that names the members of a list.
_NAMES = {"NonKeyAttributes": "AttributeName", "GlobalSecondaryIndexes": "IndexName"}


class WorkbenchModel(Struct, frozen=True):
    """A model file, and the declarations that it does not contain."""

    model: dict[str, Any]
    #: One line for each declaration that the format cannot hold.
    left_out: tuple[str, ...]


def nosql_workbench(design: Design) -> WorkbenchModel:
    """Return the model of a design; raise DesignLoadError if its sample data cannot be stored."""
    rows = _sample_rows(design)
    left_out: list[str] = []
    model = {
        "ModelName": design.name,
        "ModelMetadata": {
            "Author": "",
            "DateCreated": DATE,
            "DateLastModified": DATE,
            "Description": design.doc,
            "AWSService": SERVICE,
            "Version": VERSIONS[-1],
        },
        "DataModel": [_table(table, found, left_out) for table, found in rows.items()],
    }
    if design.workbench is not None:
        kept = {table.name: found for table, found in rows.items()}
        try:
            model = restore_model(model, design.workbench, kept)
        except (AttributeError, KeyError, TypeError) as error:
            raise DesignLoadError(
                f"{design.name}: WORKBENCH is not what `tablewright infer` writes of a model file; "
                "import the file again, or delete WORKBENCH"
            ) from error
    return WorkbenchModel(model, tuple(left_out))


def _sample_rows(design: Design) -> dict[TableMap, list[Item]]:
    """Return the items of each table: in the order of the sample, then others by key."""
    if design.sample is None:
        return {table.__table__: [] for table in design.tables}
    entities: list[Any] = []
    with connect(":memory:", *design.tables) as database:
        load_sample(design, database, entities)
        scan = Scanner(database)
        found = {table.__table__: scan.items(table.__table__) for table in design.tables}
    order: dict[tuple[str, str], int] = {}
    for entity in entities:
        kind = type(entity).__entity__
        order.setdefault((kind.table.name, str(kind.stored_key(entity))), len(order))
    return {
        table: sorted(
            items, key=lambda item: order.get((table.name, str(table.key(item))), len(order))
        )
        for table, items in found.items()
    }


def _table(table: TableMap, rows: list[Item], left_out: list[str]) -> dict[str, Any]:
    described = definition(table, table.name)
    left_out += (f"{table.name}: {each}" for each in _unsupported(described))
    types = _attribute_types(table, described.key_types, rows)
    left_out += (f"{table.name}: {each}" for each in _remove_other_types(rows, types))
    made: dict[str, Any] = {
        "TableName": table.name,
        "KeyAttributes": _key_attributes(described.keys),
        "NonKeyAttributes": write_types(types),
        "TableFacets": list(_facets(table, rows, types)),
    }
    indexes = [_index(index) for index in described.indexes if _has_place(index)]
    if indexes:
        made["GlobalSecondaryIndexes"] = indexes
    return made | {"DataAccess": {"MySql": {}}, **_billing(described.throughput)}


def _billing(capacity: Throughput | None) -> dict[str, Any]:
    """Return the members for the capacity of a table.

    All known files with provisioned capacity also scale it, so it is scaled to itself.
    """
    if capacity is None:
        return {"BillingMode": "PAY_PER_REQUEST"}
    scaling = {
        f"AutoScaling{kind}": {
            "ScalableTargetRequest": {
                "MinCapacity": units,
                "MaxCapacity": units,
                "ServiceRole": "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable",
            },
            "ScalingPolicyConfiguration": {"TargetValue": 70},
        }
        for kind, units in (("Read", capacity.read), ("Write", capacity.write))
    }
    settings = {"ProvisionedThroughput": write_units(capacity)} | scaling
    return {"BillingMode": "PROVISIONED", "ProvisionedCapacitySettings": settings}


def _key_attributes(keys: KeySchema) -> dict[str, dict[str, str]]:
    attributes = write_types({key.name: key.type for key in keys})
    return dict(zip(("PartitionKey", "SortKey"), attributes, strict=False))


# -- what the format cannot hold ------------------------------------------------------------------


def _has_place(index: IndexDescription) -> bool:
    """Whether the format has a place for an index."""
    return not index.is_local and len(index.keys.partition) == 1 and len(index.keys.sort) < 2


def _unsupported(table: TableDescription) -> Iterator[str]:
    """Yield the declarations that the format has no place for."""
    for index in table.indexes:
        if index.is_local:
            yield f"the local index {index.name}"
        elif not _has_place(index):
            yield f"the index {index.name}, which has several attributes in a key"
        elif index.throughput != table.throughput:
            yield f"the capacity of the index {index.name}"
    if table.ttl is not None:
        yield f"TTL, on the attribute {table.ttl}"
    if table.stream is not None:
        yield f"the stream, {table.stream}"
    if table.recovery_days is not None:
        yield "point-in-time recovery"
    if table.is_protected:
        yield "deletion protection"
    if table.tags:
        yield f"the tags {', '.join(name for name, _ in table.tags)}"


def _remove_other_types(rows: list[Item], types: dict[str, str]) -> Iterator[str]:
    """Remove values of other types than their attribute has, and yield what was removed."""
    removed: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for name in [name for name in row if name in types and tag_of(row[name]) != types[name]]:
            removed[name, tag_of(row.pop(name))] += 1
    for (name, tag), count in removed.items():
        values = "value" if count == 1 else "values"
        yield f"{count} {values} of {name} of type {tag}; the attribute has type {types[name]}"


# -- attributes -----------------------------------------------------------------------------------


def _attribute_types(
    table: TableMap, key_types: Mapping[str, str], rows: list[Item]
) -> dict[str, str]:
    """Return the type of every attribute that is not a key of the table.

    First those of indexes, then the type attribute, then those of the entities as declared.
    """
    keys = {name: tag for name, tag in key_types.items() if name not in table.attributes}
    names = dict.fromkeys(keys)
    if table.type_attribute is not None:
        names[table.type_attribute] = None
    for entity in table.entities:
        names |= dict.fromkeys(_stored(entity))
    names |= dict.fromkeys(sorted({name for row in rows for name in row}))
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    for row in rows:
        for name, value in row.items():
            found[name][tag_of(value)] += 1
    declared = _declared_tags(table) | keys
    return {
        name: keys.get(name) or _usual(found[name]) or declared.get(name) or "S"
        for name in names
        if name not in table.attributes
    }


def _usual(tags: Counter[str]) -> str | None:
    """Return the most frequent type; NULL if there is no other."""
    ranked = sorted(tags, key=lambda tag: (tag == "NULL", -tags[tag], tag))
    return ranked[0] if ranked else None


def _stored(entity: EntityMap) -> list[str]:
    """Return the attributes that items of an entity can have, the keys of indexes first."""
    composed = [name for key in entity.indexes for name in key.composed]
    return composed + [each.stored for each in entity.attributes.values() if not each.is_key_only]


def _declared_tags(table: TableMap) -> dict[str, str]:
    """Return the types that declarations determine."""
    tags = {
        attribute.stored: attribute.converter.tag
        for entity in table.entities
        for attribute in entity.attributes.values()
    }
    if table.type_attribute is not None:
        tags[table.type_attribute] = _TYPE_TAGS[table.type_form]
    return {name: tag for name, tag in tags.items() if tag is not None}


# -- indexes and facets ---------------------------------------------------------------------------


def _index(index: IndexDescription) -> dict[str, Any]:
    return {
        "IndexName": index.name,
        "KeyAttributes": _key_attributes(index.keys),
        "Projection": write_index(index)["Projection"],
    }


def _facets(table: TableMap, rows: list[Item], types: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a facet for each entity, and then for each of its unique values."""

    def facet(name: str, key: KeyMap, rows: list[Item], attributes: set[str]) -> dict[str, Any]:
        aliases = [_in_words(key.templates[name]) for name in table.attributes if name]
        roles = ("PartitionKeyAlias", "SortKeyAlias")
        return {
            "FacetName": name,
            "KeyAttributeAlias": dict(zip(roles, aliases, strict=False)),
            "TableData": rows,
            "NonKeyAttributes": [name for name in types if name in attributes],
            "DataAccess": {"MySql": {}},
        }

    kinds = [(table.identify(row), row) for row in rows]
    for entity in table.entities:
        found = [row for kind, row in kinds if entity.includes(kind.stored)]
        names = {*_stored(entity), *_names(found), table.type_attribute or ""}
        yield facet(entity.name, entity.primary, found, names)
        for unique in entity.uniques:
            found = [
                row
                for kind, row in kinds
                if kind.unique is not None and kind.unique.type_name == unique.type_name
            ]
            yield facet(unique.type_name, unique.key, found, _names(found))


def _names(rows: list[Item]) -> set[str]:
    return {name for row in rows for name in row}


def _in_words(template: Template) -> str:
    """Return a key as the format labels it: `ORDER#created_at#order_id`."""
    return "".join(piece if isinstance(piece, str) else piece.label for piece in template.pieces)


def restore_model(
    made: dict[str, Any], frame: Mapping[str, Any], rows: Mapping[str, list[Item]]
) -> dict[str, Any]:
    """Return a model with the members of a frame; `rows` are those of each table."""
    metadata = made["ModelMetadata"]
    decided = {name: metadata[name] for name in ("AWSService", "Version")}
    frames = _named(frame["DataModel"], "TableName")
    return {
        "ModelName": made["ModelName"],
        **frame,
        "ModelMetadata": {**(frame.get("ModelMetadata") or metadata), **decided},
        "DataModel": [
            _restored_table(table, frames[name], rows[name]) if name in frames else table
            for name, table in _named(made["DataModel"], "TableName").items()
        ],
    }


def _restored_table(
    made: dict[str, Any], frame: Mapping[str, Any], rows: list[Item]
) -> dict[str, Any]:
    """Return a table with the members of its frame, and its rows in their facets."""
    decided = {name: value for name, value in made.items() if name != "TableFacets"}
    decided["DataAccess"] = frame.get("DataAccess", made["DataAccess"])
    if "ProvisionedCapacitySettings" in made and "ProvisionedCapacitySettings" in frame:
        made_capacity = made["ProvisionedCapacitySettings"]  # without its scaling
        decided["ProvisionedCapacitySettings"] = {
            "ProvisionedThroughput": made_capacity["ProvisionedThroughput"]
        }
    attributes = _named(frame.get("NonKeyAttributes") or (), "AttributeName")
    attributes |= _restored_members(made, frame, "NonKeyAttributes")
    decided["NonKeyAttributes"] = list(attributes.values())
    if "GlobalSecondaryIndexes" in frame or "GlobalSecondaryIndexes" in made:
        indexes = _restored_members(made, frame, "GlobalSecondaryIndexes")
        decided["GlobalSecondaryIndexes"] = list(indexes.values())
    if frame.get("TableFacets"):
        facets = _Facets(made, frame, rows)
        decided["TableFacets"] = facets.restored
        if "TableData" in frame:
            decided["TableData"] = facets.rows_of(frame["TableData"])
    else:
        decided["TableData"] = rows
    table: dict[str, Any] = _overlay(dict(frame), decided)
    return table


def _named(members: Iterable[Any], name: str) -> dict[str, Any]:
    return {each[name]: each for each in members}


def _restored_members(
    made: dict[str, Any], frame: Mapping[str, Any], member: str
) -> dict[str, Any]:
    """Return the members of a list of the design, each with what the frame has of it."""
    name = _NAMES[member]
    kept = _named(frame.get(member) or (), name)
    return {each[name]: _overlay(kept.get(each[name]), each) for each in made.get(member, ())}


def _overlay(kept: Any, made: Any) -> Any:
    """Return a value of the design, with the other members of the kept one."""
    if not isinstance(kept, dict) or not isinstance(made, dict):
        return made
    found = {
        name: _overlay(value, made.get(name, value))
        for name, value in kept.items()
        if name in made or name not in _DECIDED
    }
    return found | {name: value for name, value in made.items() if name not in found}


class _Facets:
    """The facets of a table, and which rows are in them."""

    def __init__(self, made: dict[str, Any], frame: Mapping[str, Any], rows: list[Item]) -> None:
        self._names = [each["AttributeName"] for each in made["KeyAttributes"].values()]
        self._rows = {row_key(row, self._names): row for row in rows}
        facets: list[dict[str, Any]] = frame["TableFacets"]
        self.restored = [
            {**facet, "TableData": self.rows_of(facet["TableData"])} for facet in facets
        ]
        listed = [set(map(tuple, facet["TableData"])) for facet in facets]
        placed = set(map(tuple, frame.get("TableData") or ())).union(*listed)
        for own in made["TableFacets"]:
            keys = [row_key(row, self._names) for row in own["TableData"]]
            new = [self._rows[key] for key in keys if key not in placed]
            place = next((n for n, each in enumerate(listed) if each.intersection(keys)), None)
            if place is not None:
                self.restored[place]["TableData"] += new
            elif new:
                self.restored.append(own | {"TableData": new})
        known = _named(frame.get("NonKeyAttributes") or (), "AttributeName")
        for facet in self.restored:
            self._add_attributes(facet, known, placed)

    def _add_attributes(
        self, facet: dict[str, Any], known: Container[str], placed: Container[tuple[str, ...]]
    ) -> None:
        """Add the attributes of new rows, and new attributes, to a facet."""
        names = facet.get("NonKeyAttributes") or []
        found = {
            name
            for row in facet["TableData"]
            for name in row
            if name not in known or row_key(row, self._names) not in placed
        }
        new = sorted(found.difference(names, self._names))
        if new:
            facet["NonKeyAttributes"] = [*names, *new]

    def rows_of(self, keys: Iterable[Sequence[str]]) -> list[Item]:
        """Return the rows that still exist of those with these keys."""
        return [self._rows[tuple(key)] for key in keys if tuple(key) in self._rows]
