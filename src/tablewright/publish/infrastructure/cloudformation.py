"""CloudFormation: a template with the tables of a design.

A table is kept when the stack is deleted and when CloudFormation would replace it. The billing mode
is always written, because CloudFormation's default is provisioned throughput.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tablewright.publish.infrastructure.resource import TableResource, table_resources
from tablewright.verify.design import Design


def cloudformation(design: Design, *, global_table: bool = False) -> dict[str, Any]:
    """Return a CloudFormation template.

    With `global_table`, tables are of the type AWS::DynamoDB::GlobalTable, with one replica in the
    region of the stack. A table cannot be changed into a global table later.
    """
    resources = table_resources(design)
    return template(resources, f"The tables of {design.name}", global_table=global_table)


def template(
    resources: list[TableResource], description: str, *, global_table: bool = False
) -> dict[str, Any]:
    """Return a template with these tables."""
    render = _global_table if global_table else _table
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": description,
        "Resources": {
            resource.logical_id: {
                "Type": f"AWS::DynamoDB::{'GlobalTable' if global_table else 'Table'}",
                "DeletionPolicy": "Retain",
                "UpdateReplacePolicy": "Retain",
                "Properties": render(resource),
            }
            for resource in resources
        },
        "Outputs": {
            key: value for resource in resources for key, value in _outputs(resource).items()
        },
    }


def _outputs(resource: TableResource) -> dict[str, Any]:
    names = {"Name": {"Ref": resource.logical_id}, "Arn": _attribute(resource, "Arn")}
    if resource.table.stream:
        names["StreamArn"] = _attribute(resource, "StreamArn")
    return {f"{resource.logical_id}{name}": {"Value": value} for name, value in names.items()}


def _attribute(resource: TableResource, name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [resource.logical_id, name]}


def _table(resource: TableResource) -> dict[str, Any]:
    return {**_common(resource), **_per_region(resource)}


def _global_table(resource: TableResource) -> dict[str, Any]:
    """Return the properties of a global table: settings of a region are those of its replica."""
    properties = _common(resource)
    replica = {"Region": {"Ref": "AWS::Region"}, **_per_region(resource)}
    _split_throughput(properties, replica)
    indexes = properties.get("GlobalSecondaryIndexes")
    if indexes:
        replicated: list[dict[str, Any]] = [{"IndexName": index["IndexName"]} for index in indexes]
        for index, there in zip(indexes, replicated, strict=True):
            _split_throughput(index, there)
        replica["GlobalSecondaryIndexes"] = replicated
    return {**properties, "Replicas": [replica]}


def _split_throughput(shared: dict[str, Any], replica: dict[str, Any]) -> None:
    """Move provisioned throughput to where a global table has it.

    Writes are the same in all regions, and CloudFormation always scales them; reads belong to the
    replica.
    """
    throughput = shared.pop("ProvisionedThroughput", None)
    if throughput is None:
        return
    units = throughput["WriteCapacityUnits"]
    shared["WriteProvisionedThroughputSettings"] = {
        "WriteCapacityAutoScalingSettings": {
            "MinCapacity": units,
            "MaxCapacity": units,
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70},
        }
    }
    replica["ReadProvisionedThroughputSettings"] = {
        "ReadCapacityUnits": throughput["ReadCapacityUnits"]
    }


def _common(resource: TableResource) -> dict[str, Any]:
    """Return the properties that a table and a global table share."""
    table = resource.table
    # The other members of the request are the same in a template.
    properties = replace(table, stream=None, is_protected=False, tags=()).to_create_table()
    if table.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    if table.stream:
        properties["StreamSpecification"] = {"StreamViewType": table.stream}
    return properties


def _per_region(resource: TableResource) -> dict[str, Any]:
    """Return the properties that a global table has in its replicas."""
    properties: dict[str, Any] = {}
    table = resource.table
    if table.is_protected:
        properties["DeletionProtectionEnabled"] = True
    if table.recovery_days is not None:
        properties["PointInTimeRecoverySpecification"] = {
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": table.recovery_days,
        }
    if table.tags:
        properties["Tags"] = [{"Key": name, "Value": value} for name, value in table.tags]
    return properties
