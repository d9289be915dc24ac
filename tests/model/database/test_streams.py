"""The stream of a declared table: created by connect, and compared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tablewright import Engine, Table, connect, create
from tablewright.engine.realism import Realism
from tablewright.errors import DeclarationError, TableMismatch
from tests.engine.streaming import enabled, read_stream, stream_arn
from tests.things import NamedEntity


class Ledger(Table, name="ledger", stream="NEW_AND_OLD_IMAGES"):
    pass


class Account(NamedEntity, table=Ledger): ...


class Quiet(Table, name="ledger"):
    pass


class Entry(NamedEntity, table=Quiet): ...


KEYS: dict[str, Any] = {
    "TableName": "ledger",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "S"},
    ],
}


def test_connect_creates_the_stream() -> None:
    with Engine() as engine:
        db = connect(engine, Ledger)
        db.run(create(Account(name="a")))
        described = engine.call("DescribeTable", {"TableName": "ledger"})["Table"]
        assert described["StreamSpecification"] == enabled()
        (record,) = read_stream(engine.call, stream_arn(engine.call, "ledger"))
        assert record["dynamodb"]["NewImage"]["name"] == {"S": "a"}
        connect(engine, Ledger, create=False)


@pytest.mark.parametrize(
    ("specification", "found"),
    [
        (None, "none; connect(…, update=True) adds it"),
        (enabled("KEYS_ONLY"), "KEYS_ONLY; disable it, then enable it with UpdateTable"),
    ],
)
def test_another_stream_is_a_difference(specification: dict[str, Any] | None, found: str) -> None:
    request = KEYS | ({} if specification is None else {"StreamSpecification": specification})
    with Engine() as engine:
        engine.call("CreateTable", request)
        with pytest.raises(TableMismatch) as refused:
            connect(engine, Ledger)
    assert f"stream: declared NEW_AND_OLD_IMAGES, found {found}" in str(refused.value)


def test_a_stream_that_was_disabled_is_a_difference() -> None:
    with Engine() as engine:
        connect(engine, Ledger)
        off = {"TableName": "ledger", "StreamSpecification": {"StreamEnabled": False}}
        engine.call("UpdateTable", off)
        with pytest.raises(TableMismatch, match="declared NEW_AND_OLD_IMAGES, found none"):
            connect(engine, Ledger)


@pytest.mark.parametrize("control_seconds", [0, 0.02])
def test_an_update_enables_a_missing_stream(control_seconds: float) -> None:
    with Engine() as engine:
        engine.call("CreateTable", KEYS)
        engine.make_realistic(Realism(control_seconds=control_seconds, lag_seconds=0))
        connections = [partial(connect, engine, Ledger, update=True)] * 4
        with ThreadPoolExecutor(4) as pool:
            for connected in [pool.submit(connection) for connection in connections]:
                connected.result()
        described = engine.call("DescribeTable", {"TableName": "ledger"})["Table"]
        assert described["StreamSpecification"] == enabled()
        connect(engine, Ledger)


def test_an_update_changes_no_view_type() -> None:
    with Engine() as engine:
        engine.call("CreateTable", KEYS | {"StreamSpecification": enabled("KEYS_ONLY")})
        with pytest.raises(TableMismatch, match="found KEYS_ONLY; disable it, then enable it"):
            connect(engine, Ledger, update=True)
        connect(engine, Quiet, update=True)
        described = engine.call("DescribeTable", {"TableName": "ledger"})["Table"]
        assert described["StreamSpecification"] == enabled("KEYS_ONLY")


def test_a_stream_that_is_not_declared_is_no_difference() -> None:
    with Engine() as engine:
        engine.call("CreateTable", KEYS | {"StreamSpecification": enabled()})
        connect(engine, Quiet)


def test_a_wrong_view_type_is_refused() -> None:
    wrong: Any = "NEW"
    with pytest.raises(DeclarationError) as refused:

        class Wrong(Table, stream=wrong): ...

    assert refused.value.message == (
        "Wrong: stream='NEW' is not one of 'KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', "
        "'NEW_AND_OLD_IMAGES'"
    )
