"""Table definitions: read from an endpoint or a manifest, and checked before they are used.

Invariant: this module returns only definitions with valid names and keys that CreateTable accepts.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from tablewright.errors import (
    DynamoDBError,
    ResourceNotFoundException,
    TableNotFound,
    TransferRefused,
    UnsupportedOperation,
)
from tablewright.table_description import TableDescription, read_table, read_ttl
from tablewright.transfer.endpoints import check_table_name, shorten
from tablewright.transfer.sending import send_request
from tablewright.transport import Transport
from tablewright.wire.read import read
from tablewright.wire.requests import CreateTableInput


def find_description(transport: Transport, name: str) -> TableDescription | None:
    """Return the description of a table; None if the table does not exist."""
    try:
        members = send_request(transport, "DescribeTable", {"TableName": name}).get("Table")
    except ResourceNotFoundException:
        return None
    return check_description(name, _read(members, f"DescribeTable of {name!r}"))


def check_description(name: str, found: TableDescription) -> TableDescription:
    if found.name != name:
        raise TransferRefused(f"DescribeTable of {name!r} returned the table {shorten(found.name)}")
    _check_keys_defined(found, f"the description of table {name!r}")
    return found


def require_description(transport: Transport, name: str) -> TableDescription:
    """Return the description of a table that ListTables returned."""
    description = find_description(transport, name)
    if description is None:
        raise TableNotFound(f"table {name!r} was listed by ListTables but does not exist any more")
    return description


def read_request(request: dict[str, Any], ttl: str | None, where: str) -> TableDescription:
    """Return the table of a CreateTable request; `where` is its origin.

    Raise TransferRefused if CreateTable would refuse the request.
    """
    check_table_name(request.get("TableName"))
    try:
        read(CreateTableInput, request)
    except DynamoDBError as fault:
        raise TransferRefused(f"{where}: {fault.message}") from None
    found = _read(request, where)
    _check_keys_defined(found, where)
    return replace(found, ttl=ttl)


def _read(members: Any, where: str) -> TableDescription:
    try:
        return read_table(members)
    except msgspec.ValidationError as error:
        raise TransferRefused(f"{where}: {error}: {shorten(members)}") from None


def _check_keys_defined(found: TableDescription, where: str) -> None:
    if not found.keys.partition or not all(found.key_types.values()):
        raise TransferRefused(f"{where} does not define the keys: {shorten(found.key_types)}")


def read_definition(transport: Transport, description: TableDescription) -> TableDescription:
    """Return what another table needs to be like an existing one, with the TTL attribute.

    It has keys, indexes, billing and the stream; tags, class and protection are settings of the
    operator.
    """
    where = f"the description of table {description.name!r}"
    plain = replace(description, table_class=None, is_protected=False, tags=())
    ttl = None
    definition = read_request(plain.to_create_table(), None, where)
    with suppress(UnsupportedOperation):  # an endpoint without TTL has no table with TTL
        ttl = read_ttl_attribute(transport, description.name)
    return replace(definition, ttl=ttl)


def read_ttl_attribute(transport: Transport, name: str) -> str | None:
    """Return the TTL attribute of a table; None if TTL is disabled."""
    response = send_request(transport, "DescribeTimeToLive", {"TableName": name})
    try:
        return read_ttl(response)
    except msgspec.ValidationError:
        raise TransferRefused(
            f"DescribeTimeToLive of {name!r} returned {shorten(response)}"
        ) from None
