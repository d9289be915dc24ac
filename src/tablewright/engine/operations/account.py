"""DescribeLimits and DescribeEndpoints: the limits and endpoints of the account."""

from __future__ import annotations

from tablewright.engine.step import ReadStep
from tablewright.wire.requests import DescribeEndpointsRequest, DescribeLimitsInput

_LIMITS = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
#: A server replaces the address by its own.
_ENDPOINT = {"Address": "localhost", "CachePeriodInMinutes": 1440}


def describe_limits(request: DescribeLimitsInput) -> ReadStep:
    return ReadStep(lambda context: _LIMITS)


def describe_endpoints(request: DescribeEndpointsRequest) -> ReadStep:
    return ReadStep(lambda context: {"Endpoints": [_ENDPOINT]})
