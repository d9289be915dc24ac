"""Policies: IAM policy documents, parsed and evaluated as IAM does.

    JSON -> Policy -> with a user's name and tags -> Principal -> of an Access -> Decision

    pattern     wildcards and policy variables
    operators   StringLike, NumericLessThan, ...
    condition   ForAllValues, IfExists, Null: one line of a Condition
    document    statements and policies
    principal   a user with policies, who may or may not do something

It knows nothing of tables, requests or HTTP: the engine says which action, resource and condition
keys a request means (`tablewright.engine.authorization`).
"""

from __future__ import annotations

from tablewright.policy.document import AccessRequest, Decision, Policy, Statement, parse_policy
from tablewright.policy.principal import Documents, Principal, as_principal

__all__ = [
    "AccessRequest",
    "Decision",
    "Documents",
    "Policy",
    "Principal",
    "Statement",
    "as_principal",
    "parse_policy",
]
