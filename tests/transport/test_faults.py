from __future__ import annotations

import json
import zlib
from email.utils import formatdate
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError, EndpointUnavailable, InvalidSignatureException
from tablewright.transport import Response, retry
from tablewright.transport.transport import RetriesExhausted, UnknownFault
from tests.transport import proxy as steps
from tests.transport.conftest import MakeClient
from tests.transport.proxy import (
    Exchange,
    Proxy,
    Step,
    answer,
    fault,
    for_each_step,
    patience_with,
    replying,
)

GET: dict[str, Any] = {"TableName": "things", "Key": {"k": {"S": "a"}}}
PAGE = b"<html><body>The gateway is tired.</body></html>"

#: What damages a connection: it is not used again.
DAMAGE = {
    "closed without a response": steps.cut,
    "reset": steps.reset,
    "closed when it was done": steps.cut_when_done,
    "closed in the head of the answer": steps.cut_in_the_head,
    "closed in the body of the answer": steps.cut_in_the_body,
    "no answer in time": steps.hang,
    "an answer without end": steps.drip,
    "garbage": replying(b"\x16\x03\x01\x00\xff nonsense\r\n\r\n"),
    "a page instead of an answer": replying(answer(200, PAGE)),
    "a wrong checksum": steps.wrong_checksum,
    "two answers": steps.twice,
    "less than its length": lambda exchange: _less(exchange),
}
#: What the endpoint answers itself: the connection is good.
ANSWERS = {
    "an internal error": replying(fault("InternalServerError", "oops", 500)),
    "a page of a gateway": replying(answer(503, PAGE, "content-type: text/html")),
    "an empty 502": replying(answer(502, b"")),
    "throttled by the table": replying(fault("ProvisionedThroughputExceededException", "slow")),
    "throttled by the account": replying(fault("ThrottlingException", "slow")),
    "throttled by a gateway": replying(answer(429, PAGE)),
}
ALL = {**DAMAGE, **ANSWERS}


def _less(exchange: Exchange) -> None:
    exchange.receive()
    exchange.reply(answer(200, b'{"Item": {}}')[:-5])
    raise steps.Cut


def _number(response: Response) -> str:
    return str(json.loads(response.body)["Item"]["n"]["N"])


@for_each_step("step", ALL)
def test_a_request_that_fails_once_is_sent_again(
    step: Step, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step]
    got = client(response_seconds=patience_with(step)).send("GetItem", GET)
    assert _number(got) == "1"
    assert got.attempts == 2
    assert [each.operation for each in proxy.seen] == ["GetItem", "GetItem"]


@for_each_step("step", ALL)
def test_the_error_after_the_last_attempt_tells_where_what_and_how_often(
    step: Step, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step] * 2
    with pytest.raises(EndpointUnavailable) as caught:
        client(response_seconds=patience_with(step), attempts=2).send("GetItem", GET)
    assert str(caught.value).startswith(f"{proxy.url}: GetItem failed 2 times; the last error: ")
    assert proxy.wait_until_seen(2)
    assert isinstance(caught.value, RetriesExhausted)
    assert caught.value.attempts == 2


@for_each_step("step", DAMAGE)
def test_a_damaged_connection_is_not_used_again(
    step: Step, proxy: Proxy, client: MakeClient
) -> None:
    sender = client(response_seconds=patience_with(step))
    sender.send("GetItem", GET)
    proxy.script = [step]
    sender.send("GetItem", GET)
    sender.send("GetItem", GET)
    assert [each.connection for each in proxy.seen] == [0, 0, 1, 1]
    assert proxy.wait_until_open(1)


@for_each_step("step", ANSWERS)
def test_a_connection_that_brought_an_error_is_used_again(
    step: Step, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step]
    client().send("GetItem", GET)
    assert [each.connection for each in proxy.seen] == [0, 0]


REASONS = [
    (steps.cut, "the connection was closed without a response"),
    (steps.cut_in_the_body, "the connection was closed in the middle of a response"),
    (steps.hang, "no response within 0.1 s"),
    (steps.drip, "no response within 0.1 s"),
    (steps.wrong_checksum, "the response does not match its checksum, x-amz-crc32"),
    (replying(answer(200, PAGE)), "the response is not DynamoDB's: '<html>"),
    (replying(b"nonsense\r\n\r\n"), "the response is not HTTP: "),
    (replying(answer(503, PAGE)), "HTTP 503 with a body that is not DynamoDB's: '<html>"),
    (replying(fault("ThrottlingException", "slow down")), "ThrottlingException: slow down"),
]


