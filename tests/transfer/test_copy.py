"""A copy has what its source has: every table, index, setting and item, exactly."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.backoff import Backoff
from tablewright.engine import Engine, bulk
from tablewright.engine.rows import ItemRow
from tablewright.errors import (
    Contention,
    TableMismatch,
    TableNotFound,
    TransferRefused,
    UnsupportedOperation,
)
from tablewright.server import serving
from tablewright.transfer import (
    Progress,
    copy,
    dump,
    load,
    open_source,
    open_target,
    rows,
    sending,
)
from tablewright.transfer.dumpfile import find_dumps
from tablewright.transport import Local, Transport
from tablewright.transport.faults import UnknownFault
from tablewright.values import Item
from tests.encoding.strategies import items
from tests.engine.streaming import read_stream
from tests.examples import examples
from tests.transfer.tables import PLAIN, RICH, compared, fill, held, stored_rows, thing, things
from tests.transports import InterceptingTransport

ENDS = ["file", "http"]


@contextmanager
def end(kind: str, path: Path) -> Iterator[tuple[Engine, Transport]]:
    """An empty engine, and a transport to it."""
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(path))
        text = stack.enter_context(serving(engine)) if kind == "http" else str(path)
        yield engine, stack.enter_context(open_target(text))


@pytest.fixture
def source() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine


@pytest.fixture
def target() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine


@pytest.mark.parametrize("into", ENDS)
@pytest.mark.parametrize("out_of", ENDS)
def test_all_tables_are_copied_between_any_two_ends(tmp_path: Path, out_of: str, into: str) -> None:
    with (
        end(out_of, tmp_path / "a.db") as (source, read_from),
        end(into, tmp_path / "b.db") as (target, write_to),
    ):
        fill(source, PLAIN, things(120))
        rich = [
            {"PK": {"B": "AAE="}, "SK": {"N": str(n)}, "day": {"S": f"d{n % 3}"}, "n": {"N": "1"}}
            for n in range(60)
        ]
        fill(source, RICH, rich)
        found = compared(copy(read_from, write_to))
        assert list(found) == ["orders", "things"]
        assert all(table.is_equal for table in found.values())
        assert found["things"].sides["target"].count == 120
        for name in found:
            assert held(target, name) == held(source, name)
        assert not target.check().problems


@given(st.lists(items, max_size=30))
@examples(30)
def test_every_value_survives_exactly(drawn: list[Item]) -> None:
    with Engine(":memory:") as source, Engine(":memory:") as target:
        fill(source, PLAIN, [{**item, "k": {"S": f"{n}"}} for n, item in enumerate(drawn)])
        assert compared(copy(Local(source), Local(target), segments=3))["things"].is_equal
        assert held(target) == held(source)


@given(st.lists(st.tuples(items, st.sampled_from(["d1", "d2", None])), max_size=30))
@examples(20)
def test_a_copy_and_a_loaded_dump_have_the_same_rows_also_in_indexes(
    drawn: list[tuple[Item, str | None]],
) -> None:
    """Keys, sizes, bodies and checksums: every byte."""
    orders = [
        {**item, "PK": {"B": "AAE="}, "SK": {"N": str(number)}}
        | ({"day": {"S": day}} if day else {"day": {"S": "d0"}})
        for number, (item, day) in enumerate(drawn)
    ]
    with (
        Engine(":memory:") as source,
        Engine(":memory:") as copied,
        Engine(":memory:") as loaded,
        TemporaryDirectory() as folder,
    ):
        fill(source, RICH, orders)
        assert compared(copy(Local(source), Local(copied)))["orders"].is_equal
        file = Path(folder) / "orders.json.gz"
        compared(dump(Local(source), file))
        assert compared(load(find_dumps(file, None), Local(loaded)))["orders"].is_equal
        assert stored_rows(copied) == stored_rows(source)
        assert stored_rows(loaded) == stored_rows(source)


def test_a_made_table_has_the_same_keys_indexes_billing_and_ttl(
    source: Engine, target: Engine
) -> None:
    source.call("CreateTable", RICH)
    ttl = {"AttributeName": "expires", "Enabled": True}
    source.call("UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": ttl})
    compared(copy(Local(source), Local(target)))

    def told(engine: Engine) -> Any:
        text = str(engine.call("DescribeTable", {"TableName": "orders"})["Table"])
        ttl = engine.call("DescribeTimeToLive", {"TableName": "orders"})
        identity = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
        for own in (identity["TableId"], str(identity["CreationDateTime"])):
            text = text.replace(own, "")
        return text, ttl

    assert told(target) == told(source)


@pytest.mark.parametrize("way", ["copy", "dump and load"])
def test_a_stream_goes_along_and_begins_after_the_items(
    source: Engine, target: Engine, tmp_path: Path, way: str
) -> None:
    """What is copied is no change of an item, so it is not in the stream."""
    setting = {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}
    fill(source, PLAIN | {"StreamSpecification": setting}, things(3))
    if way == "copy":
        assert compared(copy(Local(source), Local(target)))["things"].is_equal
    else:
        file = tmp_path / "things.jsonl"
        compared(dump(Local(source), file, table="things"))
        assert compared(load(find_dumps(file, None), Local(target)))["things"].is_equal
    described = target.call("DescribeTable", {"TableName": "things"})["Table"]
    assert described["StreamSpecification"] == setting
    arn = described["LatestStreamArn"]
    assert read_stream(target.call, arn) == []
    target.call("PutItem", {"TableName": "things", "Item": thing("new")})
    assert len(read_stream(target.call, arn)) == 1


def test_a_disabled_stream_does_not_go_along(source: Engine, target: Engine) -> None:
    setting = {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}
    source.call("CreateTable", PLAIN | {"StreamSpecification": setting})
    off = {"TableName": "things", "StreamSpecification": {"StreamEnabled": False}}
    source.call("UpdateTable", off)
    compared(copy(Local(source), Local(target)))
    described = target.call("DescribeTable", {"TableName": "things"})["Table"]
    assert "LatestStreamArn" not in described


def test_on_demand_limits_go_along(source: Engine, target: Engine) -> None:
    limits = {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8}
    source.call("CreateTable", {**PLAIN, "OnDemandThroughput": limits})
    compared(copy(Local(source), Local(target)))
    described = target.call("DescribeTable", {"TableName": "things"})["Table"]
    assert described["OnDemandThroughput"] == limits
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_items_that_have_expired_do_not_make_the_sides_differ(
    source: Engine, target: Engine
) -> None:
    """Whatever sweeps the target, it begins after the comparison."""
    fill(source, PLAIN, [thing("a", expires={"N": str(int(time.time()) - 1)})])
    ttl = {"AttributeName": "expires", "Enabled": True}
    source.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": ttl})

    def sweep(operation: str, request: dict[str, Any]) -> None:
        target.expire()

    assert compared(copy(Local(source), InterceptingTransport(target, sweep)))["things"].is_equal
    assert target.expire() == 1


def test_one_table_can_be_chosen(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(3))
    fill(source, RICH, [])
    compared(copy(Local(source), Local(target), table="things"))
    assert target.call("ListTables") == {"TableNames": ["things"]}


@pytest.mark.parametrize("table", ["things", None])
def test_a_source_without_the_table_is_refused(
    source: Engine, target: Engine, table: str | None
) -> None:
    with pytest.raises(TableNotFound, match=r"a\.db has no table"):
        compared(copy(Local(source), Local(target), table=table, names=("a.db", "b.db")))


def test_more_tables_than_one_answer_lists_are_copied(source: Engine, target: Engine) -> None:
    for number in range(101):
        source.call("CreateTable", {**PLAIN, "TableName": f"table{number:03}"})
    assert len(compared(copy(Local(source), Local(target), segments=1))) == 101


def test_a_table_with_other_keys_is_refused_before_anything_is_made(
    source: Engine, target: Engine
) -> None:
    fill(source, {**PLAIN, "TableName": "first"}, [thing("a")])
    fill(source, PLAIN, [thing("a")])
    other = {
        **PLAIN,
        "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "N"}],
    }
    target.call("CreateTable", other)
    with pytest.raises(TableMismatch, match=r"'things' with other keys: k \(N\), not k \(S\)"):
        compared(copy(Local(source), Local(target)))
    assert target.call("ListTables") == {"TableNames": ["things"]}


def test_an_existing_table_with_the_same_keys_is_filled_and_left_as_it_is(
    source: Engine, target: Engine
) -> None:
    ttl = {"AttributeName": "expires", "Enabled": True}
    fill(source, PLAIN, [thing("a", v={"N": "1"}), thing("b")])
    source.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": ttl})
    fill(target, PLAIN, [thing("a", v={"N": "2"})])
    assert compared(copy(Local(source), Local(target)))["things"].is_equal
    told = target.call("DescribeTimeToLive", {"TableName": "things"})
    assert told["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED"


def test_what_else_the_target_holds_makes_the_sides_differ(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, [thing("a")])
    fill(target, PLAIN, [thing("b")])
    found = compared(copy(Local(source), Local(target)))["things"]
    assert not found.is_equal
    assert [side.count for side in found.sides.values()] == [1, 2]


def test_an_item_that_changes_on_the_way_makes_the_sides_differ(
    source: Engine, target: Engine
) -> None:
    fill(source, PLAIN, [thing("a", v={"N": "1"})])

    def spoil(operation: str, request: dict[str, Any]) -> None:
        if operation == "BatchWriteItem":
            request["RequestItems"]["things"][0]["PutRequest"]["Item"]["v"] = {"N": "2"}

    found = compared(copy(Local(source), InterceptingTransport(target, spoil)))["things"]
    assert not found.is_equal
    assert [side.count for side in found.sides.values()] == [1, 1]


def test_unprocessed_items_are_sent_again(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(60))
    calls = 0

    def some(operation: str, request: dict[str, Any]) -> bytes | None:
        """Every other request does three items only."""
        nonlocal calls
        if operation != "BatchWriteItem":
            return None
        calls += 1
        puts = request["RequestItems"]["things"]
        if calls % 2 == 0 or len(puts) <= 3:
            return None
        target.call("BatchWriteItem", {"RequestItems": {"things": puts[:3]}})
        return msgspec.json.encode({"UnprocessedItems": {"things": puts[3:]}})

    assert compared(copy(Local(source), InterceptingTransport(target, some), segments=2))[
        "things"
    ].is_equal
    assert held(target) == held(source)


def test_an_endpoint_that_throttles_is_waited_for(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(30))
    throttled: dict[str, int] = {}

    def throttle(operation: str, request: dict[str, Any]) -> None:
        throttled[operation] = throttled.get(operation, 0) + 1
        if throttled[operation] <= 2:
            raise UnknownFault("ThrottlingException", "slow down")

    read_from, write_to = (
        InterceptingTransport(source, throttle),
        InterceptingTransport(target, throttle),
    )
    assert compared(copy(read_from, write_to, segments=1))["things"].is_equal


def test_an_endpoint_that_never_does_anything_is_given_up(
    source: Engine, target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "THROTTLED", Backoff(3, first=0.0, longest=0.0))
    fill(source, PLAIN, things(3))

    def nothing(operation: str, request: dict[str, Any]) -> bytes | None:
        if operation != "BatchWriteItem":
            return None
        return msgspec.json.encode({"UnprocessedItems": request["RequestItems"]})

    with pytest.raises(Contention, match="BatchWriteItem: still throttled after 3 attempts"):
        compared(copy(Local(source), InterceptingTransport(target, nothing)))


def test_a_target_without_ttl_says_so_before_items_are_written(
    source: Engine, target: Engine
) -> None:
    fill(source, PLAIN, things(3))
    ttl = {"AttributeName": "expires", "Enabled": True}
    source.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": ttl})

    def without(operation: str, request: dict[str, Any]) -> None:
        if "TimeToLive" in operation:
            raise UnsupportedOperation(operation, "http://there")

    with pytest.raises(UnsupportedOperation, match="TimeToLive"):
        compared(copy(Local(source), InterceptingTransport(target, without)))
    assert held(target) == []


def test_a_source_without_ttl_can_be_copied(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(3))

    def without(operation: str, request: dict[str, Any]) -> None:
        if "TimeToLive" in operation:
            raise UnsupportedOperation(operation, "http://there")

    assert compared(copy(InterceptingTransport(source, without), Local(target)))["things"].is_equal


def test_large_items_go_in_smaller_batches(source: Engine, target: Engine) -> None:
    """Escaped in JSON these 9 items are 19 MB; a request may have 16."""
    fill(source, PLAIN, [])
    for number in range(9):
        item = thing(str(number), text={"S": "\x01" * 350_000})
        source.call("PutItem", {"TableName": "things", "Item": item})
    with serving(target) as url, open_target(url) as write_to:
        assert compared(copy(Local(source), write_to, segments=1))["things"].is_equal


def test_an_item_that_the_target_refuses_is_named(source: Engine, target: Engine) -> None:
    """Its attribute is older than the index, or the target has an index of its own."""
    fill(source, PLAIN, [thing("a"), thing("b", day={"N": "1"})])
    index = {"IndexName": "by_day", "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}]}
    definitions = [*PLAIN["AttributeDefinitions"], {"AttributeName": "day", "AttributeType": "S"}]
    target.call(
        "CreateTable",
        PLAIN
        | {
            "AttributeDefinitions": definitions,
            "GlobalSecondaryIndexes": [index | {"Projection": {"ProjectionType": "ALL"}}],
        },
    )
    with pytest.raises(TransferRefused, match=r"cannot have the item .*'b'.*Type mismatch"):
        compared(copy(Local(source), Local(target)))
    assert held(target) == []


def test_a_batch_has_as_much_as_a_request_takes(target: Engine) -> None:
    endpoint = InterceptingTransport(target, lambda operation, request: None)
    large = [ItemRow(thing("x", text={"S": "x" * 390_000}))] * 100
    assert {b.count for b in rows.split_batches(endpoint, "things", large)} <= set(range(1, 26))
    small = [ItemRow(item) for item in things(51)]
    assert [b.count for b in rows.split_batches(endpoint, "things", small)] == [25, 25, 1]


def test_progress_counts_up_to_what_the_table_holds(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(100))
    events = [event for event in copy(Local(source), Local(target)) if isinstance(event, Progress)]
    for doing in ("copied", "compared: source", "compared: target"):
        counts = [event.items for event in events if event.phase == doing]
        assert counts == sorted(counts)
        assert counts[-1] == 100
    assert {event.expected for event in events} == {100}


@pytest.mark.slow
def test_20_000_items_are_copied(tmp_path: Path) -> None:
    with Engine(tmp_path / "a.db", durability="normal") as source:
        fill(source, PLAIN, things(20_000))
    with open_source(str(tmp_path / "a.db")) as a, open_target(str(tmp_path / "b.db")) as b:
        found = compared(copy(a, b))["things"]
    assert found.is_equal
    assert found.sides["target"].count == 20_000


def test_a_reader_that_leaves_stops_the_copy(
    source: Engine, target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MAX_STEP_ROWS", 25)
    fill(source, PLAIN, things(1000))
    events = copy(Local(source), Local(target))
    next(events)
    next(events)
    events.close()  # type: ignore[attr-defined]  # an iterator that is a generator
    assert 0 < len(held(target)) < 1000


def test_memory_is_no_end() -> None:
    with pytest.raises(TransferRefused, match="':memory:'"), open_source(":memory:"):
        pass
    with pytest.raises(TransferRefused, match="':memory:'"), open_target(":memory:"):
        pass


def test_source_and_target_are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = open_target(str(tmp_path / "a.db"), "a.db")
    with pytest.raises(TransferRefused, match="both source and target"), both:
        pass
