"""Verify the Signature Version 4 of a request, in a header or in the query string.

Invariants:
- The verified headers are those in the mapping that the connection reads. A header that occurs in
  two spellings is refused, because the connection might read the other one.
- The body is always hashed: no header can replace its hash (DynamoDB has no UNSIGNED-PAYLOAD).
- Signatures and tokens are compared in constant time. For an unknown access key a signature is
  computed as well, with an unused secret, so both refusals take the same time.
- Caches are bounded, and a claim is cached only after its signature was verified.

The order of the checks is AWS's:

     1. not both a header and a query string             InvalidSignatureException
     2. an authorization                                 MissingAuthenticationTokenException
     3. all its parts, and a date                        IncompleteSignatureException
     4. the date's format                                IncompleteSignatureException
     5. signed within the window                         InvalidSignatureException
     6. headers that must be signed                      InvalidSignatureException
     7. the algorithm                                    IncompleteSignatureException
     8. the five elements of the credential              IncompleteSignatureException
     9. region, service, terminator, day (all reported)  InvalidSignatureException
    10. the access key                                   UnrecognizedClientException
    11. the signature                                    InvalidSignatureException
    12. the session token                                UnrecognizedClientException
    13. the expiry of the credentials                    ExpiredTokenException

Check 6: DynamoDB itself requires only `host`. The target, the date and the session token determine
what is done, when and for whom; every SDK signs them, and this server requires it. The content type
may be unsigned, as with some SDKs.

Check 11: AWS sometimes appends the canonical request to the message. This server never does,
because it contains the session token.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from tablewright.errors import (
    ExpiredTokenException,
    IncompleteSignatureException,
    InvalidSignatureException,
    MissingAuthenticationTokenException,
    UnrecognizedClientException,
)
from tablewright.sigv4 import (
    ALGORITHM,
    SERVICE,
    TERMINATOR,
    canonical_headers,
    canonical_query,
    canonical_request,
    format_duration,
    query_parameters,
    read_date,
    scope_of,
    signing_key,
    split_target,
    string_to_sign,
    to_iso_basic,
)

if TYPE_CHECKING:
    from tablewright.server.access.credentials import Caller

#: The maximum difference between a signature's date and the server's clock, as on AWS.
WINDOW_SECONDS = 15 * 60
#: The longest time that a presigned URL can ask for: a week, as on AWS.
MAX_EXPIRES = 604_800
_SECONDS = re.compile("[0-9]{1,6}")
MAX_CLAIMS = 1024
MAX_REGION_LENGTH = 64
SIGNATURE_SIZE = 64
PARTS = ("Credential", "Signature", "SignedHeaders")  # in the order of AWS's messages
UNUSED_SECRET = "the secret of an unknown access key"

NO_TOKEN = "Request is missing Authentication Token"
FOUND_BOTH = (
    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
)
UNKNOWN_KEY = "The security token included in the request is invalid."
WRONG_TOKEN = "The security token included in the request is invalid"  # without the period
EXPIRED = "The security token included in the request is expired"
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)


class SignatureClaim(NamedTuple):
    """The parts of an authorization, except the signature."""

    algorithm: str
    credential: str
    elements: tuple[str, ...]  # of the credential: access key id, day, region, service, terminator
    signed: tuple[bytes, ...]  # names of headers in lower case, in order

    @classmethod
    def of(cls, algorithm: str, credential: str, signed: str) -> SignatureClaim:
        names = sorted(signed.encode("latin-1").lower().split(b";"))
        return cls(algorithm, credential, tuple(credential.rstrip("/").split("/")), tuple(names))


class SignedRequest(NamedTuple):
    """A signature, and the values it depends on, except the headers and the body."""

    claim: SignatureClaim
    signature: bytes
    date: str
    required: tuple[bytes, ...]  # headers that must be signed if the request has them
    token: bytes | None
    query: str  # canonical
    window: int


class Verifier:
    """Verifies requests with the credentials that `find` returns for an access key id.

    `clock` returns seconds since 1970. With a `region`, signatures for other regions are refused.
    """

    def __init__(
        self,
        find: Callable[[str], Caller | None],
        *,
        clock: Callable[[], float] = time.time,
        region: str | None = None,
        window_seconds: int = WINDOW_SECONDS,
    ) -> None:
        self._find = find
        self._clock = clock
        self._region = region
        self._window = window_seconds
        self._claims: dict[bytes, SignatureClaim] = {}  # by the authorization without the signature

    def verify(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> Caller:
        """Return the caller who signed the request. Raises `DynamoDBError` to refuse it."""
        folded = {name.lower(): value for name, value in headers.items()}
        if len(folded) != len(headers):
            raise InvalidSignatureException(MISMATCH)
        path, query = split_target(bytes(url))
        authorization = folded.get(b"authorization")
        parameters = query_parameters(query) if query else []
        if any(name == b"X-Amz-Algorithm" for name, _ in parameters):
            if authorization is not None:
                raise InvalidSignatureException(FOUND_BOTH)
            signed_request = self._from_query(parameters, folded)
        elif authorization is not None:
            signed_request = self._from_header(authorization, parameters, folded)
        else:
            raise MissingAuthenticationTokenException(NO_TOKEN)

        now = self._clock()
        moment = self._check_date(signed_request, now)
        claim = signed_request.claim
        check_signed_headers(claim.signed, signed_request.required, folded)
        self._check_scope(claim, moment)

        access_key_id, day, region, _, _ = claim.elements
        user = self._find(access_key_id)
        key = signing_key(UNUSED_SECRET if user is None else user.secret, day, region)
        body_hash = sha256(body).hexdigest()
        canonical = canonical_request(
            method.decode("latin-1"),
            path,
            signed_request.query,
            canonical_headers(claim.signed, folded),
            b";".join(claim.signed).decode("latin-1"),
            body_hash,
        )
        request_hash = sha256(canonical.encode("latin-1")).hexdigest()
        text = string_to_sign(moment, scope_of(day, region), request_hash)
        expected = hmac.digest(key, text.encode("latin-1"), "sha256").hex().encode()
        matches = hmac.compare_digest(expected, signed_request.signature)
        if user is None:
            raise UnrecognizedClientException(UNKNOWN_KEY)
        declared_hash = folded.get(b"x-amz-content-sha256")
        if not matches or (declared_hash is not None and declared_hash != body_hash.encode()):
            raise InvalidSignatureException(MISMATCH)
        check_session(user, signed_request.token, now)
        if authorization is not None:
            self._cache_claim(authorization, claim)
        return user

    def _from_header(
        self,
        authorization: bytes,
        parameters: list[tuple[bytes, bytes]],
        folded: Mapping[bytes, bytes],
    ) -> SignedRequest:
        date = folded.get(b"x-amz-date")
        dated = b"x-amz-date"
        if date is None:
            date, dated = folded.get(b"date"), b"date"
        claim = self._claims.get(authorization[:-SIGNATURE_SIZE])
        if claim is not None and date is not None:
            signature = authorization[-SIGNATURE_SIZE:]
        else:
            claim, signature = read_authorization(authorization, has_date=date is not None)
        return SignedRequest(
            claim,
            signature,
            (date or b"").decode("latin-1"),
            (dated, b"x-amz-target", b"x-amz-security-token"),
            folded.get(b"x-amz-security-token"),
            canonical_query(parameters) if parameters else "",
            self._window,
        )

    def _from_query(
        self, parameters: list[tuple[bytes, bytes]], folded: Mapping[bytes, bytes]
    ) -> SignedRequest:
        given = {name: value.decode("latin-1") for name, value in parameters}
        check_query(given)
        if len(given) != len(parameters):
            raise InvalidSignatureException(MISMATCH)  # a parameter occurs twice
        # A presigned URL is valid for X-Amz-Expires seconds, at most for the window.
        window = min(self._window, read_expires(given.get(b"X-Amz-Expires")))
        token = given.get(b"X-Amz-Security-Token")
        return SignedRequest(
            SignatureClaim.of(
                given[b"X-Amz-Algorithm"],
                given[b"X-Amz-Credential"],
                given[b"X-Amz-SignedHeaders"],
            ),
            given[b"X-Amz-Signature"].encode("latin-1"),
            given[b"X-Amz-Date"],
            (b"x-amz-target", b"x-amz-security-token"),
            folded.get(b"x-amz-security-token") if token is None else token.encode("latin-1"),
            canonical_query([pair for pair in parameters if pair[0] != b"X-Amz-Signature"]),
            window,
        )

    def _check_date(self, signed_request: SignedRequest, now: float) -> str:
        """Return the date in ISO 8601's basic format. Raises if it is outside the window."""
        seconds, moment = read_date(signed_request.date)
        if seconds < now - signed_request.window:
            earliest = to_iso_basic(now - signed_request.window)
            raise InvalidSignatureException(
                f"Signature expired: {moment} is now earlier than {earliest} "
                f"({to_iso_basic(now)} - {format_duration(signed_request.window)}.)"
            )
        if seconds > now + self._window:
            latest = to_iso_basic(now + self._window)
            raise InvalidSignatureException(
                f"Signature not yet current: {moment} is still later than {latest} "
                f"({to_iso_basic(now)} + {format_duration(self._window)}.)"
            )
        return moment

    def _check_scope(self, claim: SignatureClaim, moment: str) -> None:
        if claim.algorithm != ALGORITHM:
            raise IncompleteSignatureException(
                f"Unsupported AWS 'algorithm': '{claim.algorithm}' (only {ALGORITHM} for now). "
            )
        if len(claim.elements) != 5:
            raise IncompleteSignatureException(
                "Credential must have exactly 5 slash-delimited elements, "
                f"e.g. keyid/date/region/service/term, got '{claim.credential}'"
            )
        _, day, region, service, terminator = claim.elements
        wrong = []
        if region != self._region and (
            self._region is not None or not 0 < len(region) <= MAX_REGION_LENGTH
        ):
            wrong.append(f"Credential should be scoped to a valid region, not '{region}'. ")
        if service != SERVICE:
            wrong.append(f"Credential should be scoped to correct service: '{SERVICE}'. ")
        if terminator != TERMINATOR:
            wrong.append(
                "Credential should be scoped with a valid terminator: "
                f"'{TERMINATOR}', not '{terminator}'. "
            )
        if day != moment[:8]:
            wrong.append(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
                f"from HTTP: '{day}' != '{moment[:8]}', from '{moment}'."
            )
        if wrong:
            raise InvalidSignatureException("".join(wrong))

    def _cache_claim(self, authorization: bytes, claim: SignatureClaim) -> None:
        """Cache a claim for the client's next requests: it is the same all day."""
        head = authorization[:-SIGNATURE_SIZE]
        if head not in self._claims and head.endswith(b"Signature="):
            if len(self._claims) >= MAX_CLAIMS:
                self._claims.clear()
            self._claims[head] = claim


