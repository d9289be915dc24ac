"""Whatever is done in a sandbox, and in sandboxes inside it, is undone at its end."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError
from tests.engine.database import definitions, index_request, item, table_request
from tests.examples import examples

TABLES = st.sampled_from(["one", "two"])
KEYS = st.sampled_from(["a", "b", "c"])


def put(table: str, key: str, number: int) -> tuple[str, dict[str, Any]]:
    return "PutItem", {"TableName": table, "Item": item(pk=key, n=number)}


def delete(table: str, key: str) -> tuple[str, dict[str, Any]]:
    return "DeleteItem", {"TableName": table, "Key": item(pk=key)}


def create_table(table: str) -> tuple[str, dict[str, Any]]:
    return "CreateTable", table_request(table, "pk:S", glob={"by_n": ("n:N", "ALL")})


def delete_table(table: str) -> tuple[str, dict[str, Any]]:
    return "DeleteTable", {"TableName": table}


def create_index(table: str) -> tuple[str, dict[str, Any]]:
    new = [{"Create": index_request("late", "n:N", "KEYS_ONLY")}]
    request = {"AttributeDefinitions": definitions("n:N"), "GlobalSecondaryIndexUpdates": new}
    return "UpdateTable", {"TableName": table, **request}


def back_up(table: str) -> tuple[str, dict[str, Any]]:
    return "CreateBackup", {"TableName": table, "BackupName": "before"}


def set_recovery(table: str, enabled: bool) -> tuple[str, dict[str, Any]]:
    setting = {"PointInTimeRecoveryEnabled": enabled}
    return "UpdateContinuousBackups", {
        "TableName": table,
        "PointInTimeRecoverySpecification": setting,
    }


REQUESTS = st.one_of(
    st.builds(put, TABLES, KEYS, st.integers(0, 3)),
    st.builds(delete, TABLES, KEYS),
    st.builds(create_table, TABLES),
    st.builds(delete_table, TABLES),
    st.builds(create_index, TABLES),
    st.builds(back_up, TABLES),
    st.builds(set_recovery, TABLES, st.booleans()),
)
#: Requests, and lists of them that are sent in a sandbox.
PROGRAMS = st.recursive(
    st.lists(REQUESTS, max_size=6),
    lambda inner: st.lists(st.one_of(REQUESTS, inner), max_size=6),
    max_leaves=20,
)


def run(engine: Engine, program: list[Any]) -> None:
    for part in program:
        if isinstance(part, list):
            before = contents(engine)
            with engine.sandbox():
                run(engine, part)
                assert engine.check().problems == []
            assert contents(engine) == before
        else:
            with suppress(DynamoDBError):
                engine.call(*part)


def contents(engine: Engine) -> list[str]:
    """All that an engine shows."""
    found = [engine.call("ListBackups"), engine.call("ListStreams")]
    for table in engine.call("ListTables")["TableNames"]:
        description = engine.call("DescribeTable", {"TableName": table})["Table"]
        found.append(description)
        for index in (None, *description.get("GlobalSecondaryIndexes", ())):
            source = {"IndexName": index["IndexName"]} if index else {}
            items = engine.call("Scan", {"TableName": table, **source})["Items"]
            found.append({"Items": sorted(items, key=str)})
    return [json.dumps(one) for one in found]


@examples(40)
@given(PROGRAMS)
def test_sandboxes_leave_no_trace(program: list[Any]) -> None:
    with Engine(":memory:", background=False) as engine:
        engine.call(*create_table("one"))
        run(engine, [program, *program])
        assert engine.check().problems == []
