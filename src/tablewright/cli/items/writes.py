"""Commands that write items: put, update, delete.

Invariants:
- An existing item is replaced, changed or deleted only if the user agrees: at the terminal, or with
  `--yes`. A new item is written on the condition that it is still missing, and a change on the
  condition that the item still exists.
- `put` of many items takes few requests. In an engine in this process, a transaction writes 100
  items with one commit; at an endpoint, where a transaction costs twice the units, several requests
  are sent at the same time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.conditions import describe_key, read_changes
from tablewright.cli.grammar import TableName, Target, Yes, argument, option
from tablewright.cli.item_json import read_items
from tablewright.cli.items.reads import Key, find_item, make_view
from tablewright.cli.report import fail, say
from tablewright.cli.sessions import TableSession, open_session
from tablewright.errors import DynamoDBError, InvalidValue, TablewrightError
from tablewright.limits import MAX_BATCH_GET_KEYS, MAX_TRANSACTION_ACTIONS
from tablewright.presentation.values import content, plural

if TYPE_CHECKING:
    from tablewright.schema import KeySchema
    from tablewright.values import Item


@add_command()
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
        existing = find_existing(session, table, items)
        if existing and not yes:
            count = plural(len(existing), "item")
            exist = "exists" if len(existing) == 1 else "exist"
            view = make_view(session, table)
            confirm(
                f"{count} {exist} and will be replaced",
                lambda: view.print_items(list(existing.values())),
            )
        puts = [
            put_request(table, each, key, is_new=describe_key(each, key) not in existing)
            for each in items
        ]
        done = 0
        try:
            for written in send_puts(session, puts):
                done += written
        except TablewrightError:
            if done:
                say(f"{done:,} of {plural(len(items), 'item')} were put before this failed")
            raise
        created = len(items) - len(existing)
        say(f"{table}: {created:,} created, {len(existing):,} replaced")


def find_existing(session: TableSession, table: str, items: Sequence[Item]) -> dict[str, Item]:
    """Return the stored items with the keys of items, by their keys as text."""
    from tablewright.transfer.sending import wait_for_capacity

    key = session.describe(table).keys
    queue = [{name: each[name] for name in key.names} for each in items]
    existing: dict[str, Item] = {}
    failures = 0
    while queue:
        asked, queue = queue[:MAX_BATCH_GET_KEYS], queue[MAX_BATCH_GET_KEYS:]
        request = {"RequestItems": {table: {"Keys": asked, "ConsistentRead": True}}}
        answer = session.send("BatchGetItem", request, table)
        for found in answer["Responses"].get(table, []):
            existing[describe_key(found, key)] = found
        left = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        failures = failures + 1 if len(left) == len(asked) else 0
        if failures:
            wait_for_capacity("BatchGetItem", failures)
        queue += left
    return existing


def put_request(table: str, item: Item, key: KeySchema, *, is_new: bool) -> dict[str, Any]:
    """Return the put of an item; a new one must still be missing."""
    request: dict[str, Any] = {"TableName": table, "Item": item}
    if is_new:
        request["ConditionExpression"] = "attribute_not_exists(#k)"
        request["ExpressionAttributeNames"] = {"#k": key.names[0]}
    return request


def send_puts(session: TableSession, puts: Sequence[dict[str, Any]]) -> Iterator[int]:
    """Send puts, and yield the number of those that are done, again and again.

    A transaction that fails is sent again as single puts, up to the one that cannot be done.
    """
    from tablewright.transfer.rows import DEFAULT_REQUESTS
    from tablewright.transfer.sending import run_in_threads

    if not session.is_local:
        count = min(DEFAULT_REQUESTS, len(puts))
        yield from run_in_threads([_one_by_one(session, puts[n::count]) for n in range(count)])
        return
    for start in range(0, len(puts), MAX_TRANSACTION_ACTIONS):
        chunk = puts[start : start + MAX_TRANSACTION_ACTIONS]
        try:
            session.send("TransactWriteItems", {"TransactItems": [{"Put": each} for each in chunk]})
        except DynamoDBError:
            yield from _one_by_one(session, chunk)
        else:
            yield len(chunk)


def _one_by_one(session: TableSession, puts: Sequence[dict[str, Any]]) -> Iterator[int]:
    for each in puts:
        session.send("PutItem", each)
        yield 1


@add_command()
def update(
    target: Target,
    table: TableName,
    key: Key,
    sets: list[str] | None = option(
        "Set an attribute: 'status=PAID', 'total=30', 'address.city=Rome'; may be repeated.",
        "--set",
        metavar="NAME=VALUE",
    ),
    increments: list[str] | None = option(
        "Add to a number: 'total=5', or 'total=-5'; may be repeated.",
        "--increment",
        metavar="NAME=NUMBER",
    ),
    removes: list[str] | None = option(
        "Remove an attribute; may be repeated.", "--remove", metavar="NAME"
    ),
    yes: Yes = False,
) -> None:
    """Change attributes of the item with a key, after showing it and asking.

    A value is a PartiQL literal, such as 5, '5' or [1, 2]; anything else is a string. This is a
    plain UpdateItem: it changes no index keys, unique values, versions and counters of a design,
    and checks no rules. If the item belongs to a design, run one of its patterns instead. Exit code
    1: there is no such item.
    """
    with open_session(target) as session:
        changes = read_changes(sets or (), increments or (), removes or ())
        item, schema = find_item(session, table, key), session.describe(table).keys
        if not yes:
            view = make_view(session, table)
            confirm(f"{describe_key(item, schema)} will be changed", lambda: view.print_item(item))
        names = {"#k": schema.names[0], **changes["ExpressionAttributeNames"]}
        request = {
            **changes,
            "TableName": table,
            "Key": {name: item[name] for name in schema.names},
            "ConditionExpression": "attribute_exists(#k)",
            "ExpressionAttributeNames": names,
            "ReturnValues": "UPDATED_NEW",
        }
        changed: Item = session.send("UpdateItem", request).get("Attributes", {})
        shown = ", ".join(f"{name} is {content(value)}" for name, value in changed.items())
        say(f"{table}: 1 changed{shown and f': {shown}'}")


@add_command()
def delete(target: Target, table: TableName, key: Key, yes: Yes = False) -> None:
    """Delete the item with a key, after showing it and asking.

    Exit code 1: there is no such item.
    """
    with open_session(target) as session:
        item, schema = find_item(session, table, key), session.describe(table).keys
        if not yes:
            view = make_view(session, table)
            confirm(f"{describe_key(item, schema)} will be deleted", lambda: view.print_item(item))
        wanted = {name: item[name] for name in schema.names}
        session.send("DeleteItem", {"TableName": table, "Key": wanted})
        say(f"{table}: 1 deleted")


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
        say("nothing was changed")
        raise typer.Exit(1)
