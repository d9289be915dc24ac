"""`mock_dynamodb` with boto3 as users call it: no endpoint, no credentials, no region."""

from __future__ import annotations

import asyncio
import os
import sys
import unittest
from collections.abc import Iterator
from typing import Any

import boto3
import botocore.endpoint
import pytest
from botocore.exceptions import ClientError

from tablewright.testing import EndpointURL, mock_dynamodb
from tablewright.testing.mock import DynamoDBMock
from tests.engine.database import table_request

THINGS = table_request("things")


@pytest.fixture(autouse=True)
def _environment_of_a_user(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove what this machine sets; afterwards the mock must have restored everything."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    method = botocore.endpoint.Endpoint.make_request
    yield
    assert botocore.endpoint.Endpoint.make_request is method
    assert "AWS_ENDPOINT_URL_DYNAMODB" not in os.environ
    assert "AWS_SECRET_ACCESS_KEY" not in os.environ


def tables(client: Any = None) -> list[str]:
    """Return the names of the tables, through this client or a new one."""
    if client is not None:
        names: list[str] = client.list_tables()["TableNames"]
        return names
    new = boto3.client("dynamodb")
    try:
        return tables(new)
    finally:
        new.close()


@pytest.fixture(scope="module")
def session() -> Any:
    """Return a session for the clients of all tests: a new one reads the service models again."""
    return boto3.Session()


@pytest.fixture
def early_client(session: Any) -> Iterator[Any]:
    """Yield a client that exists before the mock, with an address that does not respond."""
    client = session.client("dynamodb", region_name="eu-west-1", endpoint_url="http://127.0.0.1:9")
    yield client
    client.close()


def test_clients_and_resources_need_no_options() -> None:
    with mock_dynamodb():
        resource = boto3.resource("dynamodb")
        table = resource.create_table(**THINGS)
        assert table.table_arn == "arn:aws:dynamodb:us-east-1:123456789012:table/things"
        assert tables() == ["things"]
        streams = boto3.client("dynamodbstreams")
        assert streams.list_streams()["Streams"] == []
        streams.close()
        resource.meta.client.close()


def test_a_client_from_before_the_mock_is_redirected(early_client: Any) -> None:
    with mock_dynamodb():
        early_client.create_table(**THINGS)
        assert tables() == ["things"]
    with mock_dynamodb():
        assert tables(early_client) == []


def test_real_credentials_do_not_leave_the_client(session: Any) -> None:
    sent: list[Any] = []
    client = session.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="AKIAREAL",
        aws_secret_access_key="secret",
        aws_session_token="token",
    )
    client.meta.events.register("before-send", lambda request, **_: sent.append(request.headers))
    with mock_dynamodb() as endpoint:
        client.list_tables()
        assert endpoint == os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
    client.close()
    assert b"Credential=testing/" in sent[0]["Authorization"]
    assert "X-Amz-Security-Token" not in sent[0]


def test_each_mock_begins_without_tables_and_the_inner_one_applies(early_client: Any) -> None:
    with mock_dynamodb() as outer:
        early_client.create_table(**THINGS)
        with mock_dynamodb() as inner:
            assert inner != outer
            assert tables() == tables(early_client) == []
        assert tables() == tables(early_client) == ["things"]


def test_the_client_of_an_endpoint_keeps_to_it(tablewright_endpoint: EndpointURL) -> None:
    tablewright_endpoint.client().create_table(**THINGS)
    with mock_dynamodb() as outer, mock_dynamodb():
        outer.client().create_table(**table_request("others"))
        assert tables() == []
        assert tables(outer.client()) == ["others"]
        assert tables(tablewright_endpoint.client()) == ["things"]


def test_one_mock_can_be_entered_again(early_client: Any) -> None:
    mock = mock_dynamodb()
    for _ in range(2):
        with mock:
            assert tables(early_client) == []
            early_client.create_table(**THINGS)
            with mock:
                assert tables(early_client) == []


def test_mocks_can_end_in_any_order() -> None:
    mocks = [DynamoDBMock() for _ in range(3)]
    urls = [mock.__enter__() for mock in mocks]
    mocks[1].__exit__(None, None, None)
    assert os.environ["AWS_ENDPOINT_URL_DYNAMODB"] == urls[2]
    mocks[2].__exit__(None, None, None)
    assert os.environ["AWS_ENDPOINT_URL_DYNAMODB"] == urls[0]
    mocks[0].__exit__(None, None, None)


def test_everything_is_restored_after_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_PROFILE", "mine")

    @mock_dynamodb
    def fail() -> None:
        assert "AWS_PROFILE" not in os.environ
        assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert os.environ["AWS_ACCESS_KEY_ID"] == os.environ["AWS_PROFILE"] == "mine"
    assert "AWS_ENDPOINT_URL_DYNAMODB_STREAMS" not in os.environ
    assert boto3.DEFAULT_SESSION is None


