from __future__ import annotations

import pytest

from tests.engine.database import Database, Refused


def test_limits(db: Database) -> None:
    assert db.call("DescribeLimits") == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_endpoints(db: Database) -> None:
    (endpoint,) = db.call("DescribeEndpoints")["Endpoints"]
    assert endpoint.keys() == {"Address", "CachePeriodInMinutes"}
    assert endpoint["CachePeriodInMinutes"] == 1440


def test_other_operations_are_unknown(db: Database) -> None:
    with pytest.raises(Refused) as refused:
        db.call("SearchVectors")
    assert refused.value.code == "UnknownOperationException"
    assert refused.value.message.startswith("unknown operation 'SearchVectors'.")
