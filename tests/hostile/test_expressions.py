"""No request makes the engine work for long, whatever its expressions and the stored items are."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest

from tablewright.encoding.items import dump, item_size, load
from tablewright.engine import Engine
from tablewright.engine.paging import WorkLimit
from tablewright.errors import DynamoDBError
from tablewright.limits import MAX_ITEM_SIZE
from tests.hostile import expressions
from tests.hostile.expressions import LARGE, TINY, Request

SIZE = MAX_ITEM_SIZE // 4
#: Reading, measuring and writing the item with the most values that an item can have takes some
#: 0.1 s of CPU, and a transaction of 4 MB has ten of them. The most expensive request takes as long
#: as 16 items in a new process, and as 31 after the thousand requests before it, when memory is
#: fragmented. Work that grows with the square of a size would take thousands.
MOST_ITEMS = 60


def reference() -> float:
    """The CPU time for one item with the most values that fit into 400 KB."""
    body = dump({"a": {"L": [{"S": ""}] * (MAX_ITEM_SIZE - 100)}})
    start = time.process_time()
    item = load(body)
    item_size(item)
    dump(item)
    return time.process_time() - start


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        for definition in expressions.tables():
            engine.call("CreateTable", definition)
        for table, item in (*expressions.stored(SIZE, copies=50), *expressions.tiny(20_000)):
            engine.call("PutItem", {"TableName": table, "Item": item})
        yield engine


def cost(engine: Engine, request: Request) -> float:
    """The CPU time of a request without decoding it, and with undoing what it changes."""
    body = msgspec.json.decode(msgspec.json.encode(request.request))
    start = time.process_time()
    with engine.sandbox(), suppress(DynamoDBError):
        engine.run(engine.prepare(request.operation, body))
    return time.process_time() - start


@pytest.mark.slow
def test_no_expression_makes_the_engine_work_for_long(engine: Engine) -> None:
    limit = MOST_ITEMS * max(reference() for _ in range(3))
    slow = {}
    for request in expressions.requests(SIZE, seed=0, copies=50):
        if cost(engine, request) > limit:
            items = min(items_worth(engine, request) for _ in range(3))
            if items > MOST_ITEMS:
                slow[f"{request.operation} {request.name}"] = items
    assert not slow


def items_worth(engine: Engine, request: Request) -> float:
    """The cost of a request in items, each measured beside it: the CPU may have become slower."""
    before = reference()
    seconds = cost(engine, request)
    return seconds / max(before, reference())


def test_the_requests_depend_on_the_seed_alone() -> None:
    one, two = (list(expressions.requests(500, seed=3, copies=3)) for _ in range(2))
    assert one == two


def test_every_operation_with_expressions_is_attacked() -> None:
    attacked = {request.operation for request in expressions.requests(500, copies=3)}
    assert attacked >= {
        *("PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "GetItem"),
        *("TransactWriteItems", "TransactGetItems", "BatchGetItem"),
        *("ExecuteStatement", "BatchExecuteStatement"),
    }


def test_a_page_with_a_heavy_filter_ends_early_and_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine(":memory:")
    for definition in expressions.tables():
        engine.call("CreateTable", definition)
    for table, item in expressions.tiny(30):
        engine.call("PutItem", {"TableName": table, "Item": item})
    monkeypatch.setattr("tablewright.engine.paging.MAX_SECONDS", -1.0)
    assert WorkLimit().is_reached
    text = expressions.chain("a = :n", " OR ")
    request = {
        "TableName": TINY,
        "FilterExpression": text,
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }
    pages = [engine.call("Scan", request)]
    while "LastEvaluatedKey" in pages[-1]:
        start = pages[-1]["LastEvaluatedKey"]
        pages.append(engine.call("Scan", {**request, "ExclusiveStartKey": start}))
    assert sum(page["Count"] for page in pages) == 30
    assert max(page["ScannedCount"] for page in pages) == 1
    short = {**request, "FilterExpression": "a = :n"}
    assert engine.call("Scan", short)["ScannedCount"] == 30


def test_a_batch_that_takes_long_leaves_keys_unprocessed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(":memory:")
    for definition in expressions.tables():
        engine.call("CreateTable", definition)
    keys = [item for _, item in expressions.tiny(3)]
    for item in keys:
        engine.call("PutItem", {"TableName": TINY, "Item": item})
    times = iter((0.0, 0.0, 9.0, 9.0, 9.0))
    monkeypatch.setattr("tablewright.engine.paging.thread_time", lambda: next(times))
    wanted = [{"pk": item["pk"]} for item in keys]
    found = engine.call("BatchGetItem", {"RequestItems": {TINY: {"Keys": wanted}}})
    assert len(found["Responses"][TINY]) == 1
    assert found["UnprocessedKeys"][TINY]["Keys"] == wanted[1:]


@pytest.fixture
def large_items() -> Engine:
    engine = Engine(":memory:")
    for definition in expressions.tables():
        engine.call("CreateTable", definition)
    for number in range(12):
        item = {"pk": {"S": str(number)}, "a": {"S": "x" * (MAX_ITEM_SIZE - 100)}}
        engine.call("PutItem", {"TableName": LARGE, "Item": item})
    return engine


@pytest.mark.parametrize(
    ("operation", "action", "members"),
    [
        ("TransactGetItems", "Get", {}),
        ("TransactWriteItems", "ConditionCheck", {"ConditionExpression": "attribute_exists(a)"}),
        ("TransactWriteItems", "Update", {"UpdateExpression": "REMOVE a"}),
    ],
)
def test_the_items_of_a_transaction_that_takes_long_have_at_most_4_mb(
    large_items: Engine,
    operation: str,
    action: str,
    members: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablewright.engine.paging.MAX_SECONDS", -1.0)
    with pytest.raises(DynamoDBError, match="Transaction payload size cannot exceed 4MB"):
        large_items.call(operation, transaction(action, members, 11))
    large_items.call(operation, transaction(action, members, 10))


def transaction(action: str, members: dict[str, str], count: int) -> dict[str, object]:
    keys = [{"pk": {"S": str(number)}} for number in range(count)]
    return {
        "TransactItems": [{action: {"TableName": LARGE, "Key": key, **members}} for key in keys]
    }


def test_many_large_items_are_checked_and_deleted_in_one_transaction(large_items: Engine) -> None:
    """It is not known whether DynamoDB counts them."""
    condition = {"ConditionExpression": "attribute_exists(a)"}
    large_items.call("TransactWriteItems", transaction("ConditionCheck", condition, 12))
    large_items.call("TransactWriteItems", transaction("Delete", condition, 12))
    assert large_items.call("Scan", {"TableName": LARGE})["Count"] == 0


@pytest.mark.slow
def test_a_batch_does_not_keep_decoded_items_of_refused_statements() -> None:
    """A list of 400 KB takes 50 MB when it is decoded."""
    with Engine(":memory:") as engine:
        for definition in expressions.tables():
            engine.call("CreateTable", definition)
        empty = {"L": [{"S": ""}] * (MAX_ITEM_SIZE // 8)}
        for number in range(20):
            item = {"pk": {"S": str(number)}, "a": empty}
            engine.run(engine.prepare("PutItem", {"TableName": LARGE, "Item": item}))
        text = "UPDATE large SET x=a SET y=a SET z=a SET u=a SET v=a SET w=a SET t=a WHERE pk='{}'"
        statements = [{"Statement": text.format(number)} for number in range(20)]
        step = engine.prepare("BatchExecuteStatement", {"Statements": statements})
        tracemalloc.start()
        assert engine.run(step).count(b"ValidationError") == 20
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100_000_000
