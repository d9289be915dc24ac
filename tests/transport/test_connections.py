from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import EndpointUnavailable, StoreClosed
from tablewright.server import serving
from tablewright.transport import Response
from tablewright.transport.remote import MAX_POOLED, Remote
from tests.storage.forks import in_child
from tests.transport import proxy as steps
from tests.transport.clients import remote
from tests.transport.conftest import MakeClient
from tests.transport.proxy import PATIENCE, Exchange, Proxy, forward, proxying

GET: dict[str, Any] = {"TableName": "things", "Key": {"k": {"S": "a"}}}


def _number(response: Response) -> str:
    return str(json.loads(response.body)["Item"]["n"]["N"])


# -- one after the other -------------------------------------------------------------------------


def test_requests_one_after_the_other_share_a_connection(proxy: Proxy, client: MakeClient) -> None:
    sender = client()
    for _ in range(10):
        sender.send("GetItem", GET)
    assert proxy.opened == 1


def test_a_connection_that_was_closed_while_it_lay_idle_is_replaced(
    proxy: Proxy, client: MakeClient
) -> None:
    """It is no failure: with one attempt only, the request succeeds, and is sent once."""
    sender = client(attempts=1)
    sender.send("GetItem", GET)
    proxy.close_connections()
    got = sender.send("GetItem", GET)
    assert _number(got) == "1"
    assert got.attempts == 1
    assert [each.connection for each in proxy.seen] == [0, 1]


