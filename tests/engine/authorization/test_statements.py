"""Policies on statements of PartiQL."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import AccessDeniedException, ValidationException
from tablewright.policy import Principal
from tests.engine.authorization.principals import principal, scoped, statement

WHERE = "WHERE pk = '{}' AND sk = '1'"


def test_a_policy_can_deny_full_scans(engine: Engine) -> None:
    policy = principal(
        statement("dynamodb:PartiQLSelect"),
        statement(
            "dynamodb:PartiQLSelect",
            Effect="Deny",
            Condition={"Bool": {"dynamodb:FullTableScan": "true"}},
        ),
    )

    def select(text: str) -> int:
        answer = engine.call("ExecuteStatement", {"Statement": text}, policy=policy)
        return len(answer["Items"])

    assert select("SELECT * FROM shop WHERE pk = 'a'") == 1
    assert select("SELECT * FROM shop WHERE pk IN ['a', 'b']") == 2
    for text in (
        "SELECT * FROM shop",
        "SELECT * FROM shop WHERE sk = '1'",
        "SELECT * FROM shop WHERE pk = 'a' OR secret = 'x'",
        "SELECT * FROM shop.\"by-status\" WHERE pk = 'a'",
    ):
        with pytest.raises(AccessDeniedException):
            select(text)
    with pytest.raises(ValidationException):  # checked before the policy
        select("SELECT * FROM")


def test_leading_keys_limit_every_statement(engine: Engine) -> None:
    policy = scoped("a")
    allowed = [
        "SELECT * FROM shop WHERE pk = 'a'",
        f"UPDATE shop SET x = 1 {WHERE.format('a')}",
        "INSERT INTO shop VALUE {'pk': 'a', 'sk': '2'}",
        f"DELETE FROM shop {WHERE.format('a')}",
    ]
    denied = [text.replace("'a'", "'b'") for text in allowed] + [
        "SELECT * FROM shop",
        "SELECT * FROM shop WHERE pk IN ['a', 'b']",
        "SELECT * FROM shop WHERE (pk = 'a' AND sk = '1') OR pk = 'b'",
        "SELECT * FROM shop.\"by-status\" WHERE status = 'x' AND pk = 'a'",
    ]
    before = engine.call("Scan", {"TableName": "shop"})
    for text in denied:
        with pytest.raises(AccessDeniedException):
            engine.call("ExecuteStatement", {"Statement": text}, policy=policy)
    mixed = [{"Statement": allowed[1]}, {"Statement": denied[1]}]
    with pytest.raises(AccessDeniedException):
        engine.call("ExecuteTransaction", {"TransactStatements": mixed}, policy=policy)
    assert engine.call("Scan", {"TableName": "shop"}) == before
    for text in allowed:
        engine.call("ExecuteStatement", {"Statement": text}, policy=policy)


def test_an_action_allows_its_statements_only(engine: Engine) -> None:
    policy = principal(statement("dynamodb:PartiQLUpdate"))
    update = f"UPDATE shop SET x = 1 {WHERE.format('a')}"
    engine.call("ExecuteStatement", {"Statement": update}, policy=policy)
    for text in ("SELECT * FROM shop", f"DELETE FROM shop {WHERE.format('a')}"):
        with pytest.raises(AccessDeniedException):
            engine.call("ExecuteStatement", {"Statement": text}, policy=policy)


def execute_batch(engine: Engine, policy: Principal, *texts: str) -> list[Any]:
    """Run a batch; return the responses, with only the codes of errors."""
    request = {"Statements": [{"Statement": text} for text in texts]}
    answer = engine.call("BatchExecuteStatement", request, policy=policy)
    return [
        response["Error"]["Code"] if "Error" in response else response
        for response in answer["Responses"]
    ]


def test_a_statement_of_a_batch_that_is_not_allowed_has_an_error(engine: Engine) -> None:
    policy = scoped("a")
    of_a, of_b = (f"SELECT sk FROM shop {WHERE.format(pk)}" for pk in "ab")
    found = {"TableName": "shop", "Item": {"sk": {"S": "1"}}}
    assert execute_batch(engine, policy, of_b, of_a, "SELEC") == [
        "AccessDenied",
        found,
        "ValidationError",
    ]
    assert execute_batch(engine, policy, of_a) == [found]
    assert execute_batch(engine, policy, of_b) == ["AccessDenied"]
    request = {"Statements": [{"Statement": of_b}]}
    (response,) = engine.call("BatchExecuteStatement", request, policy=policy)["Responses"]
    assert response["Error"]["Message"].startswith(
        "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: "
        "dynamodb:PartiQLSelect on resource: "
        "arn:aws:dynamodb:us-east-1:123456789012:table/shop"
    )


def test_a_batch_writes_only_what_is_allowed(engine: Engine) -> None:
    policy = scoped("a")
    texts = [f"UPDATE shop SET x = 1 {WHERE.format(pk)}" for pk in "ab"]
    assert execute_batch(engine, policy, *texts, "INSER") == [
        {"TableName": "shop"},
        "AccessDenied",
        "ValidationError",
    ]
    items = engine.call("Scan", {"TableName": "shop"})["Items"]
    assert {item["pk"]["S"] for item in items if "x" in item} == {"a"}
    assert execute_batch(engine, policy, texts[1], "INSER") == ["AccessDenied", "ValidationError"]
