"""Principals: who sends requests, and what its policies allow.

A principal is one user: a name, tags and policies. The server makes one for each of its users,
`connect(policy=...)` makes one for a database. It is immutable, and may be shared by threads.

    no cost without need     `keys` names the condition keys that its policies look at; nothing
                             else is taken from a request
    found once               which statements are about an action and a resource is remembered
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias

from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.policy.document import (
    Access,
    Decision,
    Document,
    Policy,
    Statement,
    decide,
    parse_policy,
)
from tablewright.policy.keys import CURRENT_TIME, EPOCH_TIME, PRINCIPAL_TAG
from tablewright.policy.pattern import Keys

#: One or more policy documents: JSON text, Python values, or parsed already.
Policies: TypeAlias = Document | Policy | Sequence[Document | Policy]

ACCOUNT: Final = "000000000000"
_CACHE_SIZE: Final = 1024


class Principal:
    """A user with policies.

    `tags` are what `${aws:PrincipalTag/...}` refers to. `context` are further condition keys that
    are known of the user, such as `aws:SourceIp`. `arn` and `user_id` are made of the name if
    they are not given.

    >>> ann = Principal("ann", {"Statement": {
    ...     "Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}})
    >>> ann.decide(Access("dynamodb:PutItem", "arn:aws:dynamodb:::table/t", {})).outcome
    'implicit deny'
    """

    __slots__ = ("_about", "_context", "arn", "keys", "name", "policies")

    def __init__(
        self,
        name: str,
        policies: Policies = (),
        *,
        tags: Mapping[str, str] | None = None,
        arn: str = "",
        user_id: str = "",
        context: Mapping[str, str] | None = None,
    ) -> None:
        self.name: Final = name
        self.arn: Final = arn or f"arn:aws:iam::{ACCOUNT}:user/{name}"
        self.policies: Final = tuple(_parsed(policies))
        #: The condition keys that the policies look at, in lower case.
        self.keys: Final = frozenset[str]().union(*(s.keys for s in self._statements()))
        known = {
            "aws:username": name,
            "aws:userid": user_id or name,
            "aws:PrincipalArn": self.arn,
            "aws:PrincipalAccount": self.arn.split(":")[4] if self.arn.count(":") > 4 else ACCOUNT,
            "aws:PrincipalType": "User",
            **{f"{PRINCIPAL_TAG}{tag}": value for tag, value in (tags or {}).items()},
            **(context or {}),
        }
        self._context = {key.lower(): (value,) for key, value in known.items()}
        self._about = lru_cache(_CACHE_SIZE)(self._find_statements)

    def decide(self, access: Access) -> Decision:
        """Decide about an access, by all policies together."""
        keys = self._keys_of(access)
        return decide(
            statement
            for statement in self._about(access.action, access.resource)
            if (statement.has_fixed_resources or statement.is_about_resource(access.resource, keys))
            and statement.conditions_hold(keys)
        )

    def require(self, access: Access) -> None:
        """Raise AccessDeniedException, in the words of IAM, if an access is not allowed."""
        decision = self.decide(access)
        if decision.is_allowed:
            return
        refused = (
            f"User: {self.arn} is not authorized to perform: {access.action} "
            f"on resource: {access.resource}"
        )
        if decision.outcome == "explicit deny":
            raise AccessDeniedException(
                f"{refused} with an explicit deny in an identity-based policy"
            )
        raise AccessDeniedException(
            f"{refused} because no identity-based policy allows the {access.action} action"
        )

    def __repr__(self) -> str:
        return f"Principal({self.name!r}, {len(self.policies)} policies)"

    def _statements(self) -> Iterator[Statement]:
        for policy in self.policies:
            yield from policy.statements

    def _find_statements(self, action: str, resource: str) -> tuple[Statement, ...]:
        """The statements about this action and, as far as no request decides, this resource."""
        return tuple(
            statement
            for statement in self._statements()
            if statement.is_about_action(action)
            and (not statement.has_fixed_resources or statement.is_about_resource(resource, {}))
        )

    def _keys_of(self, access: Access) -> Keys:
        """What is known of the user, of the moment, and of the request."""
        keys = {**self._context, **access.keys}
        if CURRENT_TIME in self.keys or EPOCH_TIME in self.keys:
            now = int(time.time())
            moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            keys[CURRENT_TIME] = (moment,)
            keys[EPOCH_TIME] = (str(now),)
        return keys


def as_principal(policy: Policies | Principal, name: str = "local") -> Principal:
    """The principal that a `policy=` argument stands for."""
    return policy if isinstance(policy, Principal) else Principal(name, policy)


def _parsed(policies: Any) -> Iterator[Policy]:
    if isinstance(policies, (str, Mapping, Policy)):
        policies = (policies,)
    if not isinstance(policies, Sequence) or isinstance(policies, bytes):
        raise InvalidValue(
            f"a policy is a JSON text, a dict, a list of those, or a Principal, not {policies!r}"
        )
    for policy in policies:
        yield policy if isinstance(policy, Policy) else parse_policy(policy)
