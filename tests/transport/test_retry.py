from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.backoff import Backoff
from tablewright.errors import EndpointUnavailable
from tablewright.transport import retry
from tablewright.transport.transport import RetriesExhausted
from tests.transport.clients import remote
from tests.transport.conftest import MakeClient
from tests.transport.proxy import Proxy, fault, replying

GET = {"TableName": "things", "Key": {"k": {"S": "a"}}}


def test_delays_are_those_of_the_aws_sdks() -> None:
    failure, throttling = retry.AFTER_FAILURE, retry.AFTER_THROTTLING
    assert failure == Backoff(attempts=4, first=0.025, longest=20.0)
    assert throttling == Backoff(attempts=4, first=1.0, longest=20.0)


@given(retry_after=st.floats(0, 1000))
def test_a_delay_is_extended_as_the_endpoint_asks_by_up_to_five_seconds(
    retry_after: float,
) -> None:
    assert retry.extend_delay(0.025, retry_after) == min(max(retry_after, 0.025), 5.025)


def test_an_endpoint_may_ask_for_a_delay(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [
        replying(fault("InternalServerError", "", 500, f"x-amz-retry-after: {milliseconds}"))
        for milliseconds in ("30", "soon", "-1")
    ]
    assert client().send("GetItem", GET).attempts == 4


def test_the_quota_is_spent_and_earned() -> None:
    quota = retry.RetryQuota()
    assert all(quota.spend(retry.RETRY_COST) for _ in range(35))
    assert not quota.spend(retry.RETRY_COST)
    assert quota.spend(retry.THROTTLED_RETRY_COST)
    quota.refund(retry.RETRY_COST)
    assert quota.spend(retry.RETRY_COST)
    quota.refund(10_000)
    assert [quota.spend(retry.RETRY_COST) for _ in range(36)].count(True) == 35


def test_an_endpoint_that_is_down_is_not_tried_again_once_the_quota_is_spent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    transport = remote(f"http://127.0.0.1:{port}")
    attempts = []
    for _ in range(15):
        with pytest.raises(EndpointUnavailable) as caught:
            transport.send("GetItem", GET)
        assert isinstance(caught.value, RetriesExhausted)
        attempts.append(caught.value.attempts)
    assert attempts == [4] * 11 + [3] + [1] * 3
    assert "failed once; the last error: [Errno 111]" in str(caught.value)
    assert "not retried, because too many requests failed recently" in str(caught.value)


def test_successes_fill_the_quota_again(proxy: Proxy, client: MakeClient) -> None:
    sender = client()
    sender.remote._quota.spend(retry.QUOTA_TOKENS - retry.RETRY_COST + 1)
    failing = replying(fault("InternalServerError", "", 500))
    proxy.script = [failing]
    with pytest.raises(EndpointUnavailable, match="failed once"):
        sender.send("GetItem", GET)
    sender.send("GetItem", GET)
    proxy.script = [failing]
    assert sender.send("GetItem", GET).attempts == 2


def test_throttling_is_not_mistaken_for_a_failure() -> None:
    assert retry.is_throttled("ProvisionedThroughputExceededException", 400)
    assert retry.is_throttled("", 429)
    assert not retry.is_throttled("ValidationException", 400)
    assert retry.is_transient("", 503)
    assert not retry.is_transient("ValidationException", 400)
