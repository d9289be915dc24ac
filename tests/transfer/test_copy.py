"""A copy has what its source has: every table, index, setting and item, exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
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
    TargetHasItems,
    comparison,
    copy,
    dump,
    load,
    open_source,
    open_target,
    rows,
    sending,
)
from tablewright.transfer.dumpfile import find_dumps
from tablewright.transport import Transport
from tablewright.transport.targets import Local
from tablewright.transport.transport import UnknownFault
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
    line = "keys: k:S HASH in the source, k:N HASH in the target; delete the table of the target"
    with pytest.raises(TableMismatch, match=line):
        compared(copy(Local(source), Local(target)))
    assert target.call("ListTables") == {"TableNames": ["things"]}


def describe_ttl(attribute: str = "expires") -> dict[str, Any]:
    setting = {"AttributeName": attribute, "Enabled": True}
    return {"TableName": "things", "TimeToLiveSpecification": setting}


def add_index(engine: Engine, kind: str = "S", projection: str = "ALL") -> None:
    create = {
        "IndexName": "by_day",
        "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": projection},
    }
    engine.call(
        "UpdateTable",
        {
            "TableName": "things",
            "AttributeDefinitions": [{"AttributeName": "day", "AttributeType": kind}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    engine.finish_maintenance()


def add_stream(engine: Engine, view: str = "NEW_IMAGE") -> None:
    setting = {"StreamEnabled": True, "StreamViewType": view}
    engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": setting})


INDEX = "global index by_day: day:S HASH, projection ALL"
TTL = "TTL: expires"


@pytest.mark.parametrize(
    ("at_source", "at_target", "line"),
    [
        (
            add_index,
            None,
            f"{INDEX} in the source, none in the target; add it to the target with UpdateTable, "
            "or use --without-indexes",
        ),
        (
            None,
            add_index,
            "global index by_day: none in the source, day:S HASH, projection ALL in the target; "
            "delete it in the target with UpdateTable",
        ),
        (
            add_index,
            partial(add_index, kind="N"),
            f"{INDEX} in the source, day:N HASH, projection ALL in the target; "
            "delete it in the target and add it again with UpdateTable",
        ),
        (
            add_index,
            partial(add_index, projection="KEYS_ONLY"),
            f"{INDEX} in the source, day:S HASH, projection KEYS_ONLY in the target",
        ),
        (
            lambda engine: engine.call("UpdateTimeToLive", describe_ttl()),
            None,
            f"{TTL} in the source, none in the target; enable it in the target with "
            "UpdateTimeToLive",
        ),
        (
            None,
            lambda engine: engine.call("UpdateTimeToLive", describe_ttl()),
            "TTL: none in the source, expires in the target; disable it in the target",
        ),
        (
            add_stream,
            partial(add_stream, view="KEYS_ONLY"),
            "StreamSpecification: NEW_IMAGE in the source, KEYS_ONLY in the target; change it",
        ),
    ],
)
@pytest.mark.parametrize("way", ["copy", "load"])
def test_a_table_with_another_definition_is_refused_before_an_item_is_written(
    source: Engine,
    target: Engine,
    tmp_path: Path,
    at_source: Callable[[Engine], object] | None,
    at_target: Callable[[Engine], object] | None,
    line: str,
    way: str,
) -> None:
    fill(source, PLAIN, [thing("a", day={"S": "1"})])
    target.call("CreateTable", PLAIN)
    for change, engine in ((at_source, source), (at_target, target)):
        if change is not None:
            change(engine)
    if way == "copy":
        events = copy(Local(source), Local(target), overwrite=True)
    else:
        compared(dump(Local(source), tmp_path / "a.json"))
        events = load(find_dumps(tmp_path / "a.json", None), Local(target), overwrite=True)
    with pytest.raises(TableMismatch) as refused:
        compared(events)
    assert line in str(refused.value)
    assert held(target) == []


@pytest.mark.parametrize("exists", [False, True])
def test_global_indexes_can_be_left_out(source: Engine, target: Engine, exists: bool) -> None:
    fill(source, PLAIN, [thing("a", day={"S": "1"}), thing("b")])
    add_index(source)
    if exists:
        target.call("CreateTable", PLAIN)
    found = compared(copy(Local(source), Local(target), without_indexes=True))["things"]
    assert found.is_equal
    assert found.indexes == {}
    table = target.call("DescribeTable", {"TableName": "things"})["Table"]
    assert table["AttributeDefinitions"] == PLAIN["AttributeDefinitions"]
    assert "GlobalSecondaryIndexes" not in table


def test_items_of_the_target_are_replaced_only_on_request(source: Engine, target: Engine) -> None:
    fill(source, {**PLAIN, "TableName": "first"}, [thing("a")])
    fill(source, PLAIN, [thing("a", v={"N": "1"}), thing("b")])
    fill(target, PLAIN, [thing("a", v={"N": "2"})])
    with pytest.raises(TargetHasItems, match=r"b\.db has items in the table things; .*--overwrite"):
        compared(copy(Local(source), Local(target), names=("a.db", "b.db")))
    assert target.call("ListTables") == {"TableNames": ["things"]}
    assert held(target) == [thing("a", v={"N": "2"})]
    assert compared(copy(Local(source), Local(target), overwrite=True))["things"].is_equal
    assert held(target) == held(source)


def test_a_load_replaces_items_only_on_request(
    source: Engine, target: Engine, tmp_path: Path
) -> None:
    fill(source, PLAIN, [thing("a", v={"N": "1"})])
    compared(dump(Local(source), tmp_path / "a.json"))
    fill(target, PLAIN, [thing("a", v={"N": "2"})])
    dumps = find_dumps(tmp_path / "a.json", None)
    with pytest.raises(TargetHasItems):
        compared(load(dumps, Local(target)))
    assert held(target) == [thing("a", v={"N": "2"})]
    assert compared(load(dumps, Local(target), overwrite=True))["things"].is_equal


def test_what_else_the_target_holds_makes_the_sides_differ(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, [thing("a")])
    fill(target, PLAIN, [thing("b")])
    found = compared(copy(Local(source), Local(target), overwrite=True))["things"]
    assert not found.is_equal
    assert [side.count for side in found.sides.values()] == [1, 2]


@pytest.mark.parametrize("into", ENDS)
def test_the_indexes_of_the_target_are_compared(tmp_path: Path, into: str) -> None:
    orders = [
        {"PK": {"B": "AA=="}, "SK": {"N": str(n)}, "total": {"N": "1"}, "rest": {"S": "x"}}
        | ({"day": {"S": str(n)}} if n % 2 else {})
        for n in range(9)
    ]
    with Engine(":memory:") as source, end(into, tmp_path / "b.db") as (_, write_to):
        fill(source, RICH, orders)
        found = compared(copy(Local(source), write_to))["orders"]
        assert found.is_equal
        assert {name: side["index"].count for name, side in found.indexes.items()} == {
            "by_day": 4,
            "by_day_here": 4,
        }


@pytest.mark.parametrize("into", ENDS)
def test_an_index_that_lacks_a_row_makes_the_sides_differ(
    tmp_path: Path, into: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "LAGGING", Backoff(attempts=2, first=0.0, longest=0.0))
    with Engine(":memory:") as source, end(into, tmp_path / "b.db") as (target, write_to):
        fill(source, PLAIN, [thing("a", day={"S": "1"}), thing("b", day={"S": "1"})])
        add_index(source)
        events = copy(Local(source), write_to)
        for event in events:
            if isinstance(event, Progress) and event.phase == "compared: source":
                drop_row(target, "by_day")
                break
        (found,) = compared(events).values()
    assert len(set(found.sides.values())) == 1
    assert found.differing_indexes == ["by_day"]
    assert not found.is_equal


def drop_row(engine: Engine, index: str) -> None:
    """Remove the first row of an index, as a fault of the endpoint would."""
    engine.refresh_catalog()
    tree = engine._catalog.tables["things"].indexes_by_name[index].tree
    engine._store.write(lambda tx: tx.delete(tree, next(tx.walk(tree, b"", None))[0]))


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


def test_an_endpoint_that_throttles_is_waited_for(
    source: Engine, target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "THROTTLED", Backoff(3, first=0.01, longest=0.01))
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
    """Its attribute is older than the index."""
    fill(source, PLAIN, [thing("a"), thing("b", day={"N": "1"})])
    add_index(source)
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
