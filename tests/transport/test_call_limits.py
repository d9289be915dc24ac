"""The limits of a call: the seconds for all of it, and how often a request is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tablewright import Attr, Entity, Table, attr, batch_get, connect, connect_async, create, key
from tablewright.engine import Engine
from tablewright.errors import EndpointUnavailable, InvalidValue
from tablewright.plan.plan import DECLARED, Plan, Wait, run
from tablewright.transport.call_limits import CallLimits
from tests.transport.clients import remote
from tests.transport.proxy import Proxy, fault, hang, hang_when_done, replying


class Things(Table, name="things", pk="k", sk=None): ...


class Thing(Entity, table=Things):
    name: Attr[str] = attr()
    primary = key("THING" / name)


THROTTLED = replying(fault("ThrottlingException", "Slow down", 400))
Run = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, proxy: Proxy) -> Run:
    """Runs a plan through the proxy, which follows its script from this plan on."""

    def run_plan(plan: Plan[Any], script: list[Any], **options: Any) -> Any:
        given = options.pop("given", {})
        target = remote(proxy.url)
        if request.param == "sync":
            db = connect(target, Things, create=True, **options)
            proxy.script, proxy.seen[:] = script, []
            try:
                return db.run(plan, **given)
            finally:
                target.close()

        async def main() -> Any:
            adb = await connect_async(target, Things, create=True, **options)
            proxy.script, proxy.seen[:] = script, []
            try:
                return await adb.run(plan, **given)
            finally:
                await target.close_async()

        return asyncio.run(main())

    return run_plan


@pytest.fixture
def engine() -> Any:
    with Engine(":memory:") as engine:
        yield engine


def test_a_call_ends_in_time_while_an_endpoint_does_not_respond(call: Run, proxy: Proxy) -> None:
    with pytest.raises(EndpointUnavailable, match=r"no response within .*no time left"):
        call(Thing.primary("a"), [hang] * 4, given={"timeout": 0.05})
    assert len(proxy.seen) == 1


def test_the_time_is_that_of_all_requests_together(call: Run, proxy: Proxy) -> None:
    """A batch with unprocessed keys would wait and ask again for minutes."""
    unprocessed = {"things": {"Keys": [{"k": {"S": "THING#a"}}]}}
    body = b'{"Responses": {}, "UnprocessedKeys": ' + str(unprocessed).replace("'", '"').encode()
    with pytest.raises(EndpointUnavailable, match=r"BatchGet.*no time left \(timeout=0\.3\)"):
        call(
            batch_get([Thing.primary("a")]),
            [replying(_ok(body + b"}"))] * 30,
            given={"timeout": 0.3},
        )
    assert 1 <= len(proxy.seen) < 10


def _ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def test_the_attempts_include_the_first(call: Run, proxy: Proxy) -> None:
    with pytest.raises(EndpointUnavailable, match="failed 2 times"):
        call(Thing.primary("a"), [THROTTLED] * 9, max_attempts=2)
    assert len(proxy.seen) == 2


def test_one_attempt_is_without_retries(call: Run, proxy: Proxy) -> None:
    with pytest.raises(EndpointUnavailable, match="failed once"):
        call(Thing.primary("a"), [THROTTLED] * 9, given={"max_attempts": 1})
    assert len(proxy.seen) == 1


def test_more_attempts_than_the_default(call: Run, proxy: Proxy) -> None:
    assert call(Thing.primary("a"), [THROTTLED] * 5, max_attempts=6) is None
    assert len(proxy.seen) == 6


def test_those_of_a_call_replace_those_of_the_database(call: Run, proxy: Proxy) -> None:
    with pytest.raises(EndpointUnavailable, match="failed 3 times"):
        call(Thing.primary("a"), [THROTTLED] * 9, max_attempts=1, given={"max_attempts": 3})


def test_a_write_without_a_response_may_have_been_applied(call: Run) -> None:
    with pytest.raises(EndpointUnavailable) as caught:
        call(create(Thing(name="a")), [hang_when_done], given={"timeout": 0.1})
    assert caught.value.maybe_applied


def test_the_databases_of_tenants_and_transactions_have_the_limits(proxy: Proxy) -> None:
    with connect(proxy.url, Things, create=True, max_attempts=1) as db:
        proxy.script = [THROTTLED] * 4
        with pytest.raises(EndpointUnavailable, match="failed once"), db.transaction() as tx:
            tx.add(create(Thing(name="a")))


def test_connecting_is_a_call_as_well(proxy: Proxy) -> None:
    proxy.script = [hang] * 9
    with pytest.raises(EndpointUnavailable, match="no time left"):
        connect(proxy.url, Things, timeout=0.05)


def test_tables_are_created_without_limits(proxy: Proxy) -> None:
    proxy.script = [THROTTLED]
    with connect(proxy.url, Things, create=True, max_attempts=1) as db:
        proxy.script = [THROTTLED]
        with pytest.raises(EndpointUnavailable, match="failed once"):
            db.run(Thing.primary("a"))


def test_a_database_in_this_process_stops_between_requests() -> None:
    class Waiting(Plan[None]):
        def _steps(self, context: Any) -> Any:
            yield Wait(3600)

    with connect(":memory:", Things) as db, pytest.raises(EndpointUnavailable, match="Waiting: "):
        db.run(Waiting(), timeout=0.5)


def test_no_request_is_sent_after_the_time() -> None:
    limited = msgspec.structs.replace(DECLARED, limits=CallLimits(1.0, None, ends=0.0))
    with pytest.raises(EndpointUnavailable, match="no time left"):
        run(Thing.primary("a"), limited, lambda *_: pytest.fail("a request was sent"))


@pytest.mark.parametrize(
    "options",
    [
        *({"timeout": value} for value in (0, -1, "5", True)),
        *({"max_attempts": value} for value in (0, 1.5, "3")),
    ],
    ids=str,
)
def test_other_values_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=next(iter(options))):
        connect(":memory:", Things, **options)
    with connect(":memory:", Things) as db, pytest.raises(InvalidValue):
        db.run(Thing.primary("a"), **options)
