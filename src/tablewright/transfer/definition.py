"""Table definitions: read from an endpoint, created at a target, or compared with it.

TTL and the stream are enabled after all items are written and compared: the sides would differ if
items expired before that, and copied items are no changes for the consumers of the stream.

Invariant: the data of an endpoint or a file is checked before it is used. This module returns only
table names that are valid in DynamoDB, and therefore safe as file names, and only definitions that
CreateTable accepts.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from tablewright.errors import (
    DynamoDBError,
    ResourceNotFoundException,
    TableDifference,
    TableMismatch,
    TableNotFound,
    TransferRefused,
    UnsupportedOperation,
)
from tablewright.hints import did_you_mean
from tablewright.table_changes import STRUCTURE, Difference, Part, differences, update_steps
from tablewright.table_changes import describe as describe_part
from tablewright.table_description import TableDescription, read_table, read_ttl
from tablewright.transfer.sending import run_steps, send_request
from tablewright.transport import Transport
from tablewright.transport.tables import wait_until_active
from tablewright.wire.constraints import NAME_PATTERN
from tablewright.wire.read import read
from tablewright.wire.requests import CreateTableInput

#: An endpoint that lists more tables is broken; DynamoDB's limit is 10,000 in a region.
MAX_TABLES = 100_000


def check_table_name(name: object) -> str:
    """Return the name of a table; raise TransferRefused if it is invalid in DynamoDB.

    >>> check_table_name("orders")
    'orders'
    """
    if isinstance(name, str) and 3 <= len(name) <= 255 and re.fullmatch(NAME_PATTERN, name):
        return name
    raise TransferRefused(
        f"{shorten(name)} is not the name of a table: "
        "use 3 to 255 characters of a-z, A-Z, 0-9, '_', '-' and '.'"
    )


def shorten(value: object) -> str:
    """Format an untrusted value for a message, with a maximum length.

    >>> shorten("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def list_tables(transport: Transport) -> list[str]:
    """Return the names of all tables; raise TransferRefused if the response is invalid."""
    names: dict[str, None] = {}
    request: dict[str, Any] = {}
    while True:
        response = send_request(transport, "ListTables", request)
        listed = response.get("TableNames")
        if not isinstance(listed, list):
            raise TransferRefused(f"ListTables returned {shorten(response)}, without TableNames")
        known = len(names)
        names |= dict.fromkeys(map(check_table_name, listed))
        last = response.get("LastEvaluatedTableName")
        if last is None:
            return list(names)
        if len(names) == known or len(names) > MAX_TABLES:
            raise TransferRefused(
                f"ListTables does not end: after {len(names)} names, it returned "
                f"{shorten(last)} again"
            )
        request = {"ExclusiveStartTableName": check_table_name(last)}


def select_tables(transport: Transport, where: str, table: str | None) -> list[str]:
    """Return the given table, or all tables if it is None; raise TableNotFound if there is none."""
    names = list_tables(transport)
    if table is not None:
        if table not in names:
            existing = f"; its tables are {', '.join(names)}" if names else "; it has no tables"
            hint = did_you_mean(table, names) or existing
            raise TableNotFound(f"{where} has no table {table!r}{hint}")
        return [table]
    if not names:
        raise TableNotFound(f"{where} has no tables")
    return names


def describe(transport: Transport, name: str) -> TableDescription | None:
    """Return the description of a table; None if the table does not exist."""
    try:
        members = send_request(transport, "DescribeTable", {"TableName": name}).get("Table")
    except ResourceNotFoundException:
        return None
    return _check_description(name, _read(members, f"DescribeTable of {name!r}"))


def _check_description(name: str, found: TableDescription) -> TableDescription:
    if found.name != name:
        raise TransferRefused(f"DescribeTable of {name!r} returned the table {shorten(found.name)}")
    _check_keys_defined(found, f"the description of table {name!r}")
    return found


def require_description(transport: Transport, name: str) -> TableDescription:
    """Return the description of a table that ListTables returned."""
    description = describe(transport, name)
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


def require_same_definition(
    where: str, wanted: TableDescription, found: TableDescription, *, created: bool
) -> None:
    """Raise TableMismatch if an existing table has other keys, indexes, TTL or stream.

    TTL and the stream may be missing if an interrupted transfer has `created` the table.
    """
    problems = [
        TableDifference(
            each.name,
            f"{describe_part(each.wanted)} in the source, {describe_part(each.found)} in the "
            f"target; {_suggest_fix(each)}",
        )
        for each in differences(wanted, found)
        if each.part in STRUCTURE
        and not (created and each.found is None and each.part in _ENABLED_LAST)
    ]
    if problems:
        raise TableMismatch(
            f"{where} has a table {found.name!r} with another definition; nothing was written:",
            problems,
        )


_ENABLED_LAST = (Part.STREAM, Part.TTL)


def _suggest_fix(each: Difference) -> str:
    if each.part is Part.GLOBAL_INDEX:
        if each.found is None:
            return "add it to the target with UpdateTable, or use --without-indexes"
        again = " and add it again" if each.wanted else ""
        return f"delete it in the target{again} with UpdateTable"
    if each.part in _ENABLED_LAST:
        operation = "UpdateTimeToLive" if each.part is Part.TTL else "UpdateTable"
        enables = "enable it" if each.found is None else "change it"
        does = "disable it" if each.wanted is None else enables
        return f"{does} in the target with {operation}"
    return "delete the table of the target, or choose another target"


def create_table(transport: Transport, definition: TableDescription) -> TableDescription:
    """Create a table without its stream, wait until it is ACTIVE, and return its description."""
    send_request(transport, "CreateTable", replace(definition, stream=None).to_create_table())
    found = run_steps(transport, wait_until_active(definition.name))
    if definition.ttl is not None:
        # An endpoint without TTL fails here, before any write.
        read_ttl_attribute(transport, definition.name)
    return _check_description(definition.name, found)


def read_ttl_attribute(transport: Transport, name: str) -> str | None:
    """Return the TTL attribute of a table; None if TTL is disabled."""
    response = send_request(transport, "DescribeTimeToLive", {"TableName": name})
    try:
        return read_ttl(response)
    except msgspec.ValidationError:
        raise TransferRefused(
            f"DescribeTimeToLive of {name!r} returned {shorten(response)}"
        ) from None


def enable_last(transport: Transport, definition: TableDescription) -> None:
    """Enable TTL and the stream as in the definition, unless they are already enabled."""
    name = definition.name
    if definition.ttl is None and definition.stream is None:
        return
    ttl = None if definition.ttl is None else read_ttl_attribute(transport, name)
    found = replace(require_description(transport, name), ttl=ttl)
    stream = definition.stream or found.stream
    for step in update_steps(replace(found, ttl=definition.ttl, stream=stream), found):
        send_request(transport, step.operation, step.request)
        if step.operation == "UpdateTable":
            run_steps(transport, wait_until_active(name))
