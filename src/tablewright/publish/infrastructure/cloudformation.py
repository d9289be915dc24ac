"""CloudFormation: a template with the tables of a design.

The tables are those that `connect` creates; all generators begin with `declared_tables`.

A table is kept when the stack is deleted and when CloudFormation would replace it. The billing mode
is always written, because CloudFormation's default is provisioned throughput.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tablewright.errors import InvalidValue
from tablewright.model.databases.provision import definition
from tablewright.plan.relocation.settings import STREAM_OF_MOVES
from tablewright.table_description import TableDescription
from tablewright.verify.design import Design


def declared_tables(design: Design) -> list[TableDescription]:
    """Return the tables of a design, in the order of their declaration."""
    tables = [table.__table__ for table in design.tables]
    return [definition(table, table.name) for table in tables]


def tables_to_move(design: Design, new_name: str | None = None) -> list[TableDescription]:
    """Return the tables of a design as a move to another place needs them.

    The executor follows a stream, and neither of the two tables must be deleted with its stack. The
    only table gets the new name; raise InvalidValue if there are several.
    """
    found = declared_tables(design)
    if new_name is not None and len(found) > 1:
        raise InvalidValue(
            f"{design.name} has {len(found)} tables, and they cannot have the same new name"
        )
    return [
        replace(
            each,
            name=new_name or each.name,
            stream=each.stream or STREAM_OF_MOVES,
            is_protected=True,
        )
        for each in found
    ]


def create_table_requests(design: Design) -> list[dict[str, Any]]:
    """Return the CreateTable request of each table: `client.create_table(**request)`."""
    return [table.to_create_table() for table in declared_tables(design)]


def logical_id(name: str) -> str:
    """Return a name in PascalCase, of letters and digits.

    >>> logical_id("commerce_single_table")
    'CommerceSingleTable'
    """
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)


def cloudformation(
    design: Design,
    *,
    global_table: bool = False,
    tables: Sequence[TableDescription] | None = None,
) -> dict[str, Any]:
    """Return a CloudFormation template; `tables` replace those of the design.

    With `global_table`, tables are of the type AWS::DynamoDB::GlobalTable, with one replica in the
    region of the stack. A table cannot be changed into a global table later.
    """
    render = _global_table if global_table else _table
    resources: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for table in declared_tables(design) if tables is None else tables:
        name = logical_id(table.name)
        resources[name] = {
            "Type": f"AWS::DynamoDB::{'GlobalTable' if global_table else 'Table'}",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": render(table),
        }
        outputs[f"{name}Name"] = {"Value": {"Ref": name}}
        for attribute in ("Arn", "StreamArn") if table.stream else ("Arn",):
            outputs[f"{name}{attribute}"] = {"Value": {"Fn::GetAtt": [name, attribute]}}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The tables of {design.name}",
        "Resources": resources,
        "Outputs": outputs,
    }


def _table(table: TableDescription) -> dict[str, Any]:
    return {**_common(table), **_per_region(table)}


def _global_table(table: TableDescription) -> dict[str, Any]:
    """Return the properties of a global table: settings of a region are those of its replica."""
    properties = _common(table)
    replica = {"Region": {"Ref": "AWS::Region"}, **_per_region(table)}
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


def _common(table: TableDescription) -> dict[str, Any]:
    """Return the properties that a table and a global table share."""
    # The other members of the request are the same in a template.
    properties = replace(table, stream=None, is_protected=False, tags=()).to_create_table()
    if table.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    if table.stream:
        properties["StreamSpecification"] = {"StreamViewType": table.stream}
    return properties


def _per_region(table: TableDescription) -> dict[str, Any]:
    """Return the properties that a global table has in its replicas."""
    properties: dict[str, Any] = {}
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
