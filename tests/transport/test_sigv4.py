from __future__ import annotations

from datetime import UTC, datetime

import botocore.auth
import botocore.credentials
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.sigv4 import Signer, SigningCredentials
from tablewright.wire.operations import target_of

text = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)
regions = st.sampled_from(["us-east-1", "eu-central-2", "ap-southeast-5", "cn-north-1"])
hosts = st.sampled_from(["dynamodb.eu-west-1.amazonaws.com", "localhost:8000", "[::1]:8000"])
operations = st.sampled_from(["GetItem", "TransactWriteItems", "ListTables"])
moments = st.integers(1_000_000_000, 4_000_000_000)
someone = st.builds(SigningCredentials, text, text, st.none() | text)


def parsed(message: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return first, dict(line.split(": ", 1) for line in lines), body


def signed_by_botocore(
    credentials: SigningCredentials, host: str, region: str, operation: str, body: bytes, now: int
) -> str:
    """The Authorization header that botocore makes."""
    auth = botocore.auth.SigV4Auth(
        botocore.credentials.Credentials(*credentials), "dynamodb", region
    )
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "Host": host,
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
    }
    request = AWSRequest("POST", f"https://{host}/", headers=headers, data=body)
    request.context["timestamp"] = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    auth._modify_request_before_signing(request)
    signature = auth.signature(
        auth.string_to_sign(request, auth.canonical_request(request)), request
    )
    auth._inject_signature_to_request(request, signature)
    return str(request.headers["Authorization"])


@given(someone, hosts, regions, operations, st.binary(max_size=300), moments)
def test_a_signature_is_the_one_that_botocore_makes(
    credentials: SigningCredentials, host: str, region: str, operation: str, body: bytes, now: int
) -> None:
    _, headers, sent = parsed(
        Signer(host, region).sign_request(credentials, target_of(operation), body, now)
    )
    assert sent == body
    assert headers["authorization"] == signed_by_botocore(
        credentials, host, region, operation, body, now
    )


@given(
    st.lists(st.tuples(someone, operations, st.binary(max_size=30), moments), min_size=2),
    st.data(),
)
def test_one_signer_signs_for_anyone_at_any_time(
    requests: list[tuple[SigningCredentials, str, bytes, int]], data: st.DataObject
) -> None:
    """What it keeps from one request never shows in another: not the day, not the secret."""
    signer = Signer("localhost:8000", "eu-west-1")
    days = data.draw(st.lists(st.sampled_from([0, 1, 86_400]), min_size=len(requests)))
    for (credentials, operation, body, now), later in zip(requests, days, strict=False):
        for moment in (now, now, now + later):
            _, headers, _ = parsed(
                signer.sign_request(credentials, target_of(operation), body, moment)
            )
            assert headers["authorization"] == signed_by_botocore(
                credentials, "localhost:8000", "eu-west-1", operation, body, moment
            )


def test_a_request_is_what_dynamodb_takes() -> None:
    signer = Signer("host:8000", "eu-west-1")
    message = signer.sign_request(
        SigningCredentials("AKID", "secret", "50%s"), target_of("GetItem"), b"{}", 1_768_435_200
    )
    first, headers, body = parsed(message)
    assert (first, body) == ("POST / HTTP/1.1", b"{}")
    authorization = headers.pop("authorization")
    assert authorization.startswith(
        "AWS4-HMAC-SHA256 Credential=AKID/20260115/eu-west-1/dynamodb/aws4_request, SignedHeaders="
        "content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature="
    )
    assert headers == {
        "content-type": "application/x-amz-json-1.0",
        "host": "host:8000",
        "x-amz-date": "20260115T000000Z",
        "x-amz-security-token": "50%s",
        "x-amz-target": "DynamoDB_20120810.GetItem",
        "content-length": "2",
    }
