"""Regions and accounts with tables of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tablewright.engine.access.account_scope import AccountScope, ScopedEngine
from tablewright.engine.realism import Realism
from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.policy import Principal
from tablewright.server import Settings, isolation, serving
from tablewright.server.access.authentication import SignatureAuthenticator
from tablewright.server.access.credentials import Credentials
from tablewright.server.isolation import IsolatedEngines, account_of
from tests.engine.accounts import make_old
from tests.engine.database import item, table_request, values
from tests.server.test_stopping import served

Connect = Callable[..., Any]


def client(url: str, region: str = "us-east-1", key: str = "key", service: str = "dynamodb") -> Any:
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connects to one server with a region and an access key id."""
    opened: list[Any] = []

    with closing(IsolatedEngines()) as engines, serving(engines) as url:

        def connect(region: str = "us-east-1", key: str = "key", service: str = "dynamodb") -> Any:
            opened.append(client(url, region, key, service))
            return opened[-1]

        yield connect
        for one in opened:
            one.close()


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(ClientError) as refused:
        call()
    return str(refused.value.response["Error"]["Code"])


def test_tables_of_one_region_are_not_visible_in_another(connect: Connect) -> None:
    here, there = connect("eu-west-1"), connect("us-west-2")
    here.create_table(**table_request("shop"))
    here.put_item(TableName="shop", Item=item(pk="a", sk="1"))
    assert here.list_tables()["TableNames"] == ["shop"]
    assert there.list_tables()["TableNames"] == []
    key = item(pk="a", sk="1")
    missing = code_of(lambda: there.get_item(TableName="shop", Key=key))
    assert missing == "ResourceNotFoundException"
    there.create_table(**table_request("shop"))
    assert there.scan(TableName="shop")["Count"] == 0
    assert here.scan(TableName="shop")["Count"] == 1


def test_tables_of_one_account_are_not_visible_in_another(connect: Connect) -> None:
    mine, other = connect(key="123456789012"), connect(key="210987654321")
    mine.create_table(**table_request("shop"))
    assert other.list_tables()["TableNames"] == []


def test_arns_carry_region_and_account(connect: Connect) -> None:
    db = connect("eu-west-1", "123456789012")
    prefix = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    request = table_request("shop", glob={"glob": ("g:S", "ALL")}, StreamSpecification=stream)
    db.create_table(**request)
    found = db.describe_table(TableName="shop")["Table"]
    assert found["TableArn"] == prefix
    assert found["GlobalSecondaryIndexes"][0]["IndexArn"] == prefix + "/index/glob"
    assert found["LatestStreamArn"].startswith(prefix + "/stream/")
    db.tag_resource(ResourceArn=prefix, Tags=[{"Key": "a", "Value": "b"}])
    assert db.list_tags_of_resource(ResourceArn=prefix)["Tags"] == [{"Key": "a", "Value": "b"}]
    db.put_item(TableName=prefix, Item=item(pk="a", sk="1"))
    batch = db.batch_get_item(RequestItems={prefix: {"Keys": [item(pk="a", sk="1")]}})
    assert len(batch["Responses"]) == 1


def test_backups_and_streams_carry_region_and_account(connect: Connect) -> None:
    db = connect("eu-west-1", "123456789012")
    prefix = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    db.create_table(**table_request("shop", StreamSpecification=stream))
    db.put_item(TableName="shop", Item=item(pk="a", sk="1"))
    made = db.create_backup(TableName="shop", BackupName="before")["BackupDetails"]["BackupArn"]
    assert made.startswith(prefix + "/backup/")
    described = db.describe_backup(BackupArn=made)["BackupDescription"]
    assert described["SourceTableDetails"]["TableArn"] == prefix
    streams = connect("eu-west-1", "123456789012", "dynamodbstreams")
    (listed,) = streams.list_streams()["Streams"]
    assert listed["StreamArn"].startswith(prefix + "/stream/")
    shard = streams.describe_stream(StreamArn=listed["StreamArn"])["StreamDescription"]["Shards"]
    iterator = streams.get_shard_iterator(
        StreamArn=listed["StreamArn"],
        ShardId=shard[0]["ShardId"],
        ShardIteratorType="TRIM_HORIZON",
    )["ShardIterator"]
    (record,) = streams.get_records(ShardIterator=iterator)["Records"]
    assert record["awsRegion"] == "eu-west-1"


