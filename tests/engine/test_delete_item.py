from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item

OLD = item(pk="a", sk="1", v="old")
OTHER = item(pk="a", sk="2")
KEY = item(pk="a", sk="1")


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[OLD, OTHER])


def test_an_item_is_removed_and_no_other(db: Database, full: str) -> None:
    assert db.call("DeleteItem", {"TableName": full, "Key": KEY}) == {}
    assert db.items(full) == [OTHER]


def test_no_item_is_no_mistake(db: Database, full: str) -> None:
    assert db.call("DeleteItem", {"TableName": full, "Key": item(pk="b", sk="1")}) == {}
    assert db.items(full) == [OLD, OTHER]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"ConditionExpression": "(a"},
            'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"',
            id="syntax",
        ),
        pytest.param(
            {"ReturnValues": "ALL_NEW"},
            "ReturnValues can only be ALL_OLD or NONE",
            id="return values",
        ),
    ],
)
def test_a_wrong_request_is_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses_early("DeleteItem", {"TableName": "missing", "Key": KEY, **more}, message)


def test_an_item_leaves_its_indexes(db: Database) -> None:
    table = db.table(
        local={"local": ("pk:S / l:S", "ALL")},
        glob={"glob": ("g:S", "KEYS_ONLY")},
        items=[item(pk="a", sk="1", l="x", g="y"), item(pk="a", sk="2", l="x", g="y")],
    )
    db.call("DeleteItem", {"TableName": table, "Key": KEY})
    assert db.items(table, "local") == [item(pk="a", sk="2", l="x", g="y")]
    assert db.items(table, "glob") == [item(pk="a", sk="2", g="y")]
