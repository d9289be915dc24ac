"""The policies of `--moves` allow what a move needs, and nothing that it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, migrations
from tablewright.errors import AccessDeniedException
from tablewright.migrations import RelocationProgress
from tablewright.model.databases.following import FollowingTransport
from tablewright.plan.plan import Context
from tablewright.plan.relocation.between import run_between
from tablewright.plan.relocation.checking import Places
from tablewright.plan.relocation.relocate import ApplyRelocation
from tablewright.policy import Principal
from tablewright.publish.iam import AwsAccount, PolicySet, while_moved
from tablewright.publish.iam.policies import MIGRATING, as_policy, as_statement, record_statement
from tablewright.transport.targets import Local


class Box(Table, name="box"):
    pass


class Part(Entity, table=Box):
    part_id: Attr[str] = attr()
    count: Attr[int] = attr(default=0)
    primary = key("PART" / part_id, "PART")


ACCOUNT = AwsAccount()
WRITES = as_statement(("PutItem", "UpdateItem"), ACCOUNT.arn("box"))
POLICIES = while_moved(
    PolicySet(
        {
            "write": as_policy([WRITES, record_statement(Box.__table__, ACCOUNT, "GetItem")]),
            "migrate": as_policy([as_statement(MIGRATING, ACCOUNT.arn("box"))]),
        }
    ),
    [Box.__table__],
    ACCOUNT,
).by_role
ADDED = ("CreateTable", "DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")


def without(policy: dict[str, Any], action: str) -> dict[str, Any]:
    """Return a policy that does not allow an action."""
    statements = [
        each | {"Action": [name for name in each["Action"] if name != f"dynamodb:{action}"]}
        for each in policy["Statement"]
    ]
    return as_policy([each for each in statements if each["Action"]])


def move(
    executor: dict[str, Any],
    program: dict[str, Any],
    act: Callable[[Any], Any] = lambda db: None,
) -> None:
    """Move a table under a policy; a program acts under another one before the cut-over."""
    first, second = Engine(":memory:"), Engine(":memory:")
    db = connect(first, Box)
    db.run(create(Part(part_id="1")))
    migrations.baseline(first, Box)
    table = Box.__table__
    context = Context({table: "box"}, b"0" * 32)

    def report(progress: RelocationProgress) -> None:
        if progress.step == "cut-over":
            local = [Local(each, Principal("p", policies=[program])) for each in (first, second)]
            followed = FollowingTransport(
                local[0], lambda: (local[1], False), {table: "box"}, owned=False
            )
            act(db.through(followed))

    command = ApplyRelocation(
        Places(table, ("box", "box"), ("A", "B"), (context, context)),
        progress=report,
        program_seconds=0,
    )
    targets = [Local(each, Principal("e", policies=[executor])) for each in (first, second)]
    run_between(command.steps(), lambda side: targets[side].send)


def test_the_policies_allow_a_move() -> None:
    found: list[Any] = []
    move(
        POLICIES["migrate"],
        POLICIES["write"],
        lambda db: found.append(db.run(Part.primary("1").update(Part.count.increment(1)))),
    )
    assert [each.count for each in found] == [1]


@pytest.mark.parametrize("action", ADDED)
def test_an_executor_needs_each_action_that_is_added(action: str) -> None:
    with pytest.raises(AccessDeniedException, match=action):
        move(without(POLICIES["migrate"], action), POLICIES["write"])


def test_a_program_needs_the_check_of_gates() -> None:
    def write(db: Any) -> None:
        with pytest.raises(AccessDeniedException, match="ConditionCheckItem"):
            db.run(create(Part(part_id="2")))

    move(POLICIES["migrate"], without(POLICIES["write"], "ConditionCheckItem"), write)
