"""Principals: users that send requests, and the decisions of their policies.

A principal is one user: a name, tags and policies. The server creates one for each of its users,
`connect(policy=...)` creates one for a database. It is immutable, and threads can share it.

Work that does not depend on a request is done once: variables such as `${aws:username}` are
replaced when the policies are parsed, and the statements that match an action and a resource are
cached, together with the condition keys that they read. Only these keys are computed for a request.

A resource policy is a policy document of a table, which names the users that it is about:

    {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:user/ann"},
        "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:us-east-1:...:table/shop"}]}

A statement is that of a user's policy with one more element, Principal or NotPrincipal: `"*"`, or
`{"AWS": ...}` with one or more of `"*"`, the ARN of a user or role, an account's number or its root
(`arn:aws:iam::NUMBER:root`).

Invariants:
- A Deny applies to every user that it names, also by their account or by `*`.
- An Allow for `*` or for the ARN of a user allows without a policy of the user. An Allow for an
  account allows nothing by itself: as in IAM, the account's own policies decide.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    load_document,
    parse_policy,
)
from tablewright.policy.pattern import ConditionKeys

# -- resource policies -----------------------------------------------------------------------------

_ELEMENTS = ("Principal", "NotPrincipal")


@dataclass(frozen=True, slots=True)
class ResourceStatement:
    """A statement with the principals that it is about."""

    statement: Statement
    principals: frozenset[str]
    excludes_principals: bool

    def names(self, arn: str) -> bool:
        """Return whether the statement is about this user."""
        names = {"*", arn}
        if self.statement.effect == "Deny" or self.excludes_principals:
            account = arn.split(":")[4]
            names |= {account, f"arn:aws:iam::{account}:root"}
        return self.principals.isdisjoint(names) == self.excludes_principals


@dataclass(frozen=True, slots=True)
class ResourcePolicy:
    """The policy of one resource."""

    statements: tuple[ResourceStatement, ...]
    #: The condition keys that the statements read, in lower case.
    keys: frozenset[str]

    def decide(self, access: AccessRequest, arn: str) -> Decision:
        """Decide about the access of the user with this ARN by this policy only."""
        return decide(
            one.statement
            for one in self.statements
            if one.names(arn) and one.statement.applies(access)
        )


def parse_resource_policy(document: Document) -> ResourcePolicy:
    """Parse the policy of a resource; raise `InvalidValue` if it has a mistake."""
    policy: Any = load_document(document)
    raw = policy.get("Statement") if isinstance(policy, Mapping) else None
    listed = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(listed, list):
        parse_policy(policy)  # it raises with the reason
        raise InvalidValue("the policy has no Statement")
    principals = [
        _read_principals(entry, f"Statement[{number}]") for number, entry in enumerate(listed)
    ]
    identity = [_without_principals(entry) for entry in listed]
    statements = tuple(
        ResourceStatement(statement, *named)
        for statement, named in zip(
            parse_policy({**policy, "Statement": identity}).statements, principals, strict=True
        )
    )
    return ResourcePolicy(
        statements, frozenset[str]().union(*(one.statement.keys for one in statements))
    )


def _without_principals(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    return {name: value for name, value in entry.items() if name not in _ELEMENTS}


def _read_principals(entry: Any, where: str) -> tuple[frozenset[str], bool]:
    given = [name for name in _ELEMENTS if isinstance(entry, Mapping) and name in entry]
    if len(given) != 1:
        found = "both" if given else "neither"
        raise InvalidValue(
            f"{where}: the policy of a resource must have either Principal or NotPrincipal, "
            f"but has {found}"
        )
    raw, where = entry[given[0]], f"{where}.{given[0]}"
    if isinstance(raw, Mapping):
        # Services and federated users never send requests to this server.
        raw = [
            name
            for kind, names in raw.items()
            for name in (names if isinstance(names, list) else [names])
            if kind == "AWS"
        ]
    elif raw != "*":
        raise InvalidValue(f'{where}: must be "*" or an object such as {{"AWS": ...}}, not {raw!r}')
    for name in raw:
        is_account = isinstance(name, str) and name.isdigit() and len(name) == 12
        if name != "*" and not is_account and not str(name).startswith("arn:"):
            raise InvalidValue(
                f"{where}: {name!r} is not the ARN of a user, the number of an account, or '*'"
            )
    return frozenset(raw), given[0] == "NotPrincipal"


# -- principals ------------------------------------------------------------------------------------

#: One or more policy documents.
Documents: TypeAlias = Document | Sequence[Document]

#: The account of users whose ARN is not given: that of new files.
ACCOUNT: Final = "123456789012"
_CACHE_SIZE: Final = 1024
#: The accounts that the principals of a process are used in.
_ACCOUNTS: Final = 100


class Principal:
    """A user with policies.

    `tags` are the values of `${aws:PrincipalTag/...}`. `context` has further condition keys of the
    user, such as `aws:SourceIp`. The defaults of `arn` and `user_id` are derived from the name.

    >>> ann = Principal("ann", {"Statement": {
    ...     "Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}})
    >>> ann.decide(AccessRequest("dynamodb:PutItem", "arn:aws:dynamodb:::table/t", {})).outcome
    'implicit deny'
    """

    __slots__ = ("_find_cached", "_in_account", "_known", "_statements", "arn", "name")

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
        self._in_account: Final = (
            None
            if arn
            else lru_cache(_ACCOUNTS)(
                lambda account: Principal(
                    name,
                    policies,
                    tags=tags,
                    arn=f"arn:aws:iam::{account}:user/{name}",
                    user_id=user_id,
                    context=context,
                )
            )
        )
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

    def in_account(self, account: str) -> Principal:
        """Return the principal with the default ARN of an account, unless its ARN was given."""
        return self if self._in_account is None else self._in_account(account)

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
