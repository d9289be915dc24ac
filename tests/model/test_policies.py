"""`connect(policy=...)`: a database in this process may do what its policy allows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
    batch_write,
    connect,
    connect_async,
    create,
    delete,
    index,
    key,
    put,
    transact,
)
from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.policy import Principal
from tablewright.transport.remote import Remote


class Clinic(Table, name="clinic", pk="pk", sk="sk"):
    by_doctor = GSI("doctor_key")


class Visit(Entity, table=Clinic):
    patient: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    doctor: Attr[str] = attr()

    primary = key("PATIENT" / patient, "VISIT" / number)
    of_doctor = index(Clinic.by_doctor, "DOCTOR" / doctor)


def policy(*actions: str, resource: str = "*", leading: list[str] | None = None) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": resource,
    }
    if leading:
        statement["Condition"] = {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": leading},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }
    return {"Version": "2012-10-17", "Statement": [statement]}


def visit(patient: str, number: int = 1) -> Visit:
    return Visit(patient=patient, number=number, doctor="who")


@pytest.fixture
def engine() -> Any:
    with Engine(":memory:") as engine:
        db = connect(engine, Clinic)
        for patient in ("ann", "bob", "*"):
            db.run(create(visit(patient)))
        yield engine


def test_a_policy_may_be_values_text_a_list_or_a_principal(engine: Engine) -> None:
    document = policy("GetItem")
    for given in (document, json.dumps(document), [document], Principal("ann", document)):
        db = connect(engine, Clinic, policy=given)
        assert db.run(Visit.primary("ann", 1)) == visit("ann")
        with pytest.raises(AccessDeniedException, match="not authorized to perform: dynamodb:Put"):
            db.run(put(visit("ann")))


def test_the_same_engine_without_a_policy_is_not_restricted(engine: Engine) -> None:
    connect(engine, Clinic, policy=policy("GetItem"))
    db = connect(engine, Clinic)
    db.run(put(visit("ann")))
    assert db.run(Visit.primary("ann", 1)) == visit("ann")


def test_a_refusal_names_the_user_the_action_and_the_resource(engine: Engine) -> None:
    ann = Principal("ann", policy("GetItem"))
    with pytest.raises(AccessDeniedException) as denied:
        connect(engine, Clinic, policy=ann).run(Visit.of_doctor("who"))
    assert denied.value.message == (
        "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: dynamodb:Query on "
        "resource: arn:aws:dynamodb:us-east-1:123456789012:table/clinic/index/by_doctor because "
        "no identity-based policy allows the dynamodb:Query action"
    )


@pytest.mark.parametrize("tenant", ["ann", "*"])
def test_every_kind_of_plan_is_held_to_the_partitions_of_a_tenant(
    engine: Engine, tenant: str
) -> None:
    actions = (
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "BatchGetItem",
        "BatchWriteItem",
    )
    leading = ["PATIENT#${aws:PrincipalTag/patient}"]
    user = Principal(
        "user", policy(*actions, "ConditionCheckItem", leading=leading), tags={"patient": tenant}
    )
    db = connect(engine, Clinic, policy=user)

    def plans(patient: str) -> list[Any]:
        return [
            Visit.primary(patient, 1),
            Visit.primary.within(patient),
            batch_get([Visit.primary(patient, 1), Visit.primary(patient, 2)]),
            put(visit(patient, 2)),
            Visit.primary(patient, 1).update(Visit.doctor.set("no")),
            batch_write([put(visit(patient, 3))]),
            transact(put(visit(patient, 4)), Visit.primary(patient, 3).delete()),
            delete(visit(patient, 2)),
        ]

    for plan in plans(tenant):
        db.run(plan)
    for plan in plans("bob"):
        with pytest.raises(AccessDeniedException):
            db.run(plan)
    with pytest.raises(AccessDeniedException):
        db.run(Visit.of_doctor("who"))


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_tables_are_made_before_the_policy_applies(where: str, tmp_path: Path) -> None:
    target = str(tmp_path / "clinic.db") if where == "file" else where
    with connect(target, Clinic, policy=policy("PutItem")) as db:
        db.run(put(visit("ann")))
        with pytest.raises(AccessDeniedException):
            db.run(Visit.primary("ann", 1))


def test_a_database_in_an_event_loop_has_the_policy_too(engine: Engine) -> None:
    async def run() -> None:
        db = await connect_async(engine, Clinic, policy=policy("GetItem"))
        assert await db.run(Visit.primary("ann", 1)) == visit("ann")
        with pytest.raises(AccessDeniedException):
            await db.run(put(visit("ann")))

    asyncio.run(run())


@pytest.mark.parametrize("target", ["http://127.0.0.1:9", "dynamodb://eu-west-1"])
def test_a_policy_for_an_endpoint_is_refused(target: str) -> None:
    with pytest.raises(InvalidValue, match="policy= restricts an engine in this process"):
        connect(target, Clinic, policy=policy("GetItem"))


def test_a_policy_for_a_remote_transport_is_refused() -> None:
    with pytest.raises(InvalidValue, match="policy= restricts an engine in this process"):
        connect(Remote.endpoint("http://127.0.0.1:9"), Clinic, policy=policy("GetItem"))


def test_a_mistake_in_a_policy_leaves_no_file_behind(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="the policy has no Statement"):
        connect(tmp_path / "clinic.db", Clinic, policy={"Version": "2012-10-17"})
    assert list(tmp_path.iterdir()) == []
