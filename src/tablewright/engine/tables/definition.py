"""Definitions: check the key schemas, indexes and settings of a request and build schema values.

CreateTable and UpdateTable share this module. The checks have DynamoDB's order. Warm throughput,
encryption and resource policies are stored and described, but do not change how a table works.
Members of features that the engine does not have (replicas, vector indexes) are refused: ignoring
them would promise features that do not exist.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tablewright.engine.tables.describe import effective_warm_throughput
from tablewright.errors import InvalidValue, ValidationException, invalid, join_truncated
from tablewright.limits import (
    MAX_CAPACITY_UNITS,
    MAX_GLOBAL_INDEXES,
    MAX_INDEX_KEY_ATTRIBUTES,
    MAX_LOCAL_INDEXES,
    MAX_PROJECTED_ATTRIBUTES,
    MAX_TAGS,
)
from tablewright.schema import (
    IndexSchema,
    KeyAttribute,
    KeySchema,
    OnDemand,
    ProjectedAttributes,
    Throughput,
    WarmUnits,
)
from tablewright.wire import requests
from tablewright.wire.constraints import Unsupported

MAX_POLICY_SIZE = 20_480
#: DynamoDB has no such text: there, these features exist.
NO_REPLICAS = (
    "Replicas and global tables are not supported by this endpoint: it has one copy of each table. "
    "Remove the replicas from the request"
)
NO_VECTOR_INDEXES = (
    "Vector indexes are not supported by this endpoint. Remove them from the request"
)


def no_throughput(index: str) -> ValidationException:
    return invalid(f"ProvisionedThroughput is not specified for index: {index}")


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


def build_projection(shape: requests.RequestedProjection) -> ProjectedAttributes:
    kind, names = shape.projection_type, shape.non_key_attributes
    if kind is None:
        raise invalid("Unknown ProjectionType: null")
    if kind != "INCLUDE" and names is not None:
        raise invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and names is None:
        raise invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if len(set(names or ())) < len(names or ()):  # the text is not known for certain
        raise invalid(f"NonKeyAttributes contains duplicates: [{join_truncated(names or ())}]")
    return ProjectedAttributes(kind, tuple(names or ()))


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
        raise no_throughput(name)
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


def refuse_unsupported(request: requests.CreateTableInput | requests.UpdateTableInput) -> None:
    """Refuse members of features that the engine does not have."""
    if isinstance(request, requests.CreateTableInput):
        replicas: tuple[object, ...] = (request.global_table_source,)
        vectors = request.vector_indexes
    else:
        replicas = (
            request.replica_updates,
            request.witness_updates,
            request.multi_region_consistency,
        )
        vectors = request.vector_index_updates
    if any(member is not None for member in replicas):
        raise ValidationException(NO_REPLICAS)
    refuse_vector_indexes(vectors)


def refuse_vector_indexes(vectors: Sequence[Unsupported] | None) -> None:
    """Refuse vector indexes, which the engine does not have."""
    if vectors:
        raise ValidationException(NO_VECTOR_INDEXES)


# -- warm throughput


def build_warm_throughput(
    shape: requests.RequestedWarmThroughput | None,
    billing: str,
    throughput: Throughput,
    index: str | None = None,
) -> WarmUnits:
    """Build the warm throughput of a new table or index."""
    read, write = effective_warm_throughput(billing, throughput, WarmUnits())
    if billing == "PAY_PER_REQUEST":
        # DynamoDB's message ends with a link, which is not known for certain.
        problems = ["initial throughput for OnDemand."] * 2
    else:
        problems = [
            f"{member}CapacityUnits of ProvisionedThroughput" for member in ("Read", "Write")
        ]
    return _build_at_least(shape, (read, write), index, problems)


def change_warm_throughput(
    shape: requests.RequestedWarmThroughput | None,
    billing: str,
    throughput: Throughput,
    warm: WarmUnits,
    index: str | None = None,
) -> WarmUnits:
    """Return the warm throughput after an UpdateTable; it cannot be decreased."""
    if shape is None:
        return warm
    current = effective_warm_throughput(billing, throughput, warm)
    problems = ["current WarmThroughput, decreasing WarmThroughput is not supported"] * 2
    changed = _build_at_least(shape, current, index, problems)
    return WarmUnits(changed.read or warm.read, changed.write or warm.write)


def _build_at_least(
    shape: requests.RequestedWarmThroughput | None,
    least: tuple[int, int],
    index: str | None,
    problems: list[str],
) -> WarmUnits:
    if shape is None:
        return WarmUnits()
    where = f"index {index}" if index else "table"
    for member, units, minimum, problem in zip(
        ("Read", "Write"), (shape.read, shape.write), least, problems, strict=True
    ):
        if units is not None and units < minimum:
            raise invalid(
                f"Requested {member}UnitsPerSecond for WarmThroughput for {where} "
                f"is lower than {problem}"
            )
    return WarmUnits(shape.read or 0, shape.write or 0)


# -- encryption


def check_encryption(shape: requests.SSESpecification | None) -> None:
    """Check that the members of an SSESpecification fit together."""
    if shape is None:
        return
    if not shape.enabled:
        for member, value in (("SSEType", shape.sse_type), ("KMSMasterKeyId", shape.key_id)):
            if value is not None:
                raise invalid(f"{member} can not be specified if Enabled is false")
    elif shape.key_id is not None and shape.sse_type is None:
        raise invalid("SSEType KMS is required if KMSMasterKeyId is specified")
    if shape.sse_type == "AES256":
        raise invalid("SSEType AES256 is not supported")


def check_encryption_changes(
    shape: requests.SSESpecification, *, encrypted: bool, key: str | None
) -> None:
    """Check that an UpdateTable changes the encryption of a table, as DynamoDB requires."""
    if not shape.enabled and not encrypted:
        raise invalid("Table is already encrypted by default")
    if shape.enabled and encrypted and shape.key_id == key:
        raise invalid(
            "Table is already encrypted with given KMSMasterKeyId. "
            "Use KMSMasterKeyId parameter if you want to change Master Key"
        )


# -- resource policies


def check_policy_text(text: str) -> str:
    """Check a resource policy and return its text."""
    if len(text.encode()) > MAX_POLICY_SIZE:
        raise invalid(f"Maximum policy size of {MAX_POLICY_SIZE} bytes exceeded")
    from tablewright.policy import parse_resource_policy

    try:
        parse_resource_policy(text)
    except InvalidValue as error:  # DynamoDB describes the mistake in other words
        raise invalid(f"Invalid policy document: {error}") from None
    return text
