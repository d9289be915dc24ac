"""CloudFormation: AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable as CreateTable requests.

Most properties have the names of CreateTable. These differ:

    StreamSpecification                 has no StreamEnabled; a stream is enabled if it is there
    SSESpecification                    SSEEnabled instead of Enabled
    ResourcePolicy                      {"PolicyDocument": {...}} instead of text
    TimeToLiveSpecification,            have operations of their own
    PointInTimeRecoverySpecification,
    ContributorInsightsSpecification,
    KinesisStreamSpecification
    a GlobalTable                       has tags, class, protection and recovery in its replicas

A table without a name gets its logical id: CloudFormation would add the stack and a random part.
Numbers and booleans may be strings, as in CloudFormation. Unknown properties are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.hints import did_you_mean
from tablewright.templates.intrinsics import REGION, Resolver
from tablewright.templates.table import DeclaredTable, Location, drop_missing

TABLE = "AWS::DynamoDB::Table"
GLOBAL_TABLE = "AWS::DynamoDB::GlobalTable"

#: Properties that CreateTable takes as they are.
_COMMON = (
    "AttributeDefinitions", "KeySchema", "BillingMode", "LocalSecondaryIndexes", "TableName",
    "WarmThroughput",
)  # fmt: skip
_OF_TABLE = (
    "GlobalSecondaryIndexes", "ProvisionedThroughput", "OnDemandThroughput", "TableClass",
    "DeletionProtectionEnabled", "Tags",
)  # fmt: skip
#: Properties of a table that a global table has, too.
_SHARED = ("SSESpecification", "StreamSpecification", "TimeToLiveSpecification")
#: Properties of a table that a global table has in its replicas.
_OF_REPLICA = (
    "ContributorInsightsSpecification", "DeletionProtectionEnabled", "KinesisStreamSpecification",
    "PointInTimeRecoverySpecification", "ResourcePolicy", "TableClass", "Tags",
)  # fmt: skip
_KNOWN = {
    TABLE: (
        *_COMMON, *_OF_TABLE, *_OF_REPLICA, *_SHARED, "ImportSourceSpecification", "VectorIndexes",
    ),
    GLOBAL_TABLE: (
        *_COMMON, "GlobalSecondaryIndexes", "Replicas", *_SHARED,
        "WriteOnDemandThroughputSettings", "WriteProvisionedThroughputSettings",
        "ReadOnDemandThroughputSettings", "ReadProvisionedThroughputSettings",
        "MultiRegionConsistency", "GlobalTableWitnesses", "GlobalTableSettingsReplicationMode",
        "GlobalTableSourceArn",
    ),
}  # fmt: skip
_INDEX_MEMBERS = (
    "IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput",
    "WarmThroughput",
)  # fmt: skip
#: Properties without a counterpart here.
_WITHOUT_EFFECT = ("ImportSourceSpecification", "VectorIndexes")
_NUMBER = re.compile("-?[0-9]{1,18}")
_BOOLEANS = {"true": True, "false": False}


def read_cloudformation(
    file: str, template: Mapping[str, Any], parameters: Mapping[str, str]
) -> list[DeclaredTable]:
    """Return the tables of a template."""
    resources = template["Resources"]
    if not isinstance(resources, dict):
        raise Location(file, "Resources").refuse(f"must be an object, not {resources!r}")
    resolver = Resolver(file, template, parameters)
    found = []
    for name, resource in resources.items():
        at = Location(file, f"Resources.{name}")
        if not isinstance(resource, dict):
            raise at.refuse(f"must be an object, not {resource!r}")
        kind = resource.get("Type")
        if not isinstance(kind, str) or kind not in _KNOWN:
            continue
        try:
            if "Condition" in resource and not resolver.holds(resource["Condition"], at):
                continue
            properties = resolver.resolve(resource.get("Properties") or {}, at / "Properties")
        except RecursionError:
            raise at.refuse("a value depends on itself, or on too many others") from None
        except (TypeError, ValueError, LookupError, AttributeError):
            raise at.refuse(f"a condition has wrong arguments: {resource['Condition']!r}") from None
        if not isinstance(properties, dict):
            raise (at / "Properties").refuse(f"must be an object, not {properties!r}")
        found.append(_read_table(name, kind, properties, at / "Properties"))
    return found


def _read_table(name: str, kind: str, properties: dict[str, Any], at: Location) -> DeclaredTable:
    for given, value in properties.items():
        if given not in _KNOWN[kind]:
            hint = did_you_mean(given, _KNOWN[kind])
            raise (at / given).refuse(f"{kind} has no property {given!r}{hint}")
        is_object = given.endswith("Specification") or given == "ResourcePolicy"
        if is_object and not isinstance(value, dict | None):
            raise (at / given).refuse(f"must be an object, not {value!r}")
    for needed in ("KeySchema", "AttributeDefinitions"):
        if needed not in properties:
            raise (at / needed).refuse("missing; a table needs it")
    notes = [f"{one} is ignored" for one in _WITHOUT_EFFECT if one in properties]
    if kind == GLOBAL_TABLE:
        properties, ignored = _flatten_global_table(properties, at)
        notes += ignored
    request = {member: properties.get(member) for member in (*_COMMON, *_OF_TABLE)}
    request["TableName"] = properties.get("TableName", name)
    if isinstance(request["TableName"], dict | list | None):
        raise (at / "TableName").refuse(f"must be a string, not {request['TableName']!r}")
    request["GlobalSecondaryIndexes"] = [
        {member: index[member] for member in _INDEX_MEMBERS if member in index}
        for index in _entries(properties.get("GlobalSecondaryIndexes"), at)
    ]
    request["BillingMode"] = properties.get("BillingMode", "PROVISIONED")
    stream = properties.get("StreamSpecification")
    if stream is not None:
        view = stream.get("StreamViewType")
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    request["SSESpecification"] = _read_encryption(properties)
    policy = properties.get("ResourcePolicy")
    if policy is not None:
        request["ResourcePolicy"] = json.dumps(policy.get("PolicyDocument"))
    recovery = _enabled(
        properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"
    )
    return DeclaredTable(
        file=at.file,
        resource=f"Resources.{name}",
        request=_convert(drop_missing(request)),
        ttl=_read_ttl(properties, at),
        recovery=_convert(recovery) or None,
        insights=tuple(_read_insights(properties)),
        kinesis=_read_kinesis(properties.get("KinesisStreamSpecification")),
        notes=tuple(notes),
    )


def _flatten_global_table(
    properties: dict[str, Any], at: Location
) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a GlobalTable as those of a Table, and notes.

    They are those of the replica in our region, else of the first replica.
    """
    replicas = _entries(properties.get("Replicas"), at / "Replicas")
    if not replicas:
        raise (at / "Replicas").refuse("missing; a GlobalTable needs a replica")
    local = next((one for one in replicas if one.get("Region") == REGION), replicas[0])
    others = [str(one.get("Region")) for one in replicas if one is not local]
    notes = [f"replicas in {', '.join(others)} are ignored"] if others else []
    flat = {member: properties.get(member) for member in _KNOWN[GLOBAL_TABLE]}
    flat |= {member: local.get(member) for member in _OF_REPLICA}
    key = (local.get("SSESpecification") or {}).get("KMSMasterKeyId")
    if flat["SSESpecification"] and key:
        flat["SSESpecification"] = {**flat["SSESpecification"], "KMSMasterKeyId": key}
    billing = properties.get("BillingMode", "PROVISIONED")
    flat |= _global_capacity(properties, local, billing)
    of_replica = {
        one.get("IndexName"): one for one in _entries(local.get("GlobalSecondaryIndexes"), at)
    }
    indexes = flat["GlobalSecondaryIndexes"] = []
    for index in _entries(properties.get("GlobalSecondaryIndexes"), at):
        own = of_replica.get(index.get("IndexName"), {})
        insights = _pick(own, "ContributorInsightsSpecification")
        indexes.append({**index, **_global_capacity(index, own, billing), **insights})
    return {member: value for member, value in flat.items() if value is not None}, notes