def test_the_default_session_keeps_its_region_and_gets_no_fake_credentials() -> None:
    boto3.setup_default_session(region_name="eu-north-1")
    session = boto3.DEFAULT_SESSION
    with mock_dynamodb():
        client = boto3.client("dynamodb")
        assert client.meta.region_name == "eu-north-1"
        client.close()
    assert boto3.DEFAULT_SESSION is session
    assert session.get_credentials() is None


def test_a_profile_that_does_not_exist_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    boto3.setup_default_session(region_name="sa-east-1")
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with mock_dynamodb():
        assert boto3.DEFAULT_SESSION.region_name == "sa-east-1"
        assert tables() == []
    assert os.environ["AWS_PROFILE"] == "missing"


def test_the_region_of_the_environment_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    with mock_dynamodb() as endpoint:
        client = boto3.client("dynamodb")
        assert client.meta.region_name == "ap-south-1"
        assert endpoint.client().meta.region_name == "us-east-1"
        client.close()


def test_a_library_may_wrap_the_same_method_during_a_mock(early_client: Any) -> None:
    with mock_dynamodb():
        inner = botocore.endpoint.Endpoint.make_request

        def traced(*arguments: Any) -> Any:
            return inner(*arguments)

        botocore.endpoint.Endpoint.make_request = traced
    with mock_dynamodb():
        assert tables(early_client) == []
    assert botocore.endpoint.Endpoint.make_request is traced
    botocore.endpoint.Endpoint.make_request = inner.__wrapped__


def test_other_services_are_not_touched() -> None:
    sent: list[str] = []

    def stop(request: Any, **_: Any) -> None:
        sent.append(request.url)
        raise ConnectionError

    with mock_dynamodb():
        client = boto3.client("sts")
        client.meta.events.register("before-send", stop)
        with pytest.raises(ConnectionError):
            client.get_caller_identity()
        client.close()
    assert sent[0].startswith("https://sts.")


def test_a_sandbox_undoes_what_one_test_of_many_writes() -> None:
    with mock_dynamodb() as endpoint:
        client = endpoint.client()
        client.create_table(**THINGS)
        with endpoint.engine.sandbox():
            client.delete_table(TableName="things")
        assert tables(client) == ["things"]


@mock_dynamodb
def test_a_decorated_function_has_its_arguments(early_client: Any) -> None:
    assert tables(early_client) == []


def test_each_call_of_a_decorated_function_has_a_mock_of_its_own(early_client: Any) -> None:
    @mock_dynamodb()
    def use() -> str:
        assert tables(early_client) == []
        early_client.create_table(**THINGS)
        return "done"

    assert [use(), use()] == ["done", "done"]
    assert use.__name__ == "use"


def test_the_mock_of_an_asynchronous_function_lasts_until_it_returns(early_client: Any) -> None:
    @mock_dynamodb
    async def use() -> str:
        await asyncio.sleep(0)
        return os.environ["AWS_ENDPOINT_URL_DYNAMODB"]

    async def use_two() -> list[str]:
        return list(await asyncio.gather(use(), use()))

    assert all(url.startswith("http://127.0.0.1:") for url in asyncio.run(use_two()))


def test_each_test_of_a_decorated_class_has_a_mock_of_its_own() -> None:
    @mock_dynamodb
    class TestThings:
        def helper(self) -> bool:
            return "AWS_ENDPOINT_URL_DYNAMODB" in os.environ

        def test_one(self) -> list[str]:
            assert self.helper()
            return tables()

    things = TestThings()
    assert things.test_one() == []
    assert not things.helper()


def test_the_mock_of_a_test_case_covers_set_up_and_tear_down() -> None:
    @mock_dynamodb
    class Case(unittest.TestCase):
        def setUp(self) -> None:
            self.client = boto3.client("dynamodb")
            self.client.create_table(**THINGS)

        def tearDown(self) -> None:
            self.client.delete_table(TableName="things")
            self.client.close()

        def test_one(self) -> None:
            assert tables() == ["things"]

        test_two = test_one

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert result.testsRun == 2
    assert result.wasSuccessful(), result.errors


def test_a_generator_is_refused() -> None:
    def fixture() -> Iterator[None]:
        yield

    with pytest.raises(TypeError, match=r"generator .*fixture; write `with mock_dynamodb\(\):` in"):
        mock_dynamodb(fixture)
    with pytest.raises(TypeError, match="decorates functions and classes, got 'us-east-1'"):
        mock_dynamodb("us-east-1")  # type: ignore[call-overload]


def test_errors_are_those_of_boto3(early_client: Any) -> None:
    with mock_dynamodb(), pytest.raises(ClientError) as refused:
        early_client.describe_table(TableName="things")
    assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_without_botocore_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.endpoint", None)
    with pytest.raises(ImportError, match="botocore, which is not installed: pip install boto3"):
        mock_dynamodb().__enter__()


def test_without_boto3_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with mock_dynamodb() as endpoint, pytest.raises(ImportError, match="pip install boto3"):
        endpoint.client()
