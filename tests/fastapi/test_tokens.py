"""Who may send a request to an API: tokens, scopes and tenants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.fastapi import create_app, pattern_router
from tablewright.fastapi.tokens import Tokens
from tablewright.plans import AccessPattern
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf

SECRET = b"a secret of at least thirty-two bytes"
BOOK = "/books/1"


def claims(**others: Any) -> dict[str, Any]:
    now = int(time.time())
    basic = {"iss": "https://id.example", "aud": "shelf", "iat": now, "exp": now + 600}
    given = {"sub": "ann", "library": "L1", "scope": "books:read books:write"}
    return {name: value for name, value in (basic | given | others).items() if value is not None}


def signed(
    key: Any = SECRET, algorithm: str = "HS256", kid: str = "", **others: Any
) -> dict[str, str]:
    headers = {"kid": kid} if kid else None
    token = jwt.encode(claims(**others), key, algorithm=algorithm, headers=headers)
    return {"Authorization": f"Bearer {token}"}


def scope_of(pattern: AccessPattern) -> str:
    return "books:write" if pattern.shape.is_write else "books:read"


def tokens(**settings: Any) -> Tokens:
    known: dict[str, Any] = (
        {"key": SECRET, "algorithms": ["HS256"]} if "jwks" not in settings else {}
    )
    return Tokens(issuer="https://id.example", audience="shelf", **known, **settings)


def client_of(accepted: Tokens) -> TestClient:
    app = create_app(
        ":memory:",
        Shelf,
        patterns=[shelf.add_book, shelf.book],
        tenant={"library": accepted.claim("library")},
        tokens=accepted,
        scope=scope_of,
    )
    return TestClient(app)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with client_of(tokens()) as client:
        made = client.post("/books", json={"isbn": "1", "title": "Emma"}, headers=signed())
        assert made.status_code == 201, made.text
        yield client


def test_a_valid_token_reads_the_data_of_its_tenant(client: TestClient) -> None:
    assert client.get(BOOK, headers=signed()).json()["library"] == "L1"
    assert client.get(BOOK, headers=signed(library="L2")).status_code == 404


@pytest.mark.parametrize(
    "others",
    [
        {"iss": "https://other.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"nbf": 99_999_999_999},
        {"key": b"another secret of thirty-two bytes or so"},
        {"key": SECRET * 2, "algorithm": "HS512"},
        {"key": "", "algorithm": "none"},
    ],
)
def test_an_invalid_token_is_refused(client: TestClient, others: dict[str, Any]) -> None:
    refused = client.get(BOOK, headers=signed(**others))
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
    assert refused.json()["detail"] == "The token is not valid."
    assert refused.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic YTpi", "Bearer x.y.z"])
def test_a_request_without_a_token_is_refused(client: TestClient, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    refused = client.get(BOOK, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert client.head(BOOK, headers=headers).status_code == 401


def test_an_operation_needs_its_scope(client: TestClient) -> None:
    reader = signed(scope="books:read")
    assert client.get(BOOK, headers=reader).status_code == 200
    assert client.head(BOOK, headers=reader).status_code == 200
    refused = client.post("/books", json={"isbn": "2", "title": "E"}, headers=reader)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    challenge = 'Bearer error="insufficient_scope", scope="books:write"'
    assert refused.headers["WWW-Authenticate"] == challenge
    assert client.get(BOOK, headers=signed(scope=None, scp=["books:read"])).status_code == 200
    assert client.get(BOOK, headers=signed(scope=None)).status_code == 403


@pytest.mark.parametrize("library", [None, "", True, ["L1"], {"id": "L1"}])
def test_a_token_needs_the_claim_of_the_tenant(client: TestClient, library: Any) -> None:
    refused = client.get(BOOK, headers=signed(library=library))
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_health_needs_no_token(client: TestClient) -> None:
    assert client.get("/health/ready").status_code == 200


def test_the_document_says_that_a_token_is_needed(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert schema["paths"]["/books/{isbn}"]["get"]["security"] == [{"HTTPBearer": []}]
    assert schema["components"]["securitySchemes"]["HTTPBearer"]["bearerFormat"] == "JWT"
    assert "security" not in schema["paths"]["/health/live"]["get"]


# -- the keys of an issuer -------------------------------------------------------------------------


class Issuer:
    """A server with the public keys of an issuer."""

    def __init__(self) -> None:
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.requests = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.requests += 1
                found = [
                    json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": kid, "use": "sig"}
                    for kid, key in issuer.keys.items()
                ]
                body = json.dumps({"keys": found}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/jwks.json"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add_key(self, kid: str) -> rsa.RSAPrivateKey:
        self.keys[kid] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        return self.keys[kid]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_the_keys_of_an_issuer_are_read_when_they_are_needed() -> None:
    issuer = Issuer()
    first, second = issuer.add_key("one"), issuer.add_key("two")
    with client_of(tokens(jwks=issuer.url)) as client:
        headers = signed(first, "RS256", "one")
        assert client.get(BOOK, headers=headers).status_code == 404
        assert client.get(BOOK, headers=headers).status_code == 404
        assert client.get(BOOK, headers=signed(second, "RS256", "two")).status_code == 404
        assert issuer.requests == 1
        stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        assert client.get(BOOK, headers=signed(stranger, "RS256", "one")).status_code == 401
        assert client.get(BOOK, headers=signed(stranger, "RS256", "no")).status_code == 401
        # A public key must not be taken for the secret of a symmetric algorithm.
        assert client.get(BOOK, headers=signed(SECRET, "HS256", "one")).status_code == 401
    issuer.close()


def test_a_request_is_refused_while_the_keys_cannot_be_read() -> None:
    issuer = Issuer()
    issuer.close()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with client_of(tokens(jwks=issuer.url, timeout=1)) as client:
        refused = client.get(BOOK, headers=signed(key, "RS256", "one"))
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert refused.headers["Retry-After"] == "5"


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "either the address jwks=… or the key=…"),
        ({"jwks": "https://id.example/jwks.json", "key": "k"}, "either the address"),
        ({"key": "k", "algorithms": ["none"]}, "must name signature algorithms"),
        ({"key": "k", "algorithms": []}, "must name signature algorithms"),
    ],
)
def test_settings_that_accept_too_much_are_refused(settings: Any, problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        Tokens(issuer="i", audience="a", **settings)


def test_a_scope_needs_tokens() -> None:
    with pytest.raises(DeclarationError, match=r"scope=… needs tokens=…"):
        pattern_router([shelf.book], scope=scope_of)
