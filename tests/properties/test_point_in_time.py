"""A table restored to a time equals the table at that time."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tests.engine.clock import stopped_clock
from tests.engine.database import item, table_request
from tests.examples import examples

KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.fixed_dictionaries(
    {}, optional={"g": st.sampled_from(["x", "y"]), "n": st.integers(0, 2)}
)
PUT = st.tuples(st.just("PutItem"), KEYS, VALUES)
DELETE = st.tuples(st.just("DeleteItem"), KEYS, st.none())
UPDATE = st.tuples(st.just("UpdateItem"), KEYS, VALUES.filter(bool))
#: Changes, each with the microseconds before it; those of a list are one transaction.
CHANGES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2, 999, 1000, 5000]),
        st.lists(st.one_of(PUT, DELETE, UPDATE), min_size=1, max_size=3, unique_by=lambda c: c[1]),
    ),
    max_size=12,
)


def action(kind: str, key: str, values: dict[str, Any] | None) -> dict[str, Any]:
    if kind == "PutItem":
        return {"Put": {"TableName": "things", "Item": item(pk=key, **(values or {}))}}
    if values is None:
        return {"Delete": {"TableName": "things", "Key": item(pk=key)}}
    return {
        "Update": {
            "TableName": "things",
            "Key": item(pk=key),
            "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in values),
            "ExpressionAttributeValues": item(**{f":{name}": one for name, one in values.items()}),
        }
    }


def items(engine: Engine, table: str, **more: str) -> list[str]:
    """Everything in a table or an index; the order of attributes is not part of an item."""
    found = engine.call("Scan", {"TableName": table, **more})["Items"]
    return sorted(json.dumps(one, sort_keys=True) for one in found)


@examples(50)
@given(CHANGES, st.lists(st.integers(-2, 12_000), min_size=1, max_size=4))
def test_a_restored_table_is_the_table_at_that_time(
    changes: list[tuple[int, list[Any]]], ages: list[int]
) -> None:
    with stopped_clock(1_000_000.0) as clock, Engine(":memory:") as engine:
        start = clock.now
        indexes: Any = {"glob": {"by_g": ("g:S", "ALL"), "by_n": ("n:N", "KEYS_ONLY")}}
        engine.call("CreateTable", table_request("things", "pk:S", **indexes))
        on = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "things", "PointInTimeRecoverySpecification": on},
        )
        states = [(0, [items(engine, "things", **index) for index in INDEXES])]
        passed = 0
        for pause, group in changes:
            passed += pause
            clock.now = (
                start + (passed + 0.25) / 1_000_000
            )  # no multiple, which a float may fall below
            engine.call("TransactWriteItems", {"TransactItems": [action(*one) for one in group]})
            states.append((passed, [items(engine, "things", **index) for index in INDEXES]))
        for age in ages:
            wanted = max(0, passed - age)
            moment = min(start + (wanted + 0.75) / 1_000_000, clock.now)
            with engine.sandbox():
                engine.call(
                    "RestoreTableToPointInTime",
                    {
                        "SourceTableName": "things",
                        "TargetTableName": "then",
                        "RestoreDateTime": moment,
                    },
                )
                expected = [state for at, state in states if at <= wanted][-1]
                assert [items(engine, "then", **index) for index in INDEXES] == expected
                assert engine.check().problems == []


INDEXES: list[dict[str, str]] = [{}, {"IndexName": "by_g"}, {"IndexName": "by_n"}]
