"""Principals: users that send requests, and the decisions of their policies.

A principal is one user: a name, tags and policies. The server creates one for each of its users,
`connect(policy=...)` creates one for a database. It is immutable, and threads can share it.

Work that does not depend on a request is done once: variables such as `${aws:username}` are
replaced when the policies are parsed, and the statements that match an action and a resource are
cached, together with the condition keys that they read. Only these keys are computed for a request.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias

from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.policy.condition import CURRENT_TIME, EPOCH_TIME, PRINCIPAL_TAG
from tablewright.policy.document import (
    AccessRequest,
    Decision,
    Document,
    Statement,
    decide,
    parse_policy,
)
from tablewright.policy.pattern import ConditionKeys
from tablewright.policy.resource import ResourcePolicy

#: One or more policy documents.
Documents: TypeAlias = Document | Sequence[Document]

ACCOUNT: Final = "000000000000"
_CACHE_SIZE: Final = 1024


class Principal:
    """A user with policies.

    `tags` are the values of `${aws:PrincipalTag/...}`. `context` has further condition keys of the
    user, such as `aws:SourceIp`. The defaults of `arn` and `user_id` are derived from the name.

    >>> ann = Principal("ann", {"Statement": {
    ...     "Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}})
    >>> ann.decide(AccessRequest("dynamodb:PutItem", "arn:aws:dynamodb:::table/t", {})).outcome
    'implicit deny'
    """

    __slots__ = ("_find_cached", "_known", "_statements", "arn", "name")

    def __init__(
        self,
        name: str,
        policies: Documents = (),
        *,
        tags: Mapping[str, str] | None = None,
        arn: str = "",
        user_id: str = "",
        context: Mapping[str, str] | None = None,
    ) -> None:
        self.name: Final = name
        self.arn: Final = arn or f"arn:aws:iam::{ACCOUNT}:user/{name}"
        if not self.arn.startswith("arn:") or self.arn.count(":") < 5:
            raise InvalidValue(f"{arn!r} is not the ARN of a user, such as arn:aws:iam::1:user/ann")
        known = {
            "aws:username": name,
            "aws:userid": user_id or name,
            "aws:PrincipalArn": self.arn,
            "aws:PrincipalAccount": self.arn.split(":")[4],
            "aws:PrincipalType": "User",
            **{f"{PRINCIPAL_TAG}{tag}": value for tag, value in (tags or {}).items()},
            **(context or {}),
        }
        self._known: Final = {key.lower(): (value,) for key, value in known.items()}
        self._statements: Final = tuple(
            statement
            for document in _split_documents(policies)
            for statement in parse_policy(document, self._known).statements
        )
        self._find_cached = lru_cache(_CACHE_SIZE)(self._find_statements)

    def keys_for(self, action: str, resource: str) -> frozenset[str]:
        """Return the condition keys, in lower case, that a decision about these may depend on."""
        return self._find_cached(action, resource)[1]

    def decide(self, access: AccessRequest) -> Decision:
        """Decide about an access request by all policies together."""
        statements, wanted = self._find_cached(access.action, access.resource)
        if not wanted:
            return decide(statements)
        keys = {**self._known, **access.keys}
        if CURRENT_TIME in wanted or EPOCH_TIME in wanted:
            keys |= _time_keys()
        return decide(
            statement
            for statement in statements
            if (statement.has_fixed_resources or statement.matches_resource(access.resource, keys))
            and statement.conditions_hold(keys)
        )

    def require(self, access: AccessRequest, attached: ResourcePolicy | None = None) -> None:
        """Raise AccessDeniedException with IAM's message if the access is not allowed.

        `attached` is the policy of the resource: it can allow what no policy of the user allows,
        and a Deny in either overrides every Allow.
        """
        decision = self.decide(access)
        kind = "identity-based"
        if attached is not None and decision.outcome != "explicit deny":
            keys = {**self._known, **_time_keys(), **access.keys}
            of_resource = attached.decide(
                AccessRequest(access.action, access.resource, keys), self.arn
            )
            if of_resource.outcome != "implicit deny":
                decision, kind = of_resource, "resource-based"
        if decision.is_allowed:
            return
        refused = (
            f"User: {self.arn} is not authorized to perform: {access.action} "
            f"on resource: {access.resource}"
        )
        if decision.outcome == "explicit deny":
            raise AccessDeniedException(
                f"{refused} with an explicit deny in {_article(kind)} policy"
            )
        raise AccessDeniedException(
            f"{refused} because no identity-based policy allows the {access.action} action"
        )

    def __repr__(self) -> str:
        return f"Principal({self.name!r}, {len(self._statements)} statements)"

    def _find_statements(
        self, action: str, resource: str
    ) -> tuple[tuple[Statement, ...], frozenset[str]]:
        """Return the statements that can apply to these, and the condition keys they read."""
        found = tuple(
            statement
            for statement in self._statements
            if statement.matches_action(action)
            and (not statement.has_fixed_resources or statement.matches_resource(resource, {}))
        )
        return found, frozenset[str]().union(*(statement.keys for statement in found))


def as_principal(policy: Documents | Principal, name: str = "local") -> Principal:
    """Convert a `policy=` argument into a principal."""
    return policy if isinstance(policy, Principal) else Principal(name, policy)


def _split_documents(policies: Any) -> Iterator[Document]:
    if isinstance(policies, (str, Mapping)):
        yield policies
    elif isinstance(policies, Sequence) and not isinstance(policies, bytes):
        yield from policies
    else:
        raise InvalidValue(
            f"a policy must be JSON text, a dict, a list of these, or a Principal, not {policies!r}"
        )


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "identity-based" else f"a {kind}"


def _time_keys() -> ConditionKeys:
    now = int(time.time())
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {CURRENT_TIME: (moment,), EPOCH_TIME: (str(now),)}
