"""Callers: who sends a request, and what the caller may do.

    tokens = Tokens(…)                                          JSON Web Tokens: see `tokens`
    keys = ApiKeys({"key-of-red": {"team": "red", "scope": "tasks:read"}})

    create_app(target, Teams, tokens=keys, tenant={"team": keys.claim("team")})

    401  the request has no key, or an unknown one
    403  the caller lacks the scope of the operation, or the claim that is the tenant

`ApiKeys` are for tests and for programs of your own: a key does not expire, and the process knows
all keys. This module must not know how tokens are signed.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import Depends, HTTPException
from fastapi.security import APIKeyHeader

from tablewright.errors import InvalidValue

Claims = Mapping[str, Any]

_header = APIKeyHeader(name="X-API-Key", auto_error=False)
#: The least length of a key that is not guessed.
_LEAST = 16


class Callers(ABC):
    """Those whose requests an API accepts: `Depends(callers)` returns the claims of the caller."""

    @abstractmethod
    def __call__(self, *_: Any, **__: Any) -> Claims:
        """Return the claims of the caller of a request; refuse it with 401 if there are none."""

    def claim(self, name: str) -> Callable[..., Any]:
        """Return a dependency that returns a claim of the caller: a text or a number."""
        caller: Any = Depends(self)

        def get_claim(claims: Any = caller) -> str | int:
            value = claims.get(name)
            if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
                raise HTTPException(403, {"code": "forbidden", "detail": f"It needs {name}."})
            return value

        return get_claim

    def require(self, scope: str) -> Callable[..., Any]:
        """Return a dependency that refuses a caller without a scope."""
        caller: Any = Depends(self)

        def check_scope(claims: Any = caller) -> None:
            granted = claims.get("scope", claims.get("scp", ""))
            if scope not in (granted.split() if isinstance(granted, str) else granted):
                challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
                detail = {"code": "insufficient_scope", "detail": f"It needs the scope {scope}."}
                raise HTTPException(403, detail, headers={"WWW-Authenticate": challenge})

        return check_scope


class ApiKeys(Callers):
    """Keys in the header X-API-Key, each with the claims of its caller.

    A key has at least 16 characters. The process keeps only its hash.
    """

    def __init__(self, claims: Mapping[str, Claims]) -> None:
        if any(len(key) < _LEAST for key in claims):
            raise InvalidValue(f"ApiKeys(…): a key needs at least {_LEAST} characters")
        self._claims = {_digest(key): found for key, found in claims.items()}

    def __call__(self, key: Annotated[str | None, Depends(_header)] = None) -> Claims:
        """Return the claims of the key of a request."""
        claims = None if key is None else self._claims.get(_digest(key))
        if claims is None:
            detail = "It needs the header X-API-Key, with a valid key."
            raise HTTPException(401, detail, headers={"WWW-Authenticate": "ApiKey"})
        return claims


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
