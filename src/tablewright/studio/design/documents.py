"""Documents: what a design yields as files, to copy or download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from tablewright.publish import document, html_document
from tablewright.publish.iam import AwsAccount, policies
from tablewright.publish.infrastructure import cdk, cloudformation, create_table_requests, terraform
from tablewright.publish.json_document import json_document
from tablewright.publish.workbench import nosql_workbench
from tablewright.verify import Design


class GeneratedDocument(Struct, frozen=True):
    """A file that is generated from a design."""

    name: str
    title: str
    #: What follows the name of the design in the name of the file.
    suffix: str
    #: Returns its text, or what it has as JSON.
    content: Callable[[Design], Any]

    def file_name(self, design: Design) -> str:
        return f"{design.name}{self.suffix}"

    def write(self, design: Design) -> str:
        """Return the text of the file."""
        found = self.content(design)
        return found if isinstance(found, str) else json_document(found)


def _policies(design: Design) -> Any:
    return policies(design, AwsAccount("*", "*", "aws"))


def _workbench(design: Design) -> Any:
    return nosql_workbench(design).model


DOCUMENTS = (
    GeneratedDocument("markdown", "Document (Markdown)", ".md", document),
    GeneratedDocument("html", "Document (one page)", ".html", html_document),
    GeneratedDocument("cloudformation", "CloudFormation", ".template.json", cloudformation),
    GeneratedDocument("cdk", "CDK (Python)", "_cdk.py", cdk),
    GeneratedDocument("terraform", "Terraform", ".tf", terraform),
    GeneratedDocument("boto3", "CreateTable (JSON)", ".create-table.json", create_table_requests),
    GeneratedDocument("iam", "IAM policies", ".policies.json", _policies),
    GeneratedDocument("nosql-workbench", "NoSQL Workbench", ".nosql-workbench.json", _workbench),
)
BY_NAME = {each.name: each for each in DOCUMENTS}
