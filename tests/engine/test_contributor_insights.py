from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest

from tablewright.engine import Engine, contributors
from tablewright.errors import InvalidValue, ResourceNotFoundException
from tablewright.server import Settings, serving
from tests.engine.database import Database, item, table_request, values
from tests.server.http import sdk_client


def update(db: Database, table: str, action: str = "ENABLE", **members: Any) -> Any:
    request = {"TableName": table, "ContributorInsightsAction": action, **members}
    return db.call("UpdateContributorInsights", request)


def test_it_is_disabled_by_default(db: Database, table: str) -> None:
    answer = db.call("DescribeContributorInsights", {"TableName": table})
    assert answer == {"TableName": table, "ContributorInsightsStatus": "DISABLED"}


def test_it_is_enabled_with_a_mode_and_disabled(db: Database, table: str) -> None:
    mode = "ACCESSED_AND_THROTTLED_KEYS"
    assert update(db, table) == {
        "TableName": table,
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": mode,
    }
    found = db.call("DescribeContributorInsights", {"TableName": table})
    since = found["ContributorInsightsRuleList"][0].rpartition("-")[2]
    assert found["ContributorInsightsRuleList"] == [
        f"DynamoDBContributorInsights-{kind}-{table}-{since}"
        for kind in ("PKC", "PKT", "SKC", "SKT")
    ]
    assert found["ContributorInsightsStatus"] == "ENABLED"
    assert found["LastUpdateDateTime"] > 0
    assert update(db, table)["ContributorInsightsStatus"] == "ENABLED"
    throttled = update(db, table, ContributorInsightsMode="THROTTLED_KEYS")
    assert throttled["ContributorInsightsStatus"] == "ENABLING"
    gone = update(db, table, "DISABLE", ContributorInsightsMode=mode)
    assert gone["ContributorInsightsStatus"] == "DISABLING"
    assert gone["ContributorInsightsMode"] == "THROTTLED_KEYS"
    found = db.call("DescribeContributorInsights", {"TableName": table})
    assert found["ContributorInsightsStatus"] == "DISABLED"
    assert "ContributorInsightsRuleList" not in found


def test_enabled_tables_and_indexes_are_listed_in_pages(db: Database) -> None:
    table = db.table(glob={"by-state": ("state_:S", "ALL")})
    request = {"TableName": table}
    assert db.call("ListContributorInsights", request) == {"ContributorInsightsSummaries": []}
    update(db, table)
    update(db, table, IndexName="by-state")
    first = db.call("ListContributorInsights", request | {"MaxResults": 1})
    second = db.call("ListContributorInsights", request | {"NextToken": first["NextToken"]})
    assert "NextToken" not in second
    pages = (first, second)
    listed = [one for page in pages for one in page["ContributorInsightsSummaries"]]
    assert [one.get("IndexName") for one in listed] == [None, "by-state"]
    assert {one["ContributorInsightsStatus"] for one in listed} == {"ENABLED"}


def test_a_missing_index_is_not_found(db: Database, table: str) -> None:
    db.fails(
        "DescribeContributorInsights",
        {"TableName": table, "IndexName": "missing"},
        "ResourceNotFoundException",
        f"Requested resource not found: Index: missing not found for Table: {table}",
    )


def test_a_deleted_index_is_not_listed(db: Database) -> None:
    table = db.table(glob={"by-state": ("state_:S", "ALL")})
    update(db, table, IndexName="by-state")
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-state"}}]}
    db.call("UpdateTable", {"TableName": table, **delete})
    found = db.call("ListContributorInsights", {"TableName": table})
    assert found == {"ContributorInsightsSummaries": []}


