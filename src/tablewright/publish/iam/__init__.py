"""IAM: least-privilege policies, derived from the access patterns of a design.

grants      the actions, tables and indexes that a pattern needs
policies    a policy for each role of programs, and one that creates the tables
tenants     a policy that limits each tenant to its own partitions
"""

from __future__ import annotations

from tablewright.publish.iam.policies import (
    MAX_POLICY_SIZE,
    AwsAccount,
    Grant,
    grants,
    policies,
    policy,
    policy_size,
    roles,
)
from tablewright.publish.iam.tenants import (
    COGNITO,
    LeftOut,
    TenantPolicy,
    tenant_policy,
    tenant_tag,
)

__all__ = [
    "COGNITO",
    "MAX_POLICY_SIZE",
    "AwsAccount",
    "Grant",
    "LeftOut",
    "TenantPolicy",
    "grants",
    "policies",
    "policy",
    "policy_size",
    "roles",
    "tenant_policy",
    "tenant_tag",
]
