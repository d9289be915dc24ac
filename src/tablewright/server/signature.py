"""Verify the Signature Version 4 of a request, in a header or in the query string.

Invariants:
- The verified values are the values in the mapping that the caller reads. A header name that occurs
  in two spellings is refused, because the caller might read the other one.
- The body is always hashed: no header can replace its hash (DynamoDB has no UNSIGNED-PAYLOAD).
- Signatures and tokens are compared in constant time. For an unknown access key a signature is
  computed as well, with a secret that no one has, so both refusals take equally long.
- Nothing kept between requests grows without bound, and a claim is kept only after its signature
  was found right.

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

AWS used to append the canonical request to the answer of check 11, and for most requests no longer
does. It would repeat the session token, so it is left out here.

Check 6: DynamoDB itself demands `host`. The target, the date and the session token select what is
done, when and for whom; every SDK signs them, and here they must be signed. The content type may be
unsigned, as with some SDKs.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from tablewright.errors import (
    ExpiredTokenException,
    IncompleteSignatureException,
    InvalidSignatureException,
    MissingAuthenticationTokenException,
    UnrecognizedClientException,
)
from tablewright.server.canonical import (
    canonical_query,
    header_lines,
    iso,
    query_parameters,
    read_date,
    spell,
    split,
)
from tablewright.server.credentials import User
from tablewright.sigv4 import (
    ALGORITHM,
    SERVICE,
    TERMINATOR,
    canonical_request,
    scope_of,
    signing_key,
    string_to_sign,
)

#: How long before and after the server's time a signature may have been made, as on AWS.
WINDOW_SECONDS = 15 * 60
MAX_CLAIMS = 1024
MAX_REGION = 64
SIGNATURE_SIZE = 64
PARTS = ("Credential", "Signature", "SignedHeaders")  # in the order of AWS's messages
NO_ONES_SECRET = "no one has this secret"

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


class Claim(NamedTuple):
    """What an authorization says, apart from the signature itself."""

    algorithm: str
    credential: str
    elements: tuple[str, ...]  # of the credential: access key id, day, region, service, terminator
    signed: tuple[bytes, ...]  # names of headers in lower case, in order

    @classmethod
    def of(cls, algorithm: str, credential: str, signed: str) -> Claim:
        names = sorted(signed.encode("latin-1").lower().split(b";"))
        return cls(algorithm, credential, tuple(credential.rstrip("/").split("/")), tuple(names))


class Presented(NamedTuple):
    """A signature with everything it depends on besides the headers and the body."""

    claim: Claim
    signature: bytes
    date: str
    required: tuple[bytes, ...]  # headers that must be signed where the request has them
    token: bytes | None
    query: str  # canonical
    window: int


class Verifier:
    """Verifies requests with the credentials that `find` returns for an access key id.

    `clock` returns seconds since 1970. With a `region`, signatures for other regions are refused.
    """

    def __init__(
        self,
        find: Callable[[str], User | None],
        *,
        clock: Callable[[], float] = time.time,
        region: str | None = None,
        window_seconds: int = WINDOW_SECONDS,
    ) -> None:
        self._find = find
        self._clock = clock
        self._region = region
        self._window = window_seconds
        self._claims: dict[bytes, Claim] = {}  # by the authorization without the signature

    def verify(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> User:
        """Return the user who signed the request; raise DynamoDB's fault if none did."""
        folded = {name.lower(): value for name, value in headers.items()}
        if len(folded) != len(headers):
            raise InvalidSignatureException(MISMATCH)
        path, query = split(bytes(url))
        authorization = folded.get(b"authorization")
        parameters = query_parameters(query) if query else []
        if any(name == b"X-Amz-Algorithm" for name, _ in parameters):
            if authorization is not None:
                raise InvalidSignatureException(FOUND_BOTH)
            presented = self._in_query(parameters, folded)
        elif authorization is not None:
            presented = self._in_header(authorization, parameters, folded)
        else:
            raise MissingAuthenticationTokenException(NO_TOKEN)

        now = self._clock()
        moment = self._check_date(presented, now)
        claim = presented.claim
        check_signed_headers(claim.signed, presented.required, folded)
        self._check_scope(claim, moment)

        access_key_id, day, region, _, _ = claim.elements
        user = self._find(access_key_id)
        key = signing_key(NO_ONES_SECRET if user is None else user.secret, day, region)
        body_hash = sha256(body).hexdigest()
        canonical = canonical_request(
            method.decode("latin-1"),
            path,
            presented.query,
            header_lines(claim.signed, folded),
            b";".join(claim.signed).decode("latin-1"),
            body_hash,
        )
        request_hash = sha256(canonical.encode("latin-1")).hexdigest()
        text = string_to_sign(moment, scope_of(day, region), request_hash)
        expected = hmac.digest(key, text.encode("latin-1"), "sha256").hex().encode()
        matches = hmac.compare_digest(expected, presented.signature)
        if user is None:
            raise UnrecognizedClientException(UNKNOWN_KEY)
        declared_hash = folded.get(b"x-amz-content-sha256")
        if not matches or (declared_hash is not None and declared_hash != body_hash.encode()):
            raise InvalidSignatureException(MISMATCH)
        check_session(user, presented.token, now)
        if authorization is not None:
            self._keep(authorization, claim)
        return user

    def _in_header(
        self,
        authorization: bytes,
        parameters: list[tuple[bytes, bytes]],
        folded: Mapping[bytes, bytes],
    ) -> Presented:
        date = folded.get(b"x-amz-date")
        dated = b"x-amz-date"
        if date is None:
            date, dated = folded.get(b"date"), b"date"
        claim = self._claims.get(authorization[:-SIGNATURE_SIZE])
        if claim is not None and date is not None:
            signature = authorization[-SIGNATURE_SIZE:]
        else:
            claim, signature = read_authorization(authorization, has_date=date is not None)
        return Presented(
            claim,
            signature,
            (date or b"").decode("latin-1"),
            (dated, b"x-amz-target", b"x-amz-security-token"),
            folded.get(b"x-amz-security-token"),
            canonical_query(parameters) if parameters else "",
            self._window,
        )

    def _in_query(
        self, parameters: list[tuple[bytes, bytes]], folded: Mapping[bytes, bytes]
    ) -> Presented:
        given = {name: value.decode("latin-1") for name, value in parameters}
        check_query(given)
        if len(given) != len(parameters):
            raise InvalidSignatureException(MISMATCH)  # which of two values was meant?
        # A URL signed in advance is good for the shorter of its own time and the window.
        expires = given.get(b"X-Amz-Expires", "")[:9]
        window = min(self._window, int(expires)) if expires.isdecimal() else self._window
        token = given.get(b"X-Amz-Security-Token")
        return Presented(
            Claim.of(
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

    def _check_date(self, presented: Presented, now: float) -> str:
        """Return the date in ISO 8601's basic format; raise if it is outside of the window."""
        seconds, moment = read_date(presented.date)
        if seconds < now - presented.window:
            earliest = iso(now - presented.window)
            raise InvalidSignatureException(
                f"Signature expired: {moment} is now earlier than {earliest} "
                f"({iso(now)} - {spell(presented.window)}.)"
            )
        if seconds > now + self._window:
            latest = iso(now + self._window)
            raise InvalidSignatureException(
                f"Signature not yet current: {moment} is still later than {latest} "
                f"({iso(now)} + {spell(self._window)}.)"
            )
        return moment

    def _check_scope(self, claim: Claim, moment: str) -> None:
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
            self._region is not None or not 0 < len(region) <= MAX_REGION
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

    def _keep(self, authorization: bytes, claim: Claim) -> None:
        """Keep a claim for the client's next requests: it is the same all day."""
        head = authorization[:-SIGNATURE_SIZE]
        if head not in self._claims and head.endswith(b"Signature="):
            if len(self._claims) >= MAX_CLAIMS:
                self._claims.clear()
            self._claims[head] = claim


# --- the parts of a request ------------------------------------------------------------------


def read_authorization(authorization: bytes, *, has_date: bool) -> tuple[Claim, bytes]:
    """Return the claim and the signature of an Authorization header. Checks 2 and 3."""
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
        raise incomplete(missing, text, has_date=has_date)
    claim = Claim.of(algorithm, given["Credential"], given["SignedHeaders"])
    return claim, given["Signature"].encode("latin-1")


def incomplete(
    missing: list[str], authorization: str, *, has_date: bool
) -> IncompleteSignatureException:
    """Return the fault of an Authorization header without these parts."""
    message = "".join(f"Authorization header requires '{name}' parameter. " for name in missing)
    if not has_date:
        message += (
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    return IncompleteSignatureException(f"{message}Authorization={authorization}")


def check_query(given: Mapping[bytes, str]) -> None:
    """Raise unless a query string that holds an authorization has all parts of it. Check 3."""
    names = ("Algorithm", "Credential", "Signature", "SignedHeaders", "Date")
    missing = [name for name in names if not given.get(f"X-Amz-{name}".encode())]
    if missing:
        wants = (f"AWS query-string parameters must include 'X-Amz-{name}'. " for name in missing)
        raise IncompleteSignatureException(
            "".join(wants) + "Re-examine the query-string parameters."
        )


def check_signed_headers(
    signed: tuple[bytes, ...], required: tuple[bytes, ...], folded: Mapping[bytes, bytes]
) -> None:
    if b"host" not in signed:
        raise InvalidSignatureException(
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
        )
    for name in required:
        if name not in signed and name in folded:
            raise InvalidSignatureException(
                f"'{name.title().decode()}' must be a 'SignedHeader' in the AWS Authorization."
            )


def check_session(user: User, token: bytes | None, now: float) -> None:
    """Raise unless the request carries the user's session token and it has not expired."""
    expected = b"" if user.session_token is None else user.session_token.encode()
    if not hmac.compare_digest(expected, b"" if token is None else token):
        raise UnrecognizedClientException(WRONG_TOKEN)
    if user.expires is not None and user.expires <= now:
        raise ExpiredTokenException(EXPIRED)
