"""CDK: an application in Python with the tables of a design, each as a TableV2.

TableV2 synthesises AWS::DynamoDB::GlobalTable, so the resources are those of
`cloudformation(design, global_table=True)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import Any

from tablewright.publish.infrastructure.resource import TableResource, table_resources
from tablewright.verify.design import Design

#: The length of a call or list that stays on one line; the deepest are indented by 36 columns.
MAX_LINE = 64
_INDEXES = {"local": "LocalSecondaryIndexProps", "global": "GlobalSecondaryIndexPropsV2"}
_TYPES = {"S": "STRING", "N": "NUMBER", "B": "BINARY"}
_APP = '''\
"""The tables of {design} as an application of the AWS Cloud Development Kit."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


class {stack}(cdk.Stack):
    """The tables of {design}."""

    def __init__(self, scope: Construct, construct_id: str, **options: Any) -> None:
        super().__init__(scope, construct_id, **options)
{tables}

if __name__ == "__main__":
    app = cdk.App()
    {stack}(app, {name})
    app.synth()
'''


def cdk(design: Design) -> str:
    """Return the source of an application: `cdk synth --app "python3 FILE"` runs it."""
    words = re.findall(r"[A-Za-z0-9]+", design.name)
    return _APP.format(
        design=design.name,
        stack="".join(word[0].upper() + word[1:] for word in words) + "Tables",
        name=_text("-".join(words)),
        tables="".join(indent(_table(each), " " * 8) for each in table_resources(design)),
    )


def _table(resource: TableResource) -> str:
    """Return the statement that creates a table."""
    arguments = {"table_name": _text(resource.name), **_keys(resource.request, resource)}
    arguments["billing"] = _billing(resource.request)
    for kind in ("local", "global"):
        indexes = [_index(each, kind, resource) for each in resource.indexes(kind.capitalize())]
        if indexes:
            arguments[f"{kind}_secondary_indexes"] = _list(indexes)
    if resource.ttl:
        arguments["time_to_live_attribute"] = _text(resource.ttl)
    if resource.stream_view:
        arguments["dynamo_stream"] = f"dynamodb.StreamViewType.{resource.stream_view}"
    if resource.recovery_days is not None:
        arguments["point_in_time_recovery_specification"] = _call(
            "dynamodb.PointInTimeRecoverySpecification",
            {
                "point_in_time_recovery_enabled": "True",
                "recovery_period_in_days": str(resource.recovery_days),
            },
        )
    if resource.is_protected:
        arguments["deletion_protection"] = "True"
    if resource.tags:
        arguments["tags"] = _list(
            _call("cdk.CfnTag", {"key": _text(tag["Key"]), "value": _text(tag["Value"])})
            for tag in resource.tags
        )
    arguments["removal_policy"] = "cdk.RemovalPolicy.RETAIN"
    variable = re.sub(r"\W", "_", resource.name).lower()
    call = _call("dynamodb.TableV2", arguments, ["self", _text(resource.logical_id)])
    return f"self.{variable} = {call}\n"


def _index(index: Mapping[str, Any], kind: str, resource: TableResource) -> str:
    arguments = {"index_name": _text(index["IndexName"]), **_keys(index, resource)}
    if kind == "local":
        del arguments["partition_key"]
    projection = index["Projection"]
    arguments["projection_type"] = f"dynamodb.ProjectionType.{projection['ProjectionType']}"
    if "NonKeyAttributes" in projection:
        arguments["non_key_attributes"] = _list(map(_text, projection["NonKeyAttributes"]))
    throughput = index.get("ProvisionedThroughput")
    if throughput is not None:
        arguments["read_capacity"] = _fixed(throughput["ReadCapacityUnits"])
        arguments["write_capacity"] = _autoscaled(throughput["WriteCapacityUnits"])
    return _call(f"dynamodb.{_INDEXES[kind]}", arguments)


def _keys(holder: Mapping[str, Any], resource: TableResource) -> dict[str, str]:
    """Return the key arguments; a key of several attributes has an argument of its own."""
    arguments = {}
    for kind, word in (("HASH", "partition_key"), ("RANGE", "sort_key")):
        attributes = [
            _call(
                "dynamodb.Attribute",
                {
                    "name": _text(name),
                    "type": f"dynamodb.AttributeType.{_TYPES[resource.attributes[name]]}",
                },
            )
            for name in (
                key["AttributeName"] for key in holder["KeySchema"] if key["KeyType"] == kind
            )
        ]
        if len(attributes) == 1:
            arguments[word] = attributes[0]
        elif attributes:
            arguments[f"{word}s"] = _list(attributes)
    return arguments


def _billing(request: Mapping[str, Any]) -> str:
    throughput = request.get("ProvisionedThroughput")
    if throughput is None:
        return "dynamodb.Billing.on_demand()"
    return _call(
        "dynamodb.Billing.provisioned",
        {
            "read_capacity": _fixed(throughput["ReadCapacityUnits"]),
            "write_capacity": _autoscaled(throughput["WriteCapacityUnits"]),
        },
    )


def _fixed(units: int) -> str:
    return f"dynamodb.Capacity.fixed({units})"


def _autoscaled(units: int) -> str:
    """Return the write capacity of a global table, which CDK always scales."""
    return _call(
        "dynamodb.Capacity.autoscaled", {"min_capacity": str(units), "max_capacity": str(units)}
    )


def _call(function: str, arguments: Mapping[str, str], positional: Iterable[str] = ()) -> str:
    named = (f"{name}={value}" for name, value in arguments.items())
    return _enclosed(f"{function}(", [*positional, *named], ")")


def _list(values: Iterable[str]) -> str:
    return _enclosed("[", values, "]")


def _enclosed(opening: str, values: Iterable[str], closing: str) -> str:
    """Return the values on one line if it is short, or else on a line each."""
    values = list(values)
    line = f"{opening}{', '.join(values)}{closing}"
    if len(line) <= MAX_LINE and "\n" not in line:
        return line
    body = "".join(f"{value},\n" for value in values)
    return f"{opening}\n{indent(body, '    ')}{closing}"


def _text(value: str) -> str:
    """Return a string literal with double quotes."""
    return json.dumps(value, ensure_ascii=False)
