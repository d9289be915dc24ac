"""The policy `migrate` of a design allows what a migration needs, and nothing that it does not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
    ttl,
    unique,
)
from tablewright.errors import AccessDeniedException
from tablewright.policy import Principal
from tablewright.publish.iam.policies import MIGRATING, AwsAccount, as_policy, as_statement
from tablewright.transport.targets import Local


class AgentFields(Entity):
    """Abstract: what an agent has in both versions."""

    agent_id: Attr[str] = attr()
    email: Attr[str] = attr()
    phone: Attr[str] = attr()
    primary = key("AGENT" / agent_id, "AGENT")


class OldStaff(Table, name="staff"):
    pass


class OldAgent(AgentFields, table=OldStaff, type_name="Agent"):
    by_phone = unique("PHONE" / AgentFields.phone)


class Staff(Table, name="staff"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Agent(AgentFields, table=Staff):
    until: Attr[datetime | None] = ttl()
    by_email = index(Staff.gsi1, "EMAIL" / AgentFields.email, AgentFields.agent_id)
    unique_email = unique("EMAIL" / AgentFields.email)


def migrate(allowed: tuple[str, ...]) -> None:
    policy = as_policy([as_statement(allowed, AwsAccount().arn("staff"))])
    with Engine(":memory:") as engine:
        db = connect(engine, OldStaff)
        db.run(create(OldAgent(agent_id="1", email="ann@example.com", phone="1")))
        restricted: Any = db.through(Local(engine, Principal("executor", policies=[policy])))
        migrations.baseline(restricted, OldStaff)
        migrations.apply(restricted, Staff)
        migrations.complete(restricted, Staff)
        found = connect(engine, Staff).run(Agent.unique_email("ann@example.com"))
        assert found is not None


def test_the_policy_allows_a_migration() -> None:
    migrate(MIGRATING)


@pytest.mark.parametrize("action", MIGRATING)
def test_every_action_is_needed(action: str) -> None:
    with pytest.raises(AccessDeniedException, match=action):
        migrate(tuple(each for each in MIGRATING if each != action))
