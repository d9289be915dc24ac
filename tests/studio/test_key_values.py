"""The collections of a table, and texts that become key values."""

from __future__ import annotations

import pytest

from tablewright.engine import Engine
from tablewright.errors import InvalidValue
from tablewright.presentation.keys import key_text, key_token, key_value, read_key_token
from tablewright.schema import KeyAttribute
from tablewright.table_description import read_table
from tests.studio.tables import KEYS, create_keys_table


def test_the_collections_of_a_table_are_the_table_and_its_indexes() -> None:
    engine = Engine(":memory:")
    create_keys_table(engine)
    description = read_table(engine.call("DescribeTable", {"TableName": KEYS})["Table"])
    assert [(each.name, each.kind, each.projection.type) for each in description.collections] == [
        ("", "table", "ALL"),
        ("local", "local", "INCLUDE"),
        ("wide", "global", "KEYS_ONLY"),
    ]
    wide = description.find("wide")
    assert wide is not None
    assert [(each.name, each.type) for each in wide.keys.partition] == [("a", "S"), ("b", "N")]
    assert [each.name for each in wide.keys.sort] == ["c", "d"]
    item = {"id": {"N": "1"}, "at": {"B": "AAE="}, "a": {"S": "x"}, "b": {"N": "2"}}
    assert description.base.contains(item)
    assert not wide.contains(item)
    whole = item | {"c": {"S": "y"}, "d": {"B": "AA=="}}
    assert wide.contains(whole)
    assert description.start_key(wide, whole) == whole


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("a b", "S", {"S": "a b"}),
        ("1e2", "N", {"N": "100"}),
        ("AAE=", "B", {"B": "AAE="}),
    ],
)
def test_a_text_is_a_value_of_the_type_of_its_key(
    text: str, type_: str, value: dict[str, str]
) -> None:
    assert key_value(text, KeyAttribute("k", type_)) == value
    assert key_value(key_text(value), KeyAttribute("k", type_)) == value


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("", "S"),
        ("", "N"),
        ("x", "N"),
        ("1 2", "N"),
        ("", "B"),
        ("a!", "B"),
        ("AB", "B"),
        ("AA=", "B"),
    ],
)
def test_a_text_of_another_type_is_refused(text: str, type_: str) -> None:
    problem = "it is empty" if not text else f"{text!r} is not"
    with pytest.raises(InvalidValue, match=rf"^k must be a [^;]+; {problem}$"):
        key_value(text, KeyAttribute("k", type_))


def test_a_key_token_is_a_key_and_nothing_else() -> None:
    key = {"PK": {"S": "ü#\u202e<b>"}, "SK": {"N": "-1"}}
    assert read_key_token(key_token(key), "malformed") == key
    for text in ("x", "!!!", "bnVsbA", key_token({"a": {"S": "b"}})[:-2]):
        with pytest.raises(InvalidValue, match=r"^malformed$"):
            read_key_token(text, "malformed")
