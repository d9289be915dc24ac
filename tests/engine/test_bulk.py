"""Rows that are read and written in bulk are those of any other read and write."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.encoding.items import item_size, normalise_item
from tablewright.engine import Engine, bulk
from tablewright.engine.bulk import open_batch, read_rows
from tablewright.engine.rows import ItemRow
from tablewright.engine.step import LongContext
from tablewright.errors import ResourceNotFoundException, StoreFailed, ValidationException
from tablewright.values import Item
from tests.encoding.strategies import items
from tests.engine.streaming import enabled, read_stream, stream_arn
from tests.examples import examples
from tests.transfer.tables import stored_rows

TABLE: dict[str, Any] = {
    "TableName": "orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "day", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_day",
            "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "days",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "day", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}
PLAIN: dict[str, Any] = {
    "TableName": "orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": TABLE["KeySchema"],
    "AttributeDefinitions": TABLE["AttributeDefinitions"][:2],
}


def order(number: int, **more: Any) -> Item:
    return {"pk": {"S": f"c{number % 3}"}, "sk": {"N": str(number)}, **more}


def to_rows(found: Sequence[Item]) -> list[ItemRow]:
    return [ItemRow(normalise_item(item)) for item in found]


def put(engine: Engine, rows: Sequence[ItemRow]) -> None:
    engine.run_long(lambda context: write(context, rows))


def write(context: LongContext, rows: Sequence[ItemRow]) -> None:
    batch = open_batch(context, "orders")
    for row in rows:
        batch.add(row)
    batch.write(context)


def get(engine: Engine, **settings: Any) -> tuple[list[ItemRow], Item | None]:
    return engine.run_long(lambda context: read_rows(context, "orders", **settings))


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("table", [PLAIN, TABLE], ids=["plain", "indexes"])
@given(drawn=st.lists(st.tuples(st.integers(0, 8), items, st.sampled_from(["a", "b", None]))))
@examples(25)
def test_rows_are_those_of_puts_byte_for_byte(
    table: dict[str, Any], drawn: list[tuple[int, Item, str | None]]
) -> None:
    """Also if several items have one key, and if the table has items already."""
    orders = [
        {**item, **order(number), **({"day": {"S": day}} if day else {})}
        for number, item, day in drawn
    ]
    for one in orders:
        if one.get("day", {"S": "x"}).get("S", "") == "":
            del one["day"]
    with Engine(":memory:") as puts, Engine(":memory:") as rows, Engine(":memory:") as copy:
        for each in (puts, rows, copy):
            each.call("CreateTable", table)
        for one in orders:
            puts.call("PutItem", {"TableName": "orders", "Item": one})
        middle = len(orders) // 2
        for part in (orders[:middle], orders[middle:]):
            put(rows, to_rows(part))
        assert stored_rows(rows) == stored_rows(puts)
        found, last = get(rows)
        assert last is None
        put(copy, found)
        assert stored_rows(copy) == stored_rows(puts)
        assert not copy.check().problems


def test_segments_and_pages_have_every_row_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MAX_STEP_ROWS", 7)
    engine.call("CreateTable", PLAIN)
    put(engine, to_rows([order(number) for number in range(100)]))
    for segments in (1, 3):
        seen: list[str] = []
        for segment in range(segments):
            last: Item | None = None
            while True:
                rows, last = get(engine, segment=segment, segments=segments, start=last)
                assert len(rows) <= 7
                seen += [row.item["sk"]["N"] for row in rows]
                if last is None:
                    break
        assert sorted(map(int, seen)) == list(range(100))


def test_a_start_key_of_another_segment_is_refused(engine: Engine) -> None:
    engine.call("CreateTable", PLAIN)
    first_byte = zlib.crc32(b"c1\x00\x00") >> 24
    other = 0 if first_byte >= 0x80 else 1
    assert get(engine, segment=1 - other, segments=2, start=order(1)) == ([], None)
    with pytest.raises(ValidationException, match="it belongs to another segment"):
        get(engine, segment=other, segments=2, start=order(1))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"pk": {"S": "a"}}, "Missing the key sk"),
        ({"pk": {"S": ""}, "sk": {"N": "1"}}, "empty string"),
        (order(1, day={"N": "1"}), "Type mismatch for Index Key day"),
        (order(1, text={"S": "x" * 410_000}), "Item size"),
        (order(1, **{"x" * 70_000: {"S": "x"}}), "Attribute name is too large"),
    ],
)
def test_nothing_is_written_if_a_row_is_invalid(engine: Engine, item: Item, message: str) -> None:
    engine.call("CreateTable", TABLE)
    with pytest.raises(ValidationException, match=message):
        put(engine, to_rows([order(5), order(6), item, order(7)]))
    assert get(engine) == ([], None)


def test_a_missing_table_is_refused(engine: Engine) -> None:
    with pytest.raises(ResourceNotFoundException):
        get(engine)
    with pytest.raises(ResourceNotFoundException):
        put(engine, [])


def test_the_stream_has_the_changes(engine: Engine) -> None:
    engine.call("CreateTable", PLAIN | {"StreamSpecification": enabled()})
    put(engine, to_rows([order(1), order(2)]))
    put(engine, to_rows([order(1, n={"N": "1"}), order(2)]))
    records = read_stream(engine.call, stream_arn(engine.call, "orders"))
    assert sorted(record["eventName"] for record in records) == ["INSERT", "INSERT", "MODIFY"]
    assert not engine.check().problems


@pytest.mark.parametrize(("table", "most"), [(PLAIN, 10), (TABLE, 4)])
def test_a_transaction_has_a_limited_number_of_rows(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, table: dict[str, Any], most: int
) -> None:
    """So that other writers do not wait for long; rows of indexes count."""
    engine.call("CreateTable", table)
    counts: list[int] = []
    put_keyed = bulk._put_keyed

    def counting(schema: Any, keyed: Sequence[Any], context: Any) -> None:
        counts.append(len(keyed))
        put_keyed(schema, keyed, context)

    monkeypatch.setattr(bulk, "_put_keyed", counting)
    monkeypatch.setattr(bulk, "MAX_STEP_ROWS", 10)
    put(engine, to_rows([order(number) for number in range(25)]))
    assert sum(counts) == 25
    assert max(counts) <= most


def test_an_index_that_is_added_meanwhile_gets_its_rows(engine: Engine) -> None:
    """Between the check of the rows and their transaction."""
    engine.call("CreateTable", PLAIN)
    add = {
        "TableName": "orders",
        "AttributeDefinitions": TABLE["AttributeDefinitions"],
        "GlobalSecondaryIndexUpdates": [{"Create": TABLE["GlobalSecondaryIndexes"][0]}],
    }

    def write_late(context: LongContext, row: ItemRow) -> None:
        batch = open_batch(context, "orders")
        batch.add(row)
        engine.call("UpdateTable", add)
        batch.write(context)

    valid, invalid = to_rows([order(1, day={"S": "a"}), order(2, day={"N": "1"})])
    engine.run_long(lambda context: write_late(context, valid))
    assert engine.call("Scan", {"TableName": "orders", "IndexName": "by_day"})["Count"] == 1
    engine.call(
        "UpdateTable",
        {
            "TableName": "orders",
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_day"}}],
        },
    )
    with pytest.raises(ValidationException, match="Type mismatch for Index Key day"):
        engine.run_long(lambda context: write_late(context, invalid))
    assert not engine.check().problems


def test_a_table_that_is_created_again_meanwhile_gets_rows_of_its_own_keys(engine: Engine) -> None:
    engine.call("CreateTable", PLAIN)
    other = PLAIN | {
        "KeySchema": PLAIN["KeySchema"][:1],
        "AttributeDefinitions": PLAIN["AttributeDefinitions"][:1],
    }

    def write_late(context: LongContext) -> None:
        batch = open_batch(context, "orders")
        for row in to_rows([order(1), order(4)]):
            batch.add(row)
        engine.call("DeleteTable", {"TableName": "orders"})
        engine.call("CreateTable", other)
        batch.write(context)

    engine.run_long(write_late)
    assert engine.call("Scan", {"TableName": "orders"})["Items"] == [order(4)]
    assert not engine.check().problems


def test_another_process_can_write_between_two_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MAX_STEP_ROWS", 10)
    path = tmp_path / "orders.db"
    with (
        Engine(path, durability="normal") as engine,
        Engine(path, durability="normal", busy_seconds=0) as other,
    ):
        engine.call("CreateTable", PLAIN)
        written: list[int] = []

        def write_both(context: LongContext) -> None:
            class Interleaved(LongContext):
                def write(self, step: Any) -> Any:
                    result = context.write(step)
                    written.append(1000 + len(written))
                    other.call("PutItem", {"TableName": "orders", "Item": order(written[-1])})
                    return result

            interleaved = Interleaved(context.runner, context.folder)
            write(interleaved, to_rows([order(number) for number in range(45)]))

        engine.run_long(write_both)
        assert len(written) == 5
        assert len(get(other)[0]) == 10
        assert engine.call("Scan", {"TableName": "orders"})["Count"] == 50


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "orders.db"
    with Engine(path) as engine:
        engine.call("CreateTable", PLAIN)
        put(engine, to_rows([order(1)]))
        (tree,) = [name for name, rows in stored_rows(engine).items() if rows]
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE {tree} SET size = size + 1")
    connection.close()
    with Engine(path) as engine, pytest.raises(StoreFailed, match='pk="c1", sk=1'):
        get(engine)


def test_sizes_are_stored_as_measured(engine: Engine) -> None:
    engine.call("CreateTable", PLAIN)
    item = order(1, text={"S": "x" * 100})
    put(engine, to_rows([item]))
    ((row,), _) = get(engine)
    assert row.size == item_size(item)