def _global_capacity(
    table: Mapping[str, Any], replica: Mapping[str, Any], billing: str
) -> dict[str, Any]:
    """Return the throughput of a GlobalTable or its index: writes of all, reads of a replica.

    The smallest capacity counts if it is scaled automatically.
    """

    def throughput(mode: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for kind, owners in (("Read", (replica, table)), ("Write", (table,))):
            found = (owner.get(f"{kind}{mode}ThroughputSettings") for owner in owners)
            yield kind, next(filter(None, found), {})

    if billing == "PAY_PER_REQUEST":
        limits = drop_missing(
            {
                f"Max{kind}RequestUnits": settings.get(f"Max{kind}RequestUnits")
                for kind, settings in throughput("OnDemand")
            }
        )
        return {"OnDemandThroughput": limits} if limits else {}
    return {
        "ProvisionedThroughput": {
            f"{kind}CapacityUnits": settings.get(f"{kind}CapacityUnits")
            or (settings.get(f"{kind}CapacityAutoScalingSettings") or {}).get("MinCapacity", 1)
            for kind, settings in throughput("Provisioned")
        }
    }


def _pick(entry: Mapping[str, Any], member: str) -> dict[str, Any]:
    return {member: entry[member]} if member in entry else {}


def _entries(raw: Any, at: Location) -> list[dict[str, Any]]:
    if raw is None:
        return []
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise at.refuse(f"must be a list of objects, not {raw!r}")
    return raw


def _enabled(
    properties: Mapping[str, Any], name: str, switch: str = "Enabled"
) -> Mapping[str, Any]:
    """Return a specification that is enabled; an empty one if it is not, or missing."""
    raw: Mapping[str, Any] = properties.get(name) or {}
    return raw if _convert_scalar(raw.get(switch)) else {}


def _read_encryption(properties: Mapping[str, Any]) -> dict[str, Any] | None:
    raw = _enabled(properties, "SSESpecification", "SSEEnabled")
    key = raw.get("KMSMasterKeyId")
    kind = raw.get("SSEType") or ("KMS" if key else None)
    return drop_missing({"Enabled": True, "SSEType": kind, "KMSMasterKeyId": key}) if raw else None


def _read_ttl(properties: Mapping[str, Any], at: Location) -> str | None:
    raw = _enabled(properties, "TimeToLiveSpecification")
    name = raw.get("AttributeName")
    if raw and not isinstance(name, str):
        where = at / "TimeToLiveSpecification" / "AttributeName"
        raise where.refuse("missing; TTL needs the name of an attribute")
    return name


def _read_insights(properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in (properties, *(properties.get("GlobalSecondaryIndexes") or ())):
        raw = _enabled(resource, "ContributorInsightsSpecification")
        if raw:
            mode = {"ContributorInsightsMode": raw["Mode"]} if raw.get("Mode") else {}
            named = _pick(resource, "IndexName")
            yield {**named, "ContributorInsightsAction": "ENABLE", **mode}


def _read_kinesis(raw: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if raw is None:
        return None
    precision = _pick(raw, "ApproximateCreationDateTimePrecision")
    settings = {"EnableKinesisStreamingConfiguration": precision} if precision else {}
    return {"StreamArn": raw.get("StreamArn"), **settings}


def _convert(value: Any, member: str = "") -> Any:
    """Convert strings to numbers and booleans where DynamoDB has those."""
    if isinstance(value, dict):
        return {name: _convert(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [_convert(entry) for entry in value]
    if member.endswith(("Units", "UnitsPerSecond", "InDays")) and isinstance(value, str):
        return int(value) if _NUMBER.fullmatch(value) else value
    if member.endswith("Enabled"):
        return _convert_scalar(value)
    if member in ("Key", "Value", "AttributeName", "IndexName", "TableName"):
        return str(value)  # YAML reads some names and tags as numbers
    return value


def _convert_scalar(value: Any) -> Any:
    return _BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value
