from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tablewright.errors import DynamoDBError
from tablewright.server.access.credentials import Caller
from tablewright.server.access.signature import Verifier
from tablewright.sigv4 import signing_key
from tests.server.signing import (
    BODY,
    KEY_ID,
    MOMENT,
    NOW,
    SECRET,
    TOKEN,
    Request,
    presigned,
    signed,
)

ALICE = Caller("alice", KEY_ID, SECRET)
SESSION = replace(ALICE, session_token=TOKEN, expires=NOW + 60.0)
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)
INVALID, INCOMPLETE = "InvalidSignatureException", "IncompleteSignatureException"
UNRECOGNIZED = "UnrecognizedClientException"


def verify(request: Request, user: Caller = ALICE, *, now: float = NOW, **options: Any) -> Caller:
    verifier = Verifier({user.access_key_id: user}.get, clock=lambda: now, **options)
    return verify_with(verifier, request)


def verify_with(verifier: Verifier, request: Request) -> Caller:
    return verifier.verify(request.method, request.url, request.headers, request.body)


def refusal(request: Request, user: Caller = ALICE, **options: Any) -> tuple[str, str]:
    with pytest.raises(DynamoDBError) as caught:
        verify(request, user, **options)
    assert caught.value.status == 400
    assert caught.value.body()["__type"].startswith("com.amazon.coral.service#")
    return caught.value.code, caught.value.message


def test_a_request_signed_by_botocore_is_accepted() -> None:
    assert verify(signed()) is ALICE


def test_a_request_with_a_session_token_is_accepted() -> None:
    assert verify(signed(token=TOKEN), SESSION) is SESSION


def test_a_request_of_the_same_client_is_accepted_again() -> None:
    """The second one is verified with the claim that the first one left."""
    verifier = Verifier({KEY_ID: ALICE}.get, clock=lambda: NOW)
    assert verify_with(verifier, signed()) is ALICE
    assert verify_with(verifier, signed(body=b"{}", at=NOW + 1)) is ALICE
    with pytest.raises(DynamoDBError, match="signature we calculated"):
        verify_with(verifier, signed().but(body=b"{}"))


@pytest.mark.parametrize("spelling", [bytes.lower, bytes.upper])
def test_header_names_may_have_any_spelling(spelling: Callable[[bytes], bytes]) -> None:
    request = signed()
    headers = {spelling(name): value for name, value in request.headers.items()}
    assert verify(replace(request, headers=headers)) is ALICE


@pytest.mark.parametrize("value", ["  a   b ", "a\tb", " a b", "a, b", '"a  b"', "ü  ü", ""])
def test_spaces_in_signed_headers_are_folded(value: str) -> None:
    assert verify(signed(headers={"X-Note": value})) is ALICE


@pytest.mark.parametrize(
    "target",
    [
        "/?b=2&a=1",
        "/?a=2&a=1&a",
        "/?x=a%20b%2Fc&y=%C3%BC&z=~-_.",
        "/a/../b//c/./",
        "/%20/%C3%BC%2f",
    ],
)
def test_paths_and_query_strings_are_canonical(target: str) -> None:
    assert verify(signed(url=f"http://localhost:8000{target}")) is ALICE


def test_a_target_may_be_an_absolute_url() -> None:
    request = signed(url="http://localhost:8000/?a=1")
    assert verify(request.but(url=b"http://localhost:8000/?a=1")) is ALICE


def test_the_date_may_be_a_http_date() -> None:
    request = signed(headers={"Date": "now"})
    assert b"X-Amz-Date" not in request.headers
    assert verify(request) is ALICE


@pytest.mark.parametrize("separator", [b",", b" ", b"  ,  "])
def test_the_parts_of_an_authorization_may_be_separated_by_commas_or_spaces(
    separator: bytes,
) -> None:
    assert verify(signed().edited(b", ", separator)) is ALICE


def test_the_content_type_need_not_be_signed() -> None:
    bare = signed(unsigned=("Content-Type",))
    assert b"content-type" not in bare.headers[b"Authorization"]
    assert verify(bare) is ALICE


# --- refusals --------------------------------------------------------------------------------

