"""The account in ARNs: that of new files, that of old files, and that of others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tablewright import Engine
from tablewright.engine.repair import repair
from tablewright.engine.tables import describe
from tablewright.errors import AccessDeniedException
from tablewright.policy import Principal, principal
from tablewright.server import serving
from tablewright.templates import intrinsics
from tests.engine.accounts import OLD_ACCOUNT, make_old
from tests.engine.database import Json, item, table_request
from tests.server.http import Client

ACCOUNT = "123456789012"
KEY = item(pk="a", sk="1")
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def arn_of(account: str, region: str = "us-east-1", resource: str = "table/shop") -> str:
    return f"arn:aws:dynamodb:{region}:{account}:{resource}"


def fill(engine: Engine) -> Engine:
    engine.call("CreateTable", table_request("shop", StreamSpecification=STREAM))
    engine.call("PutItem", {"TableName": "shop", "Item": KEY})
    return engine


@pytest.fixture(scope="module")
def new() -> Iterator[Engine]:
    with Engine() as engine:
        yield fill(engine)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("old") / "shop.db"
    make_old(path)
    with Engine(path, durability="normal") as engine:
        yield fill(engine)


@pytest.fixture(params=["new", "old"])
def owned(request: pytest.FixtureRequest) -> tuple[Engine, str, str]:
    """An engine, its account, and another account."""
    engine = request.getfixturevalue(request.param)
    return (
        (engine, ACCOUNT, OLD_ACCOUNT) if request.param == "new" else (engine, OLD_ACCOUNT, ACCOUNT)
    )


def requests(table: str, stream: str) -> list[tuple[str, Json]]:
    return [
        ("GetItem", {"TableName": table, "Key": KEY}),
        ("PutItem", {"TableName": table, "Item": KEY}),
        ("Scan", {"TableName": table}),
        ("BatchGetItem", {"RequestItems": {table: {"Keys": [KEY]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": table, "Key": KEY}}]}),
        ("ExecuteStatement", {"Statement": f'SELECT * FROM "{table}"'}),
        ("DescribeTable", {"TableName": table}),
        ("ListTagsOfResource", {"ResourceArn": table}),
        ("DeleteResourcePolicy", {"ResourceArn": table}),
        ("DescribeContinuousBackups", {"TableName": table}),
        ("DescribeStream", {"StreamArn": stream}),
    ]


def test_tables_users_and_templates_have_one_account() -> None:
    assert ACCOUNT == describe.ACCOUNT == principal.ACCOUNT == intrinsics.ACCOUNT


def test_arns_have_the_account_of_the_file(owned: tuple[Engine, str, str]) -> None:
    engine, account, _ = owned
    table = engine.call("DescribeTable", {"TableName": "shop"})["Table"]
    assert table["TableArn"] == arn_of(account)
    (stream,) = engine.call("ListStreams")["Streams"]
    assert stream["StreamArn"] == table["LatestStreamArn"]
    assert stream["StreamArn"].startswith(arn_of(account) + "/stream/")
    backup = engine.call("CreateBackup", {"TableName": "shop", "BackupName": "one"})
    arn = backup["BackupDetails"]["BackupArn"]
    assert arn.startswith(arn_of(account) + "/backup/")
    described = engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    assert described["SourceTableDetails"]["TableArn"] == arn_of(account)


def test_its_own_arns_are_accepted_with_any_region(owned: tuple[Engine, str, str]) -> None:
    engine, account, _ = owned
    stream = engine.call("ListStreams")["Streams"][0]["StreamArn"].rpartition("/")[2]
    for region in ("us-east-1", "eu-west-1"):
        named = arn_of(account, region), arn_of(account, region, f"table/shop/stream/{stream}")
        for operation, request in requests(*named):
            engine.call(operation, request)


def test_arns_of_another_account_are_refused(owned: tuple[Engine, str, str]) -> None:
    engine, account, other = owned
    stream = arn_of(other, resource="table/shop/stream/2026-01-15T10:00:00.000")
    refused = (
        f"Account {account} is not authorized to access the resource {{}} of another account, "
        "because no resource-based policy allows it"
    )
    create = ("CreateTable", table_request(arn_of(other, resource="table/another")))
    for operation, request in (*requests(arn_of(other), stream), create):
        with pytest.raises(AccessDeniedException) as denied:
            engine.call(operation, request)
        arn = stream if operation == "DescribeStream" else arn_of(other)
        arn = request["TableName"] if operation == "CreateTable" else arn
        assert denied.value.message == refused.format(arn)


def test_users_are_in_the_account_of_the_file(owned: tuple[Engine, str, str]) -> None:
    engine, account, other = owned

    def policy(principal: str, resource: str) -> Json:
        allow = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": resource}
        return {"Statement": allow | ({"Principal": {"AWS": principal}} if principal else {})}

    get: Json = {"TableName": "shop", "Key": KEY}
    engine.call("GetItem", get, policy=Principal("ann", policy("", arn_of(account))))
    with pytest.raises(AccessDeniedException) as denied:
        engine.call("GetItem", get, policy=Principal("ann", policy("", arn_of(other))))
    assert denied.value.message.startswith(
        f"User: arn:aws:iam::{account}:user/ann is not authorized to perform: dynamodb:GetItem on "
        f"resource: {arn_of(account)} "
    )
    named = policy(f"arn:aws:iam::{account}:user/ann", arn_of(account))
    request: Json = {"ResourceArn": arn_of(account), "Policy": str(named).replace("'", '"')}
    engine.call("PutResourcePolicy", request)
    engine.call("GetItem", get, policy=Principal("ann"))
    elsewhere = Principal("ann", arn=f"arn:aws:iam::{other}:user/ann")
    with pytest.raises(AccessDeniedException):
        engine.call("GetItem", get, policy=elsewhere)
    engine.call("DeleteResourcePolicy", {"ResourceArn": arn_of(account)})


@pytest.mark.parametrize("is_old", [False, True])
def test_repair_keeps_the_account(tmp_path: Path, is_old: bool) -> None:
    path, repaired = tmp_path / "shop.db", tmp_path / "repaired.db"
    if is_old:
        make_old(path)
    with Engine(path) as engine:
        fill(engine)
    repair(path, repaired)
    with Engine(repaired) as engine:
        arn = engine.call("DescribeTable", {"TableName": "shop"})["Table"]["TableArn"]
    assert arn == arn_of(OLD_ACCOUNT if is_old else ACCOUNT)


def test_the_server_answers_alike(old: Engine) -> None:
    with serving(old) as url, Client(url) as client:
        table = client.call("DescribeTable", {"TableName": "shop"}).json["Table"]
        assert table["TableArn"] == arn_of(OLD_ACCOUNT)
        answer = client.call("GetItem", {"TableName": arn_of(ACCOUNT), "Key": KEY})
        assert (answer.status, answer.type) == (400, "AccessDeniedException")


def test_a_restored_table_of_an_old_file_names_its_source(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    make_old(path)
    with Engine(path) as engine:
        fill(engine)
        backup = engine.call("CreateBackup", {"TableName": "shop", "BackupName": "one"})
        arn = backup["BackupDetails"]["BackupArn"]
        engine.call("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": "again"})
        restored = engine.call("DescribeTable", {"TableName": "again"})["Table"]["RestoreSummary"]
        assert restored["SourceBackupArn"] == arn
        assert restored["SourceTableArn"] == arn_of(OLD_ACCOUNT)
        recovery = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": arn_of(OLD_ACCOUNT), "PointInTimeRecoverySpecification": recovery},
        )
        request = {"TargetTableName": "third", "UseLatestRestorableTime": True}
        operation = "RestoreTableToPointInTime"
        with pytest.raises(AccessDeniedException):
            engine.call(operation, {"SourceTableArn": arn_of(ACCOUNT), **request})
        engine.call(operation, {"SourceTableArn": arn_of(OLD_ACCOUNT), **request})
