"""Versions: the IAM policies of a design, and of two versions of it that run at the same time.

While a design is migrated, programs of both versions run with one role. So its policy allows what
either of them sends, until `tablewright migrate complete`:

    new   Query on table/shop/index/by_status     old   Query on table/shop/index/by_state
    both  Query on table/shop/index/by_status, Query on table/shop/index/by_state

The union of policies allows what at least one of them allows, and no more. Statements are joined
only if their resource and condition are equal: a condition with the partitions or attributes of
both versions would also allow a request that names some of each.

While items are in the forms of both versions, programs of the new one read whole items, and rewrite
or move an item before a conditional write. So roles with two versions may do that, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.design_description import show_key
from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.plan.description import describe_entity
from tablewright.publish.iam.policies import AwsAccount, Policy, as_policy, policies
from tablewright.publish.iam.tenants import tenant_policy
from tablewright.verify.design import Design

#: The conditions on the attributes that a request names.
_OF_ATTRIBUTES = frozenset({"dynamodb:Attributes", "dynamodb:Select"})
#: The actions before which an item may be rewritten.
_WRITES = frozenset(
    f"dynamodb:{each}" for each in ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
)
#: What it takes to rewrite an item, and to move it.
_REWRITES = frozenset({"dynamodb:BatchGetItem", "dynamodb:UpdateItem"})
_MOVES = _REWRITES | _WRITES
#: The conditions that are true for more requests the more values they list.
_FOR_ALL = "ForAllValues:"


class PolicySet(Struct, frozen=True):
    """The policies of a version of a design, by role, with notes for the person who uses them."""

    by_role: dict[str, Policy]
    notes: tuple[str, ...] = ()
    #: The primary keys as text, by the table and the type of the items, also former types.
    keys: dict[str, str] = {}

    def together(self, old: PolicySet, name: str) -> PolicySet:
        """Return the policies of programs of this version and of an older one with this name."""
        names = dict.fromkeys((*self.by_role, *old.by_role))
        found = {
            role: union(each.by_role[role] for each in (self, old) if role in each.by_role)
            for role in names
        }
        moves = any(old.keys.get(name, text) != text for name, text in self.keys.items())
        found = {
            role: each if role in ("provision", "migrate") else in_transition(each, moves=moves)
            for role, each in found.items()
        }
        notes = dict.fromkeys((*self.notes, *(f"{name}: {note}" for note in old.notes)))
        return PolicySet(found, tuple(notes))

    def of_role(self, role: str, design: str) -> Policy:
        """Return the policy of one role; raise InvalidValue if there is no such role."""
        if role not in self.by_role:
            raise InvalidValue(
                f"{design} has no role {role!r}; its roles are {', '.join(self.by_role)}"
                f"{did_you_mean(role, self.by_role)}"
            )
        return self.by_role[role]


def policy(design: Design, role: str, account: AwsAccount | None = None) -> Policy:
    """Return the policy of one role; raise InvalidValue if there is no such role."""
    return role_policies(design, account or AwsAccount()).of_role(role, design.name)


def role_policies(design: Design, account: AwsAccount) -> PolicySet:
    """Return the policies of the roles of a design."""
    return PolicySet(policies(design, account), keys=_primary_keys(design))


def _primary_keys(design: Design) -> dict[str, str]:
    return {
        f"{table.__table__.name} {name}": show_key(describe_entity(entity).key)
        for table in design.tables
        for entity in table.__table__.entities
        for name in (entity.type_name, *entity.renamed_from)
    }


def tenant_policies(design: Design, account: AwsAccount, variable: str | None) -> PolicySet:
    """Return the policy of the tenants of a design, with what it leaves out."""
    found = tenant_policy(design, account, variable=variable)
    left_out = [f"not allowed: {each.pattern}: {each.reason}" for each in found.left_out]
    tags = [
        f"note: {tag} must hold the id as keys store it: tenant_tag({table}, id) of "
        "tablewright.publish.iam"
        for table, tag in found.variables.items()
    ]
    return PolicySet({"tenants": found.policy}, (*left_out, *tags), _primary_keys(design))


def in_transition(document: Policy, *, moves: bool = False) -> Policy:
    """Return a policy that also allows what programs send while a migration rewrites items.

    With `moves`, items get another primary key: then programs put them under it, and delete them
    under the former one.
    """
    needed = _MOVES if moves else _REWRITES
    statements = []
    for statement in document["Statement"]:
        condition = {
            operator: keys
            for operator, keys in statement.get("Condition", {}).items()
            if _OF_ATTRIBUTES.isdisjoint(keys)
        }
        actions = {*statement["Action"]}
        if actions & _WRITES:
            actions |= needed
        kept = {name: each for name, each in statement.items() if name != "Condition"}
        limits = {"Condition": condition} if condition else {}
        statements.append({**kept, "Action": sorted(actions), **limits})
    return union([as_policy(statements)])


def union(documents: Iterable[Policy]) -> Policy:
    """Return the policy that allows what at least one of these documents allows.

    A statement omits an action that another statement allows for at least the same requests.
    """
    joined: dict[tuple[str, bytes], dict[str, Any]] = {}
    for statement in (each for document in documents for each in document["Statement"]):
        condition = msgspec.json.encode(statement.get("Condition"), order="deterministic")
        place = (statement["Resource"], condition)
        known = joined.setdefault(place, {**statement, "Action": []})
        known["Action"] = sorted({*known["Action"], *statement["Action"]})
    found = []
    for place, statement in joined.items():
        others = [
            other
            for where, other in joined.items()
            if where != place and where[0] == place[0] and _covers(other, statement)
        ]
        covered = {action for other in others for action in other["Action"]}
        actions = [action for action in statement["Action"] if action not in covered]
        if actions:
            found.append({**statement, "Action": actions})
    return as_policy(sorted(found, key=lambda statement: statement["Resource"]))


def _covers(statement: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the condition of a statement is true whenever that of the other one is."""
    wide, narrow = statement.get("Condition"), other.get("Condition")
    if wide is None:
        return True
    if narrow is None or wide.keys() != narrow.keys():
        return False
    return all(
        keys == narrow[operator]
        or (
            operator.startswith(_FOR_ALL)
            and keys.keys() == narrow[operator].keys()
            and all(set(keys[name]) >= set(narrow[operator][name]) for name in keys)
        )
        for operator, keys in wide.items()
    )
