"""Policies: least-privilege IAM policies for the programs that run the patterns of a design.

    all          every pattern
    read, write  the patterns that only read, those that write
    NAME         the patterns with role="NAME"
    provision    creates the tables, adds indexes and changes settings
    migrate      carries items to another version of the design (`tablewright migrate`)

A policy allows the actions that its patterns send, on exactly the tables and indexes that they use.
It also allows what `connect` sends: it describes each table, and reads its record. The shape of a
pattern has all its requests. A transaction needs the action of each of its members:
IAM has no actions for transactions. A query of an index needs the index, and not the table.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.mapping.item_kind import record_key
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import definition
from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import Shape
from tablewright.verify.design import Design
from tablewright.wire.operations import READS

Policy = dict[str, Any]

PARTITIONS = ("aws", "aws-cn", "aws-us-gov")
#: The most characters of a managed policy, without white space.
MAX_POLICY_SIZE = 6144
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+").fullmatch
_ACCOUNT = re.compile(r"\d{12}").fullmatch

#: What a program needs that creates the tables of a design and keeps their settings.
PROVISIONING = (
    *("CreateTable", "DescribeContinuousBackups", "DescribeTable", "DescribeTimeToLive"),
    *("ListTagsOfResource", "TagResource", "UpdateContinuousBackups", "UpdateTable"),
    "UpdateTimeToLive",
)

#: What an executor of a migration needs, for any change of a design.
MIGRATING = (
    *("BatchGetItem", "ConditionCheckItem", "DeleteItem", "DescribeTable", "DescribeTimeToLive"),
    *("GetItem", "PutItem", "Scan", "UpdateItem", "UpdateTable", "UpdateTimeToLive"),
)

#: The operations whose resource is the index that they read.
_INDEX_READS = frozenset({"Query", "Scan"})


class AwsAccount(Struct, frozen=True):
    """Where the tables are. A star is any region, or any account.

    Raises InvalidValue for what cannot be a part of an ARN: a policy with it would allow nothing.
    """

    region: str = "*"
    account: str = "*"
    partition: str = "aws"

    def __post_init__(self) -> None:
        if self.region != "*" and not _REGION(self.region):
            raise InvalidValue(f"{self.region!r} is not a region, such as eu-west-1, or *")
        if self.account != "*" and not _ACCOUNT(self.account):
            raise InvalidValue(f"{self.account!r} is not the id of an account: 12 digits, or *")
        if self.partition not in PARTITIONS:
            hint = did_you_mean(self.partition, PARTITIONS)
            raise InvalidValue(
                f"{self.partition!r} is not a partition of AWS: {', '.join(PARTITIONS)}{hint}"
            )

    def arn(self, table: str, index: str = "") -> str:
        """Return the ARN of a table, or of one of its indexes."""
        resource = f"table/{table}/index/{index}" if index else f"table/{table}"
        return f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:{resource}"


def policies(design: Design, account: AwsAccount | None = None) -> dict[str, Policy]:
    """Return the policy of each role."""
    account = account or AwsAccount()
    tables = {table.__table__.name: table.__table__ for table in design.tables}
    found = {
        role: document(grants(patterns), account, tables)
        for role, patterns in roles(design).items()
        if patterns
    }
    provisioning = (_provisioning(table.__table__, account) for table in design.tables)
    migrating = (as_statement(MIGRATING, account.arn(name)) for name in tables)
    return {
        **found,
        "provision": as_policy(chain.from_iterable(provisioning)),
        "migrate": as_policy(migrating),
    }


def roles(design: Design) -> dict[str, list[AccessPattern]]:
    """Return the patterns of each role; `provision` and `migrate` run none."""
    patterns = design.patterns
    found: dict[str, list[AccessPattern]] = {
        "all": patterns,
        "read": [pattern for pattern in patterns if not pattern.shape.is_write],
        "write": [pattern for pattern in patterns if pattern.shape.is_write],
    }
    reserved = {*found, "provision", "migrate"}
    for pattern in patterns:
        if pattern.role in reserved:
            raise InvalidValue(
                f"{pattern.label}: role={pattern.role!r} has a meaning of its own; choose another "
                f"name than {', '.join(sorted(reserved))}"
            )
        if pattern.role:
            found.setdefault(pattern.role, []).append(pattern)
    return found


class Grant(Struct, frozen=True, order=True):
    """An action on a table, or on one of its indexes."""

    table: str
    index: str
    action: str


class RequestGrant(Struct, frozen=True):
    """One grant that a request needs."""

    grant: Grant
    #: The request, or the action of a transaction.
    request: Shape

    @property
    def is_read(self) -> bool:
        return self.request.operation in READS


def grants(patterns: Iterable[AccessPattern]) -> dict[Grant, frozenset[str]]:
    """Return everything that the patterns need, each with the attributes that it names.

    There are none if a pattern may name any attribute.
    """
    found: dict[Grant, list[tuple[str, ...]]] = {}
    for pattern in patterns:
        for access in (*accesses(pattern.shape), *accesses(pattern.api_shape)):
            found.setdefault(access.grant, []).append(access.request.attributes)
    return {
        grant: frozenset().union(*named) if all(named) else frozenset()
        for grant, named in found.items()
    }


def accesses(shape: Shape) -> Iterator[RequestGrant]:
    """Yield what each request of a pattern needs."""
    for request in shape.requests:
        yield from _accesses(request)


def _accesses(request: Shape) -> Iterator[RequestGrant]:
    for branch in request.branches:
        yield from accesses(branch)
    if request.operation in READS:
        index = request.index if request.operation in _INDEX_READS else None
        action = request.operation.replace("TransactGetItems", "GetItem")
        yield from _access(request, action, index or "")
    elif request.operation == "TransactWriteItems":
        for member in request.steps:
            yield from _accesses(member)
    else:
        yield from _access(request, f"{request.operation.removesuffix('Item')}Item")


def _access(request: Shape, action: str, index: str = "") -> Iterator[RequestGrant]:
    for table in request.tables:
        yield RequestGrant(Grant(table.name, index, action), request)


def document(
    allowed: Mapping[Grant, frozenset[str]], account: AwsAccount, tables: Mapping[str, TableMap]
) -> Policy:
    """Return a policy with one statement for each table and index, and for the record of a table.

    An action whose patterns all select attributes has a statement of its own, which allows these
    attributes and the keys, and no whole items.
    """
    actions: dict[tuple[str, str, frozenset[str]], set[str]] = defaultdict(set)
    for grant, attributes in allowed.items():
        actions[grant.table, grant.index, attributes].add(grant.action)
    for name in {grant.table for grant in allowed}:
        actions[name, "", frozenset()].update(connecting(tables[name]))
    statements = []
    for (name, index, attributes), found in sorted(actions.items(), key=_order):
        condition = None
        if attributes:
            keys = [
                *tables[name].attributes,
                *(tables[name].indexes[index].attributes if index else ()),
            ]
            named = sorted({*attributes, *(key for key in keys if key is not None)})
            condition = {
                "ForAllValues:StringEquals": {"dynamodb:Attributes": named},
                "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
            }
        statements.append(as_statement(sorted(found), account.arn(name, index), condition))
    for name in sorted({grant.table for grant in allowed}):
        whole_items = allowed.get(Grant(name, "", "GetItem"))
        if whole_items is None or whole_items:  # else every item may be read
            statements.append(record_statement(tables[name], account, "GetItem"))
    return as_policy(statements)


def _order(entry: tuple[tuple[str, str, frozenset[str]], set[str]]) -> tuple[str, str, list[str]]:
    (table, index, attributes), _ = entry
    return table, index, sorted(attributes)


def policy_size(policy: Policy) -> int:
    """Return the number of characters of a policy, as IAM counts them: without white space."""
    return len(re.sub(r"\s", "", json.dumps(policy, separators=(",", ":"), ensure_ascii=False)))


def as_policy(statements: Iterable[dict[str, Any]]) -> Policy:
    """Return a policy document with these statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def as_statement(
    actions: Iterable[str], resource: str, condition: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a statement that allows actions of DynamoDB on a resource."""
    names = [f"dynamodb:{action}" for action in actions]
    limits = {"Condition": condition} if condition else {}
    return {"Effect": "Allow", "Action": names, "Resource": resource, **limits}


def leading_keys(operator: str, values: list[str]) -> dict[str, Any]:
    """Return the condition that a request names only these partitions.

    `ForAllValues` is true for a request without leading keys, so `Null` requires them.
    """
    return {
        f"ForAllValues:{operator}": {"dynamodb:LeadingKeys": values},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }


def _provisioning(table: TableMap, account: AwsAccount) -> Iterator[dict[str, Any]]:
    """Yield what `connect(…, create=True, update=True)` needs for a table."""
    yield as_statement(PROVISIONING, account.arn(table.name))
    yield record_statement(table, account, "GetItem", "UpdateItem")


def connecting(table: TableMap) -> tuple[str, ...]:
    """Return the actions by which `connect` compares a table with its declaration."""
    has_ttl = definition(table, table.name).ttl is not None
    return ("DescribeTable", "DescribeTimeToLive") if has_ttl else ("DescribeTable",)


def record_statement(table: TableMap, account: AwsAccount, *actions: str) -> dict[str, Any]:
    """Return a statement that allows actions on the record of a table, alone in its partition.

    `connect` reads it, to compare the declared version of the design with that of the items.
    """
    (partition,) = record_key(table)[table.attributes[0]].values()
    condition = leading_keys("StringEquals", [partition.replace("$", "${$}")])
    return as_statement(actions, account.arn(table.name), condition)
