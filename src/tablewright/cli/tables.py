"""Commands for tables: list them, describe one, create one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tablewright.cli.commands import add_command
from tablewright.cli.grammar import Json, TableName, Target, argument, option
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.cli.sessions import TableSession, open_session
from tablewright.presentation.printing import (
    make_console,
    print_columns,
    print_fields,
    print_json,
    print_title,
)

if TYPE_CHECKING:
    from tablewright.schema import KeySchema, ProjectedAttributes
    from tablewright.table_description import TableDescription


@add_command()
def tables(target: Target, json: Json = False) -> None:
    """List the tables of a target: keys, indexes, number of items.

    AWS counts the items of a table about every six hours. The numbers include the index record,
    if the table has one.
    """
    with open_session(target) as session:
        names = session.list_tables()
        if json:
            print_json([session.describe_as_json(name) for name in names])
            return
        found = [session.describe(name) for name in names]
        columns = {
            "table": [each.name for each in found],
            "items": [f"{each.state.items or 0:,}" for each in found],
            "bytes": [f"{each.state.size:,}" for each in found],
            "key": [format_key(each.keys) for each in found],
            "indexes": [str(len(each.indexes)) for each in found],
        }
        print_columns(make_console(), columns, ("items", "bytes", "indexes"))
        if not found:
            say(f"{target} has no tables")


@add_command()
def describe(target: Target, table: TableName, json: Json = False) -> None:
    """Show a table: key, indexes, settings, number of items.

    The number of items includes the index record, if the table has one.
    """
    with open_session(target) as session:
        if json:
            print_json([session.describe_as_json(table)])
        else:
            _print_description(session.describe(table), _find_ttl(session, table))


@add_command()
def create_table(
    target: Target,
    table: TableName,
    key: list[str] = argument(
        "KEY",
        "The partition key and the sort key: `PK SK`, or with a type `PK created:N`. The types are "
        "S (string, the default), N and B.",
    ),
    index: list[str] | None = option(
        "A global index: `by_status=status,created:N`.", metavar="NAME=KEY[,KEY]"
    ),
    local_index: list[str] | None = option("A local index, with its sort key.", metavar="NAME=KEY"),
    ttl: str | None = option(
        "The attribute with the time at which items expire.", metavar="ATTRIBUTE"
    ),
) -> None:
    """Create a table, with on-demand capacity. It is an error if it exists.

    `tablewright create-tables` creates the tables of a design.
    """
    from tablewright.transfer import open_target
    from tablewright.transfer.endpoints import list_tables
    from tablewright.transfer.target_table import create_table as create
    from tablewright.transfer.target_table import enable_last

    definition = make_table(table, key, index or (), local_index or (), ttl)
    with exit_on_error(), open_target(target) as transport:
        if table in list_tables(transport):
            fail(f"{target} already has a table {table!r}")
        description = create(transport, definition)
        enable_last(transport, definition)
        say(f"{table}: created, with the key {format_key(description.keys)}")


def make_table(
    table: str,
    key: Sequence[str],
    indexes: Sequence[str],
    local_indexes: Sequence[str],
    ttl: str | None = None,
) -> TableDescription:
    """Return the table of the arguments; fail if a key or an index cannot be read."""
    from tablewright.schema import KeyAttribute, KeySchema
    from tablewright.table_description import IndexDescription, TableDescription

    types: dict[str, str] = {}

    def keys(texts: Sequence[str]) -> KeySchema:
        names = [_read_attribute(text, types) for text in texts]
        attributes = tuple(KeyAttribute(name, types[name]) for name in names)
        return KeySchema(attributes[:1], attributes[1:])

    own, found = keys(key), list[IndexDescription]()
    kinds: tuple[tuple[Literal["local", "global"], Sequence[str]], ...] = (
        ("global", indexes),
        ("local", local_indexes),
    )
    for kind, texts in kinds:
        for text in texts:
            name, separator, named = text.partition("=")
            if not separator or not name or not named:
                fail(f"{text!r} is not an index; write NAME=KEY or NAME=KEY,KEY")
            parts = named.split(",")
            if kind == "local":
                partition = own.names[0]
                if len(parts) > 1:
                    fail(
                        f"--local-index {text}: its partition key is {partition}, as that of the "
                        f"table; write NAME=KEY with its sort key only"
                    )
                parts = [partition, *parts]
            found.append(IndexDescription(name, kind, keys(parts)))
    return TableDescription(table, own, tuple(found), ttl=ttl)


def format_key(keys: KeySchema) -> str:
    """Return a key as `create-table` takes it: `PK, SK` or `PK, created:N`."""
    return ", ".join(each.name if each.type == "S" else f"{each.name}:{each.type}" for each in keys)


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
    from tablewright.table_description import read_ttl

    try:
        return read_ttl(session.send("DescribeTimeToLive", {"TableName": table}))
    except (DynamoDBError, UnsupportedOperation):  # an endpoint without TTL, or no permission
        return None


def _print_description(found: TableDescription, ttl: str | None) -> None:
    console = make_console()
    print_title(console, found.name)
    state = found.state
    fields = {
        "key": format_key(found.keys),
        "status": state.status,
        "items": f"{state.items or 0:,}",
        "bytes": f"{state.size:,}",
        "billing": found.capacity_text,
        "ttl": ttl or "",
        "stream": found.stream or "",
        "created": _format_time(state.created),
        "arn": state.arn,
    }
    print_fields(console, {name: text for name, text in fields.items() if text}, "  ")
    if found.indexes:
        console.print()
        columns: dict[str, list[str]] = {
            "index": found.index_names,
            "kind": [each.kind for each in found.indexes],
            "key": [format_key(each.keys) for each in found.indexes],
            "projection": [_format_projection(each.projection) for each in found.indexes],
            "items": [f"{each.state.items or 0:,}" for each in found.indexes],
        }
        print_columns(console, columns, ("items",))


def _format_projection(projection: ProjectedAttributes) -> str:
    kind = {"ALL": "all", "KEYS_ONLY": "keys only"}.get(projection.type)
    return kind or ", ".join(projection.include)


def _format_time(seconds: float | None) -> str:
    from datetime import UTC, datetime

    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
