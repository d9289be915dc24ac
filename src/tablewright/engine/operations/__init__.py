"""The operations: each converts a request into a step, in a module of its own.

`OPERATIONS` lists them, each with the shape of its request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablewright.engine.operations.account import describe_endpoints, describe_limits
from tablewright.engine.operations.batch_get_item import batch_get_item
from tablewright.engine.operations.batch_write_item import batch_write_item
from tablewright.engine.operations.create_table import create_table
from tablewright.engine.operations.delete_item import delete_item
from tablewright.engine.operations.delete_table import delete_table
from tablewright.engine.operations.describe_table import describe_table
from tablewright.engine.operations.get_item import get_item
from tablewright.engine.operations.list_tables import list_tables
from tablewright.engine.operations.put_item import put_item
from tablewright.engine.operations.query import query
from tablewright.engine.operations.scan import scan
from tablewright.engine.operations.tags import (
    list_tags_of_resource,
    tag_resource,
    untag_resource,
)
from tablewright.engine.operations.time_to_live import describe_time_to_live, update_time_to_live
from tablewright.engine.operations.transact_get_items import transact_get_items
from tablewright.engine.operations.transact_write_items import transact_write_items
from tablewright.engine.operations.update_item import update_item
from tablewright.engine.operations.update_table import update_table
from tablewright.engine.step import Step
from tablewright.wire import requests
from tablewright.wire.requests import Shape

#: By name: the shape of the request, and the function that converts it into a step.
OPERATIONS: dict[str, tuple[type[Shape], Callable[[Any], Step]]] = {
    "BatchGetItem": (requests.BatchGetItem, batch_get_item),
    "BatchWriteItem": (requests.BatchWriteItem, batch_write_item),
    "CreateTable": (requests.CreateTable, create_table),
    "DeleteItem": (requests.DeleteItem, delete_item),
    "DeleteTable": (requests.DeleteTable, delete_table),
    "DescribeEndpoints": (requests.DescribeEndpoints, describe_endpoints),
    "DescribeLimits": (requests.DescribeLimits, describe_limits),
    "DescribeTable": (requests.DescribeTable, describe_table),
    "DescribeTimeToLive": (requests.DescribeTimeToLive, describe_time_to_live),
    "GetItem": (requests.GetItem, get_item),
    "ListTables": (requests.ListTables, list_tables),
    "ListTagsOfResource": (requests.ListTagsOfResource, list_tags_of_resource),
    "PutItem": (requests.PutItem, put_item),
    "Query": (requests.Query, query),
    "Scan": (requests.Scan, scan),
    "TagResource": (requests.TagResource, tag_resource),
    "TransactGetItems": (requests.TransactGetItems, transact_get_items),
    "TransactWriteItems": (requests.TransactWriteItems, transact_write_items),
    "UntagResource": (requests.UntagResource, untag_resource),
    "UpdateItem": (requests.UpdateItem, update_item),
    "UpdateTable": (requests.UpdateTable, update_table),
    "UpdateTimeToLive": (requests.UpdateTimeToLive, update_time_to_live),
}
