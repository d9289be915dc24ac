"""Names of tables."""

from __future__ import annotations

import pytest

from tests.engine.database import Database, table_request


@pytest.mark.parametrize("name", ["abc", "a.b-c_D9", "x" * 255])
def test_good_names(db: Database, name: str) -> None:
    created = db.call("CreateTable", table_request(name))["TableDescription"]
    assert created["TableName"] == name
    db.call("DeleteTable", {"TableName": name})


def test_a_table_needs_a_name(db: Database) -> None:
    request = table_request("")
    del request["TableName"]
    message = "The parameter 'TableName' is required but was not present in the request"
    db.refuses("CreateTable", request, message, raw=True)