def test_bytes_that_nobody_asked_for_end_an_idle_connection(
    proxy: Proxy, client: MakeClient
) -> None:
    more = threading.Event()
    came = threading.Event()

    def answer_and_talk_on(exchange: Exchange) -> None:
        forward(exchange)
        more.wait(PATIENCE)
        exchange.reply(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        came.set()

    proxy.script = [answer_and_talk_on]
    sender = client(attempts=1)
    sender.send("GetItem", GET)
    more.set()
    came.wait(PATIENCE)
    assert _number(sender.send("GetItem", GET)) == "1"
    assert [each.connection for each in proxy.seen] == [0, 1]


def test_close_closes_the_connections(proxy: Proxy, client: MakeClient) -> None:
    sender = client()
    sender.send("GetItem", GET)
    assert proxy.wait_until_open(1)
    sender.close()
    assert proxy.wait_until_open(0)


def test_what_is_closed_sends_nothing_more(proxy: Proxy, client: MakeClient) -> None:
    sender = client()
    sender.send("GetItem", GET)
    sender.remote.close()
    with pytest.raises(StoreClosed, match=f"{proxy.url} has been closed"):
        sender.send("GetItem", GET)


def test_no_connection_in_time_is_told(client: MakeClient) -> None:
    """A listener whose queue is full does not take another connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        queued = [socket.socket() for _ in range(4)]
        for each in queued:
            each.setblocking(False)
            each.connect_ex(address)
        try:
            sender = client(f"http://127.0.0.1:{address[1]}", connect_seconds=0.2, attempts=1)
            with pytest.raises(EndpointUnavailable, match=r"no connection within 0\.2 s"):
                sender.send("GetItem", GET)
        finally:
            for each in queued:
                each.close()


# -- threads -------------------------------------------------------------------------------------


def test_threads_share_a_transport(proxy: Proxy, engine: Engine) -> None:
    transport = remote(proxy.url)
    add = {
        "TableName": "things",
        "Key": {"k": {"S": "a"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: transport.send("UpdateItem", add), range(200)))
    assert proxy.opened <= 8
    transport.close()
    assert proxy.wait_until_open(0)
    assert engine.call("GetItem", GET)["Item"]["n"] == {"N": "201"}


def _gathering(count: int) -> Callable[[Exchange], None]:
    """A step that answers when this many requests have come."""
    barrier = threading.Barrier(count, timeout=PATIENCE)

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        barrier.wait()
        exchange.reply(answer)

    return step


def test_no_more_connections_are_kept_than_the_pool_holds(proxy: Proxy) -> None:
    transport = remote(proxy.url)
    many = MAX_POOLED + 6
    proxy.script = [_gathering(many)] * many
    with ThreadPoolExecutor(many) as threads:
        list(threads.map(lambda _: transport.send("GetItem", GET), range(many)))
    assert proxy.opened == many
    assert proxy.wait_until_open(MAX_POOLED)
    transport.close()
    assert proxy.wait_until_open(0)


def test_a_connection_in_use_is_closed_when_its_answer_has_come(proxy: Proxy) -> None:
    transport = remote(proxy.url)
    asked, closed = threading.Event(), threading.Event()

    def answer_when_closed(exchange: Exchange) -> None:
        asked.set()
        closed.wait(PATIENCE)
        forward(exchange)

    proxy.script = [answer_when_closed]
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(transport.send, "GetItem", GET)
        asked.wait(PATIENCE)
        transport.close()
        closed.set()
        assert _number(answer.result()) == "1"
    assert proxy.wait_until_open(0)


# -- forks ---------------------------------------------------------------------------------------


def test_a_forked_process_opens_connections_of_its_own(engine: Engine) -> None:
    with serving(engine) as url, proxying(url) as proxy:
        transport = remote(proxy.url)
        transport.send("GetItem", GET)

        def in_the_child() -> list[str]:
            numbers = [_number(transport.send("GetItem", GET)) for _ in range(2)]
            transport.close()
            return numbers

        assert in_child(in_the_child) == ["1", "1"]
        assert _number(transport.send("GetItem", GET)) == "1"
        assert [each.connection for each in proxy.seen] == [0, 1, 1, 0]
        transport.close()


# -- event loops ---------------------------------------------------------------------------------


def test_fifty_tasks_send_at_once(proxy: Proxy) -> None:
    async def main() -> list[str]:
        transport = remote(proxy.url)
        proxy.script = [_gathering(50)] * 50
        answers = await asyncio.gather(*(transport.send_async("GetItem", GET) for _ in range(50)))
        again = await asyncio.gather(*(transport.send_async("GetItem", GET) for _ in range(50)))
        await transport.close_async()
        return [_number(answer) for answer in [*answers, *again]]

    assert asyncio.run(main()) == ["1"] * 100
    assert proxy.opened == 50
    assert proxy.wait_until_open(0)


def test_more_tasks_than_the_pool_holds_wait_for_each_other(proxy: Proxy) -> None:
    async def main() -> None:
        transport = remote(proxy.url)
        await asyncio.gather(*(transport.send_async("GetItem", GET) for _ in range(3 * MAX_POOLED)))
        await transport.close_async()

    asyncio.run(main())
    assert len(proxy.seen) == 3 * MAX_POOLED
    assert proxy.opened <= MAX_POOLED


def test_a_cancelled_request_leaves_no_connection_behind(proxy: Proxy) -> None:
    asked = threading.Event()

    def hang(exchange: Exchange) -> None:
        asked.set()
        steps.hang(exchange)

    async def main() -> str:
        transport = remote(proxy.url)
        await transport.send_async("GetItem", GET)
        proxy.script = [hang]
        task = asyncio.create_task(transport.send_async("GetItem", GET))
        await asyncio.to_thread(asked.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        answer = await transport.send_async("GetItem", GET)
        await transport.close_async()
        return _number(answer)

    assert asyncio.run(main()) == "1"
    assert [each.connection for each in proxy.seen] == [0, 0, 1]
    assert proxy.wait_until_open(0)


def test_requests_cancelled_at_any_moment_do_not_mix_up_the_answers_of_others(
    proxy: Proxy, engine: Engine
) -> None:
    for number in range(40):
        item = {"k": {"S": str(number)}, "n": {"N": str(number)}}
        engine.call("PutItem", {"TableName": "things", "Item": item})

    async def main() -> None:
        transport = remote(proxy.url)

        async def get(number: int) -> str:
            key = {"k": {"S": str(number)}}
            return _number(await transport.send_async("GetItem", {**GET, "Key": key}))

        for turns in range(12):
            tasks = [asyncio.create_task(get(number)) for number in range(40)]
            for _ in range(turns):
                await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [results[number] for number in range(1, 40, 2)] == [
                str(number) for number in range(1, 40, 2)
            ]
        await transport.close_async()

    asyncio.run(main())
    assert proxy.wait_until_open(0)


def test_a_cancelled_task_gives_its_place_to_the_next(proxy: Proxy) -> None:
    async def main() -> None:
        transport = remote(proxy.url)
        proxy.script = [steps.hang] * MAX_POOLED
        tasks = [
            asyncio.create_task(transport.send_async("GetItem", GET)) for _ in range(MAX_POOLED)
        ]
        waiting = asyncio.create_task(transport.send_async("GetItem", GET))
        await asyncio.to_thread(proxy.wait_until_seen, MAX_POOLED)
        for task in tasks:
            task.cancel()
        assert _number(await waiting) == "1"
        await transport.close_async()

    asyncio.run(main())
    assert proxy.wait_until_open(0)


def test_a_second_event_loop_does_not_use_the_connections_of_the_first(proxy: Proxy) -> None:
    transport = remote(proxy.url)

    async def main() -> str:
        return _number(await transport.send_async("GetItem", GET))

    async def last() -> str:
        number = await main()
        await transport.close_async()
        return number

    with warnings.catch_warnings():  # the first loop ends with a connection that is open
        warnings.simplefilter("ignore", ResourceWarning)
        assert asyncio.run(main()) == "1"
        assert asyncio.run(last()) == "1"
        gc.collect()
    assert [each.connection for each in proxy.seen] == [0, 1]
    assert proxy.wait_until_open(0)


def test_two_event_loops_in_two_threads_share_a_transport(proxy: Proxy) -> None:
    transport = remote(proxy.url)

    async def main() -> list[str]:
        tasks = [transport.send_async("GetItem", GET) for _ in range(20)]
        return [_number(answer) for answer in await asyncio.gather(*tasks)]

    both = threading.Barrier(2, timeout=PATIENCE)

    async def ending() -> list[str]:
        numbers = [*await main(), *await main()]
        await asyncio.to_thread(both.wait)
        await transport.close_async()
        return numbers

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(asyncio.run, ending()) for _ in range(2)]
        assert [run.result() for run in runs] == [["1"] * 40] * 2
    assert proxy.opened <= 40
    assert proxy.wait_until_open(0)


def test_both_ways_can_be_used_at_once(proxy: Proxy) -> None:
    async def main(transport: Remote) -> None:
        for _ in range(3):
            await transport.send_async("GetItem", GET)
            transport.send("GetItem", GET)
        await transport.close_async()

    asyncio.run(main(remote(proxy.url)))
    assert [each.connection for each in proxy.seen] == [0, 1] * 3
    assert proxy.wait_until_open(0)
