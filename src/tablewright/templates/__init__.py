"""Reads CloudFormation, CDK and Terraform files; `publish.infrastructure` writes them.

The tables that such a template declares become CreateTable requests.

    document         a file -> JSON values: JSON, YAML with CloudFormation's short tags
    intrinsics       Ref, Fn::Sub, Fn::If, ... of a CloudFormation template -> values
    cloudformation   AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable -> DeclaredTable
    terraform        `terraform show -json`, of a plan or a state -> DeclaredTable
    table            DeclaredTable: its requests; create it in an engine, or compare it

`read_tables` reads a file or a folder of `cdk synth`. Reading needs no engine and no AWS. Every
mistake raises `TemplateRefused` with the file, the resource and the property.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tablewright.errors import TemplateRefused
from tablewright.templates.cloudformation import read_cloudformation
from tablewright.templates.document import find_templates, load_document
from tablewright.templates.table import DeclaredTable, create_tables
from tablewright.templates.terraform import read_terraform

__all__ = ["DeclaredTable", "create_tables", "read_tables"]


def read_tables(
    path: str | Path, parameters: Mapping[str, str] | None = None
) -> list[DeclaredTable]:
    """Read the tables of a CloudFormation template, a CDK output or `terraform show -json`.

    `parameters` are values for the parameters of a CloudFormation template; others have their
    defaults.
    """
    found: list[DeclaredTable] = []
    for file in find_templates(Path(path)):
        document = load_document(file)
        if "Resources" in document:
            found += read_cloudformation(str(file), document, parameters or {})
        elif "planned_values" in document or "values" in document:
            found += read_terraform(str(file), document)
        else:
            raise TemplateRefused(
                f"{file}: neither a CloudFormation template (it has no Resources) nor the output "
                "of `terraform show -json` (it has no planned_values and no values)"
            )
    same: dict[str, list[str]] = {}
    for table in found:
        same.setdefault(table.name, []).append(table.resource)
    for name, resources in same.items():
        if len(resources) > 1:
            raise TemplateRefused(f"{path}: {' and '.join(resources)} have the name {name!r}")
    return found