# --- the parts of a request ------------------------------------------------------------------


def read_authorization(authorization: bytes, *, has_date: bool) -> tuple[SignatureClaim, bytes]:
    """Parse an Authorization header into a claim and a signature. Checks 2 and 3."""
    text = authorization.decode("latin-1").strip()
    if not text.startswith("AWS4-"):
        raise MissingAuthenticationTokenException(NO_TOKEN)
    algorithm, *pairs = text.replace(",", " ").split()
    given: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise IncompleteSignatureException(
                f"'{name}' not a valid key=value pair (missing equal-sign) "
                f"in Authorization header: '{text}'."
            )
        if name in given:
            raise IncompleteSignatureException(
                f"Authorization header has more than one '{name}' parameter. Authorization={text}"
            )
        given[name] = value
    missing = [name for name in PARTS if name not in given]
    if missing or not has_date:
        raise incomplete_signature(missing, text, has_date=has_date)
    claim = SignatureClaim.of(algorithm, given["Credential"], given["SignedHeaders"])
    return claim, given["Signature"].encode("latin-1")


def incomplete_signature(
    missing: list[str], authorization: str, *, has_date: bool
) -> IncompleteSignatureException:
    """Return the error for an Authorization header without these parts."""
    message = "".join(f"Authorization header requires '{name}' parameter. " for name in missing)
    if not has_date:
        message += (
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    return IncompleteSignatureException(f"{message}Authorization={authorization}")


def check_query(given: Mapping[bytes, str]) -> None:
    """Raise if a part of the authorization in a query string is missing. Check 3."""
    names = ("Algorithm", "Credential", "Signature", "SignedHeaders", "Date")
    missing = [name for name in names if not given.get(f"X-Amz-{name}".encode())]
    if missing:
        wants = (f"AWS query-string parameters must include 'X-Amz-{name}'. " for name in missing)
        raise IncompleteSignatureException(
            "".join(wants) + "Re-examine the query-string parameters."
        )


def read_expires(text: str | None) -> int:
    """Return how many seconds a presigned URL is valid. Check 3."""
    if text is None:
        return MAX_EXPIRES
    if _SECONDS.fullmatch(text) is None or not 1 <= int(text) <= MAX_EXPIRES:
        raise IncompleteSignatureException(
            f"'X-Amz-Expires' must be a number of seconds from 1 to {MAX_EXPIRES}. Got '{text}'."
        )
    return int(text)


def check_signed_headers(
    signed: tuple[bytes, ...], required: tuple[bytes, ...], folded: Mapping[bytes, bytes]
) -> None:
    """Raise if a header that must be signed is not signed. Check 6."""
    if b"host" not in signed:
        raise InvalidSignatureException(
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
        )
    for name in required:
        if name not in signed and name in folded:
            raise InvalidSignatureException(
                f"'{name.title().decode()}' must be a 'SignedHeader' in the AWS Authorization."
            )


def check_session(user: Caller, token: bytes | None, now: float) -> None:
    """Raise unless the session token is the user's and has not expired. Checks 12 and 13."""
    expected = b"" if user.session_token is None else user.session_token.encode()
    if not hmac.compare_digest(expected, b"" if token is None else token):
        raise UnrecognizedClientException(WRONG_TOKEN)
    if user.expires is not None and user.expires <= now:
        raise ExpiredTokenException(EXPIRED)
