"""Commands that write items: put, delete.

Invariant: an existing item is replaced or deleted only if the user agrees: at the terminal, or with
`--yes`. The write has the condition that what the user has seen is still so: a new item must still
be missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli.commands import STATEMENTS, add_command
from tablewright.cli.failures import fail
from tablewright.cli.item_json import read_items
from tablewright.cli.key_arguments import describe_key, parse_key
from tablewright.cli.options import argument
from tablewright.cli.read_items import Key, make_view
from tablewright.cli.sessions import TableName, Target, open_session
from tablewright.errors import InvalidValue, TablewrightError
from tablewright.presentation.terminal import note
from tablewright.presentation.values import count_items

if TYPE_CHECKING:
    from tablewright.schema import KeySchema
    from tablewright.values import Item

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@add_command(STATEMENTS)
def put(
    target: Target,
    table: TableName,
    item: str = argument(
        "ITEM",
        "JSON, the path of a file with JSON, or - (standard input): plain JSON or DynamoDB's "
        "JSON; one item, a list, or one item on each line.",
    ),
    yes: Yes = False,
) -> None:
    """Put items into a table; ask before an existing item is replaced."""
    with open_session(target) as session:
        key = session.describe(table).keys
        items = read_items(item, key)
        refuse_duplicates(items, key)
        existing: dict[int, Any] = {}
        for number, each in enumerate(items):
            wanted = {name: each[name] for name in key.names}
            request = {"TableName": table, "Key": wanted, "ConsistentRead": True}
            if stored := session.send("GetItem", request).get("Item"):
                existing[number] = stored
        if existing and not yes:
            count = count_items(len(existing))
            exist = "exists" if len(existing) == 1 else "exist"
            view = make_view(session, table)
            confirm(
                f"{count} {exist} and will be replaced",
                lambda: view.print_items(list(existing.values())),
            )
        for number, each in enumerate(items):
            request = {"TableName": table, "Item": each}
            if number not in existing:
                request["ConditionExpression"] = "attribute_not_exists(#k)"
                request["ExpressionAttributeNames"] = {"#k": key.names[0]}
            try:
                session.send("PutItem", request)
            except TablewrightError:
                if number:
                    note(f"{number:,} of {count_items(len(items))} were put before this failed")
                raise
        created = len(items) - len(existing)
        note(f"{table}: {created:,} created, {len(existing):,} replaced")


@add_command(STATEMENTS)
def delete(target: Target, table: TableName, key: Key, yes: Yes = False) -> None:
    """Delete the item with a key, after showing it and asking.

    Exit code 1: there is no such item.
    """
    with open_session(target) as session:
        schema = session.describe(table).keys
        request = {"TableName": table, "Key": parse_key(key, schema)}
        item = session.send("GetItem", {**request, "ConsistentRead": True}).get("Item")
        if item is None:
            note(f"tablewright: {table} has no item with the key {' '.join(key)}")
            raise typer.Exit(1)
        if not yes:
            view = make_view(session, table)
            confirm(f"{describe_key(item, schema)} will be deleted", lambda: view.print_item(item))
        session.send("DeleteItem", request)
        note(f"{table}: 1 deleted")


def refuse_duplicates(items: Sequence[Item], key: KeySchema) -> None:
    """Raise InvalidValue if two items have the same key: only one of them could stay."""
    seen = set()
    for item in items:
        shown = describe_key(item, key)
        if shown in seen:
            raise InvalidValue(f"two items have the key {shown}")
        seen.add(shown)


def confirm(
    consequence: str, show: Callable[[], None] = lambda: None, option: str = "--yes"
) -> None:
    """Show what will change, and return if the user agrees.

    Exit with code 1 if the user does not, and with code 2 if standard input is not a terminal.
    """
    if not sys.stdin.isatty():
        fail(f"{consequence}; add {option}, because standard input is not a terminal")
    show()
    if not typer.confirm(f"{consequence}. Continue?", err=True):
        note("nothing was changed")
        raise typer.Exit(1)
