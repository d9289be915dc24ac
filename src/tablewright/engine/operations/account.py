"""DescribeLimits and DescribeEndpoints: what an account is told about itself."""

from __future__ import annotations

from tablewright.engine.describe import REGION
from tablewright.engine.step import Reading, Step
from tablewright.wire.requests import DescribeEndpoints, DescribeLimits

_LIMITS = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
_ENDPOINT = {"Address": f"dynamodb.{REGION}.amazonaws.com", "CachePeriodInMinutes": 1440}


def describe_limits(request: DescribeLimits) -> Step[Reading]:
    return Step(lambda reading: _LIMITS, writes=False)


def describe_endpoints(request: DescribeEndpoints) -> Step[Reading]:
    return Step(lambda reading: {"Endpoints": [_ENDPOINT]}, writes=False)