TAMPERED: dict[str, Callable[[Request], Request]] = {
    "method": lambda r: r.but(method=b"PUT"),
    "path": lambda r: r.but(url=b"/x"),
    "query": lambda r: r.but(url=b"/?a=1"),
    "body": lambda r: r.but(body=BODY + b" "),
    "no body": lambda r: r.but(body=b""),
    "host": lambda r: r.but({b"Host": b"localhost:8001"}),
    "target": lambda r: r.but({b"X-Amz-Target": b"DynamoDB_20120810.DeleteItem"}),
    "signed header left out": lambda r: r.but({b"Content-Type": None}),
    "content type": lambda r: r.but({b"Content-Type": b"application/json"}),
    "date": lambda r: r.but({b"X-Amz-Date": b"20260115T123457Z"}),
    "signature": lambda r: r.but({b"Authorization": r.headers[b"Authorization"][:-64] + b"0" * 64}),
    "no signature": lambda r: r.but({b"Authorization": r.headers[b"Authorization"][:-64]}),
    "capital signature": lambda r: r.but(
        {
            b"Authorization": r.headers[b"Authorization"][:-64]
            + r.headers[b"Authorization"][-64:].upper()
        }
    ),
    "region": lambda r: r.edited(b"eu-west-1", b"eu-west-2"),
    "signed headers": lambda r: r.edited(b"content-type;", b""),
    "second spelling of a header": lambda r: r.but({b"x-amz-target": b"DynamoDB_20120810.Scan"}),
    "second spelling of an unsigned header": lambda r: r.but({b"user-agent": b"other"}),
    "declared hash": lambda r: r.but({b"X-Amz-Content-Sha256": b"0" * 64}),
    "declared as unsigned": lambda r: r.but({b"X-Amz-Content-Sha256": b"UNSIGNED-PAYLOAD"}),
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_a_request_that_was_changed_is_refused(change: Callable[[Request], Request]) -> None:
    assert verify(signed()) is ALICE
    assert refusal(change(signed())) == (INVALID, MISMATCH)


def test_a_wrong_secret_is_refused() -> None:
    assert refusal(signed(secret="another")) == (INVALID, MISMATCH)


def test_an_unsigned_payload_is_refused() -> None:
    """Its signature is right for the text UNSIGNED-PAYLOAD in place of the body's hash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.auth.SigV4Auth.payload", lambda *_: "UNSIGNED-PAYLOAD")
        request = signed(headers={"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})
    assert refusal(request) == (INVALID, MISMATCH)


def test_an_unknown_access_key_is_refused() -> None:
    expected = (UNRECOGNIZED, "The security token included in the request is invalid.")
    assert refusal(signed(key_id="TWAK0000000000000000")) == expected


def test_an_unknown_access_key_costs_as_much_as_a_wrong_secret() -> None:
    """Both derive a key and compute a signature, so that timing does not tell them apart."""
    derived = []
    for request in (signed(key_id="TWAK0000000000000000"), signed(secret="another")):
        signing_key.cache_clear()
        refusal(request)
        derived.append(signing_key.cache_info().misses)
    assert derived == [1, 1]


@pytest.mark.parametrize(("token", "user"), [(None, SESSION), ("another", SESSION), (TOKEN, ALICE)])
def test_a_session_token_must_be_the_one_of_the_credentials(
    token: str | None, user: Caller
) -> None:
    expected = (UNRECOGNIZED, "The security token included in the request is invalid")
    assert refusal(signed(token=token), user) == expected


@pytest.mark.parametrize("request_", [signed(token=TOKEN), presigned(token=TOKEN)])
def test_expired_credentials_are_refused(request_: Request) -> None:
    expected = ("ExpiredTokenException", "The security token included in the request is expired")
    assert verify(request_, SESSION, now=NOW + 59) is SESSION
    assert refusal(request_, SESSION, now=NOW + 60) == expected


def test_a_wrong_signature_of_expired_credentials_says_nothing_about_them() -> None:
    request = signed(token=TOKEN, secret="another")
    assert refusal(request, SESSION, now=NOW + 61) == (INVALID, MISMATCH)


def test_a_signature_is_good_for_15_minutes() -> None:
    assert verify(signed(), now=NOW + 900) is ALICE
    assert refusal(signed(), now=NOW + 901) == (
        INVALID,
        f"Signature expired: {MOMENT} is now earlier than 20260115T123457Z "
        "(20260115T124957Z - 15 min.)",
    )


def test_a_signature_of_the_future_is_refused() -> None:
    assert verify(signed(), now=NOW - 900) is ALICE
    assert refusal(signed(), now=NOW - 901) == (
        INVALID,
        f"Signature not yet current: {MOMENT} is still later than 20260115T123455Z "
        "(20260115T121955Z + 15 min.)",
    )


def test_the_window_can_be_set() -> None:
    code, message = refusal(signed(), now=NOW + 61, window_seconds=60)
    assert (code, message[-9:]) == (INVALID, "- 1 min.)")


@pytest.mark.parametrize("name", ["X-Amz-Target", "X-Amz-Date", "X-Amz-Security-Token"])
def test_what_selects_the_operation_and_the_caller_must_be_signed(name: str) -> None:
    request = signed(token=TOKEN).edited(b";" + name.lower().encode(), b"")
    expected = f"'{name}' must be a 'SignedHeader' in the AWS Authorization."
    assert refusal(request, SESSION) == (INVALID, expected)


def test_the_host_must_be_signed() -> None:
    expected = "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
    assert refusal(signed().edited(b"host;", b"")) == (INVALID, expected)


def test_a_wrong_region_is_refused_where_one_is_configured() -> None:
    assert verify(signed(), region="eu-west-1") is ALICE
    expected = "Credential should be scoped to a valid region, not 'eu-west-1'. "
    assert refusal(signed(), region="us-east-1") == (INVALID, expected)


@pytest.mark.parametrize("region", ["", "x" * 65])
def test_an_impossible_region_is_refused(region: str) -> None:
    expected = f"Credential should be scoped to a valid region, not '{region}'. "
    assert refusal(signed(region=region)) == (INVALID, expected)


def test_a_signature_for_another_service_is_refused() -> None:
    expected = "Credential should be scoped to correct service: 'dynamodb'. "
    assert refusal(signed(service="s3")) == (INVALID, expected)


def test_all_that_is_wrong_with_a_scope_is_reported() -> None:
    request = signed().edited(b"20260115/eu-west-1/dynamodb/aws4_request", b"b/c/d/e")
    assert refusal(request, region="eu-west-1") == (
        INVALID,
        "Credential should be scoped to a valid region, not 'c'. "
        "Credential should be scoped to correct service: 'dynamodb'. "
        "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. "
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
        f"HTTP: 'b' != '20260115', from '{MOMENT}'.",
    )


def test_a_credential_has_five_elements() -> None:
    expected = (
        "Credential must have exactly 5 slash-delimited elements, "
        "e.g. keyid/date/region/service/term, got 'a/b'"
    )
    request = signed().edited(f"{KEY_ID}/20260115/eu-west-1/dynamodb/aws4_request".encode(), b"a/b")
    assert refusal(request) == (INCOMPLETE, expected)


def test_another_algorithm_is_refused() -> None:
    expected = "Unsupported AWS 'algorithm': 'AWS4-HMAC-MD5' (only AWS4-HMAC-SHA256 for now). "
    assert refusal(signed().edited(b"SHA256", b"MD5")) == (INCOMPLETE, expected)


@pytest.mark.parametrize("date", [b"201", b"20260115T123456", b"20261315T123456Z", b"", b"x" * 16])
def test_a_malformed_date_is_refused(date: bytes) -> None:
    expected = (
        f"Date must be in ISO-8601 'basic format'. Got '{date.decode()}'. "
        "See http://en.wikipedia.org/wiki/ISO_8601"
    )
    assert refusal(signed().but({b"X-Amz-Date": date})) == (INCOMPLETE, expected)


@pytest.mark.parametrize(
    ("authorization", "message"),
    [
        (
            "AWS4-HMAC-SHA256",
            "Authorization header requires 'Credential' parameter. "
            "Authorization header requires 'Signature' parameter. "
            "Authorization header requires 'SignedHeaders' parameter. "
            "Authorization=AWS4-HMAC-SHA256",
        ),
        (
            "AWS4-HMAC-SHA256 Credential=a, Signature=b",
            "Authorization header requires 'SignedHeaders' parameter. "
            "Authorization=AWS4-HMAC-SHA256 Credential=a, Signature=b",
        ),
        (
            "AWS4-HMAC-SHA256 Signature=b, Credential",
            "'Credential' not a valid key=value pair (missing equal-sign) in Authorization "
            "header: 'AWS4-HMAC-SHA256 Signature=b, Credential'.",
        ),
        (
            "AWS4-HMAC-SHA256 Signature=b, Signature=c",
            "Authorization header has more than one 'Signature' parameter. "
            "Authorization=AWS4-HMAC-SHA256 Signature=b, Signature=c",
        ),
    ],
)
def test_an_incomplete_authorization_names_what_is_missing(
    authorization: str, message: str
) -> None:
    request = signed().but({b"Authorization": authorization.encode()})
    assert refusal(request) == (INCOMPLETE, message)


def test_a_date_is_required() -> None:
    code, message = refusal(signed().but({b"X-Amz-Date": None}))
    assert code == INCOMPLETE
    assert message.startswith(
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256 Credential="
    )


@pytest.mark.parametrize("authorization", [None, b"Basic abc", b"", b"AWS4"])
def test_a_request_without_authorization_is_refused(authorization: bytes | None) -> None:
    expected = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    assert refusal(signed().but({b"Authorization": authorization})) == expected


def test_the_checks_have_the_order_of_aws() -> None:
    """Each request is wrong in all the ways that come later; repairing one shows the next."""
    wrong = signed(secret="another", token="another", key_id="unknown")
    wrong = wrong.edited(b"/eu-west-1/", b"/no-where/").edited(b"host;", b"").edited(b"256", b"1")
    wrong = wrong.edited(b"unknown/", b"")
    both = wrong.but(url=b"/?X-Amz-Algorithm=x")
    late: dict[str, Any] = {"user": SESSION, "now": NOW + 901, "region": "eu-west-1"}
    assert refusal(both, **late)[1].startswith("Found both 'X-Amz-Algorithm'")
    assert refusal(wrong.edited(b"Signature=", b"S="), **late)[1].startswith("Authorization header")
    assert refusal(wrong.but({b"X-Amz-Date": b"x"}), **late)[1].startswith("Date must be")
    assert refusal(wrong, **late)[1].startswith("Signature expired")
    late["now"] = NOW
    assert refusal(wrong, **late)[1].startswith("'Host'")
    wrong = wrong.edited(b"x-amz-date", b"host;x-amz-date")
    assert refusal(wrong, **late)[1].startswith("Unsupported AWS 'algorithm'")
    wrong = wrong.edited(b"SHA1", b"SHA256")
    assert refusal(wrong, **late)[1].startswith("Credential must have exactly 5")
    wrong = wrong.edited(b"Credential=", b"Credential=unknown/")
    assert refusal(wrong, **late)[1].startswith("Credential should be scoped to a valid region")
    wrong = wrong.edited(b"/no-where/", b"/eu-west-1/")
    assert refusal(wrong, **late)[0] == UNRECOGNIZED
    wrong = wrong.edited(b"unknown", KEY_ID.encode())
    assert refusal(wrong, **late) == (INVALID, MISMATCH)
    late["now"] = NOW + 61
    assert refusal(signed(token="another"), **late)[0] == UNRECOGNIZED
    assert refusal(signed(token=TOKEN), **late)[0] == "ExpiredTokenException"


# --- signed in advance -----------------------------------------------------------------------


def test_a_request_signed_in_advance_is_accepted() -> None:
    assert verify(presigned()) is ALICE
    assert verify(presigned(token=TOKEN), SESSION) is SESSION


PRESIGNED: dict[str, Callable[[Request], Request]] = {
    "body": lambda r: r.but(body=b"{}"),
    "target": lambda r: r.but({b"X-Amz-Target": b"DynamoDB_20120810.Scan"}),
    "expiry": lambda r: r.but(url=r.url.replace(b"Expires=3600", b"Expires=3601")),
    "added parameter": lambda r: r.but(url=r.url + b"&a=1"),
    "repeated parameter": lambda r: r.but(url=r.url + b"&X-Amz-Expires=3600"),
    "signature": lambda r: r.but(url=re.sub(b"Signature=.{8}", b"Signature=00000000", r.url)),
}


@pytest.mark.parametrize("change", PRESIGNED.values(), ids=PRESIGNED)
def test_a_request_signed_in_advance_that_was_changed_is_refused(
    change: Callable[[Request], Request],
) -> None:
    assert refusal(change(presigned())) == (INVALID, MISMATCH)


def test_a_request_signed_in_advance_expires_when_it_says() -> None:
    assert verify(presigned(expires=30), now=NOW + 30) is ALICE
    code, message = refusal(presigned(expires=30), now=NOW + 31)
    assert (code, message[-11:]) == (INVALID, " - 30 sec.)")


@pytest.mark.parametrize(
    "expires",
    ["-1", "0", "1e3", "+60", " 60", "60 ", "6_0", "60.0", "0x3c", "", "604801", "9" * 5000, "²"],
)
def test_an_expiry_that_is_not_a_number_of_seconds_is_refused(expires: str) -> None:
    code, message = refusal(presigned(expires=expires))
    assert code == "IncompleteSignatureException"
    assert "a number of seconds from 1 to 604800" in message


@pytest.mark.parametrize("date", ["2026_115T000000Z", "20260115t000000z", "+0260115T000000Z"])
def test_a_date_of_the_right_length_that_is_none_is_refused(date: str) -> None:
    request = signed()
    assert refusal(request.but({b"X-Amz-Date": date.encode()}))[0] == "IncompleteSignatureException"


def test_a_request_signed_in_advance_expires_with_the_window() -> None:
    assert refusal(presigned(expires=3600), now=NOW + 901)[1].startswith("Signature expired")


@pytest.mark.parametrize("name", ["Credential", "Signature", "SignedHeaders", "Date"])
def test_a_query_string_that_lacks_a_part_is_refused(name: str) -> None:
    request = presigned()
    url = re.sub(f"X-Amz-{name}=[^&]*&?".encode(), b"", request.url)
    assert refusal(request.but(url=url)) == (
        INCOMPLETE,
        f"AWS query-string parameters must include 'X-Amz-{name}'. "
        "Re-examine the query-string parameters.",
    )


def test_both_kinds_of_authorization_are_refused() -> None:
    both = presigned().but({b"Authorization": signed().headers[b"Authorization"]})
    assert refusal(both)[0] == INVALID


# --- properties ------------------------------------------------------------------------------


@given(st.data())
def test_any_single_changed_byte_is_refused(data: st.DataObject) -> None:
    request = signed(token=TOKEN, headers={"X-Note": "a b"})
    names = [name for name in request.headers if name not in (b"User-Agent", b"Authorization")]
    part: Any = data.draw(st.sampled_from(["method", "url", "body", b"Authorization", *names]))
    value: bytes = getattr(request, part) if isinstance(part, str) else request.headers[part]
    first = len(value) - 64 if part == b"Authorization" else 0  # of it, the signature
    at = data.draw(st.integers(first, len(value) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != value[at]))
    new = value[:at] + bytes([byte]) + value[at + 1 :]
    assume(part == "body" or new.split() != value.split())  # another kind of space is the same
    changes: dict[str, Any] = {part: new} if isinstance(part, str) else {"headers": {part: new}}
    tampered = request.but(**changes)
    verifier = Verifier({KEY_ID: SESSION}.get, clock=lambda: NOW)
    assert verify_with(verifier, request) is SESSION
    with pytest.raises(DynamoDBError):
        verify_with(verifier, tampered)


texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@given(
    secret=texts,
    token=st.none() | texts,
    body=st.binary(max_size=200),
    region=st.sampled_from(["us-east-1", "eu-central-2", "local"]),
    note=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
    query=st.lists(st.tuples(texts, texts), max_size=3),
    at=st.integers(1_000_000_000, 4_000_000_000),
)
def test_whatever_botocore_signs_is_accepted(
    secret: str,
    token: str | None,
    body: bytes,
    region: str,
    note: str,
    query: list[tuple[str, str]],
    at: int,
) -> None:
    user = Caller("alice", KEY_ID, secret, token)
    url = "http://localhost:8000/?" + "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in query
    )
    request = signed(
        secret=secret,
        token=token,
        url=url,
        headers={"X-Note": note},
        body=body,
        region=region,
        at=at,
    )
    assert verify(request, user, now=at) is user


@given(
    st.dictionaries(
        st.sampled_from([b"Host", b"X-Amz-Date", b"Date", b"Authorization", b"X-Amz-Target"]),
        st.binary(max_size=80),
    ),
    st.binary(max_size=200),
)
def test_hostile_requests_are_refused_with_a_fault(headers: dict[bytes, bytes], url: bytes) -> None:
    for request in (signed().but(headers, url=url), Request(b"POST", url, headers, b"")):
        try:
            verify(request)
        except DynamoDBError as fault:
            assert fault.status == 400  # noqa: PT017
