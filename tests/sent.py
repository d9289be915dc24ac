"""What a request that was sent reads and writes, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.table import TableMap
from tablewright.plan.facts import ShapeKey
from tablewright.plan.plan import AnyRequest
from tablewright.plan.query_requests import QueryRequest


class Access(Struct, frozen=True):
    """One thing that a request does: `Get`, `Put`, `Update`, `Delete`, `Query`, `Scan` …"""

    kind: str
    table: str
    index: str | None
    #: None for everything.
    key: ShapeKey | None


def accesses_of(request: AnyRequest, tables: Mapping[str, TableMap]) -> Iterator[Access]:
    """Yield what a request does."""
    if isinstance(request, QueryRequest):
        name, index = request.members["TableName"], request.members.get("IndexName")
        yield Access(request.operation, name, index, request.selection.condition)
        return
    body = request.body
    for action in body.get("TransactItems", ()):
        for kind, each in action.items():
            yield _of_item(kind, each["TableName"], each, tables)
    for name, each in body.get("RequestItems", {}).items():
        for item in each["Keys"] if isinstance(each, dict) else ():
            yield _of_item("Get", name, {"Key": item}, tables)
        for write in each if isinstance(each, list) else ():
            for kind, part in write.items():
                yield _of_item(kind.removesuffix("Request"), name, part, tables)
    if "TableName" in body:
        kind = request.operation.removesuffix("Item")
        yield _of_item(kind, body["TableName"], body, tables)


def _of_item(
    kind: str, name: str, body: Mapping[str, object], tables: Mapping[str, TableMap]
) -> Access:
    key = body.get("Key") or tables[name].key(body["Item"])  # type: ignore[arg-type]
    return Access(kind, name, None, KeyCondition(key))  # type: ignore[arg-type]
