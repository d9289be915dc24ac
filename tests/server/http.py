"""A plain HTTP client over a socket, which shows every byte, for tests of the server."""

from __future__ import annotations

import json
import socket
import zlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import boto3

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=AKID/20260115/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


def message(
    operation: str | None = "ListTables",
    body: object = None,
    *,
    method: str = "POST",
    path: str = "/",
    version: str = "1.1",
    raw: bytes | None = None,
    length: int | None = None,
    **changes: str | None,
) -> bytes:
    """The bytes of a request. A keyword adds a header (`x_amz_date="…"`); None leaves it out."""
    content = raw if raw is not None else json.dumps({} if body is None else body).encode()
    headers: dict[str, str | None] = {
        "host": "127.0.0.1",
        "x-amz-target": None if operation is None else f"DynamoDB_20120810.{operation}",
        "content-type": "application/x-amz-json-1.0",
        "authorization": AUTHORIZATION,
        "x-amz-date": "20260115T000000Z",
        "content-length": str(len(content) if length is None else length),
    }
    headers |= {name.replace("_", "-"): value for name, value in changes.items()}
    lines = [f"{method} {path} HTTP/{version}"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        """The fault's name, as boto3 would show it."""
        return str(self.json["__type"]).split("#")[1]


def sdk_client(url: str, **options: Any) -> Any:
    """boto3's client for a server that does not verify signatures."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    return boto3.client("dynamodb", endpoint_url=url, region_name="eu-west-1", **keys, **options)


class Client:
    """One connection. `send` and `answer` are apart, so that a test can do things in between."""

    def __init__(self, url: str, *, receive_buffer: int | None = None) -> None:
        address = urlsplit(url)
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(20)
        try:
            self.socket.connect((address.hostname, address.port))
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def call(
        self, operation: str | None = "ListTables", body: object = None, **rest: Any
    ) -> Answer:
        self.send(message(operation, body, **rest))
        return self.answer()

    def answer(self) -> Answer:
        """The next answer; its checksum and length are verified."""
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self.buffer) < length:
            self._receive()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        answer = Answer(int(status.split()[1]), headers, body)
        if "x-amz-crc32" in headers:
            assert int(headers["x-amz-crc32"]) == zlib.crc32(body)
        return answer

    def is_closed(self) -> bool:
        """Wait for the server to close the connection; nothing more may arrive before that."""
        try:
            return self.buffer == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _receive(self) -> None:
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError(f"closed after {self.buffer!r}")
        self.buffer += data
