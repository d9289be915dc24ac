"""Policies: IAM policy documents, parsed and evaluated as IAM does.

    JSON -> Policy; policies and a user -> Principal; Principal and AccessRequest -> Decision

    pattern     wildcards and policy variables
    condition   one operator (StringLike, ...) and key of a Condition; ForAllValues, IfExists, Null
    document    statements and policies
    principal   a user with policies: decides about access requests; policies of a table, which name
                their users

This package does not know tables, requests or HTTP. The engine derives the action, the resource and
the condition keys from a request (`tablewright.engine.access.authorization`).
"""

from __future__ import annotations

from tablewright.policy.document import AccessRequest, Decision, Policy, Statement, parse_policy
from tablewright.policy.principal import (
    Documents,
    Principal,
    ResourcePolicy,
    as_principal,
    parse_resource_policy,
)

__all__ = [
    "AccessRequest",
    "Decision",
    "Documents",
    "Policy",
    "Principal",
    "ResourcePolicy",
    "Statement",
    "as_principal",
    "parse_policy",
    "parse_resource_policy",
]
