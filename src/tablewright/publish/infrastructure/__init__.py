"""Infrastructure: the tables of a design for the tools that deploy them.

    tables_to_move          the tables with what a move to another place needs
    create_table_requests   CreateTable requests, as boto3 takes them
    cloudformation          a CloudFormation template
    terraform               a Terraform file
    cdk                     a CDK application in Python
    migration_plans         what stored items need if the design changes
    stages, runbook         the updates of a stack that lead from one template to another

All of them render the same `TableDescription`: that of the table that `connect` creates.
The output is deterministic.
"""

from __future__ import annotations

from tablewright.publish.infrastructure.cdk import cdk
from tablewright.publish.infrastructure.cloudformation import (
    cloudformation,
    create_table_requests,
    declared_tables,
    tables_to_move,
)
from tablewright.publish.infrastructure.runbook import (
    item_lines,
    migration_plans,
    programs_text,
    runbook,
    stages,
)
from tablewright.publish.infrastructure.terraform import terraform

__all__ = [
    "cdk",
    "cloudformation",
    "create_table_requests",
    "declared_tables",
    "item_lines",
    "migration_plans",
    "programs_text",
    "runbook",
    "stages",
    "tables_to_move",
    "terraform",
]
