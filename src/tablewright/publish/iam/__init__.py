"""IAM: least-privilege policies, derived from the access patterns of a design.

policies    what patterns need; a policy for each role of programs, and one that creates tables
tenants     a policy that limits each tenant to its own partitions
versions    the policies of two versions of a design as one, for the time of a migration
moves       what is needed in addition while a table is moved to another place
"""

from __future__ import annotations

from tablewright.publish.iam.moves import while_moved
from tablewright.publish.iam.policies import (
    MAX_POLICY_SIZE,
    AwsAccount,
    policies,
    policy_size,
    roles,
)
from tablewright.publish.iam.tenants import COGNITO, tenant_policy, tenant_tag
from tablewright.publish.iam.versions import (
    PolicySet,
    in_transition,
    policy,
    role_policies,
    tenant_policies,
    union,
)

__all__ = [
    "COGNITO",
    "MAX_POLICY_SIZE",
    "AwsAccount",
    "PolicySet",
    "in_transition",
    "policies",
    "policy",
    "policy_size",
    "role_policies",
    "roles",
    "tenant_policies",
    "tenant_policy",
    "tenant_tag",
    "union",
    "while_moved",
]
