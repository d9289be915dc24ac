"""The same two routes, as the documentation of FastAPI and boto3 write them."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

app = FastAPI()
table = boto3.resource(
    "dynamodb",
    endpoint_url=os.environ["ORDERS_TARGET"],
    region_name="us-east-1",
    aws_access_key_id="local",
    aws_secret_access_key="local",
).Table("orders")


class Order(BaseModel):
    customer_id: str
    order_id: str
    status: str
    total: Decimal
    city: str
    street: str
    note: str | None = None
    version: int


class Page(BaseModel):
    items: list[Order]
    next_key: dict[str, Any] | None


@app.get("/customers/{customer_id}/orders/{order_id}")
def get_order(customer_id: str, order_id: str) -> Order:
    key = {"PK": f"CUSTOMER#{customer_id}", "SK": f"ORDER#{order_id}"}
    found = table.get_item(Key=key).get("Item")
    if found is None:
        raise HTTPException(404)
    return Order(**found)


@app.get("/customers/{customer_id}/orders")
def get_orders(customer_id: str, limit: int = 20) -> Page:
    found = table.query(
        KeyConditionExpression=Key("PK").eq(f"CUSTOMER#{customer_id}")
        & Key("SK").begins_with("ORDER#"),
        Limit=limit,
    )
    return Page(
        items=[Order(**each) for each in found["Items"]], next_key=found.get("LastEvaluatedKey")
    )
