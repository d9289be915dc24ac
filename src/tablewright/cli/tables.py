"""Commands for tables: list them, describe one, create one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tablewright.cli.commands import STATEMENTS, app
from tablewright.cli.failures import fail
from tablewright.cli.item_json import print_json
from tablewright.cli.item_tables import print_columns
from tablewright.cli.key_arguments import find_indexes, find_key
from tablewright.cli.sessions import Json, TableName, TableSession, Target, open_session
from tablewright.cli.transfer import WHERE, exit_on_error
from tablewright.cli.views import make_console, note, print_fields, print_title


@app.command(rich_help_panel=STATEMENTS)
def tables(target: Target, json: Json = False) -> None:
    """List the tables of a target: keys, indexes, number of items.

    AWS counts the items of a table about every six hours. The numbers include the index record,
    if the table has one.
    """
    with open_session(target) as session:
        found = [session.describe(name) for name in session.list_tables()]
        if json:
            print_json(found)
            return
        columns = {
            "table": [each["TableName"] for each in found],
            "items": [f"{each.get('ItemCount', 0):,}" for each in found],
            "bytes": [f"{each.get('TableSizeBytes', 0):,}" for each in found],
            "key": [format_key(each) for each in found],
            "indexes": [str(len(find_indexes(each))) for each in found],
        }
        print_columns(make_console(), columns, ("items", "bytes", "indexes"))
        if not found:
            note(f"{target} has no tables")


@app.command(rich_help_panel=STATEMENTS)
def describe(target: Target, table: TableName, json: Json = False) -> None:
    """Show a table: key, indexes, settings, number of items.

    The number of items includes the index record, if the table has one.
    """
    with open_session(target) as session:
        found = session.describe(table)
        if json:
            print_json([found])
        else:
            _print_description(found, _find_ttl(session, table))


@app.command(rich_help_panel=STATEMENTS)
def create_table(
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"Where to create it: {WHERE}.")],
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="The name of the table.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY",
            help="The partition key and the sort key: `PK SK`, or with a type `PK created:N`. The "
            "types are S (string, the default), N and B.",
        ),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=KEY[,KEY]", help="A global index: `by_status=status,created:N`."
        ),
    ] = None,
    local_index: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=KEY", help="A local index, with its sort key."),
    ] = None,
    ttl: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE", help="The attribute with the time at which items expire."
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(metavar="DESIGN", help="Create the tables of a design, and nothing else."),
    ] = None,
) -> None:
    """Create a table, with on-demand capacity; or the tables of a design.

    A table that exists is never changed: it is an error, or with --design, it must be as declared.
    """
    from tablewright.transfer import TableDefinition, open_target
    from tablewright.transfer.definition import create_table as create
    from tablewright.transfer.definition import enable_ttl, list_tables

    if design is not None:
        if table or key or index or local_index or ttl:
            fail("--design declares the tables; leave the name, the key and the indexes out")
        _create_tables(design, target)
        return
    if not table or not key:
        fail("name the table and its key: tablewright create-table TARGET TABLE KEY [KEY]")
    definition = TableDefinition(make_request(table, key, index or (), local_index or ()), ttl)
    with exit_on_error(), open_target(target) as transport:
        if table in list_tables(transport):
            fail(f"{target} already has a table {table!r}")
        description = create(transport, definition)
        enable_ttl(transport, definition)
        note(f"{table}: created, with the key {format_key(description)}")


def _create_tables(design: str, target: str) -> None:
    """Create the tables of a design that are missing; the others must be as declared."""
    from tablewright import connect
    from tablewright.cli.designs import load_or_fail
    from tablewright.transfer import open_target
    from tablewright.transfer.definition import list_tables

    declared = load_or_fail(design).tables
    with exit_on_error():
        with open_target(target) as transport:
            existing = list_tables(transport)
        connect(target, *declared, create=True).close()
        for table in declared:
            name = table.__table__.name
            note(f"{name}: {'exists, as declared' if name in existing else 'created'}")


def make_request(
    table: str, key: Sequence[str], indexes: Sequence[str], local_indexes: Sequence[str]
) -> dict[str, Any]:
    """Return the CreateTable request; fail if a key or an index cannot be read."""
    types: dict[str, str] = {}
    partition = _read_attribute(key[0], types)
    request: dict[str, Any] = {
        "TableName": table,
        "KeySchema": _key_schema(key, types),
        "BillingMode": "PAY_PER_REQUEST",
    }
    kinds = {"GlobalSecondaryIndexes": indexes, "LocalSecondaryIndexes": local_indexes}
    for kind, texts in kinds.items():
        for text in texts:
            name, separator, keys = text.partition("=")
            if not separator or not name or not keys:
                fail(f"{text!r} is not an index; write NAME=KEY or NAME=KEY,KEY")
            parts = keys.split(",")
            if kind == "LocalSecondaryIndexes":
                if len(parts) > 1:
                    fail(
                        f"--local-index {text}: its partition key is {partition}, as that of the "
                        f"table; write NAME=KEY with its sort key only"
                    )
                parts = [partition, *parts]
            request.setdefault(kind, []).append(
                {
                    "IndexName": name,
                    "KeySchema": _key_schema(parts, types),
                    "Projection": {"ProjectionType": "ALL"},
                }
            )
    request["AttributeDefinitions"] = [
        {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
    ]
    return request


def format_key(description: dict[str, Any], index: str | None = None) -> str:
    """Return a key as `create-table` takes it: `PK, SK` or `PK, created:N`."""
    key = find_key(description, index)
    return ", ".join(each.name if each.type == "S" else f"{each.name}:{each.type}" for each in key)


def _key_schema(texts: Sequence[str], types: dict[str, str]) -> list[dict[str, str]]:
    names = [_read_attribute(text, types) for text in texts]
    return [
        {"AttributeName": name, "KeyType": "RANGE" if place else "HASH"}
        for place, name in enumerate(names)
    ]


def _read_attribute(text: str, types: dict[str, str]) -> str:
    """Return the name in `NAME` or `NAME:TYPE`, and note its type."""
    name, separator, kind = text.rpartition(":")
    if not separator:
        name, kind = text, types.get(text, "S")
    if kind not in ("S", "N", "B") or not name:
        fail(f"{text!r}: write NAME, or NAME:S, NAME:N or NAME:B")
    if types.setdefault(name, kind) != kind:
        fail(f"{name} is declared with two types, {types[name]} and {kind}")
    return name


def _find_ttl(session: TableSession, table: str) -> str | None:
    from tablewright.errors import DynamoDBError, UnsupportedOperation

    try:
        found = session.send("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    except (DynamoDBError, UnsupportedOperation):  # an endpoint without TTL, or no permission
        return None
    name: str | None = found.get("AttributeName")
    return name


def _print_description(found: dict[str, Any], ttl: str | None) -> None:
    console = make_console()
    print_title(console, found["TableName"])
    stream = found.get("StreamSpecification", {})
    fields = {
        "key": format_key(found),
        "status": found["TableStatus"],
        "items": f"{found.get('ItemCount', 0):,}",
        "bytes": f"{found.get('TableSizeBytes', 0):,}",
        "billing": _format_billing(found),
        "ttl": ttl or "",
        "stream": stream.get("StreamViewType", ""),
        "created": _format_time(found.get("CreationDateTime")),
        "arn": found.get("TableArn", ""),
    }
    print_fields(console, {name: text for name, text in fields.items() if text}, "  ")
    indexes = find_indexes(found)
    if indexes:
        console.print()
        local = {index["IndexName"] for index in found.get("LocalSecondaryIndexes", ())}
        columns = {
            "index": [each["IndexName"] for each in indexes],
            "kind": ["local" if each["IndexName"] in local else "global" for each in indexes],
            "key": [format_key(found, each["IndexName"]) for each in indexes],
            "projection": [_format_projection(each["Projection"]) for each in indexes],
            "items": [f"{each.get('ItemCount', 0):,}" for each in indexes],
        }
        print_columns(console, columns, ("items",))


def _format_billing(found: dict[str, Any]) -> str:
    if found.get("BillingModeSummary", {}).get("BillingMode") == "PAY_PER_REQUEST":
        return "on demand"
    units = found.get("ProvisionedThroughput", {})
    return (
        f"{units.get('ReadCapacityUnits')} read and {units.get('WriteCapacityUnits')} write units"
    )


def _format_projection(projection: dict[str, Any]) -> str:
    kind = {"ALL": "all", "KEYS_ONLY": "keys only"}.get(projection["ProjectionType"])
    return kind or ", ".join(projection["NonKeyAttributes"])


def _format_time(seconds: float | None) -> str:
    from datetime import UTC, datetime

    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
