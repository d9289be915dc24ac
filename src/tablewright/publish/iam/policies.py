"""Policies: least-privilege IAM policies for the programs that run the patterns of a design.

    all          every pattern
    read, write  the patterns that only read, those that write
    NAME         the patterns with role="NAME"
    provision    creates the tables and changes their settings

A policy allows the actions that its patterns send, on exactly the tables and indexes that they use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.model.pattern import AccessPattern
from tablewright.publish.iam.grants import Grant, grants
from tablewright.verify.design import Design

Policy = dict[str, Any]

#: What a program needs that creates the tables of a design and keeps their settings.
PROVISIONING = (
    *("CreateTable", "DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"),
    *("ListTagsOfResource", "TagResource", "UpdateContinuousBackups", "UpdateTable"),
    "UpdateTimeToLive",
)


class AwsAccount(Struct, frozen=True):
    """Where the tables are. A star is any region, or any account."""

    region: str = "*"
    account: str = "*"
    partition: str = "aws"

    def arn(self, table: str, index: str = "") -> str:
        """Return the ARN of a table, or of one of its indexes."""
        resource = f"table/{table}/index/{index}" if index else f"table/{table}"
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:{resource}"


def policies(design: Design, account: AwsAccount | None = None) -> dict[str, Policy]:
    """Return the policy of each role."""
    account = account or AwsAccount()
    found = {
        role: document(grants(patterns), account)
        for role, patterns in roles(design).items()
        if patterns
    }
    return {**found, "provision": _provision(design, account)}


def policy(design: Design, role: str, account: AwsAccount | None = None) -> Policy:
    """Return the policy of one role; raise InvalidValue if there is no such role."""
    found = policies(design, account)
    if role not in found:
        raise InvalidValue(
            f"{design.name} has no role {role!r}{did_you_mean(role, found)} "
            f"It has {', '.join(found)}"
        )
    return found[role]


def roles(design: Design) -> dict[str, list[AccessPattern]]:
    """Return the patterns of each role; `provision`, which runs none, is not among them."""
    patterns = design.patterns
    found: dict[str, list[AccessPattern]] = {
        "all": patterns,
        "read": [pattern for pattern in patterns if not pattern.shape.writes],
        "write": [pattern for pattern in patterns if pattern.shape.writes],
    }
    reserved = {*found, "provision"}
    for pattern in patterns:
        if pattern.role in reserved:
            raise InvalidValue(
                f"{pattern.label}: role={pattern.role!r} has a meaning of its own; choose another "
                f"name than {', '.join(sorted(reserved))}"
            )
        if pattern.role:
            found.setdefault(pattern.role, []).append(pattern)
    return found


def document(allowed: Iterable[Grant], account: AwsAccount) -> Policy:
    """Return a policy with one statement for each table and index."""
    actions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for grant in allowed:
        actions[grant.table, grant.index].add(grant.action)
    return as_policy(
        {
            "Effect": "Allow",
            "Action": [f"dynamodb:{action}" for action in sorted(found)],
            "Resource": account.arn(*resource),
        }
        for resource, found in sorted(actions.items())
    )


def as_policy(statements: Iterable[dict[str, Any]]) -> Policy:
    """Return a policy document with these statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def _provision(design: Design, account: AwsAccount) -> Policy:
    return as_policy(
        {
            "Effect": "Allow",
            "Action": [f"dynamodb:{action}" for action in PROVISIONING],
            "Resource": account.arn(table.__table__.name),
        }
        for table in design.tables
    )
