"""Start a server in memory and use it with boto3: create a table, put an item, read it.

Run it with `make run`, or `python examples/hello.py`.
"""

from __future__ import annotations

import atexit
import subprocess
import sys

import boto3

server = subprocess.Popen(
    [sys.executable, "-m", "tablewright", "serve", "--port", "0"],
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
)
atexit.register(server.kill)  # also if an error occurs below
assert server.stdout is not None
url = server.stdout.readline().strip()
print(f"serving at {url}, in memory")

dynamodb = boto3.resource(
    "dynamodb",
    endpoint_url=url,
    region_name="us-east-1",
    aws_access_key_id="any",
    aws_secret_access_key="any",
)
orders = dynamodb.create_table(
    TableName="orders",
    KeySchema=[
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    AttributeDefinitions=[
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "S"},
    ],
    BillingMode="PAY_PER_REQUEST",
)
print(f"created the table {orders.name}")

orders.put_item(Item={"PK": "CUST#C1", "SK": "ORDER#O100", "status": "PLACED", "total": 42})
item = orders.get_item(Key={"PK": "CUST#C1", "SK": "ORDER#O100"})["Item"]
print(f"put an order and read it back: {item}")

server.terminate()
assert server.wait() == 0

print(
    """
Now try:
  .venv/bin/tablewright serve shop.db           a durable database at http://127.0.0.1:8000
  .venv/bin/tablewright check-file shop.db      check that its tables and indexes agree
  make test                                     run the tests"""
)
