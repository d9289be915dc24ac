"""Terraform: resources `aws_dynamodb_table` in the output of `terraform show -json`.

A plan has `planned_values`, a state has `values`; both hold modules with resources, whose `values`
have the names of the provider's arguments. A block is a list of objects, also if at most one is
allowed. A value that is known only after apply is missing from a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.templates.table import DeclaredTable, Location, drop_missing

TABLE = "aws_dynamodb_table"


def read_terraform(file: str, document: Mapping[str, Any]) -> list[DeclaredTable]:
    """Return the tables of a plan or a state."""
    member = "planned_values" if "planned_values" in document else "values"
    values = document[member]
    if not isinstance(values, dict):
        raise Location(file, member).refuse(f"must be an object, not {values!r}")
    return [
        _read_table(Location(file, str(resource.get("address"))), resource.get("values") or {})
        for resource in _resources(values.get("root_module") or {})
        if resource.get("type") == TABLE and resource.get("mode", "managed") == "managed"
    ]


def _resources(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    modules = [root]
    while modules:
        module = modules.pop()
        yield from module.get("resources") or ()
        modules += reversed(module.get("child_modules") or ())


def _read_table(at: Location, values: Mapping[str, Any]) -> DeclaredTable:
    for needed in ("name", "hash_key", "attribute"):
        if not values.get(needed):
            raise (at / needed).refuse(
                "missing; it may be known only after apply: use `terraform show -json` of the state"
            )
    provisioned = (values.get("billing_mode") or "PROVISIONED") == "PROVISIONED"
    encryption = _block(values, "server_side_encryption")
    request = {
        "TableName": values["name"],
        "AttributeDefinitions": [
            {"AttributeName": one.get("name"), "AttributeType": one.get("type")}
            for one in values["attribute"]
        ],
        "KeySchema": _key_schema(values),
        "BillingMode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
        **_capacity(values, provisioned=provisioned),
        "LocalSecondaryIndexes": [
            _index(index, _local_keys(values, index))
            for index in values.get("local_secondary_index") or ()
        ],
        "GlobalSecondaryIndexes": [
            {**_index(index, _key_schema(index)), **_capacity(index, provisioned=provisioned)}
            for index in values.get("global_secondary_index") or ()
        ],
        "StreamSpecification": _stream(values),
        "SSESpecification": _encryption(encryption) if encryption.get("enabled") else None,
        "TableClass": values.get("table_class") or None,
        "DeletionProtectionEnabled": values.get("deletion_protection_enabled") or None,
        "Tags": [
            {"Key": key, "Value": value}
            for key, value in {
                **(values.get("tags_all") or {}),
                **(values.get("tags") or {}),
            }.items()
        ],
    }
    ttl, recovery = _block(values, "ttl"), _block(values, "point_in_time_recovery")
    days = recovery.get("recovery_period_in_days")
    regions = [str(one.get("region_name")) for one in values.get("replica") or ()]
    return DeclaredTable(
        file=at.file,
        resource=at.path,
        request=drop_missing(request),
        ttl=ttl.get("attribute_name") or None if ttl.get("enabled") else None,
        recovery=drop_missing({"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days})
        if recovery.get("enabled")
        else None,
        notes=(f"replicas in {', '.join(regions)} are ignored",) if regions else (),
    )


def _block(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a block that is there at most once; empty if it is missing."""
    found = values.get(name) or [{}]
    block: Mapping[str, Any] = found[0] or {}
    return block


def _key_schema(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks = values.get("key_schema")
    if blocks:
        return [
            {"AttributeName": one.get("attribute_name"), "KeyType": one.get("key_type")}
            for one in blocks
        ]
    names = (values.get("hash_key"), "HASH"), (values.get("range_key"), "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in names if name]


def _local_keys(table: Mapping[str, Any], index: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _key_schema({"hash_key": table["hash_key"], "range_key": index.get("range_key")})


def _index(values: Mapping[str, Any], keys: list[dict[str, Any]]) -> dict[str, Any]:
    projection = {
        "ProjectionType": values.get("projection_type"),
        "NonKeyAttributes": sorted(values.get("non_key_attributes") or ()),
    }
    return {
        "IndexName": values.get("name"),
        "KeySchema": keys,
        "Projection": drop_missing(projection),
    }


def _capacity(values: Mapping[str, Any], *, provisioned: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if provisioned:
        found["ProvisionedThroughput"] = {
            "ReadCapacityUnits": values.get("read_capacity"),
            "WriteCapacityUnits": values.get("write_capacity"),
        }
    limits = _block(values, "on_demand_throughput")
    if limits:
        found["OnDemandThroughput"] = drop_missing(
            {
                "MaxReadRequestUnits": limits.get("max_read_request_units") or None,
                "MaxWriteRequestUnits": limits.get("max_write_request_units") or None,
            }
        )
    warm = _block(values, "warm_throughput")
    if warm:
        found["WarmThroughput"] = drop_missing(
            {
                "ReadUnitsPerSecond": warm.get("read_units_per_second"),
                "WriteUnitsPerSecond": warm.get("write_units_per_second"),
            }
        )
    return found


def _stream(values: Mapping[str, Any]) -> dict[str, Any] | None:
    if not values.get("stream_enabled"):
        return None
    return {"StreamEnabled": True, "StreamViewType": values.get("stream_view_type")}


def _encryption(block: Mapping[str, Any]) -> dict[str, Any]:
    key = block.get("kms_key_arn")
    kind = "KMS" if key else None
    return drop_missing({"Enabled": True, "SSEType": kind, "KMSMasterKeyId": key})
