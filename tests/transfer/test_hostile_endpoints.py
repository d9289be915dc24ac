"""What an endpoint answers is not trusted: names, descriptions, pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import EndpointUnavailable, TablewrightError
from tablewright.transfer import TransferRefused, copy, dump_all
from tablewright.transport.targets import Local
from tests.transfer.tables import PLAIN, fill, things
from tests.transports import InterceptingTransport

Answer = Callable[[dict[str, Any]], Any]


def hostile(engine: Engine, **answers: Answer) -> InterceptingTransport:
    """An endpoint with a table, whose answers to some operations are others."""

    def intercept(operation: str, request: dict[str, Any]) -> bytes | None:
        if operation not in answers:
            return None
        answer = answers[operation](request)
        return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    return InterceptingTransport(engine, intercept)


@pytest.fixture
def source() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        fill(engine, PLAIN, things(3))
        yield engine


@pytest.mark.parametrize(
    "name",
    [
        "../../outside",
        "..",
        ".",
        "",
        "ab",
        "/etc/things",
        "a/b",
        "a\\b",
        "a\0b",
        "things\n",
        "C:things",
        "ünd",
        "x" * 256,
        7,
        None,
        ["things"],
    ],
)
def test_a_name_that_is_none_is_refused_and_nothing_is_written(
    tmp_path: Path, source: Engine, name: object
) -> None:
    folder = tmp_path / "in" / "dump"
    endpoint = hostile(source, ListTables=lambda request: {"TableNames": ["things", name]})
    with pytest.raises(TransferRefused, match="is not the name of a table"):
        list(dump_all(endpoint, folder))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["...", "things.json.gz", "things.json.gz.manifest", "-rf"])
def test_a_strange_name_is_a_file_in_the_folder(tmp_path: Path, source: Engine, name: str) -> None:
    fill(source, PLAIN | {"TableName": name}, things(1))
    folder = tmp_path / "dump"
    list(dump_all(Local(source), folder))
    assert {file.name for file in folder.iterdir()} == {
        f"{table}.json.gz{ending}" for table in ("things", name) for ending in ("", ".manifest")
    }


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: {"TableNames": ["things"], "LastEvaluatedTableName": "things"},
        lambda request: {
            "TableNames": ["things"],
            "LastEvaluatedTableName": "a" + request.get("ExclusiveStartTableName", "things"),
        },
        lambda request: {"TableNames": [], "LastEvaluatedTableName": "things"},
        lambda request: {"TableNames": "things"},
        lambda request: {},
    ],
)
def test_a_list_of_tables_without_end_is_refused(
    tmp_path: Path, source: Engine, answer: Answer
) -> None:
    with pytest.raises(TransferRefused):
        list(dump_all(hostile(source, ListTables=answer), tmp_path / "dump"))


TABLE = {
    "TableName": "things",
    "TableStatus": "ACTIVE",
    "KeySchema": PLAIN["KeySchema"],
    "AttributeDefinitions": PLAIN["AttributeDefinitions"],
}


@pytest.mark.parametrize(
    "description",
    [
        None,
        [],
        {},
        TABLE | {"TableName": "others"},
        TABLE | {"TableName": "../things"},
        TABLE | {"ItemCount": "many"},
        TABLE | {"KeySchema": None},
        TABLE | {"KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}]},
        TABLE | {"KeySchema": [7]},
        TABLE | {"AttributeDefinitions": {}},
        TABLE | {"BillingModeSummary": 7},
        TABLE | {"BillingModeSummary": {"BillingMode": "FREE"}},
        TABLE | {"ProvisionedThroughput": {"ReadCapacityUnits": 1}},
        TABLE | {"GlobalSecondaryIndexes": [{}]},
        TABLE | {"GlobalSecondaryIndexes": 7},
        TABLE
        | {"LocalSecondaryIndexes": [{"IndexName": "../x", "KeySchema": [], "Projection": 1}]},
    ],
)
def test_a_description_that_makes_no_table_is_refused(
    tmp_path: Path, source: Engine, description: Any
) -> None:
    endpoint = hostile(source, DescribeTable=lambda request: {"Table": description})
    with pytest.raises(TransferRefused):
        list(dump_all(endpoint, tmp_path / "dump"))
    assert list(tmp_path.iterdir()) == []


PAGE = {"Items": things(2), "Count": 2}
NUMBERS = count()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda request: {}, id="no items"),
        pytest.param(lambda request: {"Items": {}}, id="a map"),
        pytest.param(lambda request: {"Items": [7]}, id="numbers"),
        pytest.param(lambda request: {"Items": [{"k": "x"}]}, id="no values"),
        pytest.param(lambda request: {"Items": [{"k": {"S": 7}}]}, id="wrong types"),
        pytest.param(lambda request: PAGE | {"LastEvaluatedKey": {"k": {"S": "k"}}}, id="same key"),
        pytest.param(
            lambda request: PAGE | {"LastEvaluatedKey": {"k": {"N": str(next(NUMBERS) % 7)}}},
            id="keys in a circle",
        ),
        pytest.param(
            lambda request: {"Items": [], "LastEvaluatedKey": {"k": {"N": str(next(NUMBERS))}}},
            id="empty pages",
        ),
    ],
)
def test_pages_that_are_none_or_do_not_end_are_refused(
    tmp_path: Path, source: Engine, answer: Answer
) -> None:
    endpoint = hostile(source, Scan=answer)
    with pytest.raises(TransferRefused, match="the Scan of 'things'"):
        list(dump_all(endpoint, tmp_path / "dump", segments=2))
    assert list(tmp_path.iterdir()) == []


def test_items_of_another_table_are_refused(source: Engine) -> None:
    endpoint = hostile(source, Scan=lambda request: {"Items": [{"x": {"S": "y"}}]})
    with Engine(":memory:") as target, pytest.raises(TransferRefused, match="without the key k"):
        list(copy(endpoint, Local(target)))


@pytest.mark.parametrize("answer", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_no_json_object_is_an_error_of_the_endpoint(
    tmp_path: Path, source: Engine, answer: bytes
) -> None:
    endpoint = hostile(source, Scan=lambda request: answer)
    with pytest.raises(EndpointUnavailable, match="not a JSON object"):
        list(dump_all(endpoint, tmp_path / "dump"))


def test_a_table_that_disappears_is_reported(tmp_path: Path, source: Engine) -> None:
    endpoint = hostile(source, ListTables=lambda request: {"TableNames": ["gone"]})
    with pytest.raises(TablewrightError, match="gone"):
        list(dump_all(endpoint, tmp_path / "dump"))
