from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tablewright.engine import Engine
from tests.engine.database import Json, item, table_request, values
from tests.engine.realism.clock import Clock, realistic

KEY = item(pk="a", sk="1")


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with realistic(clock, control_seconds=0.0) as engine:
        engine.call("CreateTable", table_request("shop", glob={"glob": ("g:S / sk:S", "ALL")}))
        yield engine


def put(engine: Engine, **attributes: Any) -> None:
    engine.call("PutItem", {"TableName": "shop", "Item": item(**attributes)})


def get(engine: Engine, *, consistent: bool = False) -> Json | None:
    request = {"TableName": "shop", "Key": KEY, "ConsistentRead": consistent}
    return engine.call("GetItem", request).get("Item")


def test_an_eventually_consistent_read_lags(engine: Engine, clock: Clock) -> None:
    put(engine, pk="a", sk="1", n=1)
    assert get(engine) is None
    assert get(engine, consistent=True) == item(pk="a", sk="1", n=1)
    clock.move(1)
    assert get(engine) == item(pk="a", sk="1", n=1)
    put(engine, pk="a", sk="1", n=2)
    clock.move(0.5)
    put(engine, pk="a", sk="1", n=3)
    assert get(engine) == item(pk="a", sk="1", n=1)
    clock.move(0.5)
    assert get(engine) == item(pk="a", sk="1", n=2)
    clock.move(0.5)
    assert get(engine) == item(pk="a", sk="1", n=3)


def test_a_deleted_item_is_still_read(engine: Engine, clock: Clock) -> None:
    put(engine, pk="a", sk="1")
    clock.move(1)
    engine.call("DeleteItem", {"TableName": "shop", "Key": KEY})
    assert get(engine) == KEY
    assert get(engine, consistent=True) is None
    clock.move(1)
    assert get(engine) is None


def test_a_batch_of_statements_lags_unless_it_is_consistent(engine: Engine, clock: Clock) -> None:
    def found(**members: Any) -> bool:
        read = {"Statement": "SELECT * FROM shop WHERE pk = 'a' AND sk = '1'", **members}
        answer = engine.call("BatchExecuteStatement", {"Statements": [read]})
        return "Item" in answer["Responses"][0]

    put(engine, pk="a", sk="1")
    assert not found()
    assert found(ConsistentRead=True)
    clock.move(1)
    assert found()


def test_reads_of_an_index_lag(engine: Engine, clock: Clock) -> None:
    query = {
        "TableName": "shop",
        "IndexName": "glob",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": values(g="x"),
    }
    put(engine, pk="a", sk="1", g="x")
    assert engine.call("Query", query)["Items"] == []
    clock.move(1)
    assert engine.call("Query", query)["Items"] == [item(pk="a", sk="1", g="x")]
    put(engine, pk="a", sk="1", g="y")
    assert engine.call("Query", query)["Items"] == [item(pk="a", sk="1", g="x")]


def test_each_table_of_a_batch_has_its_own_consistency(engine: Engine) -> None:
    put(engine, pk="a", sk="1")
    wanted: Json = {"Keys": [KEY]}
    request = {"RequestItems": {"shop": wanted}}
    assert engine.call("BatchGetItem", request)["Responses"] == {"shop": []}
    request = {"RequestItems": {"shop": wanted | {"ConsistentRead": True}}}
    assert engine.call("BatchGetItem", request)["Responses"] == {"shop": [KEY]}


def test_statements_lag(engine: Engine) -> None:
    engine.call("ExecuteStatement", {"Statement": "INSERT INTO shop VALUE {'pk': 'a', 'sk': '1'}"})
    select: Json = {"Statement": "SELECT * FROM shop WHERE pk = 'a'"}
    assert engine.call("ExecuteStatement", select)["Items"] == []
    assert engine.call("ExecuteStatement", select | {"ConsistentRead": True})["Items"] == [KEY]


def test_conditions_and_transactions_do_not_lag(engine: Engine) -> None:
    put(engine, pk="a", sk="1")
    engine.call(
        "PutItem",
        {"TableName": "shop", "Item": KEY, "ConditionExpression": "attribute_exists(pk)"},
    )
    found = engine.call(
        "TransactGetItems", {"TransactItems": [{"Get": {"TableName": "shop", "Key": KEY}}]}
    )
    assert found["Responses"] == [{"Item": KEY}]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("123456"), st.none() | st.integers(0, 3), st.floats(0, 2)),
        max_size=12,
    ),
    st.booleans(),
)
def test_a_lagging_query_gives_an_earlier_state(
    writes: list[tuple[str, int | None, float]], forward: bool
) -> None:
    """All states are kept in a plain dict, with their times."""
    clock = Clock()
    with realistic(clock, control_seconds=0.0) as engine:
        engine.call("CreateTable", table_request("shop"))
        states: list[tuple[float, dict[str, int]]] = [(0.0, {})]
        for sort, number, wait in writes:
            state = dict(states[-1][1])
            if number is None:
                state.pop(sort, None)
                engine.call("DeleteItem", {"TableName": "shop", "Key": item(pk="a", sk=sort)})
            else:
                state[sort] = number
                put(engine, pk="a", sk=sort, n=number)
            states.append((clock.now, state))
            clock.move(wait)
        then = clock.now - 1.0
        expected = [state for time, state in states if time <= then][-1]
        query = {
            "TableName": "shop",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": values(p="a"),
            "ScanIndexForward": forward,
        }
        found = engine.call("Query", query)["Items"]
    assert [(one["sk"]["S"], int(one["n"]["N"])) for one in found] == sorted(
        expected.items(), reverse=not forward
    )
