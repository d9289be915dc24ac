"""Definitions: check the key schemas, indexes and settings of a request and build schema values.

CreateTable and UpdateTable share this module. The checks have DynamoDB's order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tablewright.encoding.truncation import join_truncated
from tablewright.engine.table_settings import build_warm_throughput
from tablewright.errors import ValidationException, invalid
from tablewright.limits import (
    MAX_CAPACITY_UNITS,
    MAX_GLOBAL_INDEXES,
    MAX_INDEX_KEY_ATTRIBUTES,
    MAX_LOCAL_INDEXES,
    MAX_PROJECTED_ATTRIBUTES,
    MAX_TAGS,
)
from tablewright.schema import (
    IndexProjection,
    IndexSchema,
    KeyAttribute,
    KeySchema,
    OnDemand,
    Throughput,
)
from tablewright.wire import requests


def collect_attribute_types(definitions: Iterable[requests.AttributeDefinition]) -> dict[str, str]:
    types: dict[str, str] = {}
    for definition in definitions:
        if definition.attribute_name in types:
            raise ValidationException(f"Attribute Name is duplicated: {definition.attribute_name}")
        types[definition.attribute_name] = definition.attribute_type
    return types


def build_table_keys(
    elements: Sequence[requests.KeySchemaElement], types: Mapping[str, str]
) -> KeySchema:
    names = [element.attribute_name for element in elements]
    if not types.keys() >= set(names) or len(names) > len(types):
        if len(names) > 1:
            raise ValidationException(
                "Invalid KeySchema: Some index key attribute have no definition"
            )
        raise _undefined_attributes(names, types)
    _check_table_elements(elements)
    return _build_key_schema(elements, types)


def build_index_keys(
    elements: Sequence[requests.KeySchemaElement],
    types: Mapping[str, str],
    kind: Literal["local", "global"],
) -> KeySchema:
    names = [element.attribute_name for element in elements]
    if not types.keys() >= set(names):
        raise _undefined_attributes(names, types)
    if kind == "local":
        _check_table_elements(elements)
    else:
        _check_global_elements(elements)
    return _build_key_schema(elements, types)


def _undefined_attributes(names: list[str], types: Mapping[str, str]) -> ValidationException:
    return invalid(
        "Some index key attributes are not defined in AttributeDefinitions. "
        f"Keys: [{join_truncated(names)}], AttributeDefinitions: [{join_truncated(types)}]"
    )


def _check_first_elements(elements: Sequence[requests.KeySchemaElement]) -> None:
    if len({element.attribute_name for element in elements}) < len(elements):
        raise ValidationException(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    if elements[0].key_type != "HASH":
        raise ValidationException(
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
        )


def _check_table_elements(elements: Sequence[requests.KeySchemaElement]) -> None:
    """Check that there is one HASH, then at most one RANGE: keys of a table or local index."""
    _check_first_elements(elements)
    if len(elements) > 1 and elements[1].key_type != "RANGE":
        raise ValidationException(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
        )
    if len(elements) > 2:
        raise ValidationException("Invalid KeySchema: The KeySchema has more than two elements")


def _check_global_elements(elements: Sequence[requests.KeySchemaElement]) -> None:
    """Check that there are up to four HASH, then up to four RANGE: keys of a global index."""
    _check_first_elements(elements)
    kinds = [element.key_type for element in elements]
    if kinds != sorted(kinds):
        raise ValidationException(
            "Invalid KeySchema: "
            "All HASH key attributes must precede RANGE key attributes in the KeySchema"
        )
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > MAX_INDEX_KEY_ATTRIBUTES:
            raise ValidationException(
                "Invalid KeySchema: "
                f"The KeySchema exceeds the maximum allowed number of {kind} key attributes"
            )


def _build_key_schema(
    elements: Sequence[requests.KeySchemaElement], types: Mapping[str, str]
) -> KeySchema:
    def of(kind: str) -> tuple[KeyAttribute, ...]:
        return tuple(
            KeyAttribute(element.attribute_name, types[element.attribute_name])
            for element in elements
            if element.key_type == kind
        )

    return KeySchema(of("HASH"), of("RANGE"))


def build_projection(shape: requests.RequestedProjection) -> IndexProjection:
    kind, names = shape.projection_type, shape.non_key_attributes
    if kind is None:
        raise invalid("Unknown ProjectionType: null")
    if kind != "INCLUDE" and names is not None:
        raise invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and names is None:
        raise invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if len(set(names or ())) < len(names or ()):  # the text is not known for certain
        raise invalid(f"NonKeyAttributes contains duplicates: [{join_truncated(names or ())}]")
    return IndexProjection(kind, tuple(names or ()))


def build_local_index(
    shape: requests.LocalSecondaryIndex, keys: KeySchema, types: Mapping[str, str]
) -> IndexSchema:
    of_index = build_index_keys(shape.key_schema, types, "local")
    if not of_index.sort:
        raise invalid(f"Index KeySchema does not have a range key for index: {shape.index_name}")
    if of_index.partition != keys.partition:
        raise invalid(
            "Index KeySchema does not have the same leading hash key as table KeySchema "
            f"for index: {shape.index_name}. index hash key: {of_index.partition[0].name}, "
            f"table hash key: {keys.partition[0].name}"
        )
    return IndexSchema(shape.index_name, "local", of_index, build_projection(shape.projection))


def build_global_index(
    shape: requests.GlobalSecondaryIndex, types: Mapping[str, str], *, provisioned: bool
) -> IndexSchema:
    keys = build_index_keys(shape.key_schema, types, "global")
    project_row = build_projection(shape.projection)
    name = shape.index_name
    if provisioned and shape.provisioned_throughput is None:
        raise invalid(f"ProvisionedThroughput is not specified for index: {name}")
    if not provisioned and shape.provisioned_throughput is not None:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {name} "
            "when BillingMode is PAY_PER_REQUEST"
        )
    throughput = build_throughput(shape.provisioned_throughput, f" for index {name}")
    return IndexSchema(
        name,
        "global",
        keys,
        project_row,
        throughput=throughput,
        on_demand=build_on_demand(shape.on_demand_throughput),
        warm=build_warm_throughput(
            shape.warm_throughput,
            "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
            throughput,
            name,
        ),
    )


def build_throughput(shape: requests.ProvisionedThroughput | None, where: str = "") -> Throughput:
    if shape is None:
        return Throughput()
    for member, units in (("Read", shape.read), ("Write", shape.write)):
        if units > MAX_CAPACITY_UNITS:
            raise ValidationException(
                f"Given value {units} for {member}CapacityUnits is out of bounds{where}"
            )
    return Throughput(shape.read, shape.write)


def build_on_demand(shape: requests.OnDemandThroughput | None) -> OnDemand | None:
    if shape is None or (shape.read is None and shape.write is None):
        return None
    for member, units in (("Read", shape.read), ("Write", shape.write)):
        if units is not None and (units == 0 or units < -1):
            raise invalid(
                f"Requested Max{member}RequestUnits for OnDemandThroughput for table "
                "is outside of valid range"
            )
    return OnDemand(
        -1 if shape.read is None else shape.read, -1 if shape.write is None else shape.write
    )


def build_table_on_demand(
    shape: requests.OnDemandThroughput | None, billing: str, *, update: bool = False
) -> OnDemand | None:
    limits = build_on_demand(shape)
    if limits and shape and billing == "PROVISIONED":
        member = "Read" if shape.read is not None else "Write"
        # The messages of CreateTable and UpdateTable differ.
        when = (
            "when the table BillingMode is PROVISIONED"
            if update
            else ("when table BillingMode is PROVISIONED.")
        )
        raise invalid(f"Max{member}RequestUnits for OnDemandThroughput cannot be specified {when}")
    return limits


def check_billing(mode: str, shape: requests.ProvisionedThroughput | None) -> None:
    if mode == "PAY_PER_REQUEST" and shape is not None:
        raise invalid(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
            "when BillingMode is PAY_PER_REQUEST"
        )
    if mode == "PROVISIONED" and shape is None:
        raise invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified "
            "when BillingMode is PROVISIONED"
        )


def check_tags(tags: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if len(tags) > MAX_TAGS:
        raise invalid(f"Too many Tags: {len(tags)}, a resource has at most {MAX_TAGS}")
    return tuple(tags.items())


def check_tag_characters(tags: Iterable[requests.Tag]) -> None:
    """Check the characters of new tags, and their prefix. The texts are not known for certain."""
    for tag in tags:
        for kind, text in (("key", tag.key), ("value", tag.value)):
            if not all(map(_is_tag_character, text)):
                raise invalid(
                    f"Tag {kind} {text!r} contains invalid characters; "
                    "it can contain letters, digits, spaces and _ . : / = + - @"
                )
        if tag.key.lower().startswith("aws:"):
            raise invalid(f"Tag key {tag.key!r} starts with 'aws:', which is reserved for AWS")


def _is_tag_character(character: str) -> bool:
    """Return whether a character is a letter, a number or a separator, or one of a few others."""
    return character in "_.:/=+-@" or unicodedata.category(character)[0] in "LNZ"


def check_definitions_used(types: Mapping[str, str], used: Iterable[str]) -> None:
    """Check that every defined attribute is used in a key."""
    names = set(used)
    if types.keys() != names:
        raise invalid(
            f"Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"[{join_truncated(types)}], keys used: [{join_truncated(sorted(names))}]"
        )


def check_indexes(indexes: Sequence[IndexSchema]) -> None:
    """Check that index names are unique and that the limits on indexes are kept."""
    names: set[str] = set()
    for index in indexes:
        if index.name in names:
            raise invalid(f"Duplicate index name: {index.name}")
        names.add(index.name)
    kinds = [index.kind for index in indexes]
    if kinds.count("local") > MAX_LOCAL_INDEXES:
        raise invalid(
            f"Number of LocalSecondaryIndexes exceeds per-table limit of {MAX_LOCAL_INDEXES}"
        )
    if kinds.count("global") > MAX_GLOBAL_INDEXES:
        raise invalid(
            f"GlobalSecondaryIndex count exceeds the per-table limit of {MAX_GLOBAL_INDEXES}"
        )
    if sum(len(index.projection.include) for index in indexes) > MAX_PROJECTED_ATTRIBUTES:
        raise invalid(
            "Number of projected attributes exceeds the per-table limit of "
            f"{MAX_PROJECTED_ATTRIBUTES}"
        )
