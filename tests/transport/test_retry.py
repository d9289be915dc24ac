from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.errors import EndpointUnavailable
from tablewright.transport import retry
from tablewright.transport.faults import GaveUp
from tests.transport.clients import remote
from tests.transport.conftest import MakeClient
from tests.transport.proxy import Proxy, fault, replying

GET = {"TableName": "things", "Key": {"k": {"S": "a"}}}


@given(attempt=st.integers(1, 60), throttled=st.booleans())
def test_a_pause_is_a_part_of_a_time_that_doubles_up_to_a_limit(
    attempt: int, throttled: bool
) -> None:
    first = 1.0 if throttled else 0.025
    assert 0 <= retry.pause(attempt, throttled=throttled) <= min(first * 2 ** (attempt - 1), 20)


def test_pauses_differ() -> None:
    assert len({retry.pause(3) for _ in range(20)}) > 1


@given(wished=st.floats(0, 1000))
def test_a_pause_is_as_long_as_is_wished_within_five_seconds(wished: float) -> None:
    pause = retry.pause(1, wished=wished)
    assert min(wished, 5) <= pause <= max(5.025, 0.025)


def test_an_endpoint_may_wish_for_a_pause(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [
        replying(fault("InternalServerError", "", 500, f"x-amz-retry-after: {wish}"))
        for wish in ("30", "soon", "-1")
    ]
    assert client().send("GetItem", GET)
    assert len(proxy.seen) == 4


def test_the_quota_is_spent_and_earned() -> None:
    quota = retry.Quota()
    assert all(quota.take(retry.COST) for _ in range(35))
    assert not quota.take(retry.COST)
    assert quota.take(retry.COST_THROTTLED)
    quota.give(retry.COST)
    assert quota.take(retry.COST)
    quota.give(10_000)
    assert [quota.take(retry.COST) for _ in range(36)].count(True) == 35


def test_an_endpoint_that_is_down_is_not_tried_again_once_the_quota_is_spent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    transport = remote(f"http://127.0.0.1:{port}")
    attempts = []
    for _ in range(15):
        with pytest.raises(EndpointUnavailable) as caught:
            transport.send("GetItem", GET)
        assert isinstance(caught.value, GaveUp)
        attempts.append(caught.value.attempts)
    assert attempts == [4] * 11 + [3] + [1] * 3
    assert "failed once; the last time: [Errno 111]" in str(caught.value)
    assert "there are no more retries while so much fails" in str(caught.value)


def test_successes_fill_the_quota_again(proxy: Proxy, client: MakeClient) -> None:
    sender = client()
    sender.remote._quota.take(retry.QUOTA - retry.COST + 1)
    failing = replying(fault("InternalServerError", "", 500))
    proxy.script = [failing]
    with pytest.raises(EndpointUnavailable, match="failed once"):
        sender.send("GetItem", GET)
    sender.send("GetItem", GET)
    proxy.script = [failing]
    assert sender.send("GetItem", GET)


def test_throttling_is_not_mistaken_for_a_failure() -> None:
    assert retry.is_throttled("ProvisionedThroughputExceededException", 400)
    assert retry.is_throttled("", 429)
    assert not retry.is_throttled("ValidationException", 400)
    assert retry.is_transient("", 503)
    assert not retry.is_transient("ValidationException", 400)
