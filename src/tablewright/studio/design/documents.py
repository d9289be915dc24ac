"""Documents: what a design yields as files, to copy or download."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from tablewright.publish import document, html_document
from tablewright.publish.iam import AwsAccount, policies
from tablewright.publish.infrastructure import (
    cdk,
    cloudformation,
    create_table_requests,
    terraform,
)
from tablewright.publish.workbench import nosql_workbench
from tablewright.verify import Design


class GeneratedDocument(Struct, frozen=True):
    """A file that is generated from a design."""

    name: str
    title: str
    #: What follows the name of the design in the name of the file.
    suffix: str
    write: Callable[[Design], str]

    def file_name(self, design: Design) -> str:
        return f"{design.name}{self.suffix}"


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


DOCUMENTS = (
    GeneratedDocument("markdown", "Document (Markdown)", ".md", document),
    GeneratedDocument("html", "Document (one page)", ".html", html_document),
    GeneratedDocument(
        "cloudformation",
        "CloudFormation",
        ".template.json",
        lambda design: _as_json(cloudformation(design)),
    ),
    GeneratedDocument("cdk", "CDK (Python)", "_cdk.py", cdk),
    GeneratedDocument("terraform", "Terraform", ".tf", terraform),
    GeneratedDocument(
        "boto3",
        "CreateTable (JSON)",
        ".create-table.json",
        lambda design: _as_json(create_table_requests(design)),
    ),
    GeneratedDocument(
        "iam",
        "IAM policies",
        ".policies.json",
        lambda design: _as_json(policies(design, AwsAccount("*", "*", "aws"))),
    ),
    GeneratedDocument(
        "nosql-workbench",
        "NoSQL Workbench",
        ".nosql-workbench.json",
        lambda design: _as_json(nosql_workbench(design).model),
    ),
)
BY_NAME = {each.name: each for each in DOCUMENTS}
