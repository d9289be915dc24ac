"""IAM: least-privilege policies, derived from the access patterns of a design.

policies    what patterns need; a policy for each role of programs, and one that creates tables
tenants     a policy that limits each tenant to its own partitions
"""

from __future__ import annotations

from tablewright.publish.iam.policies import (
    MAX_POLICY_SIZE,
    AwsAccount,
    policies,
    policy,
    policy_size,
    roles,
)
from tablewright.publish.iam.tenants import COGNITO, tenant_policy, tenant_tag

__all__ = [
    "COGNITO",
    "MAX_POLICY_SIZE",
    "AwsAccount",
    "policies",
    "policy",
    "policy_size",
    "roles",
    "tenant_policy",
    "tenant_tag",
]
