"""Bodies with the encodings gzip and deflate."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import boto3
import pytest

from tablewright.engine import Engine
from tablewright.server import Limits, Settings, serving
from tablewright.server.access.authentication import SignatureAuthenticator
from tablewright.server.access.credentials import Credentials
from tablewright.server.access.credentials_edit import add_key
from tablewright.server.limits import LARGE_BODY, MAX_BODY, SMALL_BODY
from tablewright.server.responses import MIN_COMPRESSED, choose_encoding
from tests.server.http import Answer, Client, message
from tests.server.signing import KEY_ID, SECRET


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


ENCODINGS: list[Any] = [
    pytest.param("gzip", gzip.compress, id="gzip"),
    pytest.param("GZIP", gzip.compress, id="upper case"),
    pytest.param("deflate", zlib.compress, id="deflate"),
    pytest.param("deflate", raw_deflate, id="deflate without a header"),
]


def put(size: int) -> dict[str, Any]:
    return {"TableName": "things", "Item": {"k": {"S": "a"}, "v": {"S": "x" * size}}}


def stored(engine: Engine) -> int:
    got = engine.call("GetItem", {"TableName": "things", "Key": {"k": {"S": "a"}}})
    return len(got["Item"]["v"]["S"])


@pytest.mark.parametrize(("encoding", "compress"), ENCODINGS)
@pytest.mark.parametrize("size", [10, SMALL_BODY, LARGE_BODY])
def test_a_compressed_request_is_read(
    client: Client, engine: Engine, encoding: str, compress: Any, size: int
) -> None:
    body = compress(json.dumps(put(size)).encode())
    answer = client.call("PutItem", raw=body, content_encoding=encoding)
    assert (answer.status, answer.json) == (200, {})
    assert stored(engine) == size


WHOLE = gzip.compress(b"{}")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip"])
@pytest.mark.parametrize(
    "body",
    [b"nonsense", WHOLE[:-4], b"", WHOLE + WHOLE[:-4]],
    ids=["nonsense", "short", "empty", "short second member"],
)
def test_a_body_that_cannot_be_decompressed_is_refused(
    client: Client, encoding: str, body: bytes
) -> None:
    answer = client.call("ListTables", raw=body, content_encoding=encoding)
    assert (answer.status, answer.type) == (500, "InternalServerError")
    assert client.call().status == 200


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(b'{"Limit":') + gzip.compress(b"1}"),
        WHOLE + b"junk",
        WHOLE + WHOLE[:2],
        WHOLE + WHOLE[:2] + b"junk",
    ],
    ids=["second member", "junk", "magic number", "junk after it"],
)
def test_what_follows_the_first_member_of_gzip_is_accepted(client: Client, body: bytes) -> None:
    answer = client.call("ListTables", raw=body, content_encoding="gzip")
    assert answer.json == {"TableNames": ["things"]}


def test_an_encoding_that_changes_nothing_is_accepted(client: Client) -> None:
    assert client.call(content_encoding="identity").json == {"TableNames": ["things"]}
    assert client.call(content_encoding="aws-chunked").json == {"TableNames": ["things"]}


def test_a_bomb_is_refused(client: Client) -> None:
    """It is decompressed up to 16 MB, in memory that the budget has granted."""
    bomb = gzip.compress(b" " * (MAX_BODY + 1), 1)
    answer = client.call("ListTables", raw=bomb, content_encoding="gzip")
    assert (answer.status, answer.type) == (413, "RequestEntityTooLargeException")
    assert client.call().status == 200


def test_a_large_compressed_body_is_refused_while_there_is_no_memory(engine: Engine) -> None:
    settings = Settings(limits=Limits(buffered_bytes=MAX_BODY))
    large = gzip.compress(json.dumps(put(LARGE_BODY)).encode())
    with serving(engine, settings=settings) as url, Client(url) as other, Client(url) as client:
        other.send(b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\n{")
        assert client.call().status == 200  # the other body is admitted by now
        answer = client.call("PutItem", raw=large, content_encoding="gzip")
        assert (answer.status, answer.type) == (503, "ServiceUnavailable")
        small = gzip.compress(json.dumps(put(10)).encode())
        assert client.call("PutItem", raw=small, content_encoding="gzip").status == 200
        other.socket.close()
    assert stored(engine) == 10


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        (b"gzip", b"gzip"),
        (b"deflate", b"deflate"),
        (b"deflate, gzip;q=1.0, *;q=0.5", b"deflate"),
        (b"br, zstd", None),
        (b"identity", None),
        (b"gzip;q=0", None),
        (b"gzip; q=0.000, deflate", b"deflate"),
        (b"", None),
        (b"*", b"gzip"),
        (b"*, deflate", b"deflate"),
        (b"deflate;q=0.5, *;q=0.6", b"gzip"),
        (b"gzip;q=0, *", b"deflate"),
        (b"gzip;q=0.4, deflate;q=0.5", b"deflate"),
        (b"deflate, gzip", b"deflate"),
        (b"gzip;q=0.9, deflate;q=7", b"deflate"),
        (b"gzip;q=0.9, deflate;q=x", b"deflate"),
        (b"gzip;q=0.1;q=1, deflate;q=0.5", b"deflate"),
        (b"gzip;level=1, deflate;q=0.1", b"deflate"),
    ],
)
def test_the_encoding_of_a_response_is_one_that_was_asked_for(
    accepted: bytes, encoding: bytes | None
) -> None:
    assert choose_encoding(accepted) == encoding


def test_only_the_first_header_counts(client: Client, engine: Engine) -> None:
    engine.call("PutItem", put(MIN_COMPRESSED))
    head, _, body = message("Scan", {"TableName": "things"}).partition(b"\r\n\r\n")
    more = b"\r\nAccept-Encoding: deflate\r\nAccept-Encoding: gzip;q=2"
    client.send(head + more + b"\r\n\r\n" + body)
    assert client.answer().headers["content-encoding"] == "deflate"


def scan(client: Client, engine: Engine, size: int, accepted: str | None) -> Answer:
    engine.call("PutItem", put(size))
    return client.call("Scan", {"TableName": "things"}, accept_encoding=accepted)


@pytest.mark.parametrize("size", [MIN_COMPRESSED, LARGE_BODY + 1])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_response_is_compressed_on_request(
    client: Client, engine: Engine, encoding: str, size: int
) -> None:
    """`Client.answer` checks that x-amz-crc32 is that of the compressed bytes."""
    answer = scan(client, engine, size, encoding)
    assert answer.headers["content-encoding"] == encoding
    assert len(answer.body) < size / 4
    content = zlib.decompress(answer.body, 16 + 15 if encoding == "gzip" else 15)
    assert json.loads(content)["Count"] == 1
    assert "content-encoding" not in client.call().headers


@pytest.mark.parametrize(
    ("size", "accepted"),
    [(2 * MIN_COMPRESSED, None), (2 * MIN_COMPRESSED, "identity"), (1, "gzip")],
)
def test_other_responses_are_not_compressed(
    client: Client, engine: Engine, size: int, accepted: str | None
) -> None:
    answer = scan(client, engine, size, accepted)
    assert "content-encoding" not in answer.headers
    assert answer.json["Count"] == 1


def test_a_signature_covers_the_compressed_bytes(engine: Engine, tmp_path: Path) -> None:
    """boto3 signs the body that it sends."""
    users = tmp_path / "users.toml"
    add_key(users, "alice", KEY_ID, SECRET)
    settings = Settings(authenticator=SignatureAuthenticator(Credentials(users)))

    def compress(request: Any, **_: Any) -> None:
        request.data = gzip.compress(request.data)
        request.headers["Content-Encoding"] = "gzip"

    with serving(engine, settings=settings) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="eu-west-1",
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=SECRET,
        )
        client.meta.events.register_first("before-sign.dynamodb.PutItem", compress)
        client.put_item(**put(100))
    assert stored(engine) == 100
