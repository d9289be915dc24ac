"""Test suites: many small tests, each with a fresh table, run by pytest.

Every suite has the same tests: create a table, put three items, query them, update one. They differ
in where the client comes from: this package's fixture, moto's `mock_aws`, a server that runs during
the whole suite and whose table each test deletes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from benchmarks.peers.servers import HOME, IMPLEMENTATIONS, ROOT, running

TESTS = """
import boto3
import pytest

TABLE = {{
    "TableName": "orders",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {{"AttributeName": "PK", "AttributeType": "S"}},
        {{"AttributeName": "SK", "AttributeType": "S"}},
    ],
    "KeySchema": [
        {{"AttributeName": "PK", "KeyType": "HASH"}}, {{"AttributeName": "SK", "KeyType": "RANGE"}}
    ],
}}

{fixture}

@pytest.mark.parametrize("number", range({count}))
def test_orders(client, number):
    client.create_table(**TABLE)
    for n in range(3):
        client.put_item(
            TableName="orders", Item={{"PK": {{"S": f"C{{number}}"}}, "SK": {{"S": f"O{{n}}"}}}}
        )
    found = client.query(
        TableName="orders",
        KeyConditionExpression="PK = :p",
        ExpressionAttributeValues={{":p": {{"S": f"C{{number}}"}}}},
    )
    assert found["Count"] == 3
    client.update_item(
        TableName="orders",
        Key={{"PK": {{"S": f"C{{number}}"}}, "SK": {{"S": "O1"}}}},
        UpdateExpression="SET paid = :t",
        ExpressionAttributeValues={{":t": {{"BOOL": True}}}},
    )
"""
OURS = """
@pytest.fixture
def client(tablewright_endpoint):
    return tablewright_endpoint.client()
"""
MOTO = """
from moto import mock_aws

@pytest.fixture
def client():
    with mock_aws():
        yield boto3.client("dynamodb", region_name="us-east-1")
"""
SERVER = """
import os

@pytest.fixture
def client():
    found = boto3.client("dynamodb", region_name="us-east-1", endpoint_url=os.environ["ENDPOINT"])
    yield found
    found.delete_table(TableName="orders")
"""


class Suite(Struct, frozen=True):
    """The wall time of a suite: with the start of its server, and without."""

    name: str
    tests: int
    seconds: float
    start_seconds: float
    problem: str = ""


def suites(quick: bool, report: Callable[[str], None]) -> list[Suite]:
    """Run the suites that can be run."""
    count = 5 if quick else 200
    moto = HOME / "venv/bin/python"
    local = next(each for each in IMPLEMENTATIONS if each.name == "DynamoDB Local")
    found = []
    report(f"{count} tests with the fixture tablewright_endpoint")
    found.append(_suite("tablewright_endpoint", OURS, count, Path(sys.executable)))
    if moto.exists():
        report(f"{count} tests with mock_aws of moto")
        found.append(_suite("moto, mock_aws", MOTO, count, moto))
    if not local.missing():
        report(f"{count} tests with DynamoDB Local")
        with running(local) as server:
            suite = _suite(
                "DynamoDB Local", SERVER, count, Path(sys.executable), server.process.url
            )
            found.append(
                Suite(suite.name, count, suite.seconds, server.process.start_seconds, suite.problem)
            )
    return found


def _suite(name: str, fixture: str, count: int, python: Path, endpoint: str = "") -> Suite:
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "test_orders.py"
        test.write_text(TESTS.format(fixture=fixture, count=count))
        keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "ENDPOINT": endpoint}
        started = time.perf_counter()
        done = subprocess.run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, test],
            cwd=folder,
            env={**os.environ, **keys, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - started
    problem = "" if f"{count} passed" in done.stdout else done.stdout[-300:] + done.stderr[-300:]
    return Suite(name, count, took, 0.0, problem)
