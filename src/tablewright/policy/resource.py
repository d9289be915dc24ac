"""Resource policies: policy documents of a table, which name the users that they are about.

    {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::000000000000:user/ann"},
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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablewright.errors import InvalidValue
from tablewright.policy.document import (
    AccessRequest,
    Decision,
    Document,
    Statement,
    decide,
    load_document,
    parse_policy,
)

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
