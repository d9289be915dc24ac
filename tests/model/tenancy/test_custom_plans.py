"""Plans that the caller writes are refused outside the tenant's shards."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.database import Database
from tablewright.errors import TablewrightError, TenantViolation
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plans import Plan
from tests.model.tenancy.market import s, stored
from tests.transports import record_requests


class Anything(Plan[bytes]):
    """A plan of the caller's own: it yields what it likes."""

    def __init__(self, operation: str, body: dict[str, Any]) -> None:
        self.operation = operation
        self.body = body

    def _steps(self, context: Context) -> Steps[bytes]:
        return (yield Request(self.operation, self.body))


THEIRS = {"pk": s("U#b"), "sk": s("U#b")}


OWN = {"pk": s("U#a"), "sk": s("U#a")}


WHERE = {"TableName": "market"}


QUERY: dict[str, Any] = {
    "TableName": "market",
    "KeyConditionExpression": "#p = :p",
    "ExpressionAttributeNames": {"#p": "pk"},
    "ExpressionAttributeValues": {":p": s("U#b")},
}


INDEX: dict[str, Any] = {
    **QUERY,
    "IndexName": "TotalIndex",
    "ExpressionAttributeNames": {"#p": "GSI2PK"},
    "ExpressionAttributeValues": {":p": s("TOTALS")},
}


SET = {
    "UpdateExpression": "SET nick = :n",
    "ExpressionAttributeValues": {":n": s("hacked")},
}


REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "GetItem": ("GetItem", {**WHERE, "Key": THEIRS}),
    "GetItem of another table": ("GetItem", {"TableName": "plain", "Key": OWN}),
    "GetItem by a binary key": ("GetItem", {**WHERE, "Key": {**OWN, "pk": {"B": "VSNh"}}}),
    "GetItem without a partition": ("GetItem", {**WHERE, "Key": {"sk": s("U#b")}}),
    "BatchGetItem": ("BatchGetItem", {"RequestItems": {"market": {"Keys": [OWN, THEIRS]}}}),
    "BatchGetItem of another table": (
        "BatchGetItem",
        {"RequestItems": {"market": {"Keys": [OWN]}, "plain": {"Keys": [OWN]}}},
    ),
    "TransactGetItems": (
        "TransactGetItems",
        {"TransactItems": [{"Get": {**WHERE, "Key": THEIRS}}]},
    ),
    "Query": ("Query", QUERY),
    "Query by literal names": (
        "Query",
        {
            **WHERE,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": s("U#b")},
        },
    ),
    "Query in brackets": ("Query", {**QUERY, "KeyConditionExpression": "(#p = :p)"}),
    "Query by old conditions": (
        "Query",
        {
            **WHERE,
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("U#b")]}},
        },
    ),
    "Query of an index that is not there": ("Query", {**QUERY, "IndexName": "Nothing"}),
    "Query that begins as a shard does": (
        "Query",
        {
            **QUERY,
            "IndexName": "ReverseIndex",
            "KeyConditionExpression": "#s = :s AND begins_with(#p, :p)",
            "ExpressionAttributeNames": {"#p": "pk", "#s": "sk"},
            "ExpressionAttributeValues": {":p": s("U#a"), ":s": s("LOGIN")},
        },
    ),
    "Scan": ("Scan", WHERE),
    "PutItem": ("PutItem", {**WHERE, "Item": THEIRS}),
    "UpdateItem": ("UpdateItem", {**WHERE, **SET, "Key": THEIRS}),
    "DeleteItem": ("DeleteItem", {**WHERE, "Key": THEIRS}),
    "UpdateItem with an own item beside the key": (
        "UpdateItem",
        {**WHERE, **SET, "Key": THEIRS, "Item": OWN},
    ),
    "BatchWriteItem": (
        "BatchWriteItem",
        {
            "RequestItems": {
                "market": [{"PutRequest": {"Item": OWN}}, {"DeleteRequest": {"Key": THEIRS}}]
            }
        },
    ),
    "BatchWriteItem with an own item beside the key": (
        "BatchWriteItem",
        {"RequestItems": {"market": [{"DeleteRequest": {"Key": THEIRS, "Item": OWN}}]}},
    ),
    "TransactWriteItems": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Delete": {**WHERE, "Key": OWN}},
                {"Delete": {**WHERE, "Key": THEIRS}},
            ]
        },
    ),
    "TransactWriteItems with an own item beside the key": (
        "TransactWriteItems",
        {"TransactItems": [{"Update": {**WHERE, **SET, "Key": THEIRS, "Item": OWN}}]},
    ),
    "TransactWriteItems that deletes with an own item beside the key": (
        "TransactWriteItems",
        {"TransactItems": [{"Delete": {**WHERE, "Key": THEIRS, "Item": OWN}}]},
    ),
    "DescribeTable": ("DescribeTable", WHERE),
    "DeleteTable": ("DeleteTable", WHERE),
    "UpdateTable": ("UpdateTable", WHERE),
    "CreateTable": ("CreateTable", WHERE),
    "UpdateTimeToLive": ("UpdateTimeToLive", WHERE),
    "ListTables": ("ListTables", {}),
    "ExecuteStatement": ("ExecuteStatement", {"Statement": 'SELECT * FROM "market"'}),
    "no operation at all": ("same_table", {}),
    "nor is this one": ("filter", INDEX),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_plan_of_the_callers_own_is_refused_too(db: Database, name: str) -> None:
    before = stored(db)
    recording = record_requests(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(Anything(*REQUESTS[name]))
    assert recording.requests == []
    assert stored(db) == before


@pytest.mark.parametrize(
    "expression",
    [
        "attribute_exists(tp) OR attribute_exists(sk)",
        "attribute_exists(tp)) OR (attribute_exists(sk)",
        "NOT attribute_exists(nothing) OR attribute_exists(tp)",
    ],
)
def test_a_filter_of_the_callers_own_cannot_undo_the_tenants(db: Database, expression: str) -> None:
    plan = Anything("Query", {**INDEX, "FilterExpression": expression})
    try:
        answer = db.for_tenant(user_id="a").run(plan).decode()
    except TablewrightError:
        return
    assert all(f"U#{user}" not in answer for user in ("b", "ab", "aa", "A"))
    assert "U#a#O" in answer


def test_a_query_from_anothers_place_gives_nothing_of_others(own: Database) -> None:
    plan = Anything(
        "Query",
        {**QUERY, "ExpressionAttributeValues": {":p": s("U#a")}, "ExclusiveStartKey": THEIRS},
    )
    with pytest.raises(TablewrightError):
        own.run(plan)


def test_a_plan_of_the_callers_own_within_the_shards_is_run(own: Database) -> None:
    answer = own.run(Anything("GetItem", {**WHERE, "Key": OWN}))
    assert b"profile-a" in answer


def test_a_plan_that_goes_on_after_a_refusal_is_refused_again(db: Database) -> None:
    class Stubborn(Plan[list[bytes]]):
        def _steps(self, context: Context) -> Steps[list[bytes]]:
            answers = []
            for wanted in (THEIRS, OWN):
                try:
                    answers.append((yield Request("GetItem", {**WHERE, "Key": wanted})))
                except TenantViolation:
                    continue
            return answers

    recording = record_requests(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(Stubborn())
    assert all("U#b" not in str(request) for _, request in recording.requests)
