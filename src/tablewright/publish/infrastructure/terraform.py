"""Terraform: a file with the tables of a design, for version 6 of the AWS provider.

The text is formatted as `terraform fmt` does. Only key attributes are declared: any other
`attribute` block would show up as a change in every plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent

from tablewright.publish.infrastructure.cloudformation import declared_tables
from tablewright.schema import Throughput
from tablewright.table_description import IndexDescription, TableDescription
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


def terraform(
    design: Design,
    *,
    import_existing: bool = False,
    tables: Sequence[TableDescription] | None = None,
) -> str:
    """Return a Terraform file; `tables` replace those of the design.

    `import_existing` adds a block that imports each existing table.
    """
    parts = [_HEADER]
    for table in declared_tables(design) if tables is None else tables:
        label = _label(table.name)
        if import_existing:
            address = f"aws_dynamodb_table.{label}"
            parts.append(_block("import", {"to": address, "id": _text(table.name)}))
        parts.append(_block(f'resource "aws_dynamodb_table" "{label}"', *_table(table)))
    return "\n".join(parts)


def _table(table: TableDescription) -> tuple[dict[str, str], list[str]]:
    """Return the arguments and the blocks of a table."""
    arguments = {"name": _text(table.name), "hash_key": _text(table.keys.partition[0].name)}
    if table.keys.sort:
        arguments["range_key"] = _text(table.keys.sort[0].name)
    arguments |= {"billing_mode": _text(table.billing)} | _capacity(table.throughput)
    if table.stream:
        arguments |= {"stream_enabled": "true", "stream_view_type": _text(table.stream)}
    if table.is_protected:
        arguments["deletion_protection_enabled"] = "true"
    blocks = [
        _block("attribute", {"name": _text(name), "type": _text(kind)})
        for name, kind in table.key_types.items()
    ]
    blocks += [_index(index) for index in (*table.local_indexes, *table.global_indexes)]
    if table.ttl:
        blocks.append(_block("ttl", {"attribute_name": _text(table.ttl), "enabled": "true"}))
    if table.recovery_days is not None:
        blocks.append(
            _block(
                "point_in_time_recovery",
                {"enabled": "true", "recovery_period_in_days": str(table.recovery_days)},
            )
        )
    if table.tags:
        blocks.append(_block("tags =", {_text(name): _text(value) for name, value in table.tags}))
    blocks.append(_block("lifecycle", {"prevent_destroy": "true"}))
    return arguments, blocks


def _index(index: IndexDescription) -> str:
    arguments, keys = {"name": _text(index.name)}, list[str]()
    if index.is_local:
        arguments["range_key"] = _text(index.keys.sort[0].name)
    else:
        keys = [
            _block("key_schema", {"attribute_name": _text(key.name), "key_type": _text(kind)})
            for kind, side in (("HASH", index.keys.partition), ("RANGE", index.keys.sort))
            for key in side
        ]
    arguments["projection_type"] = _text(index.projection.type)
    if index.projection.type == "INCLUDE":
        names = ", ".join(map(_text, index.projection.include))
        arguments["non_key_attributes"] = f"[{names}]"
    arguments |= _capacity(index.throughput)
    return _block(f"{index.kind}_secondary_index", arguments, keys)


def _capacity(throughput: Throughput | None) -> dict[str, str]:
    if throughput is None:
        return {}
    return {"read_capacity": str(throughput.read), "write_capacity": str(throughput.write)}


def _block(header: str, arguments: Mapping[str, str], blocks: Iterable[str] = ()) -> str:
    """Return a block: aligned arguments, then nested blocks, each after an empty line."""
    width = max(map(len, arguments))
    lines = [f"{name.ljust(width)} = {value}" for name, value in arguments.items()]
    body = "\n".join(["\n".join(lines) + "\n", *blocks])
    return f"{header} {{\n{indent(body, '  ')}}}\n"


def _label(name: str) -> str:
    """Return a valid identifier: letters, digits, `_` and `-`, not beginning with a digit."""
    label = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return label if label[0].isalpha() or label[0] == "_" else f"_{label}"


def _text(value: str) -> str:
    """Return a quoted string; `${` and `%{` would begin a template."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("${", "$${").replace("%{", "%%{") + '"'
