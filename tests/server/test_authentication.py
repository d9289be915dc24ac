"""A server that asks for signatures, as boto3 meets it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tablewright.engine import Engine
from tablewright.server import Settings, serving
from tablewright.server.access.authentication import Authenticator, SignatureAuthenticator
from tablewright.server.access.credentials import Credentials
from tablewright.server.access.credentials_edit import add_key, remove_user_or_key
from tablewright.sigv4 import Signer, SigningCredentials
from tablewright.wire.operations import target_of
from tests.server.http import Client
from tests.server.signing import KEY_ID, SECRET, TOKEN
from tests.server.test_stopping import served

SESSION = f"""
[[users.bob.keys]]
access_key_id = "TWAKBOB"
secret_access_key = "bobs-secret"
session_token = "{TOKEN}"
"""


def serving_signed(engine: Engine, access: Authenticator) -> AbstractContextManager[str]:
    """Serve from a thread to those whom `access` accepts."""
    return serving(engine, settings=Settings(authenticator=access))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("access") / "users.toml"
    add_key(path, "alice", KEY_ID, SECRET)
    path.write_text(path.read_text() + SESSION)
    access = SignatureAuthenticator(Credentials(path), region="eu-west-1")
    with Engine(":memory:") as engine, serving_signed(engine, access) as url:
        yield url


def client(
    url: str,
    key_id: str = KEY_ID,
    secret: str = SECRET,
    token: str | None = None,
    region: str = "eu-west-1",
    service: str = "dynamodb",
) -> Any:
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=Config(retries={"max_attempts": 0}),
    )


def refusal(*arguments: str, **options: Any) -> str:
    with pytest.raises(ClientError) as caught:
        client(*arguments, **options).list_tables()
    return str(caught.value.response["Error"]["Code"])


def test_boto3_with_a_key_of_the_file_works(url: str) -> None:
    dynamodb = client(url)
    dynamodb.create_table(
        TableName="things",
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.put_item(TableName="things", Item={"k": {"S": "ü"}})
    found = dynamodb.get_item(TableName="things", Key={"k": {"S": "ü"}})
    assert found["Item"] == {"k": {"S": "ü"}}
    dynamodb.delete_table(TableName="things")


def test_boto3_with_a_session_token_works(url: str) -> None:
    assert client(url, "TWAKBOB", "bobs-secret", TOKEN).list_tables()["TableNames"] == []


def test_boto3_sees_the_codes_of_dynamodb(url: str) -> None:
    assert refusal(url, "TWAKNONE") == "UnrecognizedClientException"
    assert refusal(url, secret="another") == "InvalidSignatureException"
    assert refusal(url, region="us-east-1") == "InvalidSignatureException"
    assert refusal(url, "TWAKBOB", "bobs-secret", "another") == "UnrecognizedClientException"


def test_streams_ask_for_signatures_too(url: str) -> None:
    assert client(url, service="dynamodbstreams").list_streams()["Streams"] == []
    with pytest.raises(ClientError, match="InvalidSignatureException"):
        client(url, secret="wrong", service="dynamodbstreams").list_streams()


def test_our_own_signer_is_accepted(url: str) -> None:
    host = url.removeprefix("http://")
    message = Signer(host, "eu-west-1").sign_request(
        SigningCredentials(KEY_ID, SECRET), target_of("ListTables"), b"{}", int(time.time())
    )
    with Client(url) as connection:
        connection.send(message)
        assert connection.answer().status == 200
        connection.send(message.replace(b"{}", b"[]"))
        assert connection.answer().type == "InvalidSignatureException"


def test_a_request_without_signature_is_refused(url: str) -> None:
    with Client(url) as connection:
        answer = connection.call(authorization=None)
        assert answer.type == "MissingAuthenticationTokenException"
        assert connection.call().type == "InvalidSignatureException"


def test_a_removed_user_is_refused_while_the_server_runs(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    add_key(path, "alice", KEY_ID, SECRET)
    now = [0.0]
    credentials = Credentials(path, clock=lambda: now[0])
    access = SignatureAuthenticator(credentials, region="eu-west-1")
    with Engine(":memory:") as engine, serving_signed(engine, access) as url:
        assert client(url).list_tables()["TableNames"] == []
        remove_user_or_key(path, "alice")
        now[0] += 1
        credentials.find(KEY_ID)  # notices the change
        credentials.join()
        assert refusal(url) == "UnrecognizedClientException"


def test_serve_with_a_region_refuses_signatures_for_another(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    key, secret = "TWAKREGION", "hush-hush"
    add_key(users, "alice", key, secret)
    with served("--credentials", str(users), "--region", "eu-west-1") as (_, url):
        for region, accepted in (("eu-west-1", True), ("us-east-1", False)):
            client = boto3.client(
                "dynamodb",
                endpoint_url=url,
                region_name=region,
                aws_access_key_id=key,
                aws_secret_access_key=secret,
            )
            if accepted:
                assert client.list_tables()["TableNames"] == []
            else:
                with pytest.raises(ClientError, match="valid region"):
                    client.list_tables()
