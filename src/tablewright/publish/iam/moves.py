"""Moves: what programs and executors need in addition while a table is moved to another place.

Each write of a program is then in a transaction with the check of a gate. So a role that writes may
check the gates, alone in their partitions, and read the items that it may write: a transaction
returns none. An executor creates a table and reads a stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from tablewright.mapping.table import TableMap
from tablewright.plan.relocation.place import GATES, gate_key
from tablewright.publish.iam.policies import (
    AwsAccount,
    Policy,
    as_policy,
    as_statement,
    leading_keys,
)
from tablewright.publish.iam.versions import PolicySet

_WRITES = frozenset(f"dynamodb:{each}" for each in ("DeleteItem", "PutItem", "UpdateItem"))
_STREAM = ("DescribeStream", "GetRecords", "GetShardIterator")


def while_moved(found: PolicySet, tables: Iterable[TableMap], account: AwsAccount) -> PolicySet:
    """Return policies that also allow what is needed while the tables are moved."""
    tables = list(tables)
    by_role = {
        role: policy
        if role == "provision"
        else _executor(policy, tables, account)
        if role == "migrate"
        else _program(policy, tables, account)
        for role, policy in found.by_role.items()
    }
    return replace(found, by_role=by_role)


def _executor(policy: Policy, tables: list[TableMap], account: AwsAccount) -> Policy:
    more = [as_statement(("ListStreams",), "*")]
    for table in tables:
        arn = account.arn(table.name)
        more += [as_statement(("CreateTable",), arn), as_statement(_STREAM, f"{arn}/stream/*")]
    return as_policy([*policy["Statement"], *more])


def _program(policy: Policy, tables: list[TableMap], account: AwsAccount) -> Policy:
    more: list[dict[str, Any]] = []
    for table in tables:
        arn = account.arn(table.name)
        writes = [
            each
            for each in policy["Statement"]
            if each["Resource"] == arn and not _WRITES.isdisjoint(each["Action"])
        ]
        more += [as_statement(("GetItem",), arn, each.get("Condition")) for each in writes]
        if writes:
            gates = [gate_key(table, number) for number in range(GATES)]
            values = [next(iter(gate[table.attributes[0]].values())) for gate in gates]
            names = sorted(value.replace("$", "${$}") for value in values)
            condition = leading_keys("StringEquals", names)
            more.append(as_statement(("ConditionCheckItem",), arn, condition))
    return as_policy([*policy["Statement"], *more])