@pytest.mark.parametrize(("step", "reason"), REASONS, ids=[reason for _, reason in REASONS])
def test_the_error_tells_the_last_reason(
    step: Step, reason: str, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step]
    patience = 0.1 if step in steps.HANGING else steps.PATIENCE
    with pytest.raises(EndpointUnavailable) as caught:
        client(response_seconds=patience, attempts=1).send("GetItem", GET)
    assert f"GetItem failed once; the last error: {reason}" in str(caught.value)
    assert proxy.wait_until_seen(1)


def test_there_are_four_attempts_unless_told_otherwise(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [ANSWERS["an internal error"]] * 10
    with pytest.raises(
        EndpointUnavailable,
        match="GetItem failed 4 times; the last error: InternalServerError: oops",
    ):
        client().send("GetItem", GET)
    assert len(proxy.seen) == retry.MAX_ATTEMPTS == 4


def test_a_request_that_was_cut_while_it_was_sent_is_sent_again(
    proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    item = {"k": {"S": "large"}, "data": {"S": "x" * 380_000}}
    proxy.script = [steps.cut_while_it_is_sent]
    client().send("PutItem", {"TableName": "things", "Item": item})
    assert engine.call("GetItem", {"TableName": "things", "Key": {"k": {"S": "large"}}}) == {
        "Item": item
    }


def test_an_endpoint_that_is_not_there_is_told(proxy: Proxy, client: MakeClient) -> None:
    sender = client(attempts=2)
    proxy.close()
    with pytest.raises(EndpointUnavailable, match=r"GetItem failed 2 times; the last error: .*111"):
        sender.send("GetItem", GET)


def test_a_host_without_an_address_is_told(client: MakeClient) -> None:
    with pytest.raises(EndpointUnavailable, match="GetItem failed once; the last error: "):
        client("http://no.such.host.invalid", attempts=1).send("GetItem", GET)


# -- answers that are good, in unusual forms -----------------------------------------------------


def _chunked(exchange: Exchange) -> None:
    head, _, body = exchange.forward().partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    exchange.reply(b"\r\n".join([*lines, b"transfer-encoding: chunked"]) + b"\r\n\r\n" + chunks)


def _byte_by_byte(exchange: Exchange) -> None:
    for byte in exchange.forward():
        exchange.reply(bytes([byte]))


def _closing(exchange: Exchange) -> None:
    told = exchange.forward()
    exchange.reply(told.replace(b"Connection: keep-alive", b"Connection: close"))
    raise steps.Cut


def _ended_by_the_end(exchange: Exchange) -> None:
    body = exchange.forward().partition(b"\r\n\r\n")[2]
    exchange.reply(b"HTTP/1.0 200 OK\r\n\r\n" + body)
    raise steps.Cut


def _without_a_checksum(exchange: Exchange) -> None:
    exchange.reply(answer(200, exchange.forward().partition(b"\r\n\r\n")[2]))


@pytest.mark.parametrize(
    ("step", "connections"),
    [
        (_chunked, 1),
        (_byte_by_byte, 1),
        (_closing, 2),
        (_ended_by_the_end, 2),
        (_without_a_checksum, 1),
    ],
)
def test_a_good_answer_is_taken_in_any_form(
    step: Step, connections: int, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step]
    sender = client()
    assert _number(sender.send("GetItem", GET)) == "1"
    assert _number(sender.send("GetItem", GET)) == "1"
    assert len(proxy.seen) == 2
    assert proxy.opened == connections


def test_a_large_answer_comes_whole(engine: Engine, client: MakeClient) -> None:
    for number in range(4):
        item = {"k": {"S": str(number)}, "data": {"S": "x" * 390_000}}
        engine.call("PutItem", {"TableName": "things", "Item": item})
    told = json.loads(client().send("Scan", {"TableName": "things"}).body)
    assert sum(len(item.get("data", {}).get("S", "")) for item in told["Items"]) >= 780_000


# -- faults that no attempt mends ----------------------------------------------------------------


def test_a_fault_of_the_request_is_raised_at_once(proxy: Proxy, client: MakeClient) -> None:
    with pytest.raises(DynamoDBError) as caught:
        client().send("GetItem", {"TableName": "nowhere", "Key": {"k": {"S": "a"}}})
    assert caught.value.code == "ResourceNotFoundException"
    assert len(proxy.seen) == 1


def test_a_fault_carries_the_number_of_its_attempts(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [ANSWERS["an internal error"]] * 2
    with pytest.raises(DynamoDBError) as caught:
        client().send("GetItem", {"TableName": "nowhere", "Key": {"k": {"S": "a"}}})
    assert caught.value.attempts == 3
    assert not caught.value.maybe_applied


def test_a_fault_without_a_class_has_its_code(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [replying(fault("VectorNotFoundException", "not there"))]
    with pytest.raises(UnknownFault, match="VectorNotFoundException: not there") as caught:
        client().send("GetItem", GET)
    assert caught.value.code == "VectorNotFoundException"


@pytest.mark.parametrize("body", [PAGE, b"", b"[]", b'{"error": "no"}'])
def test_a_refusal_that_is_not_dynamodbs_is_told_and_not_repeated(
    body: bytes, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [replying(answer(403, body))]
    with pytest.raises(
        EndpointUnavailable, match="GetItem: HTTP 403 with a body that is not DynamoDB's: "
    ):
        client().send("GetItem", GET)
    assert len(proxy.seen) == 1


def test_the_reasons_of_a_cancelled_transaction_are_read_from_the_message_where_they_are_only_there(
    proxy: Proxy, client: MakeClient
) -> None:
    told = "Transaction cancelled, please refer [None, ConditionalCheckFailed]"
    proxy.script = [replying(fault("TransactionCanceledException", told))]
    with pytest.raises(DynamoDBError) as caught:
        client().send("TransactWriteItems", {"TransactItems": []})
    assert [reason["Code"] for reason in getattr(caught.value, "reasons", [])] == [
        "None",
        "ConditionalCheckFailed",
    ]


# -- clocks --------------------------------------------------------------------------------------

EXPIRED = "Signature expired: 20260115T000000Z is now earlier than 20260115T010000Z"


def _skewed(*fields: str) -> Step:
    return replying(fault("InvalidSignatureException", EXPIRED, 400, *fields))


def test_a_clock_that_is_wrong_is_set_by_the_endpoints(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [_skewed("date: " + formatdate(1_800_000_000, usegmt=True))]
    sender = client()
    assert _number(sender.send("GetItem", GET)) == "1"
    sender.send("GetItem", GET)
    moments = [each.headers["x-amz-date"] for each in proxy.seen]
    assert [moment[:11] for moment in moments[1:]] == ["20270115T08", "20270115T08"]
    assert len(proxy.seen) == 3


@pytest.mark.parametrize("fields", [(), ("date: yesterday",), ("date: ",)])
def test_a_clock_that_cannot_be_set_is_told(
    fields: tuple[str, ...], proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [_skewed(*fields)]
    with pytest.raises(InvalidSignatureException, match="Signature expired"):
        client().send("GetItem", GET)
    assert len(proxy.seen) == 1


def test_a_wrong_signature_is_not_repeated(proxy: Proxy, client: MakeClient) -> None:
    told = "The request signature we calculated does not match the signature you provided."
    proxy.script = [
        replying(fault("InvalidSignatureException", told, 400, "date: " + formatdate(usegmt=True)))
    ]
    with pytest.raises(InvalidSignatureException, match="does not match"):
        client().send("GetItem", GET)
    assert len(proxy.seen) == 1


def test_the_checksum_of_a_fault_is_checked_too(proxy: Proxy, client: MakeClient) -> None:
    body = json.dumps({"__type": "x#ResourceNotFoundException"}).encode()
    proxy.script = [replying(answer(400, body, crc=zlib.crc32(body) ^ 1))]
    assert _number(client().send("GetItem", GET)) == "1"
    assert len(proxy.seen) == 2
