"""Signature Version 4: what the signer of requests and their verifier share.

    canonical request  ──sha256──▶ string to sign ──HMAC, with the day's key──▶ signature

Owns the layout of the signed texts and the derivation of keys. Does not know HTTP messages,
credentials or clocks: callers pass canonical parts.
"""

from __future__ import annotations

import hmac
from functools import lru_cache

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
TERMINATOR = "aws4_request"


def canonical_request(
    method: str, path: str, query: str, header_lines: str, signed_names: str, body_hash: str
) -> str:
    """Return the text whose hash is signed. `header_lines` has one `name:value\\n` per header."""
    return f"{method}\n{path}\n{query}\n{header_lines}\n{signed_names}\n{body_hash}"


def scope_of(day: str, region: str) -> str:
    """Return the credential scope of one day in one region.

    >>> scope_of("20260115", "eu-west-1")
    '20260115/eu-west-1/dynamodb/aws4_request'
    """
    return f"{day}/{region}/{SERVICE}/{TERMINATOR}"


def string_to_sign(moment: str, scope: str, request_hash: str) -> str:
    """Return the text that is signed, for a request made at `moment` (`YYYYMMDDTHHMMSSZ`)."""
    return f"{ALGORITHM}\n{moment}\n{scope}\n{request_hash}"


@lru_cache(maxsize=256)  # four HMACs are two thirds of a verification
def signing_key(secret: str, day: str, region: str) -> bytes:
    """Return the key that signs one day's requests in one region."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, SERVICE, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