def test_arns_of_other_regions_and_accounts_are_refused(connect: Connect) -> None:
    db = connect("eu-west-1", "123456789012")
    db.create_table(**table_request("shop"))
    elsewhere = "arn:aws:dynamodb:us-west-2:123456789012:table/shop"
    assert code_of(lambda: db.describe_table(TableName=elsewhere)) == "ValidationException"
    others = "arn:aws:dynamodb:eu-west-1:210987654321:table/shop"
    put = {"Put": {"TableName": others, "Item": item(pk="a", sk="1")}}
    denied = code_of(lambda: db.transact_write_items(TransactItems=[put]))
    assert denied == "AccessDeniedException"
    batch = {others: {"Keys": [item(pk="a", sk="1")]}}
    denied = code_of(lambda: db.batch_get_item(RequestItems=batch))
    assert denied == "AccessDeniedException"


def test_arns_of_the_default_region_are_refused_elsewhere(connect: Connect) -> None:
    """Inside, every engine has these ARNs."""
    db = connect("eu-west-1", "123456789012")
    db.create_table(**table_request("shop"))
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/shop"
    message = f"1 validation error detected: Invalid AWS region in '{arn}'"
    statement = f'SELECT * FROM "{arn}"'
    calls: list[Callable[[], object]] = [
        lambda: db.delete_table(TableName=arn),
        lambda: db.list_tags_of_resource(ResourceArn=arn),
        lambda: db.execute_statement(Statement=statement),
        lambda: db.batch_execute_statement(Statements=[{"Statement": statement}]),
        lambda: db.execute_transaction(TransactStatements=[{"Statement": statement}]),
    ]
    for call in calls:
        with pytest.raises(ClientError) as caught:
            call()
        assert caught.value.response["Error"]["Message"] == message