def test_the_keys_of_items_and_queries_are_counted(db: Database) -> None:
    table = db.table(glob={"by-state": ("state_:S", "ALL")})
    db.call("PutItem", {"TableName": table, "Item": item(pk="before", sk="1")})
    update(db, table)
    update(db, table, IndexName="by-state")
    for number in range(3):
        db.call("PutItem", {"TableName": table, "Item": item(pk="hot", sk=str(number))})
        db.call("GetItem", {"TableName": table, "Key": item(pk="hot", sk="0")})
    db.call("GetItem", {"TableName": table, "Key": item(pk="cold", sk="0")})
    query = {"TableName": table, "ExpressionAttributeValues": values(p="hot")}
    db.call("Query", query | {"KeyConditionExpression": "pk = :p"})
    by_state = {"IndexName": "by-state", "KeyConditionExpression": "state_ = :p"}
    db.call("Query", query | by_state)
    found = db.engine.contributor_insights(table)
    assert found.partition_keys == [(("hot",), 7), (("cold",), 1)]
    assert found.keys[0] == (("hot", "0"), 4)
    assert found.throttled_keys == []
    assert db.engine.contributor_insights(table, "by-state").partition_keys == [(("hot",), 1)]
    assert db.engine.contributor_insights(table, limit=1).partition_keys == [(("hot",), 7)]


def test_every_member_of_a_batch_and_a_transaction_counts(db: Database, table: str) -> None:
    update(db, table)
    keys = [item(pk="a", sk=str(number)) for number in range(3)]
    db.call("BatchGetItem", {"RequestItems": {table: {"Keys": keys}}})
    writes = [{"PutRequest": {"Item": key}} for key in keys]
    db.call("BatchWriteItem", {"RequestItems": {table: writes}})
    actions = [{"Delete": {"TableName": table, "Key": key}} for key in keys]
    db.call("TransactWriteItems", {"TransactItems": actions})
    assert db.engine.contributor_insights(table).partition_keys == [(("a",), 9)]


def test_failed_requests_are_not_counted(db: Database, table: str) -> None:
    update(db, table)
    request = {"TableName": table, "Item": item(pk="a", sk="1")}
    with pytest.raises(Exception, match="ConditionalCheckFailed"):
        db.call("PutItem", request | {"ConditionExpression": "attribute_exists(pk)"})
    assert db.engine.contributor_insights(table).partition_keys == []


def test_counting_begins_again_when_it_is_enabled_again(db: Database, table: str) -> None:
    request = {"TableName": table, "Key": item(pk="a", sk="1")}
    update(db, table)
    db.call("GetItem", request)
    update(db, table, "DISABLE")
    db.call("GetItem", request)
    with pytest.raises(InvalidValue, match="is not enabled for the table"):
        db.engine.contributor_insights(table)
    update(db, table)
    assert db.engine.contributor_insights(table).partition_keys == []


def test_an_unknown_table_has_no_counts(db: Database) -> None:
    with pytest.raises(ResourceNotFoundException):
        db.engine.contributor_insights("missing")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributors, "MAX_KEYS", 10)
    monkeypatch.setattr(contributors, "KEPT_KEYS", 2)
    with Engine() as engine:
        engine.call("CreateTable", table_request("shop", "pk:N"))
        request: Any = {"TableName": "shop", "ContributorInsightsAction": "ENABLE"}
        engine.call("UpdateContributorInsights", request)
        for number in (1, 1, 1, *range(30)):
            engine.call("GetItem", {"TableName": "shop", "Key": item(pk=number)})
        found = engine.contributor_insights("shop", limit=100).partition_keys
    assert found[0] == (("1",), 4)
    assert len(found) <= 10


@pytest.fixture
def served() -> Iterator[tuple[Any, str]]:
    with Engine() as engine:
        engine.call("CreateTable", table_request("shop"))
        port = free_port()
        with serving(engine, settings=Settings(metrics_port=port)) as url:
            client = sdk_client(url)
            yield client, f"http://127.0.0.1:{port}/metrics"
            client.close()


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_waiter_and_the_metrics_see_it(served: tuple[Any, str]) -> None:
    client, metrics = served
    assert "key_accesses" not in urlopen(metrics).read().decode()
    client.update_contributor_insights(TableName="shop", ContributorInsightsAction="ENABLE")
    waiter = client.get_waiter("contributor_insights_enabled")
    waiter.wait(TableName="shop", WaiterConfig={"Delay": 0, "MaxAttempts": 1})
    client.put_item(TableName="shop", Item=item(pk='a "b"', sk="1"))
    lines = urlopen(metrics).read().decode().splitlines()
    labels = 'table="shop",index="",kind="partition_key",key="a \\"b\\""'
    assert f"tablewright_key_accesses_total{{{labels}}} 1" in lines
