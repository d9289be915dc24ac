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
from tablewright.errors import UnknownOperationException
from tablewright.hints import did_you_mean
from tablewright.wire import requests
from tablewright.wire.members import Structure

LIST_OF_OPERATIONS = "The implemented operations are listed in docs/operations.md"

#: By name: the shape of the request, and the function that converts it into a step.
OPERATIONS: dict[str, tuple[type[Structure], Callable[[Any], Step]]] = {
    "BatchGetItem": (requests.BatchGetItemInput, batch_get_item),
    "BatchWriteItem": (requests.BatchWriteItemInput, batch_write_item),
    "CreateTable": (requests.CreateTableInput, create_table),
    "DeleteItem": (requests.DeleteItemInput, delete_item),
    "DeleteTable": (requests.DeleteTableInput, delete_table),
    "DescribeEndpoints": (requests.DescribeEndpointsRequest, describe_endpoints),
    "DescribeLimits": (requests.DescribeLimitsInput, describe_limits),
    "DescribeTable": (requests.DescribeTableInput, describe_table),
    "DescribeTimeToLive": (requests.DescribeTimeToLiveInput, describe_time_to_live),
    "GetItem": (requests.GetItemInput, get_item),
    "ListTables": (requests.ListTablesInput, list_tables),
    "ListTagsOfResource": (requests.ListTagsOfResourceInput, list_tags_of_resource),
    "PutItem": (requests.PutItemInput, put_item),
    "Query": (requests.QueryInput, query),
    "Scan": (requests.ScanInput, scan),
    "TagResource": (requests.TagResourceInput, tag_resource),
    "TransactGetItems": (requests.TransactGetItemsInput, transact_get_items),
    "TransactWriteItems": (requests.TransactWriteItemsInput, transact_write_items),
    "UntagResource": (requests.UntagResourceInput, untag_resource),
    "UpdateItem": (requests.UpdateItemInput, update_item),
    "UpdateTable": (requests.UpdateTableInput, update_table),
    "UpdateTimeToLive": (requests.UpdateTimeToLiveInput, update_time_to_live),
}


def unknown_operation(name: str) -> UnknownOperationException:
    """Return the error for an operation that does not exist or is not implemented."""
    hint = did_you_mean(name, OPERATIONS) or "."
    return UnknownOperationException(f"unknown operation {name!r}{hint} {LIST_OF_OPERATIONS}")
