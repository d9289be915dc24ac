"""Tenant policies: each tenant reads and writes only its own partitions.

The policy compares `dynamodb:LeadingKeys`, the partition keys of a request, with the shards of the
table's `Tenancy`, in which a policy variable stands for the id of the tenant.

- A prefix ends with the delimiter, so that it is not that of a longer id.
- **The variable must carry the id as it is stored in keys** (`tenant_tag`): escaped, padded, in
  lower case. A tag `x#PROJECT` would be the tenant `x` in the partitions `ORG#x#PROJECT#…`.

A pattern is in the policy if each of its requests names a partition of the tenant, or reads a
shared one. In an index, the rows of a partition must belong to the tenant that its key names. Every
other pattern is left out, and listed with the reason. Every tenant may describe the table and read
its record, as `connect` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.language import intersects
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.model.pattern import AccessPattern
from tablewright.model.shards import STAR, SharedPartition, TenantShard, shard_value
from tablewright.model.table import Table
from tablewright.model.tenancy import Tenancy
from tablewright.publish.iam.policies import (
    AwsAccount,
    Grant,
    Policy,
    RequestGrant,
    accesses,
    as_policy,
    as_statement,
    connecting,
    leading_keys,
    record_statement,
)
from tablewright.symbol import Expression, parts_of
from tablewright.verify.design import Design

TenantPartition: TypeAlias = TenantShard | SharedPartition

#: The policy variable of a Cognito identity.
COGNITO = "${cognito-identity.amazonaws.com:sub}"


class LeftOut(Struct, frozen=True):
    """A pattern that the policy of a tenant does not allow, and why."""

    pattern: str
    reason: str


class TenantPolicy(Struct, frozen=True):
    """What each tenant may do."""

    policy: Policy
    #: The patterns that it allows in the partitions of the tenant.
    patterns: tuple[AccessPattern, ...]
    left_out: tuple[LeftOut, ...]
    #: The policy variable of each table, by the name of its class: it must hold `tenant_tag(…)`.
    variables: dict[str, str]


def tenant_policy(
    design: Design, account: AwsAccount | None = None, *, variable: str | None = None
) -> TenantPolicy:
    """Return the policy of the tenants of a design.

    `variable` is the policy variable with the id of the tenant as it is stored in keys; by default
    it is a session tag with the name that the tenancy has, `${aws:PrincipalTag/user_id}`.
    """
    tenancies = {table.__table__.name: table for table in design.tables if table.__tenancy__}
    if not tenancies:
        raise InvalidValue(f"{design.name} has no tenants: declare Tenancy(…) in a table")
    places: dict[Grant, dict[TenantPartition, None]] = defaultdict(dict)
    allowed, left_out = [], []
    for pattern in design.patterns:
        found: list[tuple[Grant, TenantPartition]] = []
        try:
            for access in accesses(pattern.shape):
                if len(access.request.tables) > 1:
                    raise _NotScoped(f"one request is for several tables: {access.request.table}")
                table = tenancies.get(access.grant.table)
                if table is None or table.__tenancy__ is None:
                    raise _NotScoped(f"the table {access.grant.table} has no tenants")
                scope = _Scope(table.__table__, table.__tenancy__)
                found += [(access.grant, place) for place in scope.places(access)]
        except _NotScoped as error:
            left_out.append(LeftOut(pattern.label, str(error)))
            continue
        allowed.append(pattern)
        for grant, place in found:
            places[grant][place] = None
    names = {name: variable or _tag(table.__tenancy__) for name, table in tenancies.items()}
    account = account or AwsAccount()
    used = [tenancies[name].__table__ for name in sorted({grant.table for grant in places})]
    records = [record_statement(each, account, "GetItem") for each in used]
    described = [as_statement(connecting(each), account.arn(each.name)) for each in used]
    policy = as_policy([*_statements(places, account, names), *records, *described])
    variables = {table.__name__: names[name] for name, table in tenancies.items()}
    return TenantPolicy(policy, tuple(allowed), tuple(left_out), variables)


def tenant_tag(table: type[Table], tenant: object) -> str:
    """Return what the tag of a tenant's session must hold: the id as it is stored in keys.

    Raise InvalidValue if the id is not one that `for_tenant` accepts.
    """
    tenancy = table.__tenancy__
    if tenancy is None:
        raise InvalidValue(f"{table.__name__} has no tenants: declare Tenancy(…) in it")
    tenancy.tenant_check(table.__table__, table.__table__.name, tenant)
    shard, others = tenancy.readable_shards[0], tenancy.readable_shards[1:]
    value = shard_value(shard, others, table.__table__, tenant)
    text = next(iter(value.values()))
    return str(text).removeprefix(shard.prefix).removesuffix(shard.suffix)


class _NotScoped(Exception):
    """Leading keys cannot limit a request to one tenant."""


class _Scope(Struct):
    """The partitions of the tenants of one table."""

    table: TableMap
    tenancy: Tenancy

    def places(self, access: RequestGrant) -> list[TenantPartition]:
        """Return the declared partitions that a request may name."""
        grant = access.grant
        if grant.action == "Scan":
            raise _NotScoped("a scan has no leading keys")
        index = self.table.indexes[grant.index] if grant.index else None
        name = index.partition[0] if index else self.table.attributes[0]
        request = access.request
        keys = [key.equal for key in request.keys if isinstance(key, KeyCondition)]
        if not keys or not all("S" in key.get(name, {}) for key in keys):
            raise _NotScoped(f"{request.condition or grant.action} names no partition by {name}")
        return [self._place(key[name]["S"], name, access, index) for key in keys]

    def _place(
        self, value: str, name: str, access: RequestGrant, index: IndexMap | None
    ) -> TenantPartition:
        declared: list[TenantPartition] = [*self.tenancy.writable_shards]
        if access.is_read:
            declared = [*self.tenancy.readable_shards]
            if index is None:  # shared partitions are those of the table
                declared += self.tenancy.shared_partitions
        for place in declared:
            if _has_form(place, value):
                if index is not None and isinstance(place, TenantShard):
                    self._check_rows(index, place)
                return place
        verb = "read" if access.is_read else "write"
        raise _NotScoped(f'{name}="{value}" is not a partition that a tenant may {verb}')

    def _check_rows(self, index: IndexMap, shard: TenantShard) -> None:
        """Raise an error if a partition of an index can hold items of another tenant."""
        for entity in self.table.entities:
            for template in _templates(entity, index.partition[0]):
                if intersects(template.language(), shard.language()) and not self._is_owned(
                    entity, template, shard
                ):
                    raise _NotScoped(
                        f"the partition {shard} of {index.name} can hold items of other tenants: "
                        f"{entity.name}"
                    )

    def _is_owned(self, entity: EntityMap, template: Template, shard: TenantShard) -> bool:
        """Whether an item in this partition of an index is in a partition of the same tenant."""
        part = shard.part_in(template)
        own = [each.part_in(entity.primary.partition) for each in self.tenancy.readable_shards]
        return part is not None and any(
            each is not None and each.attribute == part.attribute for each in own
        )


def _templates(entity: EntityMap, attribute: str) -> Iterable[Template]:
    """Return the templates that an attribute has in the items of an entity and its sentinels."""
    held = [*entity.templates(), *(entity.sentinel_templates(each) for each in entity.uniques)]
    return [templates[attribute] for templates in held if attribute in templates]


def _has_form(place: TenantPartition, value: str) -> bool:
    """Whether a partition key of a pattern is in a declared partition for every argument."""
    if isinstance(place, SharedPartition):
        first, *others = parts_of(value)
        if place.is_prefix:
            return isinstance(first, str) and first.startswith(place.text)
        return first == place.text and not others
    literal, *rest = parts_of(value) if place.prefix else ("", *parts_of(value))
    if literal != place.prefix or not rest or not isinstance(rest[0], Expression):
        return False
    following = rest[1:] or [""]
    if place.is_prefix:
        return isinstance(following[0], str) and following[0].startswith(place.suffix)
    return following == [place.suffix]


def _tag(tenancy: Tenancy | None) -> str:
    assert tenancy is not None
    return f"${{aws:PrincipalTag/{tenancy.tenant}}}"


def _statements(
    places: Mapping[Grant, Iterable[TenantPartition]],
    account: AwsAccount,
    variables: Mapping[str, str],
) -> Iterable[dict[str, Any]]:
    """Yield a statement for each resource and set of partitions."""
    actions: dict[tuple[str, str, tuple[str, ...], bool], list[str]] = defaultdict(list)
    for grant, found in sorted(places.items(), key=lambda pair: pair[0]):
        has_prefix = any(place.is_prefix for place in found)
        values = {_value(place, variables[grant.table], has_prefix) for place in found}
        key = (grant.table, grant.index, tuple(sorted(values)), has_prefix)
        actions[key].append(grant.action)
    for (table, index, listed, has_prefix), names in actions.items():
        condition = leading_keys("StringLike" if has_prefix else "StringEquals", list(listed))
        yield as_statement(names, account.arn(table, index), condition)


def _value(place: TenantPartition, variable: str, has_wildcards: bool) -> str:
    """Return a partition as a value of a policy, with the variable for the tenant."""
    end = STAR if place.is_prefix else ""
    if isinstance(place, SharedPartition):
        return _literal(place.text, has_wildcards) + end
    before, after = (_literal(text, has_wildcards) for text in (place.prefix, place.suffix))
    return before + variable + after + end


def _literal(text: str, has_wildcards: bool) -> str:
    """Escape what has a meaning in a policy."""
    special = "$*?" if has_wildcards else "$"
    return "".join(f"${{{each}}}" if each in special else each for each in text)
