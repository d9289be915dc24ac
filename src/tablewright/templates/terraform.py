"""Terraform: resources `aws_dynamodb_table` in the output of `terraform show -json`.

A plan has `planned_values`, a state has `values`; both hold modules with resources, whose `values`
have the names of the provider's arguments. A block is a list of objects, also if at most one is
allowed. A value that is known only after apply is missing from a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tablewright.schema import (
    KeyAttribute,
    KeySchema,
    OnDemand,
    ProjectedAttributes,
    Throughput,
    WarmUnits,
)
from tablewright.table_description import IndexDescription, TableDescription
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
    is_provisioned = (values.get("billing_mode") or "PROVISIONED") == "PROVISIONED"
    types = {one.get("name"): one.get("type") for one in values["attribute"]}
    table = TableDescription(
        values["name"],
        _keys(values, types),
        (
            *(
                _index(index, "local", _keys({**index, "hash_key": values["hash_key"]}, types))
                for index in values.get("local_secondary_index") or ()
            ),
            *(
                _index(index, "global", _keys(index, types), **_capacity(index, is_provisioned))
                for index in values.get("global_secondary_index") or ()
            ),
        ),
        # Without a view type, CreateTable refuses the stream.
        stream=values.get("stream_view_type") or "" if values.get("stream_enabled") else None,
        table_class=values.get("table_class") or None,
        is_protected=bool(values.get("deletion_protection_enabled")),
        tags=tuple({**(values.get("tags_all") or {}), **(values.get("tags") or {})}.items()),
        **_capacity(values, is_provisioned),
    )
    encryption = _block(values, "server_side_encryption")
    is_encrypted = bool(encryption.get("enabled"))
    sse = {"SSESpecification": _encryption(encryption)} if is_encrypted else {}
    ttl, recovery = _block(values, "ttl"), _block(values, "point_in_time_recovery")
    days = recovery.get("recovery_period_in_days")
    regions = [str(one.get("region_name")) for one in values.get("replica") or ()]
    return DeclaredTable(
        file=at.file,
        resource=at.path,
        request=table.to_create_table() | sse,
        ttl=ttl.get("attribute_name") or None if ttl.get("enabled") else None,
        recovery=drop_missing({"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days})
        if recovery.get("enabled")
        else None,
        notes=(f"replicas in {', '.join(regions)} are ignored",) if regions else (),
    )


def _block(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a block that may occur once; an empty one if it is missing."""
    found = values.get(name) or [{}]
    block: Mapping[str, Any] = found[0] or {}
    return block


def _keys(values: Mapping[str, Any], types: Mapping[Any, Any]) -> KeySchema:
    blocks = values.get("key_schema") or [
        {"attribute_name": values.get("hash_key"), "key_type": "HASH"},
        {"attribute_name": values.get("range_key"), "key_type": "RANGE"},
    ]

    def side(kind: str) -> tuple[KeyAttribute, ...]:
        names = (one.get("attribute_name") for one in blocks if one.get("key_type") == kind)
        return tuple(KeyAttribute(name, types.get(name) or "") for name in names if name)

    return KeySchema(side("HASH"), side("RANGE"))


def _index(
    values: Mapping[str, Any], kind: Literal["local", "global"], keys: KeySchema, **capacity: Any
) -> IndexDescription:
    included = tuple(sorted(values.get("non_key_attributes") or ()))
    projection = ProjectedAttributes(values.get("projection_type") or "", included)
    return IndexDescription(values.get("name") or "", kind, keys, projection, **capacity)


def _capacity(values: Mapping[str, Any], is_provisioned: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if is_provisioned:
        units = (values.get("read_capacity") or 0, values.get("write_capacity") or 0)
        found["throughput"] = Throughput(*units)
    limits = _block(values, "on_demand_throughput")
    if limits:
        most = [limits.get(f"max_{kind}_request_units") or -1 for kind in ("read", "write")]
        found["on_demand"] = OnDemand(*most)
    warm = _block(values, "warm_throughput")
    if warm:
        rates = [warm.get(f"{kind}_units_per_second") or 0 for kind in ("read", "write")]
        found["warm"] = WarmUnits(*rates)
    return found


def _encryption(block: Mapping[str, Any]) -> dict[str, Any]:
    key = block.get("kms_key_arn")
    kind = "KMS" if key else None
    return drop_missing({"Enabled": True, "SSEType": kind, "KMSMasterKeyId": key})
