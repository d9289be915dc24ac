"""Tokens: who sends a request, by a JSON Web Token (RFC 7519) in the header Authorization.

    tokens = Tokens(issuer="https://id.example", audience="shop", jwks=".../jwks.json")

    create_app(target, Shop, tokens=tokens, tenant={"org_id": tokens.claim("org_id")},
               scope=lambda pattern: "orders:write" if pattern.shape.is_write else "orders:read")

    401  there is no token, or it is not valid: another issuer or audience, expired, another key
    403  the token lacks the scope of the operation, or the claim that is the tenant
    503  the keys of the issuer cannot be read, and the token needs one that is not known yet

Invariants: a token is accepted only if its signature, issuer, audience and times are valid. If a
check fails, the request is refused. The response does not say which check failed; the log does.

The module needs PyJWT: `pip install 'tablewright[jwt]'`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Annotated, Any

import jwt
from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from tablewright.errors import InvalidValue
from tablewright.fastapi.callers import Callers, Claims

logger = logging.getLogger("tablewright.fastapi")

_bearer = HTTPBearer(auto_error=False, bearerFormat="JWT")
#: Claims that a token must have.
_REQUIRED = ["exp", "iss", "aud"]


class Tokens(Callers):
    """The tokens that an API accepts: `Depends(tokens)` returns the claims of the caller's token.

    `jwks` is the address of the issuer's keys, which are read again after five minutes, and when a
    token has an unknown one, but not within half a minute. Or `key` is the only key: a public key
    as PEM, or a secret of 32 bytes or more for HS256 in tests. `algorithms` are those that are
    accepted, `leeway` the seconds by which clocks may differ.
    """

    def __init__(
        self,
        *,
        issuer: str,
        audience: str,
        jwks: str = "",
        key: str | bytes = "",
        algorithms: Sequence[str] = ("RS256", "ES256"),
        leeway: float = 10.0,
        timeout: float = 5.0,
    ) -> None:
        if bool(jwks) == bool(key):
            raise InvalidValue("Tokens(…) takes either the address jwks=… or the key=…")
        if "none" in {each.lower() for each in algorithms} or not algorithms:
            raise InvalidValue(f"Tokens(algorithms={algorithms!r}) must name signature algorithms")
        self._keys = jwt.PyJWKClient(jwks, timeout=timeout) if jwks else None
        self._key = key
        self._settings: dict[str, Any] = {
            "issuer": issuer,
            "audience": audience,
            "algorithms": list(algorithms),
            "leeway": leeway,
            "options": {"require": _REQUIRED},
        }

    def __call__(
        self,
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
    ) -> Claims:
        """Return the claims of the token of a request; FastAPI runs this in a thread."""
        if credentials is None:
            needed = "It needs the header Authorization: Bearer, with a token."
            raise HTTPException(401, needed, headers={"WWW-Authenticate": "Bearer"})
        token = credentials.credentials
        try:
            key: Any = self._key
            if self._keys is not None:
                key = self._keys.get_signing_key_from_jwt(token).key
            claims: Claims = jwt.decode(token, key, **self._settings)
        except jwt.PyJWKClientConnectionError as error:
            logger.warning("the keys of tokens cannot be read: %s", error)
            detail = {"code": "unavailable", "detail": "The keys of tokens cannot be read."}
            raise HTTPException(503, detail, headers={"Retry-After": "5"}) from error
        except jwt.PyJWTError as error:
            logger.info("%s %s: invalid token: %s", request.method, request.url.path, error)
            challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise HTTPException(401, "The token is not valid.", headers=challenge) from error
        return claims
