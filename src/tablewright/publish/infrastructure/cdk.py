"""CDK: an application in Python with the tables of a design, each as a TableV2.

TableV2 synthesises AWS::DynamoDB::GlobalTable, so the resources are those of
`cloudformation(design, global_table=True)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent

from tablewright.publish.infrastructure.cloudformation import declared_tables, logical_id
from tablewright.schema import KeySchema, Throughput
from tablewright.table_description import IndexDescription, TableDescription
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


def cdk(design: Design, tables: Sequence[TableDescription] | None = None) -> str:
    """Return the source of an application: `cdk synth --app "python3 FILE"` runs it.

    `tables` replace those of the design.
    """
    declared = declared_tables(design) if tables is None else tables
    return _APP.format(
        design=design.name,
        stack=f"{logical_id(design.name)}Tables",
        name=_text("-".join(re.findall(r"[A-Za-z0-9]+", design.name))),
        tables="".join(indent(_table(each), " " * 8) for each in declared),
    )


def _table(table: TableDescription) -> str:
    """Return the statement that creates a table."""
    arguments = {"table_name": _text(table.name), **_keys(table.keys)}
    arguments["billing"] = "dynamodb.Billing.on_demand()"
    if table.throughput is not None:
        arguments["billing"] = _call("dynamodb.Billing.provisioned", _capacity(table.throughput))
    for kind, indexes in (("local", table.local_indexes), ("global", table.global_indexes)):
        if indexes:
            arguments[f"{kind}_secondary_indexes"] = _list(map(_index, indexes))
    if table.ttl:
        arguments["time_to_live_attribute"] = _text(table.ttl)
    if table.stream:
        arguments["dynamo_stream"] = f"dynamodb.StreamViewType.{table.stream}"
    if table.recovery_days is not None:
        arguments["point_in_time_recovery_specification"] = _call(
            "dynamodb.PointInTimeRecoverySpecification",
            {
                "point_in_time_recovery_enabled": "True",
                "recovery_period_in_days": str(table.recovery_days),
            },
        )
    if table.is_protected:
        arguments["deletion_protection"] = "True"
    if table.tags:
        arguments["tags"] = _list(
            _call("cdk.CfnTag", {"key": _text(name), "value": _text(value)})
            for name, value in table.tags
        )
    arguments["removal_policy"] = "cdk.RemovalPolicy.RETAIN"
    variable = re.sub(r"\W", "_", table.name).lower()
    call = _call("dynamodb.TableV2", arguments, ["self", _text(logical_id(table.name))])
    return f"self.{variable} = {call}\n"


def _index(index: IndexDescription) -> str:
    keys = KeySchema((), index.keys.sort) if index.is_local else index.keys
    arguments = {"index_name": _text(index.name), **_keys(keys)}
    arguments["projection_type"] = f"dynamodb.ProjectionType.{index.projection.type}"
    if index.projection.type == "INCLUDE":
        arguments["non_key_attributes"] = _list(map(_text, index.projection.include))
    if index.throughput is not None:
        arguments |= _capacity(index.throughput)
    return _call(f"dynamodb.{_INDEXES[index.kind]}", arguments)


def _keys(keys: KeySchema) -> dict[str, str]:
    """Return the key arguments; a key of several attributes has an argument of its own."""
    arguments = {}
    for side, word in ((keys.partition, "partition_key"), (keys.sort, "sort_key")):
        attributes = [
            _call(
                "dynamodb.Attribute",
                {"name": _text(key.name), "type": f"dynamodb.AttributeType.{_TYPES[key.type]}"},
            )
            for key in side
        ]
        if len(attributes) == 1:
            arguments[word] = attributes[0]
        elif attributes:
            arguments[f"{word}s"] = _list(attributes)
    return arguments


def _capacity(units: Throughput) -> dict[str, str]:
    """Return the capacity arguments; CDK always scales the writes of a global table."""
    scale = {f"{bound}_capacity": str(units.write) for bound in ("min", "max")}
    return {
        "read_capacity": f"dynamodb.Capacity.fixed({units.read})",
        "write_capacity": _call("dynamodb.Capacity.autoscaled", scale),
    }


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
