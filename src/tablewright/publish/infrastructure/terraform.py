"""Terraform: a file with the tables of a design, for version 6 of the AWS provider.

The text is formatted as `terraform fmt` does. Only key attributes are declared: any other
`attribute` block would show up as a change in every plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tablewright.publish.infrastructure.resource import TableResource, table_resources
from tablewright.verify.design import Design

_HEADER = """\
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0"
    }
  }
}
"""


def terraform(design: Design, *, import_existing: bool = False) -> str:
    """Return a Terraform file; `import_existing` adds a block that imports each existing table."""
    parts = [_HEADER]
    for resource in table_resources(design):
        label = _label(resource.name)
        if import_existing:
            address = f"aws_dynamodb_table.{label}"
            parts.append(_block("import", {"to": address, "id": _text(resource.name)}))
        parts.append(_block(f'resource "aws_dynamodb_table" "{label}"', *_table(resource)))
    return "\n".join(parts)


def _table(resource: TableResource) -> tuple[dict[str, str], list[str]]:
    """Return the arguments and the blocks of a table."""
    keys = resource.request["KeySchema"]
    arguments = {"name": _text(resource.name)}
    arguments |= {
        "hash_key" if key["KeyType"] == "HASH" else "range_key": _text(key["AttributeName"])
        for key in keys
    }
    arguments |= {"billing_mode": _text(resource.request["BillingMode"])}
    arguments |= _capacity(resource.request)
    if resource.stream_view:
        arguments |= {"stream_enabled": "true", "stream_view_type": _text(resource.stream_view)}
    if resource.is_protected:
        arguments["deletion_protection_enabled"] = "true"
    blocks = [
        _block("attribute", {"name": _text(name), "type": _text(kind)})
        for name, kind in resource.attributes.items()
    ]
    blocks += [_local_index(index) for index in resource.indexes("Local")]
    blocks += [_global_index(index) for index in resource.indexes("Global")]
    if resource.ttl:
        blocks.append(_block("ttl", {"attribute_name": _text(resource.ttl), "enabled": "true"}))
    if resource.recovery_days is not None:
        blocks.append(
            _block(
                "point_in_time_recovery",
                {"enabled": "true", "recovery_period_in_days": str(resource.recovery_days)},
            )
        )
    if resource.tags:
        tags = {_text(tag["Key"]): _text(tag["Value"]) for tag in resource.tags}
        blocks.append(_block("tags =", tags))
    blocks.append(_block("lifecycle", {"prevent_destroy": "true"}))
    return arguments, blocks


def _local_index(index: Mapping[str, Any]) -> str:
    (sort,) = (key for key in index["KeySchema"] if key["KeyType"] == "RANGE")
    return _block(
        "local_secondary_index",
        {
            "name": _text(index["IndexName"]),
            "range_key": _text(sort["AttributeName"]),
            **_projection(index),
        },
    )


def _global_index(index: Mapping[str, Any]) -> str:
    arguments = {"name": _text(index["IndexName"]), **_projection(index), **_capacity(index)}
    keys = [
        _block(
            "key_schema",
            {"attribute_name": _text(key["AttributeName"]), "key_type": _text(key["KeyType"])},
        )
        for key in index["KeySchema"]
    ]
    return _block("global_secondary_index", arguments, keys)


def _projection(index: Mapping[str, Any]) -> dict[str, str]:
    projection = index["Projection"]
    arguments = {"projection_type": _text(projection["ProjectionType"])}
    if "NonKeyAttributes" in projection:
        names = ", ".join(map(_text, projection["NonKeyAttributes"]))
        arguments["non_key_attributes"] = f"[{names}]"
    return arguments


def _capacity(holder: Mapping[str, Any]) -> dict[str, str]:
    throughput = holder.get("ProvisionedThroughput")
    if throughput is None:
        return {}
    return {
        "read_capacity": str(throughput["ReadCapacityUnits"]),
        "write_capacity": str(throughput["WriteCapacityUnits"]),
    }


def _block(header: str, arguments: Mapping[str, str], blocks: Iterable[str] = ()) -> str:
    """Return a block: aligned arguments, then nested blocks, each after an empty line."""
    width = max(map(len, arguments))
    lines = [f"{name.ljust(width)} = {value}" for name, value in arguments.items()]
    body = "\n".join(["\n".join(lines) + "\n", *blocks])
    return f"{header} {{\n{_indent(body)}}}\n"


def _indent(text: str) -> str:
    return "".join(f"  {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def _label(name: str) -> str:
    """Return a valid identifier: letters, digits, `_` and `-`, not beginning with a digit."""
    label = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return label if label[0].isalpha() or label[0] == "_" else f"_{label}"


def _text(value: str) -> str:
    """Return a quoted string; `${` and `%{` would begin a template."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("${", "$${").replace("%{", "%%{") + '"'
