"""An engine with a table that the policies name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright.engine import Engine
from tests.engine.database import item, table_request


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        request = table_request(
            "shop",
            local={"by-date": ("pk:S / date:S", "ALL")},
            glob={
                "by-status": ("status:S / sk:S", "ALL"),
                "by-number": ("number:N", "ALL"),
                "by-bytes": ("bytes:B", "ALL"),
                "by-parts": ("tenant:S region:N / date:S", "ALL"),
            },
            Tags=[{"Key": "stage", "Value": "test"}],
        )
        engine.call("CreateTable", request)
        engine.call("PutItem", {"TableName": "shop", "Item": item(pk="a", sk="1", secret="x")})
        engine.call("PutItem", {"TableName": "shop", "Item": item(pk="b", sk="1")})
        yield engine