def test_consumed_capacity_names_the_table_as_the_request_does(connect: Connect) -> None:
    db = connect("eu-west-1", "123456789012")
    db.create_table(**table_request("shop"))
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
    answer = db.put_item(TableName=arn, Item=item(pk="a", sk="1"), ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["TableName"] == arn


def test_items_are_never_translated(connect: Connect) -> None:
    db = connect("eu-west-1", "123456789012")
    db.create_table(**table_request("shop"))
    stored = item(pk="a", sk="1", TableArn="arn:aws:dynamodb:us-east-1:123456789012:table/shop")
    db.put_item(TableName="shop", Item=stored)
    assert db.get_item(TableName="shop", Key=item(pk="a", sk="1"))["Item"] == stored
    query = {
        "TableName": "shop",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
    }
    assert db.query(**query)["Items"] == [stored]


def test_the_number_of_scopes_is_bounded(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MAX_SCOPES", 2)
    connect("eu-west-1").list_tables()
    assert code_of(connect("eu-west-2").list_tables) == "LimitExceededException"
    connect("eu-west-1").list_tables()


def test_requests_of_several_scopes_at_once_get_their_own_answers() -> None:
    with closing(IsolatedEngines()) as engines:
        steps = []
        for region in ("eu-west-1", "eu-west-2", "eu-west-1"):
            engine = engines.find_engine(AccountScope(region))
            if not engine.call("ListTables")["TableNames"]:
                engine.call("CreateTable", table_request(f"in-{region}"))
            header = f"AWS4-HMAC-SHA256 Credential=key/20260115/{region}/dynamodb/aws4_request, x"
            preparer = engines.find(b"/", {b"authorization": header.encode()}, None)
            steps.append(preparer.prepare("ListTables", {}))
        answers = engines.read_all(steps)  # type: ignore[arg-type]
    names = [json.loads(one)["TableNames"] for one in answers]  # type: ignore[arg-type]
    assert names == [["in-eu-west-1"], ["in-eu-west-2"], ["in-eu-west-1"]]


def test_each_region_of_a_file_has_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    for _ in range(2):
        with closing(IsolatedEngines(path)) as engines:
            for region in ("us-east-1", "eu-west-1"):
                engine = engines.find_engine(AccountScope(region))
                if not engine.call("ListTables")["TableNames"]:
                    engine.call("CreateTable", table_request(f"in-{region}"))
                assert engine.call("ListTables")["TableNames"] == [f"in-{region}"]
    assert sorted(file.name for file in tmp_path.glob("*.db")) == [
        "shop.db",
        "shop.eu-west-1.123456789012.db",
    ]


def test_a_file_from_before_accounts_were_stored_keeps_its_account(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    make_old(path)
    with closing(IsolatedEngines(path)) as engines:
        engines.default.call("CreateTable", table_request("shop"))
        for key, names in (("test", ["shop"]), ("123456789012", [])):
            header = f"AWS4-HMAC-SHA256 Credential={key}/20260115/us-east-1/dynamodb/x, y"
            found = engines.find(b"/", {b"authorization": header.encode()}, None)
            assert found.engine.call("ListTables")["TableNames"] == names
        engines.find_engine(AccountScope("eu-west-1", "000000000000"))
    assert sorted(file.name for file in tmp_path.glob("*.db")) == [
        "shop.db",
        "shop.eu-west-1.000000000000.db",
        "shop.us-east-1.123456789012.db",
    ]


def test_serve_keeps_regions_apart(tmp_path: Path) -> None:
    with served("--isolate-regions", tmp_path / "shop.db") as (_, url):
        here, there = client(url, "eu-west-1"), client(url, "eu-west-2")
        here.create_table(**table_request("shop"))
        here.put_item(TableName="shop", Item=item(pk="a", sk="1"))
        assert there.list_tables()["TableNames"] == []
        here.close()
        there.close()


def test_the_credentials_file_names_the_account_of_a_user(tmp_path: Path) -> None:
    policy = {
        "Statement": {
            "Effect": "Allow",
            "Action": "dynamodb:*",
            "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/*",
        }
    }
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    file = tmp_path / "users.toml"
    file.write_text(
        '[users.ann]\naccount = "123456789012"\npolicies = ["policy.json"]\n'
        '[[users.ann.keys]]\naccess_key_id = "ANNSKEY"\nsecret_access_key = "secret"\n'
    )
    file.chmod(0o600)
    settings = Settings(authenticator=SignatureAuthenticator(Credentials(file)))
    with closing(IsolatedEngines()) as engines, serving(engines, settings=settings) as url:
        here, there = client(url, "eu-west-1", "ANNSKEY"), client(url, "eu-west-2", "ANNSKEY")
        made = here.create_table(**table_request("shop"))["TableDescription"]["TableArn"]
        assert made == "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
        with pytest.raises(ClientError) as denied:
            there.list_tables()
        assert denied.value.response["Error"]["Message"].startswith(
            "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: "
            "dynamodb:ListTables on resource: arn:aws:dynamodb:eu-west-2:123456789012:table/*"
        )
        here.close()
        there.close()


def test_policies_are_about_the_resources_of_the_scope() -> None:
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
    statement = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": arn}
    with ScopedEngine(":memory:", scope=AccountScope("eu-west-1", "123456789012")) as engine:
        engine.call("CreateTable", table_request("shop"))
        ann = Principal("ann", {"Statement": statement})
        assert engine.call("Scan", {"TableName": "shop"}, policy=ann)["Count"] == 0
        with pytest.raises(AccessDeniedException, match="eu-west-1:123456789012:table/other"):
            engine.call("Scan", {"TableName": "other"}, policy=ann)


def test_isolated_engines_can_be_realistic() -> None:
    with closing(IsolatedEngines()) as engines:
        engines.make_realistic(Realism(clock=lambda: 0.0))
        for region in ("us-east-1", "eu-west-1"):
            engine = engines.find_engine(AccountScope(region))
            engine.call("CreateTable", table_request("shop"))
            described = engine.call("DescribeTable", {"TableName": "shop"})["Table"]
            assert described["TableStatus"] == "CREATING"


@pytest.mark.parametrize(
    ("key_id", "account"),
    [
        ("123456789012", "123456789012"),
        ("test", "000000000000"),
        ("AKIAQYLPMN5HHHFPZAM2", "052310077262"),
        ("ASIAQYLPMN5HHHFPZAM2", "052310077262"),
        ("AKIA1111111111111111", "000000000000"),
    ],
)
def test_the_account_of_an_access_key_id(key_id: str, account: str) -> None:
    assert account_of(key_id.encode(), "000000000000") == account


@pytest.mark.parametrize(("region", "account"), [("EU", "0" * 12), ("../x", "0" * 12), ("x", "1")])
def test_a_scope_has_a_valid_region_and_account(region: str, account: str) -> None:
    with pytest.raises(InvalidValue):
        AccountScope(region, account)
