"""Which answer a request gets: DynamoDB's, in DynamoDB's order of checks."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tablewright.engine import Engine
from tablewright.server import serving
from tests.server.conftest import TABLE
from tests.server.http import AUTHORIZATION, Client, message, sdk_client

CORAL = "com.amazon.coral.service#"


def put(key: str, **attributes: str) -> dict[str, object]:
    return {
        "TableName": "things",
        "Item": {"k": {"S": key}} | {n: {"S": v} for n, v in attributes.items()},
    }


def get(key: str) -> dict[str, object]:
    return {"TableName": "things", "Key": {"k": {"S": key}}}


def test_an_item_put_is_read_back(client: Client) -> None:
    assert client.call("PutItem", put("a", text="é")).json == {}
    assert client.call("GetItem", get("a")).json == {"Item": {"k": {"S": "a"}, "text": {"S": "é"}}}


def test_an_answer_bears_the_headers_of_dynamodb(client: Client) -> None:
    answer = client.call()
    assert answer.status == 200
    assert answer.headers["server"] == "Server"
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"
    assert answer.headers["connection"] == "keep-alive"
    assert re.fullmatch(r"[A-Z0-9]{52}", answer.headers["x-amzn-requestid"])
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", answer.headers["date"])


def test_no_two_answers_have_the_same_request_id(client: Client) -> None:
    assert len({client.call().headers["x-amzn-requestid"] for _ in range(50)}) == 50


def test_the_content_type_is_echoed_if_it_is_plain_json(client: Client) -> None:
    assert (
        client.call(content_type="application/json").headers["content-type"] == "application/json"
    )
    answer = client.call(content_type="application/x-amz-json-1.0; charset=utf-8")
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"


def test_header_names_may_have_any_case(client: Client) -> None:
    head, _, body = message("ListTables").partition(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    for spell in (str.upper, str.lower, str.title):
        spelled = [spell(n) + ":" + v for n, v in (header.split(":", 1) for header in headers)]
        client.send("\r\n".join([line, *spelled]).encode() + b"\r\n\r\n" + body)
        assert client.answer().json == {"TableNames": ["things"]}


def test_a_get_of_another_path_finds_nothing(client: Client) -> None:
    answer = client.call(
        None, method="GET", path="/ping", raw=b"", authorization=None, content_type=None
    )
    assert answer.status == 404


@pytest.mark.parametrize("path", ["/", "/?x=1"])
def test_a_get_is_a_health_check(client: Client, path: str) -> None:
    answer = client.call(
        None, method="GET", path=path, raw=b"", authorization=None, content_type=None
    )
    assert answer.status == 200
    assert answer.body == b"healthy: 127.0.0.1 "  # as the client names the server
    assert answer.headers["content-type"] == "text/plain"


def test_a_health_check_without_a_host_names_the_socket(client: Client, url: str) -> None:
    answer = client.call(None, method="GET", raw=b"", host=None, version="1.0")
    assert answer.body == f"healthy: {urlsplit(url).netloc} ".encode()


def test_endpoints_are_the_address_of_the_server(url: str) -> None:
    (endpoint,) = sdk_client(url).describe_endpoints()["Endpoints"]
    assert endpoint == {"Address": urlsplit(url).netloc, "CachePeriodInMinutes": 1440}


@pytest.mark.parametrize("path", ["/tables", "//", "/%2F", "/?a=b/c", "http://127.0.0.1/x"])
def test_another_path_is_an_unknown_operation(client: Client, path: str) -> None:
    answer = client.call(path=path)
    if path.startswith("/?"):
        assert answer.json == {"TableNames": ["things"]}
    else:
        assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_method_is_an_unknown_operation(client: Client, method: str) -> None:
    answer = client.call(method=method)
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")
    assert answer.headers["x-amz-crc32"] == "3552371480"


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/xml"])
def test_a_body_of_another_type_is_an_unknown_operation(
    client: Client, content_type: str | None
) -> None:
    answer = client.call(content_type=content_type)
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


@pytest.mark.parametrize(
    "target",
    [
        None,
        "",
        "whatever",
        "DynamoDB_20120810",
        "DynamoDB_20120810.",
        "DynamoDB_20111205.GetItem",
        "DynamoDB_20120810.ListTable",
        "DynamoDB_20120810.listTables",
        "DynamoDB_20120810.GetRecords",
        "DynamoDBStreams_20120810.GetItem",
        "X.DynamoDB_20120810.Query",
    ],
)
def test_a_target_that_is_no_operation_is_refused(client: Client, target: str | None) -> None:
    answer = client.call(x_amz_target=target)
    assert answer.status == 400
    assert answer.json["__type"] == CORAL + "UnknownOperationException"
    assert "`tablewright help operations` lists" in answer.json["message"]


def test_an_operation_of_the_other_service_is_named(client: Client) -> None:
    answer = client.call(x_amz_target="DynamoDB_20120810.GetRecords")
    assert "did you mean 'DynamoDBStreams_20120810.GetRecords'?" in answer.json["message"]


def test_an_unknown_operation_is_named(client: Client, url: str) -> None:
    answer = client.call("SearchVectors")
    assert answer.json["message"].startswith("unknown operation 'SearchVectors'.")
    large = client.call("SearchVectors", {"x": "y" * 300_000})
    assert large.json == answer.json
    sdk = sdk_client(url, config=Config(parameter_validation=False))
    with pytest.raises(ClientError, match="unknown operation 'SearchVectors'") as refused:
        sdk.search_vectors()
    assert refused.value.response["Error"]["Code"] == "UnknownOperationException"


@pytest.mark.parametrize(
    "body",
    [
        b"hi",
        b"{",
        b'{"a":}',
        b'{"a": 1} x',
        b"\xff",
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b"NaN",
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_body_that_is_not_json_is_refused_in_dynamodbs_words(client: Client, body: bytes) -> None:
    answer = client.call(raw=body)
    assert (answer.status, answer.json) == (400, {"__type": CORAL + "SerializationException"})


def test_a_missing_body_is_refused_after_the_authorization(client: Client) -> None:
    assert client.call(raw=b"").json == {"__type": CORAL + "SerializationException"}
    assert client.call(raw=b"", authorization=None).type == "MissingAuthenticationTokenException"


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"null", b"true"])
def test_a_body_that_is_no_object_is_refused(client: Client, body: bytes) -> None:
    answer = client.call("GetItem", raw=body)
    assert (answer.status, answer.type) == (400, "SerializationException")


@pytest.mark.parametrize("authorization", [None, "Basic abc", "AWS4"])
def test_a_request_without_authorization_is_refused(
    client: Client, authorization: str | None
) -> None:
    answer = client.call(authorization=authorization)
    assert answer.status == 400
    assert answer.json == {
        "__type": CORAL + "MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }


def test_an_incomplete_authorization_is_told_what_is_missing(client: Client) -> None:
    answer = client.call(authorization="AWS4-", x_amz_date=None)
    assert answer.status == 400
    assert answer.json == {
        "__type": CORAL + "IncompleteSignatureException",
        "message": "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-",
    }


def test_an_authorization_may_be_in_the_query_string(client: Client) -> None:
    query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F2%2Fus-east-1%2Fdynamodb%2Faws4"
    query += "&X-Amz-Date=20260115T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=00"
    assert client.call(path="/?" + query, authorization=None).status == 200
    answer = client.call(path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256", authorization=None)
    assert answer.type == "IncompleteSignatureException"
    assert answer.json["message"].startswith("AWS query-string parameters must include 'X-Amz-Cred")


def test_the_checks_come_in_dynamodbs_order(client: Client) -> None:
    """JSON, then the operation, then the authorization, then what the request says."""
    wrong: dict[str, str | None] = {"authorization": None}
    assert client.call("Nothing", raw=b"{", **wrong).type == "SerializationException"
    assert client.call("Nothing", **wrong).type == "UnknownOperationException"
    assert client.call("GetItem", **wrong).type == "MissingAuthenticationTokenException"
    assert client.call("GetItem", authorization=AUTHORIZATION).type == "ValidationException"


def test_a_fault_leaves_the_connection_open(client: Client) -> None:
    assert client.call("GetItem", {"TableName": "absent", "Key": {"k": {"S": "a"}}}).status == 400
    assert client.call().status == 200


@pytest.mark.parametrize("operation", ["GetItem", "PutItem"])
def test_an_unexpected_failure_is_a_500_and_the_server_goes_on(
    operation: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "damaged.db"
    with Engine(file) as engine, serving(engine) as url, Client(url) as client:
        engine.call("CreateTable", TABLE)
        with closing(apsw.Connection(str(file))) as damage:
            (tree,) = damage.execute("SELECT max(name) FROM sqlite_schema WHERE type = 'table'")
            damage.execute(f"DROP TABLE {tree[0]}")
        answer = client.call(operation, get("a") if operation == "GetItem" else put("a"))
        assert (answer.status, answer.type) == (500, "InternalServerError")
        assert tree[0] not in answer.body.decode()
        assert f"no such table: {tree[0]}" in caplog.text
        assert client.call().status == 200


@pytest.mark.parametrize(
    "good",
    [
        AUTHORIZATION,
        "AWS4-HMAC-SHA256 Signature=x, Credential=a, SignedHeaders=h",
        "AWS4-HMAC-SHA256 Credential=a, Signature=x, SignedHeaders=h",
    ],
)
@pytest.mark.parametrize(
    ("wrong", "missing"),
    [
        ("AWS4-HMAC-SHA256 Signature=x", "Credential"),
        ("AWS4-HMAC-SHA256 Credential=a, Signature=x", "SignedHeaders"),
        (AUTHORIZATION.partition(" Signature")[0], "Signature"),
    ],
)
def test_every_authorization_of_a_connection_is_checked(
    client: Client, good: str, wrong: str, missing: str
) -> None:
    assert client.call(authorization=good).status == 200
    answer = client.call(authorization=wrong)
    assert (answer.status, answer.type) == (400, "IncompleteSignatureException")
    assert f"requires '{missing}' parameter" in answer.json["message"]
    assert client.call(authorization=good).status == 200


@pytest.mark.parametrize("path", ["//[", "//[?x=1", "//]:x", "/%"])
def test_a_path_that_is_no_url_is_another_path(client: Client, path: str) -> None:
    assert client.call(path=path, authorization=None).status == 404
    assert client.call().status == 200


def test_a_query_that_is_no_query_has_no_authorization(client: Client) -> None:
    answer = client.call(path="/?%zz=%", authorization=None)
    assert (answer.status, answer.type) == (400, "MissingAuthenticationTokenException")
    assert client.call().status == 200
