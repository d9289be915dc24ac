"""The setting `validation` of the mock."""

from __future__ import annotations

import boto3
import pytest
from botocore.exceptions import ClientError

from tablewright.testing import mock_dynamodb

MESSAGE = "The parameter cannot be converted to a numeric value: x"


def put_no_number() -> str:
    client = boto3.client("dynamodb", region_name="us-east-1")
    with pytest.raises(ClientError) as refused:
        client.put_item(TableName="shop", Item={"price": {"N": "x"}})
    return str(refused.value.response["Error"]["Message"])


def test_the_mock_has_the_messages_of_a_year() -> None:
    with mock_dynamodb():
        assert put_no_number() == f"1 validation error detected: {MESSAGE}"
    with mock_dynamodb(validation="2025"):
        assert put_no_number() == MESSAGE


@mock_dynamodb(validation="2025")
def test_so_has_the_decorator() -> None:
    assert put_no_number() == MESSAGE
