"""Testing: what tests of users call; see docs/testing.md.

    codecs    `check_codec`: does a codec keep what it promises?
    mock      `mock_dynamodb`: unmodified code for boto3 works on an engine in memory
    endpoint  `EndpointURL`: the URL of an endpoint, with clients for it; redirects botocore to it
    fixtures  `MakeDatabase`, `MakeAsyncDatabase`: the types of the fixtures for pytest

This package needs no test framework; the fixtures for pytest are in `tablewright.pytest_plugin`.
"""

from tablewright.testing.codecs import check_codec
from tablewright.testing.endpoint import EndpointURL
from tablewright.testing.fixtures import MakeAsyncDatabase, MakeDatabase
from tablewright.testing.mock import mock_dynamodb

__all__ = [
    "EndpointURL",
    "MakeAsyncDatabase",
    "MakeDatabase",
    "check_codec",
    "mock_dynamodb",
]
