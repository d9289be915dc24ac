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
    "AttributeDefinitions",
    "KeySchema",
    "BillingMode",
    "LocalSecondaryIndexes",
    "TableName",
    "WarmThroughput",
)
_OF_TABLE = (
    "GlobalSecondaryIndexes",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "TableClass",
    "DeletionProtectionEnabled",
    "Tags",
)
_SETTINGS = (
    "ContributorInsightsSpecification",
    "KinesisStreamSpecification",
    "PointInTimeRecoverySpecification",
    "ResourcePolicy",
    "SSESpecification",
    "StreamSpecification",
    "TimeToLiveSpecification",
)
_KNOWN = {
    TABLE: (*_COMMON, *_OF_TABLE, *_SETTINGS, "ImportSourceSpecification", "VectorIndexes"),
    GLOBAL_TABLE: (
        *_COMMON,
        "GlobalSecondaryIndexes",
        "Replicas",
        "SSESpecification",
        "StreamSpecification",
        "TimeToLiveSpecification",
        "WriteOnDemandThroughputSettings",
        "WriteProvisionedThroughputSettings",
        "ReadOnDemandThroughputSettings",
        "ReadProvisionedThroughputSettings",
        "MultiRegionConsistency",
        "GlobalTableWitnesses",
        "GlobalTableSettingsReplicationMode",
        "GlobalTableSourceArn",
    ),
}
_INDEX_MEMBERS = (
    "IndexName",
    "KeySchema",
    "Projection",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "WarmThroughput",
)
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
    request["StreamSpecification"] = _read_stream(properties.get("StreamSpecification"))
    request["SSESpecification"] = _read_encryption(properties.get("SSESpecification"))
    policy = properties.get("ResourcePolicy")
    if policy is not None:
        request["ResourcePolicy"] = json.dumps(policy.get("PolicyDocument"))
    return DeclaredTable(
        file=at.file,
        resource=f"Resources.{name}",
        request=_convert(drop_missing(request)),
        ttl=_read_ttl(properties.get("TimeToLiveSpecification"), at / "TimeToLiveSpecification"),
        recovery=_read_recovery(properties.get("PointInTimeRecoverySpecification")),
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
    for member in (
        "ContributorInsightsSpecification",
        "DeletionProtectionEnabled",
        "KinesisStreamSpecification",
        "PointInTimeRecoverySpecification",
        "ResourcePolicy",
        "TableClass",
        "Tags",
    ):
        flat[member] = local.get(member)
    key = (local.get("SSESpecification") or {}).get("KMSMasterKeyId")
    if flat["SSESpecification"] and key:
        flat["SSESpecification"] = {**flat["SSESpecification"], "KMSMasterKeyId": key}
    billing = properties.get("BillingMode", "PROVISIONED")
    flat |= _global_capacity(properties, local, billing)
    of_replica = {
        one.get("IndexName"): one for one in _entries(local.get("GlobalSecondaryIndexes"), at)
    }
    flat["GlobalSecondaryIndexes"] = [
        {
            **index,
            **_global_capacity(index, of_replica.get(index.get("IndexName"), {}), billing),
            **_pick(of_replica.get(index.get("IndexName"), {}), "ContributorInsightsSpecification"),
        }
        for index in _entries(properties.get("GlobalSecondaryIndexes"), at)
    ]
    return {member: value for member, value in flat.items() if value is not None}, notes


def _global_capacity(
    table: Mapping[str, Any], replica: Mapping[str, Any], billing: str
) -> dict[str, Any]:
    """Return the throughput of a GlobalTable or its index: writes of all, reads of a replica.

    The smallest capacity counts if it is scaled automatically.
    """
    if billing == "PAY_PER_REQUEST":
        write = (table.get("WriteOnDemandThroughputSettings") or {}).get("MaxWriteRequestUnits")
        read = _first(replica, table, "ReadOnDemandThroughputSettings").get("MaxReadRequestUnits")
        limits = drop_missing({"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write})
        return {"OnDemandThroughput": limits} if limits else {}
    write = table.get("WriteProvisionedThroughputSettings") or {}
    read = _first(replica, table, "ReadProvisionedThroughputSettings")
    return {
        "ProvisionedThroughput": {
            f"{kind}CapacityUnits": settings.get(f"{kind}CapacityUnits")
            or (settings.get(f"{kind}CapacityAutoScalingSettings") or {}).get("MinCapacity", 1)
            for kind, settings in (("Read", read), ("Write", write))
        }
    }


def _first(replica: Mapping[str, Any], table: Mapping[str, Any], member: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = replica.get(member) or table.get(member) or {}
    return found


def _pick(entry: Mapping[str, Any], member: str) -> dict[str, Any]:
    return {member: entry[member]} if member in entry else {}


def _entries(raw: Any, at: Location) -> list[dict[str, Any]]:
    if raw is None:
        return []
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise at.refuse(f"must be a list of objects, not {raw!r}")
    return raw


def _read_stream(raw: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if raw is None:
        return None
    return {"StreamEnabled": True, "StreamViewType": raw.get("StreamViewType")}


def _read_encryption(raw: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if raw is None or not _convert_scalar(raw.get("SSEEnabled")):
        return None
    key = raw.get("KMSMasterKeyId")
    kind = raw.get("SSEType") or ("KMS" if key else None)
    return drop_missing({"Enabled": True, "SSEType": kind, "KMSMasterKeyId": key})


def _read_ttl(raw: Mapping[str, Any] | None, at: Location) -> str | None:
    if raw is None or not _convert_scalar(raw.get("Enabled")):
        return None
    name = raw.get("AttributeName")
    if not isinstance(name, str):
        raise (at / "AttributeName").refuse("missing; TTL needs the name of an attribute")
    return name


def _read_recovery(raw: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if raw is None or not _convert_scalar(raw.get("PointInTimeRecoveryEnabled")):
        return None
    found: dict[str, Any] = _convert(dict(raw))
    return found


def _read_insights(properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    indexes = properties.get("GlobalSecondaryIndexes") or ()
    for resource in (properties, *indexes):
        named = _pick(resource, "IndexName")
        raw = resource.get("ContributorInsightsSpecification") or {}
        if _convert_scalar(raw.get("Enabled")):
            mode = {"ContributorInsightsMode": raw["Mode"]} if raw.get("Mode") else {}
            yield {**named, "ContributorInsightsAction": "ENABLE", **mode}


def _read_kinesis(raw: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if raw is None:
        return None
    precision = _pick(raw, "ApproximateCreationDateTimePrecision")
    request: dict[str, Any] = {"StreamArn": raw.get("StreamArn")}
    if precision:
        request["EnableKinesisStreamingConfiguration"] = precision
    return request


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
