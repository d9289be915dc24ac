"""Documents: what a design yields as files, to copy or download."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tablewright.publish import document, html_document
from tablewright.publish.iam import AwsAccount, policies
from tablewright.publish.infrastructure import (
    cdk,
    cloudformation,
    create_table_requests,
    terraform,
)
from tablewright.publish.json_document import json_document
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


DOCUMENTS = (
    GeneratedDocument("markdown", "Document (Markdown)", ".md", document),
    GeneratedDocument("html", "Document (one page)", ".html", html_document),
    GeneratedDocument(
        "cloudformation",
        "CloudFormation",
        ".template.json",
        lambda design: json_document(cloudformation(design)),
    ),
    GeneratedDocument("cdk", "CDK (Python)", "_cdk.py", cdk),
    GeneratedDocument("terraform", "Terraform", ".tf", terraform),
    GeneratedDocument(
        "boto3",
        "CreateTable (JSON)",
        ".create-table.json",
        lambda design: json_document(create_table_requests(design)),
    ),
    GeneratedDocument(
        "iam",
        "IAM policies",
        ".policies.json",
        lambda design: json_document(policies(design, AwsAccount("*", "*", "aws"))),
    ),
    GeneratedDocument(
        "nosql-workbench",
        "NoSQL Workbench",
        ".nosql-workbench.json",
        lambda design: json_document(nosql_workbench(design).model),
    ),
)
BY_NAME = {each.name: each for each in DOCUMENTS}
